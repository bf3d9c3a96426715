"""Gold in a project: who is offered what, what follows, and that nothing of it reaches what the campaign says."""

import random
import secrets
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import report_clip
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging import queue
from backend.campaign.judging.model import Desk, DeskState, GradeEvent, SkipEvent, SkipKind
from backend.campaign.judging.staffing import pause_person, unpause_person
from backend.campaign.monitoring.progress.progress import progress
from backend.campaign.monitoring.progress.rows.inbox import warned_by_gold
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.nouns import OPERATOR, Person, Role, Verdict
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.answers.rules import GoldExclusion
from backend.campaign.qualification.gold.questions import (
    GoldOptions,
    end_gold,
    gold_left_out,
    gold_results,
    set_gold,
)
from backend.campaign.qualification.guideline.versions import choose_example, guideline_versions, note_guideline_seen
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.statistics.from_project import project_statistics
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.review.status import status_counts
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person_with_password, list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import InputError, ProjectError
from backend.core.ids import PairKey
from support import DISPUTED, NOW, PARTLY, PEOPLE, Judging, cases

HOUR, PASSWORD = 3600.0, "long enough for everybody"
LATER = NOW + HOUR
TABLES = ("gold_answer", "gold_finding", "gold_seat", "gold_pair", "gold_rhythm")


def change(judging: Judging, script: str) -> None:
    with closing(sqlite3.connect(judging.project.folder / "reelrank.db")) as db:
        db.executescript(script)


def settle(judging: Judging, grade: Callable[[int], int], *, apart: int = 0, at: float = NOW) -> list[str]:
    """Annotators 0 and 1 grade all pairs of the first two queries; those pairs."""
    first, second, _ = list_queries(judging.project, OPERATOR)
    pairs = [pair.pair for query in (first, second) for pair in query_pairs(judging.project, OPERATOR, query.query_id)]
    for nth, pair in enumerate(pairs):
        judging.grade(0, pair, grade(nth), at=at)
        judging.grade(1, pair, grade(nth) + (apart if nth % 2 else 0), at=at)
    return pairs


def with_videos(judging: Judging) -> Judging:
    """Every video has a file, as far as the database knows: gold needs clips. The draw is always the same."""
    (judging.project.folder / "v.mp4").touch()
    judging.rows("UPDATE video SET path = 'v.mp4', sha256 = 'x', fps_num = 25, fps_den = 1")
    judging.rows("UPDATE campaign SET gold_key = 'always the same'")
    return judging


@pytest.fixture
def videos(judging: Judging) -> Judging:
    """Three queries of 20 pairs."""
    return with_videos(judging)


@pytest.fixture
def small(corpus_project: Project) -> Judging:
    """Sixteen queries of three pairs, a quarter of which two people have settled: many queries begin."""
    draw_queries(corpus_project, OPERATOR, val=10, test=6, seed=5, now=NOW)
    choose_candidates(corpus_project, OPERATOR, batch_size=3, now=NOW)
    lead = add_person_with_password(corpus_project, OPERATOR, "Lea", Role.LEAD, PASSWORD, now=NOW)
    annotators = [newcomer(corpus_project, name) for name in PEOPLE]
    judging = with_videos(Judging(corpus_project, lead, annotators))
    for query in list_queries(corpus_project, OPERATOR)[::4]:
        for nth, pair in enumerate(query_pairs(corpus_project, OPERATOR, query.query_id)):
            for who in (0, 1):
                judging.grade(who, pair.pair, (query.query_id + nth) % 5)
    return judging


def newcomer(project: Project, name: str) -> Person:
    person = add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=NOW)
    note_guideline_seen(project, person, guideline_versions(project, OPERATOR)[-1].version, now=NOW)
    return person


@pytest.fixture
def settled(videos: Judging) -> Judging:
    """Forty pairs with relevances 0 to 4, given by two people; twenty open ones."""
    settle(videos, lambda nth: nth % 5)
    return videos


def golden(judging: Judging) -> set[str]:
    return {row[0] for row in judging.rows("SELECT pair_key FROM gold_pair JOIN pair USING (pair_id) WHERE chosen")}


def right(judging: Judging) -> dict[str, int]:
    sql = "SELECT pair_key, relevance FROM consensus JOIN pair USING (pair_id) WHERE relevance IS NOT NULL"
    return dict(judging.rows(sql))


def desk(judging: Judging, who: int, at: float) -> Desk[Any]:
    return exchange.desk(judging.project, judging.annotators[who], now=at)


def work(
    judging: Judging, who: int, give: Callable[[str], int], *, at: float = LATER, most: int = 1000
) -> list[tuple[str, Desk[Any]]]:
    """One person grades whatever comes; each pair with the desk that followed."""
    given: list[tuple[str, Desk[Any]]] = []
    found = desk(judging, who, at)
    while found.items and len(given) < most:
        pair = found.items[0].pair
        event = GradeEvent(pair, give(pair), secrets.token_hex(8), 2000, 2000)
        (receipt,), found = exchange.exchange(
            judging.project, judging.annotators[who], [event], [], now=at + 10 * len(given)
        )
        assert receipt.status == "saved", receipt.message
        given.append((pair, found))
    return given


def test_nothing_is_gold_before_a_lead_says_so(settled: Judging) -> None:
    assert not settled.project.campaign.gold.on
    assert [pair for pair, _ in work(settled, 2, lambda _: 3)]
    assert all(settled.rows(f"SELECT count(*) FROM {table}") == [(0,)] for table in TABLES)


def test_gold_is_drawn_from_pairs_whose_grade_is_known_well(videos: Judging) -> None:
    pairs = settle(videos, lambda nth: nth % 4, apart=1)  # the second half of a grade, rounded, is no gold
    example, decided, fault = pairs[0], pairs[1], pairs[2]
    adjudicate(videos.project, videos.lead, PairKey(decided), 4, "seen twice", now=NOW + 1)
    choose_example(videos.project, videos.lead, PairKey(example), 0, "as it is", now=LATER)
    report_clip(videos.project, videos.lead, PairKey(fault), "no picture", now=LATER)
    late = pairs[4]
    judging_again = videos.grade(1, late, 0, at=LATER - 60)  # may still be taken back
    assert judging_again.status == "refused"  # (15 minutes are over, so it is not late after all)
    report = set_gold(videos.project, OPERATOR, GoldOptions(), now=LATER)
    expected = ({*pairs[::2]} - {example, fault}) | {decided}
    assert golden(videos) == expected
    assert report.pairs == len(expected)
    relevances = right(videos)
    counts = Counter(relevances[pair] for pair in expected)
    assert list(report.grades) == [counts[grade] for grade in range(5)]
    # While the newest grades may be taken back, no consensus is known well; a lead's decision is.
    report = set_gold(videos.project, OPERATOR, GoldOptions(), now=NOW + 600)
    assert golden(videos) == {decided}
    assert report.settings.on


def test_a_key_of_the_leads_own_is_taken_whole_or_not_at_all(settled: Judging, tmp_path: Path) -> None:
    ids = dict(settled.rows("SELECT pair_key, pair_id FROM pair"))
    known = [pair.pair for pair in settled.pairs() if pair.relevance is not None]
    open_pair = next(pair.pair for pair in settled.pairs() if pair.verdict is Verdict.OPEN)
    file = tmp_path / "key.csv"
    file.write_text(
        f"pair_id,grade\n{ids[known[0]]},7\nx,1\n{ids[open_pair]},2\n{ids[known[1]]},1\n{ids[known[1]]},2\n"
    )
    with pytest.raises(InputError) as refused:
        set_gold(settled.project, OPERATOR, GoldOptions(), KeyFile.at(file), now=LATER)
    assert [problem.row for problem in refused.value.problems] == [2, 3, 4, 6]
    assert golden(settled) == set()
    assert not settled.project.campaign.gold.on
    file.write_text(f"pair_id,grade\n{ids[known[0]]},3\n{ids[known[1]]},1\n")
    report = set_gold(settled.project, OPERATOR, GoldOptions(0.2, 10, 5, 60, 40), KeyFile.at(file), now=LATER)
    assert golden(settled) == {known[0], known[1]}
    assert (report.pairs, report.grades) == (2, (0, 1, 0, 1, 0))
    assert asdict(report.settings) == {
        **{"on": True, "share": 0.2, "window": 10, "fewest": 5},
        **{"warn": 60, "pause": 40},
    }
    assert report.constant_right == 100  # a 2 is within 1 of both
    assert report.constant == 2
    # What is not said again stays as it is.
    report = set_gold(settled.project, OPERATOR, GoldOptions(), KeyFile.at(file), now=LATER)
    assert report.settings.window == 10


@pytest.mark.parametrize(
    "options",
    [
        *(GoldOptions(share=0), GoldOptions(share=0.6), GoldOptions(fewest=30), GoldOptions(fewest=0)),
        *(GoldOptions(warn=40), GoldOptions(pause=-1), GoldOptions(warn=101)),
    ],
)
def test_numbers_that_make_no_sense_are_refused(settled: Judging, options: GoldOptions) -> None:
    with pytest.raises(ProjectError):
        set_gold(settled.project, OPERATOR, options, now=LATER)
    assert not settled.project.campaign.gold.on


def test_without_a_known_grade_there_is_no_gold(videos: Judging) -> None:
    with pytest.raises(ProjectError, match="no pair has a known grade yet"):
        set_gold(videos.project, OPERATOR, GoldOptions(), now=LATER)


def test_everybody_meets_other_gold_and_nobody_a_pair_they_know(small: Judging) -> None:
    report = set_gold(small.project, OPERATOR, GoldOptions(share=0.3), now=LATER)
    assert report.pairs == 12
    relevances, known = right(small), golden(small)
    met = []
    for who, most in ((0, 12), (1, 12), (2, 1000), (3, 1000)):
        pairs = [pair for pair, _ in work(small, who, lambda pair: relevances.get(pair, 2), most=most)]
        assert len(set(pairs)) == len(pairs)
        met.append([pair for pair in pairs if pair in known])
    assert met[:2] == [[], []]  # they have graded every pair that is gold
    assert all(2 <= len(of) <= 20 for of in met[2:])
    assert met[2] != met[3]
    answers = small.rows("SELECT count(*) FROM gold_answer")[0][0]
    assert answers == len(met[2]) + len(met[3])
    # What they see of themselves counts it all.
    for who in (2, 3):
        mine = my_work(small.project, small.annotators[who], now=LATER + HOUR)
        judged = small.rows("SELECT count(*) FROM judgement WHERE annotator_id = ?", small.annotators[who].annotator_id)
        assert mine.in_all == mine.today == judged[0][0] + len(met[who])


def test_gold_is_its_share_of_a_long_work(small: Judging) -> None:
    set_gold(small.project, OPERATOR, GoldOptions(share=0.25), now=LATER)
    relevances, known = right(small), golden(small)
    counts = []
    for nth in range(20):
        small.annotators.append(newcomer(small.project, f"New {nth}"))
        pairs = [pair for pair, _ in work(small, len(small.annotators) - 1, lambda pair: relevances.get(pair, 2))]
        counts.append((sum(pair in known for pair in pairs), len(pairs)))
        undo_judgements(small, small.annotators[-1].annotator_id)  # the next one finds the same work
    gold, everything = (sum(column) for column in zip(*counts, strict=True))
    assert everything > 700
    # What falls due with the very last pairs is not met any more.
    assert abs(gold / everything - 0.25) < 0.04, (gold, everything)
    assert len({count for count, _ in counts}) > 4


def undo_judgements(judging: Judging, annotator_id: int) -> None:
    change(
        judging,
        "DROP TRIGGER IF EXISTS judgement_no_delete;"
        f"DELETE FROM judgement WHERE annotator_id = {annotator_id};"
        f"UPDATE seat SET annotator_id = NULL, claim_no = NULL, lease_until = NULL, shown_at = NULL "
        f"WHERE annotator_id = {annotator_id};",
    )


def test_what_somebody_has_seen_elsewhere_is_not_offered(settled: Judging, tmp_path: Path) -> None:
    ids = dict(settled.rows("SELECT pair_key, pair_id FROM pair"))
    known = [pair.pair for pair in settled.pairs() if pair.relevance is not None]
    file = tmp_path / "key.csv"
    file.write_text("pair_id,grade\n" + "".join(f"{ids[pair]},{n % 5}\n" for n, pair in enumerate(known[:4])))
    set_gold(settled.project, OPERATOR, GoldOptions(share=0.5), KeyFile.at(file), now=LATER)
    me = settled.annotators[2]
    who = me.annotator_id
    change(
        settled,
        f"""
        INSERT INTO example (grade, pair_id, note, lead_id, chosen_at)
          VALUES (0, {ids[known[0]]}, 'so', {settled.lead.annotator_id}, {NOW});
        INSERT INTO exam (exam_id, set_at, source, most_missed, ended_at) VALUES (1, {NOW}, 'x', 20, {NOW});
        INSERT INTO exam_item (exam_id, pair_id, right_grade) VALUES (1, {ids[known[1]]}, 1);
        INSERT INTO exam_attempt (exam_id, annotator_id, number, attempt_key, started_at)
          VALUES (1, {who}, 1, 'k', {NOW});
        INSERT INTO practice (practice_id, practice_key, query, moment_id, grade, explanation, chosen_at)
          SELECT 1, 'p', 'q', moment_id, 2, 'so', {NOW} FROM pair WHERE pair_id = {ids[known[2]]};
        INSERT INTO practice_answer (practice_id, annotator_id, grade, answered_at, event_key)
          VALUES (1, {who}, 2, {NOW}, 'e');
        """,
    )
    met = {pair for pair, _ in work(settled, 2, lambda _: 2)} & set(known)
    moments = dict(settled.rows("SELECT pair_key, moment_id FROM pair"))
    assert met == ({known[3]} if moments[known[3]] != moments[known[2]] else set())
    # Somebody else has seen neither the exam nor the practice.
    assert {pair for pair, _ in work(settled, 3, lambda _: 2)} & set(known) == {*known[1:4]}


def wrong(relevance: int) -> int:
    return 4 if relevance < 2 else 0


def test_who_is_far_off_is_told_then_paused_at_moments_that_tell_nothing(small: Judging) -> None:
    options = GoldOptions(share=0.25, window=4, fewest=2, warn=80, pause=0)
    set_gold(small.project, OPERATOR, options, now=LATER)
    relevances, known = right(small), golden(small)
    given = work(small, 2, lambda pair: wrong(relevances[pair]) if pair in known else 2)
    told = [nth for nth, (_, after) in enumerate(given) if after.warned]
    assert told, "never told"
    first = told[0]
    assert given[first][1].items[0].position == 1, "told in the middle of a query"
    assert all(pair not in known for pair, _ in given[first - 2 : first + 1]), "told right after gold"
    assert told == [*range(first, first + 5)]
    findings = [row[0] for row in small.rows("SELECT kind FROM gold_finding ORDER BY gold_finding_id")]
    assert findings == ["warned", "paused"]
    assert given[-1][1].state is DeskState.PAUSED
    assert given[-1][1].previous is None
    assert all(pair not in known for pair, _ in given[-3:]), "paused right after gold"


def test_a_pause_answers_a_warning_although_the_clock_was_set_back(small: Judging) -> None:
    set_gold(small.project, OPERATOR, GoldOptions(share=0.25, window=4, fewest=2, warn=80, pause=0), now=LATER)
    relevances, known = right(small), golden(small)
    person, db = small.annotators[2], small.project.store.db
    while not small.rows("SELECT 1 FROM gold_finding"):
        assert work(small, 2, lambda pair: wrong(relevances[pair]) if pair in known else 2, most=1), "never warned"
    assert [row[0] for row in warned_by_gold(db)] == [person.annotator_id]
    pause_person(small.project, small.lead, person.annotator_id, "We talk about it.", now=LATER - 86_400)
    assert warned_by_gold(db) == []


def test_a_pause_by_gold_says_why_to_leads_and_ends_by_one(small: Judging) -> None:
    options = GoldOptions(share=0.25, window=4, fewest=2, warn=100, pause=100)
    set_gold(small.project, OPERATOR, options, now=LATER)
    relevances, known = right(small), golden(small)
    give = lambda pair: wrong(relevances[pair]) if pair in known else 2  # noqa: E731
    given = work(small, 2, give)
    last = given[-1][1]
    assert last.state is DeskState.PAUSED
    assert last.items == ()
    assert last.in_all == len(given)
    report, people = gold_results(small.project, small.lead)
    person = next(one for one in people if one.person == small.annotators[2])
    assert person.pause.by is None
    assert person.pause.reason.startswith("Gold: 0 of ")
    assert [answer.answer.pair for answer in person.answers] == [pair for pair, _ in given if pair in known]
    assert all(answer.answer.own == wrong(answer.answer.right) and not answer.within for answer in person.answers)
    assert (person.counted, person.accuracy) == (0, None)  # the count begins afresh
    assert person.left == report.pairs - len(small.rows("SELECT 1 FROM gold_seat"))
    assert desk(small, 2, LATER + HOUR).state is DeskState.PAUSED
    unpause_person(small.project, small.lead, small.annotators[2].annotator_id, now=LATER + HOUR)
    again = desk(small, 2, LATER + HOUR)
    assert again.state is DeskState.READY
    assert not again.warned
    # Who answers well goes on to the end.
    given = work(small, 2, lambda pair: relevances.get(pair, 2), at=LATER + HOUR)
    assert given[-1][1].state is not DeskState.PAUSED


def test_a_lead_who_decides_a_gold_pair_anew_corrects_the_answers_to_it(small: Judging) -> None:
    set_gold(small.project, OPERATOR, GoldOptions(share=0.5), now=LATER)
    known = golden(small)
    pair = next(pair for pair, _ in work(small, 2, lambda _: 4) if pair in known)

    def answer() -> Any:
        people = gold_results(small.project, small.lead)[1]
        mine = next(one for one in people if one.person == small.annotators[2])
        return next(one for one in mine.answers if one.answer.pair == pair)

    before = answer()
    adjudicate(small.project, small.lead, PairKey(pair), 4, "seen twice", now=LATER + HOUR)
    assert before.answer.right == right_before(small, pair)
    assert (answer().answer.right, answer().within) == (4, True)


def right_before(judging: Judging, pair: str) -> int:
    """The relevance by the grades alone."""
    grades = judging.rows("SELECT grade FROM judgement JOIN pair USING (pair_id) WHERE pair_key = ?", pair)
    return int(grades[0][0])


def test_switched_off_it_comes_no_more_and_what_was_answered_stays(settled: Judging) -> None:
    set_gold(settled.project, OPERATOR, GoldOptions(share=0.5), now=LATER)
    known = golden(settled)
    met = [pair for pair, _ in work(settled, 2, lambda _: 2) if pair in known]
    assert end_gold(settled.project, OPERATOR, now=LATER + 1)
    assert not end_gold(settled.project, OPERATOR, now=LATER + 2)
    assert not [pair for pair, _ in work(settled, 3, lambda _: 2) if pair in known]
    assert settled.rows("SELECT count(*) FROM gold_answer") == [(len(met),)]


def without_gold(folder: Path) -> None:
    """The same project, had nobody ever graded a gold pair."""
    with closing(sqlite3.connect(folder / "reelrank.db")) as db:
        db.execute("PRAGMA foreign_keys = 0")
        for (trigger,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'gold%'"
        ).fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        for table in TABLES:
            db.execute(f"DELETE FROM {table}")
        db.execute("UPDATE campaign SET gold = 0")
        db.commit()


def said(project: Project, to: Path) -> dict[str, Any]:
    """Everything that the campaign says of itself, the release byte by byte."""
    export_release(project, OPERATOR, to, PARTLY, now=LATER + 5 * HOUR)
    lead = next(row.person for row in list_people(project, OPERATOR) if row.person.role == "lead")
    return {
        "files": {str(file.relative_to(to)): file.read_bytes() for file in sorted(to.rglob("*")) if file.is_file()},
        "status": status_counts(project, lead),
        "progress": progress(project, lead, now=LATER + 5 * HOUR),
        "people": list_people(project, lead, now=LATER + 5 * HOUR),
        "queries": list_queries(project, lead),
        "pairs": [query_pairs(project, lead, one.query_id) for one in list_queries(project, lead)],
        "disagreements": cases(project, lead, *DISPUTED),
        "statistics": project_statistics(project, lead),
    }


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_anybody_does_at_gold_reaches_what_the_campaign_says(
    settled: Judging, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    set_gold(settled.project, OPERATOR, GoldOptions(share=0.4, warn=20, pause=0), now=LATER)
    known, now, done = golden(settled), LATER, 0
    last: dict[int, str] = {}
    undecided = sorted(known)
    for _ in range(130):
        who, now = rng.randrange(2, 4), now + rng.choice((5, 30, 400))
        person = settled.annotators[who]
        items = desk(settled, who, now).items
        act = rng.choice(("grade",) * 8 + ("undo", "skip", "away", "shown", "lead"))
        if act == "grade" and items:
            pair = items[0].pair
            settled.grade(who, pair, rng.randrange(5), at=now)
            last[who] = pair
            done += pair in known
        elif act == "undo" and who in last:
            settled.grade(who, last[who], rng.randrange(5), at=now)
        elif act == "skip" and items:
            kind = rng.choice((SkipKind.SKIP, SkipKind.CANNOT_JUDGE))
            if items[0].pair not in known:  # a skip of gold is in the list of skips, as every skip
                exchange.record_skips(
                    settled.project, person, [SkipEvent(items[0].pair, kind, "no", secrets.token_hex(8))], now=now
                )
        elif act == "away":
            queue.sign_off(settled.project.store, person, now=now)
        elif act == "shown" and items:
            exchange.shown(settled.project, person, items[0].pair, now=now)
        elif act == "lead" and undecided:
            pair = undecided.pop(rng.randrange(len(undecided)))
            adjudicate(settled.project, settled.lead, PairKey(pair), rng.randrange(5), "seen", now=now)
    assert done > 3
    assert doctor(settled.project, now=now).findings == ()
    for who in (2, 3):  # what everybody sees of themselves is what they did, gold or not
        me = settled.annotators[who].annotator_id
        judged = settled.rows("SELECT count(DISTINCT pair_id) FROM judgement WHERE annotator_id = ?", me)[0][0]
        answered = settled.rows("SELECT count(DISTINCT pair_id) FROM gold_answer WHERE annotator_id = ?", me)[0][0]
        assert desk(settled, who, now).in_all == judged + answered
        assert my_work(settled.project, settled.annotators[who], now=now).in_all == judged + answered
        standing = settled.rows(
            "SELECT grade FROM standing WHERE annotator_id = :me UNION ALL SELECT grade FROM gold_answer a "
            "WHERE annotator_id = :me AND revision = (SELECT max(revision) FROM gold_answer b WHERE "
            "b.annotator_id = a.annotator_id AND b.pair_id = a.pair_id)".replace(":me", str(me)),
        )
        spread = Counter(row[0] for row in standing)
        mine = my_work(settled.project, settled.annotators[who], now=now)
        assert list(mine.grades) == [spread[grade] for grade in range(5)]
    settled.project.store.close()
    bare = shutil.copytree(settled.project.folder, tmp_path / "bare")
    without_gold(bare)
    ours = said(open_project(settled.project.folder), tmp_path / "ours")
    theirs = said(open_project(bare), tmp_path / "theirs")
    assert ours == theirs
    assert len(ours["files"]) > 3


def test_the_doctor_finds_gold_that_lost_its_answer(small: Judging) -> None:
    set_gold(small.project, OPERATOR, GoldOptions(share=0.5), now=LATER)
    assert work(small, 2, lambda _: 2)
    assert small.rows("SELECT count(*) FROM gold_answer")[0][0] > 1
    assert doctor(small.project, now=LATER + HOUR).findings == ()
    change(
        small,
        "DROP TRIGGER gold_answer_no_delete; DELETE FROM gold_answer WHERE gold_answer_id = 1;"
        "INSERT INTO gold_answer SELECT 99, pair_id, annotator_id, 3, grade, graded_at, 0, 0, 0, 'x', NULL, 0 "
        "FROM gold_answer WHERE gold_answer_id = 2",
    )
    found = {finding.check: finding for finding in doctor(small.project, now=LATER + HOUR).findings}
    assert found["gold"].count == 2


def test_a_gold_pair_on_somebodys_desk_is_not_shown_in_the_guideline(small: Judging) -> None:
    set_gold(small.project, OPERATOR, GoldOptions(share=0.5), now=LATER)
    known, relevances, found = golden(small), right(small), desk(small, 2, LATER)
    while found.items[0].pair not in known:
        small.grade(2, found.items[0].pair, 2, at=LATER)
        found = desk(small, 2, LATER)
    pair = found.items[0].pair
    with pytest.raises(ProjectError, match="somebody is grading this pair"):
        choose_example(small.project, small.lead, pair, relevances[pair], "so it is", now=LATER)
    # Once they are away it may be; they are not asked about it any more.
    choose_example(small.project, small.lead, pair, relevances[pair], "so it is", now=LATER + 2 * HOUR)
    assert pair not in {item.pair for item in desk(small, 2, LATER + 2 * HOUR).items}
    assert pair not in {one for one, _ in work(small, 2, lambda _: 2, at=LATER + 2 * HOUR)}


def test_the_list_of_last_grades_has_gold_pairs_in_their_place(small: Judging) -> None:
    set_gold(small.project, OPERATOR, GoldOptions(share=0.5), now=LATER)
    given = [pair for pair, _ in work(small, 2, lambda _: 4, most=20)]
    items = exchange.recent_grades(small.project, small.annotators[2], now=LATER + 10 * 60)
    assert [item.pair for item in items] == given[::-1]
    assert golden(small) & set(given), "some of them are gold"


def test_why_settled_pairs_are_left_out(videos: Judging) -> None:
    pairs = settle(videos, lambda nth: nth % 4, apart=1)
    assert gold_left_out(videos.project, videos.lead, now=NOW + 1) == {GoldExclusion.CORRECTABLE: len(pairs)}
    assert gold_left_out(videos.project, videos.lead, now=LATER) == {GoldExclusion.ROUNDED: len(pairs) // 2}
    videos.rows("UPDATE video SET path = NULL")
    assert gold_left_out(videos.project, videos.lead, now=LATER) == {GoldExclusion.NO_CLIP: len(pairs)}
