"""The commands `reelrank baseline` and `reelrank features`."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.monitoring.videos.check import register_videos
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders.clip import load_clip
from backend.media.frames import frames_at
from backend.systems.feature_files import open_features
from cli.conftest import Run
from numbered_videos import Picture, write_source
from support import NOW
from tiny_clip import write_clip

EXAMPLE = Path(__file__).parents[2] / "assets" / "example"


@pytest.fixture
def videos(tmp_path: Path) -> dict[str, float]:
    """How long the videos of the example truth last, and one more."""
    lasting = {"v1": 70.0, "v2": 70.0, "v9": 70.0}
    (tmp_path / "map.json").write_text(json.dumps({name: [s, n] for n, (name, s) in enumerate(lasting.items())}))
    return lasting


def test_a_truth_is_enough_for_a_run_that_is_scored(reelrank: Run, tmp_path: Path, videos: dict[str, float]) -> None:
    arguments = ("baseline", "random", EXAMPLE / "val.json")
    out = reelrank.out(*arguments, tmp_path / "a.json", "--seed", 3, "--videos", tmp_path / "map.json")
    assert "random: 100 predictions for 1 query" in out
    assert "It has seen how long videos last." in out
    run = json.loads((tmp_path / "a.json").read_text())
    assert {row[0] for rows in run.values() for row in rows} == set(videos)
    assert "NDCG@K, IoU>=mu: " in reelrank.out(
        "evaluate", "--truth", EXAMPLE / "val.json", "--run", tmp_path / "a.json"
    )
    reelrank(*arguments, tmp_path / "b.json", "--seed", 3, "--videos", tmp_path / "map.json")
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()
    reelrank(*arguments, tmp_path / "c.json", "--seed", 4, "--videos", tmp_path / "map.json")
    assert (tmp_path / "c.json").read_bytes() != (tmp_path / "a.json").read_bytes()


def test_two_runs_become_a_two_step(reelrank: Run, tmp_path: Path) -> None:
    for name, rows in (("x", [["v2", 0, 1, 1]]), ("y", [["v1", 0, 9, 0.9], ["v2", 3, 8, 0.5]])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"1": rows}))
    truth = json.loads((EXAMPLE / "val.json").read_text())
    (tmp_path / "val.json").write_text(json.dumps([*truth, {**truth[0], "query_id": 2}]))
    assert "Queries without an answer, because one of the runs lacks them: 1." in reelrank.out(
        *("baseline", "two-step", tmp_path / "val.json", tmp_path / "two.json"),
        *("--first", tmp_path / "x.json", "--second", tmp_path / "y.json"),
    )
    assert json.loads((tmp_path / "two.json").read_text()) == {"1": [["v2", 3, 8, 0.5]]}


def test_captions_are_told_to_be_an_upper_bound(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    out = reelrank.out("baseline", "caption", corpus_project.folder, tmp_path / "c.json", "--split", "val")
    assert "caption: 96 predictions for 2 queries" in out
    assert "It is an UPPER BOUND: it has seen the captions" in out
    assert "Its name does not mark it as an upper bound: score it with --upper-bound c." in out
    named = reelrank.out("baseline", "caption", corpus_project.folder, tmp_path / "caption.json", "--split", "val")
    assert "--upper-bound" not in named
    queries = dict(corpus_project.store.db.conn.execute("SELECT query_id, text FROM query WHERE split = 'val'"))
    run = json.loads((tmp_path / "c.json").read_text())
    assert set(run) == {str(query) for query in queries}
    captions = dict(
        (tuple(row[:3]), row[3])
        for row in corpus_project.store.db.conn.execute(
            "SELECT v.name, m.start_s, m.end_s, c.text FROM caption c JOIN moment m USING (moment_id) "
            "JOIN video v USING (video_id)"
        )
    )
    assert {query: captions[tuple(run[str(query)][0][:3])] for query in queries} == queries


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["no-such", "TRUTH", "OUT"], 2, "'no-such' is not one of random, prior, caption, clip, two-step"),
        (["prior", "TRUTH", "OUT"], 1, "val.json: has no training moments"),
        (["two-step", "TRUTH", "OUT"], 1, "two-step: needs two runs"),
        (["prmr", "TRUTH", "OUT"], 2, "'prmr' is now called two-step"),
        (["random", "gone.json", "OUT"], 1, "gone.json: cannot be read"),
        (["random", "TRUTH", "there.json"], 1, "exists already"),
        (["random", "TRUTH", "OUT", "--windows", "4,x"], 2, "is not a list of numbers"),
        (["clip", "TRUTH", "OUT", "--nms", "0"], 1, "nms: 0 is not"),
        (["clip", "TRUTH", "OUT", "--visual", "/no/such"], 1, "no such folder; name its folder with --visual"),
        (["random", "TRUTH", "OUT", "--split", "val"], 1, "is a single truth"),
        (["random", "TRUTH", "OUT", "--split", "train"], 2, "'train' is not one of 'val', 'test'"),
        (["random", "PROJECT", "OUT"], 1, "there are no queries yet"),
        (["random", "PROJECT", "OUT", "--training", "TRUTH"], 2, "a project has its own; leave it out"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_nothing_is_written(
    reelrank: Run, corpus_project: Project, tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    (tmp_path / "there.json").write_text("mine")
    places = {"TRUTH": EXAMPLE / "val.json", "OUT": tmp_path / "out.json", "PROJECT": corpus_project.folder}
    places["there.json"] = tmp_path / "there.json"
    found, _, err = reelrank("baseline", *(places.get(one, one) for one in arguments))
    assert (found, told in " ".join(err.replace("│", " ").split())) == (code, True), err
    assert not (tmp_path / "out.json").exists()
    assert (tmp_path / "there.json").read_text() == "mine"


COLOURS = {"red": (220, 20, 20), "blue": (20, 20, 220)}


@pytest.fixture
def seen(tmp_path: Path) -> Project:
    """A project of two plain videos of three seconds, a third whose file is broken, and one query."""
    folder = tmp_path / "videos"
    folder.mkdir()

    def plain(colour: str) -> Picture:
        return np.full((48, 64, 3), COLOURS[colour], dtype=np.uint8)

    for name in COLOURS:
        write_source(folder / f"{name}.mp4", range(15), Fraction(1, 5), lambda frame, name=name: plain(name))
    write_source(folder / "third.mp4", range(15), Fraction(1, 5), lambda frame: plain("red") // 2)
    project = init_project(tmp_path / "project", encoder="minilm")
    register_videos(project, OPERATOR, folder, now=NOW)
    (folder / "third.mp4").write_bytes(b"broken")
    (tmp_path / "queries.csv").write_text("text,split\na man runs,val\n")
    draw_queries(project, OPERATOR, own=tmp_path / "queries.csv", now=NOW)
    return project


@pytest.mark.long
def test_clip_looks_at_videos_and_features_keep_what_it_sees(reelrank: Run, seen: Project, tmp_path: Path) -> None:
    model = write_clip(tmp_path / "tiny-clip")
    code, out, _ = reelrank("baseline", "clip", seen.folder, tmp_path / "c.json", "--visual", model, "--windows", "2,8")
    assert code == 1, "a video is left out"
    assert "Videos that cannot be read and are left out: 1\n  third.mp4" in out
    run = json.loads((tmp_path / "c.json").read_text())
    assert {row[0] for row in run["1"]} == {"red", "blue"}
    assert {tuple(row[1:3]) for row in run["1"]} <= {(0, 2), (1, 3), (0, 3)}
    code, out, _ = reelrank("features", seen.folder, tmp_path / "f.h5", "--encoder", model, "--rate", 2)
    assert code == 1
    assert "features of 2 videos, 2 per second" in out
    with open_features(tmp_path / "f.h5") as found:
        assert found.videos == ("blue", "red")
        expected = load_clip(str(model))._model().frames(list(frames_at(tmp_path / "videos" / "red.mp4", 2.0)))
        np.testing.assert_allclose(found.of("red"), expected, atol=1e-6)


def test_features_are_refused_before_a_model_is_looked_for(reelrank: Run, seen: Project, tmp_path: Path) -> None:
    for arguments, told in (
        (("f.npz",), "end it in .h5"),
        (("f.h5", "--rate", "0"), "number above 0"),
        (("f.h5", "--encoder", "/no/such"), "no such folder; name its folder with --encoder"),
    ):
        assert told in reelrank.refusal("features", seen.folder, tmp_path / arguments[0], *arguments[1:])
    assert not list(tmp_path.glob("f.*"))
