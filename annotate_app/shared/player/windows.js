// Several windows of one person: the one that took the desk last is at work, the others stand still until the person
// goes on there. Windows of one browser tell each other at once; whoever uses another browser, or another computer, is
// told by the answer to the next exchange, whichever front end gives it. Grades that a window standing still has not
// sent yet are sent by it all the same.

const STANDING = {
  title: marked("You are also grading in another window"),
  text: marked("This window has stopped, so that you grade no clip twice. Your grades from here are kept and sent."),
};

class Windows {
  /** @param on {stand(): this window has to stand still, taken(): the server is to be told that it took the desk} */
  constructor(person, on) {
    this.on = on;
    this.key = newKey();
    this.name = `reelrank.desk${fullPath("")}.${person}`;
    this.standing = false;
    this.takes = false; // took the desk, and the server does not know it yet
    this.turn = 0;
    if (typeof BroadcastChannel !== "undefined") {
      this.channel = new BroadcastChannel(this.name);
      this.channel.onmessage = ({ data }) => data.turn > this.turn && this.stand();
    }
    this.seen = () => !document.hidden && this.turn === 0 && this.claim();
    document.addEventListener("visibilitychange", this.seen); // a tab opened in the background claims nothing yet
    this.seen();
  }

  /** This is the window at work now. */
  claim() {
    this.standing = false;
    this.takes = true;
    this.turn = nextNumber(`${this.name}.turn`);
    this.channel?.postMessage({ turn: this.turn });
    this.on.taken();
  }

  /** The server answered an exchange that took the desk, or not; another window has the desk, or not. */
  answered(took, elsewhere) {
    if (took) this.takes = false;
    else if (elsewhere && !this.takes) this.stand(); // it does not know of a claim made since
  }

  stand() {
    if (this.standing) return;
    this.standing = true;
    this.takes = false;
    this.on.stand();
  }

  stop() {
    this.channel?.close();
    document.removeEventListener("visibilitychange", this.seen);
  }
}
