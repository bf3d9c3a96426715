"""The demo corpus: exact captions, repeatable pictures, playable files."""

import re
from itertools import pairwise
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from backend.media.demo import CAST, VIDEOS, captioned_moments, render, render_corpus

SHORTEST = min(VIDEOS, key=lambda name: render.scene(name).frame_count)
NOT_NAMES = {"The", "He", "She", "They", "A"}


def test_corpus_is_large_enough() -> None:
    assert len(VIDEOS) >= 12
    assert len(set(VIDEOS)) == len(VIDEOS)
    assert len(captioned_moments()) >= 60
    assert {moment.video for moment in captioned_moments()} == set(VIDEOS)
    assert all(10 <= render.scene(name).duration_s <= 26 for name in VIDEOS)


def test_moments_lie_inside_their_videos() -> None:
    moments = captioned_moments()
    assert [moment.row for moment in moments] == list(range(1, len(moments) + 1))
    for moment in moments:
        assert moment.duration_s == render.scene(moment.video).frame_count / 25
        assert 0 <= moment.start_s < moment.end_s <= moment.duration_s, moment
        assert moment.end_s - moment.start_s >= 1.0, moment


def test_captions_name_the_cast_and_nobody_else() -> None:
    for moment in captioned_moments():
        capitalised = set(re.findall(r"\b[A-Z][a-z]+\b", moment.caption)) - NOT_NAMES
        assert capitalised, moment.caption
        assert capitalised <= set(CAST), moment.caption
        assert moment.caption.endswith("."), moment.caption


def test_different_people_do_the_same_things() -> None:
    names = re.compile(r"\b(" + "|".join(CAST) + r")\b")
    nameless: dict[str, set[str]] = {}
    for moment in captioned_moments():
        text = names.sub(lambda found: CAST[found[0]], moment.caption)
        nameless.setdefault(text, set()).add(moment.video)
    assert sum(len(videos) > 1 for videos in nameless.values()) >= 4


def test_some_moments_contain_others() -> None:
    moments = captioned_moments()
    inside = [
        (long, short)
        for long in moments
        for short in moments
        if long is not short
        and long.video == short.video
        and long.start_s <= short.start_s
        and short.end_s <= long.end_s
        and short.end_s - short.start_s < 0.7 * (long.end_s - long.start_s)
    ]
    assert len(inside) >= 10


@pytest.mark.parametrize("name", VIDEOS)
def test_something_happens_in_every_moment(name: str) -> None:
    scene = render.scene(name)
    for start_s, end_s, caption in scene.moments:
        shown = [scene.frame(start_s + share * (end_s - start_s)) for share in (0.0, 0.5, 1.0)]
        changed = [cv2.absdiff(one, other).max(axis=2) > 24 for one, other in pairwise(shown)]
        # Breathing moves outlines by a hair; only what survives a 4 x 4 erosion is movement that one sees.
        blobs = [cv2.erode(mask.astype(np.uint8), np.ones((4, 4), np.uint8)).sum() for mask in changed]
        assert max(blobs) > 150, (caption, blobs)


def test_the_same_frames_again() -> None:
    first, second = render.scene(SHORTEST), render.scene(SHORTEST)
    instants = np.linspace(0, first.duration_s, 12)
    forwards = [first.frame(float(t)).tobytes() for t in instants]
    # Drawn in another order: a picture depends on its instant alone.
    backwards = [second.frame(float(t)).tobytes() for t in instants[::-1]]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) > 1


def test_files_play_and_are_not_rendered_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "VIDEOS", (SHORTEST,))
    seen: list[tuple[int, int]] = []
    moments = render_corpus(tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert moments == captioned_moments()
    assert seen == [(1, 1)]
    assert [path.name for path in tmp_path.iterdir()] == [f"{SHORTEST}.mp4"]

    video, scene = tmp_path / f"{SHORTEST}.mp4", render.scene(SHORTEST)
    with av.open(str(video)) as container:
        pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        stream = container.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (640, 360, 25)
    assert len(pictures) == scene.frame_count
    middle = scene.frame_count // 2
    assert np.abs(pictures[middle].astype(int) - scene.frame(middle / 25)).mean() < 4

    content = video.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    written = video.stat().st_mtime_ns
    render_corpus(tmp_path)
    assert video.stat().st_mtime_ns == written

    video.write_bytes(content[: len(content) // 2])
    render_corpus(tmp_path)
    assert video.read_bytes() == content
