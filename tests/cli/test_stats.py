"""The row of a corpus, project or release on the command line."""

import json
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from cli.conftest import Run
from support import NOW, Judging

DEMO = Path(__file__).parents[2] / "assets/demo/moments.jsonl"


def test_the_table_names_tokeniser_and_verb_list(reelrank: Run) -> None:
    code, out, err = reelrank("stats", DEMO, "--format", "jsonl")
    assert (code, err) == (0, "")
    lines = [json.loads(text) for text in DEMO.read_text().splitlines()]
    rows = {" ".join(row.split()[:-1]): row.split()[-1] for row in out.splitlines() if row}
    assert rows["queries"] == str(len(lines))
    assert rows["distinct queries"] == str(len({line["caption"] for line in lines}))
    assert rows["videos"] == str(len({line["video"] for line in lines}))
    assert "words: lower-case runs of letters and digits" in out
    assert "LemmInflect 0.2.3" in out


def test_json_is_json_alone(reelrank: Run, judging: Judging) -> None:
    code, out, err = reelrank("stats", judging.project.folder, "--json")
    assert (code, err) == (0, "")
    row = json.loads(out)
    assert row["parts"] == {"val": 2, "test": 1, "train": 45}
    assert set(row) >= {"queries", "moments", "videos", "vocabulary", "verbs_at_least", "tokeniser", "verb_list"}


def test_the_parts_are_told_where_there_are_several(reelrank: Run, judging: Judging) -> None:
    _, out, _ = reelrank("stats", judging.project.folder)
    assert [row.split() for row in out.splitlines()[1:5]] == [
        ["queries", "48"],
        ["val", "2"],
        ["test", "1"],
        ["train", "45"],
    ]


def test_how_files_are_read_is_nothing_to_say_of_a_folder(reelrank: Run, judging: Judging) -> None:
    code, _, err = reelrank("stats", judging.project.folder, "--type", "all")
    assert code == 2
    assert "are for annotation files, not for a folder" in " ".join(err.split())


def test_a_folder_that_is_neither_is_told_so(reelrank: Run, tmp_path: Path) -> None:
    code, out, err = reelrank("stats", tmp_path)
    assert (code, out) == (1, "")
    assert "neither a project" in err


def test_a_release_is_told_by_split_too(
    reelrank: Run, judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    for who in (0, 1):
        for pair in judging.pairs():
            judging.grade(who, pair.pair, 3)
    export_release(judging.project, OPERATOR, tmp_path / "out", now=NOW)
    code, out, err = reelrank("stats", tmp_path / "out")
    assert (code, err) == (0, "")
    rows = {" ".join(row.split()): row for row in out.splitlines()}
    assert "queries 2 1 3" in rows
    assert "pairs of relevance 3 40 (100.0 %) 20 (100.0 %) 60 (100.0 %)" in rows
    assert "queries handed out in 1 batch 2 (100.0 %) 1 (100.0 %) 3 (100.0 %)" in rows
    _, out, _ = reelrank("stats", tmp_path / "out", "--json")
    told, manifest = json.loads(out), json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert told["release"] == manifest["statistics"]
    assert told["parts"]["val"] == told["release"]["parts"][0]["queries"] == 2
