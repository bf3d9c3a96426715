"""Candidates by what is to be seen: real videos of plain colours, and a model that knows colours by name."""

import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.corpus.moments.model import ByWindows
from backend.campaign.corpus.moments.proposing import propose_moments
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import register_videos
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.candidates import pooling
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import EncoderUnavailable, ProjectError
from backend.core.where import HERE, Where
from backend.encoders.emscore import SentenceVectors
from backend.media.content import sha256_of
from backend.media.frames import frames_at, keep_frames
from numbered_videos import Picture, write_source
from support import NOW
from units import Brightness

COLOURS = {"red": (220, 20, 20), "green": (20, 220, 20), "blue": (20, 20, 220)}
VIDEOS = {"one": ("red", "green", "blue"), "two": ("green", "green", "red")}  # two seconds of each, at 10 frames/s


def plain(video: str, frame: int) -> Picture:
    return np.full((48, 64, 3), COLOURS[VIDEOS[video][min(frame // 20, 2)]], dtype=np.uint8)


class Colours:
    """Vectors along red, green and blue: of a frame its mean colour, of a sentence the first colour in it."""

    identity = "colours"

    def frames(self, sha256: str, per_s: float, pictures: Callable[[], Iterable[Picture]], folder: Path) -> np.ndarray:
        found = np.array([picture.reshape(-1, 3).mean(axis=0) for picture in pictures()], dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def sentences(self, texts: Iterable[str], *, progress: object = None) -> dict[str, SentenceVectors]:
        axes = dict(zip(COLOURS, np.eye(3, dtype=np.float32), strict=True))
        named = {text: next(axes[colour] for colour in COLOURS if colour in text) for text in texts}
        return {text: SentenceVectors((1, 2), np.stack([-vector, vector])) for text, vector in named.items()}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two videos of three scenes, windows of two seconds as moments without a caption, two typed queries."""
    monkeypatch.setattr(pooling, "load_clip", lambda name, advice: Colours())
    folder = tmp_path / "videos"
    folder.mkdir()
    for name in VIDEOS:
        write_source(folder / f"{name}.mp4", range(60), Fraction(1, 10), lambda frame, name=name: plain(name, frame))
    project = init_project(tmp_path / "project", encoder="minilm")
    register_videos(project, OPERATOR, folder, now=NOW)
    propose_moments(project, OPERATOR, ByWindows((2.0,), 1.0), now=NOW)
    file = tmp_path / "queries.csv"
    file.write_text("text,split\nsomething green,val\na red one,test\n")
    draw_queries(project, OPERATOR, own=file, now=NOW)
    return project


def ranked(project: Project, text: str) -> list[tuple[str, float, str]]:
    """The candidates of a query in order: video, start, and the colour of the scene that begins there."""
    rows = project.store.db.conn.execute(
        "SELECT v.name, m.start_s FROM candidate k JOIN query q USING (query_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) WHERE q.text = ? ORDER BY k.rank",
        [text],
    )
    return [(name, start_s, VIDEOS[name][int(start_s // 2)]) for name, start_s in rows]


def test_what_looks_like_the_query_comes_first_and_carries_its_source(project: Project) -> None:
    report = pool_candidates(project, OPERATOR, [], captions=False, visual="colours", now=NOW)
    assert (report.queries, report.candidates, report.pairs, report.moments) == (2, 12, 12, 0)
    assert (report.encoder, report.visual, report.unseen) == (None, "colours frames=2/s", ())
    green, red = ranked(project, "something green"), ranked(project, "a red one")
    assert [colour for *_, colour in green] == ["green"] * 3 + [colour for *_, colour in green[3:]]
    assert {place[:2] for place in green[:3]} == {("one", 2.0), ("two", 0.0), ("two", 2.0)}
    assert {place[:2] for place in red[:2]} == {("one", 0.0), ("two", 4.0)}
    sources = project.store.db.conn.execute("SELECT kind, name, sha256, depth, part FROM source").fetchall()
    assert [tuple(row) for row in sources] == [("visual", "colours frames=2/s", None, 40, 1)]
    assert project.store.db.conn.execute("SELECT count(*) FROM pair WHERE similarity IS NOT NULL").fetchone()[0] == 0
    assert doctor(project, now=NOW).findings == ()


def test_a_video_that_cannot_be_looked_at_is_told_and_its_moments_left_out(project: Project) -> None:
    videos = project.folder.parent / "videos"
    (videos / "one.mp4").rename(videos.parent / "elsewhere.mp4")
    report = pool_candidates(project, OPERATOR, [], captions=False, visual="colours", now=NOW)
    assert [text.split(":")[0] for text in report.unseen] == ["one.mp4"]
    assert {name for name, *_ in ranked(project, "a red one")} == {"two"}
    assert report.candidates == 6


def test_without_any_video_nothing_is_written(project: Project) -> None:
    for file in (project.folder.parent / "videos").iterdir():
        file.unlink()
    with pytest.raises(ProjectError, match=r"no video of any moment can be read: one\.mp4"):
        pool_candidates(project, OPERATOR, [], captions=False, visual="colours", now=NOW)
    assert project.store.db.conn.execute("SELECT count(*) FROM candidate").fetchone()[0] == 0


def test_a_model_that_is_not_there_is_told_with_what_to_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(EncoderUnavailable, match=r"'/no/such': there is no such folder; name its folder with"):
        pool_candidates(project, OPERATOR, [], captions=False, visual="/no/such", now=NOW)


def test_frames_are_encoded_where_the_model_says(project: Project, tmp_path: Path) -> None:
    videos = sorted((tmp_path / "videos").iterdir())
    kept = {}
    for name, where in (("here", HERE), ("cores", Where(2))):
        keep_frames(Brightness(where), [*videos, tmp_path / "gone.mp4"], tmp_path / name, per_s=2.0)  # type: ignore[arg-type]
        kept[name] = {path.stem: np.load(path) for path in (tmp_path / name).glob("*.npy")}
    assert kept["here"] == {}, "whoever asks for them does it"
    for video in videos:
        means = [picture.mean() for picture in frames_at(video, 2.0)]
        np.testing.assert_array_equal(kept["cores"][sha256_of(video)], means)
    assert not (tmp_path / "cores" / f"by-{os.getpid()}").exists()
