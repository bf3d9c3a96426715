// The lesson before the desk, as pure values: its steps, and their words.
//
// lesson = {version, reading: "first" | "changed" | "again", reasons, changes: [{where, before, after}], practice}
// step   = {kind: "intro" | "grade" | "questions" | "reminders" | "practice" | "end" | "news", ...}

/** The steps of a lesson: the guideline page by page, then practice; or what changed, alone. */
function lessonSteps(lesson, guideline) {
  if (lesson.reading === "changed") return [{ kind: "news" }];
  const { grades, questions, reminders } = guideline;
  const steps = [{ kind: "intro" }, ...[...grades].reverse().map((meaning) => ({ kind: "grade", meaning }))];
  if (questions.length > 0) steps.push({ kind: "questions" });
  if (reminders.length > 0) steps.push({ kind: "reminders" });
  const total = lesson.practice.length;
  lesson.practice.forEach((item, index) => {
    steps.push({ kind: "practice", item: { ...item, position: index + 1, total, exam: "practice" } });
  });
  return [...steps, { kind: "end" }];
}

/** Where somebody begins: a newcomer who practised before, and left, goes on at the first pair without an answer. */
function firstStep(lesson, steps) {
  const isOpen = ({ kind, item }) => kind === "end" || (kind === "practice" && item.own === null);
  const began = lesson.reading === "first" && lesson.practice.some(({ own }) => own !== null);
  return began ? steps.findIndex(isOpen) : 0;
}

/** What stands in the place of what is told, before there is an answer: so the page keeps its layout. */
const NOT_TOLD = { words: "", verdict: "open", explanation: marked("Give a grade. Then you see the right grade, and why.") };

/** Whether an answer is "right", "close" enough to agree, or "wrong". */
function verdictOf({ own, right, agrees }) {
  if (own === right) return "right";
  return agrees ? "close" : "wrong";
}

/** What is told at once about an answer. */
function toldWords(told) {
  const { own, right } = told;
  const words = {
    right: marked("Right: the grade is {right}."),
    close: marked("Close enough: you gave {own}, and the right grade is {right}."),
    wrong: marked("Wrong: you gave {own}, and the right grade is {right}."),
  };
  return tr(words[verdictOf(told)], { own, right });
}

/** What the first page says of the rest. */
function introWords(lesson, grades) {
  const count = lesson.practice.length;
  const first = tr("You will see one query and one clip at a time, and grade how well the clip shows what the query asks for.");
  const pages = tr("These pages show what each of the {count} grades means.", { count: grades.length });
  const then = count === 0 ? "" : ` ${trn("Then you practise on {n} clip, with the right grade and why at once.", "Then you practise on {n} clips, with the right grade and why at once.", count)}`;
  return [first, tr("{pages}{then} Nothing here counts as a judgement.", { pages, then })];
}

/** How practice went, for the last page. */
function practiceWords(told) {
  if (told.length === 0) return "";
  const agreed = told.filter(({ agrees }) => agrees).length;
  const words = { agreed, of: trn("{n} practice grade", "{n} practice grades", told.length) };
  return `${agreed === 1 ? tr("{agreed} of your {of} agrees with the right one.", words) : tr("{agreed} of your {of} agree with the right one.", words)} `;
}
