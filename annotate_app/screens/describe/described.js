// What a person described, as pure functions: the server's word with what it has not heard yet on top.
//
// A description is {description, video, start_s, end_s, sentence, status, words, notes}; status is waiting, returned,
// accepted or withdrawn. Here two more stand beside: `unsent`, whether something about it waits in this browser, and
// `refused`, why the server did not take what was done last.

/** Mine with one more event. */
function afterEvent(mine, event) {
  const { description, video, start_s, end_s, sentence } = event;
  const before = mine.find((one) => one.description === description);
  if (event.kind === "withdraw") {
    return mine.map((one) => (one === before ? { ...one, status: "withdrawn", unsent: true } : one));
  }
  const after = { description, video, start_s, end_s, sentence, status: "waiting", words: "", notes: [], unsent: true };
  return before ? mine.map((one) => (one === before ? after : one)) : [...mine, after];
}

/** Mine as a person sees them: with what was not sent, and what was refused, in the order of the video. */
function standing(mine, events) {
  let all = mine;
  for (const event of events) {
    if (!event.refused) all = afterEvent(all, event);
  }
  for (const event of events) {
    if (event.refused && event.kind !== "withdraw") {
      const said = { ...afterEvent([], event)[0], status: "refused", refused: event.refused, unsent: false, key: event.key };
      all = [...all, said];
    }
  }
  return all.filter(({ status }) => status !== "withdrawn").sort((a, b) => a.start_s - b.start_s || a.end_s - b.end_s);
}

/** The server's newest word about some descriptions, in place of what was known. */
function withNews(mine, news) {
  const fresh = new Map(news.map((one) => [one.description, one]));
  const kept = mine.map((one) => {
    const newer = fresh.get(one.description);
    fresh.delete(one.description);
    return newer ?? one;
  });
  return [...kept, ...fresh.values()];
}

/** The event that takes one back: `before` is the description before it, where there was one. */
function takingBack(event, before) {
  const { video, description } = event;
  if (event.kind === "describe") return { kind: "withdraw", video, description };
  const { start_s, end_s, sentence } = before;
  return { kind: "redescribe", video, description, start_s, end_s, sentence };
}

/** How many of a video's descriptions are mine, and how many came back. */
function counts(mine, events, video) {
  const here = standing(mine, events).filter((one) => one.video === video);
  return { mine: here.length, returned: here.filter(({ status }) => status === "returned").length };
}
