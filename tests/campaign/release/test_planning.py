"""Planning a campaign from TVR-Ranking's figures, and from the release of a pilot."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.planning import (
    TVR_RANKING,
    CampaignFigures,
    figures_of,
    largest_sd,
    pilot_differences,
    plans,
)
from backend.core.errors import InputError
from support import NOW, PARTLY, Judging

PILOT = CampaignFigures("a pilot", queries=10, batches=15, pairs=300, grades=700, seconds=18.0, timed="as given")


def test_the_figures_of_tvr_ranking_are_those_of_the_paper() -> None:
    """Queries and batches: section 3.4. Grades: B.2. Pairs: the 94,442 in consensus, and 325 + 1,716 without."""
    assert (TVR_RANKING.queries, TVR_RANKING.batches, TVR_RANKING.grades) == (3_281, 4_825, 227_808)
    assert TVR_RANKING.pairs == 94_442 + 325 + 1_716
    assert TVR_RANKING.seconds * TVR_RANKING.grades == pytest.approx(1_200 * 3_600)


def test_a_plan_scales_the_pilot_to_the_queries_that_are_needed() -> None:
    # Half a standard deviation needs 34 queries: 3.4 times the pilot, rounded up.
    (plan,) = plans([0.1], 0.2, PILOT, wage=20)
    assert (plan.queries, plan.batches, plan.pairs, plan.grades) == (34, 51, 1_020, 2_380)
    assert plan.hours == pytest.approx(2_380 * 18 / 3_600)
    assert plan.cost == pytest.approx(plan.hours * 20)
    assert plan.power == pytest.approx(0.807778, abs=1e-6)
    assert plans([0.1], 0.2, PILOT)[0].cost is None


def test_a_smaller_difference_needs_more_and_a_repeated_one_is_planned_once() -> None:
    made = plans([0.05, 0.02, 0.05, 0.01], 0.3)
    assert [plan.difference for plan in made] == [0.05, 0.02, 0.01]
    assert [plan.queries for plan in made] == sorted(plan.queries for plan in made)


def test_what_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        plans([0.1, -0.1], 0, power=0.01, alpha=0.05, wage=-1)
    assert [problem.file for problem in caught.value.problems] == ["sd", "wage", "difference", "power"]
    with pytest.raises(InputError, match="needs more than 10,000,000 queries"):
        plans([1e-7], 1)


@pytest.fixture
def release(judging: Judging, tmp_path: Path) -> Path:
    """Two grades by each of two annotators for the pairs of all queries, and no others."""
    for pair in judging.pairs():
        for who in range(2):
            judging.grade(who, pair.pair, (who + len(pair.pair)) % 2 + 2)
    export_release(judging.project, OPERATOR, tmp_path / "pilot", PARTLY, now=NOW)
    return tmp_path / "pilot"


def test_the_figures_of_a_pilot_are_counted_in_its_release(release: Path) -> None:
    found = figures_of(release)
    assert (found.queries, found.batches, found.pairs, found.grades) == (3, 3, 60, 120)
    # The server's clock stands still in tests, so no time was measured.
    assert found.seconds == TVR_RANKING.seconds
    assert found.timed.endswith("the pilot measured none")
    assert figures_of(release, 25).seconds == 25
    raw = release / "raw_annotation.csv"
    header, *lines = raw.read_text().splitlines()
    place = header.split(",").index("active_ms")
    cells = [line.split(",") for line in lines]
    for number, row in enumerate(cells[:4]):
        row[place] = str(1_000 * (number + 1))
    raw.write_text("\n".join([header, *map(",".join, cells)]))
    timed = figures_of(release)
    assert (timed.seconds, timed.timed) == (2.5, "the mean active time of 4 grades")
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps(manifest | {"batch_size": 7}))
    assert figures_of(release).batches == 9


def test_the_differences_of_a_pilot_are_those_of_its_scores(release: Path, tmp_path: Path) -> None:
    truth = json.loads((release / "val.json").read_text())
    rng = np.random.default_rng(1)
    runs, values = {}, {}
    for name in ("a", "b", "c"):
        found = {str(query["query_id"]): int(rng.integers(0, 4)) for query in truth}
        run = {
            str(query["query_id"]): [
                [moment["video_name"], *moment["timestamp"], -place]
                for place, moment in enumerate(query["relevant_moment"][: found[str(query["query_id"])]])
            ]
            or [["nowhere", 0, 1, 0]]
            for query in truth
        }
        runs[name] = tmp_path / f"{name}.json"
        runs[name].write_text(json.dumps(run))
        values[name] = [
            ndcg([moment["relevance"] for moment in query["relevant_moment"]], found[str(query["query_id"])])
            for query in truth
        ]
    pairs = pilot_differences(release, runs, "ndcg@3,0.5", split="val")
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in pairs:
        apart = np.subtract(values[pair.first], values[pair.second])
        assert pair.difference == pytest.approx(apart.mean())
        assert pair.sd == pytest.approx(math.sqrt(((apart - apart.mean()) ** 2).sum() / (len(apart) - 1)))
    assert largest_sd(pairs).sd == max(pair.sd for pair in pairs)
    # Without a split, those whose queries the runs answer are used.
    assert pilot_differences(release, runs, "ndcg@3,0.5") == pairs
    with pytest.raises(InputError, match="answer fewer than two of its queries"):
        pilot_differences(release, runs, "ndcg@3,0.5", split="test")
    with pytest.raises(InputError, match="no two systems differ"):
        pilot_differences(release, {"a": runs["a"], "b": runs["a"]}, "ndcg@3,0.5", split="val")


def ndcg(relevances: list[int], found: int) -> float:
    """NDCG@3 of a run that has the first moments of the truth, in its order."""

    def dcg(values: list[int]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values[:3], start=1))

    return dcg(relevances[:found]) / dcg(sorted(relevances, reverse=True))
