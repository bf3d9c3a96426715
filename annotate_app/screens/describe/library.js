// What there is to describe, and the videos themselves: the server makes a copy of each that browsers can play exactly,
// which takes a while for a long one.

const ASK_AGAIN_MS = 1000;
const SHARES_OF_LENGTH = [0.05, 0.4]; // making a copy takes so much of the video's own length: a small one, a large one

/** Where nothing can be shown, in words for a person. */
class Trouble extends Error {
  constructor(message, signedOut = false) {
    super(message);
    this.signedOut = signedOut;
  }
}

/** GET a path of the app until the server answers; rejects with what it says against it. `onWait` learns why it does not yet. */
async function insist(address, options, signal, onWait = () => {}) {
  for (;;) {
    let why = "";
    try {
      const response = await fetch(fullPath(address), { credentials: "same-origin", signal, ...options });
      if (response.ok) return response;
      const { message = "" } = await response.json().catch(() => ({}));
      if (response.status < 500) throw new Trouble(message || tr("the server answered {status}", { status: response.status }), response.status === 401);
      why = message;
    } catch (error) {
      if (error instanceof Trouble || signal.aborted) throw error;
    }
    onWait(why);
    await pause(signal);
  }
}

async function pause(signal) {
  await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  if (signal.aborted) throw new Trouble(tr("nobody waits for it any more"));
}

/** What this person may describe. */
async function fetchWork(signal, onWait) {
  const response = await insist("/describe/work", { cache: "no-store" }, signal, onWait);
  return response.json();
}

/** Have the copy of a video made, where it is not there yet; resolves when it is. */
async function haveCopy(video, signal, onWait = () => {}) {
  while (!video.ready) {
    const response = await insist(`${video.clip.slice(0, video.clip.lastIndexOf("."))}/ready`, {}, signal, onWait);
    video.ready = (await response.json()).ready;
    if (video.ready) return;
    onWait("");
    await pause(signal);
  }
}

/** A video's frames, once it can be played. */
async function framesOf(video, signal, onWait = () => {}) {
  const [times] = await Promise.all([
    insist(video.frames, {}, signal, onWait).then((response) => response.json()),
    haveCopy(video, signal, onWait),
  ]);
  if (times.length === 0) throw new Trouble(tr("no frame of it can be shown"));
  return new Frames(times, video.duration_s, video.shots);
}

/** How long a person still waits, in words. */
function waitingWords({ duration_s }, waitedMs) {
  const [least, most] = SHARES_OF_LENGTH.map((share) => length(Math.ceil(duration_s * share)));
  const waited = Math.round(waitedMs / 1000);
  const usual = tr("A video of {length} usually takes {least} to {most}, once", { length: length(duration_s), least, most });
  return `${usual}. ${waited > 0 ? tr("{length} so far.", { length: length(waited) }) : ""}`;
}

/** The videos there are now, those known before in their order, so that "next" means one thing all day; `here` stays. */
function inOneOrder(before, now, here) {
  const news = new Map(now.map((video) => [video.key, video]));
  if (here && !news.has(here.key)) news.set(here.key, here);
  const kept = before.filter(({ key }) => news.has(key)).map(({ key }) => news.get(key));
  for (const { key } of before) news.delete(key);
  return [...kept, ...news.values()];
}
