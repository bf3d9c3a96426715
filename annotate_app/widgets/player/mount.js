// The way in. Streamlit calls the default export whenever the data or the theme change, and calls only the newest
// clean-up, when the element leaves the page. A run that was overtaken while the module loaded is cleaned up late, so
// a clean-up counts only if no newer run of the same root exists.

const players = new WeakMap();

export default function mount({ parentElement, data }) {
  const run = Symbol("run");
  const old = players.get(parentElement);
  if (old && old.person === data.person) {
    old.run = run;
    if (old.data !== data) old.player.sync.send(); // the answer is newer than the data handed over
    old.data = data;
  } else {
    old?.player.stop();
    const player = new Player(parentElement.querySelector("[data-testid='player']"), data);
    players.set(parentElement, { player, run, data, person: data.person });
  }
  return () => {
    const mounted = players.get(parentElement);
    if (mounted?.run !== run) return;
    mounted.player.stop();
    players.delete(parentElement);
  };
}
