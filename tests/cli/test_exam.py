"""The commands about the exam: what they say, what they refuse, JSON for scripts."""

import csv
import json
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import exam_act, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam.results import exam_results
from backend.campaign.qualification.exam.setting import exam_held
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from cli.conftest import Run
from exam_rounds import Round
from support import NOW, Judging

TWO_BY_FIVE = ("--queries", 2, "--pairs", 5)


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Five settled pairs with a clip, and people with a password."""
    judging.give_videos_files().rows("UPDATE annotator SET password_hash = 'x'")
    for nth in range(5):
        for who in (0, 1):
            judging.grade(who, judging.pairs()[nth].pair, nth)
    return judging


def test_an_exam_is_set_told_of_and_ended(reelrank: Run, settled: Judging) -> None:
    folder = settled.project.folder
    out = reelrank.out("exam", "set", folder, "--queries", 1, "--pairs", 6, "--seed", 4, "--most-missed", 12.5)
    assert "Exam of 5 pairs of 1 query from settled pairs, seed 4; 12.5 % of the answers may miss." in out
    assert "Right grades: 0: 1, 1: 1, 2: 1, 3: 1, 4: 1" in out
    assert "Note: Asked for 1 query with 6 pairs each; only 5 pairs of 1 query are available." in out

    me = settled.annotators[3]
    found = exam_act(settled.project, me, ExamAct.START, now=NOW)
    answers = [GradeEvent(item.pair, 2, f"k{item.pair}") for item in found.items]
    record_grades(settled.project, me, answers, now=NOW)
    exam_act(settled.project, me, ExamAct.HAND_IN, now=NOW)
    code, out, _ = reelrank("exam", "status", folder)
    row = next(line.split() for line in out.splitlines() if line.startswith(me.name))
    assert row == [me.name, "result", "1", "2", "5", "0.00", "0.00"]  # 0 and 4 missed; always 2: no kappa above chance
    code, out, err = reelrank("exam", "status", folder, "--json")
    told = json.loads(out)
    assert (code, err, told["exam"]["items"]) == (0, "", 5)
    assert [(one["person"]["name"], one["phase"]) for one in told["people"]][3] == (me.name, "result")

    out = reelrank.out("exam", "results", folder, "--csv", folder / "exam.csv")
    # 2 of 5 miss; Wilson: (.4 + .384146 +- 1.959964 sqrt(.048 + .036880)) / 1.768292.
    first, after, kappa, _ = (line.split() for line in out.splitlines()[1:5])
    assert first == [me.name, "missed", "first,", "%", "5", "40.0", "11.8", "76.9"]
    assert after == ["missed", "after,", "%", "5"]
    assert kappa == ["kappa", "5", "0.00", "0.00", "0.00"]
    assert f"{me.name}, missed after, %: 2 of 2 missed clips not yet looked at again" in out
    (person, group) = csv.DictReader((folder / "exam.csv").read_text(encoding="utf-8").splitlines())
    assert (person["name"], person["missed_first"], person["kappa"]) == (me.name, "0.4", "0.0")
    assert (group["of"], group["missed_first_n"], group["missed_first_reason"]) == (
        *("all", "1", "one person alone gives no interval"),
    )
    told = json.loads(reelrank("exam", "results", folder, "--json")[1])
    assert [one["person"]["name"] for one in told["people"]] == [me.name]
    assert "cannot be written" in reelrank("exam", "results", folder, "--csv", folder / "no" / "exam.csv")[2]
    assert reelrank("exam", "off", folder)[1] == "The exam is over: everybody may judge.\n"
    assert "no exam" in reelrank("exam", "off", folder)[1]
    assert "This project has no exam." in reelrank("exam", "status", folder)[1]


def test_an_exam_that_guessing_passes_is_seen_before_and_held_for_a_reason_only(
    reelrank: Run, settled: Judging
) -> None:
    folder, drawn = settled.project.folder, ("--pairs", 5, "--queries", 1, "--most-missed", 40)
    out = reelrank.out("exam", "preview", folder, *drawn)
    table = [line.split() for line in out.splitlines()]
    # The key is 0, 1, 2, 3, 4. By chance an answer misses with .6, .4, .4, .4, .6: 2.4 of 5.
    assert ["always", "0", "3", "5", "60.0", "fails"] in table
    assert ["always", "2", "2", "5", "40.0", "PASSES"] in table
    (chance,) = (line for line in table if line[:2] == ["by", "chance"])
    assert chance[2:5] == ["2.4", "5", "48.0"]
    assert "To use this exam anyway: --although REASON" in out
    assert exam_held(settled.project, OPERATOR) is None

    assert "grade 2 throughout misses 2 of 5 and would pass" in reelrank.refusal("exam", "set", folder, *drawn)
    assert exam_held(settled.project, OPERATOR) is None
    assert reelrank("exam", "set", folder, *drawn, "--although", " two people  try it ")[0] == 0
    assert "Reason to use it anyway: two people try it\n" in reelrank("exam", "status", folder)[1]
    told = json.loads(reelrank("exam", "status", folder, "--json")[1])
    assert told["although"] == "two people try it"
    assert "grade 2 throughout misses 2 of 5 and would pass" in told["weak"]

    assert reelrank("exam", "set", folder, "--pairs", 5, "--queries", 1, "--most-missed", 10)[0] == 0
    assert "all the same" not in reelrank("exam", "status", folder)[1], "a sound one needs no reason"


def test_a_preview_is_drawn_as_the_exam_will_be(reelrank: Run, settled: Judging, tmp_path: Path) -> None:
    folder = settled.project.folder
    spread = json.loads(reelrank("exam", "preview", folder, "--pairs", 3, "--queries", 1, "--json")[1])
    assert sorted(spread["grades"]) == [0, 0, 1, 1, 1]
    assert "Asked for 2 queries with 5 pairs each" in reelrank("exam", "preview", folder, *TWO_BY_FIVE)[1]
    # Two 0 are settled besides: without spreading some seed draws more than one of them.
    for nth in (5, 6):
        for who in (0, 1):
            settled.grade(who, settled.pairs()[nth].pair, 0)
    ask = ("exam", "preview", folder, "--pairs", 3, "--queries", 1, "--json")
    drawn = [json.loads(reelrank(*ask, "--no-spread", "--seed", seed)[1])["grades"] for seed in range(8)]
    assert max(max(grades) for grades in drawn) > 1
    assert all(max(json.loads(reelrank(*ask, "--seed", seed)[1])["grades"]) == 1 for seed in range(8))

    key = tmp_path / "key.csv"
    pairs = [row["pair_id"] for row in settled.project.store.db.query("SELECT pair_id FROM consensus LIMIT 4")]
    key.write_text("pair_id,grade\n" + "".join(f"{pair},0\n" for pair in pairs), encoding="utf-8")
    lines = reelrank("exam", "preview", folder, "--from", key)[1].splitlines()
    assert ["always", "0", "0", "4", "0.0", "PASSES"] in [line.split() for line in lines]
    assert reelrank("exam", "set", folder, "--from", key)[0] == 1


def test_before_anybody_handed_in_there_are_no_results(reelrank: Run, settled: Judging) -> None:
    assert reelrank("exam", "results", settled.project.folder) == (0, "Nobody has handed in an exam yet.\n", "")


def test_people_are_let_try_again_or_exempted(reelrank: Run, settled: Judging) -> None:
    folder, name = settled.project.folder, settled.annotators[3].name
    assert reelrank("exam", "exempt", folder, name, "--reason", "too early")[0] == 1
    reelrank("exam", "set", folder, "--newcomers-only", "--although", "a trial")
    assert "can already take the exam" in reelrank("exam", "retake", folder, name)[2]
    assert reelrank("exam", "exempt", folder, name.lower(), "--reason", "wrote it")[0] == 0
    assert [one.phase for one in exam_results(settled.project, OPERATOR)] == [
        "exempt",
        "exempt",
        "first",
        "exempt",
    ]
    assert reelrank("exam", "retake", folder, name) == (0, f"{name} can take the exam once more.\n", "")
    assert exam_results(settled.project, OPERATOR)[3].phase == "first"
    assert "there is nobody named Zed" in reelrank.refusal("exam", "retake", folder, "Zed")


def test_a_key_is_read_from_a_file_or_refused_with_its_rows(reelrank: Run, settled: Judging, tmp_path: Path) -> None:
    folder, pair = settled.project.folder, settled.pairs()[0].pair_id
    key = tmp_path / "key.csv"
    key.write_text(f"pair_id,grade\n{pair},7\n")
    assert "key.csv, row 2: grade is '7'" in reelrank.refusal("exam", "set", folder, "--from", key)
    assert exam_held(settled.project, OPERATOR) is None
    key.write_text(f"pair_id,grade\n{pair},4\n")
    assert "Exam of 1 pair of 1 query from the answer key in key.csv; 20 % of the answers may miss." in reelrank.out(
        "exam", "set", folder, "--from", key, "--although", "a trial"
    )
    assert (
        "none.csv: cannot be read: No such file" in reelrank("exam", "set", folder, "--from", tmp_path / "none.csv")[2]
    )


def test_numbers_that_make_no_sense_are_wrong_usage(reelrank: Run, settled: Judging) -> None:
    assert reelrank("exam", "set", settled.project.folder, "--most-missed", 120)[0] == 2
    assert reelrank("exam", "set", settled.project.folder, "--queries", 0)[0] == 2


def test_an_exam_of_open_pairs_goes_through_its_stages(reelrank: Run, judging: Judging) -> None:
    fresh = Round(judging.give_videos_files())
    fresh.rows("UPDATE annotator SET password_hash = 'x'")
    folder = judging.project.folder
    out = reelrank.out("exam", "set", folder, "--queries", 5, "--pairs", 3, "--key", "median")
    assert "Exam of 9 pairs of 3 queries from open pairs, seed 1; 20 % of the answers may miss." in out
    assert "Note: Asked for 5 queries with 3 pairs each; only 9 pairs of 3 queries are available." in out
    assert "Right grades" not in out
    assert "reserved for an exam" in reelrank("status", folder)[1]
    fresh.finish(0, 0)
    assert "1 of at least 2 people have finished the exam" in reelrank.refusal("exam", "close", folder)
    assert reelrank("exam", "use", folder)[0] == 1
    fresh.finish(1, 1)
    _, out, _ = reelrank("exam", "status", folder)
    assert "Round open (answer key: median); its pairs are reserved until it ends." in out
    assert "Handed in: Anna, Boris." in out
    assert "grade 1 throughout misses 0 of 9 and would pass" in reelrank("exam", "close", folder)[2]
    out = reelrank.out("exam", "close", folder, "--although", "a trial")
    assert "The answer key is set for 9 pairs; 2 annotators have finished." in out
    assert "Right grades: 0: 0, 1: 9, 2: 0, 3: 0, 4: 0" in out
    _, out, _ = reelrank("exam", "status", folder, "--json")
    told = json.loads(out)
    assert (told["stage"], told["finished"], told["exam"]["key_from"]) == ("key fixed", ["Anna", "Boris"], "median")
    assert (
        reelrank.out("exam", "use", folder)
        == "Now 18 answers to 9 pairs count as judgements.\nEach of 2 annotators gave 9 to 9 of them.\n"
    )
    assert reelrank.out("exam", "use", folder).startswith("This was done at ")


def test_a_file_brings_its_key_along(reelrank: Run, settled: Judging, tmp_path: Path) -> None:
    code, _, err = reelrank("exam", "set", settled.project.folder, "--from", tmp_path / "key.csv", "--key", "own")
    assert (code, "leave --key out" in err) == (2, True)
