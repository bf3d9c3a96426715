"""Building pools on the command line, of an annotation file and of a project."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from backend.campaign.corpus.importing import rows as importing_rows
from backend.campaign.setup.project.folder import Project
from backend.encoders import sentence
from backend.media.sources import VideoFacts
from backend.store.connection import writing
from cli.conftest import Run
from support import WordEncoder


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six videos that say the same, and six that say something else each."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines = [
        {"video": f"v{n}", "start": 1, "end": 4, "duration": 9, "caption": "He sits." if n < 6 else f"Word{n} word{n}."}
        for n in range(12)
    ]
    path = tmp_path / "moments.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_an_annotation_file_becomes_pools(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "pools"
    said = reelrank.out("mvmr", "build", corpus, out, "--pool", 6, "--encoder", "minilm", "--seed", 3)
    rows = {" ".join(row.split()[:-1]): row.split()[-1] for row in said.split("\n\n")[0].splitlines()}
    assert rows["queries with a pool of 6"] == "12"
    assert rows["positive videos per query, mean, own included"] == "3.000"  # six have 5, six have 1
    assert "Visual: text alone." in said
    assert "Captions: as published." in said
    assert "thresholds 0.9 and 0.5 are the paper's, for sup-simcse-roberta-large" in said
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "pairs.csv", "pools.json"]
    assert list((tmp_path / "cache/reelrank/embeddings").rglob("*.npy"))
    assert json.loads(reelrank.out("mvmr", "stats", out / "pools.json", "--json"))["positives"] == 3


def test_a_project_has_its_own_encoder_and_captions(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    out = tmp_path / "pools"
    call = ("mvmr", "build", corpus_project.folder, out, "--pool", 3, "--t-neg", 0.8)
    code, _, err = reelrank(*call, "--encoder", "minilm", "--format", "csv")
    assert code == 2
    assert "leave out --encoder, --format" in " ".join(err.replace("│", " ").split())
    said = reelrank.out(*call, "--t-pos", "0.99", "--as-published")
    assert "Encoder: words-64" in said
    assert "the paper's" not in said
    assert json.loads((out / "manifest.json").read_bytes())["as_published"]
    assert list(corpus_project.embeddings.rglob("*.npy"))


def test_videos_that_are_there_but_not_compared_are_told(
    reelrank: Run, corpus: Path, corpus_project: Project, tmp_path: Path
) -> None:
    note = "only the text decided, but the videos are there: --visual emscore compares them"
    of_file = ("mvmr", "build", corpus, tmp_path / "a", "--pool", 6, "--encoder", "minilm")
    assert note not in reelrank.out(*of_file)
    assert note in reelrank.out(*of_file[:3], tmp_path / "b", *of_file[4:], "--videos", tmp_path)
    of_project = ("mvmr", "build", corpus_project.folder, tmp_path / "c", "--pool", 3, "--t-neg", 0.8)
    assert note not in reelrank.out(*of_project)
    facts = VideoFacts("v.mp4", Fraction(25), 60.0, width_px=64, height_px=48, has_audio=False, sha256="0" * 64)
    with writing(corpus_project.store) as db:
        importing_rows.set_video_facts(db, dict.fromkeys(importing_rows.video_durations(db), facts))
    assert note in reelrank.out(*of_project[:3], tmp_path / "d", *of_project[4:])


def test_imprecise_captions_are_taken_where_there_are_some(
    reelrank: Run, corpus_project: Project, tmp_path: Path
) -> None:
    with (corpus_project.folder / "reelrank.toml").open("a") as settings:
        settings.write('Anna = "a woman"\nBoris = "a man"\nCarla = "a woman"\nDev = "a man"\n')
    assert reelrank("rewrite", corpus_project.folder)[0] == 0
    assert "Captions: 48 imprecise, 0 as published." in reelrank.out(
        "mvmr", "build", corpus_project.folder, tmp_path / "pools", "--pool", 3, "--t-neg", 0.9, "--t-pos", 0.99
    )
    assert "Anna" not in (tmp_path / "pools/pools.json").read_text()


def test_short_and_undistracted_queries_are_named(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    said = reelrank.out("mvmr", "build", corpus, tmp_path / "pools", "--pool", 8, "--positives", 1)
    # Six other videos distract from "He sits.", eleven from each of the others.
    assert "Short, and dropped: v0#0, v1#0, v2#0, v3#0, v4#0 and 1 more." in said
    assert (
        "Without a distractor: every video of the pool is positive: v0#0, v1#0, v2#0, v3#0, v4#0 and 1 more."
        in reelrank.out("mvmr", "build", corpus, tmp_path / "small", "--pool", 5)
    )


def test_what_is_wrong_is_said_before_anything_is_written(reelrank: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "pools"
    code, _, err = reelrank("mvmr", "build", corpus, out, "--t-pos", 0.4)
    assert (code, err) == (
        1,
        "reelrank: a video is negative up to t_neg and positive from t_pos on, so t_neg 0.5 has to be below t_pos 0.4, "
        "both from -1 to 1\n",
    )
    code, _, err = reelrank("mvmr", "build", corpus, out, "--t-pos", 0.4, "--thresholds", corpus)
    assert code == 2
    assert "is not a file of thresholds" in reelrank.refusal("mvmr", "build", corpus, out, "--thresholds", corpus)
    assert (
        reelrank.refusal("mvmr", "build", corpus, out)
        == "reelrank: moments.jsonl has 12 videos: use at most that many for --pool\n"
    )
    assert not out.exists()


def test_thresholds_are_found_and_taken_and_belong_to_their_encoder(
    reelrank: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a dog runs\ta dog runs\t5\na dog runs\ta dog runs fast\t4\na dog runs\tblue sky above\t0\n")
    said = reelrank.out("mvmr", "calibrate", pairs, tmp_path / "found", "--encoder", "minilm")
    stored = json.loads((tmp_path / "found/thresholds.json").read_bytes())
    assert f"t_pos {stored['t_pos']:g}, t_neg {stored['t_neg']:g}: " in said
    assert stored["t_neg"] < stored["t_pos"]
    call = (
        "mvmr",
        "build",
        corpus,
        tmp_path / "pools",
        "--pool",
        6,
        "--thresholds",
        tmp_path / "found/thresholds.json",
    )
    reelrank.out(*call)
    told = json.loads((tmp_path / "pools/manifest.json").read_bytes())
    assert (told["t_pos"], told["t_neg"]) == (stored["t_pos"], stored["t_neg"])
    assert told["thresholds"].startswith("pairs.tsv: ")

    class Other(WordEncoder):
        identity = "other"

    monkeypatch.setattr(sentence, "load", lambda spec: Other())
    assert "has thresholds of words-64, but the encoder here is other" in reelrank.refusal(
        *call[:3], tmp_path / "more", *call[4:]
    )


def test_looking_needs_videos_and_a_model(reelrank: Run, corpus: Path, corpus_project: Project, tmp_path: Path) -> None:
    call = ("mvmr", "build", corpus, tmp_path / "pools", "--pool", 6, "--visual", "emscore")
    assert "name their folder with --videos" in reelrank.refusal(*call)
    assert "no video file in" in reelrank.refusal(*call, "--videos", tmp_path)
    assert "the files of 6 videos are not known, such as v0" in reelrank.refusal(
        "mvmr", "build", corpus_project.folder, tmp_path / "pools", "--pool", 3, "--visual", "emscore"
    )
    assert not (tmp_path / "pools").exists()
