// The exam as the player shows it: words for its stages, and what belongs to one of its items.
//
// An item of the exam is a desk item like any other, with `exam` ("answering", "again", or "trial" in a calibration round),
// `counts` in words and, when it is looked at again, `missed` {own, right, explanation, again}. Its answers travel as grades do; the server knows them by name.

const EXAM_ACTS = { first: "start", answered: "hand_in", result: "go_on" };

/** The server's desk with its items marked as the exam's, where they are. */
function withExam(desk) {
  if (!desk?.exam) return desk;
  const { phase, missed } = desk.exam;
  const counts = examCounts(desk.exam);
  const kind = isTrial(desk) ? "trial" : phase === "again" ? phase : "answering";
  const marked = (item) => item && { ...item, exam: kind, counts, missed: missed.find(({ pair }) => pair === item.pair) };
  return { ...desk, items: desk.items.map(marked), previous: marked(desk.previous) };
}

/** Whether a desk is that of a calibration round, which is only talked about: it has no right grades. */
function isTrial(desk) {
  return desk?.exam?.purpose === "trial";
}

/** Whether an item belongs to what the desk is about: work, the exam, or a calibration round. */
function isOf(item, desk) {
  return Boolean(item.exam) === Boolean(desk.exam) && (item.exam === "trial") === isTrial(desk);
}

/** Another value whenever what was graded so far cannot be undone any more: other attempt, handed in, passed. */
function examStage(desk) {
  const exam = desk?.exam;
  if (!exam) return "";
  return `${exam.purpose} ${exam.attempt} ${["first", "answering", "answered"].includes(exam.phase)} ${exam.phase === "failed"}`;
}

/** What becomes of the grades that are given now. */
function examCounts({ gives_key: givesKey, may_count: mayCount }) {
  if (givesKey) return tr("these grades are the key of the exam");
  return mayCount ? tr("none of this counts as a judgement yet") : tr("none of this counts as a judgement");
}

/** What the button of an empty exam desk does, or undefined. */
function examAct({ phase, items }) {
  return phase === "first" && items === 0 ? undefined : EXAM_ACTS[phase];
}

/** Why the exam has no clip to show: {title, text, label of the button, whether the guideline is offered}. */
function examWords(exam) {
  const { phase, attempt, items, queries, most_missed: most, tolerance, result } = exam;
  const clips = trn("{n} clip", "{n} clips", items);
  const asked = queries > 0 ? tr("{clips} of {queries}", { clips, queries: trn("{n} query", "{n} queries", queries) }) : clips;
  if (exam.purpose === "trial") return trialWords(phase, items, asked);
  if (phase === "first" && items === 0) {
    return { title: tr("The exam comes first"), text: tr("None of its clips can be shown just now. Tell your lead annotator.") };
  }
  if (exam.gives_key) return keyWords(phase, asked);
  const counts = exam.may_count ? tr("your lead annotator may let these grades count later") : tr("nothing counts as a judgement");
  const words = {
    first: {
      title: attempt > 1 ? tr("The exam, attempt {attempt}", { attempt }) : tr("The exam comes first"),
      text: tr("You grade {asked}, with the same keys as later. To pass, at most {most} of your grades may be {farther} the right one. Read the guideline first (key G). You can undo, but not skip; {counts}. You may stop and go on later.", { asked, most: percent(most), farther: farther(tolerance), counts }),
      label: tr("Begin the exam"),
      guideline: true,
    },
    answered: {
      title: tr("All clips of the exam have a grade"),
      text: tr("You can still go back and change your grades (U). After you hand in, they are final. Then the ones you missed are explained to you."),
      label: tr("Hand in"),
    },
    waiting: {
      title: tr("You have handed in the exam"),
      text: tr("The right grades are not known yet. As soon as they are, this page shows your result by itself. Leave it open, or come back later."),
    },
    result: {
      title: result?.passed ? tr("You passed the exam") : tr("You did not pass the exam"),
      text: resultText(result, tolerance),
      label: result?.missed > 0 ? tr("Look at the missed ones") : tr("Go on"),
    },
    failed: {
      title: tr("You did not pass the exam"),
      text: tr("{result} Your lead annotator sees it and decides how to go on. The page My work keeps your result.", { result: resultText(result, tolerance, false) }),
    },
  };
  return words[phase] ?? { title: tr("One moment"), text: tr("Fetching the exam.") };
}

/** The same for a calibration round. */
function trialWords(phase, items, asked) {
  const words = {
    first: {
      title: tr("A calibration round comes first"),
      text:
        items === 0
          ? tr("None of its clips can be shown just now. Tell your lead annotator.")
          : tr("You grade {asked}, with the same keys as later, and then talk about them with the others. There are no right grades yet: give what the guideline (key G) says to you, and write a note (N) wherever it leaves you in doubt. Nothing counts as a judgement, and you may stop and go on later.", { asked }),
      label: tr("Begin the calibration round"),
      guideline: true,
    },
    answered: {
      title: tr("All clips of the calibration round have a grade"),
      text: tr("You can still go back and change grades and notes (U). When you finish, your lead annotator talks about them with everybody."),
      label: tr("Finish"),
    },
  };
  return words[phase] ?? { title: tr("One moment"), text: tr("Fetching the calibration round.") };
}

/** The same for a lead who gives the key. */
function keyWords(phase, asked) {
  const words = {
    first: {
      title: tr("Your grades are the key"),
      text: tr("You grade {asked} as everybody does: without captions, without their grades. You can undo, but not skip, and you may stop and go on later. Read the guideline before (key G).", { asked }),
      label: tr("Begin the key"),
      guideline: true,
    },
    answered: {
      title: tr("All clips of the exam have a grade"),
      text: tr("You can still go back and change your grades (U). When you hand in, they are the key for good, and everybody who has finished is told their result."),
      label: tr("Hand in the key"),
    },
    waiting: {
      title: tr("You have handed in the key"),
      text: tr("Guessing would pass the exam with this key, so it waits for a reason. Give one on the page Exam, or end the exam there."),
    },
    key: {
      title: tr("The exam has its key"),
      text: tr("Everybody who has handed in is told their result now. You can explain the right grades on the page Exam, under Items."),
    },
  };
  return words[phase] ?? { title: tr("One moment"), text: tr("Fetching the exam.") };
}

/** How far from the right grade an answer has to be to miss it. */
function farther(tolerance) {
  return tolerance > 0 ? tr("more than {tolerance} away from", { tolerance: ["", tr("one"), tr("two")][tolerance] ?? tolerance }) : tr("other than");
}

function resultText(result, tolerance, tellsMore = true) {
  if (!result) return "";
  const { answers, missed, most_missed: most } = result;
  const share = answers > 0 ? ` (${percent((100 * missed) / answers)})` : "";
  const next = missed > 0 && tellsMore ? ` ${tr("They are explained next, and you grade them again. That does not change the result.")}` : "";
  return trn(
    "{n} of your {answers} grades{share} is {farther} the right one; at most {most} may be.",
    "{n} of your {answers} grades{share} are {farther} the right one; at most {most} may be.",
    missed,
    { answers, share, farther: farther(tolerance), most: percent(most) },
  ) + next;
}

/** The figures of a result: [[name, value]]. */
function resultFigures(result) {
  if (!result) return [];
  const { answers, missed, most_missed: most } = result;
  if (answers === 0) return [[tr("Missed"), tr("no grades")]];
  return [
    [tr("Missed"), tr("{missed} of {answers}", { missed, answers })],
    [tr("Allowed to miss"), tr("at most {n}", { n: Math.floor((most * answers) / 100 + 1e-9) })],
  ];
}

/** What somebody is told about an item that they missed. */
function missedWords({ own, right, again }) {
  return again === null ? tr("You gave {own}. Right is {right}.", { own, right }) : tr("You gave {own}, then {again}. Right is {right}.", { own, again, right });
}

function percent(value) {
  return `${Number(value.toFixed(1))} %`;
}
