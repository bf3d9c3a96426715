"""Sentences and labels the lead's pages share: how a moment, a grade, a verdict and an instant are written."""

import re
from collections.abc import Sequence
from datetime import datetime
from html import escape, unescape
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from annotate_app.language import COUNTED, instant, marked, tr, trn
from annotate_app.plain import isolated
from backend.campaign.judging.model import SkipKind
from backend.campaign.judging.rules import MOST_GRADES, MOST_RE_OPENED, decide, middle
from backend.campaign.nouns import FIRST_ROUND_SEATS, Rounding, Scale, Verdict
from backend.campaign.qualification.exam.model import ExamPhase, ExamResult
from backend.campaign.review.model import GivenGrade, PairReview
from backend.campaign.selection.candidates.model import CandidateSource, SourceKind
from backend.campaign.setup.project.model import Grading

VERDICT_COLOURS = {
    Verdict.OPEN: "gray",
    Verdict.ESCALATED: "orange",
    Verdict.CONSENSUS: "green",
    Verdict.DISCARDED: "red",
    Verdict.ADJUDICATED: "violet",
}
_VERDICTS = {
    Verdict.OPEN: marked("open"),
    Verdict.ESCALATED: marked("escalated"),
    Verdict.CONSENSUS: marked("consensus"),
    Verdict.DISCARDED: marked("discarded"),
    Verdict.ADJUDICATED: marked("adjudicated"),
}
SKIP_WORDS = {
    SkipKind.SKIP: marked("would rather not"),
    SkipKind.CANNOT_JUDGE: marked("cannot be judged"),
    SkipKind.BROKEN_CLIP: marked("clip is broken"),
}
EXAM_WORDS = {
    ExamPhase.FIRST: marked("not started"),
    ExamPhase.ANSWERING: marked("taking it"),
    ExamPhase.ANSWERED: marked("not handed in"),
    ExamPhase.WAITING: marked("waits for the answer key"),
    ExamPhase.RESULT: marked("handed in"),
    ExamPhase.AGAIN: marked("looking again"),
    ExamPhase.FAILED: marked("failed"),
    ExamPhase.PASSED: marked("passed"),
    ExamPhase.EXEMPT: marked("exempt"),
}
NO_CAPTION = marked("no caption")
_SIMILARITIES = {SourceKind.CAPTIONS: marked("captions"), SourceKind.VISUAL: marked("visual")}
_NUMBERS = (marked("None"), marked("One"), marked("Two"), marked("Three"), marked("Four"), marked("Five"))
_CLAMPED = 120
"""Signs. A cell with more text is cut."""
_TAG = re.compile(r"<[^>]*>")


def clamped(cell: str, *, focus: bool = True) -> str:
    """Cut a table cell with a long text after two lines; the whole text shows on hover and on keyboard focus.

    Args:
        cell: HTML.
        focus: whether the text takes the focus itself; not where it stands in a row that has a link.

    >>> clamped("<b>A dog runs.</b>")
    '<b>A dog runs.</b>'
    """
    long, line_below, below = cell.partition("<small class='rr-of-case'")
    text = unescape(_TAG.sub("", long))
    if len(text) <= _CLAMPED or "role='img'" in long:
        return cell
    stop = " tabindex='0'" if focus else ""
    return f"<span class='rr-clamp'{stop} title='{escape(text)}'>{long}</span>{line_below}{below}"


def short(text: str, most: int = _CLAMPED) -> str:
    """Return a text, or the beginning of a long one, of at most so many signs."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def caption(text: str | None) -> str:
    """What stands where a moment's caption is shown.

    >>> caption("A dog runs."), caption(None)
    ('“A dog runs.”', 'no caption')
    """
    return tr(NO_CAPTION) if text is None else f"“{isolated(text)}”"


def verdict(one: Verdict) -> str:
    """A verdict in a word."""
    return tr(_VERDICTS[one])


def number(count: int) -> str:
    """`Four`; digits from six on."""
    return tr(_NUMBERS[count]) if count < len(_NUMBERS) else str(count)


def count_of(count: int, noun: str) -> str:
    """`1 pair`, `1,204 pairs`."""
    return trn(*COUNTED[noun], count)


def several(noun: str) -> str:
    """`pairs`, `queries`."""
    return trn(*COUNTED[noun], 2, n="").strip()


def the_last(count: int) -> str:
    """`the last one`, `the last five`."""
    return tr("the last one") if count == 1 else tr("the last {number}", number=number(count).lower())


def are(count: int) -> str:
    """`is` for one, `are` for any other number."""
    return trn("is", "are", count)


def pairs_are(count: int) -> str:
    """`1 pair is`, `60 pairs are`."""
    return trn("{n} pair is", "{n} pairs are", count)


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
    which = told[0] if len(told) == 1 else tr("{before} and {last}", before=", ".join(told[:-1]), last=told[-1])
    return tr("Rank {which}", which=which) if len(found) == 1 else tr("Ranks {which}", which=which)


class VideoSpan(Protocol):
    """Anything with a span of a video: a pair, an offer, a description."""

    @property
    def video(self) -> str:
        """Name of the video."""

    @property
    def start_s(self) -> float:
        """Start in seconds."""

    @property
    def end_s(self) -> float:
        """End in seconds."""


def moment(span: VideoSpan) -> str:
    """`friends_s01e02, 63.47 to 77.42 s`."""
    return tr("{video}, {start_s:.2f} to {end_s:.2f} s", video=span.video, start_s=span.start_s, end_s=span.end_s)


def found_by(pair: PairReview) -> str:
    """What found a candidate, with its rank there; its similarity alone where captions did and nothing else."""
    similar = [] if pair.similarity is None else [tr("similarity {similarity:.3f}", similarity=pair.similarity)]
    if all(one.source.kind is SourceKind.CAPTIONS for one in pair.found_by):
        return " ".join(similar) or tr("no similarity")
    names = (tr("{label} (rank {rank})", label=_source(one.source), rank=one.rank) for one in pair.found_by)
    return " · ".join([*similar, tr("found by {names}", names=", ".join(names))])


def _source(source: CandidateSource) -> str:
    return tr(_SIMILARITIES[source.kind]) if source.kind in _SIMILARITIES else source.label


def when(at: float | None, timezone: str | None) -> str:
    """An instant on the reader's clock, `9 Oct 2025, 10:53`; `never` where there is none."""
    if at is None:
        return tr("never")
    try:
        zone = ZoneInfo(timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return instant(datetime.fromtimestamp(at, zone))


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
    return tr(
        "missed {missed} of {answers} ({share}at most {most})",
        missed=result.missed,
        answers=result.answers,
        share=share,
        most=percent(result.most_missed),
    )


def kappas(result: ExamResult) -> str:
    """Both kappas of an exam with their base, or why there are none."""
    if result.kappa is None or result.kappa_quadratic is None:
        return tr("Kappa is undefined: {undefined}.", undefined=result.undefined)
    return tr(
        "Kappa {kappa:.2f}, quadratic {kappa_quadratic:.2f} (n = {answers}).",
        kappa=result.kappa,
        kappa_quadratic=result.kappa_quadratic,
        answers=result.answers,
    )


def why(pair: PairReview, grading: Grading) -> str:
    """How the rule came to a pair's verdict, with its numbers."""
    values = sorted(grade.grade for grade in pair.grades)
    match pair.verdict:
        case Verdict.OPEN:
            return tr("{number} of two grades so far.", number=number(len(values)))
        case Verdict.CONSENSUS if len(values) == len(FIRST_ROUND_SEATS):
            return f"{first_large(_agreed(values, grading))}."
        case Verdict.CONSENSUS if len(values) == MOST_GRADES:
            return tr(
                "Without the lowest ({lowest}) and the highest ({highest}) of four grades, {mean}.",
                lowest=values[0],
                highest=values[-1],
                mean=_agreed(values, grading),
            )
        case Verdict.CONSENSUS if len(values) == MOST_RE_OPENED:
            below, above = f"{values[0]}, {values[1]}", f"{values[-2]}, {values[-1]}"
            return tr(
                "Without the two lowest ({below}) and the two highest ({above}) of six grades, {mean}.",
                below=below,
                above=above,
                mean=_agreed(values, grading),
            )
        case Verdict.ESCALATED if pair.re_opened:
            return tr(
                "The middle two of the first four grades did not agree, and a lead re-opened the pair: two "
                "more annotators grade it, {number} still to come.",
                number=number(MOST_RE_OPENED - len(values)).lower(),
            )
        case Verdict.ESCALATED:
            return tr(
                "The first two grades {differ}, so two further annotators grade it: {number} still to come.",
                differ=differ(grading.tolerance),
                number=number(MOST_GRADES - len(values)).lower(),
            )
        case Verdict.DISCARDED if len(values) in (MOST_GRADES, MOST_RE_OPENED):
            low, high = middle(values)
            four = len(values) == MOST_GRADES
            dropped = tr("the lowest and the highest") if four else tr("the two lowest and the two highest")
            confirmed = " " + tr("A lead confirmed the discard.") if pair.confirmed else ""
            return (
                tr(
                    "Without {dropped} of the {number} grades, {low} and {high} remain. They {differ}: there is "
                    "no consensus.",
                    dropped=dropped,
                    number=number(len(values)).lower(),
                    low=low,
                    high=high,
                    differ=differ(grading.tolerance),
                )
                + confirmed
            )
        case Verdict.ADJUDICATED:
            return tr(
                "Decided by a lead: relevance {relevance}. Reason: {reason}",
                relevance=pair.relevance,
                reason=pair.reason,
            )
        case _:
            return ""


def differ(tolerance: int) -> str:
    """What two grades do that do not agree: `differ by more than 1`, or `differ` where only equal ones agree."""
    return tr("differ by more than {tolerance}", tolerance=tolerance) if tolerance else tr("differ")


def _agreed(values: Sequence[int], grading: Grading) -> str:
    """`3 and 4 differ by at most 1; their mean 3.5, half up, is 4`; `both are 1` where only equal grades agree."""
    low, high = middle(values)
    if not grading.tolerance:
        return tr("both are {low}", low=low)
    made = decide(values, grading.tolerance, grading.rounding, re_opened=len(values) > MOST_GRADES)
    if grading.rounding is Rounding.HALF_UP:
        to = tr("half up, is {value}", value=made.relevance)
    else:
        to = tr("half down, is {value}", value=made.relevance)
    mean = tr("their mean is {low}", low=low) if low == high else tr("their mean {mean}, {to}", mean=made.mean, to=to)
    return tr(
        "{low} and {high} differ by at most {tolerance}; {mean}",
        low=low,
        high=high,
        tolerance=grading.tolerance,
        mean=mean,
    )


def first_large(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
