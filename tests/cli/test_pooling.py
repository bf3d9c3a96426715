"""`candidates --pool`: what it says, and what it refuses."""

import json
from pathlib import Path

from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project
from cli.conftest import Run
from support import NOW


def test_runs_are_pooled_at_first_and_again(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder = corpus_project.folder
    draw_queries(corpus_project, OPERATOR, val=1, test=1, seed=5, now=NOW)
    query = corpus_project.store.db.conn.execute("SELECT query_id FROM query WHERE split = 'val'").fetchone()[0]
    for name, place in (("ours", ["v0", 0, 2.4]), ("theirs", ["v0", 40, 50]), ("late", ["v1", 40, 50])):
        (tmp_path / f"{name}.json").write_text(json.dumps({query: [[*place, 0.5]]}))
    first = ("candidates", folder, "--pool", tmp_path / "ours.json", f"B={tmp_path / 'theirs.json'}", "--no-captions")
    code, out, _ = reelrank(*first, "--dry-run")
    told = "1 queries, 2 candidates, of which 1 are moments that the project did not have; 2 pairs"
    assert (code, f"{told} would be open" in out, out.endswith("Nothing was written.\n")) == (0, True, True), out
    code, out, _ = reelrank(*first)
    assert (code, f"{told} open for judging" in out) == (0, True), out
    assert [line.split() for line in out.splitlines()[1:3]] == [["B", "1", "1", "1", "1"], ["ours", "1", "1", "1", "1"]]
    assert "nothing was found for 1 queries" in out
    code, _, err = reelrank("candidates", folder, "--pool", tmp_path / "late.json")
    assert (code, "exist already (made with B, ours)" in err) == (1, True)
    code, out, _ = reelrank("candidates", folder, "--pool", tmp_path / "late.json", "--again")
    assert (code, "1 queries, 1 new candidates" in out) == (0, True), out
    code, out, _ = reelrank("status", folder)
    assert (code, "candidates from B, ours, late" in out) == (0, True), out


def test_options_that_do_not_go_together_are_refused(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    for options, why in (
        (("--again",), "goes with --pool"),
        (("--pool", "a.json", "--probe", 3), "leave --probe out"),
        (("--pool", "a.json", "--again", "--batch-size", 10), "leave --batch-size out"),
    ):
        code, _, err = reelrank("candidates", corpus_project.folder, *options)
        assert (code, why in err) == (1, True), err
