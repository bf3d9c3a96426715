// What a person did that the server has not acknowledged yet.
//
// One localStorage entry each, so that two windows of one person never overwrite each other's. What somebody did is
// written here before anything else happens to it and leaves only with a receipt.

/** A name no other act ever gets. randomUUID exists on https and localhost only. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

class Kept {
  /**
   * @param store begins the names of the entries; the path of the app and `person`, an id, end it: acts of another
   *   person in this browser, or of another campaign on this host, are never touched
   * @param counter names the counter that orders them
   * @param isEvent whether a value found in the browser is one of them
   */
  constructor(store, counter, person, isEvent) {
    this.prefix = `${store}${fullPath("")}.${person}.`;
    this.counter = `${counter}${fullPath("")}.${person}`;
    this.isEvent = isEvent;
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
      const events = [...this.list(), ...found.map(parseOrNull).filter(this.isEvent)];
      events.sort((a, b) => a.order - b.order);
      this.events = new Map(events.map((event) => [event.key, event]));
    } catch {
      this.durable = false;
    }
  }

  /** Keep what was done, `fields`, under a key of its own. */
  keep(fields) {
    const order = nextNumber(this.counter); // no time of day: clocks may be set back while acts wait
    const event = { key: newKey(), ...fields, order };
    this.events.set(event.key, event);
    try {
      localStorage.setItem(this.prefix + event.key, JSON.stringify(event));
    } catch {
      this.durable = false; // private window or full disk: it lives as long as this window
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

  /** Oldest first: two acts about one thing must arrive in the order in which they were done. */
  list() {
    return [...this.events.values()];
  }
}

function parseOrNull(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
