"""The commands about describing: what they say, what they refuse, JSON and CSV for scripts."""

import csv
import json
from pathlib import Path

from backend.campaign.corpus.describing.opening import describing_choice, may_describe
from backend.campaign.corpus.describing.reviewing import accept_description
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.people.accounts import list_people
from cli.conftest import Run
from describing import event, opened, send
from support import NOW, Judging


def test_describing_is_opened_for_people_told_of_and_closed(reelrank: Run, judging: Judging) -> None:
    folder = opened(judging).project.folder
    assert "open for Anna, Boris, in 1 of the videos; 2.5 descriptions wanted per minute of video" in reelrank.out(
        "describe", "open", folder, "--who", "anna", "--who", "Boris", "--video", "v2", "--per-minute", 2.5
    )
    assert [may_describe(judging.project, one) for one in judging.annotators] == [True, True, False, False]
    assert json.loads(reelrank("describe", folder, "--json")[1])["choice"]["videos"] == ["v2"]
    assert "Describing is closed." in reelrank("describe", "close", folder)[1]
    assert "Nothing to do" in reelrank("describe", "close", folder)[1]
    assert "Describing is closed. Open it with" in reelrank("describe", folder)[1]


def test_what_cannot_be_chosen_is_named_all_at_once(reelrank: Run, judging: Judging) -> None:
    folder = opened(judging).project.folder
    code, _, err = reelrank("describe", "open", folder, "--who", "Zoe", "--who", "Yan")
    names = [row.person.name for row in list_people(judging.project, OPERATOR)]
    assert (code, f"there is no user named Zoe, Yan; the users are {', '.join(names)}" in err) == (1, True)
    err = reelrank.refusal("describe", "open", folder, "--who", "Lea", "--video", "v99", "--per-video", 1)
    assert "Lea is a lead" in err
    assert "no video v99" in err
    assert describing_choice(judging.project, OPERATOR).people is None


def test_descriptions_are_listed_and_exported(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder = opened(judging).project.folder
    assert reelrank("describe", "list", folder) == (0, "No descriptions to list.\n", "")
    send(judging, 0, event("d1"), event("d2", video="2", sentence="A dog runs."))
    accept_description(judging.project, judging.lead, "d2", seen=1, now=NOW)
    _, out, _ = reelrank("describe", "list", folder)
    assert out.splitlines()[1].split() == ["v0", "2.00", "5.00", "Anna", "waiting", *["A", "woman", "pours", "tea."]]
    found = json.loads(reelrank("describe", "list", folder, "--show", "all", "--search", "dog", "--json")[1])
    assert [(one["description"], one["status"]) for one in found] == [("d2", "accepted")]
    reelrank.out("describe", "export", folder, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["caption"] for row in csv.DictReader(file)] == ["", "A dog runs."]
    assert "Anna" in reelrank("describe", folder)[1]


def test_describers_are_told_what_a_file_says(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder = judging.project.folder
    assert "Use no names." in reelrank("describe", "guideline", folder)[1]
    (tmp_path / "rules.txt").write_text("Mark one thing.\n\nNo names.\n")
    assert "needs a reason" in reelrank.refusal("describe", "guideline", folder, tmp_path / "rules.txt")
    _, out, _ = reelrank("describe", "guideline", folder, tmp_path / "rules.txt", "--reason", "shorter")
    assert out == "Version 2: shorter\nMark one thing.\nNo names.\n"
    (tmp_path / "rules.txt").write_bytes(b"\xff\xfe\x00\xd8")
    assert "is damaged UTF-16 text" in reelrank.refusal(
        "describe", "guideline", folder, tmp_path / "rules.txt", "--reason", "x"
    )
