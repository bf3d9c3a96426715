"""Gains of a caller's own: those that have a name too are the same, and what is no gain is refused."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.gain import own_gain
from retrieval import data

TRUTH = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": n} for n in (1, 4)]}
RUN = {"q": [["v", 0, 10, 1], ["v", 0, 9, 0.5]]}


def exponential(value):
    return 2.0**value - 1


@settings(max_examples=50, deadline=None)
@given(
    data(), st.sampled_from([(exponential, "exp2"), (float, "linear"), ({n: 2**n - 1 for n in range(1, 5)}, "exp2")])
)
def test_a_named_gain_written_as_a_function_or_mapping_has_its_values(given_data, gains):
    gain, name = gains
    measures = ["ndcg"] if isinstance(gain, dict) else ["ndcg", "dcg"]
    if gain is float:
        gain = lambda value: float(value)  # noqa: E731
    found, expected = (evaluate(*given_data, k=[1, 3], measures=measures, gain=one) for one in (gain, name))
    for query, values in expected.per_query.items():
        assert found.per_query[query] == pytest.approx(values, abs=1e-12)


def test_a_gain_worked_by_hand():
    """Relevance 4 gains 10 and relevance 1 gains 1, found in order 4, 1 by equal IoUs: the ideal."""
    assert evaluate(TRUTH, RUN, k=2, mu=0.5, measures="ndcg", gain={1: 1, 4: 10}).mean == {"ndcg@2,0.5": 1.0}
    late = {"q": [["v", 0, 1, 1], ["v", 0, 10, 0.5]]}
    found = evaluate(TRUTH, late, k=1, mu=0.1, measures="ndcg", gain={1: 1, 2: 2, 3: 3, 4: 10}, zero_relevance="drop")
    assert found.mean == {"ndcg@1,0.1": 1.0}


def test_tables_say_which_gain_it_was():
    found = evaluate(TRUTH, RUN, gain={1: 1, 4: 2.5})
    assert "gain=1:1 4:2.5" in repr(found)
    assert found.summary["options"] == {"gain": "1:1 4:2.5"}
    assert found.summary["notes"] == ["dcg was left out: its gains are of IoUs, which the mapping `gain` does not have"]
    assert "gain=exponential" in evaluate(TRUTH, RUN, gain=exponential).to_latex()
    assert "gain=own function" in repr(evaluate(TRUTH, RUN, gain=lambda value: value))
    for again in (copy.deepcopy(own_gain(exponential)), pickle.loads(pickle.dumps(own_gain({1: 3})))):
        assert again.of([1.0]).tolist() in ([1.0], [3.0])


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        (7, "gain: 7 is no name, function or mapping from relevances to gains"),
        ("log", "gain: 'log' is not one of linear, exp2"),
        ({1: 1}, "gain: has no value for 4; add it to the mapping"),
        ({1: 3, 4: 2}, "gain: falls from relevance 1 to 4"),
        ({1: "much"}, "gain: is not a mapping from relevances to gains, such as {1: 1, 2: 3}"),
        (lambda value: -value, "gain: of 1 is not a finite number of at least 0"),
        (lambda value: None, "gain: of 1 is not a finite number of at least 0"),
    ],
)
def test_what_is_no_gain_is_told(gain, message):
    with pytest.raises(InputError) as refused:
        evaluate(TRUTH, RUN, gain=gain)
    assert str(refused.value) == message


def test_a_mapping_has_no_gain_of_an_iou():
    with pytest.raises(InputError, match="gain: a mapping has no gains of IoUs, as dcg needs; use a function"):
        evaluate(TRUTH, RUN, gain={1: 1, 4: 2}, measures="dcg")
