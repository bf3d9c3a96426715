// Draws values into the page. All words from outside go through textContent, never through HTML.

const CONTEXT_WORDS = "context, not part of the moment";

class View {
  constructor(root) {
    this.root = root;
    this.parts = {};
    const names = ["progress", "counts", "saving", "notice", "query", "correcting", "clock", "grades", "empty", "missed", "replies"];
    for (const name of names) this.parts[name] = root.querySelector(`.${name}`);
    this.bar = root.querySelector(".time b");
    this.tiles = [];
  }

  panel(name) {
    return this.root.querySelector(`dialog[data-panel="${name}"]`);
  }

  get openPanel() {
    return this.root.querySelector("dialog[open]");
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
      tile.setAttribute("aria-label", `Grade ${grade}, ${label}: ${meaning}`);
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
    const digits = { keys: [String(grades[0].grade), String(grades.at(-1).grade)], joined: "to", does: "grade and go on" };
    const rows = [digits, ...KEYMAP].flatMap(({ keys, joined, does }) => {
      const marks = keys.flatMap((key, index) => [...(index && joined ? [` ${joined} `] : [" "]), make("kbd", "", key)]);
      return [make("dt", "", marks), make("dd", "", does)];
    });
    this.panel("keys").querySelector(".body").replaceChildren(...rows);
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
    const nth = item ? `${item.position} of ${item.total}` : "";
    const words = { answering: `Exam, ${nth}`, again: `Exam, look again: ${nth}`, practice: `Practice, ${nth}`, trial: `Trial round, ${nth}` }[item?.exam] ?? nth;
    this.root.dataset.exam = item?.exam ?? "";
    put(this.parts.progress, words);
    this.missed(item?.missed);
    this.parts.correcting.hidden = !correcting;
    if (correcting) {
      const skipped = grade === SKIPPED;
      const [words, leave] = this.parts.correcting.children;
      put(words, skipped ? "You skipped this one. Press a grade, or" : `Your grade was ${grade}. Press another, or`);
      put(leave, skipped ? "leave it" : "keep it");
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
    put(verdict, missed ? (missed.words ?? missedWords(missed)) : "");
    put(explanation, missed ? missed.explanation || "Look again with the guideline (G), then grade." : "");
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

  counts(today, inAll, words) {
    put(this.parts.counts, words ?? `${today.toLocaleString()} today \u00b7 ${inAll.toLocaleString()} in all`);
  }

  /** The way to replies that were not read yet. */
  replies(count) {
    const { replies } = this.parts;
    replies.hidden = count === 0;
    replies.setAttribute("aria-label", `${count} new ${count === 1 ? "reply" : "replies"} to your notes, on the page My work`);
    put(replies, count === 0 ? "" : `${count} new ${count === 1 ? "reply" : "replies"}`);
  }

  saving(unsent, state) {
    const unsaved = unsent.size;
    const away = { offline: "offline", "signed-out": "signed out", refused: "not accepted" }[state];
    let text = unsaved > 0 ? "sending" : "saved";
    if (away) text = unsaved > 0 ? `${away}: ${unsent.words} kept` : away;
    if (unsaved > 0 && !unsent.durable) text += " in this window only";
    this.parts.saving.dataset.unsaved = unsaved;
    this.parts.saving.dataset.state = away ? state : text;
    put(this.parts.saving.querySelector("span"), text);
  }

  undo(entry) {
    const skipped = entry?.grade === SKIPPED;
    const label = skipped ? "Undo skip" : `Undo the last grade, ${entry?.grade}`;
    for (const button of this.root.querySelectorAll("[data-do='undo']")) {
      button.disabled = !entry;
      button.setAttribute("aria-label", entry ? label : "Undo: nothing to undo");
    }
    const mark = skipped ? "skip" : (entry?.grade ?? "");
    put(this.root.querySelector(".tools [data-do='undo'] span"), `Undo ${mark}`.trim());
    const alone = this.root.querySelector(".empty [data-do='undo']");
    alone.hidden = !entry;
    put(alone.querySelector("span"), skipped ? label : "Undo the last grade");
  }

  get noticeText() {
    return this.parts.notice.hidden ? "" : this.parts.notice.querySelector("p").textContent;
  }

  notice(text, signIn = null) {
    const { notice } = this.parts;
    notice.hidden = !text;
    put(notice.querySelector("p"), text);
    const link = notice.querySelector("a");
    link.hidden = !signIn;
    if (signIn) link.href = signIn;
  }

  time(seconds, duration) {
    if (!(duration > 0)) return;
    this.bar.style.transform = `scaleX(${Math.min(1, seconds / duration)})`;
    put(this.parts.clock, `${seconds.toFixed(1)} / ${duration.toFixed(1)} s`);
  }

  playing(playing) {
    this.root.dataset.playing = playing;
    this.root.querySelector("[data-do='pause']").setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  sound(on) {
    const button = this.root.querySelector("[data-do='sound']");
    button.setAttribute("aria-pressed", String(on));
    this.root.dataset.sound = on;
  }

  speed(speed) {
    const button = this.root.querySelector("[data-do='speed']");
    put(button, `${speed}\u00d7`);
    button.setAttribute("aria-label", `Speed ${speed} times`);
  }

  /** What of the context is on show, and which shares of the time bar are not the moment. */
  context(part, [before, after]) {
    this.root.dataset.context = part;
    this.bar.parentElement.style.setProperty("--before", `${100 * before}%`);
    this.bar.parentElement.style.setProperty("--after", `${100 * after}%`);
    put(this.root.querySelector(".mark"), { before: CONTEXT_WORDS, moment: "the moment", after: CONTEXT_WORDS }[part] ?? "");
    const button = this.root.querySelector("[data-do='context']");
    button.setAttribute("aria-pressed", String(part !== "off"));
    button.setAttribute("aria-busy", String(part === "asked"));
    const spoken = {
      off: "The moment again.",
      asked: "Fetching the context.",
      before: `Before the moment: ${CONTEXT_WORDS}.`,
      moment: "The moment.",
      after: `After the moment: ${CONTEXT_WORDS}.`,
    };
    this.say("context", spoken[part]);
  }

  /** Whether the button is offered that makes this the window at work. */
  goOn(offered) {
    this.root.querySelector("[data-do='go-on']").hidden = !offered;
  }

  loading(loading) {
    this.root.dataset.loading = loading;
  }

  /** The pressed grade answers at once, although its clip is gone already. */
  flash(grade) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const lit = { background: "var(--accent)", transform: "scale(0.97)" };
    this.tiles[grade].animate([lit, {}], { duration: 260, easing: "ease-out" });
  }

  say(what, text) {
    put(this.root.querySelector(`[data-said="${what}"]`), text);
  }

  toggle(name) {
    const panel = this.panel(name);
    const open = this.openPanel;
    open?.close();
    if (open === panel) return;
    panel.showModal();
    panel.scrollTop = 0; // focus went to the text and scrolled it below the heading
  }
}

/** Change words only where they differ: screen readers speak every change. */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function make(tag, className, content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...[content].flat());
  return element;
}
