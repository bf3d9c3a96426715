// Brings what a person did to the server, and answers back.
//
// Sending something twice changes nothing, so whatever was not answered is sent again. One request at a time keeps what
// was done in order. Every request names whom this page was made for: if somebody else has signed in meanwhile, the
// server answers 401 and everything waits here for its owner.

const PATIENCE_MS = 40000; // the server waits 30 s for a locked database before it says so
const LONGEST_WAIT_MS = 15000;
const SIGN_IN = fullPath("/session/sign-in");

/** A desk's way to the server; which request is next, and what its answer means, each desk says in `next`. */
class Delivery {
  /** @param change called whenever the state or what is kept may have changed */
  constructor(person, unsent, change) {
    this.person = person;
    this.unsent = unsent;
    this.change = change;
    this.failures = 0;
    this.state = "ok"; // ok, offline, signed-out, refused
    this.message = "";
    this.answeredAt = performance.now();
  }

  get reachable() {
    return this.state === "ok";
  }

  /** Send all there is now. Resolves to whether the server answered. */
  send() {
    clearTimeout(this.timer);
    this.running ??= this.round().finally(() => {
      this.running = null;
      this.change();
    });
    this.change();
    return this.running;
  }

  /**
   * The next request: {path, body, events: those it carries, answered(answer)}. `first`: of this round, which asks even
   * if nothing waits; else null where nothing is left.
   */
  next(first) {
    throw new Error(`not said what comes ${first ? "first" : "next"}`);
  }

  /** The request that carries what is kept, whatever else would go first. */
  exchange() {
    return this.next(true);
  }

  /** Something was added while a request is under way: it goes with the next round of the same run. */
  async round() {
    const tried = new Set();
    for (let request = this.next(true); request; request = this.next(false)) {
      if (request.events.some((event) => tried.has(event.key))) {
        this.retryLater(); // answered without a receipt for it: ask again, but not in a tight loop
        return true;
      }
      const answer = await this.post(request.path, request.body);
      if (!answer) {
        this.retryLater();
        return false;
      }
      this.failures = 0;
      this.state = "ok";
      this.message = "";
      this.answeredAt = performance.now();
      for (const event of request.events) tried.add(event.key);
      request.answered(answer);
    }
    return true;
  }

  request(path, body) {
    return fetch(fullPath(path), {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-ReelRank": "1" },
      body: JSON.stringify({ person: this.person, ...body }),
      keepalive: true,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  }

  /** The parsed answer, or null after noting why there is none. */
  async post(path, body) {
    try {
      const response = await this.request(path, body);
      if (response.ok) return await response.json();
      const { message = "" } = await response.json().catch(() => ({}));
      this.state = { 401: "signed-out", 403: "refused", 400: "refused" }[response.status] ?? "offline";
      this.message = message;
    } catch {
      this.state = "offline";
      this.message = "";
    }
    return null;
  }

  retryLater() {
    const wait = Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.failures);
    this.failures += 1;
    clearTimeout(this.timer);
    if (this.stopped) return;
    // A little chance, so that a room full of browsers does not return in the same moment.
    this.timer = setTimeout(() => this.send(), wait * (0.8 + 0.4 * Math.random()));
  }

  /** The page is going away: fire once more, without waiting for what is under way. */
  lastCall() {
    if (this.unsent.size === 0) return;
    const { path, body } = this.exchange();
    this.post(path, body);
  }

  /** The page element is gone. What is under way still removes what it saves; the rest waits in the store. */
  stop() {
    clearTimeout(this.timer);
    this.stopped = true;
    this.change = () => {};
  }
}

/** What a person should know about the way to the server, or an empty text; `noun`: what they give, "grades". */
function troubleWords({ state, message }, noun) {
  const kept = tr("What you gave is kept in this browser and sent again by itself.");
  const words = {
    "signed-out": noun === "grades"
      ? tr("You are signed out. Your grades are kept in this browser and sent after you sign in again.")
      : tr("You are signed out. Your descriptions are kept in this browser and sent after you sign in again."),
    refused: noun === "grades"
      ? tr("The server does not accept the grades of this page; they are kept. {message} Reload the page.", { message })
      : tr("The server does not accept the descriptions of this page; they are kept. {message} Reload the page.", { message }),
    offline: message && `${message} ${kept}`, // a lost connection has no message; the top line tells of it
  };
  return words[state] ?? "";
}
