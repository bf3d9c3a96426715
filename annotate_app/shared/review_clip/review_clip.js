// Plays a clip by URL while it is in view. Ten of them may be on a page: only what is seen is loaded.
const running = new WeakMap();

export default function ({ parentElement, data }) {
  speak(parentElement, data);
  const video = parentElement.querySelector("video");
  const status = parentElement.querySelector("p");
  const before = running.get(video);
  if (before && before.src === data.src) return before.stop;
  if (before) before.stop();

  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  video.muted = true;
  video.setAttribute("aria-label", data.label);
  video.src = data.src;
  status.textContent = "";

  const failed = async () => {
    // The video element hides the reason; the route tells it.
    let message = tr("This clip cannot be shown now. Reload the page.");
    try {
      const answer = await fetch(data.src, { headers: { Range: "bytes=0-0" } });
      if (!answer.ok) message = (await answer.json()).message || message;
    } catch { /* no network: the general sentence stands */ }
    status.textContent = message;
  };
  const seen = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) video.pause();
    else if (!calm) video.play().catch(() => {});
    else if (video.preload === "none") video.preload = "metadata";
  }, { threshold: 0.25 });

  const save = parentElement.querySelector("button");
  save.hidden = !data.gif;
  save.textContent = tr("Save as GIF");
  save.onclick = () => saveGif(save, status, data.gif);

  video.addEventListener("error", failed);
  seen.observe(video);
  const stop = () => {
    seen.disconnect();
    video.removeEventListener("error", failed);
    video.pause();
    running.delete(video);
  };
  running.set(video, { src: data.src, stop });
  return stop;
}

/** Have the GIF made, which takes a second or two, and save it under its name. */
async function saveGif(button, status, { src, name }) {
  button.disabled = true;
  button.textContent = tr("Making the GIF…");
  status.textContent = "";
  try {
    const answer = await fetch(src);
    if (answer.ok) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    } else status.textContent = (await answer.json()).message || tr("The GIF could not be made. Try again.");
  } catch {
    status.textContent = tr("The GIF could not be made: the server does not answer.");
  }
  button.textContent = tr("Save as GIF");
  button.disabled = false;
}
