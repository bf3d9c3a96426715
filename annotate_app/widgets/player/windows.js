// Two windows of one person in one browser: the one opened last is at work, the other stands still until the person
// goes on there. Grades that a window standing still has not sent yet are sent by it all the same.

const STANDING = {
  title: "You are also grading in another window",
  text: "This one stands still, so that no clip is graded twice. What you gave here is kept and sent.",
};

class Windows {
  /** @param stand called when this window has to stand still */
  constructor(person, stand) {
    this.name = `reelrank.desk.${person}`;
    this.standing = false;
    this.turn = 0;
    if (typeof BroadcastChannel === "undefined") return;
    this.channel = new BroadcastChannel(this.name);
    this.channel.onmessage = ({ data }) => {
      if (this.standing || !(data.turn > this.turn)) return;
      this.standing = true;
      stand();
    };
    this.seen = () => !document.hidden && this.turn === 0 && this.claim();
    document.addEventListener("visibilitychange", this.seen); // a tab opened in the background claims nothing yet
    this.seen();
  }

  /** This is the window at work now. */
  claim() {
    this.standing = false;
    this.turn = nextNumber(`${this.name}.turn`);
    this.channel?.postMessage({ turn: this.turn });
  }

  stop() {
    this.channel?.close();
    document.removeEventListener("visibilitychange", this.seen);
  }
}
