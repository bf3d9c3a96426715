// The storyboard of a whole video: a frame of each of its parts, one picture from the server. A press on one goes to
// where that part begins; the one that is playing is marked.

const PARTS = 8; // as many frames as the server draws
const EDGE_S = 0.1; // the frame on which a part begins starts a little before it

class Storyboard {
  /**
   * @param board the element that holds the frames
   * @param seek goes to a share (0 to 1) of the clip
   */
  constructor(board, seek) {
    this.board = board;
    this.seek = seek;
    this.pair = null;
    this.times = [];
    this.parts = Array.from({ length: PARTS }, (_, part) => {
      this.times[part] = make("time", "", "");
      const button = make("button", "part", this.times[part]);
      button.type = "button";
      button.dataset.do = "part";
      button.dataset.part = part;
      button.style.backgroundPosition = `${(100 * part) / (PARTS - 1)}% 0`;
      return button;
    });
    board.replaceChildren(...this.parts);
  }

  /** The storyboard of this item, whose place is kept while it comes; none where the clip is no whole video. */
  async show(item) {
    const pair = item?.whole ? item.pair : null;
    if (pair === this.pair) return;
    this.pair = pair;
    this.mark(-1);
    this.board.hidden = pair === null;
    for (const part of this.parts) part.style.backgroundImage = "";
    if (pair === null) return;
    this.parts.forEach((part, index) => {
      const at = clockOf((item.duration_s * index) / PARTS);
      put(this.times[index], at);
      part.setAttribute("aria-label", tr("Go to {at}", { at }));
    });
    const picture = await pictureAt(boardUrl(pair));
    if (this.pair !== pair) return;
    if (picture) for (const part of this.parts) part.style.backgroundImage = `url("${picture.src}")`;
    else this.board.hidden = true; // the clip itself tells what is wrong with the video
  }

  /** Have the browser fetch the next one, which it then keeps. */
  prepare(item) {
    if (item?.whole) pictureAt(boardUrl(item.pair));
  }

  go(part) {
    this.seek(part / PARTS);
  }

  /** Mark the part that is on the screen. */
  time(seconds, duration) {
    if (this.pair === null || !(duration > 0)) return;
    this.mark(Math.min(PARTS - 1, Math.floor((PARTS * (seconds + EDGE_S)) / duration)));
  }

  mark(now) {
    if (now === this.now) return;
    this.parts[this.now]?.removeAttribute("aria-current");
    this.parts[now]?.setAttribute("aria-current", "true");
    this.now = now;
  }
}

/** The picture once it is here; null if it cannot be had. */
async function pictureAt(url) {
  const picture = new Image();
  picture.src = url;
  return picture.decode().then(() => picture, () => null);
}

/** `1:05` */
function clockOf(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function boardUrl(pair) {
  return fullPath(`/clips/${encodeURIComponent(pair)}.webp`);
}
