// Times as frames of the video on screen. Marks are frames: a moment is [start, end), from the first frame in it to the
// first after it; `end` may be the number of all frames.

const SAME_SPAN = 0.7; // from this overlap on two spans show the same, as the server has it
const ROUNDED_S = 1e-6;

/** The frame nearest to a time. `times` rise. */
function frameNear(times, seconds) {
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= seconds) low = middle;
    else high = middle;
  }
  return seconds - times[low] <= times[high] - seconds ? low : high;
}

/** The first frame at or after a time; their number where none is. */
function frameFrom(times, seconds) {
  const near = frameNear(times, seconds);
  return times[near] < seconds - ROUNDED_S ? near + 1 : near;
}

/** A video's frames: times in seconds on its time line, where it ends, and the frames that shots begin with. */
class Frames {
  constructor(times, durationS, shots) {
    this.times = times;
    this.durationS = durationS;
    const cuts = shots.flat().map((seconds) => frameFrom(times, seconds));
    this.cuts = [...new Set([0, ...cuts, times.length])].sort((a, b) => a - b);
  }

  get count() {
    return this.times.length;
  }

  /** Where a frame begins; after the last one the video ends. */
  at(frame) {
    return frame < this.count ? this.times[frame] : Math.max(this.durationS, this.times.at(-1));
  }

  /** The same counted from the first frame, as players count. */
  played(frame) {
    return this.at(frame) - this.times[0];
  }

  /** Seconds a frame stays on screen. */
  lasts(frame) {
    return this.at(frame + 1) - this.at(frame);
  }

  /** The shot that a frame is in. */
  shotOf(frame) {
    const after = this.cuts.findIndex((cut) => cut > frame);
    return { start: this.cuts[after - 1], end: this.cuts[after] };
  }

  /** The cut within `reachS` of where a frame begins, or the frame itself. */
  drawn(frame, reachS) {
    const away = (cut) => Math.abs(this.at(cut) - this.at(frame));
    const nearest = this.cuts.reduce((best, cut) => (away(cut) < away(best) ? cut : best));
    return away(nearest) <= reachS ? nearest : frame;
  }

  isCut(frame) {
    return this.cuts.includes(frame);
  }

  /** Two times as frames: {start, end}. */
  span(startS, endS) {
    const start = frameNear(this.times, startS);
    const end = endS > this.times.at(-1) + ROUNDED_S ? this.count : frameNear(this.times, endS);
    return { start, end: Math.max(end, start + 1) };
  }
}

/** Whether two spans in seconds show the same. */
function sameSpan([start, end], [otherStart, otherEnd]) {
  const inter = Math.min(end, otherEnd) - Math.max(start, otherStart);
  return inter > 0 && inter >= SAME_SPAN * (Math.max(end, otherEnd) - Math.min(start, otherStart)) - ROUNDED_S;
}

/** Seconds as people read them: "12.48", "1:02.48". */
function clock(seconds, digits = 2) {
  const hundredths = Math.round(seconds * 10 ** digits);
  const minutes = Math.floor(hundredths / (60 * 10 ** digits));
  const rest = ((hundredths % (60 * 10 ** digits)) / 10 ** digits).toFixed(digits);
  return minutes > 0 ? `${minutes}:${rest.padStart(digits > 0 ? 3 + digits : 2, "0")}` : rest;
}

/** A length as people say it: "8 s", "3 min", "1 h 20 min". */
function length(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? tr("{minutes} min", { minutes }) : tr("{hours} h {minutes} min", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}
