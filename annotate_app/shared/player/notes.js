// A note with a grade: a line for the lead annotator about the clip on screen, which goes with the grade.
//
// The field is open while somebody writes and as long as it has words, so that everybody sees what goes along. What
// was written stays with its clip, also while another one is on screen, until the clip gets a grade.

class Notes {
  /**
   * @param form the field's form, which also says whether it is open
   * @param button opens it
   * @param unsent grades of an earlier visit may carry notes
   */
  constructor(form, button, unsent) {
    this.form = form;
    this.button = button;
    this.input = form.elements.note;
    this.typed = new Map(); // by pair: what no grade has taken along yet
    this.given = new Map(); // by pair: what went with the last grade of this visit
    this.item = null;
    for (const { pair, note } of unsent.list()) if (note !== undefined) this.given.set(pair, note);
    form.onsubmit = (event) => {
      event.preventDefault();
      this.input.blur();
    };
    this.input.oninput = () => {
      this.typed.set(this.item.pair, this.input.value);
      this.draw();
    };
    this.input.onkeydown = (event) => {
      if (event.key !== "Escape" || isComposing(event)) return;
      this.typed.set(this.item.pair, this.before);
      this.input.value = this.before;
      this.input.blur();
    };
    this.input.onfocus = () => {
      this.before = this.input.value;
      this.draw();
    };
    this.input.onblur = () => this.draw();
  }

  /** This item, or null, is on screen now. */
  show(item) {
    if (item?.pair !== this.item?.pair) this.input.blur();
    this.item = item;
    const text = item ? this.textOf(item) : "";
    if (this.input.value !== text && !this.input.matches(":focus")) this.input.value = text;
    this.draw();
  }

  /** Write, or go on writing, about the item on screen. */
  open() {
    this.form.hidden = false;
    this.input.focus();
    this.input.setSelectionRange(this.input.value.length, this.input.value.length);
  }

  /** What goes with a grade of this item: {note} where it says something new, else nothing. */
  take(item) {
    const note = tidy(this.textOf(item));
    const before = this.given.get(item.pair) ?? item.note ?? "";
    this.typed.delete(item.pair);
    this.given.set(item.pair, note);
    return note === before ? {} : { note };
  }

  textOf({ pair, note = "" }) {
    return this.typed.get(pair) ?? this.given.get(pair) ?? note;
  }

  draw() {
    const written = tidy(this.input.value) !== "";
    this.form.hidden = !this.item || !(written || this.input.matches(":focus"));
    this.button.setAttribute("aria-pressed", String(written));
  }
}

/** One line of whole characters: half of a pair, as a cut may leave it, is none. */
function tidy(text) {
  return text.replace(/[\p{Cc}\p{Surrogate}]/gu, " ").replace(/\s+/g, " ").trim();
}
