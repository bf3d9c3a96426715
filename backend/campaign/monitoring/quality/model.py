"""Data types of agreement, quality flags, and the page on which annotators see their own work."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from backend.core.events import Event, EventGroup, Payload
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the agreement board, which shows how far annotators agree.

    `value` is None where it is undefined; then `reason` says why. `n` is the number of cases from which it was
    computed, and `of` names these cases: grades, pairs or couples of annotators. `low` and `high` are the ends of its
    95 % bootstrap interval. They are None if no interval was asked for or none exists.
    """

    value: float | None
    n: int
    of: str
    reason: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class MyAgreement:
    """How an annotator's grades compare with the final relevance of many pairs.

    `equal` is the share of their grades that equal the relevance. `within` is the share that differ from it by at most
    `tolerance`. `difference` is the mean of their grade minus the agreed value of the pair; above 0 they are more
    generous. The agreed value is the unrounded mean of a consensus, or a lead's relevance.
    """

    pairs: int
    equal: float
    """Share of grades that equal the relevance."""
    tolerance: int
    """How far two grades may differ in this campaign and still agree."""
    within: float
    """Share of grades that differ from the relevance by at most the tolerance."""
    difference: float
    """Mean of grade minus agreed value, which is a consensus's unrounded mean or a lead's relevance.

    Above 0 means more generous.
    """


@dataclass(frozen=True, slots=True)
class MyWork:
    """The statistics that annotators may read about their own work. Judgements of earlier campaigns are left out.

    `today`, `week` and `in_all` count graded pairs, and `simulated` those that a program graded. `days` are (day,
    pairs) and `months` (first day, active seconds). `active_s` is all active time, and `median_s` is the median for one
    grade, both in seconds. `grades` counts each grade, the lowest first. `settled` counts graded pairs whose relevance
    is final. `recent` counts pairs that somebody may still correct.
    """

    today: int
    """Pairs graded for the first time since midnight."""
    week: int
    """Pairs graded for the first time today or in the six days before."""
    in_all: int
    simulated: int
    """How many of them a program made, for a demonstration."""
    days: tuple[tuple[str, int], ...]
    """(`2026-03-14`, pairs) of the last 30 local days, the oldest first."""
    active_s: float
    """Active time of all grades and corrections together."""
    months: tuple[tuple[str, float], ...]
    """(first day, `2026-03-01`, active seconds) of months with any, the newest first. Simulated grades are left out."""
    median_s: float | None
    """Median active time of the current grades, in seconds; None if no time was measured."""
    grades: tuple[int, ...]
    """How often each grade of the scale was given, the lowest first."""
    skips: int
    settled: int
    """How many of the graded pairs are settled for good, which `agreement` rests on."""
    recent: int
    """Pairs that somebody graded so recently that they may still correct it. They are not in `agreement` yet."""
    imported: int
    """Judgements of earlier campaigns."""
    agreement: MyAgreement | None
    """None while `settled` is too small to say anything."""


class FlagKind(StrEnum):
    """The kinds of quality flags. A flag is only shown to leads; it has no effect by itself."""

    TOO_FAST = "too_fast"
    UNSEEN = "unseen"
    """Graded before the clip can have been seen."""
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
"""flag, reason (may be empty). Later work can raise a dismissed flag again."""


@dataclass(frozen=True, slots=True)
class FlagDismissal:
    """A lead's dismissal of a quality flag. The flag stays hidden until work done after `at` raises it again.

    `at` is in seconds since 1970, and `by` is the lead's name.
    """

    at: float
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Flag:
    """One quality flag (possible warning) of an annotator: the figure that it watches, and whether it is raised.

    `value` is a share (0 to 1) or a difference in grades; None where it is undefined, and then `reason` says why. `n`
    counts the grades or pairs from which it was computed. The flag is raised if the value passes `limit`. `told`
    explains it in a sentence. `interval` is a 99 % interval. `dismissed` is the lead's dismissal that hides a raised
    flag.
    """

    kind: FlagKind
    value: float | None
    n: int
    """How many grades the figure rests on."""
    limit: float
    """The figure has to pass this limit for the flag to be raised."""
    raised: bool
    told: str
    """The figure and what it is compared with, in a sentence."""
    interval: tuple[float, float] | None = None
    """The 99 % interval of a difference."""
    reason: str = ""
    dismissed: FlagDismissal | None = None
    """The dismissal that hides a raised flag."""

    @property
    def figure(self) -> str:
        """The flag's value as text: `55.5 %`, `−0.58`, `−18.6 points`; a dash where it is undefined."""
        if self.value is None:
            return "-"
        if self.kind in (FlagKind.BIAS, FlagKind.DRIFT):
            return f"{self.value:+.2f}".replace("-", "\u2212")
        if self.kind is FlagKind.AGREEMENT:
            return said("{points} points", points=f"{100 * self.value:+.1f}".replace("-", "\u2212"))
        return f"{100 * self.value:.1f} %"


@dataclass(frozen=True, slots=True)
class PersonFlags:
    """All quality flags of one annotator, raised or not.

    `grades` counts their current grades. `median_s` is the median active time of a grade in seconds; None if no time
    was measured.
    """

    annotator_id: AnnotatorId
    name: str
    grades: int
    """Current grades, those of earlier campaigns and repeats too."""
    median_s: float | None
    """Median active time of a grade, in seconds; None if no time was measured."""
    flags: tuple[Flag, ...]

    @property
    def raised(self) -> tuple[Flag, ...]:
        """The raised flags that no lead dismissed."""
        return tuple(flag for flag in self.flags if flag.raised and flag.dismissed is None)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A summary of consecutive grades of one annotator, as evidence for a quality flag.

    `since` and `until` are the times of the first and the last grade, in seconds since 1970. `n` counts the grades.
    `mean` is what the flag watches, over these grades only, such as the share that came too fast.
    """

    since: float
    """When the first of them was given, in seconds since 1970; `until` likewise for the last."""
    until: float
    n: int
    mean: float
    """Mean of the flag's figure: a share, or a difference in grades."""


@dataclass(frozen=True, slots=True)
class FlagEvidence:
    """The evidence for an annotator's quality flag: how its value changed over time, and the pairs to look at first.

    `stretches` has the value over consecutive grades, one stretch after the other. It is empty where the times of
    grades are unknown. `pairs` are those that support the flag and have a clip. `by_number` counts those that support
    the flag but have no clip.
    """

    stretches: tuple[Stretch, ...]
    """Empty where the times of the grades are unknown."""
    pairs: tuple[PairId, ...]
    """The pairs that speak for the flag and have a clip, the most telling or the newest first."""
    by_number: int = 0
    """How many more pairs speak for the flag but are known by their number only."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How many pairs have each verdict, in the whole campaign or in one split. The counts add up to `pairs`.

    `part` names the split, or says that all pairs are counted. `by_two`, `by_four` and `by_six` count pairs settled by
    this many grades. `waiting` counts pairs that do not have enough grades yet.
    """

    part: str
    pairs: int
    by_two: int
    by_four: int
    by_six: int
    """Settled by six grades, after a lead re-opened the pair for two more people."""
    adjudicated: int
    discarded: int
    waiting: int
    """Graded, but not by enough people yet."""


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """How far annotators agree on the pairs of one query, day or week. A pair belongs to the day of its first grade.

    `name` is the query, day or week. `grades` counts grades that can be compared with another one of the same pair.
    `mean` is the mean of all grades. `alpha_ordinal` is Krippendorff's alpha, a measure of agreement. `exact` and
    `within` are the shares of grades that are equal, or differ by at most the tolerance. `settled` counts the verdicts.
    `reason` says why a figure is None.
    """

    name: str
    pairs: int
    grades: int
    """Grades that can be compared with another one of the same pair."""
    mean: float
    """Mean of all grades of these pairs."""
    alpha_ordinal: float | None
    exact: float | None
    within: float | None
    """Share of grades that differ by at most the campaign's tolerance."""
    settled: Verdicts
    reason: str
    """Why some figure is None; an empty text if none is."""
    split: str = ""


@dataclass(frozen=True, slots=True)
class PersonGrades:
    """How one annotator grades: the counts of each grade, the most used grade, and the bias.

    `histogram` counts each grade, the lowest first. `often` says whether `most_used_share` is so high that it raises a
    quality flag. `bias` is the mean of their grades minus those of others on the same pairs.
    """

    name: str
    grades: int
    histogram: tuple[int, ...]
    most_used: int
    most_used_share: float
    often: bool
    """Whether the most used grade is used so often, over enough grades, that it raises a flag."""
    bias: Figure


@dataclass(frozen=True, slots=True)
class PersonPeriod:
    """The grades of one annotator in one week: their number, the most used grade, and the bias.

    `bias` is the mean of their grades minus those of others on the same pairs, over the `n` grades that can be
    compared. It is None if there are none.
    """

    week: str
    name: str
    grades: int
    most_used: int
    most_used_share: float
    bias: float | None
    n: int
    """How many grades the bias is a mean of."""


@dataclass(frozen=True, slots=True)
class Couple:
    """How far two annotators agree on the `n` pairs that both graded.

    `first` and `second` are their positions in the board's list `people`, from 0. The kappas are None where they are
    undefined; then `reason` says why.
    """

    first: int
    second: int
    n: int
    kappa_plain: float | None
    kappa_quadratic: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A selection of pairs over which the agreement of annotators is measured. By default it has all pairs.

    `split` and `query` (its text) select pairs by their query. `first` and `last` select a period: the pairs whose
    first grade was given on these days (`2026-03-14`) or between them. Grades of earlier campaigns have no day.
    """

    split: str = ""
    query: str = ""
    first: str = ""
    last: str = ""


WHOLE = BoardPart()
"""All pairs."""


@dataclass(frozen=True, slots=True)
class AgreementBoard:
    """All figures and tables of how far annotators agree, over the current grades at one instant.

    `part` tells which pairs are covered. `summary` is what `reelrank consensus --json` prints for the same grades.
    `figures` has the same statistics under the same keys, and further ones, each with its number of grades or pairs and
    a bootstrap interval. If `resamples` is 0, there are no intervals. `lowest_highest` counts pairs by their lowest
    grade (first index) and highest grade (second index). `imported` counts the grades of earlier campaigns, and
    `simulated` those that a program gave. `most_used_limit` is the share of one grade above which an annotator uses it
    conspicuously often.
    """

    part: BoardPart
    summary: dict[str, Any]
    figures: dict[str, Figure]
    resamples: int
    tolerance: int
    imported: int
    """Grades of earlier campaigns. They are part of everything but days and weeks."""
    simulated: int
    """Grades that a program made. They are part of everything."""
    settled: tuple[Verdicts, ...]
    """Counts of all pairs, then of the pairs of each split."""
    lowest_highest: tuple[tuple[int, ...], ...]
    """Number of pairs by lowest grade (first index) and highest grade, among the pairs with two grades or more."""
    histogram: tuple[int, ...]
    most_used_limit: float
    """Giving one grade more often than this share of the time is worth a look."""
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
"""Maps each figure of the board to its name on screen, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class AggregatorCount:
    """How often the relevances of one aggregator (mean, median, Dawid-Skene) differ from the final ones.

    `by_rule` counts pairs whose relevance comes from the consensus rule. Of these, `differs` counts the pairs to which
    the aggregator gives another relevance, and `differs_by_more` those where it differs by more than 1. `by_lead`
    counts pairs that a lead decided, and `differs_from_lead` those to which the aggregator gives another relevance.
    `gained` counts discarded pairs: they have no final relevance, but the aggregator gives them one.
    """

    name: str
    by_rule: int
    """Pairs whose relevance is final by the rule."""
    differs: int
    """Pairs of `by_rule` to which the aggregator gives another relevance."""
    differs_by_more: int
    """Pairs of `by_rule` to which the aggregator gives a relevance that differs by more than one."""
    by_lead: int
    """Pairs that a lead decided."""
    differs_from_lead: int
    gained: int
    """Discarded pairs, all of which would get a relevance."""


@dataclass(frozen=True, slots=True)
class OtherRelevance:
    """A pair whose final relevance differs from that by mean, median or Dawid-Skene.

    `grades` are all its grades, from the lowest to the highest. `by_lead` says whether a lead decided on the relevance
    `final`. `mean`, `median` and `dawid_skene` are the relevances by these methods.
    """

    pair: str
    query: str
    """The text of its query; empty where it is unknown."""
    grades: tuple[int, ...]
    """All its grades, from the lowest to the highest."""
    final: int
    by_lead: bool
    mean: int
    median: int
    dawid_skene: int


@dataclass(frozen=True, slots=True)
class AggregatorReport:
    """How the relevances of mean, median and Dawid-Skene compare with the final ones."""

    counts: tuple[AggregatorCount, ...]
    pairs: tuple[OtherRelevance, ...]


AGGREGATOR_WORDS = {
    "mean": said("Mean of all grades"),
    "median": said("Median of all grades"),
    "dawid_skene": said("Dawid-Skene, posterior median"),
}
