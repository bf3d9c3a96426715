"""How often a password may be tried, which jobs are interrupted or go, and what of a page is a draft: by hand."""

import hashlib
from typing import Any

import pytest

from backend.campaign.setup.serving import rules
from backend.campaign.setup.serving.model import Failures, Job, JobKind, JobState


def test_attempts_are_counted_by_digests_of_name_and_address() -> None:
    assert rules.sign_in_counters(" Straße ", "10.0.0.1") == {
        "pair": hashlib.sha256(b"pair:10.0.0.1:strasse").hexdigest(),
        "name": hashlib.sha256(b"name:strasse").hexdigest(),
        "address": hashlib.sha256(b"address:10.0.0.1").hexdigest(),
    }
    assert rules.sign_in_counters("Ana", "10.0.0.1", "cookie") == {
        "browser": hashlib.sha256(b"browser:cookie:ana").hexdigest()
    }


@pytest.mark.parametrize(
    ("failed", "refused_s", "held_s"),
    [
        ({}, 0, 0.0),
        ({"pair": (2, 20.0)}, 0, 0.0),
        ({"pair": (3, 20.0)}, 1, 0.0),
        ({"pair": (4, 20.0)}, 2, 0.0),
        ({"pair": (4, 19.5)}, 2, 0.0),  # a part of a second is a whole one
        ({"pair": (4, 18.0)}, 0, 0.0),
        ({"pair": (6, 20.0)}, 8, 0.0),
        ({"pair": (11, 20.0)}, 256, 0.0),
        ({"pair": (12, 20.0)}, 300, 0.0),
        ({"pair": (10**6, 20.0)}, 300, 0.0),
        ({"pair": (10**6, 20.0 - 3_599)}, 0, 0.0),
        ({"pair": (10**6, 500.0)}, 300, 0.0),  # a clock that was set back
        ({"browser": (5, 20.0)}, 4, 0.0),
        ({"name": (9, 20.0), "address": (29, 20.0)}, 0, 0.0),
        ({"name": (10, 20.0)}, 0, 1.0),
        ({"name": (13, 18.5)}, 0, 6.5),
        ({"name": (10**6, 20.0), "address": (10**6, 20.0)}, 0, 10.0),
        ({"address": (32, 19.0), "pair": (3, 20.0)}, 1, 3.0),
    ],
)
def test_how_an_attempt_is_slowed_down(failed: dict[str, tuple[int, float]], refused_s: int, held_s: float) -> None:
    found = rules.delay({kind: Failures(*one) for kind, one in failed.items()}, now=20.0)
    assert (found.refused_s, found.held_s) == (refused_s, held_s)


def job(state: JobState = JobState.UNDER_WAY, kind: JobKind = JobKind.SET_UP, key: str = "a key") -> Job:
    return Job(key, kind, "a step", "Counting", "Lea", 5.0, state, "counting", 1, 3)


@pytest.mark.parametrize(
    ("state", "lock_is_free", "silent_s", "becomes"),
    [
        (JobState.UNDER_WAY, None, 60.0, JobState.UNDER_WAY),  # of a machine whose files are not here
        (JobState.UNDER_WAY, None, 60.5, JobState.INTERRUPTED),
        (JobState.UNDER_WAY, True, 6.0, JobState.UNDER_WAY),
        (JobState.UNDER_WAY, True, 6.5, JobState.INTERRUPTED),
        (JobState.UNDER_WAY, False, 999.0, JobState.UNDER_WAY),
        (JobState.DONE, True, 999.0, JobState.DONE),
    ],
)
def test_a_job_is_interrupted_if_its_lock_is_free_or_it_is_silent_for_long(
    state: JobState, lock_is_free: bool | None, silent_s: float, becomes: JobState
) -> None:
    current = rules.current_job(job(state), heard_at=100.0, lock_is_free=lock_is_free, now=100.0 + silent_s)
    assert current == job(becomes)


def test_of_each_kind_the_newest_stay_that_ended() -> None:
    sets_up = [job(key="running"), job(JobState.DONE, key="new"), job(JobState.INTERRUPTED, key="old")]
    intervals = [job(JobState.DONE, JobKind.INTERVALS, str(n)) for n in range(11)]
    jobs = [*intervals, *sets_up]
    assert [one.key for one in rules.outdated_jobs(jobs, JobKind.SET_UP)] == ["new", "old"]
    assert [one.key for one in rules.outdated_jobs(jobs, JobKind.INTERVALS)] == ["8", "9", "10"]
    assert rules.outdated_jobs(jobs, JobKind.CLIPS) == []


@pytest.mark.parametrize("value", ["a text", 3, 0, 1.5, frozenset({"a"}), ""])
def test_what_somebody_typed_or_chose_is_kept(value: Any) -> None:
    assert rules.draft_values({"field": value, "button": False, "file": object(), "list": ["a"]}) == {"field": value}


def test_a_draft_holds_so_many_characters_and_not_one_more() -> None:
    fits = {"a": "x" * 19_996, "n": 1.5, "b": True, "m": 7}
    assert rules.draft_values(fits) == {"a": "x" * 19_996, "n": 1.5, "m": 7}
    assert rules.draft_values({**fits, "m": 77}) == {}
