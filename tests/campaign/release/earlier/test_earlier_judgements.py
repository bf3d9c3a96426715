"""Judgements of earlier campaigns: taken whole, kept as they are, and judged on from there."""

import csv
import io
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import GradeEvent, ReceiptStatus
from backend.campaign.judging.rows import seats
from backend.campaign.judging.verdicts import rebuild_verdicts
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Person, Role, Verdict
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.release.earlier.model import JudgementsReport
from backend.campaign.release.earlier.rules.raw_annotation import read_raw, summarise
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate, take_back
from backend.campaign.review.queries import list_queries
from backend.campaign.review.status import status_counts
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError
from backend.core.ids import AnnotatorId, PairKey
from backend.store import connection
from backend.store.connection import writing
from support import NOW, PARTLY, Judging, have_read, person_of, sit

RAW = "pair_id,worker,relevance\n"
PAIRS = "pair_id,query_id,query,video_name,timestamp,duration,caption,similarity\n"
LATER = NOW + 86_400


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    return init_project(tmp_path / "empty", encoder="minilm")


def take(project: Project, raw: str, pairs: str | None = None, *, now: float = NOW) -> JudgementsReport:
    (project.folder / "raw.csv").write_text(raw)
    (project.folder / "pairs.csv").write_text(pairs or "")
    return import_judgements(
        project, project.folder / "raw.csv", project.folder / "pairs.csv" if pairs else None, now=now
    )


def refusal(project: Project, raw: str, pairs: str | None = None) -> list[str]:
    """The problems for which an import is refused, after seeing that nothing was taken."""
    before = "\n".join(project.store.db.conn.iterdump())
    with pytest.raises(InputError) as caught:
        take(project, raw, pairs)
    assert "\n".join(project.store.db.conn.iterdump()) == before
    return [str(problem) for problem in caught.value.problems]


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(sql)]


def judge_some(judging: Judging) -> None:
    """Pairs in every state but adjudicated: untouched, one grade, agreed, waiting for one or two more, discarded."""
    given: list[tuple[int, ...]] = [(), (2,), (3, 4), (0, 2), (0, 2, 1), (0, 4, 1, 4), (1, 4, 2, 3)]
    for n, pair in enumerate(judging.pairs()):
        for place, grade in enumerate(given[n % len(given)]):
            event = GradeEvent(pair.pair, grade, f"{n}-{place}", 1000 + n, 2000 + n if n % 2 else None, n % 3)
            who = judging.annotators[(place + n) % 4]
            sit(judging.project, who, [pair.pair], now=NOW + n)
            [receipt] = record_grades(judging.project, who, [event], now=NOW + n)
            assert receipt.status is ReceiptStatus.SAVED


@pytest.mark.parametrize("with_corpus", [True, False], ids=["same corpus", "nothing there"])
def test_a_release_imported_and_exported_again_has_the_same_bytes(
    judging: Judging, tmp_path: Path, empty: Project, with_corpus: bool
) -> None:
    judge_some(judging)
    export_release(judging.project, OPERATOR, tmp_path / "first", PARTLY, now=NOW)
    if with_corpus:
        import_corpus(empty, OPERATOR, tmp_path / "moments.jsonl", "jsonl", now=NOW)
    raw, pairs = "raw_annotation.csv", "raw_query_moment_pair.csv"
    report = import_judgements(empty, tmp_path / "first" / raw, tmp_path / "first" / pairs, now=LATER)
    assert (report.renumbered, report.queries_renumbered, report.verdicts_that_differ) == ({}, 0, 0)
    assert (report.videos, report.moments) == (
        (0, 0) if with_corpus else (6, len({p.start_s for p in judging.pairs()}))
    )
    export_release(empty, OPERATOR, tmp_path / "second", PARTLY, now=LATER)
    for name in (raw, pairs):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    for split in ("val.json", "test.json"):
        assert json.loads((tmp_path / "second" / split).read_text()) == json.loads(
            (tmp_path / "first" / split).read_text()
        )
    seats = "SELECT pair_id, seat_no, annotator_id FROM seat WHERE lease_until IS NULL ORDER BY 1, 2"
    assert rows(empty, seats) == rows(judging.project, seats)
    for table in ("consensus", "agenda"):
        assert rows(empty, f"SELECT * FROM {table} ORDER BY 1") == rows(judging.project, f"SELECT * FROM {table}")


def test_a_decision_of_a_lead_does_not_travel_and_the_report_says_so(
    judging: Judging, tmp_path: Path, empty: Project
) -> None:
    judge_some(judging)
    adjudicate(judging.project, judging.lead, judging.pairs()[5].pair, 1, "seen it", now=NOW)
    export_release(judging.project, OPERATOR, tmp_path / "first", PARTLY, now=NOW)
    files = [tmp_path / "first" / name for name in ("raw_annotation.csv", "raw_query_moment_pair.csv")]
    assert import_judgements(empty, *files, now=LATER).verdicts_that_differ == 1


def test_pairs_without_description_are_numbers_with_judged_seats_only(empty: Project) -> None:
    report = take(empty, RAW + "0,4,3\n0,6,4\n7,4,0\n7,6,4\n9,4,2\n9,4,2\n9,5,1\n5,6,1\n")
    assert (report.pairs, report.pairs_by_number, report.missing_ids) == (4, 4, 6)
    assert (report.consensus, report.never_sent_on, report.sent_on, report.open) == (1, (7, 9), (), 1)
    assert (report.pairs_graded_twice_by_one, report.duplicate_rows) == (1, 1)
    assert rows(empty, "SELECT pair_id, seat_no, annotator_id, repeat FROM seat ORDER BY 1, 2") == [
        *((0, 1, 4, 0), (0, 2, 6, 0), (5, 1, 6, 0), (7, 1, 4, 0), (7, 2, 6, 0)),
        *((9, 1, 4, 0), (9, 2, 4, 1), (9, 3, 5, 0)),
    ]
    assert rows(empty, "SELECT * FROM consensus ORDER BY 1") == [
        (0, "consensus", 4, 3.5, "tvr-ranking-1"),
        (7, "escalated", None, None, "tvr-ranking-1"),
        (9, "escalated", None, None, "tvr-ranking-1"),
    ]
    assert rows(empty, "SELECT DISTINCT imported, active_ms, elapsed_ms, graded_at FROM judgement") == [
        (1, 0, None, NOW)
    ]
    assert list_queries(empty, OPERATOR) == []
    assert status_counts(empty, OPERATOR)["pairs"]["escalated"] == 2


def test_grades_of_pairs_known_by_number_are_in_a_release_but_not_in_its_truth(
    judging: Judging, tmp_path: Path
) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    judging.grade(1, judging.pairs()[0].pair, 3)
    take(judging.project, RAW + "7000,71,2\n7000,72,2\n")
    report = export_release(judging.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    assert report.selection.moments == 1
    raw = (tmp_path / "release" / "raw_annotation.csv").read_text()
    assert [line.split(",")[:4] for line in raw.splitlines()[-2:]] == [
        ["7000", "71", "2", "1"],
        ["7000", "72", "2", "1"],
    ]
    assert "7000" not in (tmp_path / "release" / "raw_query_moment_pair.csv").read_text()


def described(*pairs: tuple[object, ...]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(pairs)
    return PAIRS + text.getvalue()


def test_people_go_on_where_the_campaign_stopped(empty: Project) -> None:
    pairs = described(
        *(
            (n, 5, "a person waves", "v1", f"[{n}, {n + 2}]", 60.0, f"Somebody waves {n}.", 0.9 - n / 100)
            for n in range(5)
        )
    )
    report = take(empty, RAW + "0,1,3\n0,2,3\n1,1,0\n1,2,4\n2,1,2\n", pairs)
    assert (report.sent_on, report.open, report.pairs_without_grade) == ((1,), 1, 2)
    seats = rows(empty, "SELECT pair_id, count(*), count(annotator_id) FROM seat GROUP BY 1")
    assert seats == [(0, 2, 2), (1, 4, 2), (2, 2, 1), (3, 2, 0), (4, 2, 0)]
    with connection.writing(empty.store):
        zoe = people.add(empty.store, OPERATOR, "Zoe", Role.ANNOTATOR, now=NOW)
        have_read(empty)
    key_of = {PairKey(str(key)): number for key, number in rows(empty, "SELECT pair_key, pair_id FROM pair")}
    items = desk(empty, zoe, now=LATER).items
    assert sorted(key_of[item.pair] for item in items) == [1, 2, 3, 4]
    worker_1 = Person(AnnotatorId(1), "worker 1", Role.ANNOTATOR)
    assert sorted(key_of[item.pair] for item in desk(empty, worker_1, now=LATER).items) == [3, 4]
    assert [query.pairs for query in list_queries(empty, OPERATOR)] == [5]


def test_the_caption_of_a_query_is_its_own_words_else_that_of_the_most_similar_moment(empty: Project) -> None:
    take(
        empty,
        RAW + "1,1,3\n",
        described(
            (1, 5, "a man sits", "v", "[0, 1]", 60, "He sits.", 0.8),
            (2, 5, "a man sits", "v", "[1, 2]", 60, "a man sits", 0.7),
            (3, 6, "a man stands", "v", "[0, 1]", 60, "He sits.", 0.1),
            (4, 6, "a man stands", "v", "[2, 3]", 60, "", 0.9),
            (5, 7, "a man eats", "v", "[0, 1]", 60, "He sits.", 0.5),
            (6, 7, "a man eats", "v", "[1, 2]", 60, "a man sits", 0.6),
        ),
    )
    sql = (
        "SELECT query_id, c.text, start_s, split FROM query q JOIN caption c USING (caption_id) "
        "JOIN moment USING (moment_id)"
    )
    assert rows(empty, sql) == [
        (5, "a man sits", 1.0, "test"),
        (6, "a man stands", 2.0, "test"),  # no caption in the file: the query stands for it
        (7, "a man sits", 1.0, "test"),
    ]


def test_a_query_of_a_moment_that_nobody_described_is_of_the_file(empty: Project) -> None:
    with writing(empty.store) as db:
        db.execute("INSERT INTO video (video_id, name, duration_s) VALUES (1, 'v', 60)")
        db.execute("INSERT INTO moment (video_id, start_s, end_s, origin) VALUES (1, 0, 1, 'shots')")
    take(empty, RAW + "1,1,3\n", described((1, 5, "a man sits", "v", "[0, 1]", 60, "", 0.8)))
    assert rows(empty, "SELECT text, caption_id, source <> '' FROM query") == [("a man sits", None, 1)]
    assert rows(empty, "SELECT count(*) FROM caption") == [(0,)]


def test_batches_follow_the_ranks_and_the_batch_size(empty: Project) -> None:
    pairs = described(*((n, 1, "q", "v", f"[{n}, {n + 1}]", 90, "c", 1 - n / 100) for n in range(45)))
    assert take(empty, RAW + "0,1,1\n", pairs).batches == 3
    sql = "SELECT number, min(rank), max(rank), count(*) FROM pair JOIN batch USING (batch_id) GROUP BY number"
    assert rows(empty, sql) == [(1, 1, 20, 20), (2, 21, 40, 20), (3, 41, 45, 5)]


def test_a_pair_of_the_project_gets_the_grades_and_whoever_holds_it_is_told(judging: Judging) -> None:
    held = desk(judging.project, judging.annotators[0], now=NOW).items[0].pair
    number = next(pair.pair_id for pair in judging.pairs() if pair.pair == held)
    report = take(judging.project, RAW + f"{number},91,3\n{number},92,3\n")
    assert (report.pairs_known, report.pairs_added, report.pairs_by_number) == (1, 0, 0)
    assert judging.state(held).verdict is Verdict.CONSENSUS
    receipt = judging.grade(0, held, 1)
    assert receipt.status is ReceiptStatus.REFUSED
    assert held not in {item.pair for item in desk(judging.project, judging.annotators[0], now=NOW).items}
    assert status_counts(judging.project, OPERATOR)["judgements"] == 2


def test_the_same_pair_may_be_described_again_and_further_ones_are_added(judging: Judging) -> None:
    [first, *_, last] = judging.pairs()
    assert first.query != last.query
    same = (first.pair_id, "", first.query, first.video, f"[{first.start_s}, {first.end_s}]", "", "", 0.5)
    new = (900, "", last.query, "v9", "[3, 4]", 30, "Somebody sings.", 0.01)
    report = take(judging.project, RAW + f"{first.pair_id},91,3\n900,91,3\n", described(same, new))
    assert (report.pairs_known, report.pairs_added, report.videos, report.queries) == (1, 1, 1, 0)
    assert rows(judging.project, "SELECT query_id, rank, encoder FROM pair WHERE pair_id = 900") == [
        (last.query_id, 1, "imported")
    ]


def test_what_contradicts_the_project_is_refused_with_its_row(judging: Judging) -> None:
    project = judging.project
    [first, second, *_] = judging.pairs()
    judging.grade(0, first.pair, 3)
    training = rows(project, "SELECT text FROM query WHERE split = 'train'")[0][0]
    with connection.writing(project.store):
        people.add(project.store, OPERATOR, "Worker 66", Role.LEAD, now=NOW)
    take(project, RAW + "800,71,2\n")
    span = f"[{second.start_s}, {second.end_s}]"
    found = refusal(
        project,
        RAW + f"{first.pair_id},71,3\n901,66,3\n",
        described(
            (second.pair_id, "", second.query, second.video, "[50, 51]", "", "", 0.5),
            (902, "", second.query, second.video, span, 60, "", 0.5),
            (903, "", training, "v1", "[50, 51]", "", "", 0.5),
            (904, "", "new", "v77", "[50, 51]", "", "", 0.5),
            (905, "", "new", "v1", "[70, 71]", "", "", 0.4),
            (800, "", "new", "v1", "[50, 51]", "", "", 0.3),
            (906, "", "new", "v2", "[50, 51]", 75, "", 0.2),
        ),
    )
    assert found == [
        f"raw.csv, row 2: pair {first.pair_id} already has judgements in the project",
        "raw.csv, row 3: Worker 66 is a lead here, and leads do not grade",
        f"pairs.csv, row 2: pair {second.pair_id} has another query and moment in the project",
        f"pairs.csv, row 3: this query and moment are pair {second.pair_id} in the project",
        "pairs.csv, row 4: this query is in split train of the project, and splits are fixed once drawn: import into "
        "another project",
        "pairs.csv, row 5: video v77 has no duration: add a column duration, or import its moments first",
        "pairs.csv, row 6: start 70.0 is outside the video, which lasts 60.0 s",
        "pairs.csv, row 7: pair 800 has judgements in the project, but no query and moment to compare: import into "
        "another project",
        "pairs.csv, row 8: video v2 lasts 75.0 s here, but 60.0 s in the project",
    ]


def test_a_query_of_another_split_is_refused(judging: Judging) -> None:
    pair = judging.pairs()[0]
    split = next(query.split for query in list_queries(judging.project, OPERATOR) if query.query == pair.query)
    other = "test" if split == "val" else "val"
    pairs = f'pair_id,query,video_name,similarity,timestamp,split\n900,{pair.query},v1,0.5,"[50, 51]",{other}\n'
    assert refusal(judging.project, RAW + "900,71,3\n", pairs) == [
        f"pairs.csv, row 2: this query is in split {other} here, but in {split} in the project, where splits are fixed "
        "once drawn"
    ]


def test_the_same_file_is_taken_once(empty: Project) -> None:
    take(empty, RAW + "1,1,3\n")
    with pytest.raises(ProjectError, match="This was done on 2026-09-21 at 14:13 UTC by the command"):
        take(empty, RAW + "1,1,3\n", now=LATER)
    assert take(empty, RAW + "2,1,3\n", now=LATER).people_added == 0, "worker 1 is the same person"


def test_nothing_is_half_written_when_the_last_step_fails(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(db: object) -> None:
        raise MemoryError

    before = "\n".join(empty.store.db.conn.iterdump())
    with monkeypatch.context() as patch:
        patch.setattr(candidates_rows, "rebuild_agenda", fail)
        with pytest.raises(MemoryError):
            take(empty, RAW + "1,1,3\n", described((1, 5, "q", "v", "[0, 1]", 60, "c", 0.8)))
    assert "\n".join(empty.store.db.conn.iterdump()) == before
    assert take(empty, RAW + "1,1,3\n").rows == 1


def test_workers_keep_their_numbers_where_these_are_free(judging: Judging) -> None:
    taken = judging.annotators[0].annotator_id
    report = take(judging.project, RAW + f"900,0,1\n900,{taken},1\n900,41,1\n901,ann,2\n")
    assert report.renumbered == {"0": 42, str(taken): 43, "ann": 44}
    assert rows(
        judging.project, "SELECT annotator_id, name, role, password_hash FROM annotator WHERE name LIKE 'w%' ORDER BY 1"
    ) == [
        (41, "worker 41", "annotator", None),
        (42, "worker 0", "annotator", None),
        (43, f"worker {taken}", "annotator", None),
        (44, "worker ann", "annotator", None),
    ]


def test_a_query_whose_number_is_taken_gets_another_and_the_report_counts_it(judging: Judging) -> None:
    number = judging.pairs()[0].query_id
    pairs = described((900, number, "another text", "v", "[0, 1]", 60, "c", 0.8))
    assert take(judging.project, RAW + "900,41,1\n", pairs).queries_renumbered == 1
    [found] = rows(judging.project, "SELECT query_id, position FROM query WHERE text = 'another text'")
    assert found == (49, 49), "48 texts of the corpus were drawn before"


def test_an_import_leaves_one_event_and_people_judged_by_a_program_are_marked(empty: Project) -> None:
    pairs = described((1, 5, "q", "v", "[0, 1]", 60, "c", 0.8))
    raw = "pair_id,worker,relevance,simulated\n1,1,0,1\n1,2,4,0\n2,1,3,1\n2,2,3,1\n"
    take(empty, raw, pairs)
    [(kind, payload)] = rows(empty, "SELECT kind, payload FROM event")
    found = json.loads(str(payload))
    assert kind == "judgements_imported"
    assert (found["file"], found["rows"], found["pairs"], found["people"], found["sent_on"]) == (
        "raw.csv",
        4,
        2,
        2,
        [1],
    )
    assert rows(empty, "SELECT annotator_id, simulated FROM annotator") == [(1, 1), (2, 0)]
    assert status_counts(empty, OPERATOR)["simulated"] == 3


CAMPAIGN = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=24).filter(
    lambda grades: max(Counter(pair for pair, _, _ in grades).values()) <= 4
)


@settings(max_examples=40, deadline=None)
@given(grades=CAMPAIGN, pairs_told=st.sets(st.integers(0, 6)))
def test_any_campaign_is_counted_as_reelrank_consensus_counts_it(
    grades: list[tuple[int, int, int]], pairs_told: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = init_project(tmp_path_factory.mktemp("campaign") / "p", encoder="minilm")
    raw = RAW + "".join(f"{pair},{worker},{grade}\n" for pair, worker, grade in grades)
    pairs = described(*((n, "", f"q{n % 2}", "v", f"[{n}, {n + 1}]", 60, "c", 0.5) for n in sorted(pairs_told)))
    report = take(project, raw, pairs if pairs_told else None)
    expected = summarise(read_raw(raw.encode(), "raw.csv"))
    undecided = expected["undecided"]
    assert (report.pairs, report.consensus) == (expected["pairs"], expected["consensus"])
    assert report.open == undecided["one"]
    assert len(report.sent_on + report.never_sent_on) == undecided["two"] + undecided["three"]
    assert report.discarded == expected["discarded"] - sum(undecided.values())

    by_pair: defaultdict[int, list[int]] = defaultdict(list)
    for pair, _, grade in grades:
        by_pair[pair].append(grade)
    for pair in by_pair.keys() | pairs_told:
        given_here = by_pair[pair]
        disagree = len(given_here) == 2 and abs(given_here[0] - given_here[1]) > 1
        wanted = len(given_here) if pair not in pairs_told else 4 if disagree or len(given_here) > 2 else 2
        seats = rows(
            project,
            "SELECT s.seat_no, j.grade FROM seat s LEFT JOIN judgement j USING (pair_id, seat_no) "
            f"WHERE pair_id = {pair} ORDER BY 1",
        )
        assert [seat[0] for seat in seats] == list(range(1, wanted + 1))
        assert [seat[1] for seat in seats] == given_here + [None] * (wanted - len(given_here))
    assert rows(project, "PRAGMA foreign_key_check") == []
    project.store.close()


def test_rebuilding_all_at_once_gives_what_settling_pair_by_pair_gave(judging: Judging) -> None:
    judge_some(judging)
    pairs = judging.pairs()
    adjudicate(judging.project, judging.lead, pairs[5].pair, 1, "first", now=NOW)
    adjudicate(judging.project, judging.lead, pairs[5].pair, 2, "second", seen=1, now=NOW)
    adjudicate(judging.project, judging.lead, pairs[0].pair, 4, "without any grade", now=NOW)
    judging.grade(1, pairs[1].pair, 0, at=NOW + 1)  # a correction: the newest revision counts
    one_by_one = rows(judging.project, "SELECT * FROM consensus ORDER BY pair_id")
    assert {row[1] for row in one_by_one} == {"escalated", "consensus", "discarded", "adjudicated"}
    judging.project.store.db.conn.execute("UPDATE consensus SET mean = 9, rule_version = 'wrong'")
    assert rebuild_verdicts(judging.project.store) == len(one_by_one)
    assert rows(judging.project, "SELECT * FROM consensus ORDER BY pair_id") == one_by_one


def test_candidates_are_not_chosen_beside_those_of_an_imported_campaign(empty: Project) -> None:
    take(empty, RAW + "1,4,3\n", PAIRS + '1,7,A man sits.,v1,"[1, 2]",60,A man sits.,1.0\n')
    with pytest.raises(ProjectError, match="came with the pairs of an earlier campaign"):
        choose_candidates(empty, OPERATOR, now=NOW)


def test_an_imported_grade_is_not_corrected_here(empty: Project) -> None:
    take(empty, RAW + "1,4,3\n", PAIRS + '1,7,A man sits.,v1,"[1, 2]",60,A man sits.,1.0\n')
    worker = person_of(empty, "worker 4")
    assert desk(empty, worker, now=NOW).previous is None
    key = PairKey(rows(empty, "SELECT pair_key FROM pair")[0][0])
    [receipt] = record_grades(empty, worker, [GradeEvent(key, 0, "k")], now=NOW)
    assert receipt.status is ReceiptStatus.REFUSED


def test_names_of_either_form_are_one_worker_and_one_video(empty: Project) -> None:
    pairs = described(
        (0, 5, "a person waves", "cafe\u0301", "[0, 2]", 60.0, "Somebody waves.", 0.9),
        (1, 5, "a person waves", "caf\u00e9", "[2, 4]", 60.0, "Somebody nods.", 0.8),
    )
    report = take(empty, RAW + "0,Jose\u0301,3\n1,Jos\u00e9,0\n", pairs)
    assert (report.workers, report.people_added, report.videos) == (1, 1, 1)
    assert rows(empty, "SELECT name FROM video") == [("caf\u00e9",)]
    assert rows(empty, "SELECT name FROM annotator") == [("worker Jos\u00e9",)]


def test_a_pair_that_a_lead_decided_is_open_to_nobody_after_an_import(judging: Judging) -> None:
    pair = judging.pairs()[0]
    adjudicate(judging.project, judging.lead, pair.pair, 3, "seen it", now=NOW)
    take(judging.project, f"{RAW}{pair.pair_id},7,0\n")
    with writing(judging.project.store) as db:
        me = judging.annotators[0].annotator_id
        assert not seats.claim(db, me, pair.pair_id, now=LATER, until=LATER + 60)
    assert doctor(judging.project, now=LATER).findings == ()
    take_back(judging.project, judging.lead, pair.pair, "not so clear", seen=1, now=LATER)
    sit(judging.project, judging.annotators[0], [pair.pair], now=LATER)
    assert judging.grade(0, pair.pair, 0, at=LATER).status is ReceiptStatus.SAVED
