// The context of a moment: the seconds around it, fetched when somebody asks, shown once in a video of its own, then
// the moment again. Everything that is not the moment is marked as such, frame by frame. Both stacked videos keep
// what they hold, so a grade given meanwhile brings the next clip as fast as ever.

const CONTEXT_PATIENCE_MS = 20000;
// Where the moment begins and ends in the clip is known to the frame; times in the file are rounded, and its sound may
// end a little after its pictures. In doubt a frame is called context.
const ROUNDED_S = 0.01;
const SOUND_OVERHANG_S = 0.025;

class Context {
  /**
   * @param stage the clips, whose moment waits meanwhile
   * @param video where the context is shown
   * @param on {part(part), looked(pair), trouble(text)}; part is "off", "asked", "before", "moment" or "after"
   */
  constructor(stage, video, on) {
    this.stage = stage;
    this.video = video;
    this.on = on;
    this.part = "off";
    video.addEventListener("ended", () => this.back());
  }

  get open() {
    return this.part !== "off";
  }

  /** Show the context of this pair; the same again returns to the moment at once. */
  toggle(pair) {
    if (this.open) this.back();
    else this.show(pair);
  }

  async show(pair) {
    const ask = (this.ask = new AbortController());
    this.mark("asked");
    try {
      const { before, after } = await this.load(pair, ask.signal);
      if (this.ask !== ask) return;
      this.mark(before > 0 ? "before" : "moment"); // before the picture is there, never after it
      this.stage.lend(this.video, (time, duration) => {
        const ends = after > 0 ? duration - after - SOUND_OVERHANG_S : Infinity;
        if (time < before - ROUNDED_S) this.mark("before");
        else this.mark(time < ends ? "moment" : "after");
      });
      this.on.looked(pair);
    } catch (error) {
      if (this.ask !== ask) return;
      this.leave();
      this.on.trouble(tr("The context cannot be shown: {message}. The moment goes on.", { message: error.message }));
    }
  }

  /** Resolves, once the first frame is ready, to the seconds before and after the moment; rejects with the reason. */
  async load(pair, signal) {
    const response = await fetch(`${this.stage.url(pair)}?context=1`, {
      credentials: "same-origin",
      signal: AbortSignal.any([signal, AbortSignal.timeout(CONTEXT_PATIENCE_MS)]),
    }).catch(() => {
      throw new Error(tr("it did not arrive"));
    });
    if (!response.ok) {
      const { message } = await response.json().catch(() => ({}));
      throw new Error(message || tr("the server answered {status}", { status: response.status }));
    }
    const [before, after] = ["Before", "After"].map((side) => Number(response.headers.get(`X-ReelRank-${side}`) ?? NaN));
    if (!(before >= 0 && after >= 0)) throw new Error(tr("the server does not tell where the moment lies in it"));
    const blob = await response.blob();
    if (signal.aborted) return {};
    const { video } = this;
    this.url = URL.createObjectURL(blob);
    await new Promise((ready, broken) => {
      video.addEventListener("loadeddata", ready, { once: true, signal });
      video.addEventListener("error", () => broken(new Error("the browser cannot play it")), { once: true, signal });
      signal.addEventListener("abort", ready);
      video.src = this.url;
    });
    if (before > 0 || after > 0) this.spans = [before / video.duration, after / video.duration];
    else if (!signal.aborted) throw new Error(tr("the moment is all there is of this video"));
    return { before, after };
  }

  /** Return to the moment's loop. */
  back() {
    this.leave();
    this.stage.takeBack();
  }

  /** Drop the context without a word; what is on show next is somebody else's affair. */
  leave() {
    if (!this.open) return;
    this.ask.abort();
    this.ask = null;
    this.mark("off");
    this.stage.guest = null;
    this.video.pause();
    this.video.removeAttribute("src");
    this.video.load();
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
  }

  mark(part) {
    if (part === this.part) return;
    this.part = part;
    this.on.part(part, this.spans ?? [0, 0]);
  }
}
