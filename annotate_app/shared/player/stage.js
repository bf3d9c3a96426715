// Two stacked videos: one on show, one already holding the next clip, and the clips after that in memory.

const AHEAD = 4; // clips kept in memory beyond the two videos; cutting one may take the server half a second
const RETRIES = 2;
const LATER = [429, 507]; // too many requests, or the disk is full: nothing is wrong with the clip, ask again later
const CLIP_WAIT_MS = 8000;
const FRAME_S = 1 / 25; // until the clip's own frame duration was measured

class Stage {
  /**
   * @param videos the two video elements
   * @param third a video that may be lent the stage for a while, such as the context
   * @param on {firstFrame(now), time(seconds, duration), playing(boolean), broken(pair, what), later(what), serverWell()}
   *   later tells why a clip has to wait, and with an empty text that it waits no more;
   *   serverWell resolves to whether the server answers, so that an outage is never blamed on a clip
   * @param where the address that clips lie under
   */
  constructor(videos, third, on, where = "/clips/") {
    this.videos = videos;
    this.where = where;
    this.on = on;
    this.active = videos[0];
    this.pairs = new Map(videos.map((video) => [video, null]));
    this.blobs = new Map();
    this.failures = new Map();
    this.stranded = new Set(); // pairs whose clip failed while the server did not answer
    this.waits = new Map(); // pairs whose clip the server cannot cut just now, with how long they waited last
    this.timers = new Set();
    this.speed = 1;
    this.sound = false;
    this.guest = null;
    this.unseen = true;
    this.ended = new AbortController();
    for (const video of videos) {
      video.addEventListener("error", () => this.failed(video), { signal: this.ended.signal });
    }
    for (const video of [...videos, third]) {
      for (const name of ["play", "pause"]) {
        video.addEventListener(name, () => video === this.shown && this.on.playing(!video.paused), {
          signal: this.ended.signal,
        });
      }
    }
  }

  /** The video a person sees, and whose time, speed and sound their keys change. */
  get shown() {
    return this.guest ?? this.active;
  }

  get standby() {
    return this.videos.find((video) => video !== this.active);
  }

  /** Put this pair's clip on show, from its start; at once where the standby video holds it already. */
  show(pair) {
    if (this.pairs.get(this.active) === pair) return;
    const video = this.standby;
    if (this.pairs.get(video) !== pair) this.load(video, pair);
    const before = this.active;
    this.active = video;
    video.dataset.active = "true";
    before.dataset.active = "false";
    before.pause();
    this.unseen = true;
    this.play();
    this.watchFrames(video);
  }

  /** Let another video have the stage; `seen(seconds, duration)` learns of each of its frames. */
  lend(video, seen) {
    this.guest = video;
    this.active.pause();
    this.play();
    this.watchFrames(video, seen);
  }

  /** The clip's own loop again, from its start. */
  takeBack() {
    this.guest = null;
    if (this.pairs.get(this.active) === null) return;
    this.active.currentTime = 0;
    this.play();
    this.watchFrames(this.active);
  }

  /** Nothing to show. */
  clear() {
    for (const video of this.videos) this.load(video, null);
  }

  /** Have the following clips ready: the first in the standby video, the others in memory, one download at a time. */
  async prepare(pairs, keep) {
    const wanted = new Set([...this.pairs.values(), ...pairs.slice(0, AHEAD + 1), keep]);
    for (const [pair, url] of this.blobs) {
      if (wanted.has(pair)) continue;
      URL.revokeObjectURL(url);
      this.blobs.delete(pair);
    }
    if (pairs.length > 0 && this.pairs.get(this.standby) !== pairs[0]) this.load(this.standby, pairs[0]);
    this.ahead = pairs.slice(1, AHEAD + 1);
    if (this.fetching) return;
    this.fetching = true;
    for (;;) {
      const pair = this.ahead.find((candidate) => !this.blobs.has(candidate) && !this.failures.has(candidate));
      if (pair === undefined || this.ended.signal.aborted) break;
      const { blob } = await this.download(pair);
      if (!blob) break; // whatever is wrong shows when its turn comes
    }
    this.fetching = false;
  }

  load(video, pair) {
    this.pairs.set(video, pair);
    video.pause();
    if (pair === null) {
      video.removeAttribute("src");
      video.load();
      return;
    }
    video.muted = true;
    video.src = this.blobs.get(pair) ?? this.url(pair);
  }

  /** Fetch a clip into memory: {blob: url} or {what: why not, inWords, later: whether it is worth asking again}. */
  async download(pair) {
    const asked = { credentials: "same-origin", signal: this.ended.signal };
    try {
      let response = await fetch(this.url(pair), asked).catch(() => null);
      // It may have been sent to a bucket that this browser cannot reach, or that does not have it any more.
      if (!response || (!response.ok && response.redirected)) response = await fetch(`${this.url(pair)}?here=1`, asked);
      if (response.ok) {
        const url = URL.createObjectURL(await response.blob());
        this.blobs.set(pair, url);
        return { blob: url };
      }
      const { message } = await response.json().catch(() => ({}));
      return { what: message ?? tr("the server answered {status}", { status: response.status }), later: LATER.includes(response.status) };
    } catch {
      return { what: tr("the clip did not arrive") };
    }
  }

  failed(video) {
    const pair = this.pairs.get(video);
    if (pair !== null && video.getAttribute("src")) this.retry(pair, video.error?.message || tr("the browser cannot play it"));
  }

  /** Try a clip again, twice, then give it up; attempts made while the server is away do not count. */
  async retry(pair, what) {
    if (!(await this.on.serverWell())) {
      this.stranded.add(pair);
      return;
    }
    const failures = (this.failures.get(pair) ?? 0) + 1;
    this.failures.set(pair, failures);
    if (failures > RETRIES) {
      this.on.broken(pair, what);
      return;
    }
    this.reloadIn(200 * failures, pair);
  }

  reloadIn(ms, pair) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.reload(pair);
    }, ms);
    this.timers.add(timer);
  }

  async reload(pair) {
    const { blob, what, later } = await this.download(pair);
    if (this.waits.has(pair) && !later && this.waits.delete(pair) && this.waits.size === 0) this.on.later("");
    const video = this.videos.find((candidate) => this.pairs.get(candidate) === pair);
    if (!video) {
      this.waits.delete(pair);
      return;
    }
    if (later) {
      const wait = Math.min(CLIP_WAIT_MS, 2 * (this.waits.get(pair) ?? 250));
      this.waits.set(pair, wait);
      if (video === this.active) this.on.later(what);
      this.reloadIn(wait, pair);
      return;
    }
    if (!blob) {
      this.retry(pair, what);
      return;
    }
    video.src = blob;
    if (video === this.active) this.unseen = true;
    if (video === this.shown) {
      this.play();
      this.watchFrames(video);
    }
  }

  /** The server is back: fetch what it could not give. */
  recover() {
    const pairs = [...this.stranded];
    this.stranded.clear();
    for (const pair of pairs) this.reload(pair);
  }

  /** Tell of the first painted frame, then keep the time bar and the frame duration up to date. */
  watchFrames(video, alsoSeen = () => {}) {
    const watch = (this.watch = Symbol("watch"));
    let last = null;
    this.frameS = FRAME_S;
    let shortest = Infinity; // at double speed some frames are skipped, so the shortest step is one frame
    const seen = (now, { mediaTime }) => {
      if (this.watch !== watch) return;
      alsoSeen(mediaTime, video.duration);
      if (this.unseen && video === this.active) {
        this.unseen = false;
        this.on.firstFrame(now);
      }
      const step = mediaTime - (last ?? mediaTime);
      if (!video.paused && step > 0.005) this.frameS = shortest = Math.min(shortest, step);
      last = mediaTime;
      this.frameTime = mediaTime;
      this.on.time(mediaTime, video.duration);
      next();
    };
    const next = () => {
      if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(seen);
      else {
        const options = { once: true, signal: this.ended.signal };
        video.addEventListener("timeupdate", () => seen(performance.now(), { mediaTime: video.currentTime }), options);
      }
    };
    next();
  }

  play() {
    const video = this.shown;
    video.playbackRate = this.speed;
    video.muted = !this.sound;
    video.play().catch((error) => {
      // Sound before the first click or key is refused by browsers: silence is better than a still picture.
      if (error.name !== "NotAllowedError" || video.muted) return;
      video.muted = true;
      video.play().catch(() => {});
    });
  }

  togglePlay() {
    if (this.shown.paused) this.play();
    else this.shown.pause();
  }

  /** One frame back (-1) or forward (1). Aims at the middle of the frame: its edge may round to the neighbour. */
  step(direction) {
    const video = this.shown;
    if (!(video.duration > 0)) return;
    video.pause();
    const frame = this.frameTime ?? video.currentTime;
    const target = frame + (direction + 0.5) * this.frameS;
    video.currentTime = Math.min(Math.max(target, 0), video.duration - this.frameS / 2);
    this.frameTime = frame + direction * this.frameS; // until the frame itself says, for quick presses
  }

  setSpeed(speed) {
    this.speed = speed;
    this.shown.playbackRate = speed;
  }

  setSound(sound) {
    this.sound = sound;
    this.shown.muted = !sound;
  }

  /** Jump to a share (0 to 1) of the clip. */
  seek(share) {
    if (this.shown.duration > 0) this.shown.currentTime = share * this.shown.duration;
  }

  url(pair) {
    return fullPath(`${this.where}${encodeURIComponent(pair)}.mp4`);
  }

  stop() {
    this.ended.abort();
    this.watch = null;
    for (const timer of this.timers) clearTimeout(timer);
    for (const video of this.videos) this.load(video, null);
    for (const url of this.blobs.values()) URL.revokeObjectURL(url);
  }
}
