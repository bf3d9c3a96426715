"""Words, verbs and hours, counted by hand and against invariants."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.release.statistics import rules
from backend.campaign.release.statistics.rules import Holdings
from backend.core import lexicon

KITCHEN = Holdings(
    {
        "train": ["The man walked to the sink.", "The man walked to the sink. ", "She's cutting two T-shirts!"],
        "val": ["The lights go out."],
    },
    {("a", 0.0, 2.0): 3, ("a", 1.0, 5.0): 1, ("b", 0.0, 0.5): 1},
    {"a": 3600.0, "b": 1800.0, "c": None},
    ("a note",),
)


LEXICON = {
    "walked": {"VERB": ("walk",)},
    "is": {"AUX": ("be",), "VERB": ("be",)},
    "go": {"VERB": ("go",)},
    "lights": {"NOUN": ("light",), "VERB": ("light",)},
    "can": {"AUX": ("can",)},
    "sink": {"NOUN": ("sink",)},
}


def test_a_row_counted_by_hand() -> None:
    row = rules.count(KITCHEN, lambda word: LEXICON.get(word, {}), "the list")
    assert row.parts == {"train": 3, "val": 1}
    assert (row.queries, row.distinct_queries, row.pairs, row.moments) == (4, 3, 5, 3)
    assert (row.videos, row.videos_without_duration) == (3, 1)
    # the man walked to sink | she's cutting two t shirts | lights go out
    assert row.vocabulary == 5 + 5 + 3
    assert row.words_per_query == pytest.approx((6 + 6 + 5 + 4) / 4)
    assert row.verbs_at_least == len({"walk", "go"})
    assert row.verbs_at_most == len({"walk", "go", "light"})
    assert row.moment_hours == pytest.approx((2 + 4 + 0.5) / 3600)
    assert row.mean_moment_s == pytest.approx(6.5 / 3)
    assert row.mean_pair_s == pytest.approx((2 * 3 + 4 + 0.5) / 5)
    assert (row.video_hours, row.mean_video_s) == (1.5, 2700.0)
    assert (row.tokeniser, row.verb_list, row.notes) == (rules.TOKENISER, "the list", ("a note",))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A dog's bone, 3 cats' tails.", ["a", "dog's", "bone", "3", "cats", "tails"]),
        ("don’t DON'T", ["don't", "don't"]),
        ("re-enters__the café…", ["re", "enters", "the", "café"]),
        (" \t'' -- ", []),
    ],
)
def test_what_a_word_is(text: str, found: list[str]) -> None:
    assert rules.words(text) == found


@pytest.mark.parametrize(
    ("word", "must", "may"),
    [
        ("opened", {"open"}, {"open"}),
        ("threw", {"throw"}, {"throw"}),
        ("is", {"be"}, {"be"}),
        ("tables", set(), {"table"}),  # we table a motion
        ("light", set(), {"light"}),
        ("sofa", set(), set()),
        ("phoebe", set(), set()),
        ("xyzzying", set(), set()),  # not guessed at
    ],
)
def test_what_a_verb_is(word: str, must: set[str], may: set[str]) -> None:
    assert rules.verbs([word], lexicon.parts_of_speech) == (must, may)


def test_no_duration_at_all_is_unknown_not_nothing() -> None:
    row = rules.count(Holdings({"a": ["x"]}, {("v", 0.0, 1.0): 1}, {"v": None}), lexicon.parts_of_speech, "")
    assert (row.video_hours, row.mean_video_s, row.videos_without_duration) == (None, None, 1)


@pytest.mark.parametrize(
    ("texts", "told"),
    [(1, [(1, 1)]), (5_000, [(5_000, 5_000)]), (10_001, [(5_000, 10_001), (10_000, 10_001), (10_001, 10_001)])],
)
def test_progress_is_told_every_five_thousand_distinct_texts_and_at_the_end(
    texts: int, told: list[tuple[int, int]]
) -> None:
    there = Holdings({"all": [*(f"{n}" for n in range(texts)), " 0"]}, {("v", 0.0, 1.0): 1}, {})
    found: list[tuple[int, int]] = []
    rules.count(there, lambda word: {}, "", progress=lambda done, total: found.append((done, total)))
    assert found == told


TEXTS = st.lists(st.text(alphabet="ab' .-Xé", max_size=12), min_size=1, max_size=20)


@given(TEXTS, st.integers(0, 20))
def test_how_queries_lie_in_files_does_not_matter(texts: list[str], cut: int) -> None:
    pairs = {("v", 0.0, 1.0): 1}
    whole = rules.count(Holdings({"all": texts}, pairs, {}), lexicon.parts_of_speech, "")
    two = rules.count(Holdings({"1": texts[cut:], "2": texts[:cut]}, pairs, {}), lexicon.parts_of_speech, "")
    assert (whole.queries, whole.vocabulary, whole.words_per_query) == (
        two.queries,
        two.vocabulary,
        two.words_per_query,
    )
    assert whole.queries == sum(two.parts.values())
    assert whole.distinct_queries == len({text.strip() for text in texts})
    counted = Counter(word for text in texts for word in rules.words(text))
    assert whole.words_per_query * len(texts) == pytest.approx(counted.total())
    assert whole.vocabulary == len(counted)


@given(st.lists(st.sampled_from(["walks", "walked", "light", "lit", "sofa", "ran", "is", "zz"])))
def test_what_must_be_a_verb_may_be_one_and_more_words_take_none_away(words: list[str]) -> None:
    must, may = rules.verbs(words, lexicon.parts_of_speech)
    assert must <= may
    assert must <= rules.verbs([*words, "tables"], lexicon.parts_of_speech)[0]
