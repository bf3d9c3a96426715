// The way in. Streamlit calls the default export whenever the data or the theme change, and calls only the newest
// clean-up, when the element leaves the page; a clean-up counts only if no newer run of the same root exists.

const mounted = new WeakMap();

export default function mount({ parentElement, data }) {
  const run = Symbol("run");
  const old = mounted.get(parentElement);
  if (old && old.person === data.person) {
    old.run = run;
  } else {
    old?.desk.stop();
    speak(parentElement, data);
    const root = parentElement.querySelector("[data-testid='describe']");
    mounted.set(parentElement, { run, person: data.person, desk: new Describe(root, data.person) });
  }
  return () => {
    const now = mounted.get(parentElement);
    if (now?.run !== run) return;
    now.desk.stop();
    mounted.delete(parentElement);
  };
}
