"""Thresholds of an encoder from files of labelled pairs: what is read, what is refused, what is written."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.selection.pools.calibrating import calibrate_thresholds, held_out_shares
from backend.campaign.selection.pools.files import read_sts, read_thresholds
from backend.campaign.selection.pools.model import LabelledPair
from backend.campaign.selection.pools.violins import Violin
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
    """Cosines of 0.99 to 0.71 are alike, of 0.5 to 0.1 different: the nearly best thresholds lie just inside.

    A score of 3 is different: "two texts are considered similar when the score exceeds 3" (MVMR, section 5.1).
    """
    alike = [8, 20, 30, 40, 45]
    different = [70, 84]
    lines = [f"3.2\t{angle}\t0\n" for angle in alike] + [f"1\t{angle}\t0\n" for angle in different] + ["3\t60\t0\n"]
    file = tmp_path / "sts.tsv"
    file.write_text("score\tsentence2\tsentence1\n" + "".join(lines))
    found = calibrate_thresholds(file, tmp_path / "out", encoder=Angles(), embeddings=tmp_path / "e")
    assert (found.t_pos, found.t_neg) == (0.70, 0.51)  # cos 45 = 0.7071, cos 60 = 0.5: not below 0.5
    assert (found.alike, found.different, found.alike_above) == (5, 3, 3)
    assert found.rule.startswith("scores above 3 against all others, ")
    assert (found.kept_alike, found.kept_different, found.youden) == (1, 1, 1)
    assert (found.alike_below, found.different_above) == (0, 0)
    assert found.encoder == "angles"
    assert read_thresholds(tmp_path / "out/thresholds.json") == found
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/calibration.csv").read_text("utf-8"))))
    assert [(row["label"], row["pairs"]) for row in rows] == [("1", "2"), ("3", "1"), ("3.5", "5")]
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
    assert (found.alike, found.different, found.alike_above) == (6, 12, None)
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
    assert held_out_shares([*first, *second]) == (0.5, 0.75)
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
    pairs = b"A dog.\tA cat.\t4.0\nA dog.\tA cow.\t3.5\n"
    with pytest.raises(InputError, match=r"has no pair with a score of 3 or less"):
        read_sts(pairs, "a.tsv")
    with pytest.raises(InputError, match=r"has no pair with a score above 4"):
        read_sts(pairs, "a.tsv", 4)
    assert [pair.alike for pair in read_sts(pairs, "a.tsv", 3.5)] == [True, False]


def test_a_score_for_a_file_of_pools_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no scores: leave out --alike-above"):
        calibrate_thresholds(
            pool_file(tmp_path), tmp_path / "out", alike_above=3, encoder=Angles(), embeddings=tmp_path / "e"
        )
    assert not (tmp_path / "out").exists()


def test_thresholds_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They counted pairs that were neither alike nor different, and had no score above which pairs are alike."""
    found = calibrate_thresholds(pool_file(tmp_path), tmp_path / "out", encoder=Angles(), embeddings=tmp_path / "e")
    file = tmp_path / "out/thresholds.json"
    earlier = json.loads(file.read_bytes()) | {"neither": 4}
    del earlier["alike_above"]
    file.write_text(json.dumps(earlier))
    assert read_thresholds(file) == found


def sts16_like(path: Path, pairs: int = 600, seed: int = 4) -> Path:
    """Pairs of angles with whole scores from 0 to 5, more similar the higher, as in Figure 8 of the MVMR paper."""
    rng = np.random.default_rng(seed)
    scores = rng.choice(6, pairs, p=[0.3, 0.2, 0.1, 0.1, 0.2, 0.1])
    cosines = np.clip(0.25 + 0.13 * scores + rng.normal(0, 0.1, pairs), 0, 1)
    angles = np.degrees(np.arccos(cosines))
    path.write_text("".join(f"{angle:.3f}\t0\t{score}\n" for angle, score in zip(angles, scores, strict=True)))
    return path


def test_a_violin_of_each_score_is_as_wide_as_its_pairs_are_many(tmp_path: Path) -> None:
    """Figure 8: scores of 0 to 5 across, "the width of each graph corresponds to the number of samples"."""
    file = sts16_like(tmp_path / "sts16.tsv")
    calibrate_thresholds(file, tmp_path / "out", encoder=Angles(), embeddings=tmp_path / "e")
    counts = Counter(line.split("\t")[2] for line in file.read_text().splitlines())
    drawn = (tmp_path / "out/calibration.svg").read_text("utf-8")
    across = {
        label: [float(x) for x in re.findall(r"[ML](-?[\d.]+),", outline)]
        for label, outline in re.findall(r'label: (\d)"[^>]*aria-roledescription="area mark" d="([^"]+)"', drawn)
    }
    widths = {label: max(xs) - min(xs) for label, xs in across.items()}
    assert sorted(widths) == list("012345")
    assert sorted(across, key=lambda label: np.mean(across[label])) == list("012345")
    widest = max(counts, key=lambda label: counts[label])
    for label, width in widths.items():
        assert width / widths[widest] == pytest.approx(counts[label] / counts[widest], rel=0.02)


def test_an_outline_is_the_density_of_its_pairs() -> None:
    """Against scikit-learn's kernel density at the same bandwidth."""
    from sklearn.neighbors import KernelDensity

    similarities = np.random.default_rng(2).beta(5, 2, 400)
    at, width = Violin("4", similarities).outline()
    bandwidth = 1.06 * similarities.std() * 400**-0.2
    assert (at[0], at[-1]) == pytest.approx((similarities.min() - bandwidth, 1))  # no cosine is higher
    kernel = KernelDensity(bandwidth=bandwidth).fit(similarities[:, None])
    density = np.exp(kernel.score_samples(at[:, None]))
    assert width == pytest.approx(density / density.max(), abs=2e-3)
    at, width = Violin("5", np.array([0.5])).outline()
    assert (at[0], at[-1], width.max()) == (0.49, 0.51, 1)


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
