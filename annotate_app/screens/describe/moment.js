// The moment at hand: marks at frames, the words, and what is kept of both while they are not saved.

const MAGNET_S = 0.3; // a mark set while the video plays comes so much late, and belongs to the cut then

class Moment {
  constructor(drafts) {
    this.drafts = drafts;
    this.draft = newDraft();
    this.aside = null;
    this.marks = { start: null, end: null };
  }

  /** Another video: what was begun there comes back. */
  open(video, frames) {
    this.video = video;
    this.frames = frames;
    const { draft, aside } = this.drafts.of(video.key);
    this.aside = aside;
    this.load(draft);
  }

  load(draft) {
    this.draft = { ...draft };
    const { start_s, end_s } = draft;
    const last = this.frames.at(this.frames.count);
    const { start, end } = this.frames.span(start_s ?? 0, end_s ?? last);
    this.marks = { start: start_s === null ? null : start, end: end_s === null ? null : end };
    this.keep();
  }

  get whole() {
    return this.marks.start !== null && this.marks.end !== null;
  }

  get blank() {
    return isBlank(this.draft);
  }

  has(frame) {
    return this.whole && frame >= this.marks.start && frame < this.marks.end;
  }

  /**
   * The frame on screen is the first of the moment, or its last. A mark that would turn the moment round clears the other.
   * Returns whether a cut drew it.
   */
  mark(edge, frame, playing) {
    const own = edge === "start" ? frame : frame + 1;
    const at = playing ? this.frames.drawn(own, MAGNET_S) : own;
    this.put(edge, at);
    return at !== own;
  }

  /** An end of the moment is at this frame: the first in it, or the first after it. */
  put(edge, frame) {
    const { count } = this.frames;
    if (edge === "start") {
      const start = Math.min(Math.max(frame, 0), count - 1);
      this.set({ start, end: this.marks.end > start ? this.marks.end : null });
    } else {
      const end = Math.min(Math.max(frame, 1), count);
      this.set({ start: this.marks.start !== null && this.marks.start < end ? this.marks.start : null, end });
    }
  }

  set(marks) {
    this.marks = marks;
    this.keep();
  }

  write(sentence) {
    this.draft.sentence = sentence;
    this.keep();
  }

  /** Seconds of the moment, as they are sent. */
  get span() {
    return [this.frames.at(this.marks.start), this.frames.at(this.marks.end)];
  }

  keep() {
    const { start, end } = this.marks;
    this.draft.start_s = start === null ? null : this.frames.at(start);
    this.draft.end_s = end === null ? null : this.frames.at(end);
    this.drafts.keep(this.video.key, this.draft, this.aside);
  }

  /** Correct a description; what was begun waits. */
  correct({ description, start_s, end_s, sentence }) {
    if (!this.draft.editing && !this.blank) this.aside = this.draft;
    this.load({ start_s, end_s, sentence, editing: description });
  }

  /** Saved or left: what waited comes back. */
  done() {
    const next = this.aside ?? newDraft();
    this.aside = null;
    this.load(next);
  }
}
