"""What is asked for: measures by name, values by their keys."""

import re

import pytest

from backend.core.errors import InputError
from backend.scoring import measures as family
from backend.scoring.evaluate import evaluate
from backend.scoring.presets import settle
from backend.scoring.requested_values import Key, parse_key, split

TRUTH = {
    "q": [{"video": "v", "start": 0, "end": 10, "relevance": 2}, {"video": "v", "start": 30, "end": 50, "relevance": 4}]
}
RUN = {"q": [["v", 0, 6, 3], ["v", 31, 50, 2], ["v", 5, 10, 1]]}


def keys(*texts: str) -> tuple[str, ...]:
    return settle("paper", [2, 3], [0.3, 0.5], {}, theta=[0.5, 0.9], measures=texts).keys


def test_every_printed_key_asks_for_its_own_value_alone() -> None:
    asked = {"k": [2, 3], "mu": [0.3, 0.5], "theta": [0.5, 0.9], "videos": {"v": [60, 0]}}
    every = evaluate(TRUTH, RUN, **asked, measures=list(family.MEASURES))["mean"]
    for key, value in every.items():
        assert evaluate(TRUTH, RUN, **asked, measures=[key])["mean"] == {key: value}
    backwards = list(every)[::-1]
    assert list(evaluate(TRUTH, RUN, **asked, measures=backwards)["mean"].items()) == [(k, every[k]) for k in backwards]


def test_a_part_of_a_key_means_the_rest_of_the_evaluation() -> None:
    assert keys("recall@1") == ("recall@1,0.5", "recall@1,0.9")
    assert keys("ndcg@20,0.7", "axiou") == ("ndcg@20,0.7", "axiou@2", "axiou@3")
    assert keys("recall@1,0.30,0.7") == ("recall@1,0.3", "recall@1,0.7")
    assert keys("map", "miou") == ("map@0.5", "map@0.9", "map@avg", "miou")
    assert keys("rank@5,0.5", "recall@5,0.5") == ("recall@5,0.5",)


def test_a_key_brings_its_own_cut_off_and_threshold_and_no_other() -> None:
    settings = settle("paper", [10, 20], [0.3, 0.5], {}, measures=["ndcg@40,0.9", "recall@1,0.7"])
    assert (settings.k, settings.mu, settings.theta) == ((40, 1), (0.9,), (0.7,))
    assert settle("paper", [10], [0.3], {}, measures=["miou"]).k == (10,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gmap@10", "'gmap@10' is not one of "),
        ("ndcg@ten", "'ten' is not a cut-off, a whole number from 1; write ndcg as ndcg@K,mu"),
        ("recall@0,0.5", "'0' is not a cut-off"),
        ("recall@0.5", "'0.5' is not a cut-off, a whole number from 1; write recall as recall@K,theta"),
        ("recall@1,5", "'5' is not a threshold in (0, 1]"),
        ("recall@1,avg", "'avg' is not a threshold"),
        ("axiou@10,0.5", "it takes no threshold; write axiou as axiou@K"),
        ("miou@1", "it takes no threshold; write miou as miou"),
        ("map@50", "'50' is not a threshold in (0, 1]; write map as map@theta"),
    ],
)
def test_what_is_no_key_is_refused_with_the_form_of_the_right_one(text: str, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        keys(text)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as refused:
        keys("gmap", "ndcg@x", "axiou")
    assert len(refused.value.problems) == 2


def test_commas_within_keys_do_not_split_them() -> None:
    every = settle("paper", [1], [0.5], {}, theta=[0.5], measures=list(family.MEASURES)).keys
    assert split(",".join(every)) == list(every)
    assert split("map@0.5, avg ,miou") == ["map@0.5, avg", "miou"]


def test_every_key_has_parts_and_the_parts_have_that_key() -> None:
    every = settle("paper", [1, 20], [0.3, 0.75], {}, theta=[0.5, 1.0], measures=list(family.MEASURES)).keys
    assert len(every) > 20
    for key in every:
        parts = parse_key(key)
        assert str(parts) == str(Key(*parts)) == str(parse_key(parts)) == key
        assert parts.measure == key.partition("@")[0]
    assert parse_key("ndcg@20,.50") == ("ndcg", 20, 0.5)
    assert str(parse_key("rank@1,0.7")) == "recall@1,0.7"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("ndcg", "key: 'ndcg' does not name one value; write ndcg@K,mu"),
        ("ndcg@20", "key: 'ndcg@20' does not name one value; write ndcg@K,mu"),
        ("recall@1,0.5,0.7", "key: 'recall@1,0.5,0.7' does not name one value; write recall@K,theta"),
        ("map", "key: 'map' does not name one value; write map@theta"),
        ("ndcg20", "key: 'ndcg20' is not one of "),
        ("axiou@0", "key: 'axiou@0': '0' is not a cut-off, a whole number from 1; write axiou as axiou@K"),
        (Key("miou", None, 0.5), "key: 'miou@0.5': it takes no threshold"),
        (Key("ndcg", 20, 1.5), "key: 'ndcg@20,1.5': '1.5' is not a threshold in (0, 1]"),
    ],
)
def test_what_names_no_value_is_refused(key: str | Key, told: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(told)):
        parse_key(key)
