// Grades and skips that the server has not acknowledged yet.

function isGradeOrSkip(value) {
  const isGrade = Number.isInteger(value?.grade) && value.grade >= 0;
  return typeof value?.pair === "string" && typeof value.key === "string" && (isGrade || isSkip(value));
}

/** Whether an event is a skip; otherwise it is a grade. */
function isSkip({ kind }) {
  return SKIPS.some((skip) => skip.kind === kind);
}

class Unsent extends Kept {
  constructor(person) {
    super("reelrank.unsent", "reelrank.order", person, isGradeOrSkip);
  }

  /**
   * @param item the pair's desk item, kept so that a later message can name its query
   * @param what {grade, active_ms, elapsed_ms, contexts, note} or {kind, reason}
   */
  add(item, what) {
    return this.keep({ pair: item.pair, ...what, item });
  }

  /** Whether a grade or a skip of this pair waits. */
  has(pair) {
    return this.list().some((waiting) => waiting.pair === pair);
  }

  /** What is kept here, in words: "2 grades and 1 skip". */
  get words() {
    const skips = this.list().filter(isSkip).length;
    const grades = this.size - skips;
    const words = { grades: trn("{n} grade", "{n} grades", grades), skips: trn("{n} skip", "{n} skips", skips) };
    if (grades > 0 && skips > 0) return tr("{grades} and {skips}", words);
    return grades > 0 ? words.grades : skips > 0 ? words.skips : "";
  }
}
