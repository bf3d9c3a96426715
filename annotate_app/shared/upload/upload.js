// Files that are dropped or chosen go to the server one after the other; each has a line with how far it has come, or
// why it was not taken, until others are chosen. What is under way goes on while the page is drawn anew, and asks before
// the tab is closed.
const queues = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  speak(parentElement, data);
  const host = parentElement.querySelector(".rr-upload");
  const queue = queues.get(host) ?? begin(host, data);
  queue.sent = (names, refused) => setTriggerValue("sent", { names, refused }); // that of the page as it is drawn now
}

function begin(host, data) {
  const queue = { waiting: [], sending: false, sent: () => {} };
  queues.set(host, queue);
  host.innerHTML = "";
  const area = element("label", "rr-drop");
  const input = element("input");
  Object.assign(input, { type: "file", multiple: true, accept: data.extensions.join(",") });
  input.setAttribute("aria-label", data.label);
  const words = element("span", "", `${tr("Drop files here, or")} `);
  words.append(element("b", "", tr("choose them")));
  area.append(element("strong", "", data.label), words, element("small", "", data.extensions.join(" ")), input);
  const list = element("ul", "rr-sent");
  list.setAttribute("aria-live", "polite");
  host.append(area, list);

  const add = (files) => {
    if (!queue.sending) list.replaceChildren();
    for (const file of files) queue.waiting.push({ file, row: line(list, file) });
    if (!queue.sending) work(queue, data);
  };
  input.addEventListener("change", () => {
    add([...input.files]);
    input.value = ""; // the same file may be chosen again
  });
  for (const kind of ["dragenter", "dragover"]) area.addEventListener(kind, (event) => {
    event.preventDefault();
    area.classList.add("rr-over");
  });
  for (const kind of ["dragleave", "drop"]) area.addEventListener(kind, () => area.classList.remove("rr-over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    add([...event.dataTransfer.files]);
  });
  return queue;
}

async function work(queue, data) {
  queue.sending = true;
  const stay = (event) => event.preventDefault();
  window.addEventListener("beforeunload", stay);
  const arrived = [];
  const refused = [];
  while (queue.waiting.length) {
    const { file, row } = queue.waiting.shift();
    const address = fullPath(`/lead/uploads/${data.kind}/${encodeURIComponent(file.name)}`);
    const problem = await send("GET", `${address}?size=${file.size}`, row.bar) || await send("PUT", address, row.bar, file);
    row.bar.hidden = true;
    row.state.textContent = problem || tr("sent");
    row.state.className = problem ? "rr-wrong" : "rr-quiet";
    if (problem) refused.push(problem);
    else arrived.push(file.name);
  }
  window.removeEventListener("beforeunload", stay);
  queue.sending = false;
  if (arrived.length) queue.sent(arrived, refused);
}

/** Asks, or sends a file; the reason why it is not taken, or an empty text. Only XMLHttpRequest tells how much has gone. */
function send(method, address, bar, file = null) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    request.setRequestHeader("X-ReelRank", "1");
    request.upload.addEventListener("progress", (event) => { bar.value = event.total ? event.loaded / event.total : 0; });
    request.addEventListener("load", () => {
      if (request.status === 201 || request.status === 204) return resolve("");
      try {
        resolve(JSON.parse(request.responseText).message);
      } catch {
        resolve(tr("The server answered {status}.", { status: request.status }));
      }
    });
    request.addEventListener("error", () => resolve(tr("It did not arrive: the server cannot be reached. Send it again.")));
    request.send(file);
  });
}

function line(list, file) {
  const row = element("li");
  const bar = element("progress");
  bar.value = 0;
  bar.setAttribute("aria-label", file.name);
  const state = element("span", "rr-quiet", "");
  row.append(element("b", "", file.name), bar, state);
  list.append(row);
  return { bar, state };
}

function element(name, style = "", text = "") {
  const made = document.createElement(name);
  if (style) made.className = style;
  if (text) made.textContent = text;
  return made;
}
