"""Features of drawn videos: what the model gives, and the same after Ctrl-C."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import InputError, ProjectError
from backend.encoders.clip import Clip
from backend.media import frames as frame_vectors
from backend.media.frames import frames_at
from backend.systems.extracting import extract
from backend.systems.feature_files import open_features


def test_a_row_is_the_model_s_vector_of_the_middle_of_its_piece(
    clip: Clip, drawn: dict[str, Path], tmp_path: Path
) -> None:
    report = extract(drawn, clip, tmp_path / "f.h5", tmp_path / "kept", per_s=2.0, source="made")
    assert (report.videos, report.encoder, report.unseen) == (3, clip.identity, ())
    with open_features(tmp_path / "f.h5") as found:
        assert (found.rate, found.dim, found.encoder) == (2.0, 16, clip.identity)
        assert found.videos == ("long", "middle", "short")
        assert len(found.of("short")) == 6  # three seconds
        for name, file in drawn.items():
            expected = clip._model().frames(list(frames_at(file, 2.0)))
            np.testing.assert_allclose(found.of(name), expected, atol=1e-6)


def test_what_was_broken_off_goes_on_and_gives_the_same_file(
    clip: Clip, drawn: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract(drawn, clip, tmp_path / "whole.h5", tmp_path / "kept", per_s=1.0, source="made")
    looked: list[str] = []

    def interrupted(video: Path, per_s: float) -> Iterator[np.ndarray]:
        looked.append(video.stem)
        pictures = frames_at(video, per_s)
        yield next(pictures)
        if video.stem == "middle" and looked.count("middle") == 1:
            raise KeyboardInterrupt
        yield from pictures

    monkeypatch.setattr(frame_vectors, "frames_at", interrupted)
    again = tmp_path / "again"
    with pytest.raises(KeyboardInterrupt):
        extract(drawn, clip, tmp_path / "f.h5", again, per_s=1.0, source="made")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "kept", "whole.h5"]
    extract(drawn, clip, tmp_path / "f.h5", again, per_s=1.0, source="made")
    assert looked == ["long", "middle", "middle", "short"]
    assert (tmp_path / "f.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_videos_that_cannot_be_shown_are_left_out_and_told(clip: Clip, drawn: dict[str, Path], tmp_path: Path) -> None:
    gone = {"gone": tmp_path / "gone.mp4"}
    files = {**gone, "short": drawn["short"]}
    report = extract(files, clip, tmp_path / "f.h5", tmp_path, per_s=1.0, source="made", missing=["never"])
    assert report.videos == 1
    assert [one.split(":")[0] for one in report.unseen] == ["never", "gone.mp4"]
    with pytest.raises(InputError, match=r"made: has no video that could be read: gone\.mp4"):
        extract(gone, clip, tmp_path / "g.h5", tmp_path, per_s=1.0, source="made")
    assert not (tmp_path / "g.h5").exists()


def test_what_means_nothing_is_refused_before_anything_is_looked_at(clip: Clip, tmp_path: Path) -> None:
    (tmp_path / "there.h5").touch()
    for name, rate, error, told in (
        ("f.npz", 1.0, InputError, r"end it in \.h5"),
        ("f.h5", 0.0, InputError, "number above 0"),
        ("there.h5", 1.0, ProjectError, "exists already"),
        ("f.h5", 1.0, InputError, "made: has no video whose file is known"),
    ):
        with pytest.raises(error, match=told):
            extract({}, clip, tmp_path / name, tmp_path, per_s=rate, source="made")


def test_names_that_have_no_place_in_the_file_are_refused_before_anything_is_looked_at(
    clip: Clip, tmp_path: Path
) -> None:
    files = dict.fromkeys(("show", "show/one", "a/../b", "fine/two"), tmp_path / "nothing.mp4")
    with pytest.raises(InputError) as refusal:
        extract(files, clip, tmp_path / "f.h5", tmp_path, per_s=1.0, source="made")
    assert [one.message for one in refusal.value.problems] == [
        "video 'a/../b': HDF5 cannot store this name; rename the video",
        "video 'show/one': HDF5 cannot store it below video 'show'; rename one of them",
    ]
