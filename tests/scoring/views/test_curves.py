"""What charts draw: a measure by cut-off, and runs in the order of one measure under the others."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.scoring.views.curves import by_cutoff, leaders, orders, short_names

KEYS = (
    "ndcg@5,0.5",
    "ndcg@10,0.3",
    "ndcg@10,0.5",
    "ndcg@10,0.7",
    "recall@10,0.3",
    "recall@10,0.5",
    "axiou@1",
    "dcg@10",
)


def summary(values: dict[str, dict[str, float]], focus: str = "ndcg@10,0.5") -> dict[str, Any]:
    """As `Scoreboard.summary` makes it, of runs with these means."""
    runs = [{"name": name, "measures": measures} for name, measures in values.items()]
    return {"preset": "paper", "options": {}, "focus": focus, "runs": runs}


def drawn(count: int, seed: int = 1) -> dict[str, dict[str, float]]:
    rng = random.Random(seed)
    return {f"run {n}": {key: rng.random() for key in KEYS} for n in range(count)}


def test_a_measure_is_drawn_at_its_own_cutoffs_and_thresholds() -> None:
    values = drawn(2)
    points = by_cutoff(summary(values))
    assert {(p.run, p.panel, p.k): p.value for p in points} == {
        (run, f"IoU>={mu}", k): values[run][f"ndcg@{k},{mu}"]
        for run in values
        for k, mu in ((5, "0.5"), (10, "0.3"), (10, "0.5"), (10, "0.7"))
    }
    assert by_cutoff(summary(values), "recall@10,0.5") == [], "one cut-off is no line"
    assert {p.panel for p in by_cutoff(summary(values | {"c": values["run 0"]}))} == {
        "IoU>=0.3",
        "IoU>=0.5",
        "IoU>=0.7",
    }
    strict = summary(values) | {"preset": "tvr-ranking"}
    assert {p.panel for p in by_cutoff(strict)} == {"IoU>0.3", "IoU>0.5", "IoU>0.7"}


def test_a_key_that_a_run_lacks_is_in_no_chart() -> None:
    values = drawn(3)
    for key in ("ndcg@5,0.5", "dcg@10"):
        del values["run 1"][key]
    assert by_cutoff(summary(values)) == []
    assert [one.key for one in orders(summary(values))] == ["ndcg@10,0.5", "recall@10,0.5", "axiou@1"]


def test_runs_stand_in_the_order_of_one_measure_and_each_other_measure_is_there_once() -> None:
    values = drawn(6)
    found = orders(summary(values))
    # At the cut-off and threshold of the first where the measure has those.
    assert [one.key for one in found] == ["ndcg@10,0.5", "recall@10,0.5", "axiou@1", "dcg@10"]
    assert found[1].title == "R@10, IoU>=0.5"
    falling = sorted(values, key=lambda run: -values[run]["ndcg@10,0.5"])
    for one in found:
        assert [step.run for step in one.steps] == falling
        assert [step.place for step in one.steps] == [1, 2, 3, 4, 5, 6]
        assert [step.value for step in one.steps] == [values[run][one.key] for run in falling]
    assert not any(step.ahead for step in found[0].steps)
    assert orders(summary(values), "axiou@1")[0].key == "axiou@1"
    assert orders(summary(drawn(1))) == []
    # AxIoU's Figure 5 has every measure.
    every = orders(summary(values) | {"preset": "axiou"})
    assert [one.key for one in every] == ["ndcg@10,0.5", *(key for key in values["run 0"] if key != "ndcg@10,0.5")]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7))
def test_agreement_and_who_is_ahead_are_as_counted_pair_by_pair(means: list[tuple[int, int]]) -> None:
    from scipy.stats import kendalltau

    values = {f"run {n}": {"axiou@5": a / 4, "dcg@5": b / 4} for n, (a, b) in enumerate(means)}
    _, second = orders(summary(values, "axiou@5"))
    expected = kendalltau([a for a, _ in means], [b for _, b in means]).statistic
    # scipy has no agreement with a measure that ties all runs; nor is there one here.
    assert (second.tau_b is None) == (expected != expected)
    if second.tau_b is not None:
        assert second.tau_b == pytest.approx(expected)
    ahead = {step.run for step in second.steps if step.ahead}
    before = itertools.combinations(second.steps, 2)
    assert ahead == {low.run for high, low in before if low.value > high.value}


def test_colours_are_for_the_best_runs_in_the_order_in_which_they_came() -> None:
    values = drawn(12)
    found = summary(values)
    worst = sorted(values, key=lambda run: values[run]["ndcg@10,0.5"])[:2]
    assert [run["name"] for run in leaders(found, "ndcg@10,0.5")] == [run for run in values if run not in worst]
    assert {p.run for p in by_cutoff(found)} == set(values) - set(worst)
    assert len(orders(found)[0].steps) == 12


@given(st.lists(st.text(min_size=1, max_size=40), unique=True, max_size=12), st.integers(3, 30))
def test_short_names_stay_apart(names: list[str], most: int) -> None:
    found = short_names(names, most)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
