"""The commands queries, candidates and probe-figures: what they say, and what is wrong usage."""

from pathlib import Path

from backend.campaign.setup.project.folder import Project
from cli.conftest import Run
from support import MOMENTS, Judging


def test_queries_are_drawn_brought_and_taken_back(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder = corpus_project.folder
    (tmp_path / "q.txt").write_text(f"{MOMENTS[3].caption}\nWhere is the tea?\n")
    code, out, err = reelrank("queries", folder, "--val", "2", "--from", tmp_path / "q.txt", "--seed", "4")
    assert (code, err) == (0, "")
    assert "2 validation, 2 test and 45 training queries, 2 of them from q.txt, seed 4" in out
    assert "Removed from training: 1 captions with the text of a validation or test query." in out
    code, out, _ = reelrank("queries", folder, "--write", tmp_path / "queries.csv")
    assert (code, out.startswith(f"Written: {tmp_path / 'queries.csv'}.")) == (0, True)
    head, *lines = (tmp_path / "queries.csv").read_text().splitlines()
    asked = corpus_project.store.db.conn.execute(
        "SELECT query_id, split, text FROM query WHERE split <> 'train' ORDER BY position"
    )
    assert (head, lines) == ("query_id,split,query", [",".join(map(str, row)) for row in asked])
    assert reelrank("queries", folder, "--write", tmp_path / "queries.csv", "--undo")[0] == 2
    code, _, err = reelrank("queries", folder, "--val", "1")
    assert code == 1
    assert f"Until the first grade, `reelrank queries {folder} --undo` takes them back" in err
    code, out, _ = reelrank("queries", folder, "--undo")
    assert (code, out) == (0, "Taken back: 49 queries, 0 candidates, 0 pairs.\n")


def test_a_command_that_says_nothing_or_two_things_is_wrong_usage(reelrank: Run, corpus_project: Project) -> None:
    code, _, err = reelrank("queries", corpus_project.folder)
    assert (code, "bring your own with --from FILE" in err) == (2, True)
    assert reelrank("queries", corpus_project.folder, "--undo", "--val", "3")[0] == 2


def test_a_draw_over_shows_needs_names_that_tell_them(reelrank: Run, corpus_project: Project) -> None:
    code, _, err = reelrank("queries", corpus_project.folder, "--val", "2", "--stratify", "show")
    assert (code, "the show of 6 of 6 videos cannot be told from the name (v0, v1, v2 ...)" in err) == (1, True)
    code, out, _ = reelrank(
        "queries", corpus_project.folder, "--val", "6", "--stratify", "show", "--show-of", r"v(\d)", "--seed", "1"
    )
    assert (code, "6 validation" in out) == (0, True)


def test_probes_are_told_of_and_drawn(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder = judging.project.folder
    assert reelrank("queries", folder, "--undo")[0] == 0
    assert reelrank("queries", folder, "--val", "2", "--test", "1", "--seed", "5")[0] == 0
    code, out, err = reelrank("candidates", folder, "--batch-size", "10", "--probe", "1", "--seed", "3")
    assert (code, err) == (0, "")
    assert "3 queries, 120 candidates, 30 pairs open for judging" in out
    assert (
        "1 of the queries are probed: 38 further pairs, which no release holds. Once they are judged: reelrank " in out
    )
    code, _, err = reelrank("batches", "depth", folder, tmp_path / "out")
    assert (code, "none of the 48 pairs of probed queries has a relevance yet" in err) == (1, True)
    for pair in judging.pairs():
        judging.grade(0, pair.pair, 3)
        judging.grade(1, pair.pair, 3)
    code, out, _ = reelrank("batches", "depth", folder, tmp_path / "out")
    assert (code, "48 of 48 pairs of 1 probed queries have a relevance." in out) == (0, True)
    names = ("probe-bins.csv", "probe-pairs.csv", "probe.png", "probe.svg")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*names]
    code, out, _ = reelrank("status", folder)
    assert [line.split() for line in out.splitlines() if line.startswith("probes")] == [
        ["probes", "queries", "1"],
        ["probes", "pairs", "38"],
    ]
