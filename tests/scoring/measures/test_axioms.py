"""The two axioms of AxIoU (Togashi et al., CVPR 2022), over generated lists.

Two rankings differ in one prediction, that of rank k. r(j) is the IoU of rank j with the best relevant moment.

- INV-k: if both versions of it are redundant, r(k) and r'(k) <= max r(j) over j < k, the measure does not change.
- MON-k: if the new one is better than the old one and than all before it, the measure rises.

Here are the measures that satisfy them; `tests/scoring/studies/test_axioms_study.py` has those that do not.
"""

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from backend.scoring.evaluate import evaluate
from retrieval import plain_iou

NAMES = {
    "axiou": "axiou",
    "recall_gt": "recall_gt,0.5",
    "recall": "recall,0.5",
    "dcg": "dcg",
}


@dataclass(frozen=True)
class Change:
    """The IoUs before and after, the rank k that differs, and what the measures need."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    k: int
    truth: list
    runs: tuple[list, list]

    @property
    def cut_off(self) -> int:
        return len(self.before)

    def values(self, measure: str) -> tuple[float, float]:
        name, _, threshold = NAMES[measure].partition(",")
        key = f"{name}@{self.cut_off}" + (f",{threshold}" if threshold else "")
        first, second = (
            evaluate({"q": self.truth}, {"q": run}, measures=[name], k=[self.cut_off], mu=[0.5], theta=[0.5])
            for run in self.runs
        )
        return first["mean"][key], second["mean"][key]


@st.composite
def changes(draw, axiom):
    """Two rankings to which the axiom applies, over one or two truth moments of 0-20 and 20-40 s."""
    truth = [
        {"video": "v", "start": 20 * n, "end": 20 * n + 20, "relevance": 1} for n in range(draw(st.integers(1, 2)))
    ]
    span = st.tuples(st.integers(0, 21 * len(truth) - 1), st.integers(1, 40)).map(lambda s: ["v", s[0], s[0] + s[1], 0])
    rows = draw(st.lists(span, min_size=2, max_size=4))
    k = draw(st.integers(1, len(rows)))
    other = [*rows[: k - 1], draw(span), *rows[k:]]
    before, after = (tuple(max(plain_iou(row, m, "exact") for m in truth) for row in run) for run in (rows, other))
    highest = max(before[: k - 1], default=0)
    if axiom == "INV":
        assume(before[k - 1] <= highest and after[k - 1] <= highest)
    else:
        assume(after[k - 1] > max(highest, before[k - 1]))
    return Change(tuple(map(float, before)), tuple(map(float, after)), k, truth, (rows, other))


def breaks(axiom, measure):
    def condition(change):
        before, after = change.values(measure)
        return before != after if axiom == "INV" else after <= before

    return condition


@pytest.mark.parametrize("measure", ["axiou", "recall_gt", "recall"])
def test_a_redundant_moment_changes_nothing(measure):
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(changes("INV"))
    def check(change):
        assert not breaks("INV", measure)(change)

    check()


@pytest.mark.parametrize("measure", ["axiou", "dcg"])
def test_a_better_best_moment_always_counts(measure):
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(changes("MON"))
    def check(change):
        assert not breaks("MON", measure)(change)

    check()
