// The counts behind the titles of the menu. Streamlit draws the menu anew as it likes (a bar, a list behind a button, a
// drawer on a phone), so the counts are rules of a style sheet for links to a page, and hold wherever such a link is.
//
// GET /lead/waiting -> {"at": when it was counted, "counts": {"/progress": "7 stuck"}}

const SHEET = "rr-menu-counts";
const LINKS = ["stTopNavLink", "stTopNavDropdownLink", "stSidebarNavLink"];

const mounted = new WeakMap();

export default function ({ parentElement, data }) {
  const host = parentElement.querySelector(".rr-menu-counts");
  mounted.get(host)?.abort();
  const ended = new AbortController();
  mounted.set(host, ended);
  const { signal } = ended;
  guardShortcuts(signal); // this component is on every page of a lead, and only those have buttons with shortcuts
  show(data.told);

  const ask = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(fullPath("/lead/waiting"), { headers: { "X-ReelRank": "1" }, signal });
      if (answer.ok && !signal.aborted) show(await answer.json());
    } catch {
      // No network, or the page is left: the next time tells.
    }
  };
  const timer = setInterval(ask, data.every_ms);
  document.addEventListener("visibilitychange", ask, { signal });
  return () => {
    clearInterval(timer);
    ended.abort();
    mounted.delete(host);
  };
}

/** Show counts, unless newer ones are shown: a page may be drawn again with what it was sent before. */
function show({ at, counts }) {
  const sheet = document.getElementById(SHEET) ?? document.head.appendChild(Object.assign(document.createElement("style"), { id: SHEET }));
  if (at < Number(sheet.dataset.at ?? 0)) return;
  sheet.dataset.at = at;
  sheet.textContent = Object.entries(counts).map(([path, count]) => rule(path, count)).join("\n");
}

function rule(path, count) {
  const links = LINKS.map((name) => `[data-testid="${name}"][href$=${JSON.stringify(path)}] p::after`);
  return `${links.join(", ")} { content: ${JSON.stringify(` (${count})`)}; }`;
}
