"""Agreement, flags and people's own work as values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from backend.core.events import Event, EventGroup, Payload
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the agreement board.

    `value` is None where it is undefined, and then `reason` says why; `n` counts its base, of which `of` says what it
    is. `low` and `high` are its bootstrap interval (95 %), None where none was asked for or there is none.
    """

    value: float | None
    n: int
    of: str
    reason: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class MyAgreement:
    """How one person's grades compare with the relevance of pairs that are settled for good. Never about one pair."""

    pairs: int
    equal: float
    """Share of grades that are the relevance."""
    tolerance: int
    """How far a grade may differ from another one in this campaign and still agree."""
    within: float
    """Share of grades that differ from the relevance by at most the tolerance."""
    difference: float
    """Mean of grade minus agreed value (the mean behind a consensus, a lead's relevance); above 0: more generous."""


@dataclass(frozen=True, slots=True)
class MyWork:
    """What an annotator may know of their own work. Judgements of earlier campaigns are left out."""

    today: int
    """Pairs graded for the first time since midnight."""
    week: int
    """The same, today and the six days before."""
    in_all: int
    simulated: int
    """How many of them a program made (demonstrations)."""
    days: tuple[tuple[str, int], ...]
    """(`2026-03-14`, pairs) of the last 30 local days, the oldest first."""
    active_s: float
    """Active time of all grades and corrections together."""
    months: tuple[tuple[str, float], ...]
    """(first day, `2026-03-01`, active seconds) of each month with any, the newest first; nothing of a program's."""
    median_s: float | None
    """Median active time of a grade that counts; None without any measured one."""
    grades: tuple[int, ...]
    """How often each grade of the scale was given, the lowest first."""
    skips: int
    settled: int
    """Pairs that `agreement` may speak of."""
    recent: int
    """Pairs that somebody graded so lately that they may take it back: nothing is told of them yet."""
    imported: int
    """Judgements of earlier campaigns."""
    agreement: MyAgreement | None
    """None while `settled` is too small to say anything."""


class FlagKind(StrEnum):
    """What a lead may want to look at in somebody's work. None of them acts by itself."""

    TOO_FAST = "too_fast"
    UNSEEN = "unseen"
    """Graded before the clip was seen."""
    ONE_GRADE = "one_grade"
    BIAS = "bias"
    DRIFT = "drift"
    AGREEMENT = "agreement"
    """Agreement with the others falls."""
    SKIPS = "skips"
    REPORTS = "reports"
    """Clips reported as broken."""


FLAG_NAMES = {
    FlagKind.TOO_FAST: said("Too fast"),
    FlagKind.UNSEEN: said("Clip not seen"),
    FlagKind.ONE_GRADE: said("One grade"),
    FlagKind.BIAS: said("Bias"),
    FlagKind.DRIFT: said("Drift"),
    FlagKind.AGREEMENT: said("Agreement falls"),
    FlagKind.SKIPS: said("Skips"),
    FlagKind.REPORTS: said("Broken clips"),
}
FLAG_MEANINGS = {
    FlagKind.TOO_FAST: said("Nobody reads a query and watches a clip in less than 1.5 s, or half of a shorter clip."),
    FlagKind.UNSEEN: said(
        "Even at double speed, half of the clip cannot have been on screen. The beginning shows when "
        "a clip is of something else, so a few of these with low grades are fine. Whole videos are "
        "not counted."
    ),
    FlagKind.ONE_GRADE: said(
        "Somebody who always gives the same grade may not be looking. It may also be right: see what "
        "others gave to the same pairs."
    ),
    FlagKind.BIAS: said(
        "Above 0: more generous than the others on the same pairs. Compared with the unrounded mean "
        "of the others' grades."
    ),
    FlagKind.DRIFT: said(
        "Standards shift while people work. The newest 200 grades are compared with all earlier ones. "
        "Each is measured against the others' grades of the same pair, so easier queries do not look "
        "like a shift."
    ),
    FlagKind.AGREEMENT: said(
        "How often the first two grades of a pair agree: the newest 200 against all earlier ones. "
        "Third and fourth grades do not count."
    ),
    FlagKind.SKIPS: said(
        "Skipped pairs go to others. Somebody who skips many may be choosing the easy ones, or collecting pairs."
    ),
    FlagKind.REPORTS: said(
        "Clips that this annotator reported as broken. One report changes nothing for others; two "
        "annotators' reports hold a clip back."
    ),
}


def _dismissal_words(payload: Payload) -> str:
    flag = payload.get("flag")
    return said("dismissed the quality flag “{flag}”", flag=FLAG_NAMES[FlagKind(flag)] if flag else "–")


FLAG_DISMISSED = Event("flag_dismissed", EventGroup.PEOPLE, _dismissal_words)
"""flag, reason (may be empty): a lead dismissed it; later work can raise it again"""


@dataclass(frozen=True, slots=True)
class FlagDismissal:
    """A dismissal of a flag by a lead: it stays hidden until work after `at` raises it again."""

    at: float
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Flag:
    """One figure of one person's work, and whether it is worth a look.

    `value` is a share (0 to 1) or a difference in grades; None where it is undefined, and then `reason` says why.
    """

    kind: FlagKind
    value: float | None
    n: int
    """Grades that the figure is made of."""
    limit: float
    """What the figure has to go beyond."""
    raised: bool
    told: str
    """The figure and what it is held against, in a sentence."""
    interval: tuple[float, float] | None = None
    """99 %, of a difference."""
    reason: str = ""
    dismissed: FlagDismissal | None = None
    """The dismissal that hides a raised flag."""

    @property
    def figure(self) -> str:
        """`55.5 %`, `−0.58`, `−18.6 points`; a dash where it is undefined."""
        if self.value is None:
            return "-"
        if self.kind in (FlagKind.BIAS, FlagKind.DRIFT):
            return f"{self.value:+.2f}".replace("-", "\u2212")
        if self.kind is FlagKind.AGREEMENT:
            return said("{points} points", points=f"{100 * self.value:+.1f}".replace("-", "\u2212"))
        return f"{100 * self.value:.1f} %"


@dataclass(frozen=True, slots=True)
class PersonFlags:
    """Everything that is looked at in one person's work."""

    annotator_id: AnnotatorId
    name: str
    grades: int
    """Standing grades, those of earlier campaigns and repeats too."""
    median_s: float | None
    """Median active time a grade; None without any measured one."""
    flags: tuple[Flag, ...]

    @property
    def raised(self) -> tuple[Flag, ...]:
        """The raised flags that nobody dismissed."""
        return tuple(flag for flag in self.flags if flag.raised and flag.dismissed is None)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of a person's grades, given one after the other."""

    since: float
    """When the first of them was given, in seconds since 1970."""
    until: float
    n: int
    mean: float
    """Of what a flag is about: a share, or a difference in grades."""


@dataclass(frozen=True, slots=True)
class BehindFlag:
    """What a flag is made of: how it went over time, and the pairs to look at first."""

    stretches: tuple[Stretch, ...]
    """Empty where it is not known when the grades were given."""
    pairs: tuple[PairId, ...]
    """Those that speak for the flag and have a clip, the most telling or the newest first."""
    by_number: int = 0
    """How many more speak for it, of which nothing but the number is known."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How many pairs of a part of the campaign came to what; all but `pairs` add up to it."""

    part: str
    pairs: int
    by_two: int
    by_four: int
    by_six: int
    """Pairs that a lead re-opened for two more people."""
    adjudicated: int
    discarded: int
    waiting: int
    """Graded, but not by enough people yet."""


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """How people agree on the pairs of one query, or of one day or week: that on which a pair was first graded."""

    name: str
    pairs: int
    grades: int
    """Grades that can be compared with another of the same pair."""
    mean: float
    """Of all grades of these pairs."""
    alpha_ordinal: float | None
    exact: float | None
    within: float | None
    """Share that differs by at most the campaign's tolerance."""
    settled: Verdicts
    reason: str
    """Why a figure is None; an empty text if none is."""
    split: str = ""


@dataclass(frozen=True, slots=True)
class PersonGrades:
    """What one person's grades look like. See `rules.people` for what bias is."""

    name: str
    grades: int
    histogram: tuple[int, ...]
    most_used: int
    most_used_share: float
    often: bool
    """Whether the most used grade is given so often, by so many grades, that it is a flag."""
    bias: Figure


@dataclass(frozen=True, slots=True)
class PersonPeriod:
    """The grades that one person gave in one week."""

    week: str
    name: str
    grades: int
    most_used: int
    most_used_share: float
    bias: float | None
    n: int
    """Grades that the bias is a mean of."""


@dataclass(frozen=True, slots=True)
class Couple:
    """Two people, by their places in the board, and how they agree on the `n` pairs that both graded."""

    first: int
    second: int
    n: int
    kappa_plain: float | None
    kappa_quadratic: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class BoardPart:
    """Which pairs a board is of: all, or those of a split, of a query (its text), of a time.

    A pair belongs to the day (`2026-03-14`) of its first grade, as on the board; `first` and `last` are in it. Grades
    of earlier campaigns have no day.
    """

    split: str = ""
    query: str = ""
    first: str = ""
    last: str = ""


WHOLE = BoardPart()
"""All pairs."""


@dataclass(frozen=True, slots=True)
class AgreementBoard:
    """How well people agree: everything of one instant, over all grades that count.

    `summary` is what `reelrank consensus --json` prints of the same grades; `figures` has its statistics and more, by
    the same keys, with base and interval (of so many `resamples`; none with 0).
    """

    part: BoardPart
    summary: dict[str, Any]
    figures: dict[str, Figure]
    resamples: int
    tolerance: int
    imported: int
    """Grades of earlier campaigns; they are in everything but days and weeks."""
    simulated: int
    """Grades that a program made; they are in everything."""
    settled: tuple[Verdicts, ...]
    """All pairs, then those of each split."""
    lowest_highest: tuple[tuple[int, ...], ...]
    """Pairs by their lowest grade (first index) and highest one, of those with two grades or more."""
    histogram: tuple[int, ...]
    most_used_limit: float
    """Whoever gives one grade more often than this share of the time is worth a look."""
    people: tuple[PersonGrades, ...]
    couples: tuple[Couple, ...]
    days: tuple[GroupAgreement, ...]
    weeks: tuple[GroupAgreement, ...]
    person_weeks: tuple[PersonPeriod, ...]
    queries: tuple[GroupAgreement, ...]


FIGURE_WORDS = {
    "alpha_ordinal": said("Alpha, ordinal, all rounds"),
    "alpha_ordinal_first_round": said("Alpha, ordinal, first round"),
    "alpha_nominal": said("Alpha, nominal"),
    "alpha_interval": said("Alpha, interval"),
    "alpha_ordinal_first_per_annotator": said("Alpha, ordinal, no repeats"),
    "kappa_quadratic": said("Kappa, quadratic, mean"),
    "kappa_plain": said("Kappa, plain, mean"),
    "exact_agreement": said("Equal grades"),
    "within_one_agreement": said("Grades within one"),
    "within_tolerance_agreement": said("Grades within the tolerance"),
    "share_settled_by_two": said("Pairs settled by two"),
    "share_settled_by_four": said("Pairs settled by four"),
    "share_discarded": said("Pairs discarded"),
    "share_rounded": said("Relevances on a half"),
}
"""What the figures of the board are called, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class AggregatorCount:
    """How what another way makes of the grades differs from what is final."""

    name: str
    by_rule: int
    """Pairs in consensus by the rule."""
    differs: int
    """Of these, those whose relevance would be another one."""
    differs_by_more: int
    """Of these, those whose relevance would differ by more than one."""
    by_lead: int
    """Pairs that a lead decided."""
    differs_from_lead: int
    gained: int
    """Discarded pairs, all of which would have a relevance."""


@dataclass(frozen=True, slots=True)
class OtherRelevance:
    """One pair of which another way makes something else than what is final."""

    pair: str
    query: str
    """An empty text where it is not known."""
    grades: tuple[int, ...]
    """From the lowest to the highest."""
    final: int
    by_lead: bool
    mean: int
    median: int
    dawid_skene: int


@dataclass(frozen=True, slots=True)
class AggregatorReport:
    """What mean, median and Dawid-Skene would make of the settled pairs."""

    counts: tuple[AggregatorCount, ...]
    pairs: tuple[OtherRelevance, ...]


AGGREGATOR_WORDS = {
    "mean": said("Mean of all grades"),
    "median": said("Median of all grades"),
    "dawid_skene": said("Dawid-Skene, posterior median"),
}
