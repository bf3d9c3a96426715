"use strict";
// Everything here is a convenience: without it the page shows and links the same things.
const number = (cell) => {
  const text = cell.dataset.v ?? cell.textContent.trim();
  return text === "" ? NaN : Number(text.replace(/,/g, ""));
};
for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("n");
      const current = head.getAttribute("aria-sort");
      // Numbers start with the largest, because that is where the best stands.
      const rising = current ? current === "descending" : !numeric;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => numeric ? number(row.cells[head.cellIndex]) : row.cells[head.cellIndex].textContent.trim();
      const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
      const sign = rising ? 1 : -1;
      rows.sort(([a, one], [b, other]) => {
        const bound = one.classList.contains("bound") - other.classList.contains("bound");
        if (bound) return bound;
        if (!numeric) return sign * a.localeCompare(b, undefined, { numeric: true });
        // Upper bounds, and what has no value, stay below, whichever way the rest is turned.
        return Number.isNaN(a) - Number.isNaN(b) || sign * (a - b) || 0;
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  }
}
const light = (item, on) => {
  const group = item?.dataset.g;
  if (!group) return;
  for (const one of item.closest(".lanes").querySelectorAll("[data-g]")) {
    one.classList.toggle("lit", on && one.dataset.g === group);
  }
  item.closest(".lanes").classList.toggle("some", on);
};
for (const lanes of document.querySelectorAll(".lanes")) {
  for (const [type, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
    lanes.addEventListener(type, (event) => light(event.target.closest("[data-g]"), on));
  }
}
const find = document.getElementById("find");
find.closest("label").hidden = false;
find.addEventListener("input", () => {
  const wanted = find.value.trim().toLowerCase();
  for (const row of document.getElementById("each").tBodies[0].rows) {
    row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
  }
});
const theme = document.getElementById("theme");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const paint = (name) => {
  document.documentElement.dataset.theme = name;
  theme.textContent = name === "dark" ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Change to ${name === "dark" ? "light" : "dark"} colours`);
};
theme.hidden = false;
paint(dark.matches ? "dark" : "light");
theme.addEventListener("click", () => paint(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
dark.addEventListener("change", () => paint(dark.matches ? "dark" : "light"));
// A link to something that is folded away unfolds it; browsers do so by themselves only for some links.
const reveal = (hash) => {
  for (let at = document.getElementById(decodeURIComponent(hash.slice(1))); at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
};
document.addEventListener("click", (event) => reveal(event.target.closest('a[href^="#"]')?.hash ?? ""));
window.addEventListener("hashchange", () => reveal(location.hash));
reveal(location.hash);
const parts = [...document.querySelectorAll("details.part")];
const all = document.getElementById("all");
const tell = () => { all.textContent = parts.every((part) => part.open) ? "Close all" : "Open all"; };
all.hidden = false;
all.addEventListener("click", () => {
  const open = !parts.every((part) => part.open);
  for (const part of parts) part.open = open;
});
for (const part of parts) part.addEventListener("toggle", tell);
tell();
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:is(.part, .case):not([open])")];
  for (const details of opened) details.open = true;
});
window.addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
