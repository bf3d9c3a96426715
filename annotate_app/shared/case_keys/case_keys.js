// Keys for what is on show: a digit chooses a relevance and goes on to the reason, W goes there by itself, E to the text
// that may be edited, Esc leaves both, ? opens the list of keys. What buttons do, their own shortcuts do.
const mounted = new WeakMap();

export default function ({ parentElement, data }) {
  const host = parentElement.querySelector(".rr-case-keys");
  mounted.get(host)?.abort();
  const ended = new AbortController();
  mounted.set(host, ended);
  const reason = () => document.querySelector(`${data.reason} input`);
  const edited = () => (data.edit ? document.querySelector(`${data.edit} textarea`) : null);

  // While a case is being drawn, the buttons below it are still those of the case before: their keys do nothing.
  window.addEventListener("keydown", (event) => {
    if (isForeign(event) || !data.acts.includes(keyOf(event))) return;
    if (document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "running") event.stopImmediatePropagation();
  }, { capture: true, signal: ended.signal });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !isComposing(event) && [reason(), edited()].includes(event.target)) return event.target.blur();
    if (isForeign(event) || foreignDialogOpen() || event.repeat) return;
    const key = keyOf(event);
    const digit = data.relevance && /^[0-9]$/.test(key) ? document.querySelectorAll(`${data.relevance} [role="radio"]`)[Number(key)] : undefined;
    if (digit) {
      event.preventDefault();
      if (digit.getAttribute("aria-checked") !== "true") digit.click(); // a second click would take the choice away
      reason()?.focus();
    } else if (key === "w") {
      event.preventDefault();
      reason()?.focus();
    } else if (data.edit && key === "e") {
      event.preventDefault();
      edited()?.focus();
    } else if (key === "?") {
      event.preventDefault();
      document.querySelector(`${data.legend} button`)?.click();
    }
  }, { signal: ended.signal });

  // The clip of the next case is cut, and in the browser's cache, before it is asked for.
  if (data.next) fetch(data.next, { priority: "low", signal: ended.signal }).catch(() => {});
  return () => {
    ended.abort();
    mounted.delete(host);
  };
}
