// Skipping: why somebody does not judge a clip, and the dialog that asks for it. They choose a kind, may give a reason,
// and send it. A digit chooses and leads to the reason, so that what is typed next is text.

const SKIPS = [
  {
    kind: "skip",
    label: marked("Skip it"),
    means: marked("You would rather not judge it. Somebody else gets it."),
    reason: "would rather not judge it",
  },
  {
    kind: "cannot_judge",
    label: marked("It cannot be judged"),
    means: marked("The query or the clip does not tell enough. Others still get it, and the lead annotator looks at it."),
    reason: "query or clip give no ground for a grade",
  },
  {
    kind: "broken_clip",
    label: marked("The clip is broken"),
    means: marked("No picture, frozen, or damaged. If a second person reports it, nobody gets it."),
    reason: "no picture, stands still, or damaged",
  },
];

class SkipPanel {
  /** @param give called with (kind, reason) once somebody has chosen */
  constructor(dialog, give) {
    this.form = dialog.querySelector("form");
    const rows = SKIPS.map(({ kind, label, means }, index) => {
      const box = make("input", "", []);
      Object.assign(box, { type: "radio", name: "kind", value: kind, required: true, autofocus: index === 0 });
      box.setAttribute("aria-keyshortcuts", String(index + 1));
      const words = make("span", "", [make("b", "", tr(label)), make("small", "", tr(means))]);
      return make("label", "choice", [box, words, make("kbd", "", String(index + 1))]);
    });
    this.form.querySelector("fieldset").append(...rows);
    this.form.onchange = () => this.draw();
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.give(this.form.elements.kind.value);
    };
    this.on = give;
    this.draw();
  }

  /** As new: nothing chosen, no reason. */
  reset() {
    this.form.reset();
    this.draw();
  }

  /** Choose a kind by its key, and go on to the reason. */
  choose(kind) {
    this.form.elements.kind.value = kind;
    this.draw();
    this.form.elements.reason.focus();
  }

  draw() {
    this.form.querySelector("[type='submit']").disabled = !this.form.elements.kind.value;
  }

  /** Skip for this kind of reason, with the words typed so far or the usual ones. */
  give(kind) {
    const typed = this.form.elements.reason.value.trim();
    this.on(kind, typed || SKIPS.find((skip) => skip.kind === kind).reason);
  }
}
