// Brings grades and skips to the server and desks back.
//
// POST /desk/exchange {"person", "grades": [{"pair", "grade", "key", "active_ms", "elapsed_ms", "contexts",
//                      "note" where it says something new}],
//                      "skips": [{"pair", "kind", "reason", "key"}], "shown", "window", "takes"}
//   -> {"receipts": [{"key", "status": "saved" | "refused", "message"}], "desk": {...}}
//   (desk.elsewhere: another window of this person, in whichever browser, has taken the desk since this one did)
//   or 503 {"message"}: the database cannot be written just now; what has no receipt is sent again
// POST /desk/shown {"person", "pair"} -> nothing. Tells that the pair's clip came on screen, beside whatever is under
// way; when that fails nobody waits for it, because every exchange says again which clip is on screen ("shown").
// POST /desk/exam {"person", "act"} -> the same, for the exam: start, hand_in, go_on.
// POST /desk/broken {"person", "pair", "what"} -> the same.

const AT_ONCE = 50; // keeps a request below the 64 KiB that may outlive a closed page, long reasons and notes included

class Sync extends Delivery {
  /** @param on {desk(desk), receipt(event, receipt), change()} */
  constructor(person, unsent, windows, on) {
    super(person, unsent, on.change);
    this.windows = windows;
    this.on = on;
    this.broken = [];
    this.onScreen = null; // the pair whose clip a person sees
    this.act = null; // what is asked about the exam
  }

  /** The oldest first. */
  batch() {
    return this.unsent.list().slice(0, AT_ONCE);
  }

  next(first) {
    const [report] = this.broken;
    if (report) {
      const told = (answer) => {
        this.broken.shift();
        this.take(answer);
      };
      return { path: "/desk/broken", body: report, events: [], answered: told };
    }
    if (this.unsent.size > 0 || this.windows.takes || (first && !this.act)) return this.exchange();
    if (!this.act) return null;
    const done = (answer) => { // all answers went first
      this.act = null;
      this.take(answer);
    };
    return { path: "/desk/exam", body: { act: this.act }, events: [], answered: done };
  }

  exchange() {
    const events = this.batch();
    const { key, takes } = this.windows;
    const answered = (answer) => {
      this.windows.answered(takes, answer.desk.elsewhere);
      this.take(answer);
    };
    const body = { ...wire(events, this.onScreen), window: key, takes };
    return { path: "/desk/exchange", body, events, answered };
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

  stop() {
    super.stop();
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
