// What is on the annotator's desk, as pure functions from one value to the next.
//
// work = {queue, trail, back, desk, dropped}
//   queue    items to grade, the one to show first in front
//   trail    what was graded in this visit, oldest first: {item, grade, saved}; saved is the acknowledged grade
//   back     0 while grading the queue; n while correcting the n-th last entry of the trail
//   desk     the server's last answer (state and counts)
//   dropped  pairs whose clip cannot be shown

function newWork() {
  return { queue: [], trail: [], back: 0, dropped: new Set(), desk: null };
}

/** The item on show, or null. */
function currentItem(work) {
  return work.back > 0 ? work.trail[work.trail.length - work.back].item : (work.queue[0] ?? null);
}

/** The grade that the item on show already has, or null. */
function currentGrade(work) {
  return work.back > 0 ? work.trail[work.trail.length - work.back].grade : null;
}

/** What comes after the item on show: the clips worth preparing. */
function upcoming(work) {
  return work.back > 0 ? work.queue : work.queue.slice(1);
}

/**
 * Take the server's desk. Its order counts, except that the item on show never changes under a person's eyes,
 * and that nothing comes back which was graded here and is still on its way.
 */
function mergeDesk(work, desk, unsent) {
  const fresh = desk.items.filter(
    (item) => !work.dropped.has(item.pair) && unsent.gradeOf(item.pair) === undefined,
  );
  const shown = work.queue[0];
  const queue = shown
    ? [fresh.find((item) => item.pair === shown.pair) ?? shown, ...fresh.filter((item) => item.pair !== shown.pair)]
    : fresh;
  let { trail } = work;
  if (trail.length === 0 && desk.previous && !work.dropped.has(desk.previous.pair)) {
    const { grade } = desk.previous;
    trail = [{ item: desk.previous, grade: unsent.gradeOf(desk.previous.pair) ?? grade, saved: grade }];
  }
  return { ...work, queue, trail, desk };
}

/** The item on show got a grade: the next one is up. After a correction, that is where the person left off. */
function afterGrade(work, grade) {
  if (work.back > 0) {
    const at = work.trail.length - work.back;
    const trail = work.trail.map((entry, index) => (index === at ? { ...entry, grade } : entry));
    return { ...work, trail, back: 0 };
  }
  const [item, ...queue] = work.queue;
  const before = work.trail.filter((entry) => entry.item.pair !== item.pair);
  return { ...work, queue, trail: [...before, { item, grade, saved: null }] };
}

/** One step back in what was graded in this visit. */
function stepBack(work) {
  return { ...work, back: Math.min(work.back + 1, work.trail.length) };
}

/** Leave a correction without changing anything. */
function resume(work) {
  return { ...work, back: 0 };
}

/** The server keeps this grade. */
function afterSaved(work, event) {
  const trail = work.trail.map((entry) =>
    entry.item.pair === event.pair ? { ...entry, saved: event.grade } : entry,
  );
  return { ...work, trail };
}

/** The server does not take this grade: show the one that stands, or forget the pair if none does. */
function afterRefused(work, event) {
  const shown = currentItem(work);
  const trail = work.trail
    .map((entry) => (entry.item.pair === event.pair ? { ...entry, grade: entry.saved } : entry))
    .filter((entry) => entry.grade !== null);
  const at = trail.findIndex((entry) => entry.item === shown);
  const back = work.back > 0 && at >= 0 ? trail.length - at : 0;
  return { ...work, trail, back };
}

/** This pair's clip cannot be shown: go on without it. */
function withoutPair(work, pair) {
  return {
    ...work,
    back: 0,
    queue: work.queue.filter((item) => item.pair !== pair),
    trail: work.trail.filter((entry) => entry.item.pair !== pair),
    dropped: new Set([...work.dropped, pair]),
  };
}

/** How many pairs were graded here that the server's counts do not hold yet (corrections add nothing). */
function uncounted(work, unsent) {
  const saved = new Set(work.trail.filter((entry) => entry.saved !== null).map((entry) => entry.item.pair));
  return new Set(unsent.list().map((event) => event.pair).filter((pair) => !saved.has(pair))).size;
}

/** Why there is nothing to grade: {title, text}, and whether grades are still on their way. */
function emptyWords(desk, unsaved, reachable) {
  if (unsaved > 0 || desk?.state === "ready") {
    return reachable
      ? { title: "One moment", text: "Your last grades are being saved; then the next clips arrive." }
      : {
          title: "No connection",
          text: `Your grades are kept in this browser (${unsaved} not saved yet). They are sent as soon as the connection is back.`,
        };
  }
  const words = {
    finished: {
      title: "You are finished",
      text: "You have graded everything there is for you. Thank you.",
    },
    waiting: {
      title: "Waiting for others",
      text: `All that is left is with other people just now (${desk?.waiting ?? 0}). New clips appear here by themselves; leave this page open or come back later.`,
    },
    nothing: {
      title: "Nothing to grade yet",
      text: "No batch is open yet. Clips appear here as soon as the lead annotator opens one.",
    },
  };
  return words[desk?.state] ?? { title: "One moment", text: "Fetching your clips." };
}
