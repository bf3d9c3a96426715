"""Patterns that people type: each has a bounded cost and stops nobody else."""

import re
import threading

import pytest

from backend.core.errors import ProjectError
from backend.core.user_patterns import LONGEST, first_groups

NAMES = [f"castle_s01e{number:02}_seg02_clip_{number:02}" for number in range(50)]


@pytest.mark.long
@pytest.mark.parametrize("pattern", [r"(\w+)+!", r"(?:\w\w|\w)+!", "(?:(?:(?:(?:.){0,99}){0,99}){0,99}){0,99}!"])
def test_a_pattern_that_would_take_hours_ends_and_others_go_on(pattern: str) -> None:
    refused: list[str] = []

    def match() -> None:
        with pytest.raises(ProjectError) as refusal:
            first_groups(pattern, NAMES)
        refused.append(str(refusal.value))

    beside = threading.Thread(target=match, daemon=True)
    beside.start()
    moves = 0
    while beside.is_alive():
        beside.join(0.01)  # Python's own `re` would not give the lock back here
        moves += 1
    assert moves > 10
    assert refused == [
        f"This pattern takes too long: {pattern}. Write a simpler one, without a repeat inside a repeat such as "
        r"(\w+)+."
    ]


@pytest.mark.parametrize("pattern", ["(", "a**", "(?P<1>a)", "a{99999999999999999999}", "[b-a]", "(?z)"])
def test_what_is_no_pattern_is_told_with_what_is_wrong_in_it(pattern: str) -> None:
    with pytest.raises(ProjectError, match="This pattern is not a regular expression: " + re.escape(pattern)):
        first_groups(pattern, NAMES)


def test_a_pattern_has_a_length() -> None:
    assert first_groups("c" + "(?:)" * ((LONGEST - 1) // 4), NAMES[:1]) == ["c"]
    with pytest.raises(ProjectError, match=f"This pattern is too long: write at most {LONGEST} characters"):
        first_groups("c" * (LONGEST + 1), NAMES)


def test_patterns_mean_what_they_mean_to_python() -> None:
    names = ["büro_s01", "s01", "büro_s01_s02", "\udc80x_s01", "a\nb_s1"]
    for pattern in (r"(\w+)_s\d", r"\w+(?=_s0)", r"^(?:(\w+?)_)?s\d+", r"(.)\1", "(?i)BÜRO"):
        found = [re.search(pattern, name) for name in names]
        groups = [match and (match[1 if match.re.groups else 0] or "") for match in found]
        assert first_groups(pattern, names) == groups, pattern
