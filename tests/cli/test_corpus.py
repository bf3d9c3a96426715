"""`reelrank import` and `reelrank stats`: what they say of a file, project or release, and of what was left out."""

import json
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project.sentence_encoder import init_project
from cli.conftest import Run
from support import NOW, Judging

EXAMPLES = Path(__file__).parents[2] / "assets" / "example" / "corpora"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init_project(tmp_path / "project", encoder="minilm").store.close()
    return tmp_path / "project"


def test_the_summary_tells_what_was_taken_and_what_was_not_and_why(reelrank: Run, folder: Path) -> None:
    out = reelrank.out("import", folder, EXAMPLES / "activitynet.json")
    assert "activitynet.json: format activitynet, detected from its content (" in out
    words = " ".join(out.split())
    assert "what read new videos 2 2 moments 3 3 captions 3 3" in words
    assert "1 the end is not after the start video v_aBcDeFgHiJk, sentence 3" in words
    assert "Note: sentences stripped of surrounding white space: 2" in words
    _, again, _ = reelrank("import", folder, EXAMPLES / "activitynet.json", "--format", "activitynet")
    assert "activitynet.json: format activitynet (" in again
    assert "videos 2 0 moments 3 0 captions 3 0" in " ".join(again.split())


def test_tvr_says_which_lines_it_took(reelrank: Run, folder: Path) -> None:
    _, out, _ = reelrank("import", folder, EXAMPLES / "tvr.jsonl")
    assert "Note: lines of type v were imported. The paper uses v, purely visual" in out
    assert "captions 1 1" in " ".join(out.split())
    _, out, _ = reelrank("import", folder, EXAMPLES / "tvr.jsonl", "--type", "t,vt")
    assert "Note: lines of type t,vt were imported" in out
    _, out, _ = reelrank("import", folder, EXAMPLES / "tvr.jsonl", "--type", "all")
    assert "Note: lines of every type were imported" in out
    assert "captions 3 0" in " ".join(out.split())


def test_a_dry_run_says_so_and_writes_nothing(reelrank: Run, folder: Path) -> None:
    out = reelrank.out("import", folder, EXAMPLES / "tacos.json", "--dry-run")
    words = " ".join(out.split())
    assert "what read would be new videos 1 1 moments 2 2 captions 2 2" in words
    assert "1 video, span and caption of an earlier row: merged" in words
    assert out.endswith("Nothing was written: this was a dry run.\n")
    _, status, _ = reelrank("status", folder, "--json")
    assert (json.loads(status)["videos"], json.loads(status)["captions"]) == (0, 0)


def test_columns_of_any_name(reelrank: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("clip,begin,finish,what,duration\na,1,3,A dog runs.,9\n")
    assert (
        "the header 'clip,begin,finish,what,duration' has no 'video', 'start', 'end', 'caption': name the columns"
        in reelrank.refusal("import", folder, path)
    )
    called = "video=clip,start=begin,end=finish,caption=what"
    assert "format csv, detected from its content" in reelrank.out("import", folder, path, "--columns", called)
    assert (
        reelrank.refusal("import", folder, EXAMPLES / "tvr.jsonl", "--columns", called)
        == "reelrank: tvr.jsonl: --columns works only with csv and jsonl: this file is tvr\n"
    )


DEMO = Path(__file__).parents[2] / "assets/demo/moments.jsonl"


def test_the_table_names_tokeniser_and_verb_list(reelrank: Run) -> None:
    out = reelrank.out("stats", DEMO, "--format", "jsonl")
    lines = [json.loads(text) for text in DEMO.read_text().splitlines()]
    rows = {" ".join(row.split()[:-1]): row.split()[-1] for row in out.splitlines() if row}
    assert rows["queries"] == str(len(lines))
    assert rows["distinct queries"] == str(len({line["caption"] for line in lines}))
    assert rows["videos"] == str(len({line["video"] for line in lines}))
    assert "words: lower-case runs of letters and digits" in out
    assert "LemmInflect 0.2.3" in out


def test_json_is_json_alone(reelrank: Run, judging: Judging) -> None:
    out = reelrank.out("stats", judging.project.folder, "--json")
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
    assert "neither a project" in reelrank.refusal("stats", tmp_path)


def test_a_release_is_told_by_split_too(
    reelrank: Run, judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    for who in (0, 1):
        for pair in judging.pairs():
            judging.grade(who, pair.pair, 3)
    export_release(judging.project, OPERATOR, tmp_path / "out", now=NOW)
    out = reelrank.out("stats", tmp_path / "out")
    rows = {" ".join(row.split()): row for row in out.splitlines()}
    assert "what pseudo training, top 40 validation test both" in rows
    assert "queries 45 2 1 3" in rows
    assert "pairs of relevance 3 - 40 (100.0 %) 20 (100.0 %) 60 (100.0 %)" in rows
    assert "queries handed out in 1 batch - 2 (100.0 %) 1 (100.0 %) 3 (100.0 %)" in rows
    _, out, _ = reelrank("stats", tmp_path / "out", "--json")
    told, manifest = json.loads(out), json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert told["release"] == manifest["statistics"]
    assert told["parts"]["val"] == told["release"]["parts"][0]["queries"] == 2
    assert [part["part"] for part in told["by_part"]] == ["val", "test", "train_top40"]
    assert told["by_part"][2] == told["release"]["training"] == manifest["statistics"]["training"]
    assert told["release"]["training"]["queries"] == 45
