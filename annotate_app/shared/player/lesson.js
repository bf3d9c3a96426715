// The lesson before the desk: the guideline page by page and practice, or what changed in the guideline.
//
// POST /practice/{pair} {"person", "grade", "key"} -> {"own", "right", "agrees", "explanation"}
// POST /desk/guideline {"person", "version"} -> {"desk"}: the lesson was shown to its end. The desk that comes back takes
// the lesson's place on the page.

class Lesson {
  /** @param done called with the desk that follows */
  constructor(root, data, done) {
    this.root = root;
    this.data = data;
    this.done = done;
    this.lesson = data.lesson;
    this.view = new View(root);
    this.view.buildGrades(data.guideline.grades);
    this.view.buildKeys(data.guideline.grades);
    this.guide = new Guide(this.view.panel("guideline"), data.guideline);
    this.gate = new Gate();
    this.told = new Map();
    this.steps = lessonSteps(this.lesson, data.guideline);
    this.sheet = root.querySelector(".lesson .sheet");
    const around = root.querySelector("video.around");
    this.stage = new Stage(
      [...root.querySelectorAll("video[data-active]")],
      around,
      {
        firstFrame: (now) => this.firstFrame(now),
        time: (seconds, duration) => this.view.time(seconds, duration),
        playing: (playing) => this.view.playing(playing),
        broken: (pair) => this.without(pair),
        later: (what) => this.view.notice(what),
        serverWell: async () => navigator.onLine,
      },
      "/practice/",
    );
    this.view.sound(false);
    this.view.speed(this.stage.speed);
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("keydown", (event) => this.key(event), { capture: true, signal });
    root.addEventListener("click", (event) => this.click(event), { signal });
    window.addEventListener("resize", () => this.fit(), { signal });
    this.fit();
    this.go(firstStep(this.lesson, this.steps));
  }

  get step() {
    return this.steps[this.at];
  }

  /** The data that Streamlit hands over again is the same lesson. */
  refreshed() {}

  fit() {
    const top = Math.min(Math.max(this.root.getBoundingClientRect().top, 0), 240);
    this.root.style.setProperty("--above", `${Math.round(top)}px`);
  }

  key(event) {
    if (isForeign(event) || foreignDialogOpen() || belongsToControl(event)) return;
    const command = commandOf(event);
    if (!command) return;
    if (this.view.openPanel && !["guideline", "keys", "escape"].includes(command.name)) return;
    if (command.name === "escape" && !this.view.openPanel) return;
    if (this.step.kind !== "practice" && ["faster", "slower"].includes(command.name)) return; // they scroll a long page
    event.preventDefault();
    if (!event.repeat) this.obey(command, event.timeStamp);
  }

  click(event) {
    if (event.target.tagName === "DIALOG") event.target.close();
    const control = event.target.closest("[data-do], [data-grade]");
    if (!control || control.tagName === "LI") return;
    if (event.detail > 0 && control.closest(".work")) control.blur();
    const { grade } = control.dataset;
    if (grade !== undefined) this.obey({ name: "grade", grade: Number(grade) }, event.timeStamp);
    else if (control.dataset.do === "seek") this.stage.seek(shareOf(event, control));
    else this.obey({ name: control.dataset.do });
  }

  obey({ name, grade }, now = performance.now()) {
    const always = {
      on: () => this.onwards(),
      exam: () => this.onwards(), // Enter
      back: () => this.go(this.at - 1),
      undo: () => this.go(this.at - 1),
      guideline: () => this.view.toggle("guideline"),
      keys: () => this.view.toggle("keys"),
      escape: () => this.view.openPanel?.close(),
      dismiss: () => this.view.notice(""),
    };
    const page = { "frame-forward": () => this.onwards(), "frame-back": () => this.go(this.at - 1), pause: () => this.onwards() };
    const clip = {
      pause: () => this.stage.togglePlay(),
      "frame-back": () => this.stage.step(-1),
      "frame-forward": () => this.stage.step(1),
      faster: () => this.speed(1),
      slower: () => this.speed(-1),
      speed: () => this.speed(this.stage.speed === SPEEDS.at(-1) ? -SPEEDS.length : 1),
      sound: () => this.sound(),
      grade: () => this.grade(grade, now),
    };
    ({ ...always, ...(this.step.kind === "practice" ? clip : page) })[name]?.();
  }

  /** One step on; practice waits for its answer, and the last step leads to the desk. */
  onwards() {
    const { kind, item } = this.step;
    if (kind === "practice" && !this.told.has(item.pair)) return;
    if (this.at === this.steps.length - 1) this.finish();
    else this.go(this.at + 1);
  }

  go(at) {
    if (at < 0 || at >= this.steps.length) return;
    this.at = at;
    this.view.notice("");
    for (const video of this.sheet.querySelectorAll("video")) video.pause();
    if (this.step.kind === "practice") this.practise();
    else this.read();
    this.root.dataset.lesson = this.step.kind;
  }

  /** A page: words, and a clip where a lead chose one for this grade. */
  read() {
    this.gate.close();
    this.awaitGate();
    this.stage.clear();
    const { guideline } = this.data;
    const pages = {
      intro: () => [tr("How to grade"), introWords(this.lesson, guideline.grades).map((text) => make("p", "", text))],
      grade: () => this.gradePage(this.step.meaning),
      questions: () => [
        guideline.before,
        [make("ol", "asked", guideline.questions.map(({ title, text }) => make("li", "", [make("b", "", title), make("span", "", text)])))],
      ],
      reminders: () => [tr("Keep in mind"), [make("ul", "kept", guideline.reminders.map((text) => make("li", "", text)))]],
      news: () => [tr("The guideline changed"), this.newsPage()],
      end: () => [
        tr("That was the tutorial"),
        [make("p", "", `${practiceWords([...this.told.values()])}${tr("The guideline is one key away (G), and so is this tutorial.")}`)],
      ],
    };
    const [title, parts] = pages[this.step.kind]();
    const heading = make("h1", "", title);
    heading.tabIndex = -1;
    this.sheet.replaceChildren(heading, ...parts);
    const last = this.at === this.steps.length - 1;
    const label = { news: tr("Got it"), end: this.lesson.reading === "again" ? tr("Back to your clips") : tr("Begin") }[this.step.kind] ?? tr("Next");
    put(this.root.querySelector(".lesson .step"), this.lesson.reading === "changed" ? "" : tr("Tutorial, {step} of {steps}", { step: this.at + 1, steps: this.steps.length }));
    put(this.root.querySelector(".lesson [data-do='on'] span"), last ? label : tr("Next"));
    this.root.querySelector(".lesson [data-do='back']").hidden = this.at === 0;
    this.view.item(null, null, false, { title, text: "" });
    this.root.dataset.state = "lesson";
    heading.focus({ preventScroll: true });
    this.sheet.scrollTop = 0;
  }

  gradePage({ grade, label, meaning, detail, example, shown }) {
    const digit = make("span", "digit", String(grade));
    digit.dataset.grade = grade;
    const parts = [make("p", "meant", [digit, make("b", "", label), make("span", "", meaning)]), make("p", "", detail)];
    if (shown) {
      const video = document.createElement("video");
      Object.assign(video, { muted: true, loop: true, playsInline: true, controls: true, preload: "auto", src: shown.clip });
      video.setAttribute("aria-label", tr("The example of grade {grade}", { grade }));
      video.addEventListener("error", () => video.remove());
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) playSilently(video);
      parts.push(make("p", "asked-for", `\u201c${shown.query}\u201d`), video, make("p", "why", shown.note));
    } else if (example) {
      parts.push(make("p", "asked-for", `\u201c${this.data.guideline.example_query}\u201d`), make("p", "why", tr("For instance: {example}", { example })));
    }
    return [tr("Grade {grade}", { grade }), parts];
  }

  newsPage() {
    const reasons = this.lesson.reasons.map((text) => make("p", "", text));
    const texts = this.lesson.changes.map(({ where, before, after }) => [
      make("dt", "", where),
      make("dd", "", [...(before ? [make("del", "", before)] : []), ...(after ? [make("ins", "", after)] : [])]),
    ]);
    return [...reasons, make("dl", "changes", texts.flat())];
  }

  /** A practice pair, as the desk shows pairs. */
  practise() {
    const { item } = this.step;
    this.gate.close();
    this.awaitGate();
    this.view.loading(true);
    this.stage.show(item.pair);
    const ahead = this.steps.slice(this.at + 1).filter(({ kind }) => kind === "practice").map(({ item: { pair } }) => pair);
    this.stage.prepare(ahead);
    this.draw();
  }

  draw() {
    const { item } = this.step;
    const told = this.told.get(item.pair);
    const missed = told ? { ...told, words: toldWords(told), verdict: verdictOf(told) } : { ...NOT_TOLD, explanation: tr(NOT_TOLD.explanation) };
    this.view.item({ ...item, missed }, null, false, { title: "", text: "" });
    this.view.tiles.forEach((tile, grade) => {
      tile.setAttribute("aria-pressed", String(told?.own === grade));
      tile.dataset.right = String(told?.right === grade);
      tile.dataset.wrong = String(told?.own === grade && !told.agrees);
    });
    Object.assign(this.root.querySelector(".missed [data-do='on']"), { hidden: false, disabled: !told });
    this.view.counts(tr("none of this counts as a judgement"));
    this.view.undo(undefined);
    this.fit();
  }

  async grade(grade, now) {
    const { item } = this.step;
    if (!(grade in this.data.guideline.grades) || this.told.has(item.pair) || this.asking) return;
    if (!this.gate.admits(now)) {
      this.awaitGate();
      return;
    }
    this.asking = true;
    const told = await this.post(`/practice/${encodeURIComponent(item.pair)}`, { grade, key: newKey() });
    this.asking = false;
    if (!told || this.ended.signal.aborted) return;
    this.told.set(item.pair, told);
    if (this.step.item === item) this.draw();
  }

  /** A practice pair whose clip does not come: the lesson goes on without it. */
  without(pair) {
    const shown = this.step.item?.pair === pair;
    const at = this.steps.findIndex(({ item }) => item?.pair === pair);
    if (at < 0) return;
    this.steps.splice(at, 1);
    if (at < this.at) this.at -= 1;
    if (shown) this.go(this.at);
  }

  async finish() {
    if (this.finishing) return;
    this.finishing = true;
    const answer = await this.post("/desk/guideline", { version: this.lesson.version });
    this.finishing = false;
    if (!answer || this.ended.signal.aborted) return;
    if (location.search.includes("tutorial")) history.replaceState(history.state, "", location.pathname);
    this.done(answer.desk);
  }

  /** The parsed answer, or null after saying why there is none. */
  async post(path, body) {
    try {
      const response = await fetch(fullPath(path), {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-ReelRank": "1" },
        body: JSON.stringify({ person: this.data.person, ...body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (response.ok) {
        this.view.notice("");
        return await response.json();
      }
      const { message = tr("This did not arrive.") } = await response.json().catch(() => ({}));
      this.view.notice(message, response.status === 401 ? `${SIGN_IN}?other&next=${encodeURIComponent(location.pathname)}` : null);
    } catch {
      this.view.notice(tr("No connection just now: press the key again in a moment."));
    }
    return null;
  }

  speed(steps) {
    const at = Math.min(Math.max(SPEEDS.indexOf(this.stage.speed) + steps, 0), SPEEDS.length - 1);
    this.stage.setSpeed(SPEEDS[at]);
    this.view.speed(SPEEDS[at]);
  }

  sound() {
    this.stage.setSound(!this.stage.sound);
    this.view.sound(this.stage.sound);
  }

  firstFrame(now) {
    this.gate.firstFrame(now);
    this.view.loading(false);
    this.awaitGate();
  }

  awaitGate() {
    clearTimeout(this.gateTimer);
    const wait = this.gate.opensAt - performance.now();
    this.root.dataset.gradable = wait <= 0;
    if (wait > 0 && wait !== Infinity) this.gateTimer = setTimeout(() => this.awaitGate(), wait);
  }

  stop() {
    this.ended.abort();
    clearTimeout(this.gateTimer);
    this.stage.stop();
    this.view.openPanel?.close();
    this.sheet.replaceChildren();
    delete this.root.dataset.lesson;
    for (const tile of this.view.tiles) {
      delete tile.dataset.right;
      delete tile.dataset.wrong;
    }
    Object.assign(this.root.querySelector(".missed [data-do='on']"), { hidden: true, disabled: false });
  }
}
