// What is on the annotator's desk, as pure functions from one value to the next.
//
// work = {queue, trail, back, desk, dropped}
//   queue    items to grade, the one to show first in front
//   trail    what was graded in this visit, oldest first: {item, grade, saved}; saved is the acknowledged grade or null
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
 * Take the server's desk. Its order counts, except that the item on show does not change under a person's eyes,
 * and that nothing comes back which was graded here and is still on its way.
 */
function mergeDesk(before, answer, unsent) {
  const desk = withExam(answer);
  const work = examStage(before.desk) === examStage(desk) ? before : { ...before, trail: [], back: 0 };
  const fresh = desk.items.filter(
    (item) => !work.dropped.has(item.pair) && !unsent.has(item.pair),
  );
  // Answers to an exam or calibration round that has ended would not count, so its clip goes.
  const shown = work.queue[0]?.exam && !isOf(work.queue[0], desk) ? undefined : work.queue[0];
  const queue = shown
    ? [fresh.find((item) => item.pair === shown.pair) ?? shown, ...fresh.filter((item) => item.pair !== shown.pair)]
    : fresh;
  // Who is paused keeps no clip on screen, nor one to go back to; what was given before is still sent.
  if (desk.state === "paused") return { ...work, queue: [], trail: [], back: 0, desk };
  const trail = work.trail.length > 0 ? work.trail : firstTrail(desk, unsent, work.dropped);
  return { ...work, queue, trail, desk };
}

/** What a visit finds to take back: the last grade that the server has, then what still waits here, the newest last. */
function firstTrail(desk, unsent, dropped) {
  const found = new Map();
  if (desk.previous) found.set(desk.previous.pair, { item: desk.previous, grade: desk.previous.grade, saved: desk.previous.grade });
  for (const event of unsent.list()) {
    const { item = event.item, saved = null } = found.get(event.pair) ?? {};
    if (!item || !isOf(item, desk)) continue;
    found.delete(event.pair);
    if (!isSkip(event)) found.set(event.pair, { item, grade: event.grade, saved });
  }
  return [...found.values()].filter(({ item }) => !dropped.has(item.pair));
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

/** The item on show was skipped: the next one is up, and there is no way back to this one. */
function afterSkip(work) {
  const [item, ...queue] = work.queue;
  return { ...work, queue, trail: work.trail.filter((entry) => entry.item.pair !== item.pair) };
}

/** What one more step back would show, or undefined. Outside an exam, older grades are reached through their list. */
function undoable(work) {
  const entry = work.trail[work.trail.length - 1 - work.back];
  return work.back === 0 || entry?.item.exam ? entry : undefined;
}

/** One step back in what was graded in this visit. */
function stepBack(work) {
  return undoable(work) ? { ...work, back: work.back + 1 } : work;
}

/** Go back to one of the last grades; `recent` are those that the server has, the newest first. */
function reopen(work, recent, pair) {
  const known = new Set(work.trail.map(({ item }) => item.pair));
  const older = [...recent].reverse().filter((item) => !known.has(item.pair) && !work.dropped.has(item.pair));
  const trail = [...older.map((item) => ({ item, grade: item.grade, saved: item.grade })), ...work.trail];
  const at = trail.findIndex(({ item }) => item.pair === pair);
  return at < 0 ? work : { ...work, trail, back: trail.length - at };
}

/** Leave a correction without changing anything. */
function resume(work) {
  return { ...work, back: 0 };
}

/** The server keeps this grade or skip. */
function afterSaved(work, event) {
  if (isSkip(event)) return work;
  const trail = work.trail.map((entry) => (entry.item.pair === event.pair ? { ...entry, saved: event.grade } : entry));
  return { ...work, trail };
}

/** The server does not take this grade or skip: show what stands, or forget the pair if nothing does. A pair whose skip
 * was refused comes back with the desk. */
function afterRefused(work, event) {
  if (isSkip(event)) return work;
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

/** How many pairs were graded here that the server's counts do not hold yet (corrections and exams add nothing). */
function uncounted(work, unsent) {
  const saved = new Set(work.trail.filter((entry) => entry.saved !== null).map((entry) => entry.item.pair));
  const grades = unsent.list().filter((event) => !isSkip(event) && !event.item?.exam);
  return new Set(grades.map((event) => event.pair).filter((pair) => !saved.has(pair))).size;
}

/**
 * How far the person is in all: what is left of their quotas, else how much they have graded. `extra` grades are on their
 * way; `assigned` pairs are theirs to grade, null for any.
 */
function countWords(desk, extra, assigned = null) {
  const { today = 0, in_all: inAll = 0, quota_today: aDay = null, quota_in_all: most = null } = desk ?? {};
  const [day, whole] = [today + extra, inAll + extra];
  const left = (quota, given) => ({ left: Math.max(0, quota - given).toLocaleString(), quota: quota.toLocaleString() });
  const now = aDay === null ? tr("{n} graded today", { n: day.toLocaleString() }) : tr("{left} of {quota} left today", left(aDay, day));
  const ever = most === null ? tr("{n} in all", { n: whole.toLocaleString() }) : tr("{left} of {quota} left in all", left(most, whole));
  const share = most === null && assigned !== null ? ` \u00b7 ${tr("{n} assigned to you", { n: assigned.toLocaleString() })}` : "";
  return `${now} \u00b7 ${ever}${share}`;
}

/** Told at the beginning of a query to somebody whose grades were often far off. */
const WARNED =
  marked("A friendly note: several of your grades were far from the right ones. That happens to everybody. Please read the guideline again (G), and take the time each clip needs.");

/** Why there is nothing to grade: {title, text, whether the guideline is offered}; grades on their way come first. */
function emptyWords(desk, unsaved, reachable) {
  if (unsaved === 0 && desk?.state === "exam") return examWords(desk.exam);
  if (unsaved > 0 || desk?.state === "ready") {
    return reachable
      ? { title: tr("One moment"), text: unsaved > 0 ? tr("Your last grades are being saved; then the next clips arrive.") : tr("Fetching your clips.") }
      : {
          title: tr("No connection"),
          text: tr("Your grades are kept in this browser ({unsaved} not saved yet). They are sent as soon as the connection is back.", { unsaved }),
        };
  }
  const left = desk?.skipped ?? 0;
  const skipped = left > 0 ? `${trn("{n} pair you skipped is left to others.", "{n} pairs you skipped are left to others.", left)} ` : "";
  const words = {
    finished: {
      title: tr("You are finished"),
      text: tr("You have graded everything there is for you. {skipped}Thank you.", { skipped }),
    },
    waiting: {
      title: tr("Waiting for others"),
      text: tr("Others have the last clips just now ({waiting}). {skipped}New clips appear here by themselves. Leave this page open, or come back later.", { waiting: desk?.waiting ?? 0, skipped }),
    },
    paused: {
      title: tr("Your work is paused"),
      text: tr("You get no clips for now. Your lead annotator knows about it and tells you how to go on. All your work is saved. Once you may go on, clips appear here by themselves."),
      guideline: true,
    },
    quota_today: {
      title: tr("Enough for today"),
      text: tr("You have given all grades that your lead annotator asks of you in a day. Thank you. Your next clips come tomorrow."),
    },
    quota: {
      title: tr("Your share is done"),
      text: tr("You have given all grades that your lead annotator asked of you. Thank you. Ask them if you want to grade more."),
    },
    assigned: {
      title: tr("Your share is done"),
      text: tr("You have finished what is assigned to you. {skipped}There is other work: ask your lead annotator if you want to grade more.", { skipped }),
    },
    nothing: {
      title: tr("Nothing to grade yet"),
      text: tr("No batch is open yet. Clips appear here as soon as the lead annotator opens one."),
    },
  };
  return words[desk?.state] ?? { title: tr("One moment"), text: tr("Fetching your clips.") };
}
