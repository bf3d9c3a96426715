"""The consensus rule, agreement statistics and corpus files against values computed elsewhere."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.campaign.judging.rules import decide
from backend.campaign.release.earlier.rules.raw_annotation import RawAnnotations, read_raw, summarise
from backend.scoring.statistics.agreement import Level, cohen_kappa, count_grades, krippendorff_alpha


@pytest.fixture(scope="module")
def stats(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "golden" / "stats.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def raw(shared: Path) -> RawAnnotations:
    return read_raw((shared / "data" / "tvr_ranking" / "raw_annotation.csv").read_bytes(), "raw_annotation.csv")


def test_every_two_and_four_grades(stats: dict[str, Any]) -> None:
    two = {tuple(row["ratings"]): row["final"] for row in stats["consensus"]["two"]}
    four = {tuple(sorted(row["ratings"])): row["final"] for row in stats["consensus"]["four"]}
    assert (len(two), len(four)) == (25, 70), "all ordered pairs, all sets of four"
    for grades, final in two.items():
        assert decide(grades, 1).relevance == final, grades
    for grades in itertools.product(range(5), repeat=4):
        assert decide(grades, 1).relevance == four[tuple(sorted(grades))], grades


def test_krippendorff_alpha(stats: dict[str, Any]) -> None:
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval")
    for case in stats["krippendorff_alpha"]:
        unit = np.repeat(np.arange(len(case["units"])), [len(grades) for grades in case["units"]])
        counts = count_grades(unit, np.array([grade for grades in case["units"] for grade in grades]), 5)
        for level in levels:
            assert krippendorff_alpha(counts, level).value == pytest.approx(case[level], abs=1e-12), case


def test_cohen_kappa(stats: dict[str, Any]) -> None:
    for case in stats["cohen_kappa"]:
        x, y = np.array(case["x"]), np.array(case["y"])
        assert cohen_kappa(x, y).value == pytest.approx(case["kappa"], abs=1e-12), case
        assert cohen_kappa(x, y, "linear").value == pytest.approx(case["kappa_linear"], abs=1e-12), case
        assert cohen_kappa(x, y, "quadratic").value == pytest.approx(case["kappa_quadratic"], abs=1e-12), case


def test_the_published_raw_annotations_give_the_published_relevances(
    raw: RawAnnotations, stats: dict[str, Any]
) -> None:
    found = summarise(raw)
    assert (found["rows"], found["pairs"], found["annotators"]) == (227_808, 96_483, 21)
    assert (found["consensus"], found["discarded"]) == (94_442, 2_041)
    assert list(found["relevance"].values()) == [5_929, 19_245, 30_056, 24_439, 14_773]
    assert found["undecided"] == {"one": 0, "two": 2, "three": 0}
    assert found["settled_by_two"] / found["pairs"] == pytest.approx(0.8194, abs=5e-5)
    assert found["settled_by_two"] + found["settled_by_four"] == found["consensus"]
    assert (found["pairs_graded_twice_by_one"], found["duplicate_rows"]) == (11_682, 8_345)

    expected = stats["real_agreement"]
    assert found["alpha_ordinal"] == pytest.approx(expected["alpha_ordinal_all_ratings"], abs=1e-9)
    assert found["alpha_nominal"] == pytest.approx(expected["alpha_nominal_all"], abs=1e-9)
    assert found["alpha_interval"] == pytest.approx(expected["alpha_interval_all"], abs=1e-9)
    first = expected["alpha_ordinal_first_per_worker"]
    assert found["alpha_ordinal_first_per_annotator"] == pytest.approx(first, abs=1e-9)
    assert found["kappa_plain"] == pytest.approx(0.181, abs=5e-4)
    assert found["kappa_quadratic"] == pytest.approx(0.513, abs=5e-4)
    assert found["undefined"] == {}


def test_alpha_of_the_pairs_that_nobody_graded_twice(raw: RawAnnotations, stats: dict[str, Any]) -> None:
    one_grade_each = np.unique(np.stack([raw.pair, raw.annotator]), axis=1)[0]
    clean = np.bincount(raw.pair) == np.bincount(one_grade_each)
    found = krippendorff_alpha(count_grades(raw.pair, raw.grade, 5)[clean])
    expected = stats["real_agreement"]["alpha_ordinal_pairs_without_repeats"]
    assert found.value == pytest.approx(expected, abs=1e-9)
