"""`reelrank import`: what it says of a file, and of what it left out."""

import json
from pathlib import Path

import pytest

from backend.campaign.setup.project.sentence_encoder import init_project
from cli.conftest import Run

EXAMPLES = Path(__file__).parents[2] / "assets" / "example" / "corpora"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init_project(tmp_path / "project", encoder="minilm").store.close()
    return tmp_path / "project"


def test_the_summary_tells_what_was_taken_and_what_was_not_and_why(reelrank: Run, folder: Path) -> None:
    code, out, err = reelrank("import", folder, EXAMPLES / "activitynet.json")
    assert (code, err) == (0, "")
    assert "activitynet.json: format activitynet, told from its content (" in out
    words = " ".join(out.split())
    assert "what taken new videos 2 2 moments 3 3 captions 3 3" in words
    assert "1 the end is not after the start video v_aBcDeFgHiJk, sentence 3" in words
    assert "Note: sentences with white space around them, stripped: 2" in words
    _, again, _ = reelrank("import", folder, EXAMPLES / "activitynet.json", "--format", "activitynet")
    assert "activitynet.json: format activitynet (" in again
    assert "videos 2 0 moments 3 0 captions 3 0" in " ".join(again.split())


def test_tvr_says_which_lines_it_took(reelrank: Run, folder: Path) -> None:
    _, out, _ = reelrank("import", folder, EXAMPLES / "tvr.jsonl")
    assert "Note: lines of type v were taken (--type). The paper takes v, purely visual" in out
    assert "captions 1 1" in " ".join(out.split())
    _, out, _ = reelrank("import", folder, EXAMPLES / "tvr.jsonl", "--type", "t,vt")
    assert "Note: lines of type t,vt were taken" in out
    _, out, _ = reelrank("import", folder, EXAMPLES / "tvr.jsonl", "--type", "all")
    assert "Note: lines of every type were taken" in out
    assert "captions 3 0" in " ".join(out.split())


def test_a_dry_run_says_so_and_writes_nothing(reelrank: Run, folder: Path) -> None:
    code, out, _ = reelrank("import", folder, EXAMPLES / "tacos.json", "--dry-run")
    assert code == 0
    words = " ".join(out.split())
    assert "what taken would be new videos 1 1 moments 2 2 captions 2 2" in words
    assert "1 it repeats an earlier one's video, span and caption: merged" in words
    assert out.endswith("Nothing was written: this was a dry run.\n")
    _, status, _ = reelrank("status", folder, "--json")
    assert (json.loads(status)["videos"], json.loads(status)["captions"]) == (0, 0)


def test_columns_of_any_name(reelrank: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("clip,begin,finish,what,duration\na,1,3,A dog runs.,9\n")
    code, _, err = reelrank("import", folder, path)
    assert code == 1
    assert "the header 'clip,begin,finish,what,duration' has no 'video', 'start', 'end', 'caption': say with" in err
    called = "video=clip,start=begin,end=finish,caption=what"
    code, out, _ = reelrank("import", folder, path, "--columns", called)
    assert code == 0
    assert "format csv, told from its content" in out
    code, _, err = reelrank("import", folder, EXAMPLES / "tvr.jsonl", "--columns", called)
    assert (code, err) == (1, "reelrank: tvr.jsonl: --columns is for csv and jsonl; this is tvr\n")
