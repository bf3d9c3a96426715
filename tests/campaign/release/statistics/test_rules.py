"""Words, verbs and hours, counted by hand and against invariants."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.release.statistics import rules
from backend.campaign.release.statistics.rules import Figures, Holdings, Spread
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


IN_PARTS = replace(
    KITCHEN,
    pairs={**KITCHEN.pairs, ("c", 0.0, 9.0): 1},
    moments={"train": [("a", 0.0, 2.0), ("a", 1.0, 5.0)], "val": [("b", 0.0, 0.5), ("c", 0.0, 9.0)]},
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
    ("text", "found"),
    [
        # As NLTK's word_tokenize splits each as one sentence.
        ("Two people were having a conversation.", "Two people were having a conversation ."),
        ("Dr. Smith's cat, aged 2,5 (or 3.5): can't sit!", "Dr. Smith 's cat , aged 2,5 ( or 3.5 ) : ca n't sit !"),
        ('He says "Stop it."', "He says `` Stop it . ''"),
        (
            "He takes his/her T-shirt off -- slowly... He cannot.",
            "He takes his/her T-shirt off -- slowly ... He can not .",
        ),
        ("The men's hats; they're 'okay' & gonna go", "The men 's hats ; they 're ' okay ' & gon na go"),
        (" \t ", ""),
    ],
)
def test_what_a_token_is(text: str, found: str) -> None:
    assert rules.tokens(text) == found.split()


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


def test_progress_is_told_by_part_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        told.append((done, total))

    rules.count(KITCHEN, lambda word: {}, "", progress=note)
    rules.count(IN_PARTS, lambda word: {}, "", progress=note)
    assert told == [(4, 4), (3, 8), (4, 8), (8, 8)]


def test_the_figures_of_each_part_by_hand() -> None:
    train, val = rules.count(IN_PARTS, lambda word: LEXICON.get(word, {}), "").by_part
    assert train == Figures(
        part="train",
        queries=3,
        moments=2,
        videos=1,
        vocabulary=5 + 5,
        # The man walked to the sink . She 's cutting two T-shirts !
        token_vocabulary=7 + 6,
        verbs_at_least=1,
        verbs_at_most=1,
        moment_hours=pytest.approx(6 / 3600),
        video_hours=1.0,
        query_words=Spread(3, 5, pytest.approx(17 / 3), 6),
        query_tokens=Spread(3, 6, pytest.approx(20 / 3), 7),
        moment_s=Spread(2, 2, 3, 4),
        video_s=Spread(1, 3600, 3600, 3600),
        ratio=Spread(2, 2 / 3600, pytest.approx(3 / 3600), 4 / 3600),
    )
    # A video of unknown duration is left out of hours and shares.
    assert (val.videos, val.video_hours, val.ratio) == (2, 0.5, Spread(1, 0.5 / 1800, 0.5 / 1800, 0.5 / 1800))


def test_a_part_without_queries_and_moments_has_no_figures() -> None:
    values = rules.values_of([], [], {})
    nothing = rules.figures("val", values, lambda word: {})
    assert (nothing.queries, nothing.moments, nothing.videos, nothing.moment_hours) == (0, 0, 0, 0.0)
    assert nothing.video_hours is nothing.query_words is nothing.moment_s is nothing.video_s is nothing.ratio is None


TEXTS = st.lists(st.text(alphabet="ab' .-Xé", max_size=12), min_size=1, max_size=20)


@given(TEXTS, st.integers(0, 20))
def test_how_queries_lie_in_files_does_not_matter(captions: list[str], cut: int) -> None:
    pairs = {("v", 0.0, 1.0): 1}
    whole = rules.count(Holdings({"all": captions}, pairs, {}), lexicon.parts_of_speech, "")
    two = rules.count(Holdings({"1": captions[cut:], "2": captions[:cut]}, pairs, {}), lexicon.parts_of_speech, "")
    assert (whole.queries, whole.vocabulary, whole.words_per_query) == (
        two.queries,
        two.vocabulary,
        two.words_per_query,
    )
    assert whole.queries == sum(two.parts.values())
    assert whole.distinct_queries == len({text.strip() for text in captions})
    counted = Counter(word for text in captions for word in rules.words(text))
    assert whole.words_per_query * len(captions) == pytest.approx(counted.total())
    assert whole.vocabulary == len(counted)


@given(st.lists(st.sampled_from(["walks", "walked", "light", "lit", "sofa", "ran", "is", "zz"])))
def test_what_must_be_a_verb_may_be_one_and_more_words_take_none_away(words: list[str]) -> None:
    must, may = rules.verbs(words, lexicon.parts_of_speech)
    assert must <= may
    assert must <= rules.verbs([*words, "tables"], lexicon.parts_of_speech)[0]
