"""The numbers of the lead's pages People and Progress, each against counting the rows one by one."""

import random
import secrets
import sqlite3
from collections import Counter
from datetime import datetime

import pytest

from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk, record_grades, record_skips
from backend.campaign.doctor.database import backup_now
from backend.campaign.judging import grades
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.judging.queue import offer_again
from backend.campaign.monitoring.progress.model import DayCount
from backend.campaign.monitoring.progress.progress import progress
from backend.campaign.nouns import OPERATOR, PersonReview
from backend.campaign.setup.people import rows as people
from backend.core.errors import AlreadyDone, NotAllowed, ProjectError
from support import Judging

DAY_S = 86_400.0
# Half past midnight in New York, and already morning in Greenwich: the days differ.
NOW = datetime.fromisoformat("2026-03-12T00:30:00-04:00").timestamp()
pytestmark = pytest.mark.usefixtures("new_york")


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Some weeks of work: grades and corrections, too fast and not, skips, simulated and imported grades."""
    rng = random.Random(5)
    for days_ago in (40, 29, 12, 8, 6.9, 5, 3, 1, 0.03, 0.01):
        at = NOW - days_ago * DAY_S
        for who, person in enumerate(judging.annotators[:3]):
            for _ in range(rng.randrange(1, 4)):
                pair = desk(judging.project, person, now=at - 100).items[0].pair
                for _ in range(rng.choice((1, 1, 2))):  # the second is a correction
                    active_ms = rng.choice((600, 1400, 5000))
                    event = GradeEvent(pair, rng.randrange(5), secrets.token_hex(8), active_ms, active_ms + 100)
                    record_grades(judging.project, person, [event], now=at)
            if days_ago == 3:
                pair = desk(judging.project, person, now=at).items[0].pair
                skip = SkipEvent(pair, SkipKind.SKIP, "no", f"skip-{who}")
                record_skips(judging.project, person, [skip], now=at)
                if who == 0:  # a lead offers it again, and it is graded
                    offer_again(judging.project, judging.lead, pair, now=at)
                    judging.grade(who, pair, 3, at=at)
    simulated = judging.annotators[3]
    for item in desk(judging.project, simulated, now=NOW).items[:4]:
        event = GradeEvent(item.pair, 2, secrets.token_hex(8), 3000)
        grades.record_grade(judging.project.store, simulated, event, now=NOW, simulated=True)
    imported = desk(judging.project, judging.annotators[0], now=NOW).items[0].pair
    judging.grade(0, imported, 3, key="imported", at=NOW)
    db = judging.project.store.db.conn
    db.execute("DROP TRIGGER judgement_no_update")
    db.execute("UPDATE judgement SET imported = 1, active_ms = 0, elapsed_ms = NULL WHERE event_key = 'imported'")
    return judging


def rows(judging: Judging, sql: str) -> list[sqlite3.Row]:
    return judging.project.store.db.conn.execute(sql).fetchall()


def judgements(judging: Judging) -> list[sqlite3.Row]:
    """Every judgement with its person and the length of its clip."""
    return rows(
        judging,
        "SELECT j.*, a.name, m.end_s - m.start_s AS duration_s FROM judgement j JOIN annotator a USING (annotator_id) "
        "JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) ORDER BY judgement_id",
    )


def local_day(at: float) -> str:
    return datetime.fromtimestamp(at).date().isoformat()


def test_people_are_counted_as_their_rows_are(worked: Judging) -> None:
    found = {review.person.name: review for review in people.reviews(worked.project.store.db, NOW)}
    standing = {(row["pair_id"], row["seat_no"]): row for row in judgements(worked)}  # the newest revision stays
    assert len(standing) < len(judgements(worked)), "something was corrected"
    for person in worked.annotators:
        mine = [row for row in standing.values() if row["name"] == person.name]
        first = [row for row in judgements(worked) if row["name"] == person.name and row["revision"] == 1]
        skips = rows(worked, f"SELECT 1 FROM skip WHERE annotator_id = {person.annotator_id} AND lifted_at IS NULL")
        assert found[person.name] == PersonReview(
            person,
            has_password=False,
            judgements=len(mine),
            last_at=max(row["graded_at"] for row in judgements(worked) if row["name"] == person.name),
            today=sum(local_day(row["graded_at"]) == local_day(NOW) for row in first),
            skips=len(skips),
        )
    assert found["Lea"] == PersonReview(worked.lead, has_password=False, judgements=0, last_at=None)


def test_today_of_the_people_page_is_today_of_the_desk(worked: Judging) -> None:
    for review in people.reviews(worked.project.store.db, NOW):
        if review.person != worked.lead:
            assert review.today == desk(worked.project, review.person, now=NOW).today


def test_progress_counts_what_people_did(worked: Judging) -> None:
    found = progress(worked.project, OPERATOR, now=NOW)
    first = [row for row in judgements(worked) if row["revision"] == 1]
    mine = [row for row in first if not row["simulated"] and not row["imported"]]
    by_day = Counter(local_day(row["graded_at"]) for row in mine)
    assert len(found.days) == 30
    assert [day.day for day in found.days] == sorted({day.day for day in found.days})
    assert found.days[-1] == DayCount("2026-03-12", by_day["2026-03-12"], simulated=4)
    assert {day.day: day.judgements for day in found.days if day.judgements} == {
        day: count for day, count in by_day.items() if day >= "2026-02-11"
    }
    week = [row for row in mine if row["graded_at"] >= NOW - 7 * DAY_S]
    assert {pace.name: (pace.today, pace.week) for pace in found.people} == {
        person.name: (
            sum(row["name"] == person.name and local_day(row["graded_at"]) == "2026-03-12" for row in mine),
            sum(row["name"] == person.name for row in week),
        )
        for person in worked.annotators
    }
    assert found.people[0].week == max(pace.week for pace in found.people)
    assert found.imported == 1
    assert found.a_day == pytest.approx(len(week) / 7)
    ahead = found.ahead
    assert ahead.forecast.idle, "the program that made up grades gives no more"
    assert ahead.forecast.days is not None
    together = (ahead.needed - ahead.forecast.idle) / (len(week) / 7)
    assert ahead.forecast.days > together, "nobody is faster than everybody together, and they know each other's pairs"


def test_what_is_needed_and_held_is_counted_seat_by_seat(worked: Judging) -> None:
    blocked = desk(worked.project, worked.annotators[1], now=NOW).items[0].pair
    report_clip(worked.project, worked.annotators[1], blocked, "broken", now=NOW)
    broken = {row[0] for row in rows(worked, "SELECT moment_id FROM clip_fault")}
    settled = {row[0] for row in rows(worked, "SELECT pair_id FROM consensus WHERE verdict <> 'escalated'")}
    seats = rows(worked, "SELECT s.*, p.moment_id FROM seat s JOIN pair p USING (pair_id)")
    needed = [
        seat
        for seat in seats
        if (seat["annotator_id"] is None or seat["lease_until"] is not None)
        and seat["pair_id"] not in settled
        and seat["moment_id"] not in broken
    ]
    found = progress(worked.project, OPERATOR, now=NOW)
    assert found.ahead.needed == len(needed) > 0
    held = {seat["pair_id"] for seat in seats if seat["lease_until"] is not None and seat["lease_until"] >= NOW}
    assert found.held == len(held) > 0
    assert progress(worked.project, OPERATOR, now=NOW + DAY_S).held == 0


def test_a_campaign_of_two_days_is_not_measured_over_seven(judging: Judging) -> None:
    for days_ago in (2, 1):
        for _ in range(3):
            at = NOW - days_ago * DAY_S
            pair = desk(judging.project, judging.annotators[0], now=at).items[0].pair
            judging.grade(0, pair, 3, at=at)
    assert progress(judging.project, OPERATOR, now=NOW).a_day == pytest.approx(3)
    assert progress(judging.project, OPERATOR, now=NOW - 2 * DAY_S + 60).a_day == pytest.approx(6)  # at least one day


def test_without_any_judgement_there_is_no_forecast(judging: Judging) -> None:
    found = progress(judging.project, OPERATOR, now=NOW)
    assert (found.ahead.needed, found.a_day, found.ahead.forecast.days) == (120, 0.0, None)
    assert all(day.judgements == 0 for day in found.days)


def test_a_backup_holds_what_the_project_held(worked: Judging) -> None:
    file = backup_now(worked.project, worked.lead, now=NOW)
    assert file == worked.project.folder / "backups" / "20260312-043000.db"
    copy = sqlite3.connect(file)
    assert copy.execute("SELECT count(*) FROM judgement").fetchone()[0] == len(judgements(worked))
    copy.close()
    with pytest.raises(AlreadyDone, match="This was done at"):
        backup_now(worked.project, worked.lead, now=NOW)
    worked.rows("UPDATE video SET duration_s = 61 WHERE video_id = 1")
    with pytest.raises(ProjectError, match="never overwrites"):
        backup_now(worked.project, worked.lead, now=NOW)
    with pytest.raises(NotAllowed):
        backup_now(worked.project, worked.annotators[0], now=NOW + 1)


def test_a_backup_that_has_no_place_says_so(judging: Judging) -> None:
    (judging.project.folder / "backups").write_text("a file in the way")
    with pytest.raises(ProjectError, match="backups"):
        backup_now(judging.project, judging.lead, now=NOW)
