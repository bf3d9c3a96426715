// A strip of the video: its shots, what is described already, the marks, and where the video stands.
//
// There are two: one of the whole video, and one of some seconds around the frame on screen, whose ends of the moment
// can be dragged, or moved by arrow keys. Everything lies on a track that is wider than the strip and slides under it.

const NEAR_S = 20; // seconds in view around the frame on screen
const DRAWN_PX = 8; // so near to a cut a dragged end takes it
const SECONDS_A_TICK = [1, 2, 5, 10, 30, 60, 300, 600];
const EDGES = ["start", "end"];

class Timeline {
  /**
   * @param strip the element
   * @param inViewS how many seconds are in view; Infinity for all of the video
   * @param on {seek(frame), edge(edge, frame)}
   */
  constructor(strip, inViewS, on) {
    this.strip = strip;
    this.inViewS = inViewS;
    this.on = on;
    this.track = make("div", "track", []);
    this.lanes = Object.fromEntries(["shots", "taken", "own", "ticks"].map((name) => [name, make("div", name, [])]));
    this.chosen = make("i", "chosen", []);
    this.stands = make("i", "stands", []);
    this.edges = Object.fromEntries(EDGES.map((edge) => [edge, this.edge(edge)]));
    for (const part of [...Object.values(this.lanes), this.chosen, this.stands]) part.setAttribute("aria-hidden", "true");
    const sliders = inViewS === Infinity ? [] : Object.values(this.edges);
    this.track.append(...Object.values(this.lanes), this.chosen, this.stands, ...sliders);
    for (const part of [this.chosen, this.stands, ...sliders]) part.hidden = true; // until there is a video
    strip.replaceChildren(this.track);
    strip.onpointerdown = (event) => this.pressed(event);
  }

  edge(name) {
    const handle = make("button", "edge", [make("i", "", [])]);
    handle.type = "button";
    handle.dataset.edge = name;
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-label", name === "start" ? tr("Start of the moment") : tr("End of the moment"));
    handle.onkeydown = (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!steps || isForeign(event)) return;
      event.preventDefault();
      this.on.edge(name, this.marks[name] + steps * (event.shiftKey ? 10 : 1));
    };
    return handle;
  }

  /** Another video. */
  show(frames) {
    this.frames = frames;
    this.lengthS = frames.played(frames.count);
    this.strip.hidden = this.inViewS === Infinity && this.lengthS <= NEAR_S; // the other one shows it all
    this.viewS = Math.min(this.inViewS, this.lengthS);
    this.fromS = 0;
    this.track.style.width = `${(100 * this.lengthS) / this.viewS}%`;
    this.slide(0);
    const bands = frames.cuts.slice(1).map((end, index) => this.bar("shot", frames.cuts[index], end));
    this.lanes.shots.replaceChildren(...bands);
    const step = SECONDS_A_TICK.find((seconds) => this.viewS / seconds <= 12) ?? 1800;
    const ticks = [];
    const [firstS] = frames.times;
    for (let at = (Math.floor(firstS / step) + 1) * step; at < firstS + this.lengthS - step / 4; at += step) {
      const tick = make("time", "", clock(at, 0));
      tick.style.left = `${(100 * (at - firstS)) / this.lengthS}%`;
      ticks.push(tick);
    }
    this.lanes.ticks.replaceChildren(...ticks);
  }

  bar(className, start, end) {
    const bar = make("i", className, []);
    this.lay(bar, start, end);
    return bar;
  }

  lay(bar, start, end) {
    bar.style.left = `${(100 * this.frames.played(start)) / this.lengthS}%`;
    bar.style.width = `${(100 * (this.frames.played(end) - this.frames.played(start))) / this.lengthS}%`;
  }

  /** What others described (spans alone), and what this person did, as {start, end, status}. */
  described(taken, own) {
    this.lanes.taken.replaceChildren(...taken.map(({ start, end }) => this.bar("", start, end)));
    this.lanes.own.replaceChildren(
      ...own.map(({ start, end, status }) => {
        const bar = this.bar("", start, end);
        bar.dataset.status = status;
        return bar;
      }),
    );
  }

  /** The marks {start, end}: frames, or null where there is none. */
  marked(marks) {
    this.marks = marks;
    const { start, end } = marks;
    this.chosen.hidden = start === null && end === null;
    this.chosen.dataset.open = start === null ? "start" : end === null ? "end" : "";
    if (!this.chosen.hidden) this.lay(this.chosen, start ?? end, end ?? start);
    for (const name of EDGES) {
      const handle = this.edges[name];
      handle.hidden = marks[name] === null;
      if (handle.hidden) continue;
      const seconds = this.frames.at(marks[name]);
      handle.style.left = `${(100 * this.frames.played(marks[name])) / this.lengthS}%`;
      handle.setAttribute("aria-valuemin", "0");
      handle.setAttribute("aria-valuemax", String(this.frames.count));
      handle.setAttribute("aria-valuenow", String(marks[name]));
      handle.setAttribute("aria-valuetext", tr("{seconds} seconds", { seconds: seconds.toFixed(2) }));
    }
  }

  /** Where the video stands. */
  stand(frame) {
    this.stands.hidden = false;
    const at = this.frames.played(frame);
    this.stands.style.left = `${(100 * at) / this.lengthS}%`;
    if (this.viewS === this.lengthS || this.dragging) return;
    const before = at - this.fromS;
    if (before < 0.06 * this.viewS || before > 0.94 * this.viewS) this.slide(at - 0.25 * this.viewS);
  }

  slide(fromS) {
    this.fromS = Math.min(Math.max(fromS, 0), this.lengthS - this.viewS);
    this.track.style.transform = `translateX(${(-100 * this.fromS) / this.lengthS}%)`;
  }

  /** The frame under a pointer. */
  frameAt(event) {
    const box = this.track.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return frameNear(this.frames.times, this.frames.times[0] + share * this.lengthS);
  }

  pressed(event) {
    if (!this.frames || event.button !== 0) return;
    const edge = event.target.closest("[data-edge]")?.dataset.edge;
    const reachS = (DRAWN_PX * this.viewS) / Math.max(1, this.strip.clientWidth);
    const moved = (now) => {
      if (edge) this.on.edge(edge, this.frames.drawn(this.frameAt(now), reachS));
      else this.on.seek(this.frameAt(now));
    };
    this.dragging = true;
    this.strip.setPointerCapture(event.pointerId);
    if (!edge) moved(event);
    this.strip.onpointermove = moved;
    this.strip.onpointerup = this.strip.onpointercancel = () => {
      this.dragging = false;
      this.strip.onpointermove = this.strip.onpointerup = this.strip.onpointercancel = null;
    };
  }
}
