"""NCxIoU against the equations of AxIoU's section 4.1, walked rank by rank."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from retrieval import data, plain_iou

K = (1, 2, 3, 10)
P = [0.4, 0.0, 0.3, 0.2]


def of_ends(*ends: float, **options) -> float:
    """NCxIoU of predictions [0, end) of one moment [0, 10), at a K of all of them."""
    truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
    run = {"q": [["v", 0, end, -n] for n, end in enumerate(ends)]}
    return evaluate(truth, run, k=[len(ends)], measures=["ncxiou"], **options)["mean"][f"ncxiou@{len(ends)}"]


def plain_ncxiou(r, k, abandonment):
    """One person walks down the list; what they have when they stop, times how likely they stop there."""
    total, best, reading = 0.0, 0.0, 1.0
    for rank in range(k):
        iou = r[rank] if rank < len(r) else 0.0
        best = max(best, iou)
        if abandonment == "err":
            stops, reading = reading * iou, reading * (1 - iou)
        else:
            stops = 1 / k if abandonment == "uniform" else (P[rank] if rank < len(P) else 0.0)
        total += stops * best
    return total


@settings(max_examples=40, deadline=None)
@given(data(), st.sampled_from(["err", "uniform", "given"]))
def test_it_is_the_sum_of_the_equation(given_data, abandonment):
    truth, run = given_data
    chosen = P if abandonment == "given" else abandonment
    found = evaluate(truth, run, k=K, measures=["ncxiou"], abandonment=chosen)["per_query"]
    for query, rows in run.items():
        good = [moment for moment in truth[query] if moment["relevance"] >= 1]
        of_video = [[m for m in good if m["video"] == row[0]] for row in rows]
        r = [
            float(max((plain_iou(row, m, "exact") for m in near), default=0))
            for row, near in zip(rows, of_video, strict=True)
        ]
        expected = {f"ncxiou@{k}": plain_ncxiou(r, k, abandonment) for k in K}
        assert found[query] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(data())
def test_where_people_stop_at_every_rank_alike_it_is_axiou(given_data):
    found = evaluate(*given_data, k=K, measures=["ncxiou", "axiou"], abandonment="uniform")["per_query"]
    listed = evaluate(*given_data, measures=["ncxiou@3"], abandonment=[1 / 3] * 3)["per_query"]
    for query, row in found.items():
        for k in K:
            assert row[f"ncxiou@{k}"] == pytest.approx(row[f"axiou@{k}"], abs=1e-12)
        assert listed[query]["ncxiou@3"] == pytest.approx(row["axiou@3"], abs=1e-12)


def test_by_default_people_stop_at_every_rank_alike():
    """AxIoU, section 4.1: K = 3 and IoUs .2, .6, .4 give (.2 + .6 + .6) / 3. ERR is only its future work."""
    assert of_ends(2, 6, 4) == of_ends(2, 6, 4, abandonment="uniform") == pytest.approx(1.4 / 3)
    assert of_ends(2, 6, 4, abandonment="err") == pytest.approx(0.4048)


def test_who_stops_at_the_first_rank_alone_has_miou():
    assert of_ends(4, 9, abandonment=[1]) == 0.4


def test_the_err_style_breaks_both_axioms_and_a_fixed_abandonment_none():
    """A redundant prediction at rank 2, and a better one at rank 1."""
    redundant, better = ((5, 1), (5, 5)), ((1, 10), (5, 10))
    assert [of_ends(*ends, abandonment="err") for ends in redundant] == pytest.approx([0.275, 0.375])
    assert [of_ends(*ends, abandonment="err") for ends in better] == pytest.approx([0.91, 0.75])
    assert math.isclose(*(of_ends(*ends, abandonment=[0.6, 0.4]) for ends in redundant))
    before, after = (of_ends(*ends, abandonment=[0.6, 0.4]) for ends in better)
    assert before < after


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("rbp", "'rbp' is neither uniform nor err nor probabilities such as 0.5,0.3,0.2"),
        (0.5, "0.5 is neither uniform nor err"),
        ([0.5, -0.1], "contains a value that is not a probability"),
        ([], "contains a value that is not a probability"),
        ("0.5,nan", "contains a value that is not a probability"),
        ([0.5, 0.6], "the probabilities add up to 1.1, which is more than 1"),
    ],
)
def test_what_is_no_abandonment_is_refused(value, told):
    with pytest.raises(InputError, match="abandonment: ") as refused:
        of_ends(5, abandonment=value)
    assert told in str(refused.value)
