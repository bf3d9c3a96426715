// A person's last grades, to go back to one of them while it may still be changed.
//
// GET /desk/recent -> {"items": [desk item with "grade"]}, the newest first.

class RecentPanel {
  /** @param pick called with (items, pair) once somebody has chosen one */
  constructor(dialog, pick) {
    this.body = dialog.querySelector(".body");
    this.dialog = dialog;
    this.pick = pick;
  }

  /** Fetch the list; `gradeOf(item)` is the grade as it stands here, which may be on its way. */
  async fill(gradeOf) {
    const asked = (this.asked = Symbol("asked"));
    this.tell(tr("Fetching your grades."));
    const items = await this.fetch();
    if (this.asked !== asked) return;
    if (!items) this.tell(tr("Your grades cannot be fetched just now. Try again in a moment."));
    else if (items.length === 0) this.tell(tr("There is no grade that you can still change."));
    else this.list(items, gradeOf);
  }

  tell(text) {
    this.body.replaceChildren(make("p", "", text));
  }

  list(items, gradeOf) {
    const rows = items.map((item, index) => {
      const grade = gradeOf(item);
      const place = trn("{n} grade ago", "{n} grades ago", index + 1);
      const button = make("button", "graded", [make("span", "digit", String(grade)), make("span", "asked", item.query), make("small", "", place)]);
      Object.assign(button, { type: "button", onclick: () => this.pick(items, item.pair) });
      button.setAttribute("aria-label", tr("Change grade {grade} for \u201c{query}\u201d", { grade, query: item.query }));
      button.firstChild.dataset.grade = grade;
      return make("li", "", [button]);
    });
    this.body.replaceChildren(make("p", "", tr("Choose a grade to change it. You can change a grade for 15 minutes.")), make("ul", "", rows));
    if (this.dialog.open) this.body.querySelector("button").focus();
  }

  /** The items, or null where they do not come. */
  async fetch() {
    try {
      const response = await fetch(fullPath("/desk/recent"), { credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE_MS) });
      return response.ok ? (await response.json()).items : null;
    } catch {
      return null;
    }
  }
}
