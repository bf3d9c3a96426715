// A bar that says when the server does not answer: what a lead presses then is lost, which nothing else shows.
const PATIENCE_MS = 1500; // a page that only reconnects says nothing

export default function ({ parentElement, data }) {
  const bar = parentElement.querySelector(".rr-offline");
  const app = document.querySelector('[data-testid="stApp"]');
  let timer = 0;
  const show = (text) => {
    bar.textContent = text;
    bar.hidden = !text;
  };
  const look = () => {
    const away = !navigator.onLine || app?.dataset.testConnectionState !== "CONNECTED";
    if (away && !timer) timer = setTimeout(() => show(data.text), PATIENCE_MS);
    if (away) return;
    clearTimeout(timer);
    timer = 0;
    show("");
  };
  const ended = new AbortController();
  const observer = new MutationObserver(look);
  if (app) observer.observe(app, { attributes: true, attributeFilter: ["data-test-connection-state"] });
  for (const kind of ["online", "offline"]) addEventListener(kind, look, { signal: ended.signal });
  const unwatch = watchOutageDialog(look);
  look();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    ended.abort();
    unwatch();
  };
}
