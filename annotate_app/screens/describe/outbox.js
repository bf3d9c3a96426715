// Brings descriptions to the server and news about them back.
//
// POST /describe/exchange {"person", "events": [{"key", "kind": "describe" | "redescribe" | "withdraw", "video",
//                          "description", "start_s", "end_s", "sentence", "elapsed_ms", "active_ms"}]}
//   -> {"accepted": [keys], "refused": [{"key", "message"}], "mine": [descriptions sent about], "returned": [...]}
// GET /describe/work -> {"videos", "guideline", "me"}; GET /describe/videos/KEY/ready -> {"ready"}: whether the copy that the
// browser plays is there. It is made from then on.
// POST /describe/guideline {"person", "version"} -> nothing. This version was read.
// What was refused stays here, with the reason, until its author takes it up again or drops it: nobody's words are lost.

const AT_ONCE = 40; // keeps a request of long sentences below the 64 KiB that may outlive a closed page

function isDescribing(value) {
  return typeof value?.key === "string" && typeof value.video === "string" && typeof value.description === "string";
}

class Unsent extends Kept {
  constructor(person) {
    super("reelrank.describe", "reelrank.describe-order", person, isDescribing);
  }

  /** What still has to be sent, the oldest first. */
  waiting() {
    return this.list().filter(({ refused }) => refused === undefined);
  }

  /** The server does not take this: keep it, with the reason. */
  refuse(event, message) {
    const said = { ...event, refused: message };
    this.events.set(event.key, said);
    try {
      localStorage.setItem(this.prefix + event.key, JSON.stringify(said));
    } catch {
      this.durable = false;
    }
  }

  /** For the sign that tells what is saved. */
  get size() {
    return this.waiting().length;
  }

  get words() {
    return trn("{n} description", "{n} descriptions", this.size);
  }
}

class Outbox extends Delivery {
  /** @param on {answer(answer, events sent), change()} */
  constructor(person, unsent, on) {
    super(person, unsent, on.change);
    this.on = on;
  }

  next(first) {
    return first || this.unsent.size > 0 ? this.exchange() : null;
  }

  exchange() {
    const events = this.unsent.waiting().slice(0, AT_ONCE);
    const answered = (answer) => this.on.answer(answer, events);
    return { path: "/describe/exchange", body: { events: events.map(wire) }, events, answered };
  }

  stop() {
    super.stop();
    this.on = { answer: this.on.answer, change() {} };
  }
}

function wire({ key, kind, video, description, start_s, end_s, sentence, elapsed_ms, active_ms }) {
  return { key, kind, video, description, start_s, end_s, sentence, elapsed_ms, active_ms };
}
