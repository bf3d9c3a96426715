"""Thresholds of an encoder from files of labelled pairs: what is read, what is refused, what is written."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.selection.pools.calibrating import calibrate_thresholds, held_out_shares
from backend.campaign.selection.pools.files import read_sts, read_thresholds
from backend.campaign.selection.pools.model import LabelledPair
from backend.core.errors import InputError, ProjectError
from support import WordEncoder


class Angles:
    """An encoder of two dimensions: the sentence is the angle in degrees."""

    identity, dim = "angles", 2

    def encode(self, texts: list[str], *, progress: object = None) -> np.ndarray:
        angles = np.radians([float(text) for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)

    def vocabulary(self) -> frozenset[str]:
        return frozenset()


def test_pairs_of_sentences_give_thresholds(tmp_path: Path) -> None:
    """Cosines of 0.99 to 0.71 are alike, of 0.5 to 0.1 different: the nearly best thresholds lie just inside."""
    alike = [8, 20, 30, 40, 45]
    different = [60, 70, 84]
    lines = [f"4.5\t{angle}\t0\n" for angle in alike] + [f"1\t{angle}\t0\n" for angle in different] + ["3\t50\t0\n"]
    file = tmp_path / "sts.tsv"
    file.write_text("score\tsentence2\tsentence1\n" + "".join(lines))
    found = calibrate_thresholds(file, tmp_path / "out", encoder=Angles(), embeddings=tmp_path / "e")
    assert (found.t_pos, found.t_neg) == (0.70, 0.51)  # cos 45 = 0.7071, cos 60 = 0.5: not below 0.5
    assert (found.alike, found.different, found.neither) == (5, 3, 1)
    assert (found.kept_alike, found.kept_different, found.youden) == (1, 1, 1)
    assert (found.alike_below, found.different_above) == (0, 0)
    assert found.encoder == "angles"
    assert read_thresholds(tmp_path / "out/thresholds.json") == found
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/calibration.csv").read_text("utf-8"))))
    assert [(row["label"], row["pairs"]) for row in rows] == [("1.0", "3"), ("3.0", "1"), ("4.5", "5")]
    assert float(rows[2]["median"]) == pytest.approx(np.cos(np.radians(30)), abs=1e-5)
    assert (tmp_path / "out/calibration.png").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "out/calibration.svg").read_text("utf-8")
    assert "t_pos 0.7" in drawn
    assert "t_neg 0.51" in drawn


def pool_file(folder: Path, *, positives: bool = True, negatives: bool = True) -> Path:
    """Twelve videos: of each even one the next is a positive, and two others are negatives."""
    found = {}
    for v in range(12):
        near = f"v{v + 1:02d}"
        asked = v % 2 == 0
        pool = [f"v{v:02d}", *([near] if positives else []), *([f"v{(v + n) % 12:02d}" for n in (4, 6)] * negatives)]
        found[f"v{v:02d}"] = {
            "duration": 9.0,
            "timestamps": [[1, 5]],
            "sentences": [str(7 * v if asked else 7 * (v - 1) + 3)],
            "pos_moments": [[[near, "0", [1, 5]]] if asked and positives else []],
            "retrieval_pool": [pool if asked else []],
        }
    path = folder / "pools.json"
    path.write_text(json.dumps(found))
    return path


def test_published_pools_give_thresholds(tmp_path: Path) -> None:
    """Positives are 3 degrees away, negatives 28 or more: cosines of 0.9986 and at most 0.8829."""
    found = calibrate_thresholds(pool_file(tmp_path), tmp_path / "out", encoder=Angles(), embeddings=tmp_path / "e")
    assert (found.alike, found.different, found.neither) == (6, 12, 0)
    assert (found.t_pos, found.t_neg) == (0.99, 0.89)
    rows = (tmp_path / "out/calibration.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [["negative", "12"], ["positive", "6"]]


def test_each_half_is_judged_by_what_the_other_taught() -> None:
    """The first half teaches 0.9 and 0.21, of which the second keeps 0 of 1 and 1 of 2; that teaches 0.85 and 0.31."""
    first = [
        LabelledPair(0.9, True, "", True),
        LabelledPair(0.1, False, "", True),
        LabelledPair(0.2, False, "", True),
    ]
    second = [
        LabelledPair(0.85, True, "", False),
        LabelledPair(0.15, False, "", False),
        LabelledPair(0.3, False, "", False),
    ]
    assert held_out_shares([*first, *second, LabelledPair(0.5, None, "", True)]) == (0.5, 0.75)
    assert held_out_shares(first) is None


@pytest.mark.parametrize(
    ("lacking", "message"), [("positives", "no positive in another video"), ("negatives", "has no negative")]
)
def test_pools_of_one_kind_tell_nothing(tmp_path: Path, lacking: str, message: str) -> None:
    path = pool_file(tmp_path, **{lacking: False})
    with pytest.raises(InputError, match=message):
        calibrate_thresholds(path, tmp_path / "out", encoder=Angles(), embeddings=tmp_path / "e")
    assert not (tmp_path / "out").exists()


def test_every_bad_line_is_named_at_once() -> None:
    with pytest.raises(InputError) as refusal:
        read_sts(
            b"A dog.\tA cat.\t5.1\nA dog.\tA cat.\nA dog.\t \t3\nA dog.\tA cat.\t4\n\nA dog.\tA cat.\tx\n", "a.tsv"
        )
    assert [(problem.row, problem.message.split(":")[0]) for problem in refusal.value.problems] == [
        (1, "score '5.1' is not a number from 0 to 5"),
        (2, "has 2 columns"),
        (3, "a sentence is empty"),
        (6, "score 'x' is not a number from 0 to 5"),
    ]


def test_pairs_of_one_kind_are_refused() -> None:
    with pytest.raises(InputError, match=r"has no pair with a score of 2 or less"):
        read_sts(b"A dog.\tA cat.\t4.0\nA dog.\tA cow.\t2.5\n", "a.tsv")


def test_what_is_no_file_of_thresholds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.json"
    path.write_text('{"t_pos": 0.9}')
    with pytest.raises(InputError, match="calibrate"):
        read_thresholds(path)


def test_a_folder_that_is_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").touch()
    with pytest.raises(ProjectError, match="not empty"):
        calibrate_thresholds(pool_file(tmp_path), tmp_path / "out", encoder=WordEncoder(), embeddings=tmp_path / "e")
