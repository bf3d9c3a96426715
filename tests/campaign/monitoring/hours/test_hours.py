"""Hours of a project against adding up its rows one by one, and what is left out of them."""

import random
import secrets
from collections import Counter
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest

from backend.campaign.corpus.describing.model import DescribeKind
from backend.campaign.corpus.describing.reviewing import describing_figures
from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging import grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.monitoring.hours.report import hours, payroll_csv
from backend.campaign.monitoring.quality.flags import flags, my_work
from backend.campaign.nouns import OPERATOR
from backend.core.errors import InputError
from describing import event, opened, send
from support import Judging

DAY_S = 86_400.0
# Half past midnight in New York, and already morning in Greenwich: the days differ.
NOW = datetime.fromisoformat("2026-03-12T00:30:00-04:00").timestamp()
pytestmark = pytest.mark.usefixtures("new_york")


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Some days of work with corrections and grades without a time; a simulated person."""
    rng = random.Random(5)
    for days_ago in (40, 5, 4.02, 3, 1, 0.03, 0):
        at = NOW - days_ago * DAY_S
        for person in judging.annotators[:3]:
            for _ in range(rng.randrange(1, 5)):
                pair = desk(judging.project, person, now=at - 100).items[0].pair
                for _ in range(rng.choice((1, 1, 2))):  # the second is a correction
                    event = GradeEvent(pair, rng.randrange(5), secrets.token_hex(8), rng.choice((0, 4_321, 9_876)))
                    record_grades(judging.project, person, [event], now=at)
    for item in desk(judging.project, judging.annotators[3], now=NOW).items[:4]:
        event = GradeEvent(item.pair, 2, secrets.token_hex(8), 3000)
        grades.record_grade(judging.project.store, judging.annotators[3], event, now=NOW, simulated=True)
    return judging


def set_pay(judging: Judging, text: str) -> None:
    file = judging.project.folder / "reelrank.toml"
    file.write_text(file.read_text().replace("# hourly_rate = 11", text))


def rows(judging: Judging) -> list[tuple[str, str, int, int]]:
    """(name, local day, revision, active_ms) of everything that people graded themselves."""
    found = judging.project.store.db.execute(
        "SELECT a.name, graded_at, revision, active_ms FROM judgement JOIN annotator a USING (annotator_id) "
        "WHERE judgement.simulated = 0"
    )
    return [(row[0], datetime.fromtimestamp(row[1]).date().isoformat(), row[2], row[3]) for row in found]


def test_a_day_is_what_its_rows_add_up_to(worked: Judging) -> None:
    set_pay(worked, "hourly_rate = 11")
    found = hours(worked.project, worked.lead)
    time_ms, first, unmeasured = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for name, day, revision, active_ms in rows(worked):
        time_ms[day, name] += active_ms
        first[day, name] += revision == 1
        unmeasured[day, name] += active_ms == 0
    assert [(one.day, one.name) for one in found.days] == sorted(time_ms)
    assert set(time_ms.values()) & {4_321, 9_876, 14_197}, "what was claimed had passed"
    for one in found.days:
        key = one.day, one.name
        assert (one.judgements, one.judging_ms, one.unmeasured) == (first[key], time_ms[key], unmeasured[key])
        assert one.pay == (Decimal(11 * time_ms[key]) / 3_600_000).quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert found.hours == pytest.approx(sum(time_ms.values()) / 3_600_000)
    assert found.pay == sum(one.pay for one in found.days if one.pay is not None)
    assert {one.name: one.judgements for one in found.people} == Counter(
        name for name, _, revision, _ in rows(worked) if revision == 1
    )
    assert (found.simulated, found.imported) == (4, 0)


def test_days_can_be_asked_for_by_the_clock_of_the_server(worked: Judging) -> None:
    everything = hours(worked.project, OPERATOR)
    found = hours(worked.project, OPERATOR, first="2026-03-07", last="2026-03-09")
    assert found.days == tuple(one for one in everything.days if "2026-03-07" <= one.day <= "2026-03-09")
    assert found.days
    assert found.outlook == everything.outlook, "what is still to come goes by all days"


def test_time_in_the_exam_is_work(worked: Judging) -> None:
    before = hours(worked.project, OPERATOR)
    db, me = worked.project.store.db.conn, worked.annotators[3].annotator_id
    pair = db.execute("SELECT pair_id FROM pair").fetchone()[0]
    db.execute("INSERT INTO exam (exam_id, set_at, source, most_missed) VALUES (1, 0, 'x', 20)")
    db.execute("INSERT INTO exam_item (item_id, exam_id, pair_id, right_grade) VALUES (5, 1, ?, 2)", [pair])
    db.execute(
        "INSERT INTO exam_attempt (attempt_id, exam_id, annotator_id, number, attempt_key, started_at) "
        "VALUES (9, 1, ?, 1, 'k', 0)",
        [me],
    )
    for revision, again, ms in ((1, 0, 5000), (2, 1, 700)):
        db.execute(
            "INSERT INTO exam_answer (attempt_id, item_id, revision, again, grade, answered_at, active_ms, event_key) "
            "VALUES (9, 5, ?, ?, 1, ?, ?, ?)",
            [revision, again, NOW, ms, f"e{revision}"],
        )
    found = hours(worked.project, OPERATOR)
    (dev,) = [one for one in found.days if one.name == "Dev"]
    assert (dev.day, dev.judgements, dev.exam_answers, dev.exam_ms) == ("2026-03-12", 0, 1, 5700)
    assert found.hours == pytest.approx(before.hours + 5.7 / 3600)
    assert found.outlook.seconds == before.outlook.seconds, "an exam is held once: what is to come has none"


def test_time_at_gold_is_work_and_none_of_the_judgements(worked: Judging) -> None:
    before = hours(worked.project, OPERATOR)
    db, me = worked.project.store.db.conn, worked.annotators[0].annotator_id
    pair = db.execute("SELECT pair_id FROM pair").fetchone()[0]
    db.execute("INSERT INTO gold_seat (pair_id, annotator_id, claim_no) VALUES (?, ?, 1)", [pair, me])
    for revision in (1, 2):
        db.execute(
            "INSERT INTO gold_answer (pair_id, annotator_id, revision, grade, graded_at, active_ms, event_key, "
            "after_judgement) VALUES (?, ?, ?, 1, ?, 2000, ?, 0)",
            [pair, me, revision, NOW, f"g{revision}"],
        )
    found = hours(worked.project, OPERATOR)
    today = next(one for one in found.days if (one.name, one.day) == ("Anna", "2026-03-12"))
    assert (today.gold_answers, today.gold_ms) == (1, 4000)
    assert found.hours == pytest.approx(before.hours + 4 / 3600)
    assert [one.judgements for one in found.people] == [one.judgements for one in before.people]
    timed = [one for one in found.days if one.judgements and one.judging_ms]
    time_s = sum(one.judging_ms + one.gold_ms for one in timed) / 1000
    assert found.outlook.seconds == pytest.approx(time_s / sum(one.judgements for one in timed))


def test_time_of_descriptions_is_work_and_none_of_the_judgements(worked: Judging) -> None:
    opened(worked, at=NOW - 100)
    before = hours(worked.project, OPERATOR)
    again = event("d1", DescribeKind.REDESCRIBE, sentence="A man pours tea.")
    send(worked, 0, event("d1"), event("d2"), again, event("d2", DescribeKind.WITHDRAW), at=NOW)
    found = hours(worked.project, OPERATOR)
    today = next(one for one in found.days if (one.name, one.day) == ("Anna", "2026-03-12"))
    # By hand: three sentences of 3 s each, two of them new.
    assert (today.descriptions, today.describing_ms) == (2, 9000)
    assert found.hours == pytest.approx(before.hours + 9 / 3600)
    assert [one.an_hour for one in found.people] == [one.an_hour for one in before.people]
    assert found.outlook.seconds == before.outlook.seconds


def test_no_report_has_a_day_of_more_than_24_hours(judging: Judging) -> None:
    """As rows have it that were stored before times were bounded: 596 h of grading and 149 h of describing."""
    opened(judging, at=NOW - 100)
    set_pay(judging, "hourly_rate = 10")
    pair = desk(judging.project, judging.annotators[0], now=NOW - 100).items[0].pair
    record_grades(judging.project, judging.annotators[0], [GradeEvent(pair, 2, "k", 1000, 1000)], now=NOW)
    send(judging, 0, event("d1"), at=NOW)
    db = judging.project.store.db.conn
    for table in ("judgement", "description_act"):
        db.execute(f"DROP TRIGGER {table}_no_update")
    db.execute("UPDATE judgement SET active_ms = ?, elapsed_ms = ?", [596 * 3_600_000] * 2)
    db.execute("UPDATE description_act SET active_ms = ?", [149 * 3_600_000])
    found = hours(judging.project, OPERATOR)
    (day,) = found.days
    # By hand: 24 h, of which 596 of 745 parts are grading.
    assert (day.judging_ms, day.describing_ms) == (69_120_000, 17_280_000)
    assert (found.hours, found.pay) == (24.0, Decimal("240.00"))
    assert my_work(judging.project, judging.annotators[0], now=NOW).active_s == 86_400
    assert my_work(judging.project, judging.annotators[0], now=NOW).months == (("2026-03-01", 86_400.0),)
    assert [one.active_h for one in describing_figures(judging.project, judging.lead).people] == [24.0]
    assert flags(judging.project, judging.lead)[0].median_s == 86_400
    assert judging.state(pair).grades[0].active_ms == 86_400_000


def test_imported_judgements_are_left_out_and_said(worked: Judging) -> None:
    db = worked.project.store.db.conn
    db.execute("DROP TRIGGER judgement_no_update")
    db.execute("UPDATE judgement SET imported = 1 WHERE annotator_id = ?", [worked.annotators[0].annotator_id])
    found = hours(worked.project, OPERATOR)
    assert {one.name for one in found.people} == {"Boris", "Carla"}
    assert found.imported > 0


def test_still_to_come_are_the_seats_and_what_disputes_will_add(worked: Judging) -> None:
    found = hours(worked.project, OPERATOR).outlook
    pairs = worked.pairs()
    missing = sum(
        (4 if pair.verdict.value == "escalated" else 2) - len(pair.grades)
        for pair in pairs
        if not pair.verdict.is_settled
    )
    assert found.needed == missing
    assert (found.disputed, found.further) == (None, 0), "too few pairs have two grades"


def test_rates_may_change_any_day_and_names_are_looked_at(worked: Judging) -> None:
    assert hours(worked.project, OPERATOR).pay is None
    set_pay(worked, "hourly_rate = 10.83")
    file = worked.project.folder / "reelrank.toml"
    file.write_text(file.read_text().replace("\n[pay.rates]\n", '\n[pay.rates]\nanna = 20\n"Zoe" = 5\n'))
    found = hours(worked.project, OPERATOR)
    assert (found.rate, found.currency, found.unknown_rates) == (10.83, "USD", ("Zoe",))
    anna = next(one for one in found.people if one.name == "Anna")
    assert anna.pay is not None
    assert float(anna.pay) == pytest.approx(20 * anna.hours, abs=0.005 * anna.days)
    assert hours(worked.project, OPERATOR, rate=1, currency="EUR").currency == "EUR"
    set_pay(worked, "")
    file.write_text(file.read_text().replace("hourly_rate = 10.83", "hourly_rate = -1"))
    with pytest.raises(InputError, match="hourly_rate"):
        hours(worked.project, OPERATOR)


def test_the_csv_has_a_line_for_each_person_and_day(worked: Judging) -> None:
    found = hours(worked.project, OPERATOR, rate=11)
    lines = payroll_csv(found.days, found.currency).splitlines()
    assert lines[0] == (
        "person,day,judgements,exam_answers,gold_answers,descriptions,unmeasured,judging_hours,exam_hours,gold_hours,"
        "describing_hours,active_hours,pay,currency"
    )
    assert len(lines) == 1 + len(found.days)
    one = found.days[0]
    assert lines[1] == (
        f"{one.name},{one.day},{one.judgements},0,0,0,{one.unmeasured},{one.judging_ms / 3.6e6:.6f},0.000000,"
        f"0.000000,0.000000,{one.judging_ms / 3.6e6:.6f},{one.pay},USD"
    )
    assert sum(Decimal(line.split(",")[12]) for line in lines[1:]) == found.pay
