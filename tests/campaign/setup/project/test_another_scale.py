"""A campaign with three grades works from the first grade to scores; the code asks it and has no five of its own."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.desk import exchange
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import GradeEvent
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.nouns import Role, Verdict
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.exam.answer_key import exam_items
from backend.campaign.qualification.exam.model import ExamPhase
from backend.campaign.qualification.exam.results import my_exam
from backend.campaign.qualification.exam.setting import set_exam, set_exam_from_file
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.core.errors import InputError, ProjectError
from backend.core.ids import PairKey
from backend.scoring.evaluate import evaluate
from support import NOW, PARTLY, Judging, have_read

LATER = NOW + 15 * 60.0 + 1
LABELS = ("No", "Partly", "Yes")
# (grades in order, relevance), worked by hand with the tolerance 1: two agree on their mean, half up; of four the
# lowest and the highest are dropped, and the other two agree or the pair is discarded.
CASES = (
    ((0, 0), 0),
    ((0, 1), 1),
    ((1, 1), 1),
    ((1, 2), 2),
    ((2, 2), 2),
    ((0, 2, 2, 2), 2),
    ((0, 2, 0, 1), 1),
    ((2, 0, 2, 0), None),
)


def three_grades(folder: Path) -> None:
    """Another scale, before anybody has graded."""
    with closing(sqlite3.connect(folder / "reelrank.db")) as db, db:
        db.execute("DELETE FROM scale WHERE grade > 2")
        for grade, label in enumerate(LABELS):
            db.execute(
                "UPDATE scale SET label = ?, meaning = ?, detail = ?, example = '' WHERE grade = ?",
                [label, f"{label} means", f"{label} in detail", grade],
            )


@pytest.fixture
def three(judging: Judging) -> Judging:
    """The project with three grades, and files for its videos as far as the database knows."""
    folder = judging.project.folder
    three_grades(folder)
    with closing(sqlite3.connect(folder / "reelrank.db")) as db, db:
        db.execute("UPDATE video SET path = 'videos/' || name || '.mp4', fps_num = 25, fps_den = 1, sha256 = name")
    return judging


def settle(judging: Judging) -> list[tuple[PairKey, int | None]]:
    """Every pair graded as the cases say, over and over; what each has to come to."""
    wanted = []
    for nth, pair in enumerate(judging.pairs()):
        grades, relevance = CASES[nth % len(CASES)]
        for who, grade in enumerate(grades):
            assert judging.grade(who, pair.pair, grade).status == "saved"
        wanted.append((pair.pair, relevance))
    return wanted


def test_the_rule_settles_pairs_by_the_campaigns_tolerance(three: Judging) -> None:
    wanted = settle(three)
    found = {pair.pair: pair for pair in three.pairs()}
    assert [(pair, found[pair].relevance) for pair, _ in wanted] == wanted
    assert {found[pair].verdict for pair, relevance in wanted if relevance is None} == {Verdict.DISCARDED}
    assert doctor(three.project, now=LATER).findings == ()
    assert my_work(three.project, three.annotators[0], now=LATER).grades == (
        *(sum(CASES[nth % len(CASES)][0][0] == grade for nth in range(len(wanted))) for grade in (0, 1, 2)),
    )


def test_with_a_tolerance_of_two_nothing_on_this_scale_is_escalated(three: Judging) -> None:
    with closing(sqlite3.connect(three.project.folder / "reelrank.db")) as db, db:
        db.execute("UPDATE campaign SET tolerance = 2")
    pair = three.pairs()[0].pair
    three.grade(0, pair, 0)
    three.grade(1, pair, 2)
    assert (three.state(pair).verdict, three.state(pair).relevance) == (Verdict.CONSENSUS, 1)


def test_a_campaign_of_a_rule_that_this_code_does_not_have_takes_no_grade(three: Judging) -> None:
    with closing(sqlite3.connect(three.project.folder / "reelrank.db")) as db, db:
        db.execute("UPDATE campaign SET rule_version = 'of-tomorrow-7'")
    receipt = three.grade(0, three.pairs()[0].pair, 1)
    assert receipt.status == "refused"
    assert "uses the rule of-tomorrow-7, but this ReelRank has the rule tvr-ranking-1" in receipt.message


def test_leads_decide_within_the_scale(three: Judging) -> None:
    pair = three.pairs()[0].pair
    with pytest.raises(ProjectError, match=r"^3 is not a relevance: choose 0 to 2$"):
        adjudicate(three.project, three.lead, pair, 3, "best of all", now=NOW)
    adjudicate(three.project, three.lead, pair, 2, "looked twice", now=NOW)
    assert three.state(pair).relevance == 2


def test_an_exam_asks_and_marks_on_the_scale(three: Judging, tmp_path: Path) -> None:
    settle(three)
    project, lead = three.project, three.lead
    me = add_person_with_password(project, lead, "Nia", Role.ANNOTATOR, "long enough", now=NOW)
    have_read(project)
    key = tmp_path / "key.csv"
    key.write_text(f"pair_id,grade\n{three.pairs()[0].pair_id},3\n")
    with pytest.raises(InputError, match="grade is '3', not one of 0, 1, 2"):
        set_exam_from_file(project, lead, KeyFile.at(key), now=LATER)
    report = set_exam(project, lead, queries=1, pairs=20, seed=3, although="few pairs", now=LATER)
    right = Counter(item.right for item in exam_items(project, lead))
    assert report.grades == (right[0], right[1], right[2])
    assert report.most_missed == 20, "the campaign's own setting"
    desk = exchange.exam_act(project, me, ExamAct("start"), now=LATER)
    assert desk.exam is not None
    beyond = GradeEvent(desk.items[0].pair, 3, "beyond", 900)
    assert exchange.record_grades(project, me, [beyond], now=LATER)[0].message == "3 is not a grade: grades are 0 to 2"
    while desk.items:
        exchange.record_grades(project, me, [GradeEvent(desk.items[0].pair, 0, desk.items[0].pair, 900)], now=LATER)
        desk = exchange.desk(project, me, now=LATER)
    exchange.exam_act(project, me, ExamAct("hand_in"), now=LATER)
    found = my_exam(project, me)
    # 0 and 1 agree; whoever answers 0 throughout misses where 2 is right.
    assert found.phase is ExamPhase.RESULT
    assert found.attempts[0].by_grade == ((0, right[0]), (0, right[1]), (right[2], right[2]))


def test_an_earlier_campaign_is_taken_in_on_the_scale(three: Judging, tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("pair_id,worker,relevance\n900,1,3\n900,2,2\n")
    with pytest.raises(InputError, match="relevance is '3', not one of 0, 1, 2"):
        import_judgements(three.project, raw, now=NOW)
    raw.write_text("pair_id,worker,relevance\n900,1,1\n900,2,2\n")
    assert import_judgements(three.project, raw, now=NOW).consensus == 1


def test_a_release_on_the_scale_can_be_scored(three: Judging, tmp_path: Path) -> None:
    wanted = settle(three)
    export_release(three.project, three.lead, tmp_path / "release", PARTLY, now=LATER)
    spread = Counter(relevance for _, relevance in wanted)
    card = (tmp_path / "release" / "README.md").read_text()
    assert f"| relevance 0 / 1 / 2 | {spread[0]} / {spread[1]} / {spread[2]} |" in card
    queries = [query for split in ("val", "test") for query in read(tmp_path / "release" / f"{split}.json")]
    truth = {query["query_id"]: [moment(document) for document in query["relevant_moment"]] for query in queries}
    given = Counter(one["relevance"] for moments in truth.values() for one in moments)
    assert given == {grade: spread[grade] for grade in (0, 1, 2)}
    best = {
        query: [[one["video"], one["start"], one["end"], one["relevance"]] for one in ordered]
        for query, moments in truth.items()
        for ordered in [sorted(moments, key=lambda one: -one["relevance"])]
    }
    scores = evaluate(truth, best, k=[10], mu=[0.7], measures=["ndcg"])
    assert list(scores["mean"].values()) == [pytest.approx(1.0)]


def moment(document: dict[str, Any]) -> dict[str, Any]:
    start, end = document["timestamp"]
    return {"video": document["video_name"], "start": start, "end": end, "relevance": document["relevance"]}


def read(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text())
    return found
