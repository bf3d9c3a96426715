// The player: connects keys and buttons, the desk, the clips and the server.

const POLL_MS = 15000;
const AWAY_MS = 60000;
const SPEEDS = [0.5, 1, 2];
const SOUND = "reelrank.sound";
const STILL_OBEYED = ["go-on", "guideline", "keys", "escape", "dismiss"]; // in a window that stands still

// Pairs acknowledged since the page was loaded: data that Streamlit hands over again may be older than that.
const acknowledged = new Set();

class Player {
  constructor(root, data) {
    this.root = root;
    this.view = new View(root);
    this.view.buildGrades(data.guideline.grades);
    this.guide = new Guide(this.view.panel("guideline"), data.guideline);
    this.view.buildKeys(data.guideline.grades);
    this.recentPanel = new RecentPanel(this.view.panel("recent"), (items, pair) => this.reopen(items, pair));
    this.skipPanel = new SkipPanel(this.view.panel("skip"), (kind, reason) => this.skip(kind, reason));
    this.renewMs = 1000 * data.renew_s;
    this.assigned = data.assigned ?? null;
    this.labels = data.guideline.grades.map(({ label }) => label);
    this.unsent = new Unsent(data.person);
    this.notes = new Notes(root.querySelector("form.note"), root.querySelector("[data-do='note']"), this.unsent);
    this.gate = new Gate();
    this.active = new ActiveTime(performance.now(), !document.hidden);
    this.work = newWork();
    this.trouble = "";
    this.askedAt = 0;
    this.contexts = new Map();
    this.windows = new Windows(data.person, { stand: () => this.standStill(), taken: () => this.sync?.send() });
    this.sync = new Sync(data.person, this.unsent, this.windows, {
      desk: (desk) => this.change(this.windows.standing ? { ...this.work, desk } : mergeDesk(this.work, desk, this.unsent)),
      receipt: (event, receipt) => this.receipt(event, receipt),
      change: () => this.synced(),
    });
    const around = root.querySelector("video.around");
    this.stage = new Stage([...root.querySelectorAll("video[data-active]")], around, {
      firstFrame: (now) => this.firstFrame(now),
      time: (seconds, duration) => {
        this.view.time(seconds, duration);
        this.board.time(seconds, duration);
      },
      playing: (playing) => this.view.playing(playing),
      broken: (pair, what) => this.report(pair, what),
      later: (what) => this.view.notice(what),
      serverWell: () => this.sync.send(),
    });
    this.context = new Context(this.stage, around, {
      part: (part, spans) => this.view.context(part, spans),
      looked: (pair) => this.contexts.set(pair, (this.contexts.get(pair) ?? 0) + 1),
      trouble: (text) => this.tell(text),
    });
    this.board = new Storyboard(root.querySelector(".board"), (share) => this.stage.seek(share));
    this.stage.setSound(remembered(SOUND) === "on");
    this.view.sound(this.stage.sound);
    this.view.speed(this.stage.speed);
    this.listen();
    const desk = { ...data.desk, items: data.desk.items.filter((item) => !acknowledged.has(item.pair)) };
    this.change(mergeDesk(this.work, desk, this.unsent));
    if (this.windows.takes || this.unsent.size > 0 || desk.items.length < data.desk.items.length) this.sync.send();
    this.poll = setInterval(() => this.renew(), Math.min(POLL_MS, this.renewMs / 4));
  }

  listen() {
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("keydown", (event) => this.key(event), { capture: true, signal });
    this.root.addEventListener("click", (event) => this.click(event), { signal });
    for (const name of ["pointermove", "pointerdown", "keydown"]) {
      document.addEventListener(name, () => this.touch(), { capture: true, passive: true, signal });
    }
    document.addEventListener("visibilitychange", () => this.visibility(), { signal });
    window.addEventListener("online", () => this.sync.send(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.sync.send(), { signal });
    window.addEventListener("pagehide", () => this.sync.lastCall(), { signal });
    window.addEventListener("resize", () => this.fit(), { signal });
    signal.addEventListener("abort", watchOutageDialog(() => this.sync.send()));
    this.fit();
  }

  /** Tell the style sheet how much of the window is taken by what stands above the player. */
  fit() {
    const top = Math.min(Math.max(this.root.getBoundingClientRect().top, 0), 240);
    this.root.style.setProperty("--above", `${Math.round(top)}px`);
  }

  touch() {
    const now = performance.now();
    this.active.touch(now, !document.hidden);
    // Who comes back may have gone on in another browser meanwhile: asked before they grade a clip for nothing.
    if (this.windows.standing || this.sync.running || now - Math.max(this.askedAt, this.sync.answeredAt) < AWAY_MS) return;
    this.askedAt = now; // once, whether there is an answer or not
    this.sync.send();
  }

  visibility() {
    this.touch();
    if (!document.hidden) this.sync.send();
  }

  /** Data was handed over anew: the server's answer is newer than it. */
  refreshed() {
    this.sync.send();
  }

  /** Ask again while there is nothing to grade, and renew the seats of a person at work before their lease ends. */
  renew() {
    if (document.hidden || this.sync.running || this.windows.standing) return;
    const now = performance.now();
    const working = now - this.active.last < this.renewMs && now - this.sync.answeredAt > this.renewMs;
    if (!currentItem(this.work) || working) this.sync.send();
  }

  key(event) {
    if (isForeign(event) || foreignDialogOpen()) return;
    if (belongsToControl(event)) {
      if (event.repeat && event.composedPath().includes(this.root)) event.preventDefault();
      return;
    }
    const command = commandOf(event);
    if (!command) return;
    const panel = this.view.openPanel;
    const asked = panel !== null && panel === this.view.panel("skip");
    const choice = asked && command.name === "grade" ? SKIPS[command.grade - 1] : undefined;
    if (command.name === "grade" && !choice && !(command.grade in this.labels)) return;
    if (asked && !choice && command.name !== "escape") return;
    if (panel && !choice && !["guideline", "keys", "recent", "escape"].includes(command.name)) return;
    if (command.name === "escape" && !panel && !this.context.open && this.work.back === 0) return;
    event.preventDefault();
    if (event.repeat) return;
    if (choice) this.skipPanel.choose(choice.kind);
    else this.obey(command, event.timeStamp);
  }

  click(event) {
    if (event.target.tagName === "DIALOG") event.target.close(); // a click beside the panel
    const control = event.target.closest("[data-do], [data-grade]");
    if (!control || control.tagName === "LI") return;
    if (event.detail > 0 && control.closest(".work")) control.blur(); // else Space would press it again
    const { grade } = control.dataset;
    if (grade !== undefined) this.obey({ name: "grade", grade: Number(grade) }, event.timeStamp);
    else if (control.dataset.do === "part") this.board.go(Number(control.dataset.part));
    else if (control.dataset.do === "seek") this.stage.seek(shareOf(event, control));
    else this.obey({ name: control.dataset.do });
  }

  obey({ name, grade }, now = performance.now()) {
    if (this.windows.standing && !STILL_OBEYED.includes(name)) return;
    const item = currentItem(this.work);
    const clip = {
      pause: () => this.stage.togglePlay(),
      "frame-back": () => this.stage.step(-1),
      "frame-forward": () => this.stage.step(1),
      faster: () => this.speed(1),
      slower: () => this.speed(-1),
      speed: () => this.speed(this.stage.speed === SPEEDS.at(-1) ? -SPEEDS.length : 1),
      grade: () => this.grade(item, grade, now),
      skip: () => this.askWhy(),
      note: () => this.note(item),
      context: () => item.whole || this.context.toggle(item.pair), // around a whole video there is nothing
    };
    const always = {
      undo: () => this.change(stepBack(this.work)),
      recent: () => this.recent(item),
      sound: () => this.sound(),
      guideline: () => this.view.toggle("guideline"),
      keys: () => this.view.toggle("keys"),
      escape: () => this.escape(),
      exam: () => this.exam(),
      "go-on": () => this.goOn(),
      dismiss: () => this.view.notice(""),
    };
    if (item && clip[name]) clip[name]();
    else always[name]?.();
  }

  /** Leave what was entered last: a panel, the context, a correction. */
  escape() {
    if (this.view.openPanel) this.view.openPanel.close();
    else if (this.context.open) this.context.back();
    else this.change(resume(this.work));
  }

  /** The person works in another window: show no clip here; the desk is fetched anew when they go on here. */
  standStill() {
    this.view.openPanel?.close();
    this.change({ ...this.work, queue: [], back: 0 });
  }

  goOn() {
    this.unsent.adopt(); // what the other window could not send yet
    this.windows.claim();
    this.draw();
  }

  grade(item, grade, now) {
    if (!this.gate.admits(now)) {
      this.awaitGate();
      return;
    }
    this.unsent.add(item, {
      grade,
      active_ms: this.active.read(now),
      elapsed_ms: this.gate.elapsed(now),
      contexts: this.contexts.get(item.pair) ?? 0,
      ...this.notes.take(item),
    });
    this.view.flash(grade);
    this.change(afterGrade(this.work, grade));
    this.sync.send();
  }

  /** Begin the exam, hand it in, or go on from its result: whatever its desk offers while it has no clip to show. */
  exam() {
    const { desk } = this.work;
    const act = desk?.state === "exam" && this.unsent.size === 0 ? examAct(desk.exam) : undefined;
    if (act) this.sync.exam(act);
  }

  /** Ask why this clip is skipped; what was graded before can only get another grade. */
  askWhy() {
    if (currentItem(this.work).exam) {
      const trial = isTrial(this.work.desk);
      this.tell(
        trial ? tr("The calibration round has no skip: give the grade that fits best, and say why in a note (N).") : tr("The exam has no skip: give the grade that fits best."),
      );
      return;
    }
    if (this.work.back > 0) {
      this.tell(tr("A graded clip cannot be skipped. Press another grade, or Esc to keep it."));
      return;
    }
    this.skipPanel.reset();
    this.view.toggle("skip");
  }

  /** Open the field of the note. What is skipped has a reason of its own, and nobody reads notes in an exam. */
  note(item) {
    if (item.exam && item.exam !== "trial") this.tell(tr("The exam takes no notes. Ask your lead annotator after it."));
    else this.notes.open();
  }

  skip(kind, reason) {
    this.view.openPanel?.close();
    const item = currentItem(this.work);
    if (!item || this.work.back > 0) return;
    this.unsent.add(item, { kind, reason });
    this.change(afterSkip(this.work));
    this.sync.send();
  }

  /** Show the person's last grades, or hide them. An exam has none: there `U` leads back as far as wanted. */
  recent(item) {
    if (item?.exam || this.work.desk?.state === "exam") return;
    this.view.toggle("recent");
    const given = new Map(this.work.trail.map(({ item: { pair }, grade }) => [pair, grade]));
    if (this.view.openPanel) this.recentPanel.fill(({ pair, grade }) => given.get(pair) ?? grade);
  }

  reopen(items, pair) {
    this.view.openPanel?.close();
    this.change(reopen(this.work, items, pair));
  }

  /** Say something about the clip on show: it leaves with the clip. */
  tell(text) {
    this.ofClip = text;
    this.view.notice(text);
  }

  report(pair, what) {
    this.change(withoutPair(this.work, pair));
    this.sync.reportBroken(pair, what);
  }

  speed(steps) {
    const at = Math.min(Math.max(SPEEDS.indexOf(this.stage.speed) + steps, 0), SPEEDS.length - 1);
    this.stage.setSpeed(SPEEDS[at]);
    this.view.speed(SPEEDS[at]);
  }

  sound() {
    this.stage.setSound(!this.stage.sound);
    this.view.sound(this.stage.sound);
    remember(SOUND, this.stage.sound ? "on" : "off");
  }

  receipt(event, { status, message }) {
    if (status === "saved") {
      acknowledged.add(event.pair);
      this.work = afterSaved(this.work, event);
      const said = isSkip(event) ? tr("Skipped.") : tr("Grade {grade}, {label}, saved.", { grade: event.grade, label: this.labels[event.grade] });
      this.view.say("grade", said);
      return;
    }
    this.work = afterRefused(this.work, event);
    const query = event.item?.query;
    const what = isSkip(event) ? tr("The skip") : tr("Grade {grade}", { grade: event.grade });
    const words = query
      ? tr("{what} for \u201c{query}\u201d was not taken. {message}", { what, query, message })
      : tr("{what} was not taken. {message}", { what, message });
    this.view.notice(words);
  }

  synced() {
    const { state } = this.sync;
    const words = troubleWords(this.sync, "grades");
    if (words !== this.trouble) {
      const back = `${SIGN_IN}?other&next=${encodeURIComponent(location.pathname)}`;
      if (words || this.view.noticeText === this.trouble) this.view.notice(words, state === "signed-out" ? back : null);
      this.trouble = words;
    }
    if (this.before !== state && state === "ok") this.stage.recover();
    this.before = state;
    this.draw();
  }

  firstFrame(now) {
    if (this.gate.firstSeenAt === null) this.active.start(now, !document.hidden); // nobody works at a clip on its way
    this.gate.firstFrame(now);
    this.sync.show(currentItem(this.work)?.pair ?? null);
    this.view.loading(false);
    this.awaitGate();
    this.fit(); // the page above may have grown since
  }

  /** Show on the root whether a grade would count now. */
  awaitGate() {
    clearTimeout(this.gateTimer);
    const wait = this.gate.opensAt - performance.now();
    this.root.dataset.gradable = wait <= 0;
    if (wait > 0 && wait !== Infinity) this.gateTimer = setTimeout(() => this.awaitGate(), wait);
  }

  /** Take a new state of the work: the clip, the words and the counts follow from it together. */
  change(work) {
    const before = currentItem(this.work)?.pair;
    this.work = work;
    const pair = currentItem(work)?.pair;
    if (pair !== before) {
      if (this.view.openPanel === this.view.panel("skip")) this.view.openPanel.close(); // it was about that clip
      if (this.ofClip && this.view.noticeText === this.ofClip) this.view.notice("");
      this.ofClip = "";
      this.context.leave();
      this.gate.close();
      this.sync.show(null);
      this.awaitGate();
      this.view.loading(pair !== undefined);
      this.board.show(currentItem(work));
      if (pair === undefined) this.stage.clear();
      else this.stage.show(pair);
    }
    this.notes.show(currentItem(work));
    this.draw();
    // A lead changed the guideline: the page comes anew, and tells how before anything else.
    if (pair === undefined && work.desk?.state === "guideline" && this.unsent.size === 0 && !this.windows.standing) location.reload();
    if (pair !== undefined) {
      const ahead = upcoming(work).map((item) => item.pair).filter((candidate) => candidate !== pair);
      this.stage.prepare(ahead, work.trail.at(-1)?.item.pair);
      this.board.prepare(upcoming(work).find((item) => item.pair === ahead[0]));
    }
  }

  draw() {
    const { work, unsent, sync, view } = this;
    view.item(
      currentItem(work),
      currentGrade(work),
      work.back > 0,
      this.windows.standing ? { title: tr(STANDING.title), text: tr(STANDING.text) } : emptyWords(work.desk, unsent.size, sync.reachable),
    );
    view.goOn(this.windows.standing);
    const onExam = !this.windows.standing && !currentItem(work) && work.desk?.state === "exam" && unsent.size === 0;
    view.exam(onExam ? work.desk.exam : null);
    const extra = uncounted(work, unsent);
    const words = currentItem(work)?.counts ?? (work.desk?.exam?.gives_key ? "" : undefined);
    view.counts(words ?? countWords(work.desk, extra, this.assigned));
    view.replies(work.desk?.replies ?? 0);
    if (work.desk?.warned && !this.warned) view.notice(tr(WARNED));
    this.warned = work.desk?.warned === true;
    view.saving(unsent, sync.state);
    view.undo(this.windows.standing ? undefined : undoable(work));
  }

  stop() {
    this.ended.abort();
    this.windows.stop();
    this.context.leave();
    clearInterval(this.poll);
    clearTimeout(this.gateTimer);
    this.sync.lastCall();
    this.sync.stop();
    this.stage.stop();
    this.view.openPanel?.close();
  }
}

function shareOf(event, bar) {
  const box = bar.getBoundingClientRect();
  return (event.clientX - box.left) / box.width;
}
