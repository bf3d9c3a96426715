// The guideline's panel: what each grade means, with the project's own examples where a lead chose some.
//
// Nothing of their clips is fetched before the panel opens; they stand still while it is closed, and from the start
// for people who asked for less motion. A clip that cannot be had gives its place to the example in words.

class Guide {
  constructor(dialog, { grades, choose, ask, questions, reminders, example_query }) {
    this.dialog = dialog;
    this.wordedQuery = example_query;
    this.clips = [];
    const asked = questions.map(({ title, text }) => make("li", "", [make("b", "", title), make("span", "", text)]));
    const meant = [...grades].reverse().map((meaning) => this.row(meaning));
    this.intro = make("p", "example", "");
    this.list = make("ul", "meanings", meant);
    dialog.querySelector(".body").replaceChildren(
      ...(asked.length ? [make("h3", "", ask), make("ol", "questions", asked)] : []),
      make("h3", "", choose),
      this.intro,
      this.list,
      ...(reminders.length ? [make("h3", "", tr("Keep in mind"))] : []),
      make("ul", "reminders", reminders.map((text) => make("li", "", text))),
    );
    this.introduce();
    this.opening = new MutationObserver(() => this.turned());
    this.opening.observe(dialog, { attributeFilter: ["open"] });
  }

  row({ grade, label, detail, example, shown }) {
    const row = make("li", "", [
      make("span", "digit", String(grade)),
      make("div", "meant", [make("b", "", label), make("span", "", detail)]),
    ]);
    row.dataset.grade = grade;
    if (shown) {
      const frame = make("button", "clip", []);
      frame.type = "button";
      const words = make("div", "shown", [make("b", "", `\u201c${shown.query}\u201d`), make("span", "", shown.note)]);
      row.className = "filmed";
      row.append(words, frame);
      this.clips.push({ grade, frame, src: shown.clip, inWords: () => this.giveUp(row, [words, frame], example) });
    } else {
      this.inWords(row, example);
    }
    return row;
  }

  /** The example in words, where the scale has one for this grade. */
  inWords(row, example) {
    if (!example) return;
    row.append(make("em", "", example));
    row.lastChild.dataset.eg = tr("e.g.");
  }

  /** Say what the examples belong to: each clip to a query of its own, those in words to one made-up query. */
  introduce() {
    const anyInWords = this.list.querySelector("em") !== null;
    const query = this.wordedQuery;
    let words = anyInWords ? tr("The examples are for the query \u201c{query}\u201d", { query }) : "";
    if (this.clips.length > 0 && !anyInWords) words = tr("The clips are examples from this project, each with its query");
    else if (this.clips.length > 0) words = tr("Clips are examples from this project, each with its query; those in words are for the query \u201c{query}\u201d", { query });
    put(this.intro, words);
  }

  /** The panel was opened or closed. */
  turned() {
    if (!this.list.isConnected) this.opening.disconnect(); // another guide has taken this one's place
    const open = this.dialog.open && this.list.isConnected;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const clip of [...this.clips]) {
      if (open && !clip.video) this.load(clip);
      if (!clip.video) continue;
      if (open && !calm && !clip.stopped) playSilently(clip.video);
      else clip.video.pause();
    }
  }

  load(clip) {
    const { frame, grade, src } = clip;
    const video = document.createElement("video");
    Object.assign(video, { muted: true, loop: true, playsInline: true, preload: "auto", tabIndex: -1 });
    const tell = () => {
      frame.dataset.playing = !video.paused;
      frame.setAttribute("aria-label", video.paused ? tr("Play the example of grade {grade}", { grade }) : tr("Pause the example of grade {grade}", { grade }));
    };
    for (const name of ["play", "pause"]) video.addEventListener(name, tell);
    video.addEventListener("error", clip.inWords);
    frame.addEventListener("click", () => {
      clip.stopped = !video.paused;
      if (video.paused) playSilently(video);
      else video.pause();
    });
    clip.video = video;
    frame.append(video);
    tell();
    video.src = src;
  }

  /** This clip cannot be had just now, or is no example any more. */
  giveUp(row, parts, example) {
    if (!parts[1].isConnected) return;
    const focused = parts[1].matches(":focus");
    for (const part of parts) part.remove();
    row.className = "";
    this.inWords(row, example);
    this.clips = this.clips.filter(({ frame }) => frame !== parts[1]);
    this.introduce();
    if (focused) this.dialog.querySelector(".body").focus();
  }
}

/** Play; a browser that will not leaves the first frame standing. */
function playSilently(video) {
  video.play().catch(() => {});
}
