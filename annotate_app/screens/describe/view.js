// Draws values into the page of describing.

class View extends Frame {
  constructor(root) {
    super(root);
    for (const name of ["counts", "clock", "mark", "preparing", "broken", "empty", "hint"]) {
      this.parts[name] = root.querySelector(`.${name}`);
    }
    this.select = root.querySelector("select");
    this.form = root.querySelector("form.writing");
    this.span = root.querySelector("[data-testid='span']");
    this.listKeys(KEYMAP);
  }

  /** loading, preparing, broken, ready or empty. */
  state(state) {
    this.root.dataset.state = state;
    this.parts.preparing.hidden = state !== "preparing";
    this.parts.broken.hidden = state !== "broken";
  }

  /** Why there is nothing to describe. */
  nothing(title, text) {
    const [heading, words] = this.parts.empty.children;
    put(heading, title);
    put(words, text);
  }

  /** What is told over the place of the picture. */
  told(what, text) {
    put(this.parts[what].querySelector("span"), text);
  }

  /** The videos to choose from; `count(video)` tells what this person has in each. */
  videos(videos, current, count) {
    const named = videos.map((video) => {
      const { mine, returned } = count(video.key);
      const has = [mine > 0 && tr("{mine} of yours", { mine }), returned > 0 && tr("{returned} sent back", { returned })].filter(Boolean);
      return [video.key, [video.name, length(video.duration_s), ...has].join(" \u00b7 ")];
    });
    const drawn = JSON.stringify(named);
    if (drawn !== this.named) {
      this.named = drawn;
      this.select.replaceChildren(
        ...named.map(([key, label]) => {
          const option = make("option", "", label);
          option.value = key;
          return option;
        }),
      );
    }
    this.select.value = current ?? "";
    this.root.dataset.video = current ?? "";
  }

  /** How far this video is, and where it lies among the others. */
  place(video, nth, total, mine) {
    const said = [trn("{nth} of {n} video", "{nth} of {n} videos", total, { nth })];
    const others = Math.max(video.written ?? 0, mine);
    if (video.wanted) said.push(others >= video.wanted ? tr("enough described here; more is welcome") : trn("{others} of {n} description", "{others} of {n} descriptions", video.wanted, { others }));
    put(this.parts.counts, said.join(" \u00b7 "));
  }

  time(frames, frame) {
    put(this.parts.clock, `${clock(frames.at(frame))} / ${clock(frames.at(frames.count))} s`);
    this.root.dataset.frame = frame;
  }

  /** Whether the frame on screen is in the moment that is marked. */
  inMoment(inside, looping) {
    put(this.parts.mark, inside ? (looping ? tr("the moment, in a loop") : tr("in the moment")) : "");
    this.root.dataset.inside = inside;
  }

  /** The marks in words. */
  marks(frames, { start, end }) {
    this.root.dataset.start = start ?? "";
    this.root.dataset.end = end ?? "";
    if (start === null && end === null) put(this.span, tr("No moment is marked"));
    else if (end === null) put(this.span, tr("From {clock} s; mark the end (O)", { clock: clock(frames.at(start)) }));
    else if (start === null) put(this.span, tr("Until {clock} s; mark the start (I)", { clock: clock(frames.at(end)) }));
    else {
      const seconds = frames.at(end) - frames.at(start);
      put(this.span, `${clock(frames.at(start))}\u2013${clock(frames.at(end))} s \u00b7 ${seconds.toFixed(2)} s \u00b7 ${trn("{n} frame", "{n} frames", end - start)}`);
    }
  }

  looping(on) {
    this.root.querySelector("[data-do='loop']").setAttribute("aria-pressed", String(on));
  }

  /** A word below the sentence; `urgent` where something is missing. */
  hint(text, urgent = false) {
    put(this.parts.hint, text);
    this.parts.hint.dataset.urgent = urgent;
  }

  /** Whether the form corrects a description, or writes a new one. */
  correcting(on) {
    this.root.dataset.correcting = on;
    this.form.querySelector("[data-do='escape']").hidden = !on;
    put(this.form.querySelector("[type='submit'] span"), on ? tr("Correct") : tr("Save"));
  }

  undo(last) {
    const button = this.root.querySelector("[data-do='undo']");
    const words = { describe: tr("Undo: take the last description back"), redescribe: tr("Undo the last correction"), withdraw: tr("Undo the withdrawal") };
    button.disabled = !last;
    button.setAttribute("aria-label", words[last?.kind] ?? tr("Undo: nothing to undo"));
  }

  /** The rules for descriptions: a line each. */
  rules(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    this.panel("guideline").querySelector(".rules").replaceChildren(...lines.map((line) => make("li", "", line)));
  }

  get sentence() {
    return this.form.elements.sentence;
  }
}
