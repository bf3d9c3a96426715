"""The commands about guideline and tutorial: what they print, what they refuse, JSON for scripts."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from cli.conftest import Run
from support import Judging

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
    code, out, err = reelrank("guideline", folder)
    assert (code, err) == (0, "")
    assert "4  Exactly: All of it, and only that." in out
    assert "1  from the beginning" in out

    file.write_text(FILE)
    code, out, err = reelrank("guideline", "set", folder, file, "--reason", "Three are enough")
    assert (code, err) == (0, "")
    assert out.startswith("Version 2 of the guideline stands now;")
    code, out, _ = reelrank("guideline", folder)
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
    code, out, err = reelrank("guideline", "set", judging.project.folder, file)
    assert (code, out) == (1, "")
    assert f"{file}: has 3 grades: this campaign has 5, and somebody has graded" in err
    assert "1  from the beginning" in reelrank("guideline", judging.project.folder)[1]


def test_practice_is_set_told_of_and_switched(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder, file = judging.project.folder, tmp_path / "practice.csv"
    with closing(sqlite3.connect(folder / "reelrank.db")) as db, db:
        db.execute("UPDATE video SET path = name")
    file.write_text("query,video,start,end,grade,explanation\nSomebody waves.,v0,0,2.5,3,All of it.\n")
    assert reelrank("tutorial", "set", folder, file) == (0, "Newcomers practise on 1 pairs now.\n", "")
    code, out, _ = reelrank("tutorial", "status", folder)
    assert (code, "Newcomers are shown the tutorial." in out) == (0, True)
    assert "Somebody waves." in out
    told = json.loads(reelrank("tutorial", "status", folder, "--json")[1])
    assert (told["on"], told["practice"][0]["grade"], told["practice"][0]["people"]) == (True, 3, 0)
    reelrank("tutorial", "off", folder)
    assert "begin at once" in reelrank("tutorial", "status", folder)[1]
    reelrank("tutorial", "on", folder)
    assert "are shown" in reelrank("tutorial", "status", folder)[1]
    file.write_text("query,video,start,end,grade,explanation\nSomebody waves.,v0,0,2.5,9,All of it.\n")
    code, out, err = reelrank("tutorial", "set", folder, file)
    assert (code, out) == (1, "")
    assert "row 2: grade is '9'" in err
