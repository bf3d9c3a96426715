// What a key press means on any keyboard layout, and whether it may be a command at all. Joined before the scripts of
// every component that has keys.

const DIGIT_KEY = /^(?:Digit|Numpad)([0-9])$/;
const LETTER_KEY = /^Key([A-Z])$/;

/**
 * Return what a key press says: a digit as "0" to "9", a letter in lower case, any other key as `event.key` names it.
 *
 * Where the digit row needs Shift (AZERTY, Czech), it gives digits without Shift. A letter of another script counts as
 * the Latin letter printed on the same key; a Latin letter always counts as itself.
 */
function keyOf({ key = "", code = "", shiftKey = false }) {
  if ([...key].length !== 1) return key;
  if (/\p{Nd}/u.test(key)) return String(digitValue(key));
  const digit = DIGIT_KEY.exec(code);
  if (digit && !shiftKey) return digit[1];
  const letter = LETTER_KEY.exec(code);
  if (letter && /[\p{L}\p{M}]/u.test(key) && !/\p{Script=Latin}/u.test(key)) return letter[1].toLowerCase();
  return key === "\u061f" ? "?" : key.normalize("NFKC").toLowerCase(); // U+061F is the Arabic question mark
}

/** The value of a decimal digit of any script; Unicode lists the ten digits of a script in order. */
function digitValue(digit) {
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0) - before - 1))) before += 1;
  return before % 10;
}

/** Whether an input method is still composing a text with this key press; Safari says so by the number alone. */
function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

/** Whether a key press belongs to somebody else: a shortcut of the browser, a text being written. */
function isForeign(event) {
  const modified = event.ctrlKey || event.metaKey || event.altKey || event.getModifierState?.("AltGraph");
  return modified || isComposing(event) || isTyped(event);
}

/** Whether a key press goes into a text field. */
function isTyped(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  if (target.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable=''], [contenteditable='true']")) return true;
  return target.isContentEditable === true;
}

/** Whether the app around the widget shows a dialog of its own. */
function foreignDialogOpen() {
  return document.querySelector("[role='dialog'], dialog[open]") !== null;
}

/**
 * Keep key presses from the shortcuts of Streamlit's buttons that would take them for another letter.
 *
 * For any key that is no plain letter, Streamlit takes the letter printed on an English keyboard: also for a Latin
 * letter such as ö on a Turkish keyboard, and for what an input method composes.
 */
function guardShortcuts(signal) {
  window.addEventListener("keydown", (event) => {
    const letter = LETTER_KEY.exec(event.code);
    const isMisread = letter && !/^[a-z]$/i.test(event.key) && keyOf(event) !== letter[1].toLowerCase();
    if (isMisread && !isTyped(event)) event.stopImmediatePropagation();
  }, { capture: true, signal });
}
