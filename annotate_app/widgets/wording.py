"""Sentences and labels the lead's pages share: how a moment, a grade, a verdict and an instant are written."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from backend.campaign.candidates.model import SourceKind
from backend.campaign.exam.model import ExamPhase, ExamResult
from backend.campaign.judging.model import SkipKind
from backend.campaign.nouns import Rounding, Scale, Verdict
from backend.campaign.project.model import Grading
from backend.campaign.review.model import CaseRow, GivenGrade, PairReview

VERDICT_COLOURS = {
    Verdict.OPEN: "gray",
    Verdict.ESCALATED: "orange",
    Verdict.CONSENSUS: "green",
    Verdict.DISCARDED: "red",
    Verdict.ADJUDICATED: "violet",
}
SKIP_WORDS = {
    SkipKind.SKIP: "would rather not",
    SkipKind.CANNOT_JUDGE: "cannot be judged",
    SkipKind.BROKEN_CLIP: "clip is broken",
}
EXAM_WORDS = {
    ExamPhase.FIRST: "not begun",
    ExamPhase.ANSWERING: "taking it",
    ExamPhase.ANSWERED: "not handed in",
    ExamPhase.WAITING: "waits for the key",
    ExamPhase.RESULT: "handed in",
    ExamPhase.AGAIN: "looking again",
    ExamPhase.FAILED: "failed",
    ExamPhase.PASSED: "passed",
    ExamPhase.EXEMPT: "exempt",
}
NO_CAPTION = "no caption"
_SEVERAL = {"batch": "batches", "person": "people", "entry": "entries", "query": "queries", "reply": "replies"}
_NUMBERS = ("None", "One", "Two", "Three", "Four", "Five")


def caption(text: str | None) -> str:
    """What stands where a moment's caption is shown.

    >>> caption("A dog runs."), caption(None)
    ('“A dog runs.”', 'no caption')
    """
    return NO_CAPTION if text is None else f"“{text}”"


def number(count: int) -> str:
    """`Four`; digits from six on."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def count_of(count: int, noun: str) -> str:
    """`1 pair`, `1,204 pairs`."""
    return f"{count:,} {noun if count == 1 else several(noun)}"


def several(noun: str) -> str:
    """`pairs`, `queries`."""
    return _SEVERAL.get(noun, f"{noun}s")


def the_last(count: int) -> str:
    """`the last one`, `the last five`."""
    return "the last one" if count == 1 else f"the last {number(count).lower()}"


def are(count: int) -> str:
    """`is` for one, `are` for any other number."""
    return "is" if count == 1 else "are"


def pairs_are(count: int) -> str:
    """`1 pair is`, `60 pairs are`."""
    return f"{count_of(count, 'pair')} {are(count)}"


def ranks(found: Sequence[int]) -> str:
    """Ranks in rising order, runs of three and more as such.

    >>> ranks([7]), ranks([1, 2, 3, 5, 8, 9])
    ('Rank 7', 'Ranks 1–3, 5, 8 and 9')
    """
    runs: list[list[int]] = []
    for rank in found:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    told = [part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run))]
    which = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    return f"Rank{'' if len(found) == 1 else 's'} {which}"


def moment(pair: PairReview | CaseRow) -> str:
    """`friends_s01e02, 63.47 to 77.42 s`."""
    return f"{pair.video}, {pair.start_s:.2f} to {pair.end_s:.2f} s"


def found_by(pair: PairReview) -> str:
    """What found a candidate, with its rank there; its similarity alone where captions did and nothing else."""
    similar = [] if pair.similarity is None else [f"similarity {pair.similarity:.3f}"]
    if all(one.source.kind is SourceKind.CAPTIONS for one in pair.found_by):
        return " ".join(similar) or "no similarity"
    names = (f"{one.source.label} (rank {one.rank})" for one in pair.found_by)
    return " · ".join([*similar, f"found by {', '.join(names)}"])


def when(at: float | None, timezone: str | None) -> str:
    """An instant on the reader's clock, `9 Oct 2025, 10:53`; `never` where there is none."""
    if at is None:
        return "never"
    try:
        zone = ZoneInfo(timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    moment_at = datetime.fromtimestamp(at, zone)
    return f"{moment_at.day} {moment_at:%b %Y, %H:%M}"


def grade(value: int, scale: Scale) -> str:
    """`3 well`."""
    return f"{value} {scale.label(value).lower()}"


def grades(given: Sequence[GivenGrade]) -> str:
    """`0 · 4 · 1`, in the order of the seats."""
    return " · ".join(str(grade.grade) for grade in given)


def percent(value: float) -> str:
    """`11.8 %`, `20 %`."""
    return f"{value:.1f}".removesuffix(".0") + " %"


def exam_result(result: ExamResult) -> str:
    """`missed 9 of 100 (9 %, at most 20 %)`."""
    share = f"{percent(100 * result.missed / result.answers)}, " if result.answers else ""
    return f"missed {result.missed} of {result.answers} ({share}at most {percent(result.most_missed)})"


def kappas(result: ExamResult) -> str:
    """Both kappas of an exam with their base, or why there are none."""
    if result.kappa is None or result.kappa_quadratic is None:
        return f"Kappa is undefined: {result.undefined}."
    return f"Kappa {result.kappa:.2f}, quadratic {result.kappa_quadratic:.2f} (n = {result.answers})."


def why(pair: PairReview, grading: Grading) -> str:
    """How the rule came to a pair's verdict, with its numbers."""
    values = sorted(grade.grade for grade in pair.grades)
    match pair.verdict:
        case Verdict.OPEN:
            return f"{number(len(values))} of two grades so far."
        case Verdict.CONSENSUS if len(values) == 2:
            low, high = values
            return f"{_first_large(_mean_of(low, high, grading))}."
        case Verdict.CONSENSUS if len(values) == 4:
            lowest, low, high, highest = values
            mean = _mean_of(low, high, grading)
            return f"Without the lowest ({lowest}) and the highest ({highest}) of four grades, {mean}."
        case Verdict.CONSENSUS if len(values) == 6:
            mean = _mean_of(values[2], values[3], grading)
            below, above = f"{values[0]}, {values[1]}", f"{values[4]}, {values[5]}"
            return f"Without the two lowest ({below}) and the two highest ({above}) of six grades, {mean}."
        case Verdict.ESCALATED if pair.re_opened:
            return (
                "The middle two of the first four grades did not agree, and a lead re-opened the pair: two more "
                f"annotators grade it, {number(6 - len(values)).lower()} still to come."
            )
        case Verdict.ESCALATED:
            missing = 4 - len(values)
            return (
                f"The first two grades {differ(grading.tolerance)}, so two further annotators grade it: "
                f"{number(missing).lower()} still to come."
            )
        case Verdict.DISCARDED if len(values) in (4, 6):
            low, high = values[len(values) // 2 - 1 : len(values) // 2 + 1]
            dropped = "the lowest and the highest" if len(values) == 4 else "the two lowest and the two highest"
            confirmed = " A lead confirmed the discard." if pair.confirmed else ""
            return (
                f"Without {dropped} of the {number(len(values)).lower()} grades, {low} and {high} remain. "
                f"They {differ(grading.tolerance)}: there is no consensus.{confirmed}"
            )
        case Verdict.ADJUDICATED:
            return f"Decided by a lead: relevance {pair.relevance}. Reason: {pair.reason}"
        case _:
            return ""


def differ(tolerance: int) -> str:
    """What two grades do that do not agree: `differ by more than 1`, or `differ` where only equal ones agree."""
    return f"differ by more than {tolerance}" if tolerance else "differ"


def _mean_of(low: int, high: int, grading: Grading) -> str:
    """`3 and 4 differ by at most 1; their mean 3.5, half up, is 4`; `both are 1` where only equal grades agree."""
    if not grading.tolerance:
        return f"both are {low}"
    up = grading.rounding is Rounding.HALF_UP
    to = f"half {'up' if up else 'down'}, is {(low + high + up) // 2}"
    mean = f"their mean is {low}" if low == high else f"their mean {(low + high) / 2}, {to}"
    return f"{low} and {high} differ by at most {grading.tolerance}; {mean}"


def _first_large(text: str) -> str:
    return text[:1].upper() + text[1:]
