"""`reelrank truths` and `reelrank runs`: add, list, remove."""

import hashlib
import json
from pathlib import Path

from backend.campaign.setup.project.folder import Project
from cli.conftest import Run
from support import NOW


def test_a_run_is_added_listed_and_removed(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder, path = corpus_project.folder, tmp_path / "mine.json"
    path.write_text('{"5": [["v0", 0, 1.5, 0.3]]}')
    assert reelrank("runs", "add", folder, path, "--name", "first") == (
        *(0, "Added first: 1 query, 1 prediction.\n", ""),
    )
    code, out, err = reelrank("runs", "list", folder, "--json")
    (row,) = json.loads(out)
    assert (code, err) == (0, "")
    assert row.pop("added_at") > NOW - 1e9
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert row == {
        "name": "first",
        "file": "mine.json",
        "sha256": sha256,
        "added_by": None,
        "queries": 1,
        "moments": 1,
    }
    code, out, _ = reelrank("runs", "list", folder)
    assert (code, "first" in out, sha256[:12] in out) == (0, True, True)
    assert reelrank("runs", "remove", folder, "first")[:2] == (0, "Removed first (from mine.json).\n")
    assert json.loads(reelrank("runs", "list", folder, "--json")[1]) == []


def test_a_truth_is_added_listed_and_removed(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder, path = corpus_project.folder, tmp_path / "truth.csv"
    path.write_text("query_id,video,start,end,relevance\n5,v0,0,1.5,3\n")
    assert reelrank("truths", "add", folder, path)[:2] == (0, "Added truth: 1 query, 1 graded moment.\n")
    assert [row["name"] for row in json.loads(reelrank("truths", "list", folder, "--json")[1])] == ["truth"]
    assert "truth.csv" in reelrank("truths", "list", folder)[1]
    assert reelrank("truths", "remove", folder, "truth")[0] == 0


def test_a_refused_run_is_one_message_and_code_1(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"5": [["v0", 3, 1.5, 0.3]]}')
    code, out, err = reelrank("runs", "add", corpus_project.folder, path)
    assert (code, out) == (1, "")
    assert err == "reelrank: mine.json, row 1: query 5, moment 1: end 1.5 is not after start 3.0\n"
    code, _, err = reelrank("runs", "remove", corpus_project.folder, "mine")
    assert (code, err) == (1, "reelrank: there is no run called mine; the project has none yet\n")


def test_a_run_is_added_as_an_upper_bound(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder, path = corpus_project.folder, tmp_path / "mine.json"
    path.write_text('{"5": [["v0", 0, 1.5, 0.3]]}')
    for name, options in (("ours", ["--upper-bound"]), ("caption", []), ("plain", [])):
        reelrank.out("runs", "add", folder, path, "--name", name, *options)
    listed = reelrank.out("runs", "list", folder)
    assert [line.partition("  ")[0] for line in listed.splitlines()[1:]] == [
        *("ours (upper bound)", "caption (upper bound)", "plain"),
    ]
    rows = json.loads(reelrank.out("runs", "list", folder, "--json"))
    assert [row.get("upper_bound") for row in rows] == [True, True, None]
    # Removed and added again without the mark, it has none.
    reelrank.out("runs", "remove", folder, "ours")
    reelrank.out("runs", "add", folder, path, "--name", "ours")
    assert "ours (upper bound)" not in reelrank.out("runs", "list", folder)
