"""The commands about guideline, tutorial and trial rounds: what they print, write and refuse, JSON for scripts."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import exam_act, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.review.queries import list_queries
from cli.conftest import Run
from support import NOW, Judging

FILE = """
tolerance = 1
example_query = "A cat sleeps."
reminders = ["Look twice."]
[[grades]]
label = "None"
[[grades]]
label = "Some"
example = "A dog sleeps."
[[grades]]
label = "All"
meaning = "All of it"
"""


def test_the_guideline_is_printed_with_its_versions_and_set_from_a_file(
    reelrank: Run, judging: Judging, tmp_path: Path
) -> None:
    folder, file = judging.project.folder, tmp_path / "three.toml"
    out = reelrank.out("guideline", folder)
    assert "4  Exactly: All of it, and only that." in out
    assert "1  from the beginning" in out

    file.write_text(FILE)
    assert reelrank.out("guideline", "set", folder, file, "--reason", "Three are enough").startswith(
        "Version 2 saved; "
    )
    _, out, _ = reelrank("guideline", folder)
    assert "2  All: All of it." in out
    assert "by the command line: Three are enough" in out
    assert "Grade 4, label: Exactly -> (nothing)" in out
    told = json.loads(reelrank("guideline", folder, "--json")[1])
    assert [one["version"] for one in told["versions"]] == [1, 2]
    assert [one["label"] for one in told["versions"][1]["grading"]["scale"]["meanings"]] == ["None", "Some", "All"]


def test_a_file_with_other_numbers_is_refused_once_somebody_graded(
    reelrank: Run, judging: Judging, tmp_path: Path
) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    file = tmp_path / "three.toml"
    file.write_text(FILE)
    assert f"{file}: has 3 grades, but this campaign has 5, and somebody has graded" in reelrank.refusal(
        "guideline", "set", judging.project.folder, file
    )
    assert "1  from the beginning" in reelrank("guideline", judging.project.folder)[1]


def test_practice_is_set_told_of_and_switched(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder, file = judging.project.folder, tmp_path / "practice.csv"
    with closing(sqlite3.connect(folder / "reelrank.db")) as db, db:
        db.execute("UPDATE video SET path = name")
    file.write_text("query,video,start,end,grade,explanation\nSomebody waves.,v0,0,2.5,3,All of it.\n")
    assert reelrank("tutorial", "set", folder, file) == (0, "New annotators practise on 1 pair from now on.\n", "")
    out = reelrank.out("tutorial", "status", folder)
    assert "New annotators see the tutorial." in out
    assert "Somebody waves." in out
    told = json.loads(reelrank("tutorial", "status", folder, "--json")[1])
    assert (told["on"], told["practice"][0]["grade"], told["practice"][0]["people"]) == (True, 3, 0)
    reelrank("tutorial", "off", folder)
    assert "start at once" in reelrank("tutorial", "status", folder)[1]
    reelrank("tutorial", "on", folder)
    assert "see the tutorial" in reelrank("tutorial", "status", folder)[1]
    file.write_text("query,video,start,end,grade,explanation\nSomebody waves.,v0,0,2.5,9,All of it.\n")
    assert "row 2: grade is '9'" in reelrank.refusal("tutorial", "set", folder, file)


@pytest.fixture
def filmed(judging: Judging) -> Judging:
    """Every video has a file, and people have a password."""
    judging.give_videos_files().rows("UPDATE annotator SET password_hash = 'x'")
    return judging


def test_a_trial_from_its_beginning_to_its_end(reelrank: Run, filmed: Judging, tmp_path: Path) -> None:
    folder, (anna, boris, *_) = filmed.project.folder, filmed.annotators
    assert reelrank("trial", "status", folder)[1] == "This project has had no calibration round.\n"
    err = reelrank.refusal("trial", "export", folder, tmp_path / "none.csv")
    assert not ((tmp_path / "none.csv").exists())
    assert "no calibration round" in err
    code, out, err = reelrank("trial", "start", folder, "--queries", 1, "--pairs", 2, "--seed", 7)
    assert (code, out, err) == (0, "Started a calibration round of 2 pairs of 1 query, seed 7.\n", "")
    assert "already open: end it first" in reelrank.refusal("trial", "start", folder)

    for person, grade, note in ((anna, 4, "All of it, I think"), (boris, 1, None)):
        items = exam_act(filmed.project, person, ExamAct.START, now=NOW).items
        events = [GradeEvent(item.pair, grade, f"{person.name} {item.pair}", note=note) for item in items]
        record_grades(filmed.project, person, events, now=NOW)
    exam_act(filmed.project, anna, ExamAct.HAND_IN, now=NOW)
    code, out, _ = reelrank("trial", "status", folder)
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["Calibration", "round", "of", "2", "pairs,", "open."]
    assert [anna.name, "2", "yes"] in lines
    assert [boris.name, "2"] in lines
    assert [line[:4] for line in lines if line[:1] == ["3"]] == [["3", "4", "1", "1"]] * 2  # apart, two grades, a note
    told = json.loads(reelrank("trial", "status", folder, "--json")[1])
    assert [len(pair["answers"]) for pair in told["pairs"]] == [2, 2]

    file = tmp_path / "trial.csv"
    assert reelrank.out("trial", "export", folder, file, "--no-names") == f"Written: {file}, 4 answers.\n"
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [(row["grade"], row["note"]) for row in rows] == [("4", "All of it, I think"), ("1", "")] * 2
    assert not {anna.name, boris.name} & {row["annotator"] for row in rows}

    assert reelrank("trial", "end", folder)[1] == "The calibration round has ended.\n"
    assert reelrank("trial", "end", folder)[1] == "Nothing to do: no calibration round is open.\n"
    assert "2 pairs, ended." in reelrank("trial", "status", folder)[1]


def test_queries_are_chosen_by_their_number(reelrank: Run, filmed: Judging) -> None:
    query = list_queries(filmed.project, OPERATOR)[1].query_id
    out = reelrank.out("trial", "start", filmed.project.folder, "--query", query, "--pairs", 30)
    assert out.splitlines()[0] == "Started a calibration round of 20 pairs of 1 query, chosen."
    assert out.splitlines()[1].startswith("Note: Asked for 1 query with 30 pairs each")
