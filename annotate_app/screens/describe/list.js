// The descriptions of the video on screen that are this person's own.

const STATUS_WORDS = {
  waiting: "saved",
  returned: marked("sent back"),
  accepted: "accepted",
  refused: marked("not taken"),
};

/** Draws one description: {description, start_s, end_s, sentence, status, words, notes, unsent, refused, key}. */
function descriptionRow(one, isOpen) {
  const { start_s, end_s, sentence, status, words, notes = [], unsent, refused } = one;
  const times = make("button", "times", `${clock(start_s)}\u2013${clock(end_s)} s`);
  times.dataset.do = "see";
  times.setAttribute("aria-label", tr("Show {start} to {end} seconds", { start: clock(start_s), end: clock(end_s) }));
  const state = make("span", "state", unsent ? tr("on its way") : tr(STATUS_WORDS[status]));
  const parts = [make("p", "line", [times, state]), make("p", "sentence", sentence)];
  if (words && status === "returned") parts.push(make("p", "words", [make("b", "", `${tr("Your lead:")} `), words]));
  if (refused) parts.push(make("p", "words", refused));
  for (const note of status === "accepted" ? [] : notes) parts.push(make("p", "note", [make("b", "", `${tr("Look again:")} `), note]));
  const acts = { refused: [["edit", tr("Take up again")], ["drop", tr("Drop")]], accepted: [] }[status];
  const tools = (acts ?? [["edit", tr("Edit")], ["withdraw", tr("Withdraw")]]).map(([act, label]) => {
    const button = make("button", "", label);
    button.dataset.do = act;
    button.setAttribute("aria-label", `${label}: ${sentence}`);
    return button;
  });
  if (tools.length > 0) parts.push(make("p", "acts", tools));
  const row = make("li", "", parts);
  row.dataset.description = one.key ?? one.description;
  row.dataset.status = status;
  row.dataset.unsent = unsent === true;
  row.dataset.open = isOpen;
  for (const button of row.querySelectorAll("button")) button.type = "button";
  return row;
}

class OwnList {
  /** @param on does(act, description): a button of it was pressed */
  constructor(list, empty, on) {
    this.list = list;
    this.empty = empty;
    list.addEventListener("click", (event) => {
      const control = event.target.closest("[data-do]");
      const row = event.target.closest("li");
      if (!control || !row) return;
      event.stopPropagation();
      if (event.detail > 0) control.blur(); // else Enter and Space would press it again
      on(control.dataset.do, this.all.find((one) => (one.key ?? one.description) === row.dataset.description));
    });
  }

  /** What came back first, then the others as they stand in the video. `open`: the one that is corrected. */
  draw(all, open) {
    const drawn = JSON.stringify([all, open]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.all = all;
    const focused = this.list.getRootNode().activeElement;
    const at = this.list.contains(focused) && [focused.closest("li").dataset.description, focused.dataset.do];
    const urgent = ({ status }) => status === "returned" || status === "refused";
    const rows = [...all.filter(urgent), ...all.filter((one) => !urgent(one))];
    this.list.replaceChildren(...rows.map((one) => descriptionRow(one, one.description === open)));
    this.empty.hidden = all.length > 0;
    if (at) this.list.querySelector(`[data-description="${CSS.escape(at[0])}"] [data-do="${at[1]}"]`)?.focus();
  }
}
