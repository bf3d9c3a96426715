"""Confirmed discards, re-openings, and what leads take back: reversible, on record, and nothing for annotators."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk, shown
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import ActKind, DeskState
from backend.campaign.judging.verdicts import rebuild_verdicts
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR, Person, Role, Verdict
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.release.earlier.raw_agreement import summarise_raw
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review.adjudicating import adjudicate, confirm_discard, re_open, take_back
from backend.campaign.review.model import ReviewList
from backend.campaign.review.status import pair_review, recent_reasons, review_counts, review_page, status_counts
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import Overtaken, ReelRankError
from backend.core.ids import PairKey
from support import NOW, PARTLY, Judging, have_read

APART = (0, 4, 1, 3)


@pytest.fixture
def crew(judging: Judging) -> Judging:
    """Six people who may grade."""
    for name in ("Eve", "Finn"):
        judging.annotators.append(people.add(judging.project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW))
    have_read(judging.project)
    assert len(judging.annotators) == 6
    return judging


def discarded(judging: Judging) -> PairKey:
    pair = judging.pairs()[0].pair
    for who, grade in enumerate(APART):
        judging.grade(who, pair, grade)
    assert judging.state(pair).verdict is Verdict.DISCARDED
    return pair


def listed(judging: Judging, which: ReviewList) -> list[PairKey]:
    return [row.pair for row in review_page(judging.project, judging.lead, which, size=100).rows]


def record(judging: Judging) -> dict[str, list[tuple[object, ...]]]:
    """What people gave, none of which may ever change."""
    db = judging.project.store.db.conn
    return {table: [tuple(row) for row in db.execute(f"SELECT * FROM {table}")] for table in ("judgement", "note")}


def well(judging: Judging) -> bool:
    return doctor(judging.project, now=NOW).well


def test_a_confirmed_discard_leaves_what_is_to_decide_and_can_be_taken_back(crew: Judging) -> None:
    pair, given = discarded(crew), record(crew)
    confirm_discard(crew.project, crew.lead, pair, now=NOW)
    assert (listed(crew, ReviewList.TO_DECIDE), listed(crew, ReviewList.CONFIRMED)) == ([], [pair])
    assert review_counts(crew.project, crew.lead)[ReviewList.CONFIRMED] == 1
    assert (crew.state(pair).verdict, crew.state(pair).confirmed) == (Verdict.DISCARDED, True)
    with pytest.raises(ReelRankError, match="needs a reason"):
        take_back(crew.project, crew.lead, pair, " ", seen=1, now=NOW)
    take_back(crew.project, crew.lead, pair, "Look again.", seen=1, now=NOW + 5)
    assert (listed(crew, ReviewList.TO_DECIDE), listed(crew, ReviewList.CONFIRMED)) == ([pair], [])
    assert [(act.kind, act.reason, act.stands) for act in crew.state(pair).acts] == [
        (ActKind.DISCARD_CONFIRMED, "", False),
        (ActKind.TAKEN_BACK, "Look again.", False),
    ]
    assert record(crew) == given
    assert well(crew)
    told = crew.project.store.db.execute("SELECT kind, payload FROM event ORDER BY event_id DESC LIMIT 2").fetchall()
    assert [(row[0], json.loads(row[1])) for row in reversed(told)] == [
        ("discard_confirmed", {"reason": ""}),
        ("taken_back", {"what": "discard_confirmed", "reason": "", "why": "Look again."}),
    ]


def test_a_re_opened_pair_goes_to_two_who_have_not_graded_it_and_the_middle_two_of_six_decide(crew: Judging) -> None:
    pair = discarded(crew)
    re_open(crew.project, crew.lead, pair, "The query has two readings.", now=NOW)
    assert crew.state(pair).verdict is Verdict.ESCALATED
    assert listed(crew, ReviewList.ESCALATED) == [pair]
    for who, person in enumerate(crew.annotators):
        first = desk(crew.project, person, now=NOW).items[0].pair
        assert (first == pair) == (who >= 4), "a dispute comes first, and only to those who have not graded it"
    crew.grade(4, pair, 3)
    assert crew.state(pair).verdict is Verdict.ESCALATED
    crew.grade(5, pair, 4)
    # 0 1 3 3 4 4: 3 and 3 remain.
    found = crew.state(pair)
    assert (found.verdict, found.relevance, found.mean) == (Verdict.CONSENSUS, 3, 3.0)
    assert [grade.round for grade in found.grades] == [1, 1, 2, 2, 3, 3]
    rule = "SELECT rule_version, count(*) FROM consensus GROUP BY 1"
    assert [tuple(row) for row in crew.project.store.db.execute(rule)] == [("tvr-ranking-1+re-opened", 1)]
    assert well(crew)
    before = [tuple(row) for row in crew.project.store.db.execute("SELECT * FROM consensus")]
    assert rebuild_verdicts(crew.project.store) == 1
    assert [tuple(row) for row in crew.project.store.db.execute("SELECT * FROM consensus")] == before


def test_six_that_do_not_agree_are_discarded_again_and_then_confirmed_or_decided(crew: Judging) -> None:
    pair = discarded(crew)
    confirm_discard(crew.project, crew.lead, pair, now=NOW)
    re_open(crew.project, crew.lead, pair, "Or not?", seen=1, now=NOW)
    assert not crew.state(pair).confirmed
    crew.grade(4, pair, 0)
    crew.grade(5, pair, 4)
    assert crew.state(pair).verdict is Verdict.DISCARDED  # 0 0 1 3 4 4
    assert listed(crew, ReviewList.TO_DECIDE) == [pair], "what was confirmed were four grades"
    with pytest.raises(ReelRankError, match="six people have already graded this pair"):
        re_open(crew.project, crew.lead, pair, "Again.", seen=2, now=NOW)
    confirm_discard(crew.project, crew.lead, pair, "So be it.", seen=2, now=NOW)
    assert listed(crew, ReviewList.CONFIRMED) == [pair]
    assert well(crew)


def test_a_re_opening_is_taken_back_while_nobody_has_begun(crew: Judging) -> None:
    pair = discarded(crew)
    re_open(crew.project, crew.lead, pair, "Two readings.", now=NOW)
    assert pair in [item.pair for item in desk(crew.project, crew.annotators[4], now=NOW).items]
    take_back(crew.project, crew.lead, pair, "Too few people.", seen=1, now=NOW)
    assert crew.state(pair).verdict is Verdict.DISCARDED
    assert pair not in [item.pair for item in desk(crew.project, crew.annotators[4], now=NOW).items]
    receipt = crew.grade(4, pair, 2)
    assert "not on your desk any more" in receipt.message
    assert well(crew)
    re_open(crew.project, crew.lead, pair, "After all.", seen=2, now=NOW)
    assert pair in [item.pair for item in desk(crew.project, crew.annotators[5], now=NOW).items]
    shown(crew.project, crew.annotators[5], pair, now=NOW)
    with pytest.raises(ReelRankError, match="Finn has already started on this pair"):
        take_back(crew.project, crew.lead, pair, "No.", seen=3, now=NOW)
    crew.grade(5, pair, 2)
    with pytest.raises(ReelRankError, match="Finn has already started on this pair, so it stays open: decide it"):
        take_back(crew.project, crew.lead, pair, "No.", seen=3, now=NOW + 9000)
    adjudicate(crew.project, crew.lead, pair, 2, "Enough.", seen=3, now=NOW)
    assert crew.state(pair).relevance == 2
    assert well(crew)


def test_a_decision_taken_back_leaves_what_the_rule_says_and_one_that_it_replaced_counts_again(crew: Judging) -> None:
    pair, given = discarded(crew), record(crew)
    adjudicate(crew.project, crew.lead, pair, 3, "She sits down.", now=NOW)
    adjudicate(crew.project, crew.lead, pair, 1, "Only her coat.", seen=1, now=NOW + 1)
    take_back(crew.project, crew.lead, pair, "It was her.", seen=2, now=NOW + 2)
    found = crew.state(pair)
    assert (found.verdict, found.relevance, found.reason) == (Verdict.ADJUDICATED, 3, "She sits down.")
    take_back(crew.project, crew.lead, pair, "Others decide.", seen=3, now=NOW + 3)
    found = crew.state(pair)
    assert (found.verdict, found.relevance, found.reason) == (Verdict.DISCARDED, None, "")
    assert record(crew) == given
    with pytest.raises(ReelRankError, match="there is no lead's decision about this pair"):
        take_back(crew.project, crew.lead, pair, "More.", seen=4, now=NOW + 4)
    assert well(crew)


def test_a_dispute_whose_decision_is_taken_back_is_handed_out_again(crew: Judging) -> None:
    pair = crew.pairs()[0].pair
    crew.grade(0, pair, 0)
    crew.grade(1, pair, 4)
    adjudicate(crew.project, crew.lead, pair, 3, "Clear.", now=NOW)
    assert pair not in [item.pair for item in desk(crew.project, crew.annotators[2], now=NOW).items]
    take_back(crew.project, crew.lead, pair, "Not so clear.", seen=1, now=NOW)
    assert crew.state(pair).verdict is Verdict.ESCALATED
    assert desk(crew.project, crew.annotators[3], now=NOW).items[0].pair == pair
    assert well(crew)


ACTS: dict[str, Callable[[Judging, Person, PairKey, int, float], None]] = {
    "confirm": lambda j, who, pair, seen, at: confirm_discard(j.project, who, pair, "Yes.", seen=seen, now=at),
    "re-open": lambda j, who, pair, seen, at: re_open(j.project, who, pair, "Yes.", seen=seen, now=at),
    "decide": lambda j, who, pair, seen, at: adjudicate(j.project, who, pair, 2, "Yes.", seen=seen, now=at),
}


@pytest.mark.parametrize("mine", ACTS)
@pytest.mark.parametrize(
    ("theirs", "told"),
    [
        ("confirm", "Max confirmed the discard of this pair 4 minutes ago (“Yes.”)"),
        ("re-open", "Max re-opened this pair for two more people 4 minutes ago (“Yes.”)"),
        ("decide", "Max decided this pair 4 minutes ago: relevance 2 (“Yes.”)"),
    ],
)
def test_the_second_of_two_leads_is_told_what_the_first_did(crew: Judging, mine: str, theirs: str, told: str) -> None:
    max_, pair = people.add(crew.project.store, OPERATOR, "Max", Role.LEAD, now=NOW), discarded(crew)
    ACTS[theirs](crew, max_, pair, 0, NOW)
    before = crew.state(pair)
    with pytest.raises(Overtaken) as refused:
        ACTS[mine](crew, crew.lead, pair, 0, NOW + 250)
    assert str(refused.value).startswith(told)
    assert crew.state(pair) == before
    ACTS[theirs](crew, max_, pair, 0, NOW + 1)  # the same one sent again changes nothing
    assert crew.state(pair) == before


@pytest.mark.parametrize("act", ["confirm", "re-open"])
@pytest.mark.parametrize("grades", [(), (2,), (2, 3), (0, 4), (0, 4, 1), (0, 4, 3, 4)])
def test_only_a_discarded_pair_is_confirmed_or_re_opened(crew: Judging, act: str, grades: tuple[int, ...]) -> None:
    pair = crew.pairs()[0].pair
    for who, grade in enumerate(grades):
        crew.grade(who, pair, grade)
    with pytest.raises(ReelRankError, match="discard"):
        ACTS[act](crew, crew.lead, pair, 0, NOW)


def test_a_re_opening_needs_a_reason_and_a_clip(crew: Judging) -> None:
    pair = discarded(crew)
    with pytest.raises(ReelRankError, match="re-opening needs a reason"):
        re_open(crew.project, crew.lead, pair, "  ", now=NOW)
    report_clip(crew.project, crew.lead, pair, "damaged", now=NOW)
    with pytest.raises(ReelRankError, match="its clip cannot be shown"):
        re_open(crew.project, crew.lead, pair, "Why not.", now=NOW)


def test_nobody_grades_a_pair_whose_right_grade_people_were_told(crew: Judging) -> None:
    """The decision is an example in the guideline: taken back, the pair would be handed out to its readers."""
    db = crew.project.store.db.conn
    pair = crew.pairs()[0].pair
    crew.grade(0, pair, 0)
    crew.grade(1, pair, 4)
    adjudicate(crew.project, crew.lead, pair, 3, "Clear.", now=NOW)
    db.execute(
        "INSERT INTO example (grade, pair_id, note, lead_id, chosen_at, withdrawn_at) "
        "SELECT 3, pair_id, 'so', 1, 1, 2 FROM pair WHERE pair_key = ?",
        [pair],
    )
    db.commit()
    before = crew.state(pair)
    with pytest.raises(ReelRankError, match="annotators were shown this pair as an example in the guideline"):
        take_back(crew.project, crew.lead, pair, "Hm.", seen=1, now=NOW)
    assert crew.state(pair) == before
    crew.project.store.db.conn.execute("DELETE FROM example")
    other = discarded_other(crew)
    db.execute("INSERT INTO gold_pair (pair_id, right_grade) SELECT pair_id, 2 FROM pair WHERE pair_key = ?", [other])
    db.commit()
    with pytest.raises(ReelRankError, match="annotators were shown this pair as gold"):
        re_open(crew.project, crew.lead, other, "Hm.", now=NOW)


def discarded_other(judging: Judging) -> PairKey:
    pair = judging.pairs()[1].pair
    for who, grade in enumerate(APART):
        judging.grade(who, pair, grade)
    return pair


def test_who_graded_before_learns_nothing_and_corrects_nothing(crew: Judging) -> None:
    pair = discarded(crew)
    assert desk(crew.project, crew.annotators[3], now=NOW).previous is not None, "the last grade may be taken back"
    re_open(crew.project, crew.lead, pair, "Two readings.", now=NOW)
    assert desk(crew.project, crew.annotators[3], now=NOW).previous is None
    message = crew.grade(3, pair, 1).message
    assert message == "the work on this pair has gone on, so your grade stays"
    crew.grade(4, pair, 3)
    assert crew.grade(4, pair, 2, at=NOW + 60).message == "", "a slip of the fifth is theirs to correct"
    assert crew.state(pair).verdict is Verdict.ESCALATED
    assert desk(crew.project, crew.annotators[0], now=NOW).state is DeskState.READY
    assert well(crew)


def test_release_consensus_board_and_status_count_a_re_opened_pair_alike(crew: Judging, tmp_path: Path) -> None:
    pairs = [pair.pair for pair in crew.pairs()][:5]
    for pair in pairs:
        for who, grade in enumerate(APART):
            crew.grade(who, pair, grade)
    for pair, further in zip(pairs[1:], ((), (2,), (2, 2), (0, 4)), strict=True):
        re_open(crew.project, crew.lead, pair, "Two readings.", now=NOW)
        for who, grade in enumerate(further, start=4):
            crew.grade(who, pair, grade)
    status = status_counts(crew.project, OPERATOR)["pairs"]
    assert (status["consensus"], status["discarded"], status["escalated"]) == (1, 2, 2)
    export_release(crew.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    raw = tmp_path / "release" / "raw_annotation.csv"
    written = list(csv.DictReader(raw.open()))
    assert [row["round"] for row in written].count("3") == 5
    assert len({row["pair_id"] for row in written if row["re_opened"] == "1"}) == 4
    told = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert told["re_opened"] == {"pairs": 4, "rule_version": "tvr-ranking-1+re-opened"}
    assert validate_release(tmp_path / "release").clean
    found = summarise_raw(raw)
    assert (found["consensus"], found["settled_by_six"], found["discarded"]) == (1, 1, 2)
    assert found["undecided"] == {"one": 0, "two": 0, "three": 0, "four": 1, "five": 1}
    whole = agreement_board(crew.project, crew.lead, resamples=0).settled[0]
    assert (whole.by_six, whole.discarded, whole.waiting, whole.pairs) == (1, 2, 2, 5)

    other = init_project(tmp_path / "other", encoder="minilm")
    report = import_judgements(other, raw, tmp_path / "release" / "raw_query_moment_pair.csv", now=NOW)
    assert (report.consensus, report.discarded, len(report.sent_on), report.verdicts_that_differ) == (1, 2, 2, 0)
    assert doctor(other, now=NOW).well
    seats = "SELECT pair_id, count(*) FROM seat GROUP BY 1 ORDER BY 1"
    graded = [row["pair_id"] for row in written]
    theirs = {str(row[0]): row[1] for row in other.store.db.execute(seats)}
    ours = {str(row[0]): row[1] for row in crew.project.store.db.execute(seats)}
    assert {pair: theirs[pair] for pair in graded} == {pair: ours[pair] for pair in graded}


def test_a_file_cannot_say_that_three_grades_were_re_opened(judging: Judging, tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("pair_id,worker,relevance,re_opened\n7,1,0,1\n7,2,4,1\n7,3,2,1\n8,1,1,1\n8,2,1,\n9,1,1,yes\n")
    with pytest.raises(ReelRankError) as refused:
        import_judgements(judging.project, raw, now=NOW)
    assert [line.partition(": ")[2] for line in str(refused.value).splitlines() if line.startswith("raw.csv")] == [
        "pair 7 is marked re_opened, but only 3 of its first 4 grades are there",
        "re_opened is empty here, but 1 in another row of pair '8'",
        "pair 8 is marked re_opened, but only 2 of its first 4 grades are there",
        "re_opened is 'yes', not 1 or empty",
    ]


@pytest.mark.parametrize("search", ["v1", "sofa", "SOFA", "100% none", ""])
def test_a_list_is_found_by_query_or_video_and_given_a_page_at_a_time(judging: Judging, search: str) -> None:
    pairs = judging.pairs()[:7]
    for pair in pairs:
        judging.grade(0, pair.pair, 0)
        judging.grade(1, pair.pair, 4)
    wanted = {pair.pair for pair in pairs if search.lower() in f"{pair.query} | {pair.video}".lower()}
    got = []
    for start in range(0, 9, 3):
        page = review_page(judging.project, judging.lead, ReviewList.TO_DECIDE, search, start=start, size=3)
        assert page.count == len(wanted)
        assert len(page.rows) <= 3
        got += [row.pair for row in page.rows]
    assert sorted(got) == sorted(wanted)
    assert all(pair_review(judging.project, judging.lead, key) == judging.state(key) for key in got)


def test_reasons_are_offered_again_the_newest_first_and_each_once(judging: Judging) -> None:
    for nth, (pair, reason) in enumerate(zip(judging.pairs(), ("a coat", "a slip", "a coat", "no sofa"), strict=False)):
        adjudicate(judging.project, judging.lead, pair.pair, 1, reason, now=NOW + nth)
    assert recent_reasons(judging.project, judging.lead, limit=2) == ["no sofa", "a coat"]
