"""The search for counterexamples to AxIoU's axioms: each is what it claims to be, and none shorter is passed over."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.core.timespan import Floats
from backend.scoring import measures as family
from backend.scoring.evaluate import evaluate
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure
from backend.scoring.studies.running import axioms_study
from backend.scoring.studies.study import Cell

# AxIoU (Togashi et al., CVPR 2022), supplement, properties 1 to 8: AxIoU satisfies both axioms (7, 8), R@K only INV-k
# (1, 2), AP neither (3, 4), DCG only MON-k (5, 6). NDCG is not in that paper.
BROKEN = {
    "ndcg": {"INV-k", "MON-k"},
    "axiou_ap": {"INV-k", "MON-k"},
    "recall": {"MON-k"},
    "recall_gt": {"MON-k"},
    "axiou": set(),
    "dcg": {"INV-k"},
}


def rows_of(name: str, **asked: object) -> dict[str, dict[str, Cell]]:
    return {str(row["axiom"]): row for row in axioms_study([name], **asked).rows}  # type: ignore[arg-type]


def ranking(text: Cell) -> list[tuple[Fraction, int]]:
    """IoU and moment of each prediction, from what is shown of it."""
    parts = [part.split(" of ") for part in str(text).split(", ")]
    return [(Fraction(iou), "AB".index(moment[0]) if moment else 0) for iou, *moment in parts]


def value(name: str, predictions: list[tuple[Fraction, int]], relevant: int) -> float:
    """By the function that scores Python objects, on moments of another length and place than the search has."""
    start = [0, 700]
    truth = [{"video": "v", "start": start[n], "end": start[n] + 40, "relevance": 1} for n in range(relevant)]
    run = [["v", start[n], start[n] + float(iou * 40), 0] if iou else ["other", 0, 1, 0] for iou, n in predictions]
    found = evaluate({"q": truth}, {"q": run}, measures=[name], k=[len(run)], mu=[0.5], theta=[0.5])["mean"]
    (only,) = found.values()
    return float(only)


@pytest.mark.parametrize("name", BROKEN)
def test_measures_break_the_axioms_that_the_paper_says(name: str) -> None:
    rows = rows_of(name)
    assert list(rows) == ["INV-k", "MON-k"]
    assert {axiom for axiom, row in rows.items() if row["verdict"] == "broken"} == BROKEN[name]


@pytest.mark.parametrize(
    ("name", "axiom"), [(name, axiom) for name, broken in BROKEN.items() for axiom in sorted(broken)]
)
def test_a_counterexample_is_one(name: str, axiom: str) -> None:
    row = rows_of(name)[axiom]
    before, after, relevant = ranking(row["before"]), ranking(row["after"]), int(str(row["relevant"]))
    k = int(str(row["rank"])) - 1
    assert [n for n in range(len(before)) if before[n] != after[n]] == [k]
    best = max((iou for iou, _ in before[:k]), default=Fraction(0))
    old, new = before[k][0], after[k][0]
    values = [value(name, one, relevant) for one in (before, after)]
    assert [row["value_before"], row["value_after"]] == pytest.approx(values, abs=1e-12)
    if axiom == "INV-k":
        assert old < new <= best
        assert abs(values[1] - values[0]) > 1e-6
    else:
        assert new > max(old, best)
        assert values[1] <= values[0]


def mean_iou(found: Matches, cutoffs: tuple[int, ...], _: tuple[float, ...]) -> Floats:
    return np.stack([found.total(found.iou, k)[None] / k for k in cutoffs])


def test_a_measure_of_ones_own_is_tried_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean IoU of a list rewards what is redundant."""
    monkeypatch.setitem(family.MEASURES, "own", Measure("own", "Own", None, mean_iou, "mean IoU"))  # type: ignore[arg-type]
    rows = rows_of("own")
    assert (rows["INV-k"]["verdict"], rows["MON-k"]["verdict"]) == ("broken", "not broken")
    assert (rows["INV-k"]["measure"], rows["INV-k"]["before"], rows["INV-k"]["after"]) == ("own@K", "1, 0", "1, 1")


def test_all_changes_of_the_lists_are_tried() -> None:
    """Counted by loops: of IoUs 0, .25, .5, .75 and 1, with one and with two moments to overlap."""
    counted = {"INV-k": 0, "MON-k": 0}
    for length, relevant in itertools.product((1, 2), (1, 2)):
        choices = [(0.0, 0), *itertools.product((0.25, 0.5, 0.75, 1.0), range(relevant))]
        for chosen in itertools.product(choices, repeat=length):
            for k, other in itertools.product(range(length), choices):
                best = max((iou for iou, _ in chosen[:k]), default=0.0)
                counted["INV-k"] += chosen[k][0] < other[0] <= best
                counted["MON-k"] += other[0] > max(chosen[k][0], best)
    assert {axiom: row["changes"] for axiom, row in rows_of("axiou", longest=2).items()} == counted


def test_progress_is_told_to_its_end() -> None:
    told: list[tuple[str, int, int]] = []
    axioms_study(["axiou"], longest=2, progress=lambda *step: told.append(step))
    assert told == [("lists", done, 4) for done in (1, 2, 3, 4)]


def test_levels_follow_the_thresholds() -> None:
    """At theta = .3 the shortest change that recall does not see is from .3, its threshold, to 1."""
    row = rows_of("recall", mu=[0.3], theta=[0.3])["MON-k"]
    assert (row["before"], row["after"]) == ("0.3", "1")


@pytest.mark.parametrize("longest", [0, 5])
def test_a_length_that_would_take_for_ever_is_refused(longest: int) -> None:
    with pytest.raises(InputError, match="is not from 1 to 4 predictions"):
        axioms_study(longest=longest)
