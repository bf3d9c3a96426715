// One keymap: which command a key press means. Whether it may mean one at all, `keyboard.js` tells.

const KEYMAP = [
  { keys: ["I"], does: "start: the frame on screen is the first of the moment" },
  { keys: ["O"], does: "end: the frame on screen is its last; it plays in a loop" },
  { keys: ["S"], does: "mark the shot on screen" },
  { keys: ["Enter"], does: "write the sentence; in the field: save, and on" },
  { keys: ["Space"], does: "play, pause" },
  { keys: [",", "."], does: "one frame back, forward; also \u2190 \u2192" },
  { keys: ["Shift", ",", "."], does: "ten frames" },
  { keys: ["Shift", "I", "O"], does: "go to the start, to the end" },
  { keys: ["[", "]"], does: "shot before, next shot; also Page Up, Page Down" },
  { keys: ["L"], does: "loop the moment, with its sound" },
  { keys: ["\u2191", "\u2193"], does: "faster, slower" },
  { keys: ["M"], does: "sound on, off" },
  { keys: ["U"], does: "undo what you saved or withdrew last" },
  { keys: ["N", "P"], does: "next video, video before" },
  { keys: ["Esc"], does: "leave the field, the correction, the marks; close a panel" },
  { keys: ["G"], does: "guideline" },
  { keys: ["?"], does: "these keys" },
];

const COMMANDS = {
  i: "start",
  o: "end",
  s: "shot",
  l: "loop",
  m: "sound",
  u: "undo",
  n: "video-next",
  p: "video-before",
  g: "guideline",
  "?": "keys",
  " ": "pause",
  ",": "frame-back",
  ".": "frame-forward",
  "[": "shot-before",
  "]": "shot-next",
  Enter: "write",
  Escape: "escape",
  ArrowLeft: "frame-back",
  ArrowRight: "frame-forward",
  ArrowUp: "faster",
  ArrowDown: "slower",
  PageUp: "shot-before",
  PageDown: "shot-next",
};
const WITH_SHIFT = {
  start: "go-start",
  end: "go-end",
  "frame-back": "ten-back",
  "frame-forward": "ten-forward",
};
const HELD = ["frame-back", "frame-forward", "ten-back", "ten-forward"]; // these go on while the key is held
const WHERE_THEY_ARE = { Comma: ",", Period: ".", BracketLeft: "[", BracketRight: "]" }; // on other layouts

/** The command of a key press, or null. */
function commandOf({ key, code, shiftKey }) {
  const letter = letterOf({ key, code });
  const name = shiftKey && code in WHERE_THEY_ARE ? COMMANDS[WHERE_THEY_ARE[code]] : undefined;
  const found = name ?? COMMANDS[key] ?? COMMANDS[letter?.toLowerCase()] ?? COMMANDS[WHERE_THEY_ARE[code]];
  if (!found) return null;
  return shiftKey && key !== "?" ? (WITH_SHIFT[found] ?? found) : found;
}

/** Whether the focused control takes this key itself: Space and Enter press buttons, arrows move marks. */
function belongsToControl(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  const presses = event.key === " " || event.key === "Enter";
  if (presses && target.closest("button, a[href], summary, input") !== null) return true;
  return event.key.startsWith("Arrow") && target.closest("[role='slider']") !== null;
}
