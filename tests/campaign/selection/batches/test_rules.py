"""The rule about next batches against a second reading of its definition, in plain loops and fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.nouns import GradeMeaning, Scale
from backend.campaign.selection.batches import model
from backend.campaign.selection.batches.model import BatchRule, NextState, RuleWord

FIVE = BatchRule(5, 2.0, 3, 3)
"""TVR-Ranking's scale and batches of 20."""


def scale(grades: int) -> Scale:
    return Scale(tuple(GradeMeaning(grade, str(grade), "", "", "") for grade in range(grades)))


@st.composite
def any_rule(draw: st.DrawFn) -> BatchRule:
    last = draw(st.integers(1, 40))
    mean = draw(st.none() | st.integers(1, 400).map(lambda hundredths: hundredths / 100))
    finds = draw(st.integers(1, last) if mean is None else st.none() | st.integers(1, last))
    return BatchRule(last, mean, finds, draw(st.integers(1, 4)))


def by_definition(rule: BatchRule, relevances: list[int | None]) -> str:
    """One condition or the other; of pairs without a relevance nothing is known."""
    last = []
    for relevance in relevances[::-1]:
        if len(last) < rule.last:
            last.append(relevance)
    known = [relevance for relevance in last if relevance is not None]
    if rule.finds is not None and len([r for r in known if r >= rule.grade]) >= rule.finds:
        return "open"
    if not known or Fraction(len(known), len(last)) < Fraction(1, 2):
        return "cannot tell"
    if rule.mean is not None and Fraction(sum(known), len(known)) >= Fraction(str(rule.mean)):
        return "open"
    return "do not open"


@given(any_rule(), st.lists(st.none() | st.integers(0, 4), max_size=45))
def test_the_rule_is_its_definition(rule: BatchRule, relevances: list[int | None]) -> None:
    read = model.rule_reading(rule, relevances)
    assert read.word == by_definition(rule, relevances)
    assert list(model.rule_problems(rule, scale(5))) == []
    assert read.words.endswith(f": {read.word}")


@pytest.mark.parametrize(
    ("last", "word", "words"),
    [
        ((3, 3, 2, 2, 2), "open", "mean 2.4 (needs 2.0), 2 of 5 graded 3 or more: open"),
        ((3, 3, 3, 0, 0), "open", "mean 1.8 (needs 2.0), 3 of 5 graded 3 or more: open"),
        ((2, 2, 2, 2, 2), "open", "mean 2.0 (needs 2.0), 0 of 5 graded 3 or more: open"),
        ((4, 4, 1, 0, 0), "do not open", "mean 1.8 (needs 2.0), 2 of 5 graded 3 or more: do not open"),
        (
            (None, 2, 2, 2, 1),
            "do not open",
            "mean 1.75 (needs 2.0), 4 of 5 have a relevance, 0 of 5 graded 3 or more: do not",
        ),
        (
            (None, None, None, 4, 4),
            "cannot tell",
            "mean 4.0 (needs 2.0), 2 of 5 have a relevance, 2 of 5 graded 3 or more",
        ),
        (
            (None,) * 5,
            "cannot tell",
            "no mean yet (needs 2.0), 0 of 5 have a relevance, 0 of 5 graded 3 or more: cannot tell",
        ),
    ],
)
def test_what_the_last_five_say(last: tuple[int | None, ...], word: str, words: str) -> None:
    read = model.rule_reading(FIVE, (4,) * 15 + last)
    assert read.word == word
    assert read.words.startswith(words)


@pytest.mark.parametrize(
    ("grades", "size", "expected"),
    [
        (5, 20, FIVE),
        (5, 40, BatchRule(10, 2.0, 6, 3)),
        (5, 10, BatchRule(2, 2.0, 2, 3)),
        (5, 3, BatchRule(1, 2.0, 1, 3)),
        (2, 20, BatchRule(5, 0.5, 3, 1)),
        (3, 20, BatchRule(5, 1.0, 3, 1)),
        (4, 20, BatchRule(5, 1.5, 3, 2)),
    ],
)
def test_every_scale_and_batch_size_has_a_rule_to_begin_with(grades: int, size: int, expected: BatchRule) -> None:
    assert model.default_rule(scale(grades), size) == expected


@given(st.integers(2, 5), st.integers(1, 40))
def test_no_campaign_begins_with_a_rule_that_it_would_refuse(grades: int, size: int) -> None:
    rule = model.default_rule(scale(grades), size)
    assert list(model.rule_problems(rule, scale(grades))) == []
    assert model.rule_reading(rule, [grades - 1] * size).word is RuleWord.OPEN
    assert model.rule_reading(rule, [0] * size).word is RuleWord.LEAVE


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (BatchRule(0, 2.0, None, 3), "the rule can look at the last 1 to 40 candidates, not 0"),
        (
            BatchRule(5, None, None, 3),
            "a rule needs one of its two conditions: a mean, or a number of pairs with a grade",
        ),
        (BatchRule(5, 4.5, None, 3), "the mean has to be above 0 and at most 4, not 4.5"),
        (BatchRule(5, 2.005, None, 3), "the mean can have two decimals, not 2.005"),
        (BatchRule(5, None, 6, 3), "the rule can ask for 1 to 5 of the last 5 candidates, not 6"),
        (BatchRule(5, None, 3, 5), "the grade has to be 1 to 4, not 5"),
        (BatchRule(5, None, 3, 0), "the grade has to be 1 to 4, not 0"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(rule: BatchRule, message: str) -> None:
    assert list(model.rule_problems(rule, scale(5))) == [message]


@given(st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_a_batch_may_be_opened_once_nothing_is_in_its_way(unsettled: int, pairs: int, declined: bool) -> None:
    ready = model.next_state(unsettled=unsettled, pairs=pairs, declined=declined) is NextState.READY
    assert ready is (pairs > 0 and unsettled == 0 and not declined)


def test_a_mean_a_hundredth_below_is_not_enough() -> None:
    """40 candidates of relevance 2 have a mean of 2.00."""
    assert model.rule_reading(BatchRule(40, 2.01, None, 3), [2] * 40).word is RuleWord.LEAVE
    assert model.rule_reading(BatchRule(40, 2.00, None, 3), [2] * 40).word is RuleWord.OPEN


def test_a_mean_may_be_the_highest_grade_and_not_0() -> None:
    assert list(model.rule_problems(BatchRule(5, 4.0, None, 3), scale(5))) == []
    assert list(model.rule_problems(BatchRule(5, 0.0, None, 3), scale(5))) == [
        "the mean has to be above 0 and at most 4, not 0"
    ]
