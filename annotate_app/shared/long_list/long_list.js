// A list whose rows are links: a click anywhere on a row opens it within the page. What the browser does with links by
// itself (a tab of its own with Ctrl or the middle button) stays as it is.
const mounted = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  const host = parentElement.querySelector(".rr-list");
  const before = mounted.get(host);
  if (before) before.ended.abort();
  if (!before || before.html !== data.html) host.innerHTML = data.html; // made and escaped by long_list
  const ended = new AbortController();
  const { signal } = ended;
  mounted.set(host, { html: data.html, ended });

  const links = () => [...host.querySelectorAll("tbody a")];
  const open = (row) => setTriggerValue("opened", row.dataset.opens);

  host.addEventListener("click", (event) => {
    const head = event.target.closest("[data-sort]");
    if (head) return setTriggerValue("sorted", head.dataset.sort);
    const row = event.target.closest("tr[data-opens]");
    if (!row || event.button !== 0 || marksText(host)) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) {
      if (!event.target.closest("a")) window.open(row.querySelector("a").href, "_blank", "noopener");
      return;
    }
    if (data.elsewhere) { // a link to another page is the browser's
      if (!event.target.closest("a")) row.querySelector("a").click();
      return;
    }
    event.preventDefault();
    open(row);
  }, { signal });
  host.addEventListener("auxclick", (event) => {
    const row = event.target.closest("tr[data-opens]");
    if (row && event.button === 1 && !event.target.closest("a")) window.open(row.querySelector("a").href, "_blank", "noopener");
  }, { signal });

  // A video that is not there, or cannot be read, has no picture: the row does without.
  host.addEventListener("error", (event) => event.target.matches?.(".rr-pictured img") && event.target.remove(), {
    capture: true,
    signal,
  });

  // N and P go from row to row from anywhere on the page, the arrows once a row has the focus; Enter is the link's own.
  const step = (by) => {
    const all = links();
    const at = all.indexOf(document.activeElement);
    all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (isForeign(event) || foreignDialogOpen() || event.shiftKey) return;
    const inside = host.contains(document.activeElement) && document.activeElement.matches("tbody a");
    const letter = data.keys ? keyOf(event) : undefined;
    const by = letter === "n" || (inside && event.key === "ArrowDown") ? 1 : letter === "p" || (inside && event.key === "ArrowUp") ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    step(by);
  }, { signal });
  return () => {
    ended.abort();
    mounted.delete(host);
  };
}

/** Whether somebody has just marked text of the list, to copy it: that is no click on a row. */
function marksText(host) {
  const selection = getSelection();
  return !selection.isCollapsed && host.contains(selection.anchorNode);
}
