"""`reelrank users hours` prints hours, pay and what is still to come, and writes a file for payroll."""

import json
from pathlib import Path

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.staffing import pause_person
from cli.conftest import Run
from support import NOW, Judging


def test_hours_pay_and_payroll(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    for n in range(4):
        pair = desk(judging.project, judging.annotators[0], now=NOW + 900 * n).items[0].pair
        event = GradeEvent(pair, 3, f"key {n}", 900_000)
        record_grades(judging.project, judging.annotators[0], [event], now=NOW + 900 * (n + 1))
    file = tmp_path / "pay.csv"
    code, out, _ = reelrank("users", "hours", judging.project.folder, "--rate", 11, "--currency", "EUR", "--csv", file)
    assert code == 0
    assert out.splitlines()[1].split() == ["Anna", "1", "4", "1.00", "4", "11.00"]
    assert "About 29.0 hours, 319.00 EUR at 900.0 s a judgement (an interval needs 10 working days of people)." in out
    assert file.read_text().splitlines()[1].endswith(",1.000000,11.00,EUR")
    found = json.loads(reelrank("users", "hours", judging.project.folder, "--json")[1])
    assert (found["hours"], found["pay"], found["outlook"]["needed"]) == (1.0, None, 116)
    for away in judging.annotators[1:]:
        pause_person(judging.project, judging.lead, away.annotator_id, "on holiday", now=NOW)
    assert "Nobody who may work can give 60 of them just now" in reelrank("users", "hours", judging.project.folder)[1]


def test_a_wrong_day_is_wrong_usage_and_an_idle_time_says_so(reelrank: Run, judging: Judging) -> None:
    code, _, err = reelrank("users", "hours", judging.project.folder, "--from", "March")
    assert code == 2
    assert "is not a day such as 2026-03-14" in err
    out = reelrank("users", "hours", judging.project.folder, "--from", "2026-03-01", "--to", "2026-03-31")[1]
    assert out.startswith("Nobody has worked here in this time.")
    assert "No pay: reelrank.toml has no hourly_rate" in out
