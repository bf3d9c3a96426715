"""Nobody is credited more working time than passed on the server, and honest work is credited in full."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.setup.people.crediting import limit_to_server_time
from postgres import SQLITE_FIRST
from support import NOW, Judging

MINUTE_MS, DAY_MS = 60_000, 86_400_000
HUGE_MS = 596 * 3_600_000
Stored = tuple[int, int, int]
"""When the work was handed out, when its event was stored, and what was credited; all in milliseconds."""


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


def store(events: list[Stored], since: int, now: int, claimed: int) -> int:
    """Credit one more event, as the server does."""
    before = sum(ms for _, at, ms in events if at > since)
    work = limit_to_server_time(claimed, None, passed_ms=now - since, credited_ms=before)
    events.append((since, now, work.active_ms))
    return work.active_ms


INSTANT = st.integers(0, 200)
CLAIM = st.one_of(st.integers(0, 250), st.just(HUGE_MS))


@given(st.lists(st.tuples(INSTANT, INSTANT, CLAIM), max_size=12))
def test_no_stretch_of_time_is_credited_twice(wanted: list[tuple[int, int, int]]) -> None:
    """Against a count over every stretch: whatever was handed out in it and came back in it fits into it."""
    events: list[Stored] = []
    for one, other, claimed in sorted(wanted, key=lambda event: max(event[:2])):
        store(events, min(one, other), max(one, other), claimed)
    ends = {instant for since, now, _ in events for instant in (since, now)}
    for begin, end in combinations(sorted(ends), 2):
        assert sum(ms for since, now, ms in events if since >= begin and now <= end) <= end - begin


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20), st.booleans()), min_size=1, max_size=20))
def test_honest_work_is_credited_in_full_however_late_it_arrives(wanted: list[tuple[int, int, bool]]) -> None:
    """One person, pair after pair, of which seven lie ahead; some exchanges reach the server only later."""
    now, events, handed_out, unsent = 0, [], [0] * 7, []
    for work_ms, pause_ms, is_online in wanted:
        now += pause_ms + work_ms
        unsent.append(work_ms)
        if is_online:
            for ms in unsent:
                assert store(events, handed_out.pop(0), now, ms) == ms
            handed_out += [now] * len(unsent)
            unsent = []
        elif len(unsent) == len(handed_out):
            break  # nothing is left to grade offline


@pytest.mark.parametrize(
    ("active", "elapsed", "passed", "before", "want"),
    [
        (5_000, 6_000, MINUTE_MS, 0, (5_000, 6_000)),
        (9_000, 4_000, MINUTE_MS, 0, (4_000, 4_000)),  # no longer than the clip was on screen
        (9_000, None, MINUTE_MS, 55_000, (5_000, None)),
        (9_000, 8_000, MINUTE_MS, 55_000, (5_000, 5_000)),
        (9_000, 8_000, MINUTE_MS, 70_000, (0, 0)),
        (-5, -7, MINUTE_MS, 0, (0, 0)),
        (2**52, None, 3 * DAY_MS, 0, (DAY_MS, None)),  # what was handed out days ago counts from yesterday on
        (5_000, None, -1_000, 0, (0, None)),  # a clock that was set back
    ],
)
def test_what_is_credited(active: int, elapsed: int | None, passed: int, before: int, want: tuple[int, int]) -> None:
    work = limit_to_server_time(active, elapsed, passed_ms=passed, credited_ms=before)
    assert (work.active_ms, work.elapsed_ms) == want


def credited(judging: Judging) -> list[tuple[int, int | None]]:
    rows = judging.project.store.db.conn.execute("SELECT active_ms, elapsed_ms FROM judgement ORDER BY judgement_id")
    return [(row[0], row[1]) for row in rows]


def test_seven_pairs_graded_offline_are_credited_in_full_when_they_arrive(judging: Judging) -> None:
    items = desk(judging.project, judging.annotators[0], now=NOW).items
    given = [GradeEvent(item.pair, 2, f"k{n}", 8_000, 9_000) for n, item in enumerate(items)]
    record_grades(judging.project, judging.annotators[0], given, now=NOW + 70)
    assert credited(judging) == [(8_000, 9_000)] * 7


def test_a_correction_is_work_as_well_and_shares_the_time(judging: Judging) -> None:
    item = desk(judging.project, judging.annotators[0], now=NOW).items[0]
    for n, (at, active) in enumerate([(10, 6_000), (12, 2_000), (12, HUGE_MS), (20, HUGE_MS)]):
        event = GradeEvent(item.pair, n, f"k{n}", active)
        record_grades(judging.project, judging.annotators[0], [event], now=NOW + at)
    assert [active for active, _ in credited(judging)] == [6_000, 2_000, 4_000, 8_000]


def test_a_seat_that_was_claimed_before_the_upgrade_counts_from_the_event_before(judging: Judging) -> None:
    person = judging.annotators[0]
    first, second, *_ = desk(judging.project, person, now=NOW).items
    record_grades(judging.project, person, [GradeEvent(first.pair, 2, "k1", 5_000)], now=NOW + 10)
    judging.project.store.db.conn.execute("UPDATE seat SET claimed_at = NULL WHERE lease_until IS NOT NULL")
    record_grades(judging.project, person, [GradeEvent(second.pair, 2, "k2", HUGE_MS)], now=NOW + 30)
    assert [active for active, _ in credited(judging)] == [5_000, 20_000]
