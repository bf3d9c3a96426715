"""Days begin at the server's midnight, also where the clock changes."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from backend.core import days


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server in Berlin: on 30 March 2025 its clock went from 2 to 3 at night."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("now", "began"),
    [
        ("2025-03-30T00:00:00+01:00", "2025-03-30T00:00:00+01:00"),
        ("2025-03-29T23:59:59.999+01:00", "2025-03-29T00:00:00+01:00"),
        ("2025-03-30T12:00:00+02:00", "2025-03-30T00:00:00+01:00"),
        ("2025-03-31T00:30:00+02:00", "2025-03-31T00:00:00+02:00"),
        ("2025-10-26T02:30:00+01:00", "2025-10-26T00:00:00+02:00"),  # the hour that comes twice
    ],
)
def test_a_day_began_at_midnight_of_the_server(now: str, began: str) -> None:
    assert days.midnight(at(now)) == at(began)


def test_days_ago_are_counted_by_the_calendar() -> None:
    assert days.midnight(at("2025-03-31T12:00:00+02:00"), days_ago=2) == at("2025-03-29T00:00:00+01:00")
    assert days.last_days(at("2025-03-31T00:10:00+02:00"), 3) == ["2025-03-29", "2025-03-30", "2025-03-31"]
    assert days.day_of(at("2025-03-30T23:59:59+02:00")) == "2025-03-30"
