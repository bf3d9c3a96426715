"""The leaderboard of kept runs: the same scores as from files, honest about what it leaves out, never out of date."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.doctor.database import backup, restore
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board import leaderboard, rows
from backend.campaign.release.board.kept_runs import (
    add_run,
    add_truth,
    list_runs,
    list_truths,
    load_run,
    remove_run,
    remove_truth,
)
from backend.campaign.release.board.leaderboard import leaderboard_version, score_kept_runs, truth_names
from backend.campaign.release.board.model import Kept
from backend.campaign.release.board.rows import Shelf
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import release_file
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import ProjectError
from backend.scoring.files.facts import Facts
from backend.scoring.files.formats import read_truth
from backend.scoring.report.page import report_page
from backend.scoring.scored_files import score_files
from backend.scoring.statistics.sureness import Sureness
from backend.scoring.views.case import case_view as score_case
from backend.scoring.views.case import notable_queries
from backend.scoring.views.case import unknown_durations_note as case_bars_told
from backend.scoring.views.ranking import sentence as score_sentence
from backend.store.connection import writing
from support import NOW, Judging

Keep = Callable[..., Kept]


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Every pair of all three queries is settled by two equal grades, but each third is discarded."""
    for n, pair in enumerate(judging.pairs()):
        for who, grade in enumerate((n % 5,) * 2 if n % 3 else (0, 4, 0, 4)):
            judging.grade(who, pair.pair, grade)
    return judging


@pytest.fixture
def keep(judging: Judging, tmp_path: Path) -> Keep:
    """Keeps a run that a test writes down, `{query: [[video, start, end, score], ...]}`."""

    def kept(name: str, run: object) -> Kept:
        path = tmp_path / "run.json"
        path.write_text(json.dumps(run))
        return add_run(judging.project, OPERATOR, path, name=name, now=NOW)

    return kept


def candidates(judging: Judging, split: str | None = None, *, backwards: bool = False) -> dict[str, list[list[object]]]:
    """A run: the candidates of each query by rank, or the other way round."""
    found: dict[str, list[list[object]]] = {}
    for query in list_queries(judging.project, OPERATOR):
        if split in (None, query.split.value):
            pairs = query_pairs(judging.project, OPERATOR, query.query_id)
            ordered = pairs[::-1] if backwards else pairs
            found[str(query.query_id)] = [[p.video, p.start_s, p.end_s + 0.4, 1 / n] for n, p in enumerate(ordered, 1)]
    return found


@pytest.mark.parametrize("preset", ["paper", "tvr-ranking"])
def test_scores_are_those_of_the_release_and_the_run_file(
    settled: Judging, keep: Keep, tmp_path: Path, preset: str
) -> None:
    for name, backwards in (("forth", False), ("back", True)):
        run = candidates(settled, backwards=backwards)
        keep(name, run)
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    export_release(settled.project, OPERATOR, tmp_path / "release", now=NOW)
    for split in ("val", "test"):
        board = score_kept_runs(settled.project, OPERATOR, f"settled {split}", preset=preset)
        assert board.scores is not None
        ours = board.scores.summary()
        files = [tmp_path / "forth.json", tmp_path / "back.json"]
        theirs = score_files(tmp_path / "release" / f"{split}.json", files, preset=preset, unknown="ignore").summary()
        assert ours["truth"]["queries"] == {"val": 2, "test": 1}[split]
        assert ours["runs"] == theirs["runs"]
        assert ours["runs"][0]["measures"] != ours["runs"][1]["measures"]


def test_predictions_after_the_end_of_a_video_of_the_project_are_told(settled: Judging, keep: Keep) -> None:
    run = candidates(settled, "val")
    keep(
        "late",
        {query: [[v, s * 1000 + 70_000, e * 1000 + 70_000, x] for v, s, e, x in rows] for query, rows in run.items()},
    )
    board = score_kept_runs(settled.project, OPERATOR, "settled val")
    assert board.scores is not None
    n = sum(map(len, run.values()))
    assert any(f"{n} predictions begin after their video ends" in warning for warning in board.scores.warnings)


def test_a_release_is_a_truth_that_never_changes(settled: Judging, keep: Keep, tmp_path: Path) -> None:
    project = settled.project
    run = candidates(settled)
    keep("forth", run)
    (tmp_path / "forth.json").write_text(json.dumps(run))
    export_release(project, OPERATOR, tmp_path / "out", name="v1", now=NOW)
    names = truth_names(project, OPERATOR)
    assert names == ["settled val", "settled test", "release v1, val", "release v1, test"]
    version = leaderboard_version(project, OPERATOR, "release v1, val")
    settled.grade(1, settled.pairs()[1].pair, 4)  # what is settled now is another truth
    board = score_kept_runs(project, OPERATOR, "release v1, val")
    assert board.scores is not None
    theirs = score_files(tmp_path / "out" / "val.json", [tmp_path / "forth.json"], unknown="ignore").summary()
    assert board.scores.summary()["runs"][0]["measures"] == theirs["runs"][0]["measures"]
    now = score_kept_runs(project, OPERATOR, "settled val").scores
    assert now is not None
    assert now.summary()["runs"][0]["measures"] != theirs["runs"][0]["measures"]
    assert leaderboard_version(project, OPERATOR, "release v1, val") == version
    texts = {str(query["query_id"]): query["query"] for query in json.loads((tmp_path / "out/val.json").read_text())}
    assert board.inputs.facts.texts == texts
    # A file kept under that name is there all the same, and a release whose zip is gone is offered no more.
    truth = [{"query_id": 1, "relevant_moment": [{"video_name": "v", "timestamp": [0, 1], "relevance": 2}]}]
    (tmp_path / "val.json").write_text(json.dumps(truth))
    add_truth(project, OPERATOR, tmp_path / "val.json", name="release v1, val", now=NOW)
    assert truth_names(project, OPERATOR)[2:] == [
        *("release v1, val", "release v1, test", "release v1, val (kept)"),
    ]
    release_file(project, OPERATOR, "v1").unlink()
    assert truth_names(project, OPERATOR)[2:] == ["release v1, val"]


def test_a_truth_is_named_once_it_has_something_to_score_against(judging: Judging, tmp_path: Path) -> None:
    assert truth_names(judging.project, OPERATOR) == []
    with pytest.raises(ProjectError, match="no val query is finished and has a settled pair"):
        score_kept_runs(judging.project, OPERATOR, "settled val")
    (test,) = [query for query in list_queries(judging.project, OPERATOR) if query.split.value == "test"]
    for pair in query_pairs(judging.project, OPERATOR, test.query_id):
        assert truth_names(judging.project, OPERATOR) == [], "a query is not finished before its last pair"
        for who in (0, 1):
            judging.grade(who, pair.pair, 3)
    assert truth_names(judging.project, OPERATOR) == ["settled test"]
    truth = [{"query_id": 1, "relevant_moment": [{"video_name": "v", "timestamp": [0, 1], "relevance": 2}]}]
    (tmp_path / "val.json").write_text(json.dumps(truth))
    # A kept truth cannot pass for what the project says itself.
    (tmp_path / "settled val.json").write_text(json.dumps(truth))
    for path, name in (("val.json", "settled val"), ("val.json", " settled  test"), ("settled val.json", None)):
        with pytest.raises(ProjectError, match="reserved for the project's own settled pairs: choose another name"):
            add_truth(judging.project, OPERATOR, tmp_path / path, name=name, now=NOW)
    add_truth(judging.project, OPERATOR, tmp_path / "val.json", name="last year", now=NOW)
    assert [kept.name for kept in list_truths(judging.project, OPERATOR)] == ["last year"]
    assert truth_names(judging.project, OPERATOR) == ["settled test", "last year"]
    for call in (score_kept_runs, leaderboard_version):
        with pytest.raises(ProjectError, match="no ground truth called next year"):
            call(judging.project, OPERATOR, "next year")


def test_a_truth_kept_under_a_name_of_the_projects_own_is_reached_under_another(
    settled: Judging, keep: Keep, tmp_path: Path
) -> None:
    """Older versions kept a file as "settled val"; it stood in the list of truths and could never be scored against."""
    moments = next(iter(candidates(settled).values()))
    truth = [
        {"query_id": 7, "relevant_moment": [{"video_name": v, "timestamp": [s, e], "relevance": 4}]}
        for v, s, e, _ in moments[:1]
    ]
    (tmp_path / "val.json").write_text(json.dumps(truth))
    columns = read_truth(tmp_path / "val.json")
    with writing(settled.project.store) as db:
        for number, name in enumerate(("settled val", "settled val (kept)")):
            rows.add(db, Shelf.TRUTHS, columns, name=name, sha256=f"{number:064}", facts=Facts({}, {}), at=NOW, by=None)
    keep("mine", {"7": moments})
    shown = ["settled val", "settled test", "settled val (kept) (kept)", "settled val (kept)"]
    assert truth_names(settled.project, OPERATOR) == shown
    own, kept = (score_kept_runs(settled.project, OPERATOR, name) for name in (shown[0], shown[2]))
    assert own.scores is None, "no pair of the project has query 7"
    assert kept.scores is not None
    assert kept.scores.queries == (7,)
    assert kept.inputs.truth == f"settled val ({tmp_path / 'val.json'})"
    versions = {leaderboard_version(settled.project, OPERATOR, name) for name in shown}
    assert len(versions) == len(shown)
    remove_truth(settled.project, OPERATOR, "settled val", now=NOW)
    assert truth_names(settled.project, OPERATOR) == ["settled val", "settled test", "settled val (kept)"]


def test_queries_beyond_the_truth_are_ignored_and_the_option_says_so(settled: Judging, keep: Keep) -> None:
    keep("both splits", candidates(settled))
    keep("val only", candidates(settled, "val"))
    board = score_kept_runs(settled.project, OPERATOR, "settled val")
    assert board.scores is not None
    assert board.left_out == {}
    summary = board.scores.summary()
    assert "unknown=ignore" in score_sentence(summary)
    assert summary["options"] == {"unknown": "ignore"}
    assert summary["runs"][0]["measures"] == summary["runs"][1]["measures"]
    assert ["both splits: queries that the truth lacks were ignored" in text for text in summary["warnings"]] == [True]


def test_a_run_that_cannot_be_scored_is_left_out_with_its_reason(settled: Judging, keep: Keep) -> None:
    keep("good", candidates(settled))
    keep("test only", candidates(settled, "test"))
    board = score_kept_runs(settled.project, OPERATOR, "settled val")
    assert board.scores is not None
    assert [run.name for run in board.scores.runs] == ["good"]
    assert board.left_out == {"test only": "its query is not in this ground truth; choose settled test to score it"}
    assert [source.name for source in board.inputs.sources if source.what == "run"] == ["good (run.json)"]

    half = dict(list(candidates(settled, "val").items())[:1])
    keep("half", half)
    strict = leaderboard.score_kept_runs(settled.project, OPERATOR, "settled val", missing="error")
    (other,) = set(candidates(settled, "val")) - set(half)
    assert strict.left_out["half"].startswith(f"half: query {other} is missing (missing=zero")
    assert strict.left_out.keys() == {"half", "test only"}

    remove_run(settled.project, OPERATOR, "good", now=NOW)
    remove_run(settled.project, OPERATOR, "half", now=NOW)
    assert score_kept_runs(settled.project, OPERATOR, "settled val").scores is None


def test_the_version_changes_with_whatever_changes_the_leaderboard(
    settled: Judging, keep: Keep, tmp_path: Path
) -> None:
    def version() -> str:
        return leaderboard_version(settled.project, OPERATOR, "settled val")

    first = version()
    keep("a", candidates(settled))
    second = version()
    keep("b", candidates(settled, backwards=True))
    third = version()
    assert version() == third
    remove_run(settled.project, OPERATOR, "b", now=NOW)
    assert version() == second
    assert len({first, second, third}) == 3

    pair = next(p for p in settled.pairs() if p.relevance is None)
    adjudicate(settled.project, settled.lead, pair.pair, 3, "the cup is hers", now=NOW)
    adjudicated = version()
    assert adjudicated != second
    adjudicate(settled.project, settled.lead, pair.pair, 1, "it is not", seen=1, now=NOW + 1)
    assert version() not in (second, adjudicated)


def test_a_query_counts_once_nothing_of_it_waits_and_until_then_its_absence_is_told(
    judging: Judging, keep: Keep
) -> None:
    """It counted with its first settled pair, and 0 for whoever found one of the others."""
    project = judging.project
    first, second = (q.query_id for q in list_queries(project, OPERATOR) if q.split.value == "val")
    *early, last = [pair.pair for pair in query_pairs(project, OPERATOR, second)]
    for pair in [*(pair.pair for pair in query_pairs(project, OPERATOR, first)), *early]:
        for who in (0, 1):
            judging.grade(who, pair, 2)
    keep("mine", candidates(judging))
    board = score_kept_runs(project, OPERATOR, "settled val")
    assert board.scores is not None
    assert board.scores.queries == (first,)
    assert board.scores.summary()["notes"] == [
        "1 query has settled pairs and is not counted yet, because other pairs still wait for grades"
    ]
    page = report_page(board.scores, board.inputs, made=datetime(2026, 1, 2, tzinfo=UTC))
    assert "is not counted yet" in page
    before = leaderboard_version(project, OPERATOR, "settled val")
    judging.grade(0, last, 0)
    assert leaderboard_version(project, OPERATOR, "settled val") == before, "it settles nothing"
    judging.grade(1, last, 0)
    assert leaderboard_version(project, OPERATOR, "settled val") != before
    whole = score_kept_runs(project, OPERATOR, "settled val").scores
    assert whole is not None
    assert set(whole.queries) == {first, second}
    assert "notes" not in whole.summary()


def test_another_truth_under_the_same_name_is_another_version(settled: Judging, tmp_path: Path) -> None:
    """The moments may be equal and the words of the queries not: the page shows both."""
    seen = set()
    for text in ("A cup falls", "A cup is dropped"):
        moments = [{"video_name": "v", "timestamp": [0, 1], "relevance": 2}]
        (tmp_path / "val.json").write_text(json.dumps([{"query_id": 1, "query": text, "relevant_moment": moments}]))
        add_truth(settled.project, OPERATOR, tmp_path / "val.json", now=NOW)
        seen.add(leaderboard_version(settled.project, OPERATOR, "val"))
        remove_truth(settled.project, OPERATOR, "val", now=NOW)
    assert len(seen) == 2


def test_every_query_that_counts_is_offered_once_and_those_where_runs_differ_first(
    settled: Judging, keep: Keep
) -> None:
    run = candidates(settled, "val")
    first, second = run
    keep("whole", run)
    keep("half", {first: run[first], second: run[second][::-1]})
    board = score_kept_runs(settled.project, OPERATOR, "settled val")
    assert board.scores is not None
    offered = notable_queries(board.scores)
    assert board.scores.queries[next(iter(offered))] == int(second)
    assert sorted(offered) == [0, 1]
    assert offered[board.scores.queries.index(int(second))] == "differ"


def test_under_skip_only_queries_that_all_runs_answer_are_offered(settled: Judging, keep: Keep) -> None:
    run = candidates(settled, "val")
    first, second = run
    keep("one", {first: run[first]})
    alone = score_kept_runs(settled.project, OPERATOR, "settled val", preset="tvr-ranking").scores
    assert alone is not None
    assert [alone.queries[n] for n in notable_queries(alone)] == [int(first)]
    keep("other", {second: run[second]})
    both = score_kept_runs(settled.project, OPERATOR, "settled val", preset="tvr-ranking").scores
    assert both is not None
    assert notable_queries(both) == {}


@pytest.mark.parametrize("name", ["val.json", "val.json.gz"])
def test_a_kept_truth_brings_its_texts_and_its_report(settled: Judging, keep: Keep, tmp_path: Path, name: str) -> None:
    run = candidates(settled)
    truth = [
        {
            "query_id": 7,
            "query": "A cup falls",
            "relevant_moment": [{"video_name": v, "timestamp": [s, e], "relevance": 4} for v, s, e, _ in moments],
        }
        for moments in list(run.values())[:1]
    ]
    content = json.dumps(truth).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    add_truth(settled.project, OPERATOR, tmp_path / name, name="last year", now=NOW)
    keep("mine", {"7": next(iter(run.values()))})
    keep("candidates", run)
    board = score_kept_runs(settled.project, OPERATOR, "last year")
    assert board.scores is not None
    assert dict(board.inputs.facts.texts) == {"7": "A cup falls"}
    assert set(board.left_out) == {"candidates"}
    assert board.scores.runs[0].means["ndcg@10,0.5"] == 1
    page = report_page(board.scores, board.inputs, made=datetime(2026, 1, 2, tzinfo=UTC), asked=Sureness(None))
    for told in ("A cup falls", f"last year ({name})", "mine (run.json)", "unknown=ignore"):
        assert told in page
    (kept,) = list_truths(settled.project, OPERATOR)
    assert kept.sha256 in page


def test_lengths_of_videos_are_kept_with_the_files_that_tell_them(settled: Judging, tmp_path: Path) -> None:
    """They were lost, and every bar of a case ended with the last moment of its video."""
    project = settled.project
    moments = [{"video_name": v, "timestamp": [0, 9], "relevance": 4, "duration": 30} for v in ("elsewhere", "v0")]
    truth = [{"query_id": 7, "query": "A cup falls", "relevant_moment": moments}]
    for name, document in (
        ("val.json", truth),
        ("map.json", {"elsewhere": [31.0, 0], "of a run": [40.0, 1]}),
        ("run.json", {"7": [[1, 0, 10, 1.0], [0, 15, 30, 0.9], [0, 9, 12, 0.5]]}),
        ("names.json", {"7": [["nowhere", 0, 10, 1.0]]}),
    ):
        (tmp_path / name).write_text(json.dumps(document))
    add_truth(project, OPERATOR, tmp_path / "val.json", name="last year", now=NOW)
    add_run(project, OPERATOR, tmp_path / "run.json", videos=tmp_path / "map.json", now=NOW)
    board = score_kept_runs(project, OPERATOR, "last year")
    assert board.scores is not None
    told = board.inputs.facts.durations
    assert (told["elsewhere"], told["of a run"]) == (30, 40), "the truth knows it better than a run's map"
    assert told["v0"] == 60, "and the project has measured it"
    (case,) = board.scores.cases([0])
    view = score_case(board.scores, case, ["run"], board.inputs.facts)
    assert [(card.bar.left, card.bar.width) for card in view.lanes[0].predictions] == [(0, 25), (50, 50), (30, 10)]
    assert case_bars_told(view.unmeasured) == ""
    add_run(project, OPERATOR, tmp_path / "names.json", now=NOW)
    board = score_kept_runs(project, OPERATOR, "last year")
    assert board.scores is not None
    (case,) = board.scores.cases([0])
    view = score_case(board.scores, case, ["names"], board.inputs.facts)
    assert case_bars_told(view.unmeasured).startswith("The duration of 1 video is unknown")
    assert case_bars_told(view.unmeasured) in report_page(
        board.scores, board.inputs, made=datetime(2026, 1, 2, tzinfo=UTC)
    )


def test_what_was_kept_before_lengths_were_is_read_as_before(settled: Judging, keep: Keep) -> None:
    keep("mine", candidates(settled))
    db = settled.project.store.db.conn
    names = [row[1] for row in db.execute("PRAGMA table_info(kept_run)") if row[1] not in ("kept_run_id", "name")]
    older = ", ".join("(SELECT json_group_array(key) FROM json_each(videos))" if n == "videos" else n for n in names)
    with writing(settled.project.store):
        db.execute(f"INSERT INTO kept_run (name, {', '.join(names)}) SELECT 'older', {older} FROM kept_run")
    ours, older = (load_run(settled.project, OPERATOR, name) for name in ("mine", "older"))
    assert ours.videos == older.videos
    assert rows.facts(settled.project.store.db, Shelf.RUNS, "older").durations == {}
    assert score_kept_runs(settled.project, OPERATOR, "settled val").left_out == {}


def test_the_projects_own_truth_has_its_queries_texts_and_lengths(settled: Judging, keep: Keep) -> None:
    keep("mine", candidates(settled))
    board = score_kept_runs(settled.project, OPERATOR, "settled val")
    val = {q.query_id: q.query for q in list_queries(settled.project, OPERATOR) if q.split.value == "val"}
    assert dict(board.inputs.facts.texts) == {str(number): text for number, text in val.items()}
    assert board.inputs.facts.durations["v0"] == 60
    assert [source.what for source in board.inputs.sources] == ["truth", "run"]
    assert board.inputs.truth == f"settled pairs of {settled.project.name}, val queries"


def test_a_leaderboard_comes_back_from_a_backup(settled: Judging, keep: Keep, tmp_path: Path) -> None:
    keep("mine", candidates(settled))
    before = leaderboard_version(settled.project, OPERATOR, "settled val")
    backup(settled.project, tmp_path / "copy.db")
    remove_run(settled.project, OPERATOR, "mine", now=NOW)
    settled.project.store.close()
    restore(settled.project.folder, tmp_path / "copy.db", now=NOW)
    again = open_project(settled.project.folder)
    assert leaderboard_version(again, OPERATOR, "settled val") == before
    scores = score_kept_runs(again, OPERATOR, "settled val").scores
    assert scores is not None
    assert [run.name for run in scores.runs] == ["mine"]


def test_the_runs_of_the_demo_lose_what_they_were_made_to_lose(settled: Judging) -> None:
    demo.keep_runs(settled.project, now=NOW)
    kept = list_runs(settled.project, OPERATOR)
    assert [(run.name, run.queries, run.moments) for run in kept] == [
        ("similarity (demo)", 3, 60),
        ("similarity, loose boundaries (demo)", 3, 60),
        ("any order (demo)", 3, 60),
    ]
    scores = score_kept_runs(settled.project, OPERATOR, "settled val").scores
    assert scores is not None
    loose, shuffled, close = (run.means for run in scores.runs)
    assert [run.upper_bound for run in scores.runs] == [False, False, True], "the first is what captions find"
    # All three hold the same candidates, which are the truth's own moments; only `loose` has other boundaries.
    assert close["recall@20,0.7"] == shuffled["recall@20,0.7"] == 1
    assert loose["axiou@20"] < close["axiou@20"]
    assert close["ndcg@20,0.5"] != shuffled["ndcg@20,0.5"]
