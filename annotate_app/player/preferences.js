// Small wishes of a person that outlive the page, such as sound.

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
