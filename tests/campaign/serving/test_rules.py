"""How often a password may be tried, when work was cut short, and what of a page is a draft: by hand."""

import hashlib
from typing import Any

import pytest

from backend.campaign.serving import rules
from backend.campaign.serving.model import LongWork, WorkState


def test_attempts_are_counted_by_digests_of_name_and_address() -> None:
    found = rules.counted_as(" Straße ", "10.0.0.1")
    assert found == {
        "name": hashlib.sha256(b"name:strasse").hexdigest(),
        "address": hashlib.sha256(b"address:10.0.0.1").hexdigest(),
    }


@pytest.mark.parametrize(
    ("name", "address", "wait"),
    [
        (7, 39, 0),
        (8, 39, 290),  # the first of the name was at 10
        (7, 40, 280),  # the first of the address at 0
        (8, 40, 290),
        (9, 41, 290),
        (0, 0, 0),
    ],
)
def test_who_tried_often_waits_until_the_first_attempt_counts_no_more(name: int, address: int, wait: int) -> None:
    attempts = {"name": [10.0 + n for n in range(name)], "address": [0.0 + n for n in range(address)]}
    assert rules.wait_s(attempts, now=20.0) == wait
    assert rules.wait_s(attempts, now=20.5) == wait  # a part of a second is a whole one


def work(state: WorkState = WorkState.UNDER_WAY) -> LongWork:
    return LongWork("a step", "Counting", "Lea", 5.0, state, "counting", 1, 3)


@pytest.mark.parametrize(
    ("state", "silent_s", "becomes"),
    [
        (WorkState.UNDER_WAY, 60.0, WorkState.UNDER_WAY),
        (WorkState.UNDER_WAY, 60.5, WorkState.CUT_SHORT),
        (WorkState.DONE, 999.0, WorkState.DONE),
    ],
)
def test_work_of_which_nothing_is_heard_was_cut_short(state: WorkState, silent_s: float, becomes: WorkState) -> None:
    assert rules.as_it_stands(work(state), heard_at=100.0, now=100.0 + silent_s) == work(becomes)


@pytest.mark.parametrize("value", ["a text", 3, 0, 1.5, frozenset({"a"}), ""])
def test_what_somebody_typed_or_chose_is_kept(value: Any) -> None:
    assert rules.worth_keeping({"field": value, "button": False, "file": object(), "list": ["a"]}) == {"field": value}


def test_a_draft_holds_so_many_characters_and_not_one_more() -> None:
    fits = {"a": "x" * 19_996, "n": 1.5, "b": True, "m": 7}
    assert rules.worth_keeping(fits) == {"a": "x" * 19_996, "n": 1.5, "m": 7}
    assert rules.worth_keeping({**fits, "m": 77}) == {}
