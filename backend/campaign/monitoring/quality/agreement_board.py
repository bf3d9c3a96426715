"""Measure how well the annotators of a project agree.

*Reads* judgements, decisions, queries and people, as they are at one instant. *Writes* nothing. Every current grade is
included. Grades of earlier campaigns and simulated ones are included too, because they settle pairs like any others.
Tables by day and week leave out grades of earlier campaigns, whose times belong to another campaign or are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backend.campaign.monitoring.quality import rows
from backend.campaign.monitoring.quality.model import WHOLE, AggregatorReport, AgreementBoard, BoardPart
from backend.campaign.monitoring.quality.rules import aggregators
from backend.campaign.monitoring.quality.rules import board as rules
from backend.campaign.monitoring.quality.rules.board import Origins
from backend.campaign.monitoring.quality.rules.pairs import UNDECIDED, Codes, GradedPairs, Grades, Truths, standing
from backend.campaign.nouns import FIRST_ROUND_SEATS, Lead, Operator, Split
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.days import day_of, monday_of
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.scoring.statistics.agreement import Floats, Integers
from backend.scoring.statistics.bootstrap import RESAMPLES
from backend.store.connection import Database, Store, reading

NO_ROUNDS = said("all grades come from earlier campaigns, whose files do not say which of four grades came first")
_PARTS = (*(split.value for split in Split), rows.PROBE)
_QUARTER_S = 900
"""Seconds of a quarter of an hour. All time zones differ by whole quarters, so a day always begins with one."""


@in_charge
def agreement_board(
    project: Project, by: Lead | Operator, part: BoardPart = WHOLE, *, resamples: int = RESAMPLES
) -> AgreementBoard:
    """Return the agreement board, the tables that show how far annotators agree, as it is now.

    Args:
        project: the project.
        by: a lead or an operator.
        part: the pairs to cover: all, or those of a split, a query, a period.
        resamples: how often the pairs are resampled for 95 % intervals; 0 leaves intervals out, which takes a tenth of
            the time.

    Raises:
        ProjectError: there is no such split or query.
    """
    graded, origins, _ = _read(project.store)
    if part.split and part.split not in origins.splits:
        raise ProjectError(
            said(
                "there is no split {split}: choose one of {splits}", split=part.split, splits=", ".join(origins.splits)
            )
        )
    if part.query and part.query not in origins.queries:
        raise ProjectError(
            said("no judged query has the text {query!r}: copy it exactly from the page Queries", query=part.query)
        )
    return rules.measure(graded, origins, part, resamples=resamples)


@in_charge
def other_relevances(project: Project, by: Lead | Operator, *, progress: Progress | None = None) -> AggregatorReport:
    """Return the relevances that settled pairs would get by other methods: mean, median and Dawid-Skene.

    Dawid-Skene weights grades by how often each annotator errs. Nothing is changed.

    Args:
        project: the project.
        by: a lead or an operator.
        progress: called with the current step. A quarter of a million grades take seconds.
    """
    graded, origins, pair_ids = _read(project.store)
    texts = [origins.queries[place] if place >= 0 else "" for place in origins.query.tolist()]
    return aggregators.report(
        graded,
        [str(pair_id) for pair_id in pair_ids.tolist()],
        texts,
        progress=steps_of(progress, aggregators.LEARNING),
    )


@in_charge
def agreement_version(project: Project, by: Lead | Operator) -> str:
    """Return a text that changes whenever the agreement board, which shows how far annotators agree, changes."""
    return rows.version(project.store.db)


def _read(store: Store) -> tuple[GradedPairs, Origins, Integers]:
    """Return all current grades, their origins (split and query of the pair, day of the grade), and the pairs' ids."""
    with reading(store) as db:
        given = standing(rows.given(db))
        pair_ids = np.flatnonzero(np.bincount(given.pair)) if len(given) else given.pair
        earlier = np.isin(pair_ids, rows.imported_pairs(db))
        return _graded(db, given, pair_ids, earlier), _origins(db, given, pair_ids, earlier), pair_ids


def _graded(db: Database, given: Grades, pair_ids: Integers, earlier: Truths) -> GradedPairs:
    """Return the current grades as arrays for the computation of agreement.

    `given` holds the grades, and `pair_ids` the ids of their pairs. `earlier` marks the pairs that have grades of
    earlier campaigns.
    """
    grading = project_rows.grading(db)
    pair = np.searchsorted(pair_ids, given.pair)
    person_ids, annotator = np.unique(given.annotator, return_inverse=True)
    names = rows.people(db)
    decided = np.full(len(pair_ids), UNDECIDED)
    ids, relevances = rows.decided(db)
    place = _places(pair_ids, ids)
    decided[place[place >= 0]] = relevances[place >= 0]
    known = not len(earlier) or not bool(earlier.all())
    return GradedPairs(
        *(tuple(names[person] for person in person_ids.tolist()), pair, annotator, given.grade, decided),
        *(grading.scale.highest, grading.tolerance, grading.rounding, True),
        first_round=(given.seat <= max(FIRST_ROUND_SEATS)) & ~earlier[pair] if known else None,
        no_rounds="" if known else NO_ROUNDS,
        re_opened=np.isin(pair_ids, rows.re_opened(db)),
    )


def _origins(db: Database, given: Grades, pair_ids: Integers, earlier: Truths) -> Origins:
    queries_found = rows.queries(db)
    query_ids = np.array([query_id for query_id, _, _ in queries_found], dtype=np.int64)
    split_of_query = np.array([_PARTS.index(split) for _, _, split in queries_found], dtype=np.int64)
    pairs, queries = rows.origins(db)
    place = _places(pair_ids, pairs)
    known = place >= 0
    query, split = np.full(len(pair_ids), -1), np.full(len(pair_ids), -1)
    query[place[known]] = _places(query_ids, np.abs(queries[known]))
    split[place[known]] = np.where(queries[known] < 0, _PARTS.index(rows.PROBE), split_of_query[query[place[known]]])
    imported, simulated = rows.made_up(db)
    day, days = _days(given.at, given.timed & ~earlier[np.searchsorted(pair_ids, given.pair)])
    weeks = sorted({monday_of(name) for name in days})
    return Origins(
        *(split, _PARTS, query, [text for _, text, _ in queries_found], [one for _, _, one in queries_found]),
        *(day, days, np.array([weeks.index(monday_of(name)) for name in days], dtype=np.int64), weeks),
        *(imported, simulated),
    )


def _days(at: Floats, timed: Truths) -> tuple[Codes, Sequence[str]]:
    """Return the day of each grade as an index in a list of day names, and this list.

    `at` has the times in seconds since 1970. The index is -1 where `timed` is False.
    """
    quarters, of_row = np.unique((at[timed] // _QUARTER_S).astype(np.int64), return_inverse=True)
    names = [day_of(quarter * _QUARTER_S) for quarter in quarters.tolist()]
    days = sorted(set(names))
    place = {name: number for number, name in enumerate(days)}
    codes = np.full(len(at), -1)
    codes[timed] = np.array([place[name] for name in names], dtype=np.int64)[of_row]
    return codes, days


def _places(known: Integers, ids: Integers) -> Integers:
    """Return the position of each of `ids` in `known`, which is sorted; -1 where an id is missing."""
    if not len(known):
        return np.full(len(ids), -1)
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[place] == ids, place, -1)
