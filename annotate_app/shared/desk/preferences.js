// What outlives the page: small wishes of a person, such as sound, and counters.

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser without storage forgets; nothing depends on it.
  }
}

const counters = new Map(); // for a browser without storage: the numbers of this page

/** The next number of a counter that all windows share and that goes on after a reload. */
function nextNumber(name) {
  const number = Math.max(Number(remembered(name)) || 0, counters.get(name) ?? 0) + 1;
  counters.set(name, number);
  remember(name, String(number));
  return number;
}
