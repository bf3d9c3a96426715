"""The commands train and predict, from files to a run; what is wrong is refused with file and video."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from backend.encoders import sentence
from backend.scoring.evaluate import evaluate
from backend.systems.extracting import write_features
from backend.systems.learning import checkpoints, schedule
from cli.conftest import Run
from commands import reelrank as succeed
from learnable import one_thread
from support import WordEncoder

THINGS = ("a dog runs", "a cup falls", "a door opens", "two people dance")
SECONDS = 24.0
"""Each of six videos shows three things, eight seconds each, one after the other."""


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, one_thread():
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        patch.setattr(checkpoints, "write_pictures", lambda *_: None)
        yield


def shown(video: int) -> list[int]:
    return [(video + place) % len(THINGS) for place in range(3)]


def moments(thing: int, **fields: object) -> list[dict[str, object]]:
    return [
        {"video_name": f"v{n}", "timestamp": [8.0 * place, 8.0 * (place + 1)], "duration": SECONDS, **fields}
        for n in range(6)
        for place, one in enumerate(shown(n))
        if one == thing
    ]


def queries(first: int, told: str, **fields: object) -> list[dict[str, object]]:
    return [
        {"query_id": first + n, "query": told.format(thing), "relevant_moment": moments(n, **fields)}
        for n, thing in enumerate(THINGS)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release, its features, and settings."""
    place = tmp_path_factory.mktemp("made")
    release = place / "release"
    release.mkdir()
    files = {
        "train_top01.json": queries(0, "{} somewhere", similarity=0.8),
        "val.json": queries(10, "here {}", relevance=3),
        "test.json": queries(20, "there {}", relevance=3),
        "video_corpus.json": {f"v{n}": [SECONDS, n] for n in range(6)},
    }
    for name, content in files.items():
        (release / name).write_bytes(msgspec.json.encode(content))
    rng = np.random.default_rng(0)
    looks = rng.standard_normal((len(THINGS), 8))
    rows = {f"v{n}": np.repeat(looks[shown(n)], 8, axis=0) + 0.1 * rng.standard_normal((24, 8)) for n in range(6)}
    write_features(place / "frames.h5", rows.items(), rate=1.0, encoder="made up")
    (place / "train.toml").write_text(
        'release = "release"\nfeatures = "frames.h5"\nout = "trained"\nencoder = "minilm"\nembeddings = "embeddings"\n'
        "top = 1\nseeds = [0, 1]\n[model]\nhidden = 16\nheads = 2\nclip_s = 2\n"
        "[training]\nepochs = 60\nevaluate_every = 6\nbatch = 6\nlearning_rate = 5e-3\n"
        # Each thing is in four or five of the six videos: nearly all are positives of a query.
        '[loss]\npositives = "own"\n'
    )
    return place


@pytest.fixture(scope="module")
def trained(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, and what was trained on it; what that printed is in `printed`."""
    place = shutil.copytree(made, tmp_path_factory.mktemp("trained") / "home")
    (place / "printed").write_text(succeed("train", place / "train.toml"))
    return Path(place)


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """One's own copy of the first."""
    return Path(shutil.copytree(made, tmp_path / "home"))


@pytest.fixture
def done(trained: Path, tmp_path: Path) -> Path:
    """One's own copy of the second, so that everything has moved."""
    return Path(shutil.copytree(trained, tmp_path / "home"))


def refused(reelrank: Run, home: Path, *told: str) -> None:
    err = reelrank.refusal("train", home / "train.toml")
    for one in told:
        assert one in err
    assert not (home / "trained").exists()


def change(file: Path, **fields: object) -> None:
    content = json.loads(file.read_text())
    content[0]["relevant_moment"][0].update(fields)
    file.write_text(json.dumps(content))


def rewrite(home: Path, *, rate: float = 1.0, dim: int = 8, videos: int = 6) -> None:
    (home / "frames.h5").unlink()
    rows = {f"v{n}": np.ones((24, dim)) for n in range(videos)}
    write_features(home / "frames.h5", rows.items(), rate=rate, encoder="made up")


@pytest.mark.long
def test_from_a_release_to_a_run_that_is_scored(trained: Path) -> None:
    home, out = trained, (trained / "printed").read_text()
    assert "NDCG@20, IoU>=0.5 (val)" in out
    folder = home / "trained/seed-1"
    for split in ("val", "test"):
        assert "4 queries over 6 videos" in succeed("predict", folder, home / f"{split}.json", "--split", split)
    best = evaluate(str(home / "release/val.json"), str(home / "val.json")).mean["ndcg@20,0.5"]
    row = next(line.split() for line in out.splitlines() if line.strip().startswith("1 "))
    assert row[3] == f"{best:.4f}"
    test = evaluate(str(home / "release/test.json"), str(home / "test.json"))
    assert test.mean["ndcg@20,0.5"] > 0.6
    again = succeed("train", home / "train.toml")
    assert "Seed 1 was finished already." in again


@pytest.mark.long
def test_predicting_again_gives_the_same_bytes_also_from_elsewhere(trained: Path, done: Path) -> None:
    home, folder = done, done / "trained/seed-0"
    succeed("predict", trained / "trained/seed-0", home / "one.json")
    (home / "release").rename(home / "moved")
    (home / "frames.h5").rename(home / "other.h5")
    places = ("--release", home / "moved", "--features", home / "other.h5")
    succeed("predict", folder, home / "two.json", *places)
    assert (home / "one.json").read_bytes() == (home / "two.json").read_bytes()


@pytest.mark.long
def test_overlaps_can_be_left_out_of_a_run(trained: Path, reelrank: Run) -> None:
    folder, places = trained / "trained/seed-0", (trained / "all.json", trained / "apart.json")
    reelrank.out("predict", folder, places[0])
    reelrank.out("predict", folder, places[1], "--nms", "0.5")
    whole, apart = (json.loads(place.read_text()) for place in places)
    for query, kept in apart.items():
        rest = [row for row in whole[query] if row not in kept]
        assert rest
        for video, start, end, score in whole[query]:
            better = [
                (min(end, e) - max(start, s)) / (max(end, e) - min(start, s))
                for v, s, e, above in kept
                if v == video and above > score
            ]
            assert ([video, start, end, score] in kept) == all(iou <= 0.5 for iou in better)


def test_conquer_searches_the_videos_of_another_systems_run(done: Path, reelrank: Run) -> None:
    home, places = done, ("--release", done / "release", "--features", done / "frames.h5")
    splits = ("train", "val", "test")
    for split in splits:
        told = succeed("predict", done / "trained/seed-0", home / f"first-{split}.json", "--split", split, *places)
        assert "4 queries over 6 videos" in told
    text = (home / "train.toml").read_text().replace('"trained"', '"second"').replace("seeds = [0, 1]", "seeds = [0]")
    head = text[: text.index("[model]")]
    tables = (
        "[model]\nhidden = 16\nheads = 2\nfilters = 8\nclip_s = 2\nfirst_run = [{}]\n"
        "[training]\nepochs = 3\nevaluate_every = 3\nbatch = 6\n[predict]\nvideos = 2\n"
    )
    runs = ", ".join(f'"first-{split}.json"' for split in splits)
    (home / "second.toml").write_text(f'system = "conquer"\n{head}{tables.format(runs)}')
    succeed("train", home / "second.toml")
    assert "4 queries over 6 videos" in succeed("predict", home / "second/seed-0", home / "second.json", *places)
    first, second = (json.loads((home / f"{name}.json").read_text()) for name in ("first-test", "second"))
    for query, rows in second.items():
        assert {row[0] for row in rows} == set(list(dict.fromkeys(row[0] for row in first[query]))[:2])
    (home / "third.toml").write_text(f'system = "conquer"\n{head}{tables.format(chr(34) + "first-val.json" + chr(34))}')
    err = reelrank.refusal("train", home / "third.toml", "--system", "conquer")
    assert "train_top01.json: no run of the first step has videos for 4 queries: 0, 1, 2, 3" in err


def test_queries_of_pools_are_answered_in_their_pools(done: Path) -> None:
    """Each query gets all moments of its pool that fit, and none elsewhere; no release is needed."""
    videos = {
        f"v{n}": {
            "duration": SECONDS,
            "timestamps": [[0, 8]],
            "sentences": [f"here {THINGS[shown(n)[0]]}"],
            "pos_moments": [[]],
            "retrieval_pool": [[f"v{n}", f"v{(n + 1) % 6}"] if n < 2 else []],
        }
        for n in range(6)
    }
    (done / "pools.json").write_text(json.dumps(videos))
    places = ("--features", done / "frames.h5", "--pool", done / "pools.json")
    assert "2 queries over 6 videos" in succeed("predict", done / "trained/seed-0", done / "run.json", *places)
    run = json.loads((done / "run.json").read_text())
    assert {query: {row[0] for row in rows} for query, rows in run.items()} == {
        "v0#0": {"v0", "v1"},
        "v1#0": {"v1", "v2"},
    }


def test_what_does_not_fit_the_weights_is_refused(done: Path, reelrank: Run) -> None:
    home, folder = done, done / "trained/seed-0"
    places = ("--release", home / "release", "--features", home / "frames.h5")
    assert "has no best.safetensors" in reelrank("predict", home / "trained", home / "run.json")[2]
    rewrite(home, rate=1.01)
    told = reelrank("predict", folder, home / "run.json", *places)[2]
    assert "holds features of made up, 1.01 rows a second, but the model was trained with made up, 1 rows" in told
    rewrite(home, dim=9)
    told = reelrank("predict", folder, home / "run.json", *places)[2]
    assert "frames.h5: features have 9 numbers, but the model was made for 8" in told
    assert not (home / "run.json").exists()
    (home / "run.json").write_text("mine")
    assert "exists already" in reelrank("predict", folder, home / "run.json", *places)[2]
    assert (home / "run.json").read_text() == "mine"


def test_features_that_do_not_fit_are_refused_by_file_and_video(home: Path, reelrank: Run) -> None:
    rewrite(home, videos=5)
    refused(reelrank, home, "frames.h5: video v5: has no features in this file")
    rewrite(home, rate=2.0)
    refused(reelrank, home, "frames.h5: video v0: 24 rows at 2 a second are 12.0 s, but it lasts 24.0 s")
    np.savez(home / "frames.npz", **{f"v{n}": np.full((24, 8), np.nan if n == 3 else 1.0) for n in range(6)})
    settings = (home / "train.toml").read_text().replace("frames.h5", "frames.npz")
    (home / "train.toml").write_text(settings)
    refused(reelrank, home, "frames.npz: does not say how many rows there are a second")
    (home / "train.toml").write_text("rate = 1.0\n" + settings)
    refused(reelrank, home, "frames.npz: video v3: row 0 (from 0) holds NaN or infinity")


def test_releases_that_do_not_fit_are_refused(home: Path, reelrank: Run) -> None:
    release = home / "release"
    train = (release / "train_top01.json").read_bytes()
    change(release / "train_top01.json", video_name="v9")
    refused(reelrank, home, "train_top01.json, row 1: video 'v9' is not in video_corpus.json")
    (release / "train_top01.json").write_bytes(b"[]")
    refused(reelrank, home, "train_top01.json: has no query with a moment")
    (release / "train_top01.json").rename(release / "train_top20.json")
    refused(reelrank, home, "has no train_top01.json (field `top`); training sets there: train_top20.json")
    (release / "train_top01.json").write_bytes(train)
    (release / "val.json").write_bytes(b"[]")
    refused(reelrank, home, "val.json: has no query to ask")
    (release / "val.json").write_bytes(b'[{"query_id": 1}]')
    refused(reelrank, home, "val.json, row 1: query 1: has no `query`")


def test_the_example_is_a_configuration() -> None:
    from backend.systems.learning.config import read_config

    found = read_config(Path(__file__).parents[2] / "assets/example/train.toml")
    assert (found.top, found.training.batch, found.encoder) == (40, 128, "minilm")
    assert (found.epochs, found.evaluate_every, found.loss.positives) == (100, 0.5, "top")


def test_what_an_earlier_version_trained_still_predicts(done: Path) -> None:
    """Its settings have a field that is refused in a configuration now."""
    file = done / "trained/seed-0/settings.json"
    settings = json.loads(file.read_text())
    del settings["loss"]["positives"], settings["training"]["evaluate_every"]
    settings["loss"]["mask_positives"] = True
    del settings["system"], settings["preset"], settings["subtitles"], settings["subtitle_rate"]
    settings["predict"]["alpha"] = settings["model"].pop("alpha")
    settings["training"] = {name: settings["training"][name] for name in ("epochs", "batch", "learning_rate")}
    file.write_text(json.dumps(settings))
    places = ("--release", done / "release", "--features", done / "frames.h5")
    assert "4 queries over 6 videos" in succeed("predict", done / "trained/seed-0", done / "run.json", *places)
    # The description of the weights was another one, too.
    best = done / "trained/seed-0/best.safetensors"
    with safe_open(best, "pt") as opened:
        card = json.loads(opened.metadata()["about"])
    tensors = load_file(best)
    for name in ("system", "loss", "subtitle_dim"):
        del card[name]
    card["predict"]["alpha"] = card["model"].pop("alpha")
    best.unlink()
    save_file(tensors, best, {"about": json.dumps(card)})
    succeed("predict", done / "trained/seed-0", done / "again.json", *places)
    assert (done / "again.json").read_bytes() == (done / "run.json").read_bytes()


def test_a_release_needs_no_file_of_settings(home: Path, reelrank: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    own = ("--features", "frames.h5", "--out", "own", "--top", 1, "--encoder", "minilm")
    err = reelrank("train", "release", *own)[2]
    assert "--system" in err
    assert "a release needs it" in err
    err = reelrank.refusal("train", "release", "--system", "nothing", *own)
    assert "there is no system 'nothing': the systems are" in err
    err = reelrank.refusal("train", "release", "--system", "cet", "--preset", "tvr", *own)
    assert "system cet has no preset 'tvr'" in err
    err = reelrank("train", "train.toml", "--features", "frames.h5")[2]
    assert "is for a release: write it into the file of settings" in err
    assert not (home / "own").exists()
    monkeypatch.setattr(schedule, "_PASSES", 1)
    assert "own/seed-3" in succeed("train", "release", "--system", "late", "--seeds", "3", *own)
    assert "4 queries" in succeed("predict", "own/seed-3", "own.json")


def test_subtitles_are_asked_for_and_checked_as_frames(home: Path, reelrank: Run) -> None:
    settings = (home / "train.toml").read_text().replace("seeds = [0, 1]", "seeds = [0]")
    settings = settings.replace("epochs = 60\nevaluate_every = 6", "epochs = 1\nevaluate_every = 1")
    (home / "train.toml").write_text('subtitles = "said.npz"\n' + settings)
    np.savez(home / "said.npz", **{f"v{n}": np.full((12, 3), np.nan if n == 4 else 1.0) for n in range(6)}, rate=0.5)
    refused(reelrank, home, "said.npz: video v4: row 0 (from 0) holds NaN or infinity")
    np.savez(home / "said.npz", **{f"v{n}": np.ones((12, 3)) for n in range(5)}, rate=0.5)
    refused(reelrank, home, "said.npz: video v5: has no features in this file")
    np.savez(home / "said.npz", **{f"v{n}": np.ones((12, 3)) for n in range(6)}, rate=0.5)
    succeed("train", home / "train.toml")
    folder = home / "trained/seed-0"
    np.savez(home / "other.npz", **{f"v{n}": np.ones((12, 4)) for n in range(6)}, rate=0.5)
    err = reelrank.refusal("predict", folder, home / "run.json", "--subtitles", home / "other.npz")
    assert "other.npz: features have 4 numbers, but the model was made for 3" in err
    assert "4 queries" in succeed("predict", folder, home / "run.json")
    file = folder / "settings.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"subtitles": None}))
    assert "was trained with subtitles: name their file" in reelrank.refusal("predict", folder, home / "more.json")
