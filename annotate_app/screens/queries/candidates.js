// Candidates of a query. The browser fetches their pictures as they come into view; what cannot be drawn says why.
const mounted = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  speak(parentElement, data);
  const host = parentElement.querySelector(".rr-candidates");
  const before = mounted.get(host);
  if (before) before.ended.abort();
  if (!before || before.html !== data.html) host.innerHTML = data.html; // made and escaped by candidates
  const ended = new AbortController();
  const { signal } = ended;
  mounted.set(host, { html: data.html, ended });

  host.addEventListener("click", (event) => {
    const one = event.target.closest("article[data-opens]");
    const selection = getSelection();
    if (!one || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!selection.isCollapsed && host.contains(selection.anchorNode)) return; // somebody marked text to copy it
    event.preventDefault();
    setTriggerValue("opened", one.dataset.opens);
  }, { signal });
  // Errors of pictures do not bubble, but they are caught on their way down.
  host.addEventListener("error", (event) => explain(event.target.closest(".rr-board"), event.target.src), { capture: true, signal });
  return () => {
    ended.abort();
    mounted.delete(host);
  };
}

/** In place of the frames, why there are none: an image hides the reason. (To ask for the clip would report it.) */
async function explain(board, src) {
  if (!board || board.dataset.explained) return;
  board.dataset.explained = "true";
  let message = tr("The frames cannot be shown now. Reload the page.");
  try {
    const answer = await fetch(src);
    if (!answer.ok) message = (await answer.json()).message || message;
  } catch { /* no network: the general sentence stands */ }
  const told = document.createElement("p");
  told.className = "rr-fault";
  told.textContent = message;
  board.replaceWith(told);
}
