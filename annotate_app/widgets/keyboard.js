// Whether a key press may be a command of ours at all. Joined before the scripts of every widget that obeys keys.

/** Whether a key press belongs to somebody else: a shortcut of the browser, a text being written. */
function isForeign(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.keyCode === 229) return true;
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  if (target.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable=''], [contenteditable='true']")) return true;
  return target.isContentEditable === true;
}

/** The letter of a key press; on layouts with other alphabets the letter printed on the key. */
function letterOf({ key, code }) {
  return key.length === 1 && /[^\x00-\x7f]/.test(key) ? /^Key([A-Z])$/.exec(code ?? "")?.[1] : key;
}

/** Whether the app around the widget shows a dialog of its own. */
function foreignDialogOpen() {
  return document.querySelector("[role='dialog'], dialog[open]") !== null;
}
