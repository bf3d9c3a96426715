// One keymap: which command a key press means. Whether it may mean one at all, `keyboard.js` tells.

const KEYMAP = [
  { keys: ["I"], does: marked("start: the frame on screen is the first of the moment") },
  { keys: ["O"], does: marked("end: the frame on screen is its last; it plays in a loop") },
  { keys: ["S"], does: marked("mark the shot on screen") },
  { keys: [marked("Enter")], does: marked("write the sentence; in the field: save, and on") },
  { keys: [marked("Space")], does: marked("play, pause") },
  { keys: [",", "."], does: marked("one frame back, forward; also \u2190 \u2192") },
  { keys: [marked("Shift"), ",", "."], does: marked("ten frames") },
  { keys: [marked("Shift"), "I", "O"], does: marked("go to the start, to the end") },
  { keys: ["[", "]"], does: marked("shot before, next shot; also Page Up, Page Down") },
  { keys: ["L"], does: marked("loop the moment, with its sound") },
  { keys: ["\u2191", "\u2193"], does: marked("faster, slower") },
  { keys: ["M"], does: marked("sound on, off") },
  { keys: ["U"], does: marked("undo what you saved or withdrew last") },
  { keys: ["N", "P"], does: marked("next video, video before") },
  { keys: [marked("Esc")], does: marked("leave the field, the correction, the marks; close a panel") },
  { keys: ["G"], does: marked("guideline") },
  { keys: ["?"], does: marked("these keys") },
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
function commandOf(event) {
  const { key, code, shiftKey } = event;
  const name = shiftKey && code in WHERE_THEY_ARE ? COMMANDS[WHERE_THEY_ARE[code]] : undefined;
  const found = name ?? COMMANDS[key] ?? COMMANDS[keyOf(event)] ?? COMMANDS[WHERE_THEY_ARE[code]];
  if (!found) return null;
  return shiftKey ? (WITH_SHIFT[found] ?? found) : found;
}

/** Whether the focused control takes this key itself: Space and Enter press buttons, arrows move marks. */
function belongsToControl(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  const presses = event.key === " " || event.key === "Enter";
  if (presses && target.closest("button, a[href], summary, input") !== null) return true;
  return event.key.startsWith("Arrow") && target.closest("[role='slider']") !== null;
}
