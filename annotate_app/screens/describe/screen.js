// One video, frame by frame: which frame is on screen, going to one, playing a span in a loop.
//
// The video is a copy whose frames are those of the source, the first at 0; `Frames` has their times in the source. The
// browser says by `requestVideoFrameCallback` which of them it has just painted.

const LOST_MS = 1000; // later than a jump takes to what is here

class Screen {
  /** @param on {frame(frame), playing(boolean), ready(), fell(what)} */
  constructor(video, on) {
    this.video = video;
    this.on = on;
    this.speed = 1;
    this.sound = true;
    this.ended = new AbortController();
    const { signal } = this.ended;
    for (const name of ["play", "pause"]) video.addEventListener(name, () => this.on.playing(!video.paused), { signal });
    video.addEventListener("error", () => this.fell(), { signal });
    video.addEventListener("seeked", () => this.settled(), { signal });
    video.addEventListener("ended", () => this.cameToEnd(), { signal });
    video.addEventListener("waiting", () => this.starved(), { signal });
    this.clear();
  }

  clear() {
    clearTimeout(this.asking);
    clearTimeout(this.hungry);
    this.frames = null;
    this.shown = 0;
    this.aim = null; // the frame that a jump under way leads to
    this.stood = true; // since the last jump: one that plays has moved on when it is painted
    this.missed = null; // a jump that led to another frame than it should: {frame, aim}
    this.loop = null;
    this.watch = null;
    this.video.pause();
    if (this.video.hasAttribute("src")) {
      this.video.removeAttribute("src");
      this.video.load();
    }
  }

  /** Show a video from its first frame, standing. */
  open(url, frames) {
    this.clear();
    this.frames = frames;
    const { video } = this;
    video.muted = !this.sound;
    video.addEventListener("loadeddata", () => this.frames === frames && this.on.ready(), { once: true, signal: this.ended.signal });
    video.src = url;
    this.follow();
  }

  fell() {
    if (this.frames) this.on.fell(this.video.error?.message || tr("the browser cannot play it"));
  }

  /** The picture fell away, as when the server is started anew: fetch it again, and stand or play where it was. */
  reopen(url) {
    const { video, playing, frame } = this;
    this.aim = frame; // marks set meanwhile mean what was on screen
    this.arrivedAt = Infinity;
    video.src = url;
    const goOn = () => {
      this.jump(this.aim ?? frame);
      if (playing) this.play();
    };
    video.addEventListener("loadeddata", goOn, { once: true, signal: this.ended.signal });
    this.follow();
  }

  get playing() {
    return !this.video.paused;
  }

  /** The frame that a mark set now means: the one on screen, or the one that is asked for already. */
  get frame() {
    return this.aim ?? this.shown;
  }

  follow() {
    const watch = (this.watch = Symbol("watch"));
    const { video } = this;
    const seen = (_, { mediaTime, presentationTime }) => {
      if (this.watch !== watch) return;
      this.painted(frameNear(this.frames.times, this.frames.times[0] + mediaTime), presentationTime);
      next();
    };
    const next = () => {
      if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(seen);
      else {
        const options = { once: true, signal: this.ended.signal };
        video.addEventListener("timeupdate", () => seen(0, { mediaTime: video.currentTime - 0.001, presentationTime: performance.now() }), options);
      }
    };
    next();
  }

  /** A frame was painted, at this time. The browser may tell of frames before a jump while it arrives: they count no more. */
  painted(frame, at) {
    if (this.aim !== null && frame !== this.aim && !(at >= this.arrivedAt)) return;
    this.missed = !this.stood || this.aim === null || this.aim === frame ? null : { frame, aim: this.aim };
    this.shown = frame;
    this.aim = null;
    this.on.frame(frame);
    const { loop } = this;
    // The last frame of the loop stays on screen while the browser goes back: none beyond it is meant to be seen.
    if (loop && this.playing && frame >= loop.end - 1) this.jump(loop.start);
  }

  /** A jump has arrived. Where it led to the frame on screen, nothing is painted anew. */
  settled() {
    if (this.video.seeking) return;
    clearTimeout(this.asking);
    if (this.aim !== null) this.arrivedAt = performance.now();
  }

  cameToEnd() {
    if (!this.loop) return;
    this.jump(this.loop.start);
    this.play();
  }

  jump(frame) {
    this.aim = Math.min(Math.max(frame, 0), this.frames.count - 1);
    this.stood = !this.playing;
    this.on.frame(this.aim);
    this.ask(this.aim, LOST_MS);
  }

  /** Have the browser seek. It may lose one of many jumps at once and seek for ever: then it is asked again. */
  ask(frame, patience) {
    const { frames, video } = this;
    this.arrivedAt = Infinity;
    // The middle of the frame: its edge may round to the neighbour.
    const at = (video.currentTime = frames.played(frame) + frames.lasts(frame) / 2);
    const look = () => {
      if (!video.seeking) return;
      if (isHere(video.buffered, at)) this.ask(frame, 2 * patience);
      else this.asking = setTimeout(look, patience); // it waits for the server
    };
    clearTimeout(this.asking);
    this.asking = setTimeout(look, patience);
  }

  /** It plays and waits for more. The browser may wait for ever for what is here: then it is asked for where it is. */
  starved() {
    clearTimeout(this.hungry);
    this.hungry = setTimeout(() => {
      const { video } = this;
      if (!this.playing || video.seeking || video.readyState > video.HAVE_CURRENT_DATA) return;
      const at = video.currentTime;
      if (isHere(video.buffered, at)) video.currentTime = at;
      this.starved();
    }, LOST_MS);
  }

  /** Go to a frame, and leave a loop that it is not in. */
  go(frame) {
    if (this.loop && !(frame >= this.loop.start && frame < this.loop.end)) this.setLoop(null);
    this.jump(frame);
  }

  /** So many frames on, or back, and stand there. */
  step(frames) {
    this.video.pause();
    // Where a damaged video lacks the frame that was asked for, the one before stays on screen: step on from the gap.
    this.go((this.missed?.frame === this.frame ? this.missed.aim : this.frame) + frames);
  }

  /** Play this span {start, end} over and over, from its start; null: play on. */
  setLoop(span) {
    this.loop = span;
    if (!span) return;
    this.jump(span.start);
    this.play();
  }

  play() {
    const { video } = this;
    this.stood = false;
    video.playbackRate = this.speed;
    video.muted = !this.sound;
    video.play().catch((error) => {
      // Sound before the first click or key is refused by browsers: silence is better than a still picture.
      if (error.name !== "NotAllowedError" || video.muted) return;
      video.muted = true;
      video.play().catch(() => {});
    });
  }

  pause() {
    this.video.pause();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.video.playbackRate = speed;
  }

  setSound(sound) {
    this.sound = sound;
    this.video.muted = !sound;
  }

  stop() {
    this.clear();
    this.ended.abort();
  }
}

/** Whether a time of a video has been fetched. */
function isHere(buffered, at) {
  for (let n = 0; n < buffered.length; n += 1) if (buffered.start(n) <= at && at < buffered.end(n)) return true;
  return false;
}
