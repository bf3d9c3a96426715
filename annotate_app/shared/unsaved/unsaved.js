// Asks before edits are lost. A field is known by the class that Streamlit makes from its key, and its value before the
// first touch is remembered: fields are drawn anew, and late, so they cannot all be read at the start.
const watched = new WeakMap();
const INPUTS = "input, textarea, [aria-checked], [data-baseweb='select']";

function fieldOf(element) {
  return [...(element.closest?.('[class*="st-key-"]')?.classList ?? [])].find((name) => name.startsWith("st-key-"));
}

function valueOf(input) {
  if (input.matches("[data-baseweb='select']")) return input.textContent;
  if (input.matches("[type='checkbox'], [type='radio']")) return String(input.checked);
  return input.getAttribute("aria-checked") ?? input.value;
}

function valuesOf(field) {
  const inputs = [...(field?.querySelectorAll(INPUTS) ?? [])].filter((one) => !one.parentElement.closest("[data-baseweb='select']"));
  return JSON.stringify(inputs.map(valueOf));
}

export default function ({ parentElement, data }) {
  const host = parentElement.querySelector(".rr-unsaved");
  const known = watched.get(host) ?? { saved: data.saved, before: new Map() };
  watched.set(host, known);
  if (known.saved !== data.saved) Object.assign(known, { saved: data.saved, before: new Map() });
  known.ended?.abort();
  const { signal } = (known.ended = new AbortController());
  let leaves = false;

  const remember = (event) => {
    const name = event.target.closest?.(data.container) && fieldOf(event.target);
    if (name && !known.before.has(name)) known.before.set(name, valuesOf(document.querySelector(`.${CSS.escape(name)}`)));
  };
  const isUnsaved = () =>
    data.changed ||
    [...known.before].some(([name, before]) => {
      const field = document.querySelector(`${data.container} .${CSS.escape(name)}`);
      return field && valuesOf(field) !== before;
    });
  const ask = (event) => {
    const link = event.target.closest?.("a[href]");
    const other = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button;
    const goes = link ? !other && link.target !== "_blank" && !link.hasAttribute("download") && !link.getAttribute("href").startsWith("#") : data.leaving && event.target.closest?.(data.leaving);
    if (!goes || !isUnsaved()) return;
    if (confirm(data.question)) {
      leaves = true; // the tab does not ask once more
      known.before = new Map();
    } else {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };

  for (const type of ["focusin", "pointerdown"]) window.addEventListener(type, remember, { capture: true, signal });
  window.addEventListener("click", ask, { capture: true, signal });
  window.addEventListener("beforeunload", (event) => {
    if (!leaves && isUnsaved()) event.preventDefault();
  }, { signal });
  return () => known.ended.abort();
}
