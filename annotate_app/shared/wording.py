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

    A cell with a short text is returned unchanged.

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
    """Return a text, cut to `most` characters with an ellipsis if it is longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def caption(text: str | None) -> str:
    """Format the caption of a moment, with quotation marks.

    >>> caption("A dog runs."), caption(None)
    ('“A dog runs.”', 'no caption')
    """
    return tr(NO_CAPTION) if text is None else f"“{isolated(text)}”"


def verdict(value: Verdict) -> str:
    """Return the name of a pair's verdict in the reader's language, such as `consensus`.

    The verdict says whether the pair's relevance is known, and how it was decided.
    """
    return tr(_VERDICTS[value])


def number(count: int) -> str:
    """Write a number as a word up to five (`Four`), and in digits (`6`) from six on."""
    return tr(_NUMBERS[count]) if count < len(_NUMBERS) else str(count)


def count_of(count: int, noun: str) -> str:
    """Write a number with its noun: `1 pair`, `1,204 pairs`. `noun` is a key of `COUNTED`."""
    return trn(*COUNTED[noun], count)


def several(noun: str) -> str:
    """Return the plural of a noun: `pairs`, `queries`. `noun` is a key of `COUNTED`."""
    return trn(*COUNTED[noun], 2, n="").strip()


def the_last(count: int) -> str:
    """Write `the last one` for 1, and for a larger number, such as 5, `the last five`."""
    return tr("the last one") if count == 1 else tr("the last {number}", number=number(count).lower())


def are(count: int) -> str:
    """Return `is` for one, `are` for any other number."""
    return trn("is", "are", count)


def pairs_are(count: int) -> str:
    """Write a number of pairs with its verb: `1 pair is`, `60 pairs are`."""
    return trn("{n} pair is", "{n} pairs are", count)


def ranks(ranks_found: Sequence[int]) -> str:
    """Format ranks, given in rising order; three or more consecutive ranks become a range.

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
    """Any object that names a span of a video, such as a moment or a pair."""

    @property
    def video(self) -> str:
        """Name of the video."""

    @property
    def start_s(self) -> float:
        """Start of the span, in seconds."""

    @property
    def end_s(self) -> float:
        """End of the span, in seconds."""


def moment(span: VideoSpan) -> str:
    """Format a span of a video as its name and times: `friends_s01e02, 63.47 to 77.42 s`."""
    return tr("{video}, {start_s:.2f} to {end_s:.2f} s", video=span.video, start_s=span.start_s, end_s=span.end_s)


def found_by(pair: PairReview) -> str:
    """Return a text with a candidate's similarity to the query, and the sources that found it, each with its rank.

    If no source but captions found the candidate, leave out the sources.
    """
    similar = [] if pair.similarity is None else [tr("similarity {similarity:.3f}", similarity=pair.similarity)]
    if all(entry.source.kind is SourceKind.CAPTIONS for entry in pair.found_by):
        return " ".join(similar) or tr("no similarity")
    names = (tr("{label} (rank {rank})", label=_source(entry.source), rank=entry.rank) for entry in pair.found_by)
    return " · ".join([*similar, tr("found by {names}", names=", ".join(names))])


def _source(source: CandidateSource) -> str:
    return tr(_SIMILARITIES[source.kind]) if source.kind in _SIMILARITIES else source.label


def when(at: float | None, timezone: str | None) -> str:
    """Format a time (seconds since 1970) in the reader's time zone, `9 Oct 2025, 10:53`; None becomes `never`."""
    if at is None:
        return tr("never")
    try:
        zone = ZoneInfo(timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return instant(datetime.fromtimestamp(at, zone))


def grade(value: int, scale: Scale) -> str:
    """Write a grade with its label on the scale, such as `3 well`."""
    return f"{value} {scale.label(value).lower()}"


def grades(given: Sequence[GivenGrade]) -> str:
    """Write the grades of a pair in the given order, separated by dots: `0 · 4 · 1`."""
    return " · ".join(str(grade.grade) for grade in given)


def percent(value: float) -> str:
    """Format a value in percent (0 to 100) with at most one decimal: `11.8 %`, `20 %`."""
    return f"{value:.1f}".removesuffix(".0") + " %"


def exam_result(result: ExamResult) -> str:
    """Summarise the result of an exam attempt: `missed 9 of 100 (9 %, at most 20 %)`."""
    share = f"{percent(100 * result.missed / result.answers)}, " if result.answers else ""
    return tr(
        "missed {missed} of {answers} ({share}at most {most})",
        missed=result.missed,
        answers=result.answers,
        share=share,
        most=percent(result.most_missed),
    )


def kappas(result: ExamResult) -> str:
    """Write how well a person's exam answers agree with the answer key (kappas), or why kappa is undefined.

    Kappa is agreement corrected for chance; quadratic kappa also counts how far apart two grades are.
    """
    if result.kappa is None or result.kappa_quadratic is None:
        return tr("Kappa is undefined: {undefined}.", undefined=result.undefined)
    return tr(
        "Kappa {kappa:.2f}, quadratic {kappa_quadratic:.2f} (n = {answers}).",
        kappa=result.kappa,
        kappa_quadratic=result.kappa_quadratic,
        answers=result.answers,
    )


def why(pair: PairReview, grading: Grading) -> str:
    """Return a sentence that explains how a pair's grades, or a lead's decision, led to its verdict."""
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
    """Return the words for two grades that disagree: `differ by more than 1`, or `differ` for a tolerance of 0."""
    return tr("differ by more than {tolerance}", tolerance=tolerance) if tolerance else tr("differ")


def _agreed(values: Sequence[int], grading: Grading) -> str:
    """Return why the middle two grades agree: `3 and 4 differ by at most 1; their mean 3.5, half up, is 4`.

    With a tolerance of 0: `both are 1`.
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
    """Return the text with its first character in upper case."""
    return text[:1].upper() + text[1:]
