"""When gold comes, which pair, and what answers come to: against plain counting."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.gold.rules import (
    Consequence,
    accuracy,
    choose,
    consequence,
    constant,
    draw,
    gap,
)
from backend.campaign.setup.project.model import GoldSettings
from backend.core.ids import AnnotatorId, PairId, QueryId

QUERY = QueryId(1)

ME = AnnotatorId(1)
RANK = {None: 0, Consequence.WARNED: 1, Consequence.PAUSED: 2}
KNOWN = st.lists(st.integers(0, 4), min_size=1, max_size=40).map(
    lambda grades: [KnownPair(PairId(n), grade, QUERY) for n, grade in enumerate(grades)]
)
SETTINGS = st.builds(
    lambda fewest, more, pause, above: GoldSettings(True, 0.05, fewest + more, fewest, min(pause + above, 100), pause),
    *(st.integers(1, 12), st.integers(0, 12), st.integers(0, 100), st.integers(0, 60)),
)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2, 0.5])
def test_gold_is_the_share_of_the_work_on_average_and_its_gaps_have_no_memory(share: float) -> None:
    gaps = [gap("a key", AnnotatorId(person), nth, share) for person in range(40) for nth in range(500)]
    assert min(gaps) == 1
    n = len(gaps)
    assert abs(n / sum(gaps) - share) < 4 * share * ((1 - share) / n) ** 0.5
    # Whatever number of pairs lies behind, the next one is gold with the same chance.
    for behind in range(int(1 / share)):
        there = [one for one in gaps if one > behind]
        chance = sum(one == behind + 1 for one in there) / len(there)
        assert abs(chance - share) < 5 * (share * (1 - share) / len(there)) ** 0.5


def test_the_rhythm_is_never_regular_and_everybodys_own() -> None:
    rhythms = [tuple(gap("a key", AnnotatorId(person), nth, 0.05) for nth in range(30)) for person in range(200)]
    assert len(set(rhythms)) == 200
    assert all(max(Counter(rhythm).values()) < 15 for rhythm in rhythms)
    assert rhythms[3] != tuple(gap("another key", AnnotatorId(3), nth, 0.05) for nth in range(30))


@given(KNOWN, st.integers(0, 50), st.text(max_size=5))
def test_a_pair_is_chosen_of_those_there_are_in_whatever_order_they_come(
    known: list[KnownPair], nth: int, key: str
) -> None:
    chosen = choose(known, key, ME, nth)
    assert chosen in {one.pair_id for one in known}
    assert choose(reversed(known), key, ME, nth) == chosen


def test_without_a_pair_none_is_chosen() -> None:
    assert choose([], "a key", ME, 0) is None


def test_every_grade_is_as_likely_however_many_pairs_it_has() -> None:
    known = [KnownPair(PairId(n), 0, QUERY) for n in range(900)] + [
        KnownPair(PairId(n), n % 4 + 1, QUERY) for n in range(900, 1000)
    ]
    right = {one.pair_id: one.right for one in known}
    met = Counter(right[pair] for nth in range(4000) if (pair := choose(known, "a key", ME, nth)) is not None)
    assert all(abs(met[grade] - 800) < 5 * (4000 * 0.2 * 0.8) ** 0.5 for grade in range(5))


@given(KNOWN, st.integers(1, 45), st.text(max_size=5))
def test_pairs_are_drawn_as_evenly_over_their_grades_as_there_are(known: list[KnownPair], pairs: int, key: str) -> None:
    drawn = draw(known, pairs, key)
    assert len(set(drawn)) == len(drawn) == min(pairs, len(known))
    assert set(drawn) <= set(known)
    there, got = Counter(one.right for one in known), Counter(one.right for one in drawn)
    for grade, count in there.items():
        # A grade with pairs left over has no fewer drawn than any other, but for one.
        if got[grade] < count:
            assert got[grade] >= max(got.values()) - 1


def share_of(within: list[bool]) -> Fraction:
    return Fraction(100 * within.count(True), len(within))


@given(st.lists(st.booleans(), max_size=60), SETTINGS, st.booleans())
def test_the_consequence_is_that_of_the_shares_counted_one_by_one(
    within: list[bool], settings: GoldSettings, warned: bool
) -> None:
    last = within[max(0, len(within) - settings.window) :]
    share = share_of(last) if len(last) >= settings.fewest else None
    found = accuracy(within, settings)
    assert (found is None) == (share is None)
    if share is None:
        expected = None
    elif share < settings.pause:
        expected = Consequence.PAUSED
    elif share < settings.warn:
        windows = [within[n : n + settings.window] for n in range(len(within))]
        fine = [one for one in windows if len(one) == settings.window and share_of(one) >= settings.warn]
        expected = Consequence.PAUSED if warned and not fine else Consequence.WARNED
    else:
        expected = None
    assert consequence(within, settings, warned=warned) is expected


@given(st.lists(st.booleans(), min_size=1, max_size=60), SETTINGS, st.booleans(), st.data())
def test_a_worse_answer_never_leads_to_less(
    within: list[bool], settings: GoldSettings, warned: bool, data: st.DataObject
) -> None:
    nth = data.draw(st.integers(0, len(within) - 1))
    worse = [*within[:nth], False, *within[nth + 1 :]]
    before, after = (consequence(one, settings, warned=warned) for one in (within, worse))
    assert RANK[after] >= RANK[before]


@given(KNOWN, st.integers(0, 2))
def test_the_best_constant_is_found_by_trying_all(known: list[KnownPair], tolerance: int) -> None:
    rights = {one.right for one in known}
    shares = [100 * sum(abs(grade - right) <= tolerance for right in rights) / len(rights) for grade in range(5)]
    grade, share = constant(known, range(5), tolerance)
    assert share == max(shares) == shares[grade]


def test_what_is_chosen_is_everybodys_own_and_the_campaigns() -> None:
    """Forty pairs of one grade, and forty grades of one pair each: who is asked decides, and the key does."""
    for known in (
        [KnownPair(PairId(n), 2, QUERY) for n in range(40)],
        [KnownPair(PairId(n), n, QUERY) for n in range(40)],
    ):
        by_person = {choose(known, "a key", AnnotatorId(person), 0) for person in range(40)}
        by_key = {choose(known, f"key {n}", ME, 0) for n in range(40)}
        # 40 of 40 at random leave 25.5 different ones on average; one and the same would be 1.
        assert len(by_person) > 15
        assert len(by_key) > 15


def test_the_same_key_draws_the_same_pairs() -> None:
    known = [KnownPair(PairId(n), n % 2, QUERY) for n in range(60)]
    assert draw(known, 10, "a key") == draw(known[::-1], 10, "a key") != draw(known, 10, "another key")


def answers(said: str) -> list[bool]:
    """T for an answer within the tolerance, F for a miss."""
    return [one == "T" for one in said]


@pytest.mark.parametrize(
    ("within", "window", "warn", "pause", "warned", "expected"),
    [
        ("TTTFF", 4, 75, 25, True, Consequence.WARNED),  # the first four had 75 %, so the warning had helped
        ("TTFTFF", 5, 80, 25, True, Consequence.PAUSED),  # the first five had 60 %
        ("TFFT", 4, 75, 25, True, Consequence.PAUSED),  # the only window has 50 %
        ("TTTF" * 5 + "TTTTTTTTFF", 30, 77, 50, True, Consequence.PAUSED),  # 23 of 30 are 76.7 %, never 77
        ("TFFF", 4, 75, 25, False, Consequence.WARNED),  # 25 % is not below 25 %
        ("FTFFF", 4, 75, 26, False, Consequence.PAUSED),  # 25 % is
    ],
)
def test_worked_consequences(
    within: str, window: int, warn: float, pause: float, warned: bool, expected: Consequence
) -> None:
    settings = GoldSettings(True, 0.05, window, 2, warn, pause)
    assert consequence(answers(within), settings, warned=warned) is expected


def test_the_accuracy_is_the_percentage_of_the_last_window() -> None:
    settings = GoldSettings(True, 0.05, window=4, fewest=3, warn=70, pause=50)
    assert accuracy(answers("FFFTT"), settings) == 50
    assert accuracy(answers("TTF"), settings) == pytest.approx(200 / 3)
    assert accuracy(answers("TT"), settings) is None
