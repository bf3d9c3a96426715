// TVR-Ranking's Figure 7: truth moments and the predictions of one or two runs side by side, matched ones linked.
// Everything that comes from files is written as text, never as markup.

// Dark enough for white letters, and told apart by colour-blind readers; the number beside them says the same.
const TINTS = ["#0072b2", "#b84a00", "#00734f", "#a2427e", "#8a6100", "#1f6f9f", "#5b5b5b", "#7a3b2e"];
const mounted = new WeakMap();

const made = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
// Two runs are called A and B: their names may be long, and every moment of the truth speaks of both.
const letter = (data, n) => (data.runs.length > 1 ? "AB"[n] : "");
// What stands on a card, its colour and its bar are the back end's; here it is only laid out.
const tint = (color) => TINTS[color];

export default function ({ parentElement, data }) {
  speak(parentElement, data);
  const host = parentElement.querySelector(".case");
  const text = JSON.stringify(data);
  const before = mounted.get(host);
  if (before && before.text === text) return before.stop;
  if (before) before.stop();
  host.replaceChildren();
  host.style.setProperty("--columns", data.runs.length + 1);

  const seen = watcher();

  // With two runs the truth stands between them, so that no line crosses a card.
  const [first, second] = data.runs.map((run, n) => runColumn(run, letter(data, n), data, seen));
  const truth = truthColumn(data, seen);
  host.append(...(second ? [first, truth, second] : [truth, first]));
  const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  lines.setAttribute("aria-hidden", "true");
  host.append(lines);

  const draw = () => drawLines(host, lines);
  const resized = new ResizeObserver(draw);
  resized.observe(host);
  const choose = (event) => mark(host, event.target.closest ? event.target.closest(".card[data-number]") : null);
  const release = () => mark(host, null);
  host.addEventListener("pointerover", choose);
  host.addEventListener("pointerleave", release);
  host.addEventListener("focusin", choose);
  host.addEventListener("focusout", release);

  const stop = () => {
    resized.disconnect();
    seen.disconnect();
    host.removeEventListener("pointerover", choose);
    host.removeEventListener("pointerleave", release);
    host.removeEventListener("focusin", choose);
    host.removeEventListener("focusout", release);
    mounted.delete(host);
  };
  mounted.set(host, { text, stop });
  return stop;
}

function truthColumn(data, seen) {
  const { section, list } = column("truth", tr("Ground truth"), data.counted);
  data.moments.forEach((moment, at) => {
    const card = cardOf(moment, `T${moment.number}`, seen);
    card.dataset.number = moment.number;
    const line = card.querySelector(".line");
    line.append(made("span", `tag r${moment.relevance}`, tr("relevance {relevance}", { relevance: moment.relevance })));
    if (moment.color !== null) card.style.setProperty("--tint", tint(moment.color));
    data.runs.forEach((run, n) => {
      const whose = letter(data, n) && `${letter(data, n)}: `;
      if (run.told[at] !== null) say(card, `${whose}${run.told[at]}`);
    });
    list.append(card);
  });
  return section;
}

function runColumn(run, called, data, seen) {
  const { section, list } = column("run", called ? `${called}: ${run.name}` : run.name, run.counted);
  if (!run.predictions.length) list.append(made("li", "none", tr("This run has no predictions for this query.")));
  for (const prediction of run.predictions) {
    const card = cardOf(prediction, `#${prediction.rank}`, seen);
    const line = card.querySelector(".line");
    if (prediction.takes !== null) {
      card.dataset.number = prediction.takes;
      card.style.setProperty("--tint", tint(prediction.color));
      line.append(made("span", "tag linked", tr("takes T{number}", { number: prediction.takes })));
      line.append(made("span", `tag r${prediction.relevance}`, tr("relevance {relevance}", { relevance: prediction.relevance })));
    }
    say(card, `${prediction.sign} ${prediction.text}`);
    for (const outline of prediction.outlines) card.querySelector(".bar").append(stretch(outline, "outline"));
    list.append(card);
  }
  return section;
}

function column(kind, title, note) {
  const section = made("section", kind);
  const head = made("h3", "", title);
  if (note) head.append(made("small", "", note));
  const list = made("ol");
  section.append(head, list);
  return { section, list };
}

function cardOf(moment, name, seen) {
  const card = made("li", "card");
  card.tabIndex = 0;
  const where = `${moment.bar.video}, ${moment.bar.times}`;
  const picture = made("div", "picture");
  const status = made("p");
  if (moment.src) {
    const video = made("video");
    Object.assign(video, { muted: true, loop: true, playsInline: true, preload: "none" });
    video.setAttribute("aria-label", `${name}: ${where}`);
    video.dataset.src = moment.src;
    status.textContent = tr("Being cut…"); // the first time a clip is asked for
    video.addEventListener("loadeddata", () => { status.textContent = ""; });
    video.addEventListener("error", () => explain(video, status));
    // One clip moves at a time: a page of twenty moving pictures cannot be looked at.
    const play = () => { if (video.src) video.play().catch(() => {}); };
    card.addEventListener("pointerenter", play);
    card.addEventListener("focusin", play);
    card.addEventListener("pointerleave", () => video.pause());
    card.addEventListener("focusout", () => video.pause());
    seen.observe(video);
    picture.append(video);
  } else {
    status.textContent = tr("This project has no file of that video.");
  }
  picture.append(status);
  const words = made("div", "words");
  const line = made("div", "line");
  line.append(made("span", "name", name));
  words.append(line, made("div", "where", where));
  const bar = made("div", "bar");
  bar.title = tr("Where in the video; outlined: moments of the truth");
  bar.append(stretch(moment.bar, "own"));
  card.append(picture, words, bar);
  return card;
}

function say(card, text) {
  card.querySelector(".words").append(made("div", "verdict", text));
}

function stretch({ left, width }, kind) {
  const piece = made("i", kind);
  piece.style.left = `${left}%`;
  piece.style.width = `${width}%`;
  return piece;
}

// Clips are cut when asked for: only those that come into view are.
function watcher() {
  return new IntersectionObserver((entries, self) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      self.unobserve(target);
      target.preload = "metadata";
      target.src = target.dataset.src;
    }
  }, { rootMargin: "120px" });
}

async function explain(video, status) {
  // The video element hides the reason; the route tells it.
  let message = tr("This clip cannot be shown just now.");
  try {
    const answer = await fetch(video.src, { headers: { Range: "bytes=0-0" } });
    if (!answer.ok) message = (await answer.json()).message || message;
  } catch { /* no network: the general sentence stands */ }
  status.textContent = message;
}

function mark(host, card) {
  const number = card ? card.dataset.number : undefined;
  host.classList.toggle("choosing", number !== undefined);
  for (const part of host.querySelectorAll("[data-number]")) {
    part.classList.toggle("chosen", number !== undefined && part.dataset.number === number);
  }
}

function drawLines(host, svg) {
  svg.replaceChildren();
  const frame = host.getBoundingClientRect();
  const truth = host.querySelector(".truth");
  for (const card of host.querySelectorAll(".run .card[data-number]")) {
    const moment = truth.querySelector(`.card[data-number="${card.dataset.number}"]`);
    if (!moment) continue;
    const [from, to] = [moment.getBoundingClientRect(), card.getBoundingClientRect()];
    const rightward = to.left > from.left;
    const x1 = (rightward ? from.right : from.left) - frame.left;
    const x2 = (rightward ? to.left : to.right) - frame.left;
    const [y1, y2] = [from, to].map((box) => box.top + box.height / 2 - frame.top);
    const middle = (x1 + x2) / 2;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`);
    path.setAttribute("stroke", card.style.getPropertyValue("--tint"));
    path.dataset.number = card.dataset.number;
    svg.append(path);
  }
}
