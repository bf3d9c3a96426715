// What desks draw alike: notices, the sign that tells what is saved, panels. All words from outside go through
// textContent, never through HTML.

class Frame {
  constructor(root) {
    this.root = root;
    this.parts = { saving: root.querySelector(".saving"), notice: root.querySelector(".notice") };
  }

  panel(name) {
    return this.root.querySelector(`dialog[data-panel="${name}"]`);
  }

  get openPanel() {
    return this.root.querySelector("dialog[open]");
  }

  saving(unsent, state) {
    const unsaved = unsent.size;
    const away = { offline: tr("offline"), "signed-out": tr("signed out"), refused: tr("not accepted") }[state];
    const mark = unsaved > 0 ? "sending" : "saved";
    let text = unsaved > 0 ? tr("sending") : tr("saved");
    if (away) text = unsaved > 0 ? tr("{away}: {words} kept", { away, words: unsent.words }) : away;
    if (unsaved > 0 && !unsent.durable) text = tr("{saving} in this window only", { saving: text });
    this.parts.saving.dataset.unsaved = unsaved;
    this.parts.saving.dataset.state = away ? state : mark;
    put(this.parts.saving.querySelector("span"), text);
  }

  get noticeText() {
    return this.parts.notice.hidden ? "" : this.parts.notice.querySelector("p").textContent;
  }

  notice(text, signIn = null) {
    const { notice } = this.parts;
    notice.hidden = !text;
    put(notice.querySelector("p"), text);
    const link = notice.querySelector("a");
    link.hidden = !signIn;
    if (signIn) link.href = signIn;
  }

  playing(playing) {
    this.root.dataset.playing = playing;
    this.root.querySelector("[data-do='pause']").setAttribute("aria-label", playing ? tr("Pause") : tr("Play"));
  }

  sound(on) {
    const button = this.root.querySelector("[data-do='sound']");
    button.setAttribute("aria-pressed", String(on));
    this.root.dataset.sound = on;
  }

  speed(speed) {
    const button = this.root.querySelector("[data-do='speed']");
    put(button, `${speed}\u00d7`);
    button.setAttribute("aria-label", tr("Speed {speed} times", { speed }));
  }

  loading(loading) {
    this.root.dataset.loading = loading;
  }

  say(what, text) {
    put(this.root.querySelector(`[data-said="${what}"]`), text);
  }

  toggle(name) {
    const panel = this.panel(name);
    const open = this.openPanel;
    open?.close();
    if (open === panel) return;
    panel.showModal();
    panel.scrollTop = 0; // focus went to the text and scrolled it below the heading
  }

  /** The list of keys, behind `?`: {keys, does, joined: a word between them}. */
  listKeys(keymap) {
    const rows = keymap.flatMap(({ keys, joined, does }) => {
      const marks = keys.flatMap((key, index) => [...(index && joined ? [` ${joined} `] : [" "]), make("kbd", "", tr(key))]);
      return [make("dt", "", marks), make("dd", "", tr(does))];
    });
    this.panel("keys").querySelector(".body").replaceChildren(...rows);
  }
}

/** Change words only where they differ: screen readers speak every change. */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function make(tag, className, content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...[content].flat());
  return element;
}
