// Grades that the server has not acknowledged yet.
//
// One localStorage entry a grade, so that two windows of one person never overwrite each other's grades.
// A grade is written here before anything else happens to it and leaves only with a receipt.

const UNSENT = "reelrank.unsent";

/** A name no other key press ever gets. randomUUID exists on https and localhost only. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isEvent(value) {
  return (
    typeof value?.pair === "string" &&
    typeof value.key === "string" &&
    Number.isInteger(value.grade) &&
    value.grade >= 0 &&
    value.grade <= 4
  );
}

class Unsent {
  /** @param person id of the annotator: grades of another person in this browser are never touched. */
  constructor(person) {
    this.prefix = `${UNSENT}.${person}.`;
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
      const events = found.map(parseOrNull).filter(isEvent);
      events.sort((a, b) => a.at - b.at || a.order - b.order);
      for (const event of events) this.events.set(event.key, event);
    } catch {
      this.durable = false;
    }
  }

  /** @param item the pair's desk item, kept so that a later message can name its query. */
  add(item, grade, activeMs) {
    const order = (this.order = (this.order ?? 0) + 1);
    const event = { pair: item.pair, grade, key: newKey(), active_ms: activeMs, at: Date.now(), order, item };
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

  /** The grade waiting for this pair, or undefined. */
  gradeOf(pair) {
    return this.list().findLast((event) => event.pair === pair)?.grade;
  }
}

function parseOrNull(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
