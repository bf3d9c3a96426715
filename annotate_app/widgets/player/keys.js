// One keymap. Which command a key press means, and whether it may mean one at all.

const KEYMAP = [
  { keys: ["S"], does: "skip: not for you, cannot be judged, or broken" },
  { keys: ["U"], does: "undo: back to the clip before" },
  { keys: ["Esc"], does: "leave the correction, close a panel" },
  { keys: ["Space"], does: "pause, play" },
  { keys: ["\u2190", "\u2192"], does: "one frame back, forward" },
  { keys: ["\u2191", "\u2193"], does: "faster, slower" },
  { keys: ["M"], does: "sound on, off" },
  { keys: ["X"], does: "context: the seconds around the moment, once" },
  { keys: ["G"], does: "guideline" },
  { keys: ["?"], does: "these keys" },
];

const COMMANDS = {
  s: "skip",
  u: "undo",
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
function commandOf({ key, code, shiftKey }) {
  if (/^[0-9]$/.test(key)) return { name: "grade", grade: Number(key) };
  // Where digits need Shift (AZERTY), the digit row grades without it; Shift there would give the digit itself.
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(code ?? "");
  if (digit && !shiftKey && key.length === 1) return { name: "grade", grade: Number(digit[1]) };
  if (Object.hasOwn(COMMANDS, key)) return { name: COMMANDS[key] };
  // Layouts with other alphabets: the letter printed on the key.
  const letter = key.length === 1 && /[^\x00-\x7f]/.test(key) ? /^Key([A-Z])$/.exec(code ?? "")?.[1] : key;
  const name = COMMANDS[letter?.toLowerCase()];
  return name ? { name } : null;
}

/** Whether a key press belongs to somebody else: a shortcut of the browser, a text being written. */
function isForeign(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.keyCode === 229) return true;
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  if (target.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable=''], [contenteditable='true']")) return true;
  return target.isContentEditable === true;
}

/** Whether the focused control takes this key itself (Space and Enter press a button). */
function belongsToControl(event) {
  const target = event.composedPath()[0];
  const presses = event.key === " " || event.key === "Enter";
  return presses && target instanceof Element && target.closest("button, a[href], summary, input") !== null;
}

/** Whether the app around the player shows a dialog of its own. */
function foreignDialogOpen() {
  return document.querySelector("[role='dialog'], dialog[open]") !== null;
}
