"""Features become clips, moments become places of clips; what does not fit is refused by file, row and video."""

from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.systems.feature_files import open_features
from backend.systems.learning.material import (
    AskedQueries,
    Clips,
    TrainingPair,
    TrainingPairs,
    TrainingSet,
    read_clips,
    read_pairs,
    require_queries,
    with_subtitles,
)
from learnable import HeldFeatures


def clips_of(rows: list[list[float]], rate: float, seconds: float, clip_s: float = 2.0) -> Clips:
    return read_clips(HeldFeatures(rate, {"v": np.array(rows, dtype=np.float32)}), "f.h5", {"v": seconds}, clip_s)


def test_rows_are_averaged_over_clips_and_made_of_unit_length() -> None:
    # Two rows a clip at one a second: (3, 0) and (3, 8) give (6, 8), of length 10; the last clip has one row alone.
    found = clips_of([[3, 0], [3, 8], [0, 2], [0, 4], [-5, 0]], 1.0, 5.0)
    assert found.rows.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 1], [-1, 0]]))
    assert found.starts.tolist() == [0, 3]


def test_a_row_is_of_the_clip_that_its_middle_lies_in() -> None:
    # At 0.75 rows a second the middles are 0.67, 2, 3.33 and 4.67 s; the second row begins at 1.33 s.
    found = clips_of([[1, 0], [0, 1], [0, 1], [-1, 0]], 0.75, 5.33)
    assert found.rows.tolist() == [[1, 0], [0, 1], [-1, 0]]


def test_a_clip_without_a_row_has_that_before_it_and_rows_past_the_end_are_of_the_last() -> None:
    short = clips_of([[1, 0], [0, 1]], 0.5, 5.0)
    assert short.rows.tolist() == [[1, 0], [0, 1], [0, 1]]
    long = clips_of([[1, 0], [0, 1], [0, 3]], 0.5, 4.0)
    assert long.rows.tolist() == [[1, 0], [0, 1]]


def test_a_video_has_the_clips_that_are_asked_for_however_many_rows_it_has() -> None:
    """Four rows for two clips are averaged; two rows for four clips are taken twice each, by the clip's middle."""
    held = HeldFeatures(
        1.0, {"long": np.float32([[3, 0], [3, 8], [0, 2], [0, 4]]), "short": np.float32([[2, 0], [0, 3]])}
    )
    found = read_clips(held, "f.h5", {"long": 4.0, "short": 2.0}, clips=2)
    assert found.rows.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 1], [1, 0], [0, 1]]))
    assert (found.starts.tolist(), found.clip_s.tolist()) == ([0, 2, 4], [2.0, 1.0])
    found = read_clips(held, "f.h5", {"long": 4.0, "short": 2.0}, clips=4)
    assert found.rows[4:].tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]


def test_subtitles_are_more_numbers_of_each_clip_and_of_unit_length_by_themselves() -> None:
    seconds = {"v": 4.0}
    frames = read_clips(HeldFeatures(1.0, {"v": np.float32([[1, 0]] * 4)}), "f.h5", seconds, 2.0)
    subtitles = read_clips(HeldFeatures(0.5, {"v": np.float32([[0, 3, 4], [0, 0, 0]])}), "s.h5", seconds, 2.0)
    both = with_subtitles(frames, subtitles)
    assert both.rows == pytest.approx(np.array([[1, 0, 0, 0.6, 0.8], [1, 0, 0, 0, 0]]))
    assert both.subtitle_dim == 3


def test_rows_of_zeros_stay_and_are_no_nan() -> None:
    assert clips_of([[0, 0], [0, 0]], 1.0, 2.0).rows.tolist() == [[0, 0]]


def test_features_that_do_not_fit_are_refused_by_video_all_at_once(tmp_path: Path) -> None:
    good, holes = np.ones((10, 2)), np.ones((10, 2))
    holes[3, 1] = np.nan
    np.savez(tmp_path / "frames.npz", u=good, v=holes, w=good[:5], x=holes, y=good[:1])
    seconds = {"u": 10.0, "v": 10.0, "w": 10.0, "x": 10.0, "y": 1.5}
    with open_features(tmp_path / "frames.npz", 1.0) as features, pytest.raises(InputError) as refusal:
        read_clips(features, "frames.npz", seconds, 2.0)
    assert [(one.file.rpartition("/")[2], one.message) for one in refusal.value.problems] == [
        ("frames.npz", "video v: row 3 (from 0) holds NaN or infinity"),
        (
            "frames.npz",
            "video w: 5 rows at 1 a second are 5.0 s, but it lasts 10.0 s: the rate is wrong, or the features belong "
            "to another video",
        ),
        ("frames.npz", "video x: row 3 (from 0) holds NaN or infinity"),
    ]


def test_features_of_another_model_and_clips_shorter_than_a_row() -> None:
    features = HeldFeatures(0.25, {"v": np.ones((3, 2), dtype=np.float32)})
    with pytest.raises(InputError, match=r"f\.h5: features have 2 numbers, but the model was made for 5"):
        read_clips(features, "f.h5", {"v": 12.0}, 4.0, dim=5)
    with pytest.raises(InputError, match=r"f\.h5: 0\.25 rows a second leave clips of 2 s .* of at least 4 s"):
        read_clips(features, "f.h5", {"v": 12.0}, 2.0)
    with pytest.raises(InputError, match="no video to search in"):
        read_clips(features, "f.h5", {}, 4.0)


def pairs_of(*pairs: TrainingPair, weighted: bool | None = True) -> TrainingPairs:
    clips = read_clips(
        HeldFeatures(1.0, {name: np.ones((9, 2), dtype=np.float32) for name in "vw"}),
        "f",
        dict.fromkeys("vw", 9.0),
        2.0,
    )
    return read_pairs(TrainingSet("train.json", ("one", "two"), pairs), clips, weighted=weighted)


def test_moments_become_the_clips_that_they_touch() -> None:
    # 9 s are five clips of 2 s; a moment that ends where a clip begins does not touch that one.
    spans = [(0.0, 2.0), (1.9, 4.1), (4.0, 4.5), (7.9, 9.0), (8.5, 99.0)]
    found = pairs_of(*(TrainingPair(1, 0, "v", start, end, 0.5) for start, end in spans))
    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == [(0, 0), (0, 2), (2, 2), (3, 4), (4, 4)]
    assert found.span == pytest.approx(np.array([[0, 1], [0.95, 2.05], [2, 2.25], [3.95, 4.5], [4.25, 4.5]]))


def test_moments_of_videos_with_as_many_clips_are_in_clips_of_their_video() -> None:
    held = HeldFeatures(1.0, {name: np.ones((count, 2), dtype=np.float32) for name, count in (("v", 8), ("w", 16))})
    clips = read_clips(held, "f", {"v": 8.0, "w": 16.0}, clips=4)
    pairs = [TrainingPair(1, 0, "v", 3.0, 6.0, 0.5), TrainingPair(2, 1, "w", 3.0, 6.0, 0.5)]
    found = read_pairs(TrainingSet("train.json", ("one", "two"), pairs), clips, weighted=True)
    assert (found.first.tolist(), found.last.tolist()) == ([1, 0], [2, 1])
    assert found.span.tolist() == [[1.5, 3.0], [0.75, 1.5]]


def test_positives_are_all_videos_of_a_query_and_weights_similarities_within_0_and_1() -> None:
    """TVR-Ranking, appendix C.1: similarities range from 0.0 to 1.0. Cosines do not."""
    found = pairs_of(
        TrainingPair(1, 0, "w", 0, 1, 0.9),
        TrainingPair(1, 0, "v", 0, 1, -0.2),
        TrainingPair(2, 1, "w", 0, 1, 1.0000001),
        TrainingPair(2, 1, "w", 3, 4, 0.4),
    )
    assert [one.tolist() for one in found.positives] == [[0, 1], [1]]
    assert found.weight.tolist() == np.array([0.9, 0.0, 1.0, 0.4], dtype=np.float32).tolist()
    assert pairs_of(TrainingPair(1, 0, "v", 0, 1, None), weighted=False).weight.tolist() == [1.0]
    either = pairs_of(TrainingPair(1, 0, "v", 0, 1, None), TrainingPair(1, 0, "v", 0, 1, 0.5), weighted=None)
    assert either.weight.tolist() == [1.0, 0.5]


def test_moments_that_cannot_be_are_refused_by_row_and_video() -> None:
    with pytest.raises(InputError) as refusal:
        pairs_of(
            TrainingPair(3, 0, "no", 0, 1, 0.5),
            TrainingPair(4, 0, "v", 2, 2, 0.5),
            TrainingPair(5, 1, "v", 9, 10, 0.5),
            TrainingPair(6, 1, "w", 0, 1, None),
        )
    assert [str(one) for one in refusal.value.problems] == [
        "train.json, row 3: video 'no' is not in video_corpus.json",
        "train.json, row 4: [2, 2] is not a moment of video 'v', which lasts 9 s",
        "train.json, row 5: [9, 10] is not a moment of video 'v', which lasts 9 s",
        "train.json, row 6: a moment in video 'w' has no similarity as its weight: set `loss.weighted` to false",
    ]


def test_empty_splits_are_refused() -> None:
    with pytest.raises(InputError, match=r"train\.json: has no query with a moment"):
        pairs_of()
    with pytest.raises(InputError, match=r"val\.json: has no query"):
        require_queries(AskedQueries("val.json", (), ()))
    with pytest.raises(InputError, match=r"val\.json, row 2: query 8: the text is empty"):
        require_queries(AskedQueries("val.json", (7, 8), ("a", " ")))
