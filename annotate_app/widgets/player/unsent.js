// Grades and skips that the server has not acknowledged yet.
//
// One localStorage entry each, so that two windows of one person never overwrite each other's. A grade or skip is
// written here before anything else happens to it and leaves only with a receipt.

const UNSENT = "reelrank.unsent";

/** A name no other key press ever gets. randomUUID exists on https and localhost only. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isEvent(value) {
  const isGrade = Number.isInteger(value?.grade) && value.grade >= 0;
  return typeof value?.pair === "string" && typeof value.key === "string" && (isGrade || isSkip(value));
}

/** Whether an event is a skip; otherwise it is a grade. */
function isSkip({ kind }) {
  return SKIPS.some((skip) => skip.kind === kind);
}

class Unsent {
  /** @param person id of the annotator: grades of another person in this browser are never touched. */
  constructor(person) {
    this.prefix = `${UNSENT}.${person}.`;
    this.counter = `reelrank.order.${person}`;
    this.events = new Map();
    this.durable = true;
    this.adopt();
  }

  /** Take over what an earlier visit, or another window, left behind. */
  adopt() {
    try {
      const found = [];
      for (let index = 0; index < localStorage.length; index += 1) {
        const name = localStorage.key(index);
        if (name.startsWith(this.prefix)) found.push(localStorage.getItem(name));
      }
      const events = [...this.list(), ...found.map(parseOrNull).filter(isEvent)];
      events.sort((a, b) => a.order - b.order);
      this.events = new Map(events.map((event) => [event.key, event]));
    } catch {
      this.durable = false;
    }
  }

  /**
   * @param item the pair's desk item, kept so that a later message can name its query
   * @param what {grade, active_ms, elapsed_ms, contexts, note} or {kind, reason}
   */
  add(item, what) {
    const order = nextNumber(this.counter); // no time of day: clocks may be set back while grades wait
    const event = { pair: item.pair, key: newKey(), ...what, order, item };
    this.events.set(event.key, event);
    try {
      localStorage.setItem(this.prefix + event.key, JSON.stringify(event));
    } catch {
      this.durable = false; // private window or full disk: the grade lives as long as this window
    }
    return event;
  }

  remove(key) {
    this.events.delete(key);
    try {
      localStorage.removeItem(this.prefix + key);
    } catch {
      this.durable = false;
    }
  }

  get size() {
    return this.events.size;
  }

  /** Oldest first: two grades of one pair must arrive in the order in which they were given. */
  list() {
    return [...this.events.values()];
  }

  /** The grade waiting for this pair, SKIPPED for a skip, or undefined. */
  markOf(pair) {
    const event = this.list().findLast((waiting) => waiting.pair === pair);
    return event && isSkip(event) ? SKIPPED : event?.grade;
  }

  /** What is kept here, in words: "2 grades and 1 skip". */
  get words() {
    const skips = this.list().filter(isSkip).length;
    const counts = [[this.size - skips, "grade"], [skips, "skip"]].filter(([count]) => count > 0);
    return counts.map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`).join(" and ");
  }
}

function parseOrNull(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
