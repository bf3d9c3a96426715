// How long a person worked on something.

const IDLE_MS = 30000;

/** Milliseconds of work since its start: time in a hidden tab, and beyond 30 s without any input, is left out. */
class ActiveTime {
  constructor(now, visible) {
    this.start(now, visible);
  }

  start(now, visible) {
    this.sum = 0;
    this.last = now;
    this.visible = visible;
  }

  /** Something happened: a key, the pointer, the tab coming or going. */
  touch(now, visible) {
    if (this.visible) this.sum += Math.min(now - this.last, IDLE_MS);
    this.last = now;
    this.visible = visible;
  }

  read(now) {
    this.touch(now, this.visible);
    return Math.round(this.sum);
  }
}
