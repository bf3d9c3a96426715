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
    `tolerance`. The tolerance is how far two grades may differ in this campaign and still agree. `difference` is the
    mean of their grade minus the agreed value of the pair; above 0 they are more generous. The agreed value is the
    unrounded mean of a consensus, or a lead's relevance.
    """

    pairs: int
    equal: float
    tolerance: int
    within: float
    difference: float


@dataclass(frozen=True, slots=True)
class MyWork:
    """The statistics that annotators may read about their own work. Judgements of earlier campaigns are left out.

    Attributes:
        today: the pairs graded for the first time since the server's midnight.
        week: the pairs graded for the first time today or in the six days before.
        in_all: all graded pairs.
        simulated: how many pairs of `in_all` a program graded, for a demonstration.
        days: (`2026-03-14`, pairs graded for the first time) of the last 30 local days, the oldest first.
        active_s: the active time of all grades and corrections together, in seconds.
        months: (first day, `2026-03-01`, active seconds) of the months with active time, the newest first. Simulated
            grades are left out.
        median_s: the median active time of a current grade, in seconds; None if no time was measured.
        grades: how often each grade of the scale was given, the lowest first.
        skips: the skips that were not taken back.
        settled: the graded pairs whose relevance is final. `agreement` is computed from them.
        recent: the pairs that somebody graded so recently that they may still correct it. They are not in `agreement`
            yet.
        imported: how many judgements of earlier campaigns are left out.
        agreement: None while `settled` is too small for it.
    """

    today: int
    week: int
    in_all: int
    simulated: int
    days: tuple[tuple[str, int], ...]
    active_s: float
    months: tuple[tuple[str, float], ...]
    median_s: float | None
    grades: tuple[int, ...]
    skips: int
    settled: int
    recent: int
    imported: int
    agreement: MyAgreement | None


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

    Attributes:
        value: a share (0 to 1), or a difference in grades or shares; None where it is undefined.
        n: the number of grades or pairs from which the value is computed.
        limit: the limit that the value has to pass for the flag to be raised.
        told: the value and what it is compared with, in a sentence.
        interval: the 99 % interval of a difference; None for a share, or with too few grades.
        reason: why the value is undefined; empty otherwise.
        dismissed: the lead's dismissal that hides a raised flag.
    """

    kind: FlagKind
    value: float | None
    n: int
    limit: float
    raised: bool
    told: str
    interval: tuple[float, float] | None = None
    reason: str = ""
    dismissed: FlagDismissal | None = None

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

    `grades` counts their current grades, also repeats and grades of earlier campaigns. `median_s` is the median active
    time of a grade in seconds; None if no time was measured.
    """

    annotator_id: AnnotatorId
    name: str
    grades: int
    median_s: float | None
    flags: tuple[Flag, ...]

    @property
    def raised(self) -> tuple[Flag, ...]:
        """The raised flags that no lead dismissed."""
        return tuple(flag for flag in self.flags if flag.raised and flag.dismissed is None)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A summary of consecutive grades of one annotator, as evidence for a quality flag.

    `since` and `until` are the times of the first and the last grade, in seconds since 1970. `n` counts the grades.
    `mean` is the mean of what the flag watches, over these grades only, such as the share that came too fast. It is a
    share or a difference in grades.
    """

    since: float
    until: float
    n: int
    mean: float


@dataclass(frozen=True, slots=True)
class FlagEvidence:
    """The evidence for an annotator's quality flag: how its value changed over time, and the pairs to look at first.

    `stretches` has the value over consecutive grades, one stretch after the other. It is empty where the times of
    grades are unknown, and for flags about skips. `pairs` are those that support the flag and have a clip, the
    strongest evidence or the newest first. `by_number` counts further pairs that support the flag but have no clip.
    An earlier campaign was imported without its moments, so only the numbers of these pairs are known.
    """

    stretches: tuple[Stretch, ...]
    pairs: tuple[PairId, ...]
    by_number: int = 0


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How many pairs have each verdict, in the whole campaign or in one split. The counts add up to `pairs`.

    `part` names the split, or says that all pairs are counted. `by_two`, `by_four` and `by_six` count pairs settled by
    this many grades. A pair gets six grades if a lead re-opened it for two more annotators. `waiting` counts graded
    pairs that do not have enough grades yet.
    """

    part: str
    pairs: int
    by_two: int
    by_four: int
    by_six: int
    adjudicated: int
    discarded: int
    waiting: int


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """How far annotators agree on the pairs of one query, day or week. A pair belongs to the day of its first grade.

    Attributes:
        name: the query, day or week.
        grades: how many grades can be compared with another one of the same pair.
        mean: the mean of all grades of these pairs.
        alpha_ordinal: Krippendorff's alpha, a measure of agreement.
        exact: the share of grades that are equal.
        within: the share of grades that differ by at most the campaign's tolerance.
        settled: the counts of the verdicts.
        reason: why a figure is None; empty if none is.
        split: the split of a query; empty for a day or week.
    """

    name: str
    pairs: int
    grades: int
    mean: float
    alpha_ordinal: float | None
    exact: float | None
    within: float | None
    settled: Verdicts
    reason: str
    split: str = ""


@dataclass(frozen=True, slots=True)
class PersonGrades:
    """How one annotator grades: the counts of each grade, the most used grade, and the bias.

    `histogram` counts each grade, the lowest first. `often` says whether `most_used_share` is so high, over enough
    grades, that it raises a quality flag. `bias` is the mean of their grades minus those of others on the same pairs.
    """

    name: str
    grades: int
    histogram: tuple[int, ...]
    most_used: int
    most_used_share: float
    often: bool
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

    Attributes:
        part: the pairs that are covered.
        summary: what `reelrank consensus --json` prints for the same grades.
        figures: the same statistics under the same keys, and further ones. Each has its number of grades or pairs and a
            bootstrap interval.
        resamples: how often the pairs are resampled for the intervals; 0 for no intervals.
        imported: the number of grades of earlier campaigns. They are part of everything but the tables by day or week.
        simulated: the number of grades that a program gave. They are part of everything.
        settled: the verdicts of all pairs, then of the pairs of each split.
        lowest_highest: the number of pairs by lowest grade (first index) and highest grade (second index). Only pairs
            with two grades or more are counted.
        most_used_limit: the share of one grade above which an annotator uses it conspicuously often.
    """

    part: BoardPart
    summary: dict[str, Any]
    figures: dict[str, Figure]
    resamples: int
    tolerance: int
    imported: int
    simulated: int
    settled: tuple[Verdicts, ...]
    lowest_highest: tuple[tuple[int, ...], ...]
    histogram: tuple[int, ...]
    most_used_limit: float
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

    Attributes:
        by_rule: the number of pairs whose final relevance comes from the consensus rule.
        differs: how many pairs of `by_rule` get another relevance from the aggregator.
        differs_by_more: how many pairs of `by_rule` get one that differs by more than 1.
        by_lead: the number of pairs that a lead decided.
        differs_from_lead: how many pairs of `by_lead` get another relevance from the aggregator.
        gained: the number of discarded pairs: they have no final relevance, but the aggregator gives each of them one.
    """

    name: str
    by_rule: int
    differs: int
    differs_by_more: int
    by_lead: int
    differs_from_lead: int
    gained: int


@dataclass(frozen=True, slots=True)
class OtherRelevance:
    """A pair whose final relevance differs from that by mean, median or Dawid-Skene.

    `query` is the text of its query; empty where it is unknown. `grades` are all its grades, from the lowest to the
    highest. `by_lead` says whether a lead decided on the relevance `final`. `mean`, `median` and `dawid_skene` are the
    relevances by these methods.
    """

    pair: str
    query: str
    grades: tuple[int, ...]
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
