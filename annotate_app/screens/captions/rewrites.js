// The rewrite queue: one rewrite at a time, worked by keyboard. What a key decides is on its way to the server while the
// next rewrite is shown already; what the server refuses comes back with what was typed.
//
// POST /rewriting/decision {"person", "caption", "text": null = rejected} -> {"queue", "message": why it was refused}
// POST /rewriting/undo {"person"} -> {"queue", "taken_back": {"caption_id", "text"}, "message"}
// A decision sent twice changes nothing, so what was not answered is sent again. One request at a time.

const AGAIN_MS = 2000;
const SIGN_IN = fullPath("/session/sign-in");
const COUNTS = [["waiting", marked("To review")], ["accepted", marked("Accepted")], ["by_hand", marked("By hand")], ["retried", marked("Retried")], ["rejected", marked("Rejected")]];
const COMMANDS = { a: "accept", e: "edit", r: "reject", u: "undo" };
const AWAY = marked("The server cannot be reached.");
const UNSENT = marked("Your decisions are not saved yet. They are sent again until they are.");
const SIGNED_OUT = marked("You are signed out, so this was not saved. What you typed is kept for you.");

class Rewrites {
  constructor(root, data, keep) {
    this.root = root;
    this.person = data.person;
    this.keep = keep;
    this.queue = data.queue;
    this.sent = []; // decisions and undos without an answer, the oldest first
    this.typed = new Map(Object.entries(data.typed).map(([caption, text]) => [Number(caption), text]));
    this.first = null; // what was taken back comes first
    this.notice = "";
    this.signedOut = false;
    this.field = this.part("textarea");
    this.listen();
    this.draw();
  }

  part(name) {
    return this.root.querySelector(name);
  }

  /** The rewrite on show: the first that waits and that nothing is under way about. */
  get item() {
    const under = new Set(this.sent.map(({ caption }) => caption));
    const items = this.queue.items.filter((item) => !under.has(item.caption_id));
    return items.find((item) => item.caption_id === this.first) ?? items[0] ?? null;
  }

  listen() {
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("keydown", (event) => this.key(event), { capture: true, signal });
    this.root.addEventListener("click", (event) => {
      const control = event.target.closest("[data-do]");
      if (control) this.obey(control.dataset.do);
    }, { signal });
    this.field.addEventListener("input", () => {
      this.typed.set(this.item.caption_id, this.field.value);
      this.label();
    }, { signal });
    this.field.addEventListener("keydown", (event) => this.keyInField(event), { signal });
  }

  key(event) {
    if (isForeign(event) || foreignDialogOpen() || event.shiftKey) return;
    const command = COMMANDS[keyOf(event)];
    if (!command) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit has a key R of its own
    if (!event.repeat) this.obey(command);
  }

  keyInField(event) {
    event.stopPropagation(); // seen from outside, what is typed here is not typed into a field
    if (isComposing(event)) return;
    if (event.key === "Enter") {
      event.preventDefault();
      this.part("article").focus({ preventScroll: true }); // so that the next key is a command again
      this.obey("accept");
    } else if (event.key === "Escape") {
      this.part("article").focus({ preventScroll: true });
    }
  }

  obey(command) {
    const { item } = this;
    if (command === "undo") this.undo();
    else if (!item) return;
    else if (command === "edit") this.edit();
    else this.decide(item, command === "accept" ? this.field.value : null);
  }

  edit() {
    this.field.focus();
    this.field.setSelectionRange(this.field.value.length, this.field.value.length);
  }

  decide(item, text) {
    if (text !== null && !text.trim()) {
      this.say(tr("The field is empty. Write what a searcher might type, or reject the rewrite."));
      return;
    }
    this.say("");
    this.send({ path: "/rewriting/decision", caption: item.caption_id, text });
    this.spoken = text === null ? tr("Rejected.") : tr("Accepted.");
    this.draw();
  }

  undo() {
    if (!this.queue.last && this.sent.length === 0) return;
    this.say("");
    this.send({ path: "/rewriting/undo" });
  }

  send(request) {
    this.sent.push(request);
    this.running ??= this.round().finally(() => { this.running = null; });
  }

  async round() {
    while (this.sent.length > 0 && !this.ended.signal.aborted) {
      const answer = await this.post(this.sent[0]);
      if (answer === "signed out") return this.keepAll();
      if (answer.again) {
        this.say(`${answer.again} ${tr(UNSENT)}`);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        continue;
      }
      const { caption } = this.sent.shift();
      if (this.notice.endsWith(tr(UNSENT))) this.say("");
      if (answer.queue) this.queue = answer.queue;
      if (answer.taken_back) {
        this.first = answer.taken_back.caption_id;
        if (answer.taken_back.text !== null) this.typed.set(this.first, answer.taken_back.text);
        this.spoken = tr("Taken back.");
      }
      if (answer.message) {
        this.say(answer.message);
        if (caption) this.first = caption; // where it waits still, it comes back with what was typed
      } else if (caption) {
        this.typed.delete(caption);
      }
      this.draw();
    }
    return undefined;
  }

  async post({ path, caption, text }) {
    let response;
    try {
      response = await fetch(fullPath(path), {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-ReelRank": "1" },
        body: JSON.stringify({ person: this.person, caption, text }),
        keepalive: true,
      });
      if (response.status === 401) return "signed out";
      const answer = await response.json();
      return response.status < 500 ? answer : { again: answer.message };
    } catch {
      return { again: tr(AWAY) };
    }
  }

  /** Nothing under way was saved: all of it stands here again, and what was typed goes where the session can keep it. */
  keepAll() {
    this.first = this.sent.find(({ caption }) => caption)?.caption ?? this.first;
    for (const { caption, text } of this.sent) if (caption && text) this.typed.set(caption, text);
    this.sent = [];
    this.signedOut = true;
    this.say(tr(SIGNED_OUT));
    this.draw();
    this.keep(JSON.stringify(Object.fromEntries(this.typed)));
  }

  /** A newer queue from the server, by a run of the page: nothing under way or typed is lost. */
  take(data) {
    this.queue = data.queue;
    this.draw();
  }

  say(words) {
    this.notice = words;
    const notice = this.part(".notice");
    notice.hidden = !words;
    notice.querySelector("p").textContent = words;
    const link = notice.querySelector("a");
    link.hidden = !this.signedOut;
    link.href = `${SIGN_IN}?other&next=${encodeURIComponent(location.pathname)}`;
  }

  draw() {
    const { item, queue } = this;
    const under = new Set(this.sent.map(({ caption }) => caption));
    const moving = queue.items.reduce((sum, one) => sum + (under.has(one.caption_id) ? one.captions : 0), 0);
    const counts = { ...queue.counts, waiting: queue.counts.waiting - moving };
    this.part(".counts").replaceChildren(...COUNTS.map(([key, label]) => {
      const group = made("div", made("dt", tr(label)), made("dd", counts[key].toLocaleString("en-GB")));
      group.dataset.count = key;
      return group;
    }));
    this.part("article").hidden = !item;
    if (item) this.show(item);
    const done = !item && this.sent.length === 0;
    if (done && this.part("article").contains(this.root.getRootNode().activeElement)) this.part(".last button").focus();
    this.part(".empty").hidden = !done;
    this.part(".empty p").textContent = tr("The imprecise captions are complete. Next: {then}", { then: queue.then });
    const { last } = queue;
    this.part(".last").hidden = !last && this.sent.length === 0;
    this.part(".last p").textContent = last ? lastWords(last) : "";
    this.tell(item);
  }

  show(item) {
    const changed = this.root.dataset.caption !== String(item.caption_id);
    this.root.dataset.caption = item.caption_id;
    const many = item.captions > 1 ? ` · ${tr("Your decision counts for all {captions} captions with this text", { captions: item.captions })}` : "";
    this.part(".why").textContent = `${item.reason}${many}`;
    this.part(".before").replaceChildren(...pieced(item.before, "del"));
    this.part(".after").replaceChildren(...pieced(item.after, "ins"));
    const text = this.typed.get(item.caption_id) ?? item.proposal;
    if (changed || this.field.value !== text) this.field.value = text;
    this.label();
  }

  label() {
    const own = this.item && this.field.value !== this.item.proposal;
    this.part("[data-do='accept'] span").textContent = own ? tr("Accept as edited") : tr("Accept");
  }

  /** What a person who does not look hears: what was done, and what stands here now. */
  tell(item) {
    const now = item ? tr("Published: {published} Proposed: {proposal} Reason: {reason}.", { published: item.published, proposal: item.proposal, reason: item.reason }) : this.part(".empty").hidden ? "" : tr("No rewrites to review.");
    if (now === this.told && !this.spoken) return;
    this.part(".spoken").textContent = [this.spoken, now].filter(Boolean).join(" ");
    this.told = now;
    this.spoken = "";
  }

  stop() {
    this.ended.abort();
  }
}

function made(tag, ...children) {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

/** Pieces of a text, those that changed inside `tag`; words of people are text, never markup. */
function pieced(pieces, tag) {
  return pieces.map(({ text, changed }) => (changed ? made(tag, text) : document.createTextNode(text)));
}

function lastWords({ published, text }) {
  return text === null ? tr("Rejected: “{published}”", { published }) : tr("Accepted: “{text}”", { text });
}

// Streamlit calls the default export whenever the data or the theme change, and only the newest clean-up at the end.
const mounted = new WeakMap();

export default function mount({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".rewrites");
  const old = mounted.get(root);
  if (old && old.widget.person === data.person) {
    if (JSON.stringify(old.data) !== JSON.stringify(data)) old.widget.take(data);
    old.data = data;
  } else {
    old?.widget.stop();
    speak(parentElement, data);
    mounted.set(root, { data, widget: new Rewrites(root, data, (typed) => setStateValue("typed", typed)) });
  }
  const run = (mounted.get(root).run = Symbol("run"));
  return () => {
    const found = mounted.get(root);
    if (found?.run !== run) return;
    found.widget.stop();
    mounted.delete(root);
  };
}
