// What the desk shows: the videos there are, the one on screen, what the server says.

const POLL_MS = 60000;
const AHEAD_S = 600; // the copy of a longer video is made only when somebody opens it
const MOST_FALLS = 5; // so often the picture of one video may fall away
const SPEEDS = [0.25, 0.5, 1, 1.5, 2];
const SOUND = "reelrank.describe.sound";
const TAKEN = marked("Somebody else described these seconds too. Both are kept; the lead chooses.");
const TWICE = marked("You described these seconds already.");
const ANYWHERE = ["guideline", "keys", "escape", "dismiss", "video-next", "video-before"]; // without a video on screen

/** The desk as far as it shows and hears; what a person does, `Describe` adds. */
class Showing {
  constructor(root, person) {
    this.root = root;
    this.view = new View(root);
    this.unsent = new Unsent(person);
    this.moment = new Moment(new Drafts(person));
    this.active = new ActiveTime(performance.now(), !document.hidden);
    this.begun = performance.now();
    this.videos = [];
    this.mine = [];
    this.done = []; // of this visit, to be undone: {event, before}
    this.state = "loading";
    this.trouble = "";
    this.outbox = new Outbox(person, this.unsent, {
      answer: (answer, events) => this.answered(answer, events),
      change: () => this.synced(),
    });
    this.screen = new Screen(root.querySelector("video"), {
      frame: (frame) => this.onFrame(frame),
      playing: (playing) => this.view.playing(playing),
      ready: () => this.ready(),
      fell: (what) => this.mend(what),
    });
    const on = { seek: (frame) => this.screen.go(frame), edge: (edge, frame) => this.move(edge, frame) };
    this.strips = [
      new Timeline(root.querySelector("[data-strip='whole']"), Infinity, on),
      new Timeline(root.querySelector("[data-strip='near']"), NEAR_S, on),
    ];
    this.own = new OwnList(root.querySelector(".mine ol"), root.querySelector(".none"), (act, one) => this.about(act, one));
    this.screen.setSound(remembered(SOUND) !== "off");
    this.view.sound(this.screen.sound);
    this.view.speed(this.screen.speed);
    this.listen();
    this.fetch();
    this.poll = setInterval(() => !document.hidden && this.fetch(), POLL_MS);
  }

  listen() {
    this.ended = new AbortController();
    const { signal } = this.ended;
    for (const name of ["pointermove", "pointerdown", "keydown"]) {
      document.addEventListener(name, () => this.active.touch(performance.now(), !document.hidden), { capture: true, passive: true, signal });
    }
    document.addEventListener("keydown", (event) => this.key(event), { capture: true, signal });
    this.root.addEventListener("click", (event) => this.click(event), { signal });
    document.addEventListener("visibilitychange", () => this.visibility(), { signal });
    window.addEventListener("online", () => this.outbox.send(), { signal });
    window.addEventListener("pagehide", () => this.outbox.lastCall(), { signal });
    window.addEventListener("resize", () => this.fit(), { signal });
    this.view.select.addEventListener("change", () => this.open(this.view.select.value), { signal });
    this.view.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    }, { signal });
    const { sentence } = this.view;
    sentence.addEventListener("input", () => this.wrote(), { signal });
    sentence.addEventListener("keydown", (event) => this.keyInField(event), { signal });
    for (const panel of this.root.querySelectorAll("dialog")) panel.addEventListener("close", () => this.takeFocus(), { signal });
    this.view.panel("guideline").addEventListener("close", () => this.readGuideline(), { signal });
    signal.addEventListener("abort", watchOutageDialog(() => this.outbox.send()));
    this.fit();
  }

  /** Tell the style sheet how much of the window is taken by what stands above. */
  fit() {
    const top = Math.min(Math.max(this.root.getBoundingClientRect().top, 0), 240);
    this.root.style.setProperty("--above", `${Math.round(top)}px`);
  }

  visibility() {
    this.active.touch(performance.now(), !document.hidden);
    if (document.hidden) this.screen.pause();
    else this.outbox.send();
  }

  // What there is

  async fetch() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      this.take(await fetchWork(this.ended.signal, () => this.outbox.send()));
    } catch (error) {
      if (!this.ended.signal.aborted) this.closed(error);
    } finally {
      this.fetching = false;
    }
  }

  take(work) {
    const here = this.video;
    this.videos = inOneOrder(this.videos, work.videos, here);
    this.more = work.more;
    this.mine = withNews(this.mine, this.videos.flatMap(({ mine }) => mine));
    this.guideline = work.guideline;
    this.view.rules(work.guideline.text);
    if (work.guideline.seen === false && !this.view.openPanel && !this.told) {
      this.told = true;
      this.view.toggle("guideline");
    }
    if (this.video) {
      this.video = this.videos.find(({ key }) => key === here.key);
      this.draw();
    } else if (this.videos.length > 0) {
      this.open(this.videos[0].key);
    } else {
      this.view.nothing(tr("Nothing to describe yet"), tr("No video is open for descriptions. They appear here as soon as your lead annotator opens some."));
      this.enter("empty");
    }
    if (this.unsent.size > 0) this.outbox.send();
  }

  /** The server does not let this person describe (any more), or does not know them. */
  closed(error) {
    if (error.signedOut) {
      this.view.notice(troubleWords({ state: "signed-out" }, "descriptions"), this.wayBack);
    } else if (this.video) {
      this.view.notice(error.message);
    } else {
      this.view.nothing(tr("Describing is closed"), error.message);
      this.enter("empty");
    }
  }

  get wayBack() {
    return `${SIGN_IN}?other&next=${encodeURIComponent(location.pathname)}`;
  }

  enter(state) {
    this.state = state;
    this.view.state(state);
    this.view.sentence.disabled = state !== "ready";
  }

  // One video

  async open(key) {
    const video = this.videos.find((one) => one.key === key);
    if (!video || key === this.video?.key) return;
    this.opening?.abort();
    const opening = (this.opening = new AbortController());
    const signal = AbortSignal.any([opening.signal, this.ended.signal]);
    this.screen.clear();
    this.view.select.blur(); // its keys are commands again
    this.video = video;
    this.falls = 0;
    this.frames = null;
    this.enter("preparing");
    this.draw();
    const asked = performance.now();
    let why = ""; // the server, where it cannot just now
    const wait = () => this.view.told("preparing", why || waitingWords(video, performance.now() - asked));
    wait();
    const ticking = setInterval(wait, 1000);
    const hindered = (words) => {
      why = words;
      wait();
    };
    try {
      const frames = await framesOf(video, signal, hindered);
      if (signal.aborted) return;
      this.frames = frames;
      this.moment.open(video, frames);
      this.view.sentence.value = this.moment.draft.sentence;
      for (const strip of this.strips) strip.show(frames);
      this.screen.open(fullPath(video.clip), frames);
    } catch (error) {
      if (!signal.aborted) this.broke(error.message);
    } finally {
      clearInterval(ticking);
    }
  }

  ready() {
    this.enter("ready");
    this.takeFocus();
    this.fit();
    this.begin();
    this.draw();
    this.marked();
    this.onFrame(this.screen.frame);
    const next = this.videos[this.videos.indexOf(this.video) + 1];
    // By the time somebody comes to it, it is there; what goes wrong shows then.
    if (next?.ready === false && next.duration_s <= AHEAD_S) haveCopy(next, this.ended.signal).catch(() => {});
  }

  /** Away from the menu's link that led here: Enter would follow it again, and it is a command of this desk. */
  takeFocus() {
    if (!this.view.openPanel && !this.root.contains(this.root.getRootNode().activeElement)) this.root.focus({ preventScroll: true });
  }

  /** The picture fell away: it comes again as soon as the server gives it; who writes meanwhile is not disturbed. */
  async mend(what) {
    const { key } = this.video;
    this.falls += 1;
    if (this.falls > MOST_FALLS) return this.broke(what);
    this.video.ready = false;
    try {
      await haveCopy(this.video, this.ended.signal);
      if (this.video.key === key) this.screen.reopen(fullPath(this.video.clip));
    } catch (error) {
      if (!this.ended.signal.aborted && this.video.key === key) this.broke(error.message);
    }
    return undefined;
  }

  broke(what) {
    this.screen.clear();
    this.view.told("broken", tr("{what}. Go on with another one (N), and tell your lead annotator.", { what }));
    this.enter("broken");
  }

  /** The video so many places further. */
  turn(steps) {
    const at = this.videos.indexOf(this.video) + steps;
    if (at < 0 || at >= this.videos.length) this.view.hint(steps > 0 ? tr("This is the last video.") : tr("This is the first video."));
    else this.open(this.videos[at].key);
  }

  /** From here on somebody works on a new description. */
  begin() {
    this.begun = performance.now();
    this.active.start(this.begun, !document.hidden);
  }

  onFrame(frame) {
    if (this.state !== "ready") return;
    this.view.time(this.frames, frame);
    this.view.inMoment(this.moment.has(frame), this.screen.loop !== null);
    this.view.looping(this.screen.loop !== null);
    for (const strip of this.strips) strip.stand(frame);
  }

  // The server

  answered(answer, events) {
    const saved = new Set(answer.accepted);
    for (const event of events.filter(({ key }) => saved.has(key))) {
      this.unsent.remove(event.key);
      this.mine = afterEvent(this.mine, event).map((one) => (one.description === event.description ? { ...one, unsent: false } : one));
    }
    this.mine = withNews(this.mine, [...answer.returned, ...(answer.mine ?? [])]);
    for (const { key, message } of answer.refused) {
      const event = events.find((one) => one.key === key);
      if (!event) continue;
      this.unsent.refuse(event, message);
      this.done = this.done.filter((one) => one.event.key !== key);
      const which = event.sentence ? tr("\u201c{sentence}\u201d was not taken:", { sentence: event.sentence }) : tr("It was not withdrawn:");
      this.view.notice(`${which} ${message}`);
      if (event.kind === "withdraw") this.unsent.remove(key);
    }
    this.draw();
  }

  synced() {
    const { state } = this.outbox;
    const words = troubleWords(this.outbox, "descriptions");
    if (words !== this.trouble) {
      if (words || this.view.noticeText === this.trouble) this.view.notice(words, state === "signed-out" ? this.wayBack : null);
      this.trouble = words;
    }
    this.view.saving(this.unsent, state);
  }

  /** The guideline was read to its end, or closed. */
  readGuideline() {
    if (this.guideline?.seen !== false) return;
    this.guideline = { ...this.guideline, seen: true };
    this.outbox.request("/describe/guideline", { version: this.guideline.version }).catch(() => {});
  }

  stop() {
    this.ended.abort();
    this.opening?.abort();
    clearInterval(this.poll);
    this.outbox.lastCall();
    this.outbox.stop();
    this.screen.stop();
    this.view.openPanel?.close();
  }
}
