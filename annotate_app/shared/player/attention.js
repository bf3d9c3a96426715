// Whether a person has seen the clip on show.

const SEEN_MS = 250;
const LONGEST_BURST_MS = 700;

/**
 * Opens for grading once the clip's first frame was on screen for a while. A grade that comes too early prolongs
 * the wait a little, so that a double or triple press never reaches a clip that nobody has seen.
 */
class Gate {
  close() {
    this.seenAt = Infinity;
    this.firstSeenAt = null;
  }

  firstFrame(now) {
    this.seenAt = now;
    this.firstSeenAt ??= now; // a clip that had to be fetched again was seen before
  }

  /** All milliseconds since the clip's first painted frame, idle or not; null before it. */
  elapsed(now) {
    return this.firstSeenAt === null ? null : Math.max(0, Math.round(now - this.firstSeenAt));
  }

  get opensAt() {
    const burst = Math.min((this.pressedAt ?? -Infinity) + SEEN_MS, this.seenAt + LONGEST_BURST_MS);
    return Math.max(this.seenAt + SEEN_MS, burst);
  }

  /** Whether a grade given now counts. */
  admits(now) {
    const open = now >= this.opensAt;
    this.pressedAt = open ? -Infinity : now;
    return open;
  }
}
