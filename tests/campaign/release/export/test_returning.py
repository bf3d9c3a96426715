"""What a project needs to have of a release, by hand."""

from typing import Any

import pytest

from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.campaign.nouns import Split
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierPair
from backend.campaign.release.export.rules import returning
from backend.campaign.release.export.rules.returning import NO_CAPTION, ReturnedMoment, Weighted
from backend.campaign.selection.queries.model import QueryRow
from backend.core.ids import QueryId
from backend.core.release_entries import Entry, GradedMoment, Moment, Queries

A, B, C, D, E = (("v", float(start), start + 2.0) for start in range(5))


def pair(row: int, pair_id: int, query: str, query_id: int | None = None, **more: Any) -> EarlierPair:
    plain = EarlierPair(row, pair_id, query, query_id, Split.VAL, A, 1, 0.5, None, None, None)
    return plain._replace(**more)


def entry(query_id: int | str, query: str, *moments: Any) -> Entry[Any]:
    return Entry(1, query_id, query, list(enumerate(moments, start=1)))


def moment(span: tuple[str, float, float], caption: str | None, published: str | None = None, **more: Any) -> Moment:
    return Moment(video_name=span[0], timestamp=span[1:], caption=caption, published_caption=published, **more)


def graded(span: tuple[str, float, float], caption: str | None, published: str | None = None) -> GradedMoment:
    said: dict[str, Any] = {"video_name": span[0], "timestamp": span[1:], "caption": caption}
    return GradedMoment(published_caption=published, relevance=1, duration=7.0, **said)


@pytest.mark.parametrize(
    ("caption", "published", "stored"),
    [
        ("a dog", "the dog", "the dog"),
        ("a dog", None, "a dog"),
        (None, "the dog", "the dog"),
        ("", "the dog", "the dog"),
        ("", None, NO_CAPTION),
        ("a dog", "", "a dog"),
        (None, None, None),
        (None, "", None),
    ],
)
def test_a_moment_is_stored_under_what_describes_it(
    caption: str | None, published: str | None, stored: str | None
) -> None:
    expected = None if stored is None else CaptionedMoment("v", 1.0, 3.0, stored, 1, 9.0)
    assert ReturnedMoment(B, caption, published, 9.0).stored() == expected


@pytest.mark.parametrize(("imprecise", "kept_back"), [(True, ""), (False, None)])
def test_every_moment_comes_once_from_the_pairs_first(imprecise: bool, kept_back: str | None) -> None:
    pairs = [
        pair(2, 1, "q", span=B, caption="a dog"),
        pair(3, 2, "q", span=A),
        pair(4, 3, "p", span=B, caption="another row of it"),
        pair(5, 4, "q", span=("w", 0.0, 1.0), caption="a cat"),
        pair(6, 5, "q", span=E),
    ]
    truth = [
        Queries("val.json", [entry(1, "q", graded(A, "of the truth"), graded(C, None, "the cow"))]),
        Queries("test.json", [entry(2, "p", graded(C, "a cow"), graded(B, None), graded(E, None))]),
    ]
    training = Queries(
        "train.json", [entry(3, "r", moment(D, "a bee", "the bee", duration=8.0), moment(C, "later"), moment(D, None))]
    )
    found = returning.moments(truth, training, pairs, {2: "the dog", 4: "no"}, {"v": 60.0}, imprecise=imprecise)
    assert found == [
        ReturnedMoment(B, "a dog", "the dog", 60.0),
        ReturnedMoment(A, kept_back, None, 60.0),
        ReturnedMoment(("w", 0.0, 1.0), "a cat", None, None),
        ReturnedMoment(E, None, None, 7.0),  # the truth says that it has none
        ReturnedMoment(C, None, "the cow", 7.0),
        ReturnedMoment(D, "a bee", "the bee", 8.0),
    ]
    alone = returning.moments([], None, pairs[:1], {}, {}, imprecise=imprecise)
    assert alone == [ReturnedMoment(B, "a dog", None, None)]


def rows(*expected: tuple[int, str, Split]) -> list[QueryRow]:
    return [QueryRow(QueryId(number), text, split) for number, text, split in expected]


TRUTH = {
    Split.VAL: Queries[GradedMoment]("val.json", [entry(4, "a"), entry(2, " b ")]),
    Split.TEST: Queries[GradedMoment]("test.json", [entry("7", "c")]),
}


def test_queries_stand_as_they_were_handed_out_and_those_left_out_between_them() -> None:
    pairs = [
        *(pair(2, 9, "b", 2), pair(3, 5, "out", 9, split=None), pair(4, 6, "c", 7), pair(5, 3, "a", 4)),
        *(pair(6, 1, "left", 1), pair(7, 12, "c", 7)),
    ]
    assert returning.queries(TRUTH, pairs, None) == rows(
        *((1, "left", Split.VAL), (4, "a", Split.VAL), (9, "out", Split.TEST)),
        *((7, "c", Split.TEST), (2, "b", Split.VAL)),
    )


def test_where_pairs_have_another_order_than_the_truth_its_order_counts() -> None:
    pairs = [pair(2, 1, "b", 2), pair(3, 2, "out", 9), pair(4, 3, "a", 4), pair(5, 4, "c", 7)]
    assert returning.queries(TRUTH, pairs, None) == rows(
        (4, "a", Split.VAL), (2, "b", Split.VAL), (7, "c", Split.TEST), (9, "out", Split.VAL)
    )
    two = {Split.TEST: Queries[GradedMoment]("test.json", [entry(7, "c"), entry(8, "d")])}
    given = [pair(2, 1, "d", 8), pair(3, 2, "c", 7)]
    assert [row.text for row in returning.queries(two, given, None)] == ["c", "d"]
    assert [row.text for row in returning.queries(two, given[::-1], None)] == ["c", "d"]
    # A query of the truth that no pair tells of.
    assert [row.text for row in returning.queries(two, given[1:], None)] == ["c", "d"]


def test_numbers_that_are_none_or_taken_are_the_next_free_ones() -> None:
    truth = {Split.VAL: Queries[GradedMoment]("val.json", [entry("x", "a"), entry(3, "b"), entry(3, "c")])}
    training = Queries[Moment]("train.json", [entry(5, "a"), entry("05", "d"), entry(3, "e"), entry(6, "f")])
    assert returning.queries(truth, [], training) == rows(
        *((7, "a", Split.VAL), (3, "b", Split.VAL), (8, "c", Split.VAL)),
        *((5, "a", Split.TRAIN), (9, "d", Split.TRAIN), (10, "e", Split.TRAIN), (6, "f", Split.TRAIN)),
    )
    nameless = {Split.VAL: Queries[GradedMoment]("val.json", [entry("x", "a"), entry("y", "b")])}
    assert returning.queries(nameless, [], None) == rows((1, "a", Split.VAL), (2, "b", Split.VAL))


def test_a_training_list_has_its_weights() -> None:
    training = Queries(
        "train.json",
        [
            entry(1, "a", moment(B, None, similarity=0.5), moment(A, None)),
            entry(2, "b", moment(C, None, similarity=-1)),
        ],
    )
    assert list(returning.weighted(training)) == [[Weighted(B, 0.5), Weighted(A, 0.0)], [Weighted(C, -1.0)]]


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ("all mpnet kind=sup tokens=64 weights=aa dtype=int8", ("all mpnet", "sup", "int8")),
        ("a kind=unsup files=1", ("a", "unsup", "fp32")),
        ("a kind=clip files=1", None),
        ("", None),
        (None, None),
    ],
)
def test_an_encoder_is_known_by_its_identity(identity: str | None, said: tuple[str, str, str] | None) -> None:
    assert returning.parse_encoder(identity) == said


def test_pairs_of_a_query_by_rank() -> None:
    pairs = [pair(2, 1, "a", rank=3), pair(3, 2, "b", rank=1), pair(4, 3, "a", rank=1), pair(5, 4, "a", rank=2)]
    found = returning.ranked(EarlierCampaign("raw.csv", "pairs.csv", pairs=pairs))
    assert {query: [one.pair_id for one in ones] for query, ones in found.items()} == {"a": [3, 4, 1], "b": [2]}
