"""Windows seen by CLIP, against loops that look at every window of every video by themselves."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.encoders.clip import Clip
from backend.media.frames import frames_at
from backend.systems.clip_windows import answer
from backend.systems.model import SearchTask, Windowing, windows

LENGTHS_S = {"long": 9.0, "middle": 6.0, "short": 3.0}
QUERIES = {"1": "a man sits", "2": "he runs", "3": "zebra"}
HOW = Windowing(per_s=2.0, lengths_s=(2.0, 4.0), nms=0.3)
Span = tuple[str, float, float, float]


def overlap(one: Span, other: Span) -> float:
    inter = max(0.0, min(one[2], other[2]) - max(one[1], other[1]))
    return inter / ((one[2] - one[1]) + (other[2] - other[1]) - inter)


def suppressed(spans: list[Span], nms: float) -> list[Span]:
    """The best first; what overlaps a kept one of its video too much is left out."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda one: -one[3]):
        if all(span[0] != other[0] or overlap(span, other) <= nms for other in kept):
            kept.append(span)
    return kept


def brute_force(clip: Clip, drawn: dict[str, Path], text: str, how: Windowing) -> list[Span]:
    query = clip.sentences([text])[text].vectors[-1].astype(np.float64)
    found = []
    for name, file in drawn.items():
        vectors = clip._model().frames(list(frames_at(file, how.per_s))).astype(np.float64)
        instants = [(number + 0.5) / how.per_s for number in range(len(vectors))]
        spans = set()
        for length in how.lengths_s:
            start = 0.0
            while start + length < LENGTHS_S[name]:
                spans.add((start, start + length))
                start += length / 2
            spans.add((max(0.0, LENGTHS_S[name] - length), LENGTHS_S[name]))
        for start, end in spans:
            shown = [vector for vector, at in zip(vectors, instants, strict=True) if start <= at < end]
            mean = np.mean(shown, axis=0)
            found.append((name, start, end, float(query @ mean / np.linalg.norm(mean))))
    return suppressed(found, how.nms)


@pytest.mark.parametrize("how", [HOW, Windowing(per_s=1.0, lengths_s=(3.0,), nms=1.0)], ids=["nms", "no nms"])
@pytest.mark.parametrize("top", [2, 100])
def test_windows_are_ranked_by_the_cosine_of_their_frames(
    clip: Clip, drawn: dict[str, Path], tmp_path: Path, how: Windowing, top: int
) -> None:
    task = SearchTask("made", QUERIES, LENGTHS_S, files=drawn)
    found, unseen = answer(task, clip, tmp_path, how, top=top)
    assert unseen == ()
    assert list(found) == list(QUERIES)
    for query, text in QUERIES.items():
        expected = brute_force(clip, drawn, text, how)[:top]
        np.testing.assert_allclose([one.score for one in found[query]], [one[3] for one in expected], atol=2e-5)
        assert [tuple(one[:3]) for one in found[query]] == [one[:3] for one in expected]


def test_frames_are_looked_at_once(
    clip: Clip, drawn: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = SearchTask("made", QUERIES, LENGTHS_S, files=drawn)
    first = answer(task, clip, tmp_path, HOW)
    monkeypatch.setattr("backend.media.frames.frames_at", lambda *asked: pytest.fail("looked again"))
    assert answer(task, clip, tmp_path, HOW) == first


def test_videos_that_cannot_be_shown_are_told(clip: Clip, drawn: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    lasting = {"short": 3.0, "broken": 5.0, "gone": 5.0, "nowhere": 5.0}
    files = {"short": drawn["short"], "broken": broken, "gone": tmp_path / "gone.mp4"}
    found, unseen = answer(SearchTask("made", QUERIES, lasting, files=files), clip, tmp_path / "kept", HOW)
    assert {one.video for one in found["1"]} == {"short"}
    assert [one.split(":")[0].split(" ")[0] for one in unseen] == ["broken.mp4", "gone.mp4", "nowhere"]
    with pytest.raises(InputError, match="made: has no video that could be read"):
        answer(SearchTask("made", QUERIES, {"nowhere": 5.0}), clip, tmp_path / "kept", HOW)


@given(
    duration=st.integers(1, 4000).map(lambda n: n / 16),
    lengths=st.lists(st.sampled_from([0.5, 1.0, 4.0, 8.0, 30.0]), min_size=1, max_size=3, unique=True),
)
def test_windows_cover_the_video_and_stay_within_it(duration: float, lengths: list[float]) -> None:
    found = windows(duration, lengths)
    assert len(found) == len(set(found))
    for length in lengths:
        own = [span for span in found if span[1] - span[0] == min(length, duration)]
        assert own[0][0] == 0
        assert max(end for _, end in own) == duration
        if length < duration:
            gaps = np.diff(sorted(start for start, _ in own))
            assert (gaps <= length / 2).all()
    assert all(0 <= start < end <= duration for start, end in found)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"per_s": 0}, "frames a second: 0 is not above 0"),
        ({"lengths_s": ()}, "windows: "),
        ({"lengths_s": (4.0, -1.0)}, "windows: "),
        ({"nms": 0}, "nms: 0 is not"),
        ({"nms": 1.5}, "nms: 1.5 is not"),
        ({"per_s": float("nan")}, "frames a second: nan is not"),
    ],
)
def test_ways_of_looking_that_mean_nothing_are_refused(how: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        Windowing(**how)
