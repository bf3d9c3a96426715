// Where on its host the app lies. Joined before the scripts of every component that talks to the server by itself.

/** Return a path of the app, such as "/clips/a.mp4", as the server is asked for it. Pages lie directly below the base. */
function fullPath(path) {
  return location.pathname.replace(/\/[^/]*$/, "") + path;
}
