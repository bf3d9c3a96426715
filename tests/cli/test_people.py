"""The commands `reelrank users add`, `tokens`, `flags` and `hours`: links, figures, pay, what is still to come."""

import json
import os
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import Assignment, GradeEvent
from backend.campaign.judging.staffing import assign, pause_person
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token
from backend.cli import service
from cli.conftest import Run
from support import NOW, Judging


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return init_project(tmp_path / "project", encoder="minilm").folder


@pytest.mark.parametrize(
    ("host", "port", "url"),
    [
        ("127.0.0.1", 9123, "http://127.0.0.1:9123"),
        ("grading.example.org", 8501, "http://grading.example.org:8501"),
        ("::1", 8502, "http://[::1]:8502"),
        ("0.0.0.0", 8503, "http://127.0.0.1:8503"),
        ("::", 8504, "http://127.0.0.1:8504"),
    ],
)
def test_a_link_names_the_address_that_the_project_is_served_on(
    reelrank: Run, project: Path, monkeypatch: pytest.MonkeyPatch, host: str, port: int, url: str
) -> None:
    monkeypatch.setattr(service, "_require_port", lambda *_: None)
    monkeypatch.setattr(os, "execve", lambda *_: None)  # the server takes the place of the command
    assert reelrank("serve", project, "--host", host, "--port", port)[0] == 0
    _, out, _ = reelrank("users", "add", project, "Ana", "--role", "annotator")
    assert out.splitlines()[1].startswith(f"{url}/session/invitation/")


def test_a_link_names_the_usual_address_before_anything_was_served(reelrank: Run, project: Path) -> None:
    _, out, _ = reelrank("users", "add", project, "Ana", "--role", "annotator")
    assert out.splitlines()[1].startswith("http://127.0.0.1:8501/session/invitation/")


def test_a_link_names_the_address_that_was_asked_for(reelrank: Run, project: Path) -> None:
    asked = ("--url", "https://grade.example.org/")
    _, out, _ = reelrank("users", "add", project, "Ana", "--role", "annotator", *asked)
    assert out.splitlines()[1].startswith("https://grade.example.org/session/invitation/")


def test_the_operator_lists_and_revokes_tokens(reelrank: Run, judging: Judging) -> None:
    folder, anna = judging.project.folder, judging.annotators[0]
    assert reelrank.out("users", "tokens", folder) == "Nobody has a token.\n"
    token, text = create_token(judging.project, anna, "", "nightly counts", TokenScope.READ, 30, now=NOW)
    listed = reelrank.out("users", "tokens", folder)
    assert listed.splitlines()[1].split() == [
        *(token.key, "Anna", "nightly", "counts", "read", "2026-10-21", "14:13", "UTC", "never")
    ]
    (found,) = json.loads(reelrank.out("users", "tokens", folder, "--json"))["tokens"]
    assert (found["key"], found["owner"]["name"], found["used_at"]) == (token.key, "Anna", None)
    assert text.split("_")[2] not in listed + json.dumps(found)
    assert reelrank.out("users", "tokens", folder, "--revoke", token.key) == "The token nightly counts is revoked.\n"
    code, _, said = reelrank("users", "tokens", folder, "--revoke", token.key)
    assert (code, "there is no such token" in said) == (1, True)


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Worker 1 gives 3 all the time, worker 2 does not; the file does not say when."""
    folder = init_project(tmp_path / "project", encoder="minilm").folder
    rows = "".join(f"{n},1,3\n{n},2,{1 + n % 3}\n" for n in range(60))
    (tmp_path / "raw.csv").write_text(f"pair_id,worker,relevance\n{rows}")
    import_judgements(open_project(folder), tmp_path / "raw.csv", now=1.0)
    return folder


def test_figures_of_everybody_and_sentences_of_what_is_flagged(reelrank: Run, graded: Path) -> None:
    out = reelrank.out("users", "flags", graded)
    rows = [line.split() for line in out.splitlines()]
    assert ["worker", "1", "60", "-", "-", "!", "100.0", "%", "!", "+1.00", "-", "-", "0.0", "%", "0.0", "%"] in rows
    assert ["worker", "2", "60", "-", "-", "33.3", "%", "!", "\u22121.00", "-", "-", "0.0", "%", "0.0", "%"] in rows
    assert "worker 1, one grade (!): 100 % of 60 grades are 3; more than 45 % is a flag. Others gave 3" in out
    assert "worker 2, one grade" not in out


def test_everything_of_one_person_with_the_reasons(reelrank: Run, graded: Path) -> None:
    _, out, _ = reelrank("users", "flags", graded, "--person", "WORKER 2")
    assert "worker 1" not in out
    assert "worker 2, drift: The file of the earlier campaign does not say when grades were given." in out
    assert "worker 2, one grade: 33.3 % of 60 grades are 1" in out
    assert "20 pairs known by number only" in out
    assert reelrank("users", "flags", graded, "--person", "nobody")[0] == 1


def test_json_has_every_figure_with_its_base(reelrank: Run, graded: Path) -> None:
    people = json.loads(reelrank("users", "flags", graded, "--json")[1])["people"]
    assert [one["name"] for one in people] == ["worker 1", "worker 2"]
    bias = next(flag for flag in people[0]["flags"] if flag["kind"] == "bias")
    assert (bias["value"], bias["n"], bias["limit"], bias["raised"]) == (1.0, 60, 0.5, True)
    assert {flag["kind"] for flag in people[1]["flags"] if flag["value"] is None} == {
        *("too_fast", "unseen", "drift", "agreement")
    }


def test_hours_pay_and_payroll(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    for n in range(4):
        pair = desk(judging.project, judging.annotators[0], now=NOW + 900 * n).items[0].pair
        event = GradeEvent(pair, 3, f"key {n}", 900_000)
        record_grades(judging.project, judging.annotators[0], [event], now=NOW + 900 * (n + 1))
    file = tmp_path / "pay.csv"
    out = reelrank.out("users", "hours", judging.project.folder, "--rate", 11, "--currency", "EUR", "--csv", file)
    assert out.splitlines()[1].split() == ["Anna", "1", "4", "1.00", "4", "11.00"]
    few = "an interval needs at least 10 working days, counted over all annotators"
    assert f"About 29.0 hours, 319.00 EUR at 900.0 s a judgement ({few})." in out
    assert file.read_text().splitlines()[1].endswith(",1.000000,11.00,EUR")
    found = json.loads(reelrank("users", "hours", judging.project.folder, "--json")[1])
    assert (found["hours"], found["pay"], found["outlook"]["needed"]) == (1.0, None, 116)
    for away in judging.annotators[1:]:
        pause_person(judging.project, judging.lead, away.annotator_id, "on holiday", now=NOW)
    assert "Nobody can give 60 of them now" in reelrank("users", "hours", judging.project.folder)[1]


def test_a_wrong_day_is_wrong_usage_and_an_idle_time_says_so(reelrank: Run, judging: Judging) -> None:
    code, _, err = reelrank("users", "hours", judging.project.folder, "--from", "March")
    assert code == 2
    assert "is not a day such as 2026-03-14" in err
    out = reelrank("users", "hours", judging.project.folder, "--from", "2026-03-01", "--to", "2026-03-31")[1]
    assert out.startswith("Nobody worked in this time.")
    assert "No hourly rate set. Add hourly_rate" in out


def test_a_user_is_removed_or_archived_with_their_work(reelrank: Run, judging: Judging) -> None:
    folder = judging.project.folder
    judging.grade(0, judging.pairs()[0].pair, 3)
    give = Assignment(a_day=5)
    assign(judging.project, judging.lead, [judging.annotators[0].annotator_id], give, now=NOW)
    reelrank.out("users", "add", folder, "Zoe", "--role", "annotator")
    assert reelrank.out("users", "remove", folder, "zoe") == "Zoe is removed.\n"
    assert reelrank.out("users", "remove", folder, "Anna") == "Anna is archived. Their work stays on record.\n"
    assert [one.person.name for one in list_people(judging.project, judging.lead) if one.is_archived] == ["Anna"]
    assert len(judging.state(judging.pairs()[0].pair).grades) == 1
    for gone in ("Zoe", "Anna"):
        err = reelrank.refusal("users", "remove", folder, gone)
        assert f"there is no user named {gone}; the users are " in err
        assert "Anna" not in err.partition("the users are")[2]
