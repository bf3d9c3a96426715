// The counts behind the titles of the menu, and what its groups lack. Streamlit draws the menu anew as it likes (a bar
// with drop-downs, a list behind a button, a drawer on a phone), so the counts of pages are rules of a style sheet for
// links to a page, and hold wherever such a link is. Groups are marked anew whenever something is drawn.
//
// GET /lead/waiting -> {"at": when it was counted, "counts": {"/progress": "7 stuck", "Team": "2"}}

const SHEET = "rr-menu-counts";
const LINKS = ["stTopNavLink", "stTopNavDropdownLink", "stSidebarNavLink"];
const GROUPS = "[data-testid='stTopNavSection']";
const DRAWER = "[data-testid='stSidebarNavItems']";

const mounted = new WeakMap();
let latest = {};

export default function ({ parentElement, data }) {
  const host = parentElement.querySelector(".rr-menu-counts");
  mounted.get(host)?.abort();
  const ended = new AbortController();
  mounted.set(host, ended);
  const { signal } = ended;
  guardShortcuts(signal); // this component is on every page of a lead, and only those have buttons with shortcuts
  show(data.told);

  let frame = 0;
  const mark = () => {
    describeDrawer(); // at once: a screen reader may read the drawer before the next frame
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => markGroups(data.groups));
  };
  const drawn = new MutationObserver(mark);
  drawn.observe(document.body, { childList: true, subtree: true });
  window.addEventListener("resize", mark, { signal });
  document.addEventListener("keydown", toggleGroup, { signal });
  window.addEventListener("keydown", keepFromPage, { capture: true, signal });
  mark();

  const ask = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(fullPath("/lead/waiting"), { headers: { "X-ReelRank": "1" }, signal });
      if (answer.ok && !signal.aborted) {
        show(await answer.json());
        mark();
      }
    } catch {
      // No network, or the page is left: the next time tells.
    }
  };
  const timer = setInterval(ask, data.every_ms);
  document.addEventListener("visibilitychange", ask, { signal });
  return () => {
    clearInterval(timer);
    cancelAnimationFrame(frame);
    drawn.disconnect();
    ended.abort();
    mounted.delete(host);
  };
}

/** Show counts, unless newer ones are shown: a page may be drawn again with what it was sent before. */
function show({ at, counts }) {
  const sheet = document.getElementById(SHEET) ?? document.head.appendChild(Object.assign(document.createElement("style"), { id: SHEET }));
  if (at < Number(sheet.dataset.at ?? 0)) return;
  sheet.dataset.at = at;
  latest = counts;
  sheet.textContent = Object.entries(counts).filter(([path]) => path.startsWith("/")).map(([path, count]) => rule(path, count)).join("\n");
}

function rule(path, count) {
  const links = LINKS.map((name) => `[data-testid="${name}"][href$=${JSON.stringify(path)}] p::after`);
  return `${links.join(", ")} { content: ${JSON.stringify(` (${count})`)}; }`;
}

/** Give each drop-down the count of its pages, and tell which one holds the open page. */
function markGroups(groups) {
  let folded = 0;
  let isFolded = false;
  let more = null;
  for (const button of document.querySelectorAll(GROUPS)) {
    const name = button.querySelector("p")?.textContent ?? "";
    const isCurrent = groups[name]?.some((path) => location.pathname.endsWith(path));
    if (!(name in groups)) more = button; // the menu of what the bar has no room for
    else if (button.closest("[aria-hidden='true']")) {
      folded += Number((latest[name] ?? "").replace(/\D/g, ""));
      isFolded ||= isCurrent;
    } else describeGroup(button, latest[name], isCurrent);
  }
  if (more) describeGroup(more, folded || undefined, isFolded);
}

function describeGroup(button, count, isCurrent) {
  const name = button.querySelector("p");
  if (count) name.dataset.count = count;
  else delete name.dataset.count;
  if (isCurrent) button.setAttribute("aria-current", "true");
  else button.removeAttribute("aria-current");
}

/** Describe the drawer to screen readers as groups of links. Streamlit marks it as a list that has more than items. */
function describeDrawer() {
  const drawer = document.querySelector(DRAWER);
  if (!drawer) return;
  for (const one of [drawer, ...drawer.querySelectorAll("li")]) one.setAttribute("role", "none");
  for (const header of drawer.querySelectorAll("header")) {
    header.setAttribute("role", "button");
    header.setAttribute("tabindex", "0");
    header.setAttribute("aria-expanded", String(header.parentElement.querySelector("li") !== null));
    header.parentElement.setAttribute("role", "group");
    header.parentElement.setAttribute("aria-label", header.querySelector("p")?.textContent ?? header.textContent);
  }
}

/** Streamlit folds a group of the drawer at a click on its name alone. */
function toggleGroup(event) {
  const header = event.target instanceof Element && event.target.matches(`${DRAWER} header`) ? event.target : null;
  if (!header || !["Enter", " "].includes(event.key)) return;
  event.preventDefault();
  header.click();
}

/** A letter pressed in an open menu is no shortcut of the page behind it. */
function keepFromPage(event) {
  const inMenu = event.target instanceof Element && event.target.closest("[role='menu']") !== null;
  if (inMenu && [...event.key].length === 1 && event.key !== " ") event.stopImmediatePropagation();
}
