"""Nothing that an annotator can count or compute tells the rank of a pair: not its number, not its place on the desk.

Bounds are five standard deviations: a test of random numbers fails by chance less than once in a million runs.
"""

import json
from hashlib import blake2b
from math import sqrt
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import spearmanr

from annotate_app.language import as_json
from backend.campaign.desk import exchange
from backend.campaign.judging.filling import choose
from backend.campaign.judging.rows import assignments
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.ids import AnnotatorId, BatchId, PairId
from backend.store import connection
from support import NOW, Judging, have_read

pytestmark = pytest.mark.usefixtures("random_orders")

PAIRS = 20
ME = AnnotatorId(7)


def bound(batches: int) -> float:
    """Five standard deviations of the mean of Spearman's rho, whose variance is 1 / (n - 1) for n unrelated values."""
    return 5 / sqrt((PAIRS - 1) * batches)


def rho(one: list[int], other: list[int]) -> float:
    return float(spearmanr(one, other).statistic)


def places(pairs: list[PairId], met: list[PairId]) -> list[int]:
    return [met.index(pair) for pair in pairs]


def public(pairs: list[PairId], me: AnnotatorId) -> list[PairId]:
    """What whoever knows the code alone could compute: the order of version 1.0."""
    return sorted(pairs, key=lambda pair: blake2b(f"{me}:{pair}".encode(), digest_size=8).digest())


def test_without_the_secret_nobody_foresees_an_order() -> None:
    by_rank, without, guessed, others = [], [], [], []
    for batch in range(300):
        pairs = [PairId(PAIRS * batch + rank) for rank in range(1, PAIRS + 1)]  # the worst case: numbers in rank order
        met = choose([(pair, 1) for pair in pairs], PAIRS, ME, b"the campaign's")
        place = places(pairs, met)
        by_rank.append(rho(place, list(range(PAIRS))))
        without.append(rho(place, places(pairs, public(pairs, ME))))
        guessed.append(rho(place, places(pairs, choose([(pair, 1) for pair in pairs], PAIRS, ME, b""))))
        others.append(
            rho(place, places(pairs, choose([(pair, 1) for pair in pairs], PAIRS, AnnotatorId(8), b"the campaign's")))
        )
    for found in (by_rank, without, guessed, others):
        assert abs(fmean(found)) < bound(len(found))


def test_the_place_on_the_desk_does_not_tell_which_pairs_are_disputed() -> None:
    pairs = [PairId(n) for n in range(1, PAIRS + 1)]
    any_order = choose([(pair, 1) for pair in pairs], PAIRS, ME, b"the campaign's")
    met = choose([(pair, 1 if pair % 4 else 3) for pair in pairs], 7, ME, b"the campaign's")
    assert {4, 8, 12, 16, 20} < set(met), "chosen first"
    assert met == [pair for pair in any_order if pair in met], "and then in the place that any pair would have"


@pytest.fixture
def many_batches(corpus_project: Project) -> Project:
    """Thirty queries with a batch of twenty pairs each."""
    draw_queries(corpus_project, OPERATOR, val=20, test=10, seed=5, now=NOW)
    choose_candidates(corpus_project, OPERATOR, now=NOW)
    return corpus_project


def ranks(project: Project) -> dict[BatchId, list[PairId]]:
    """The pairs of each batch, by rank."""
    rows = project.store.db.conn.execute("SELECT batch_id, pair_id FROM pair ORDER BY batch_id, rank")
    found: dict[BatchId, list[PairId]] = {}
    for batch, pair in rows:
        found.setdefault(BatchId(batch), []).append(PairId(pair))
    return found


def test_the_numbers_of_pairs_and_their_places_on_the_desk_tell_no_rank(many_batches: Project) -> None:
    project = many_batches
    people.add(project.store, OPERATOR, "Anna", Role.ANNOTATOR, now=NOW)
    have_read(project)
    (me,) = [row.person for row in list_people(project, OPERATOR)]
    numbers, on_desk, computed = [], [], []
    for batch, pairs in ranks(project).items():
        assert len(pairs) == PAIRS
        there = assignments.claimable(project.store.db, me.annotator_id, batch, now=NOW)
        met = choose(there, PAIRS, me.annotator_id, project.secret)
        numbers.append(rho(list(range(PAIRS)), list(pairs)))
        on_desk.append(rho(list(range(PAIRS)), places(pairs, met)))
        computed.append(rho(places(pairs, met), places(pairs, public(pairs, me.annotator_id))))
    assert len(numbers) == 30
    for found in (numbers, on_desk, computed):
        assert abs(fmean(found)) < bound(len(found))
    keys = [item.pair for item in exchange.desk(project, me, now=NOW).items]
    first = next(iter(ranks(project)))
    rows = project.store.db.conn.execute("SELECT pair_id, pair_key FROM pair WHERE batch_id = ?", [first])
    known = {row[0]: row[1] for row in rows}
    met = choose([(pair, 1) for pair in known], PAIRS, me.annotator_id, project.secret)
    assert keys == [known[pair] for pair in met[: len(keys)]]  # what was measured is what people meet


def test_two_campaigns_of_one_corpus_have_different_orders(tmp_path: Path) -> None:
    secrets = [init_project(tmp_path / name, encoder="minilm").secret for name in ("one", "other")]
    pairs = [(PairId(n), 1) for n in range(1, PAIRS + 1)]
    assert choose(pairs, PAIRS, ME, secrets[0]) != choose(pairs, PAIRS, ME, secrets[1])


def floats(found: object) -> list[float]:
    """All numbers with a fraction in a JSON document."""
    if isinstance(found, dict):
        return [one for value in found.values() for one in floats(value)]
    if isinstance(found, list):
        return [one for value in found for one in floats(value)]
    return [found] if isinstance(found, float) else []


def test_lengths_on_the_desk_have_tenths_of_a_second(judging: Judging) -> None:
    """In floats 12.2 - 10.9 and 2.2 - 0.9 differ in the last digits, which told where in its video a moment lies."""
    project, person = judging.project, judging.annotators[0]
    with connection.writing(project.store) as db:
        db.conn.execute("UPDATE moment SET end_s = start_s + 1.3")
    desk = exchange.desk(project, person, now=NOW)
    judging.grade(0, desk.items[0].pair, 2)
    again = exchange.desk(project, person, now=NOW + 1)
    assert again.previous is not None
    lengths = [item.duration_s for item in (*desk.items, *again.items, again.previous)]
    assert set(lengths) == {1.3}
    assert set(floats(json.loads(as_json(again)))) == {1.3}  # and no other number with a fraction
