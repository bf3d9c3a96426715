"""`reelrank mvmr negatives`: from an annotation file to files for training, or nothing and a reason."""

import json
from pathlib import Path

import pytest

from backend.encoders import sentence
from cli.conftest import Run
from support import WordEncoder

LINES = "video,start,end,caption\na,0,2,A dog runs.\nb,0,2,A man pours tea.\nc,0,2,A dog runs.\nc,2,4,A cat sits.\n"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "corpus.csv").write_text(LINES)
    return tmp_path / "corpus.csv"


def test_it_says_what_it_wrote(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    out = reelrank.out("mvmr", "negatives", corpus, tmp_path / "out", "--t-tr", "0.85", "--temperature", "0.2")
    assert out.startswith("4 queries and 3 videos (")
    assert "words-64" in out
    # a and c share a sentence: b is all that the two queries with it may have; of b's and of c's last, two each.
    assert "videos of a query" in out
    assert "1.5" in out
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert (manifest["threshold"], manifest["temperature"], manifest["potential_videos"]) == (0.85, 0.2, 1.5)
    assert list((tmp_path / "cache/reelrank/embeddings").rglob("*.npy")), "kept for the next call"


def test_scores_of_a_run(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    run = {"a#0": [["a", 0, 2, 0.9], ["b", 0, 2, 0.8]], "b#0": [["b", 0, 2, 0.7]], "c#0": [["c", 0, 2, 0.9]]}
    (tmp_path / "run.json").write_text(json.dumps(run | {"c#1": [["c", 2, 4, 0.9], ["b", 0, 2, 0.1]]}))
    out = reelrank.out(
        "mvmr", "negatives", corpus, tmp_path / "out", "--t-tr", "0.85", "--from-run", tmp_path / "run.json"
    )
    assert "Run: run.json has a score for 50.0% of all pairs; others count as its lowest one." in out
    assert "--temperature" not in out
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert (manifest["temperature"], manifest["run"], manifest["run_share"]) == (None, "run.json", 0.5)


def test_vectors_are_kept_where_it_is_told(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    assert reelrank("mvmr", "negatives", corpus, tmp_path / "out", "--embeddings", tmp_path / "here")[0] == 0
    assert list((tmp_path / "here").rglob("*.npy"))
    assert not (tmp_path / "cache").exists()


def test_who_has_no_negative_is_told_of(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    corpus.write_text("video,start,end,caption\na,0,2,A dog runs.\nb,0,2,A dog runs.\n")
    out = reelrank.out("mvmr", "negatives", corpus, tmp_path / "out")
    assert "Note: 2 queries have no potential negative" in out
    assert "Note: 2 videos have no potential negative" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--t-tr", "1.2"], "the threshold is 1.2: write a similarity above 0 and at most 1"),
        (["--temperature", "0"], "the temperature is 0: write at least 0.03"),
        (["--format", "jsonl"], "corpus.csv, row 1:"),
    ],
)
def test_refusals_leave_nothing(reelrank: Run, corpus: Path, tmp_path: Path, options: list[str], message: str) -> None:
    assert message in reelrank.refusal("mvmr", "negatives", corpus, tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_is_left_alone(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    assert "exists already and is not empty" in reelrank.refusal("mvmr", "negatives", corpus, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_what_is_no_query_is_told_of(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    corpus.write_text(LINES + "a,0,2,A dog runs.\n")
    out = reelrank.out("mvmr", "negatives", corpus, tmp_path / "out")
    assert out.startswith("4 queries and 3 videos (")
    assert "Note: 1 left out: it repeats an earlier one's video, span and caption" in out
