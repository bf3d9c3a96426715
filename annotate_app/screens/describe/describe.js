// What a person does with the video on screen: commands of keys and buttons, saving, correcting, taking back.

class Describe extends Showing {
  key(event) {
    if (isForeign(event) || foreignDialogOpen()) return;
    if (belongsToControl(event)) return;
    const command = commandOf(event);
    if (!command) return;
    const panel = this.view.openPanel;
    if (panel && !["guideline", "keys", "escape"].includes(command)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit has keys of its own
    if (event.repeat && !HELD.includes(command)) return;
    this.obey(command);
  }

  keyInField(event) {
    event.stopPropagation(); // seen from outside, what is typed here is not typed into a field
    if (isComposing(event)) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (!event.repeat) this.save();
    } else if (event.key === "Escape") {
      this.view.sentence.blur();
    }
  }

  click(event) {
    if (event.target.tagName === "DIALOG") event.target.close(); // a click beside the panel
    const control = event.target.closest("[data-do]");
    if (!control) return;
    if (event.detail > 0 && control.closest(".tools")) control.blur(); // else Space would press it again
    this.obey(control.dataset.do);
  }

  obey(name) {
    if (this.state !== "ready" && !ANYWHERE.includes(name)) return;
    const { screen, view, moment } = this;
    const acts = {
      pause: () => screen.toggle(),
      start: () => this.mark("start"),
      end: () => this.mark("end"),
      shot: () => this.markShot(),
      loop: () => this.loop(),
      write: () => this.write(),
      "frame-back": () => screen.step(-1),
      "frame-forward": () => screen.step(1),
      "ten-back": () => screen.step(-10),
      "ten-forward": () => screen.step(10),
      "go-start": () => moment.marks.start !== null && this.stand(moment.marks.start),
      "go-end": () => moment.marks.end !== null && this.stand(moment.marks.end - 1),
      "shot-before": () => this.jump(-1),
      "shot-next": () => this.jump(1),
      faster: () => this.speed(1),
      slower: () => this.speed(-1),
      speed: () => this.speed(screen.speed === SPEEDS.at(-1) ? -SPEEDS.length : 1),
      sound: () => this.turnSound(),
      undo: () => this.undo(),
      "video-next": () => this.turn(1),
      "video-before": () => this.turn(-1),
      guideline: () => view.toggle("guideline"),
      keys: () => view.toggle("keys"),
      escape: () => this.escape(),
      dismiss: () => view.notice(""),
    };
    acts[name]?.();
  }

  // The video

  stand(frame) {
    this.screen.pause();
    this.screen.go(frame);
  }

  /** To the cut before the frame on screen, or after it. */
  jump(direction) {
    const { cuts, count } = this.frames;
    const here = this.screen.frame;
    const grace = this.screen.playing ? this.frames.drawn(here, 2 * MAGNET_S) : here; // a shot just begun is not gone back to
    const before = cuts.findLast((cut) => cut < Math.min(here, grace)) ?? 0;
    this.screen.go(direction > 0 ? Math.min(cuts.find((cut) => cut > here), count - 1) : before);
  }

  speed(steps) {
    const at = Math.min(Math.max(SPEEDS.indexOf(this.screen.speed) + steps, 0), SPEEDS.length - 1);
    this.screen.setSpeed(SPEEDS[at]);
    this.view.speed(SPEEDS[at]);
  }

  turnSound() {
    this.screen.setSound(!this.screen.sound);
    this.view.sound(this.screen.sound);
    remember(SOUND, this.screen.sound ? "on" : "off");
  }

  loop() {
    if (this.screen.loop) this.screen.setLoop(null);
    else if (this.moment.whole) this.screen.setLoop(this.moment.marks);
    else this.view.hint(tr("Mark a moment first: its start (I) and its end (O)."), true);
    this.onFrame(this.screen.frame);
  }

  // Marks and words

  mark(edge) {
    const { screen, moment } = this;
    const drawn = moment.mark(edge, screen.frame, screen.playing);
    this.marked(drawn ? tr("Taken to the cut beside it.") : "");
    if (moment.whole) screen.setLoop(moment.marks);
    const { start, end } = moment.marks;
    this.view.say("act", edge === "start" ? tr("Start {clock} s.", { clock: clock(this.frames.at(start)) }) : tr("End {clock} s.", { clock: clock(this.frames.at(end)) }));
  }

  markShot() {
    this.moment.set(this.frames.shotOf(this.screen.frame));
    this.marked();
    this.screen.setLoop(this.moment.marks);
  }

  /** An end was dragged, or moved by a key. */
  move(edge, frame) {
    const { start, end } = this.moment.marks;
    // A dragged end stops at the other one.
    this.moment.put(edge, edge === "start" ? Math.min(frame, (end ?? Infinity) - 1) : Math.max(frame, (start ?? -1) + 1));
    this.marked();
    this.stand(edge === "start" ? this.moment.marks.start : this.moment.marks.end - 1);
    if (this.screen.loop) this.screen.loop = this.moment.marks;
  }

  /** The marks changed: show them, and what there is to say about the span. */
  marked(said = "") {
    const { moment, view } = this;
    if (this.screen.loop && !moment.whole) this.screen.setLoop(null);
    this.drawMarks();
    let words = said;
    if (moment.whole) {
      const others = this.standing.filter(({ description }) => description !== moment.draft.editing);
      if (this.video.taken.some((span) => sameSpan(span, moment.span))) words = tr(TAKEN);
      else if (others.some(({ start_s, end_s }) => sameSpan([start_s, end_s], moment.span))) words = tr(TWICE);
    }
    view.hint(words);
  }

  write() {
    const { sentence } = this.view;
    sentence.focus();
    sentence.setSelectionRange(sentence.value.length, sentence.value.length);
  }

  wrote() {
    this.moment.write(this.view.sentence.value);
    if (this.view.parts.hint.dataset.urgent === "true") this.view.hint("");
  }

  /** What is missing before the moment can be saved, or an empty text. */
  get missing() {
    const { start, end } = this.moment.marks;
    if (start === null && end === null) return tr("Mark the moment first: its start (I) and its end (O).");
    if (start === null) return tr("Mark the start as well (I).");
    if (end === null) return tr("Mark the end as well (O).");
    return this.view.sentence.value.trim() ? "" : tr("Write in one sentence what happens.");
  }

  /** Save the moment at hand, and go on behind it. */
  save() {
    if (this.state !== "ready") return;
    const { moment, missing } = this;
    if (missing) {
      this.view.hint(missing, true);
      this.view.say("act", missing);
      if (moment.whole) this.write();
      else this.view.sentence.blur();
      return;
    }
    const [start_s, end_s] = moment.span;
    const sentence = this.view.sentence.value.trim().replace(/\s+/g, " ");
    const description = moment.draft.editing ?? newKey();
    const known = this.standing.find((one) => one.description === description && !one.refused);
    const same = known && known.start_s === start_s && known.end_s === end_s && known.sentence === sentence;
    const kind = known ? "redescribe" : "describe";
    if (!same || known.status === "returned") this.give({ kind, description, start_s, end_s, sentence }, known);
    const { end } = moment.marks;
    this.leave();
    if (!moment.blank) return; // what waited is at hand again
    if (end < this.frames.count) this.screen.go(end);
    else this.screen.pause();
    this.view.say("act", tr("Saved."));
  }

  /** Keep an event, show what it does, send it. `before`: the description before it. */
  give(what, before) {
    const now = performance.now();
    for (const { key, description, refused } of this.unsent.list()) {
      if (refused && description === what.description) this.unsent.remove(key); // this one takes its place
    }
    const event = this.unsent.keep({ video: this.video.key, ...what, elapsed_ms: Math.round(now - this.begun), active_ms: this.active.read(now) });
    this.done.push({ event, before });
    this.begin();
    this.draw();
    this.outbox.send();
  }

  /** Away from what was at hand: what waited beside it comes back. */
  leave() {
    this.screen.setLoop(null);
    this.moment.done();
    this.view.sentence.value = this.moment.draft.sentence;
    this.view.sentence.blur();
    this.draw();
    this.marked();
  }

  /** Leave what was entered last: a panel, a correction, the marks. */
  escape() {
    if (this.view.openPanel) this.view.openPanel.close();
    else if (this.state !== "ready") return;
    else if (this.moment.draft.editing) this.leave();
    else if (this.moment.marks.start !== null || this.moment.marks.end !== null) {
      this.moment.set({ start: null, end: null });
      this.marked();
    }
  }

  // What is described already

  /** A button of one of this person's descriptions was pressed. */
  about(act, one) {
    if (!one || this.state !== "ready") return;
    const span = this.frames.span(one.start_s, one.end_s);
    if (act === "see") this.screen.setLoop(span);
    else if (act === "drop") this.drop(one);
    else if (act === "withdraw") {
      if (this.moment.draft.editing === one.description) this.leave();
      this.give({ kind: "withdraw", description: one.description }, one);
      this.view.say("act", tr("Withdrawn. U undoes it."));
    } else {
      this.moment.correct(one);
      this.view.sentence.value = this.moment.draft.sentence;
      this.draw();
      this.marked();
      this.screen.setLoop(this.moment.marks);
      this.write();
    }
  }

  drop({ key }) {
    this.unsent.remove(key);
    this.draw();
  }

  undo() {
    const last = this.done.pop();
    if (!last) return;
    const { event, before } = last;
    if (event.video !== this.video.key) {
      this.done.push(last);
      this.view.hint(tr("The last one is in another video: go back to it ({video}).", { video: this.videos.find(({ key }) => key === event.video)?.name }), true);
      return;
    }
    this.give(takingBack(event, before), undefined);
    this.done.pop();
    this.view.undo(this.done.at(-1)?.event);
    if (event.kind === "describe" && this.moment.blank) {
      // It stands here again, to be written anew.
      this.moment.load({ start_s: event.start_s, end_s: event.end_s, sentence: event.sentence, editing: null });
      this.view.sentence.value = event.sentence;
      this.draw();
      this.marked();
    }
    this.view.say("act", tr("Undone."));
  }

  get standing() {
    return standing(this.mine, this.unsent.list()).filter(({ video }) => video === this.video?.key);
  }

  draw() {
    const { view, video, videos, moment } = this;
    view.videos(videos, video?.key, (key) => counts(this.mine, this.unsent.list(), key));
    if (!video) return;
    const own = this.standing;
    view.place(video, videos.indexOf(video) + 1, videos.length + (this.more ?? 0), own.length);
    this.own.draw(own, this.state === "ready" ? moment.draft.editing : null);
    view.undo(this.done.at(-1)?.event);
    view.saving(this.unsent, this.outbox.state);
    if (this.state !== "ready") return;
    view.correcting(moment.draft.editing !== null);
    const spans = own.map((one) => ({ ...this.frames.span(one.start_s, one.end_s), status: one.status }));
    const taken = video.taken.map(([start, end]) => this.frames.span(start, end));
    for (const strip of this.strips) strip.described(taken, spans);
    this.drawMarks();
  }

  drawMarks() {
    this.view.marks(this.frames, this.moment.marks);
    for (const strip of this.strips) strip.marked(this.moment.marks);
    this.onFrame(this.screen.frame);
  }
}
