"""What working time costs, and how much is still to come, against hand-worked numbers and resampling."""

import random
from dataclasses import replace
from decimal import Decimal
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.hours.rules import WorkDay, bounded, by_person, outlook, paid, pay, total
from backend.core.ids import AnnotatorId


def day(n: int, judgements: int, judging_ms: int, *, name: str = "Ana", gold_ms: int = 0) -> WorkDay:
    return WorkDay(AnnotatorId(1), name, f"2026-03-{n:02d}", judgements, judging_ms, 0, 0, 0, gold_ms, 0)


@given(st.integers(0, 10**9), st.integers(0, 10_000))
def test_pay_is_exact_and_half_a_hundredth_goes_up(active_ms: int, cents: int) -> None:
    """In whole numbers: hundredths = floor(ms * hundredths an hour / ms an hour + 1/2)."""
    assert pay(active_ms, cents / 100) * 100 == (2 * active_ms * cents + 3_600_000) // 7_200_000


def test_what_the_paper_says_costs_what_it_says() -> None:
    """1,200 hours cost 13,000 USD (TVR-Ranking, section 3): 10.83 an hour."""
    assert pay(1200 * 3_600_000, 13_000 / 1200) == Decimal("13000.00")


def test_a_rate_of_ones_own_goes_over_that_of_everybody() -> None:
    days = [day(1, 10, 3_600_000), day(1, 10, 7_200_000, name="Ben")]
    assert [one.pay for one in paid(days, 11, {"ben": 12.5})] == [Decimal("11.00"), Decimal("25.00")]
    assert total(paid(days, 11, {"ben": 12.5})) == Decimal("36.00")
    assert [one.pay for one in paid(days, None, {"ben": 12.5})] == [None, Decimal("25.00")]
    assert total(paid(days, None, {"ben": 12.5})) is None, "a sum without Ana's would be read as all of it"
    assert total([]) is None
    jose = [day(1, 10, 3_600_000, name="Jos\u00e9")]
    assert [one.pay for one in paid(jose, 11, {"JOSE\u0301": 12.5})] == [Decimal("12.50")]


def test_a_day_has_at_most_24_hours() -> None:
    """Kinds of work that add up to 48 hours are halved, and nothing else of the day changes."""
    hour = 3_600_000
    kept = replace(day(1, 9, 8 * hour, gold_ms=2 * hour), exam_ms=4 * hour, describing_ms=10 * hour, unmeasured=3)
    claimed = replace(kept, judging_ms=16 * hour, exam_ms=8 * hour, gold_ms=4 * hour, describing_ms=20 * hour)
    assert bounded([claimed, kept]) == [kept, kept]


def test_people_are_the_sums_of_their_days() -> None:
    days = paid([day(1, 200, 3_600_000), day(2, 100, 1_800_000, gold_ms=1_800_000), day(2, 5, 0, name="ben")], 10, {})
    ana, ben = by_person(days)
    assert (ana.name, ana.days, ana.judgements, ana.hours, ana.an_hour) == ("Ana", 2, 300, 2.0, 200.0)
    assert ana.pay == Decimal("20.00")
    assert (ben.hours, ben.an_hour) == (0.0, None)


def test_what_is_still_to_come_by_hand() -> None:
    """Ten days of 100 judgements, five of 900 s and five of 1,100 s: 10 s a judgement; 500 judgements are 5,000 s.

    s^2 = 10 / 9 * 10 * 100^2; reach = 1.96 * 500 * s * sqrt(1 + 1000 / 500) / 1000 seconds.
    """
    days = paid([day(n, 100, 900_000 + 200_000 * (n % 2)) for n in range(1, 11)], 18, {})
    found = outlook(days, 420, further=80, disputed=0.1)
    assert (found.further, found.disputed, found.seconds) == (80, 0.1, 10.0)
    reach = 1.959964 * 500 * sqrt(10 / 9 * 10 * 100**2) * sqrt(3) / 1000
    assert found.hours == pytest.approx([seconds / 3600 for seconds in (5000, 5000 - reach, 5000 + reach)], rel=1e-6)
    assert found.cost is not None
    assert found.cost[0] == Decimal("25.00")
    assert found.reason == ""


def test_the_interval_holds_what_comes_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)

    def worked(days: int) -> list[WorkDay]:
        counts = rng.integers(40, 160, days)
        pace_ms = rng.normal(10_000, 2_500, days)
        return [day(1, int(n), max(1, int(n * ms))) for n, ms in zip(counts, pace_ms, strict=True)]

    inside = 0
    for _ in range(400):
        so_far, ahead = worked(60), worked(30)
        grades = sum(one.judgements for one in ahead)
        hours = outlook(so_far, grades).hours
        assert hours is not None
        inside += hours[1] <= sum(one.hours for one in ahead) <= hours[2]
    assert 0.91 <= inside / 400 <= 0.98


def test_what_cannot_be_told_says_why() -> None:
    nothing = outlook([], 40)
    assert (nothing.hours, nothing.cost, nothing.disputed, nothing.further) == (None, None, None, 0)
    assert nothing.reason == "no judgement made in this project has a measured time yet"
    few = outlook([day(1, 100, 1_000_000)], 360)
    assert few.hours == (1.0, 1.0, 1.0)
    assert few.reason == "an interval needs at least 10 working days, counted over all annotators"
    assert few.cost is None
    assert outlook([day(1, 100, 1_000_000)], 0).reason == "no work is left"


@given(st.lists(st.tuples(st.integers(1, 200), st.integers(1, 10**7)), min_size=10, max_size=30), st.integers(1, 10**5))
def test_the_expected_hours_lie_inside_and_grow_with_what_is_needed(days: list[tuple[int, int]], needed: int) -> None:
    rng = random.Random(1)
    work = [day(n, *one) for n, one in enumerate(days)]
    rng.shuffle(work)
    one = outlook(work, needed).hours
    two = outlook(work, 2 * needed).hours
    assert one is not None
    assert two is not None
    assert 0 <= one[1] <= one[0] <= one[2]
    assert two[0] == pytest.approx(2 * one[0])


def test_gold_takes_time_and_days_without_a_measured_time_say_nothing() -> None:
    """100 judgements in 900 s, and 100 s of gold between them: 10 s each."""
    found = outlook([day(1, 100, 900_000, gold_ms=100_000), day(2, 50, 0)], 360)
    assert (found.needed, found.seconds, found.hours, found.stuck) == (360, 10.0, (1.0, 1.0, 1.0), 0)
    assert outlook([day(1, 100, 900_000)], 360, stuck=2).stuck == 2


def test_what_is_known_without_any_time_is_told_all_the_same() -> None:
    found = outlook([], 40, further=7, disputed=0.25, stuck=3)
    assert (found.needed, found.further, found.disputed, found.stuck) == (40, 7, 0.25, 3)


def test_people_stand_by_name_whatever_its_case() -> None:
    assert [one.name for one in by_person([day(1, 1, 1, name=name) for name in ("Cy", "ben", "Ana")])] == [
        "Ana",
        "ben",
        "Cy",
    ]


def test_half_a_hundredth_of_what_is_to_come_goes_up() -> None:
    """36 s a judgement at 0.25 an hour: 50 more are half an hour, 0.125."""
    found = outlook(paid([day(1, 100, 3_600_000)], 0.25, {}), 50)
    assert found.cost == (Decimal("0.13"), Decimal("0.13"), Decimal("0.13"))
