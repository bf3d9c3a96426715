"""Compute the agreement board, which shows how far annotators agree, over all pairs or some.

It has tables by annotator, by day and week, and by query.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from backend.campaign.monitoring.quality.model import (
    WHOLE,
    AgreementBoard,
    BoardPart,
    Couple,
    Figure,
    GroupAgreement,
    PersonGrades,
    PersonPeriod,
    Verdicts,
)
from backend.campaign.monitoring.quality.rules import people
from backend.campaign.monitoring.quality.rules.figures import GRADES, figures, summary
from backend.campaign.monitoring.quality.rules.flags import is_often, one_grade_limit
from backend.campaign.monitoring.quality.rules.pairs import Codes, GradedPairs, Patterns, Truths
from backend.campaign.nouns import Verdict
from backend.core.messages import said
from backend.scoring.statistics import bootstrap
from backend.scoring.statistics.agreement import (
    ALL_THE_SAME,
    MIN_SHARED,
    NO_TWO_GRADES,
    Agreement,
    Couples,
    Floats,
    alphas,
    coincidences,
    couples_of,
    kappas,
    shares_within,
)

ALL = said("all")


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """The split and query of each pair, and the day of each grade.

    Each value is an index in a list of names: `split` in `splits`, `query` in `queries`, and so on. It is -1 where the
    name is unknown. `imported` counts grades of earlier campaigns, and `simulated` those that a program gave.

    `split` and `query` have one entry per pair, and `day` one per given grade. `week` has the week of each day, and
    `query_split` the name of each query's split.
    """

    split: Codes
    splits: Sequence[str]
    query: Codes
    queries: Sequence[str]
    query_split: Sequence[str]
    day: Codes
    days: Sequence[str]
    week: Codes
    weeks: Sequence[str]
    imported: int = 0
    simulated: int = 0


def measure(
    grades: GradedPairs,
    origins: Origins,
    part: BoardPart = WHOLE,
    *,
    resamples: int = bootstrap.RESAMPLES,
    seed: int = bootstrap.SEED,
) -> AgreementBoard:
    """Return the agreement board, which shows how far annotators agree, for the given grades.

    Args:
        grades: all current grades, in the order in which they were given where that is known.
        origins: the split and query of the same pairs, and the day of the same grades.
        part: the pairs to cover.
        resamples: how often the pairs are resampled for intervals; 0 for none.
        seed: the seed of the resampling.
    """
    grades, origins = narrow(grades, origins, part)
    kinds = grades.patterns()
    couples = couples_of(grades.pair, grades.annotator, grades.grade)
    found = figures(grades, kinds, couples, resamples=resamples, seed=seed)
    leaning = people.leanings(grades.pair, grades.annotator, grades.grade)
    spread = people.histograms(grades.annotator, grades.grade, len(grades.people), grades.highest + 1)
    day_of_pair = first_of_pair(grades, origins.day)
    week_of_pair = np.where(day_of_pair >= 0, origins.week[day_of_pair], -1) if len(origins.week) else day_of_pair
    return AgreementBoard(
        part=part,
        summary=dict(summary(grades, kinds, found)),
        figures=found,
        resamples=resamples,
        tolerance=grades.tolerance,
        imported=origins.imported,
        simulated=origins.simulated,
        settled=(
            *_settled(kinds, kinds.times[None], [ALL], grades.may_go_on),
            *_settled(kinds, kinds.by(origins.split, len(origins.splits)), origins.splits, grades.may_go_on),
        ),
        lowest_highest=_lowest_highest(kinds),
        histogram=tuple(spread.sum(axis=0).tolist()),
        most_used_limit=one_grade_limit(grades.highest),
        people=tuple(_people(grades, leaning, spread, resamples, seed)),
        couples=tuple(_couples(couples)),
        days=tuple(_group_agreements(grades, kinds, day_of_pair, origins.days)),
        weeks=tuple(_group_agreements(grades, kinds, week_of_pair, origins.weeks)),
        person_weeks=tuple(_person_weeks(grades, origins, leaning)),
        queries=tuple(_group_agreements(grades, kinds, origins.query, origins.queries, origins.query_split)),
    )


def _settled(kinds: Patterns, times: Codes, names: Sequence[str], may_go_on: bool) -> list[Verdicts]:
    """Count the verdicts of the pairs in each part of the campaign, such as a split. Parts without pairs are left out.

    `kinds` has the different combinations of grades that pairs have. `times` has shape [parts, combinations]: how many
    pairs of each part have each combination. `names` are the names of the parts. If `may_go_on` is False, pairs that
    lack grades count as discarded.
    """
    discarded = kinds.without_relevance(may_go_on)
    waiting = kinds.having(Verdict.OPEN, Verdict.ESCALATED) & ~discarded
    by_size = [kinds.having(Verdict.CONSENSUS, size=size) for size in (2, 4, 6)]
    masks = [np.ones(len(kinds.times), dtype=bool), *by_size, kinds.having(Verdict.ADJUDICATED)]
    counted = times @ np.array([*masks, discarded, waiting]).T
    return [Verdicts(name, *row) for name, row in zip(names, counted.tolist(), strict=True) if row[0]]


def _lowest_highest(kinds: Patterns) -> tuple[tuple[int, ...], ...]:
    grades = kinds.counts.shape[1]
    given = kinds.counts > 0
    low, high = given.argmax(axis=1), grades - 1 - given[:, ::-1].argmax(axis=1)
    comparable = kinds.size >= 2
    cells = np.bincount((low * grades + high)[comparable], weights=kinds.times[comparable], minlength=grades**2)
    return tuple(tuple(row) for row in cells.astype(int).reshape(grades, grades).tolist())


def _group_agreements(
    grades: GradedPairs, kinds: Patterns, group: Codes, names: Sequence[str], splits: Sequence[str] = ()
) -> list[GroupAgreement]:
    """Return how far annotators agree within each group of pairs. Groups without pairs are left out.

    `kinds` has the different combinations of grades that pairs have. `group` has the group of each pair, -1 for none.
    `names` are the names of the groups, and `splits` their splits if they are queries.
    """
    times = kinds.by(group, len(names))
    each = coincidences(kinds.counts)
    matrices = np.tensordot(times, each, 1)
    comparable = np.rint(matrices.sum(axis=(1, 2))).astype(int).tolist()
    given = kinds.size
    sums = times @ (kinds.counts @ np.arange(kinds.counts.shape[1]))
    means = (sums / np.maximum(times @ given, 1)).tolist()
    values = (
        _or_none(v) for v in (alphas(matrices), shares_within(matrices), shares_within(matrices, grades.tolerance))
    )
    parts = {part.part: part for part in _settled(kinds, times, [str(n) for n in range(len(names))], grades.may_go_on)}
    found = []
    for at, (name, n, mean, alpha, exact, within) in enumerate(zip(names, comparable, means, *values, strict=True)):
        if part := parts.get(str(at)):
            why = "" if alpha is not None else ALL_THE_SAME if n else NO_TWO_GRADES
            split = splits[at] if splits else ""
            found.append(GroupAgreement(name, part.pairs, n, mean, alpha, exact, within, part, why, split))
    return found


def _people(grades: GradedPairs, leaning: Floats, spread: Codes, resamples: int, seed: int) -> list[PersonGrades]:
    found = []
    biases = people.biases(leaning, grades.annotator, len(grades.people))
    for who, (name, histogram, bias) in enumerate(zip(grades.people, spread, biases, strict=True)):
        rows = np.flatnonzero(grades.annotator == who)
        grade, share = people.most_used(histogram) or (0, 0.0)
        own, pair = leaning[rows], grades.pair[rows]
        found.append(
            PersonGrades(
                name,
                int(histogram.sum()),
                tuple(histogram.tolist()),
                grade,
                share,
                is_often(share, len(rows), grades.highest),
                _figure(bias, bootstrap.mean_samples(own, pair, resamples=resamples, seed=seed)),
            )
        )
    return found


def _figure(found: Agreement, samples: Floats) -> Figure:
    low, high = (found.value is not None and bootstrap.interval(samples)) or (None, None)
    return Figure(found.value, found.n, GRADES, found.reason, low, high)


def _couples(couples: Couples) -> list[Couple]:
    tables = couples.tables()
    shared = tables.sum(axis=(1, 2)).tolist()
    found = []
    for (first, second), n, plain, quadratic in zip(
        couples.couples.tolist(), shared, _or_none(kappas(tables)), _or_none(kappas(tables, "quadratic")), strict=True
    ):
        if n < MIN_SHARED:
            found.append(
                Couple(first, second, n, None, None, said("they share fewer than {pairs} pairs", pairs=MIN_SHARED))
            )
        else:
            why = "" if plain is not None else "both gave every pair the same single grade"
            found.append(Couple(first, second, n, plain, quadratic, why))
    return found


def _person_weeks(grades: GradedPairs, origins: Origins, leaning: Floats) -> list[PersonPeriod]:
    rows = np.flatnonzero(origins.day >= 0)
    if not rows.size:
        return []
    key = origins.week[origins.day[rows]] * len(grades.people) + grades.annotator[rows]
    keys, code = np.unique(key, return_inverse=True)
    spread = people.histograms(code, grades.grade[rows], len(keys), grades.highest + 1)
    biases = people.biases(leaning[rows], code, len(keys))
    found = []
    for week_and_person, histogram, bias in zip(keys.tolist(), spread, biases, strict=True):
        week, who = divmod(week_and_person, len(grades.people))
        grade, share = people.most_used(histogram) or (0, 0.0)
        found.append(
            PersonPeriod(
                origins.weeks[week], grades.people[who], int(histogram.sum()), grade, share, bias.value, bias.n
            )
        )
    return found


def _or_none(values: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def as_json(board: AgreementBoard) -> Mapping[str, object]:
    """Return the agreement board (how far annotators agree) as `reelrank agreement --json` prints it.

    Its first keys are those that `reelrank consensus --json` prints.
    """
    rest = {name: getattr(board, name) for name in AgreementBoard.__slots__ if name != "summary"}
    return {**board.summary, **rest}


def no_origins(grades: GradedPairs) -> Origins:
    """Return origins in which every split, query and day is unknown, for a file that holds only grades."""
    nothing = np.full(grades.pairs, -1)
    unknown = np.full(len(grades.grade), -1)
    return Origins(nothing, (), nothing, (), (), unknown, (), np.empty(0, dtype=np.int64), ())


def first_of_pair(grades: GradedPairs, day: Codes) -> Codes:
    """Return the day of each pair's first grade as an index, -1 if it is unknown. `day` has the day of each grade."""
    first = np.full(grades.pairs, -1, dtype=np.int64)
    first[grades.pair[::-1]] = day[::-1]  # in reverse, so that the first grade is written last and stays
    return first


def narrow(grades: GradedPairs, origins: Origins, part: BoardPart) -> tuple[GradedPairs, Origins]:
    """Return only the grades and origins of the pairs that `part` selects. Pairs and people are numbered from 0 again.

    Only people who graded these pairs remain. The counts of imported and simulated grades are set to 0, because they
    are not known for a selection.
    """
    if part == WHOLE:
        return grades, origins
    pairs = _of_part(grades, origins, part)
    rows = pairs[grades.pair]
    people, annotator = np.unique(grades.annotator[rows], return_inverse=True)
    first = grades.first_round
    narrowed = replace(
        grades,
        people=tuple(grades.people[person] for person in people.tolist()),
        pair=(np.cumsum(pairs) - 1)[grades.pair[rows]],
        annotator=annotator.astype(np.int64),
        grade=grades.grade[rows],
        decided=grades.decided[pairs],
        first_round=None if first is None else first[rows],
        re_opened=None if grades.re_opened is None else grades.re_opened[pairs],
    )
    kept = replace(
        origins, split=origins.split[pairs], query=origins.query[pairs], day=origins.day[rows], imported=0, simulated=0
    )
    return narrowed, kept


def _of_part(grades: GradedPairs, origins: Origins, part: BoardPart) -> Truths:
    """Return which pairs `part` selects, as booleans of shape [pairs]."""
    members = np.ones(grades.pairs, dtype=bool)
    if part.split:
        members &= _name_mask(origins.split, origins.splits, lambda name: name == part.split)
    if part.query:
        members &= _name_mask(origins.query, origins.queries, lambda name: name == part.query)
    if part.first or part.last:
        day = first_of_pair(grades, origins.day)
        members &= _name_mask(day, origins.days, lambda name: part.first <= name <= (part.last or name))
    return members


def _name_mask(codes: Codes, names: Sequence[str], condition: Callable[[str], bool]) -> Truths:
    """Return for each code whether its name fulfils the condition. Code n stands for `names[n]`; code -1 never does."""
    fulfilled: Truths = np.array([*map(condition, names), False])[codes]
    return fulfilled
