// Brings grades and skips to the server and desks back.
//
// POST /desk/exchange {"person", "grades": [{"pair", "grade", "key", "active_ms", "elapsed_ms", "contexts",
//                      "note" where it says something new}],
//                      "skips": [{"pair", "kind", "reason", "key"}], "shown"}
//   -> {"receipts": [{"key", "status": "saved" | "refused", "message"}], "desk": {...}}
//   or 503 {"message"}: the database cannot be written just now; what has no receipt is sent again
// POST /desk/shown {"person", "pair"} -> nothing. Tells that the pair's clip came on screen, beside whatever is under
// way; when that fails nobody waits for it, because every exchange says again which clip is on screen ("shown").
// POST /desk/exam {"person", "act"} -> the same, for the exam: start, hand_in, go_on.
// POST /desk/broken {"person", "pair", "what"} -> the same. `person` is whom this page was made for: if somebody
// else has signed in meanwhile, the server answers 401 and everything waits here for its owner. Sending something
// twice changes nothing, so whatever was not answered is sent again. One request at a time keeps what was done at
// one pair in order.

const AT_ONCE = 50; // keeps a request below the 64 KiB that may outlive a closed page, long reasons and notes included
const PATIENCE_MS = 40000; // the server waits 30 s for a locked database before it says so
const LONGEST_WAIT_MS = 15000;

class Sync {
  /** @param on {desk(desk), receipt(event, receipt), change()} */
  constructor(person, unsent, on) {
    this.person = person;
    this.unsent = unsent;
    this.on = on;
    this.broken = [];
    this.onScreen = null; // the pair whose clip a person sees
    this.act = null; // what is asked about the exam
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
      this.on.change();
    });
    this.on.change();
    return this.running;
  }

  /** The oldest first. The server takes grades before skips, so a pair never has both in one request. */
  batch() {
    const batch = [];
    const sorts = new Map();
    for (const event of this.unsent.list()) {
      const sort = isSkip(event);
      if (batch.length === AT_ONCE || (sorts.get(event.pair) ?? sort) !== sort) break;
      sorts.set(event.pair, sort);
      batch.push(event);
    }
    return batch;
  }

  /** Something was added while a request is under way: it goes with the next round of the same run. */
  async round() {
    const tried = new Set();
    for (;;) {
      const events = this.batch();
      const report = this.broken[0];
      const act = report || events.length > 0 ? null : this.act; // all answers first
      let answer;
      if (report) answer = await this.post("/desk/broken", report);
      else if (act) answer = await this.post("/desk/exam", { act });
      else answer = await this.post("/desk/exchange", wire(events, this.onScreen));
      if (!answer) {
        this.retryLater();
        return false;
      }
      this.failures = 0;
      this.state = "ok";
      this.message = "";
      this.answeredAt = performance.now();
      if (report) this.broken.shift();
      else if (act) this.act = null;
      else for (const event of events) tried.add(event.key);
      this.take(answer);
      const waiting = this.batch();
      if (waiting.some((event) => tried.has(event.key))) {
        this.retryLater(); // answered without a receipt for it: ask again, but not in a tight loop
        return true;
      }
      if (waiting.length === 0 && this.broken.length === 0 && !this.act) return true;
    }
  }

  take(answer) {
    for (const receipt of answer.receipts ?? []) {
      const event = this.unsent.events.get(receipt.key);
      if (!event) continue;
      this.unsent.remove(receipt.key);
      this.on.receipt(event, receipt);
    }
    if (answer.desk) this.on.desk(answer.desk);
  }

  request(path, body) {
    return fetch(path, {
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
    if (this.unsent.size > 0) this.post("/desk/exchange", wire(this.batch(), this.onScreen));
  }

  /** The clip of this pair came on screen, or (null) none is. */
  show(pair) {
    if (pair !== null && pair !== this.onScreen) this.request("/desk/shown", { pair }).catch(() => {});
    this.onScreen = pair;
  }

  /** Begin the exam, hand it in, go on from its result. */
  exam(act) {
    this.act = act;
    return this.send();
  }

  reportBroken(pair, what) {
    this.broken.push({ pair, what });
    return this.send();
  }

  /** The page element is gone. What is under way still removes what it saves; the rest waits in the store. */
  stop() {
    clearTimeout(this.timer);
    this.stopped = true;
    this.on = { desk() {}, receipt() {}, change() {} };
  }
}

function wire(events, shown) {
  const wireGrade = ({ pair, grade, key, active_ms, elapsed_ms, contexts, note }) => ({
    ...{ pair, grade, key },
    ...{ active_ms, elapsed_ms, contexts, note }, // JSON leaves out a note that is undefined
  });
  const wireSkip = ({ pair, kind, reason, key }) => ({ pair, kind, reason, key });
  return {
    grades: events.filter((event) => !isSkip(event)).map(wireGrade),
    skips: events.filter(isSkip).map(wireSkip),
    shown,
  };
}
