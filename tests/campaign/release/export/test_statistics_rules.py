"""A small release in numbers, and what people read of them: by hand."""

from dataclasses import replace

import pytest

from backend.campaign.release.export.rules import statistics
from backend.campaign.release.export.rules.statistics import JudgedPair, PartStatistics, SettledPairs
from backend.campaign.release.statistics.rules import TOKENS, Spread, figures, values_of
from backend.core import lexicon
from small_release import SMALL, TEST


def test_a_small_release_by_hand() -> None:
    val, test, both = statistics.statistics(SMALL).parts
    assert val == PartStatistics(
        part="val",
        queries=2,
        moments=3,
        videos=2,
        vocabulary=7,  # a dog runs she doesn't sit down
        token_vocabulary=9,  # A dog runs . She does n't sit down
        verbs_at_least=1,  # sit
        verbs_at_most=4,  # dog, run, sit, down
        moment_hours=10 / 3600,
        video_hours=50 / 3600,
        query_words=Spread(2, 3, 3.5, 4),
        query_tokens=Spread(2, 4, 4.5, 5),
        moment_s=Spread(3, 1, 10 / 3, 5),
        video_s=Spread(2, 10, 25, 40),
        ratio=Spread(3, 1 / 40, (5 / 10 + 4 / 40 + 1 / 40) / 3, 0.5),
        judged=Spread(2, 1, 2, 3),
        at_least=(Spread(2, 0, 1, 2), Spread(2, 0, 0.5, 1)),
        by_relevance=(2, 1, 1),
        batches={1: 1, 2: 1},
        settled=SettledPairs(5, {2: 2, 4: 1}, adjudicated=1, discarded=1, waiting=0),
    )
    assert test.settled == SettledPairs(3, {6: 1}, adjudicated=0, discarded=0, waiting=2)
    assert test.batches == {1: 2}
    assert (test.queries, test.video_s) == (1, Spread(1, 40, 40, 40))
    assert both.moment_s == Spread(4, 1, 10, 30)
    assert both.settled == SettledPairs(8, {2: 2, 4: 1, 6: 1}, adjudicated=1, discarded=1, waiting=2)
    assert statistics.statistics(SMALL).corpus_video_s == Spread(3, 10, 50, 100)


TABLE = """\
|  | validation | test | both |
| --- | ---: | ---: | ---: |
| queries | 2 | 1 | 3 |
| moments | 3 | 1 | 4 |
| their videos | 2 | 1 | 2 |
| vocabulary (words) | 7 | 1 | 8 |
| vocabulary (tokens) | 9 | 1 | 10 |
| verbs, at least | 1 | 0 | 1 |
| verbs, at most | 4 | 0 | 4 |
| hours of moments | 0.00 | 0.01 | 0.01 |
| hours of videos | 0.01 | 0.01 | 0.01 |
| words of a query | 3 / 3.50 / 4 | 1 / 1.00 / 1 | 1 / 2.67 / 4 |
| tokens of a query | 4 / 4.50 / 5 | 1 / 1.00 / 1 | 1 / 3.33 / 5 |
| seconds of a moment | 1.00 / 3.33 / 5.00 | 30.00 / 30.00 / 30.00 | 1.00 / 10.00 / 30.00 |
| seconds of a video | 10.00 / 25.00 / 40.00 | 40.00 / 40.00 / 40.00 | 10.00 / 25.00 / 40.00 |
| a moment's share of its video | 0.025 / 0.208 / 0.500 | 0.750 / 0.750 / 0.750 | 0.025 / 0.344 / 0.750 |
| moments of a query | 1 / 2.00 / 3 | 1 / 1.00 / 1 | 1 / 1.67 / 3 |
| moments of relevance 1 or more, of a query | 0 / 1.00 / 2 | 1 / 1.00 / 1 | 0 / 1.00 / 2 |
| moments of relevance 2, of a query | 0 / 0.50 / 1 | 1 / 1.00 / 1 | 0 / 0.67 / 1 |
| pairs of relevance 0 | 2 (50.0 %) | 0 (0.0 %) | 2 (40.0 %) |
| pairs of relevance 1 | 1 (25.0 %) | 0 (0.0 %) | 1 (20.0 %) |
| pairs of relevance 2 | 1 (25.0 %) | 1 (100.0 %) | 2 (40.0 %) |
"""
SETTLED = """\
| queries handed out in 1 batch | 1 (50.0 %) | 2 (100.0 %) | 3 (75.0 %) |
| queries handed out in 2 batches | 1 (50.0 %) | 0 (0.0 %) | 1 (25.0 %) |
| pairs handed out | 5 | 3 | 8 |
| settled by two grades | 2 (40.0 %) | 0 (0.0 %) | 2 (25.0 %) |
| settled by four grades | 1 (20.0 %) | 0 (0.0 %) | 1 (12.5 %) |
| settled by six grades | 0 (0.0 %) | 1 (33.3 %) | 1 (12.5 %) |
| decided by a lead | 1 (20.0 %) | 0 (0.0 %) | 1 (12.5 %) |
| discarded, no consensus | 1 (20.0 %) | 0 (0.0 %) | 1 (12.5 %) |
| not settled | 0 (0.0 %) | 2 (66.7 %) | 2 (25.0 %) |
"""
BELOW = "\nThree figures are the least, the mean and the most. A moment or video counts once. "
WORDS = "lower-case runs of letters and digits, an apostrophe inside a word kept; punctuation is no word"
CORPUS = "All 3 videos of the corpus, with truth or without, last 10.00 / 50.00 / 100.00 seconds. "


@pytest.mark.parametrize(("pairs", "settled"), [(SMALL.pairs, SETTLED), ([], "")])
def test_what_people_read(pairs: list[JudgedPair], settled: str) -> None:
    """A release without its file of pairs tells nothing of batches and verdicts."""
    found = statistics.statistics(replace(SMALL, pairs=pairs))
    words = (
        f"Words: {WORDS}. Tokens: {TOKENS}. Verbs: in base form, by {lexicon.name()}; at least those of which a form "
        "can only be a verb, at most those of which a form can be one.\n"
    )
    assert statistics.markdown(found) == f"\n## Statistics\n\n{TABLE}{settled}{BELOW}{CORPUS}{words}"
    no_videos = statistics.statistics(replace(SMALL, pairs=pairs, corpus={}))
    assert statistics.markdown(no_videos) == f"\n## Statistics\n\n{TABLE}{settled}{BELOW}{words}"


def test_the_pseudo_training_set_has_the_first_column_and_no_grades() -> None:
    """As in the paper's Table 4, where its relevant moments are not applicable."""
    values = values_of(["A cat.", "A cat sits."], [("a", 0.0, 5.0), ("b", 0.0, 4.0)], {"a": 10.0, "b": 40.0})
    training = figures("train_top40", values, lexicon.parts_of_speech)
    head, *rows = statistics.release_statistics_table(statistics.statistics(SMALL, training))
    assert head == ("", "pseudo training, top 40", "validation", "test", "both")
    assert {len(row) for row in rows} == {5}
    shown = {row[0]: row[1] for row in rows}
    assert (shown["queries"], shown["moments"], shown["their videos"], shown["vocabulary (words)"]) == (
        "2",
        "2",
        "2",
        "3",
    )
    assert (shown["tokens of a query"], shown["seconds of a moment"]) == ("3 / 3.50 / 4", "4.00 / 4.50 / 5.00")
    assert shown["a moment's share of its video"] == "0.100 / 0.300 / 0.500"
    graded = [row for row in rows if "relevance" in row[0] or "moments of a query" in row[0] or "grades" in row[0]]
    assert {row[1] for row in graded} == {"-"}
    without = statistics.release_statistics_table(statistics.statistics(SMALL))
    assert [(title, *cells) for title, _, *cells in rows] == without[1:]


def test_a_split_without_a_query_has_no_figures() -> None:
    found = statistics.statistics(replace(SMALL, truth={"val": [], "test": TEST}, corpus={}))
    empty = found.parts[0]
    assert (empty.queries, empty.query_words, empty.at_least, empty.by_relevance) == (0, None, (None, None), (0, 0, 0))
    shown = {row[0]: row[1] for row in statistics.release_statistics_table(found)}
    assert (shown["queries"], shown["moments"], shown["their videos"]) == ("0", "0", "0")
    assert (shown["words of a query"], shown["pairs of relevance 1"]) == ("-", "0")


def test_a_split_that_has_no_word_is_called_by_its_name() -> None:
    assert statistics.release_statistics_table(statistics.statistics(replace(SMALL, truth={"mine": TEST})))[0] == (
        "",
        "mine",
        "both",
    )


def test_pairs_without_a_consensus_are_counted_by_what_became_of_them() -> None:
    often = {"adjudicated": 2, "discarded": 3, "open": 4, "escalated": 5}
    pairs = [JudgedPair("val", 1, 1, verdict, 2) for verdict, times in often.items() for _ in range(times)]
    settled = statistics.statistics(replace(SMALL, pairs=pairs)).parts[0].settled
    assert settled == SettledPairs(14, {}, adjudicated=2, discarded=3, waiting=9)


def test_other_numbers_of_grades_are_told_in_figures() -> None:
    pairs = [JudgedPair("val", 1, rank, "consensus", grades) for rank, grades in enumerate((3, 3, 2, 6, 5), start=1)]
    shown = [
        row[:2]
        for row in statistics.release_statistics_table(statistics.statistics(replace(SMALL, pairs=pairs)))
        if "settled by" in row[0]
    ]
    assert shown == [
        *(("settled by two grades", "1 (20.0 %)"), ("settled by 3 grades", "2 (40.0 %)")),
        *(("settled by four grades", "0 (0.0 %)"), ("settled by 5 grades", "1 (20.0 %)")),
        ("settled by six grades", "1 (20.0 %)"),
    ]


def test_what_a_later_pooling_handed_out_is_one_batch_however_far_down_the_list() -> None:
    """Ranks 1, 2 and 9 of batches of 2: the third to the eighth were handed out to nobody."""
    pairs = [JudgedPair("val", 1, rank, "open", 0) for rank in (1, 2, 9)]
    val, _, _ = statistics.statistics(replace(SMALL, pairs=pairs)).parts
    assert val.batches == {2: 1}
