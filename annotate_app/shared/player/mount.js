// The way in. Streamlit calls the default export whenever the data or the theme change, and calls only the newest
// clean-up, when the element leaves the page. A run that was overtaken while the module loaded is cleaned up late, so
// a clean-up counts only if no newer run of the same root exists.

const players = new WeakMap();

export default function mount({ parentElement, data }) {
  const run = Symbol("run");
  const old = players.get(parentElement);
  if (old && old.person === data.person) {
    old.run = run;
    if (old.data !== data) old.player.refreshed();
    old.data = data;
  } else {
    old?.player.stop();
    speak(parentElement, data);
    const root = parentElement.querySelector("[data-testid='player']");
    const mounted = { run, data, person: data.person };
    // A lesson gives way to the desk that follows it.
    const follow = (desk) => {
      mounted.player.stop();
      mounted.player = new Player(root, { ...data, desk });
    };
    mounted.player = data.lesson ? new Lesson(root, data, follow) : new Player(root, data);
    players.set(parentElement, mounted);
  }
  return () => {
    const mounted = players.get(parentElement);
    if (mounted?.run !== run) return;
    mounted.player.stop();
    players.delete(parentElement);
  };
}
