// Draws values into the page. All words from outside go through textContent, never through HTML.

const CONTEXT_WORDS = marked("context, not part of the moment");

class View extends Frame {
  constructor(root) {
    super(root);
    const names = ["progress", "counts", "query", "correcting", "clock", "grades", "empty", "missed", "replies"];
    for (const name of names) this.parts[name] = root.querySelector(`.${name}`);
    this.bar = root.querySelector(".time b");
    this.tiles = [];
  }

  buildGrades(grades) {
    this.tiles = grades.map(({ grade, label, meaning }) => {
      const tile = make("button", "tile", [
        make("span", "digit", String(grade)),
        make("span", "label", label),
        make("span", "meaning", meaning),
      ]);
      tile.type = "button";
      tile.dataset.grade = grade;
      tile.setAttribute("aria-label", tr("Grade {grade}, {label}: {meaning}", { grade, label, meaning }));
      tile.setAttribute("aria-keyshortcuts", String(grade));
      tile.setAttribute("aria-pressed", "false");
      return tile;
    });
    this.parts.grades.replaceChildren(...this.tiles);
    for (const [end, { grade }] of [["lowest", grades[0]], ["highest", grades.at(-1)]]) {
      put(this.root.querySelector(`.hints [data-end="${end}"]`), String(grade));
    }
  }

  buildKeys(grades) {
    const digits = { keys: [String(grades[0].grade), String(grades.at(-1).grade)], joined: tr("to"), does: tr("grade and go on") };
    this.listKeys([digits, ...KEYMAP]);
  }

  /** The item on show, or why there is none. */
  item(item, grade, correcting, empty) {
    const state = item ? "ready" : "empty";
    const pair = item?.pair ?? "";
    const changed = this.root.dataset.pair !== pair || this.root.dataset.state !== state;
    this.root.dataset.state = state;
    this.root.dataset.pair = pair;
    this.root.dataset.whole = item?.whole === true;
    put(this.parts.query, item?.query ?? "");
    this.parts.query.classList.toggle("long", (item?.query.length ?? 0) > 90);
    const nth = item ? tr("{position} of {total}", { position: item.position, total: item.total }) : "";
    const words = { answering: tr("Exam, {nth}", { nth }), again: tr("Exam, look again: {nth}", { nth }), practice: tr("Practice, {nth}", { nth }), trial: tr("Calibration round, {nth}", { nth }) }[item?.exam] ?? nth;
    this.root.dataset.exam = item?.exam ?? "";
    put(this.parts.progress, words);
    this.missed(item?.missed);
    this.parts.correcting.hidden = !correcting;
    if (correcting) {
      const [words, leave] = this.parts.correcting.children;
      put(words, tr("Your grade was {grade}. Press another, or", { grade }));
      put(leave, tr("keep it"));
    }
    this.tiles.forEach((tile, index) => tile.setAttribute("aria-pressed", String(correcting && index === grade)));
    const [title, text] = this.parts.empty.children;
    put(title, empty.title);
    put(text, empty.text);
    this.root.querySelector(".empty [data-do='guideline']").hidden = !empty.guideline;
    const told = item?.missed ? ` ${item.missed.words ?? missedWords(item.missed)} ${item.missed.explanation}` : "";
    if (changed || !item || item.missed?.words) this.say("item", item ? `${item.query} ${words}${told}` : `${empty.title}. ${empty.text}`);
  }

  /** What is told about an item of the exam that was missed. */
  missed(missed) {
    const { missed: box } = this.parts;
    box.hidden = !missed;
    const [verdict, explanation] = box.children;
    box.dataset.verdict = missed ? (missed.verdict ?? "wrong") : "";
    put(verdict, missed ? (missed.words ?? missedWords(missed)) : "");
    put(explanation, missed ? missed.explanation || tr("Look again with the guideline (G), then grade.") : "");
  }

  /** The button and the figures of an exam's desk without a clip; `exam` is null elsewhere. */
  exam(exam) {
    const act = exam && examAct(exam);
    const words = exam ? examWords(exam) : {};
    const button = this.root.querySelector("[data-do='exam']");
    button.hidden = !act;
    put(button.querySelector("span"), act ? words.label : "");
    const list = this.root.querySelector(".figures");
    const figures = exam && ["result", "failed"].includes(exam.phase) ? resultFigures(exam.result) : [];
    list.hidden = figures.length === 0;
    list.replaceChildren(...figures.map(([name, value]) => make("div", "", [make("dt", "", name), make("dd", "", value)])));
  }

  counts(words) {
    put(this.parts.counts, words);
  }

  /** The way to replies that were not read yet. */
  replies(count) {
    const { replies } = this.parts;
    replies.hidden = count === 0;
    replies.setAttribute("aria-label", trn("{n} new reply to your notes, on the page My work", "{n} new replies to your notes, on the page My work", count));
    put(replies, count === 0 ? "" : trn("{n} new reply", "{n} new replies", count));
  }

  undo(entry) {
    const label = tr("Undo the last grade, {grade}", { grade: entry?.grade });
    for (const button of this.root.querySelectorAll("[data-do='undo']")) {
      button.disabled = !entry;
      button.setAttribute("aria-label", entry ? label : tr("Undo: nothing to undo"));
    }
    const alone = this.root.querySelector(".empty [data-do='undo']");
    alone.hidden = !entry;
    put(alone.querySelector("span"), tr("Undo the last grade"));
    this.root.querySelector(".empty [data-do='recent']").hidden = !entry || Boolean(entry.item.exam);
  }

  time(seconds, duration) {
    if (!(duration > 0)) return;
    this.bar.style.transform = `scaleX(${Math.min(1, seconds / duration)})`;
    put(this.parts.clock, `${seconds.toFixed(1)} / ${duration.toFixed(1)} s`);
  }

  /** What of the context is on show, and which shares of the time bar are not the moment. */
  context(part, [before, after]) {
    this.root.dataset.context = part;
    this.bar.parentElement.style.setProperty("--before", `${100 * before}%`);
    this.bar.parentElement.style.setProperty("--after", `${100 * after}%`);
    put(this.root.querySelector(".mark"), { before: tr(CONTEXT_WORDS), moment: tr("the moment"), after: tr(CONTEXT_WORDS) }[part] ?? "");
    const button = this.root.querySelector("[data-do='context']");
    button.setAttribute("aria-pressed", String(part !== "off"));
    button.setAttribute("aria-busy", String(part === "asked"));
    const spoken = {
      off: tr("The moment again."),
      asked: tr("Fetching the context."),
      before: tr("Before the moment: context, not part of the moment."),
      moment: tr("The moment."),
      after: tr("After the moment: context, not part of the moment."),
    };
    this.say("context", spoken[part]);
  }

  /** Whether the button is offered that makes this the window at work. */
  goOn(offered) {
    this.root.querySelector("[data-do='go-on']").hidden = !offered;
  }

  /** The pressed grade answers at once, although its clip is gone already. */
  flash(grade) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const lit = { background: "var(--accent)", transform: "scale(0.97)" };
    this.tiles[grade].animate([lit, {}], { duration: 260, easing: "ease-out" });
  }
}
