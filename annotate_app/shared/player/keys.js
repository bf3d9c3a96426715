// One keymap: which command a key press means. Whether it may mean one at all, `keyboard.js` tells.

const KEYMAP = [
  { keys: ["S"], does: marked("skip: not for you, cannot be judged, or broken") },
  { keys: ["N"], does: marked("note for the lead annotator, which goes with the grade") },
  { keys: ["U"], does: marked("undo: back to the clip before") },
  { keys: ["L"], does: marked("your last grades, to change one") },
  { keys: [marked("Esc")], does: marked("leave the correction, close a panel") },
  { keys: [marked("Space")], does: marked("pause, play") },
  { keys: ["\u2190", "\u2192"], does: marked("one frame back, forward") },
  { keys: ["\u2191", "\u2193"], does: marked("faster, slower") },
  { keys: ["M"], does: marked("sound on, off") },
  { keys: ["X"], does: marked("context: the seconds around the moment, once") },
  { keys: ["G"], does: marked("guideline") },
  { keys: ["?"], does: marked("these keys") },
];

const COMMANDS = {
  s: "skip",
  n: "note",
  u: "undo",
  l: "recent",
  m: "sound",
  g: "guideline",
  x: "context",
  "?": "keys",
  " ": "pause",
  Escape: "escape",
  Enter: "exam",
  ArrowLeft: "frame-back",
  ArrowRight: "frame-forward",
  ArrowUp: "faster",
  ArrowDown: "slower",
};

/** The command of a key press, e.g. {name: "grade", grade: 3}, or null. Which digits are grades is the scale's matter. */
function commandOf(event) {
  const key = keyOf(event);
  if (/^[0-9]$/.test(key)) return { name: "grade", grade: Number(key) };
  return Object.hasOwn(COMMANDS, key) ? { name: COMMANDS[key] } : null;
}

/** Whether the focused control takes this key itself (Space and Enter press a button). */
function belongsToControl(event) {
  const target = event.composedPath()[0];
  const presses = event.key === " " || event.key === "Enter";
  return presses && target instanceof Element && target.closest("button, a[href], summary, input") !== null;
}
