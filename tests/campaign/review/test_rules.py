"""Bins of the pairs of probes, counted by hand and by decimals."""

from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.review import rules
from backend.campaign.review.rules import Bin


@dataclass(frozen=True, slots=True)
class Pair:
    rank: int
    similarity: float
    relevance: int | None


PAIRS = [
    *(Pair(1, 1.0, 4), Pair(5, 0.95, 3), Pair(6, 0.9, None), Pair(56, 0.29999, 0), Pair(60, 0.299999, 1)),
    *(Pair(61, 0.0, 0), Pair(7_000, -0.01, 2), Pair(10, 0.94999, 1)),
]


def test_ranks_stand_together_by_five_and_all_after_the_top() -> None:
    assert rules.by_rank(PAIRS) == [
        Bin("1–5", 2, 3.5),
        Bin("6–10", 1, 1.0),
        Bin("56–60", 2, 0.5),
        Bin("others", 2, 1.0),
    ]
    assert rules.all_ranks() == [
        *("1–5", "6–10", "11–15", "16–20", "21–25", "26–30", "31–35", "36–40", "41–45", "46–50", "51–55", "56–60"),
        "others",
    ]


def test_similarities_stand_together_by_a_twentieth() -> None:
    assert rules.by_similarity(PAIRS) == [
        *(Bin("-0.05", 1, 2.0), Bin("0.00", 1, 0.0), Bin("0.25", 1, 0.0)),
        *(Bin("0.30", 1, 1.0), Bin("0.90", 1, 1.0), Bin("0.95", 1, 3.0), Bin("1.00", 1, 4.0)),
    ]


HUNDREDTHS = st.lists(st.tuples(st.integers(1, 70), st.integers(-100, 100), st.none() | st.integers(0, 4)), min_size=1)


@settings(max_examples=50)
@given(HUNDREDTHS)
def test_every_pair_is_in_its_bins_and_bins_have_no_gaps(rows: list[tuple[int, int, int | None]]) -> None:
    pairs = [Pair(rank, hundredths / 100, relevance) for rank, hundredths, relevance in rows]
    for pair, (rank, hundredths, _) in zip(pairs, rows, strict=True):
        by_rank, by_similarity = rules.bins_of(pair)
        first = (rank - 1) - (rank - 1) % 5 + 1
        assert by_rank == ("others" if rank > 60 else f"{first}–{first + 4}")
        assert by_similarity == str(Decimal(hundredths - hundredths % 5) / 100 + Decimal("0.00"))
    all_of_them = rules.all_similarities(pairs)
    assert [Decimal(name) for name in all_of_them] == [
        Decimal(place) / 20 for place in range(min(one[1] // 5 for one in rows), max(one[1] // 5 for one in rows) + 1)
    ]
    for found, names, which in (
        (rules.by_rank(pairs), rules.all_ranks(), 0),
        (rules.by_similarity(pairs), all_of_them, 1),
    ):
        expected = []
        for name in names:
            known = [
                pair.relevance for pair in pairs if rules.bins_of(pair)[which] == name and pair.relevance is not None
            ]
            if known:
                expected.append(Bin(name, len(known), fmean(known)))
        assert found == expected
