"""Runs that are pooled: which candidates they make, what is handed out, at first and again, and what is refused."""

import hashlib
import json
from pathlib import Path

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.truths import truth_of_project
from backend.campaign.review.queries import list_queries, query_review, take_back_queries
from backend.campaign.selection.batches.next_batch import (
    decline_batch,
    next_batch,
    open_batch,
    take_back_decline,
    undo_batch,
)
from backend.campaign.selection.candidates.model import PoolingReport
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.selection.candidates.submitted_runs import CandidatePooling as PoolingOptions
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, ProjectError
from backend.scoring.evaluate import evaluate
from support import MOMENTS, NOW, Judging, WordEncoder

Predictions = dict[int, list[tuple[str, float, float]]]


def write(folder: Path, name: str, run: Predictions) -> Path:
    """A run whose scores fall from 1."""
    file = folder / f"{name}.json"
    rows = {query: [[*one, 1 - place / 100] for place, one in enumerate(found)] for query, found in run.items()}
    file.write_text(json.dumps(rows))
    return file


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(sql)]


def everything(project: Project) -> list[str]:
    """The whole database as text."""
    return list(project.store.db.conn.iterdump())


PLACED = (
    "SELECT k.query_id, k.rank, v.name, m.start_s, m.end_s FROM candidate k JOIN moment m USING (moment_id) "
    "JOIN video v USING (video_id) ORDER BY 1, 2"
)
FOUND = (
    "SELECT f.query_id, k.rank, s.name, f.rank, f.score FROM candidate_source f JOIN source s USING (source_id) "
    "JOIN candidate k ON k.query_id = f.query_id AND k.moment_id = f.moment_id ORDER BY 1, 2, 3, 4"
)


@pytest.fixture
def asked(corpus_project: Project) -> tuple[Project, int, int]:
    """A project with a validation and a test query, and their numbers."""
    draw_queries(corpus_project, OPERATOR, val=1, test=1, seed=5, now=NOW)
    (val,), (test,) = rows(corpus_project, "SELECT query_id FROM query WHERE split <> 'train' ORDER BY position")
    return corpus_project, int(str(val)), int(str(test))


def test_runs_make_the_lists(asked: tuple[Project, int, int], tmp_path: Path) -> None:
    """Moments of v0 are at 0-2.5, 6-8.5, ...: 0.1-2.5 is the first of them by 24/25; 40-50 is none."""
    project, val, test = asked
    ours = write(tmp_path, "ours", {val: [("v0", 0.1, 2.5), ("v0", 40, 50)], test: [("v1", 3, 5)]})
    theirs = write(tmp_path, "theirs", {val: [("v0", 41, 50), ("v0", 0, 2.4), ("v3", 20, 30)]})
    options = PoolingOptions(depth=2)
    report = pool_candidates(project, OPERATOR, [theirs, ours], options, captions=False, batch_size=20, now=NOW)
    assert rows(project, PLACED) == [
        (val, 1, "v0", 0.0, 2.5),  # both have it, the better one at rank 1; it stands before 41-50 in the video
        (val, 2, "v0", 41.0, 50.0),
        (test, 1, "v1", 3.0, 5.0),
    ]
    assert rows(project, FOUND) == [
        *((val, 1, "ours", 1, 1.0), (val, 1, "theirs", 2, 0.99)),
        *((val, 2, "ours", 2, 0.99), (val, 2, "theirs", 1, 1.0)),
        (test, 1, "ours", 1, 1.0),
    ]
    assert rows(project, "SELECT name, kind, sha256, depth, part FROM source ORDER BY name") == [
        (file.stem, "run", hashlib.sha256(file.read_bytes()).hexdigest(), 2, 1) for file in (ours, theirs)
    ]
    assert rows(project, "SELECT start_s, end_s FROM moment WHERE origin = 'pooled' ORDER BY start_s") == [
        *((3.0, 5.0), (41.0, 50.0)),
    ]
    assert rows(project, "SELECT count(*), count(similarity), count(encoder) FROM pair") == [(3, 0, 0)]
    assert (report.queries, report.candidates, report.moments, report.pairs, report.encoder) == (2, 3, 2, 3, None)
    assert [(run.name, run.spans, run.candidates, run.alone, run.new) for run in report.runs] == [
        ("ours", 3, 3, 1, 3),
        ("theirs", 2, 2, 0, 2),
    ]
    assert doctor(project, now=NOW).findings == ()


def test_captions_stand_beside_runs_by_their_own_ranks(asked: tuple[Project, int, int], tmp_path: Path) -> None:
    project, val, test = asked
    vectors = WordEncoder().encode([one.caption for one in MOMENTS]).astype(float)
    text = str(rows(project, f"SELECT text FROM query WHERE query_id = {val}")[0][0])
    similar = sorted(zip(vectors @ WordEncoder().encode([text])[0], MOMENTS, strict=True), key=lambda one: -one[0])
    third = similar[2][1]
    run = write(tmp_path, "ours", {val: [("v0", 40, 50), (third.video, third.start_s, third.end_s)]})
    report = pool_candidates(project, OPERATOR, [run], now=NOW)
    assert report.encoder == "words-64"
    assert (report.candidates, report.pairs) == (81, 40)  # 40 of captions for each query, and one that only the run has
    ranked = rows(
        project,
        "SELECT v.name, m.start_s, k.similarity FROM candidate k JOIN moment m USING (moment_id) "
        f"JOIN video v USING (video_id) WHERE k.query_id = {val} ORDER BY k.rank",
    )
    best = similar[0][1]
    # Two stand first of a source, of which neither has more sources; of rank 2 the one that both have comes first.
    assert {row[:2] for row in ranked[:2]} == {("v0", 40.0), (best.video, best.start_s)}
    assert ranked[2][:2] == (third.video, third.start_s)
    assert [similarity for video, start, similarity in ranked if start == 40.0 and video == "v0"] == [None]
    assert sum(similarity is None for *_, similarity in ranked) == 1
    assert rows(project, f"SELECT count(*), max(rank) FROM candidate_source WHERE query_id = {test}") == [(40, 40)]


def test_a_dry_run_tells_the_same_and_writes_nothing(asked: tuple[Project, int, int], tmp_path: Path) -> None:
    project, val, _ = asked
    run = write(tmp_path, "ours", {val: [("v0", 40, 50), ("v0", 0, 2.5)]})
    before = everything(project)
    told = pool_candidates(project, OPERATOR, [run], captions=False, dry_run=True, now=NOW)
    assert everything(project) == before
    assert pool_candidates(project, OPERATOR, [run], captions=False, now=NOW) == told
    again = pool_candidates(
        project, OPERATOR, [write(tmp_path, "b", {val: [("v1", 30, 50)]})], again=True, dry_run=True, now=NOW
    )
    assert (again.candidates, again.pairs) == (1, 1)
    assert rows(project, "SELECT count(*) FROM candidate") == [(2,)]


def test_later_runs_add_what_nobody_was_asked_about(judging: Judging, tmp_path: Path) -> None:
    """Of a list of 40 the first 20 are handed out: a run finds one of those, one of the others, and a new moment."""
    project = judging.project
    query = judging.pairs()[0].query_id
    listed = [(str(row[2]), float(str(row[3])), float(str(row[4]))) for row in rows(project, PLACED) if row[0] == query]
    run = write(tmp_path, "new", {query: [listed[4], ("v0", 40, 50), listed[29], ("v0", 41, 50)]})
    report = pool_candidates(project, judging.lead, [run], again=True, now=NOW)
    assert (report.part, report.candidates, report.moments, report.pairs, report.queries) == (2, 1, 1, 2, 1)
    assert (report.runs[0].candidates, report.runs[0].new) == (3, 2)
    pairs = [pair for pair in judging.pairs() if pair.query_id == query and pair.batch == 2]
    assert [(pair.rank, pair.part, [one.source.name for one in pair.found_by]) for pair in pairs] == [
        (30, 2, ["new", "words-64"]),
        (41, 2, ["new"]),
    ]
    (event,) = rows(project, "SELECT actor, payload FROM event WHERE kind = 'candidates_added'")
    assert event[0] == judging.lead.annotator_id
    payload = json.loads(str(event[1]))
    assert (payload["candidates"], payload["pairs"], payload["pooled"][0]["name"]) == (1, 2, "new")
    review = next(one for one in list_queries(project, judging.lead) if one.query_id == query)
    assert (review.pairs, review.batches_open, len(review.relevances)) == (22, 2, 20)
    assert doctor(project, now=NOW).findings == ()


def test_the_next_batch_is_what_the_list_has_left_and_a_decision_against_it_stands(
    judging: Judging, tmp_path: Path
) -> None:
    project, lead = judging.project, judging.lead
    query = judging.pairs()[0].query_id
    for pair in judging.pairs():
        for who in (0, 1):
            judging.grade(who, pair.pair, 1)
    decline_batch(project, lead, query, "deep enough", number=2, now=NOW)
    listed = [(str(row[2]), float(str(row[3])), float(str(row[4]))) for row in rows(project, PLACED) if row[0] == query]
    run = write(tmp_path, "new", {query: [("v0", 40, 50), listed[24]]})
    pool_candidates(project, lead, [run], again=True, now=NOW + 1)
    for pair in judging.pairs():
        if pair.batch == 2:
            for who in (0, 1):
                judging.grade(who, pair.pair, 4)
    seen = next_batch(project, lead, query)
    assert (seen.number, seen.pairs, seen.state.value) == (3, 19, "declined")
    # The rule reads the first list: 1 throughout. What was found later says nothing about its depth.
    assert (seen.reading.spoke, seen.reading.total) == (5, 5)
    take_back_decline(project, lead, query, "after all", number=3, now=NOW + 2)
    assert open_batch(project, lead, query, number=3, now=NOW + 3) == 19
    ranks = sorted(pair.rank for pair in judging.pairs() if pair.query_id == query and pair.batch == 3)
    assert ranks == [*range(21, 25), *range(26, 41)]
    assert next_batch(project, lead, query).state.value == "ended"
    assert doctor(project, now=NOW + 4).findings == ()


def test_a_batch_of_a_later_pooling_can_be_taken_back(judging: Judging, tmp_path: Path) -> None:
    query = judging.pairs()[0].query_id
    run = write(tmp_path, "new", {query: [("v0", 40, 50)]})
    pool_candidates(judging.project, judging.lead, [run], again=True, now=NOW)
    assert undo_batch(judging.project, judging.lead, query, "wrong run", number=2, now=NOW + 1) == 1
    assert {pair.batch for pair in judging.pairs()} == {1}
    assert doctor(judging.project, now=NOW + 2).findings == ()


def test_everything_that_is_wrong_is_told_at_once_and_nothing_is_written(
    asked: tuple[Project, int, int], tmp_path: Path
) -> None:
    project, val, test = asked
    train = rows(project, "SELECT min(query_id) FROM query WHERE split = 'train'")[0][0]
    one = tmp_path / "one.jsonl"
    lines = [
        {"query_id": val, "video": "v0", "start": 5, "end": 5, "score": 1},
        {"query_id": val, "video": "v0", "start": -1, "end": 5, "score": 1},
        {"query_id": val, "video": "v0", "start": 50, "end": 61.5, "score": 1},
        {"query_id": val, "video": "nowhere", "start": 5, "end": 6, "score": 1},
        {"query_id": test, "video": "nowhere", "start": 5, "end": 6, "score": 1},
        {"query_id": 9999, "video": "v0", "start": 5, "end": 6, "score": 1},
        {"query_id": train, "video": "v0", "start": 5, "end": 6, "score": 1},
    ]
    one.write_text("\n".join(map(json.dumps, lines)))
    good = write(tmp_path, "good", {val: [("v0", 0, 5)]})
    twin = tmp_path / "twin.json"
    twin.write_bytes(good.read_bytes())
    before = everything(project)
    given = [one, good, twin, tmp_path / "lacking.json"]
    with pytest.raises(InputError) as refused:
        pool_candidates(project, OPERATOR, given, captions=False, now=NOW)
    told = [(Path(one.file).name, one.row, one.message) for one in refused.value.problems]
    assert told == [
        ("one.jsonl", 1, f"query {val}, moment 1: end 5.0 is not after start 5.0"),
        ("one.jsonl", 2, f"query {val}, moment 2: start -1.0 is before the video begins"),
        ("one.jsonl", 3, f"query {val}, moment 3: end 61.5 is after its video, which lasts 60 s"),
        ("one.jsonl", 4, f"query {val}, moment 4: video 'nowhere' is not in this project (1 more prediction is in it)"),
        ("one.jsonl", 6, "query 9999 is not in this project"),
        ("one.jsonl", 7, f"query {train} is a training query, whose moments are not graded"),
        ("twin.json", None, "is the same file as good: give each run once"),
        ("lacking.json", None, "cannot be read: No such file or directory"),
    ]
    assert everything(project) == before


def test_what_cannot_be_done_is_refused(asked: tuple[Project, int, int], tmp_path: Path) -> None:
    project, val, _ = asked
    run, other = (write(tmp_path, name, {val: [(f"v{n}", 40, 50)]}) for n, name in enumerate(("run", "other")))

    def pool(*files: Path | str, again: bool = False, depth: int = 20, iou: float = 0.7) -> PoolingReport:
        options = PoolingOptions(depth, iou)
        return pool_candidates(project, OPERATOR, files, options, captions=False, again=again, now=NOW)

    with pytest.raises(ProjectError, match="remove --again"):
        pool(run, again=True)
    with pytest.raises(ProjectError, match="the depth is 0: take 1 or more"):
        pool(run, depth=0)
    with pytest.raises(ProjectError, match="is 70: write a number above 0 and at most 1"):
        pool(run, iou=70)
    with pytest.raises(ProjectError, match="no run is named"):
        pool()
    pool(run)
    with pytest.raises(ProjectError, match=r"already exist \(made with run\)"):
        pool(other)
    with pytest.raises(InputError, match="was already pooled as run to depth 20"):
        pool(f"another={run}", again=True)
    with pytest.raises(InputError, match="another run was already pooled as run: give this one another name"):
        pool(f"run={other}", again=True)
    assert pool(run, again=True, depth=21).pairs == 0  # deeper, but there is nothing more
    assert rows(project, "SELECT name, part, depth FROM source") == [("run", 1, 20), ("run", 2, 21)]


def test_queries_taken_back_leave_no_moment_that_only_runs_found(
    asked: tuple[Project, int, int], tmp_path: Path
) -> None:
    project, val, _ = asked
    before = rows(project, "SELECT moment_id FROM moment")
    pool_candidates(project, OPERATOR, [write(tmp_path, "a", {val: [("v0", 40, 50)]})], captions=False, now=NOW)
    take_back_queries(project, OPERATOR, now=NOW + 1)
    assert rows(project, "SELECT moment_id FROM moment") == before
    assert rows(project, "SELECT * FROM source") == []


def test_a_new_system_is_judged_to_its_depth_once_its_pool_is_graded(judging: Judging, tmp_path: Path) -> None:
    """Before, half of what it found is unknown and counts as wrong; after, all of it is judged."""
    project = judging.project
    for pair in judging.pairs():
        for who in (0, 1):
            judging.grade(who, pair.pair, 1)
    run: Predictions = {}
    for query in list_queries(project, OPERATOR):
        known = [pair for pair in judging.pairs() if pair.query_id == query.query_id]
        run[query.query_id] = [("v0", 40.0, 50.0), ("v1", 40.0, 50.0), ("v0", 41.0, 50.0)]
        run[query.query_id] += [(pair.video, pair.start_s + 0.1, pair.end_s) for pair in known[:3]]
    file = write(tmp_path, "new", run)

    def scores() -> dict[str, float]:
        truth = truth_of_project(project, OPERATOR, "val")
        mine = {query: found for query, found in json.loads(file.read_text()).items() if int(query) in truth.queries}
        return evaluate(truth, mine, measures=["judged", "bpref"], k=[6], mu=[0.7])["mean"]

    before = scores()
    assert before["judged@6,0.7"] == 0.5
    report = pool_candidates(project, judging.lead, [file], PoolingOptions(depth=6), again=True, now=NOW + 1)
    assert (report.pairs, report.moments) == (6, 2)  # two of each query, the same two moments
    assert query_review(project, judging.lead, next(iter(run))).settled == 20  # type: ignore[union-attr, arg-type]
    for pair in judging.pairs():
        if pair.batch == 2:
            for who in (0, 1):
                judging.grade(who, pair.pair, 4, at=NOW + 2)
    after = scores()
    assert after["judged@6,0.7"] == 1.0
    assert after["bpref@0.7"] > before["bpref@0.7"]
