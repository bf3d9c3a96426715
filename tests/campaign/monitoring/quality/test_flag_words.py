"""Flags in words, as a lead reads them."""

import pytest

from backend.campaign.monitoring.quality.model import FlagKind
from backend.campaign.monitoring.quality.rules import flag_words as words


def test_a_share_of_grades() -> None:
    assert words.share(FlagKind.TOO_FAST, 0.045, 1200, 0.05) == (
        "4.5 % of 1,200 grades came faster than the clip can be judged; more than 5 % is a flag."
    )
    assert words.share(FlagKind.UNSEEN, 1.0, 1, 0.1) == (
        "100 % of 1 grade came before half of the clip can have been on screen; more than 10 % is a flag."
    )


def test_one_grade() -> None:
    said = "55.6 % of 1,000 grades are 3; more than 45 % is a flag."
    assert words.one_grade(3, 0.5556, 1000, 0.45, None) == said
    assert words.one_grade(3, 0.5556, 1000, 0.45, 0.2) == said + " Others gave 3 to these pairs in 20 %."


@pytest.mark.parametrize(
    ("value", "interval", "said"),
    [
        (0.7, (0.5, 0.9), "0.70 higher {} (99 % interval +0.50 to +0.90)"),
        (0.0, (-0.1, 0.1), "0.00 higher {} (99 % interval −0.10 to +0.10)"),
        (-0.256, None, "0.26 lower {}"),
    ],
)
def test_a_bias(value: float, interval: tuple[float, float] | None, said: str) -> None:
    said = said.format("than the others on the same pairs, over 200 grades")
    assert words.bias(value, 200, interval, 0.5) == (
        f"On average {said}; 0.5 or more, with 0 outside the interval, is a flag."
    )


@pytest.mark.parametrize(
    ("new", "old", "said"),
    [
        (0.5, -0.25, "0.75 higher than the 1,000 earlier ones, +0.50 and −0.25"),
        (-0.5, -0.25, "0.25 lower than the 1,000 earlier ones, −0.50 and −0.25"),
        (0.5, 0.5, "0.00 higher than the 1,000 earlier ones, +0.50 and +0.50"),
    ],
)
def test_a_drift(new: float, old: float, said: str) -> None:
    head = f"Against the others, the newest 200 grades are {said}"
    tail = "; 0.25 or more, with 0 outside the interval, is a flag."
    assert words.drift(new, old, 200, 1000, None, 0.25) == head + tail
    assert words.drift(new, old, 200, 1000, (0.1, 2), 0.25) == f"{head} (99 % interval +0.10 to +2.00){tail}"


def test_agreement_that_falls() -> None:
    assert words.agreement(0.8, 0.954, 200, 4000, (-0.21, 0.104), 0.1, 1) == (
        "Within 1 of the other first grade of the pair: 80 % of the newest 200 grades, 95.4 % of the 4,000 earlier "
        "ones (99 % interval −21 to +10 points); a drop of 10 points or more, with 0 outside the interval, is a flag."
    )
    assert words.agreement(1.0, 0.0, 1, 200, None, 0.6, 0) == (
        "The same as the other first grade of the pair: 100 % of the newest 1 grade, 0 % of the 200 earlier ones; "
        "a drop of 60 points or more, with 0 outside the interval, is a flag."
    )


def test_too_few() -> None:
    assert words.few(50, 50) == ""
    assert words.few(49, 50) == " Too few to be a flag: 50 grades are needed."
    assert words.too_few_in_time(399, 200) == (
        "399 grades that can be compared are too few: the newest 200 need at least 200 earlier ones to compare with."
    )
