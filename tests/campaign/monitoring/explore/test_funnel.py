"""The funnel: by hand, of a project beside the board of agreement, and of the published raw annotations."""

from collections import Counter

import pandas as pd
import pytest

from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.explore import tables
from backend.campaign.monitoring.explore.model import Funnel
from backend.campaign.monitoring.explore.rules import funnel
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR, Role, Verdict
from backend.campaign.review.adjudicating import adjudicate, confirm_discard, re_open
from backend.campaign.review.status import status_counts
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts
from backend.campaign.setup.project.folder import Project
from backend.store.connection import writing
from support import NOW, Judging, have_read

GRADES = (
    *((1, 2), (3, 3), (0, 4, 3, 4)),  # in consensus
    *((0, 4, 1, 3), (0, 4, 4, 0)),  # discarded
    *((4, 0, 2, 0), (2, 2)),  # decided by a lead below
    *((4,), (0,)),  # half-graded
    *((0, 4), (1, 3), (0, 4, 2)),  # escalated
)


def test_a_project_is_counted_as_its_pairs_are(judging: Judging) -> None:
    pairs = [pair.pair for pair in judging.pairs()]
    for key, grades in zip(pairs, GRADES, strict=False):
        for who, grade in enumerate(grades):
            judging.grade(who, key, grade)
    for place in (5, 6):
        adjudicate(judging.project, judging.lead, pairs[place], 1, "seen", now=NOW)
    found = tables.funnel(judging.project, OPERATOR)
    assert found == Funnel(60, 50, 2, 1, 7, 3, {4: 1}, 2, 0, 1)
    assert found.graded_by_two == 10
    board, counts = (
        agreement_board(judging.project, OPERATOR).settled[0],
        status_counts(judging.project, OPERATOR)["pairs"],
    )
    assert (found.settled_by_two, found.settled_by[4], found.discarded) == (
        board.by_two,
        board.by_four,
        board.discarded,
    )
    assert found.decided + found.decided_at_once == board.adjudicated == counts["adjudicated"]
    assert (found.waiting_first, found.waiting_further) == (counts["open"], counts["escalated"])

    with writing(judging.project.store):
        judging.annotators += [
            accounts.add(judging.project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in ("Eva", "Fynn")
        ]
    have_read(judging.project)
    confirm_discard(judging.project, judging.lead, pairs[3], now=NOW)
    re_open(judging.project, judging.lead, pairs[4], "two against two", now=NOW)
    assert tables.funnel(judging.project, OPERATOR) == Funnel(60, 50, 2, 1, 7, 4, {4: 1}, 0, 1, 1)
    for who in (4, 5):
        judging.grade(who, pairs[4], 4)
    assert tables.funnel(judging.project, OPERATOR) == Funnel(60, 50, 2, 1, 7, 3, {4: 1, 6: 1}, 0, 1, 1)


def test_the_pairs_of_a_probe_are_no_part_of_it(corpus_project: Project) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    choose_candidates(corpus_project, OPERATOR, probe=1, now=NOW)
    counts = status_counts(corpus_project, OPERATOR)
    assert sum(counts["pairs"].values()) > 60
    assert tables.funnel(corpus_project, OPERATOR).pairs == 60


@pytest.mark.long
def test_the_published_raw_annotations(shared: object) -> None:
    """96,483 pairs, 94,442 in consensus, 81.94 % of all by two; two pairs were never sent on."""
    raw = pd.read_csv(f"{shared}/data/tvr_ranking/raw_annotation.csv")
    kinds: Counter[tuple[str, int]] = Counter()
    for _, grades in raw.groupby("pair_id")["relevance"]:
        verdict = decide(list(grades), 1).verdict
        kinds[verdict, 4 if verdict is Verdict.ESCALATED else len(grades)] += 1
    found = funnel((*kind, pairs) for kind, pairs in kinds.items())
    assert found == Funnel(96_483, 0, 79_060, 0, 17_423, 2, {4: 15_382}, 2_039, 0, 0)
    assert round(100 * found.settled_by_two / found.pairs, 2) == 81.94
    assert found.settled_by_two + found.settled_by[4] == 94_442
    assert found.discarded + found.waiting_further == 2_041
