"""Format moments, grades, verdicts, times and counts as text for pages."""

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
"""A table cell with more characters is cut."""
_TAG = re.compile(r"<[^>]*>")


def clamped(cell: str, *, focus: bool = True) -> str:
    """Cut a table cell with a long text after two lines; the whole text shows on hover and on keyboard focus.

    Args:
        cell: content of the cell as HTML.
        focus: whether the text itself can have the keyboard focus; False in a row that is a link.

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
    """Return a text, cut to at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def caption(text: str | None) -> str:
    """Format the caption of a moment, with quotation marks.

    >>> caption("A dog runs."), caption(None)
    ('“A dog runs.”', 'no caption')
    """
    return tr(NO_CAPTION) if text is None else f"“{isolated(text)}”"


def verdict(value: Verdict) -> str:
    """Return a verdict as a word."""
    return tr(_VERDICTS[value])


def number(count: int) -> str:
    """Write a number as a word up to five (`Four`), and in digits from six on."""
    return tr(_NUMBERS[count]) if count < len(_NUMBERS) else str(count)


def count_of(count: int, noun: str) -> str:
    """Write a number with its noun: `1 pair`, `1,204 pairs`."""
    return trn(*COUNTED[noun], count)


def several(noun: str) -> str:
    """Return the plural of a noun: `pairs`, `queries`."""
    return trn(*COUNTED[noun], 2, n="").strip()


def the_last(count: int) -> str:
    """Write `the last one` or `the last five`."""
    return tr("the last one") if count == 1 else tr("the last {number}", number=number(count).lower())


def are(count: int) -> str:
    """Return `is` for one, `are` for any other number."""
    return trn("is", "are", count)


def pairs_are(count: int) -> str:
    """Write a number of pairs with its verb: `1 pair is`, `60 pairs are`."""
    return trn("{n} pair is", "{n} pairs are", count)


def ranks(ranks_found: Sequence[int]) -> str:
    """Format ranks in rising order; three or more consecutive ranks become a range.

    >>> ranks([7]), ranks([1, 2, 3, 5, 8, 9])
    ('Rank 7', 'Ranks 1–3, 5, 8 and 9')
    """
    runs: list[list[int]] = []
    for rank in ranks_found:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts = [part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run))]
    which = parts[0] if len(parts) == 1 else tr("{before} and {last}", before=", ".join(parts[:-1]), last=parts[-1])
    return tr("Rank {which}", which=which) if len(ranks_found) == 1 else tr("Ranks {which}", which=which)


class VideoSpan(Protocol):
    """An object with a span of a video, such as a pair, an offer or a description."""

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
    """Format a span of a video: `friends_s01e02, 63.47 to 77.42 s`."""
    return tr("{video}, {start_s:.2f} to {end_s:.2f} s", video=span.video, start_s=span.start_s, end_s=span.end_s)


def found_by(pair: PairReview) -> str:
    """Return a candidate's similarity, and its sources with ranks. If only captions found it, leave out the sources."""
    similar = [] if pair.similarity is None else [tr("similarity {similarity:.3f}", similarity=pair.similarity)]
    if all(entry.source.kind is SourceKind.CAPTIONS for entry in pair.found_by):
        return " ".join(similar) or tr("no similarity")
    names = (tr("{label} (rank {rank})", label=_source(entry.source), rank=entry.rank) for entry in pair.found_by)
    return " · ".join([*similar, tr("found by {names}", names=", ".join(names))])


def _source(source: CandidateSource) -> str:
    return tr(_SIMILARITIES[source.kind]) if source.kind in _SIMILARITIES else source.label


def when(at: float | None, timezone: str | None) -> str:
    """Format a time in the reader's time zone, `9 Oct 2025, 10:53`; None becomes `never`."""
    if at is None:
        return tr("never")
    try:
        zone = ZoneInfo(timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return instant(datetime.fromtimestamp(at, zone))


def grade(value: int, scale: Scale) -> str:
    """Write a grade with its label on the scale: `3 well`."""
    return f"{value} {scale.label(value).lower()}"


def grades(given: Sequence[GivenGrade]) -> str:
    """Write the grades of a pair in the order given, which is that of the seats (annotators' places): `0 · 4 · 1`."""
    return " · ".join(str(grade.grade) for grade in given)


def percent(value: float) -> str:
    """Format a percentage with at most one decimal: `11.8 %`, `20 %`."""
    return f"{value:.1f}".removesuffix(".0") + " %"


def exam_result(result: ExamResult) -> str:
    """Summarise the result of an exam: `missed 9 of 100 (9 %, at most 20 %)`."""
    share = f"{percent(100 * result.missed / result.answers)}, " if result.answers else ""
    return tr(
        "missed {missed} of {answers} ({share}at most {most})",
        missed=result.missed,
        answers=result.answers,
        share=share,
        most=percent(result.most_missed),
    )


def kappas(result: ExamResult) -> str:
    """Write both kappas of an exam with the number of answers, or why they are undefined."""
    if result.kappa is None or result.kappa_quadratic is None:
        return tr("Kappa is undefined: {undefined}.", undefined=result.undefined)
    return tr(
        "Kappa {kappa:.2f}, quadratic {kappa_quadratic:.2f} (n = {answers}).",
        kappa=result.kappa,
        kappa_quadratic=result.kappa_quadratic,
        answers=result.answers,
    )


def why(pair: PairReview, grading: Grading) -> str:
    """Explain how the consensus rule reached a pair's verdict, with the grades."""
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
    """Describe how two grades disagree: `differ by more than 1`, or `differ` if only equal grades agree."""
    return tr("differ by more than {tolerance}", tolerance=tolerance) if tolerance else tr("differ")


def _agreed(values: Sequence[int], grading: Grading) -> str:
    """Explain why two grades agree: `3 and 4 differ by at most 1; their mean 3.5, half up, is 4`.

    If only equal grades agree: `both are 1`.
    """
    low, high = middle(values)
    if not grading.tolerance:
        return tr("both are {low}", low=low)
    consensus = decide(values, grading.tolerance, grading.rounding, re_opened=len(values) > MOST_GRADES)
    if grading.rounding is Rounding.HALF_UP:
        rounded = tr("half up, is {value}", value=consensus.relevance)
    else:
        rounded = tr("half down, is {value}", value=consensus.relevance)
    mean = (
        tr("their mean is {low}", low=low)
        if low == high
        else tr("their mean {mean}, {to}", mean=consensus.mean, to=rounded)
    )
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
