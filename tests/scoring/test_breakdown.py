"""Groups of queries: every query in exactly one, with the stated bounds."""

from dataclasses import replace

import numpy as np
import pytest

from backend.scoring.breakdown import BREAKDOWNS, break_down, show_of
from backend.scoring.files.entries import parse_truth_mapping


def moment(length: float, relevance: int, video: str = "friends_s01e01_seg02_clip_00") -> dict[str, object]:
    return {"video": video, "start": 5, "end": 5 + length, "relevance": relevance}


TRUTH = {
    "just short": [moment(9.9, 4), moment(60, 0)],
    "lower bound": [moment(10, 1)],
    "upper bound": [moment(20, 2), moment(40, 2)],
    "long": [moment(30.1, 3)],
    "nothing": [moment(3, 0)],
    "empty": [],
}


def groups(by: str, truth: dict[str, list[dict[str, object]]] = TRUTH, least: int = 1) -> dict[str, str]:
    found = break_down(by, parse_truth_mapping(truth), least)
    return {query: found.names[number] for query, number in zip(truth, found.group, strict=True)}


def test_durations_are_grouped_by_the_mean_length_of_relevant_moments_with_both_bounds_in_the_middle() -> None:
    assert groups("duration") == {
        "just short": "short, < 10 s",
        "lower bound": "medium, 10-30 s",
        "upper bound": "medium, 10-30 s",
        "long": "long, > 30 s",
        "nothing": "no relevant moment",
        "empty": "no relevant moment",
    }
    assert groups("duration", least=4)["long"] == "no relevant moment"


def test_relevances_are_grouped_by_the_highest() -> None:
    assert list(groups("relevance").values()) == ["4", "1", "2", "3", "0", "no moment"]


def test_a_query_belongs_to_the_show_of_its_first_most_relevant_moment() -> None:
    truth = {
        "q": [moment(5, 2, "castle_s01e01_seg02_clip_00"), moment(5, 4, "s09e01_x"), moment(5, 4, "met_s03e05_y")],
        "r": [moment(5, 1, "castle_s01e01_seg02_clip_00")],
        "s": [moment(5, 0)],
    }
    assert groups("show", truth) == {"q": "no prefix", "r": "castle", "s": "no relevant moment"}


@pytest.mark.parametrize(
    ("video", "show"),
    [
        ("friends_s01e16-17_seg01_clip_00", "friends"),  # double episodes, as TVR names them
        ("how_i_met_s01e01_seg01", "how_i_met"),
        ("s01e01_seg02_clip_00", "no prefix"),
        ("S01E01", "no prefix"),
        ("v_sXe2_s", "other"),
        ("", "other"),
    ],
)
def test_shows_are_read_from_names_as_tvr_writes_them(video: str, show: str) -> None:
    assert show_of(video) == show


def test_types_are_those_of_the_truth_and_one_group_where_it_has_none() -> None:
    truth = parse_truth_mapping(TRUTH)
    assert break_down("type", truth).names == ("not said",)
    types = ("v", "t", *["v"] * (len(TRUTH) - 2))
    part = break_down("type", replace(truth, types=types))
    assert dict(zip(part.names, part.sizes, strict=True)) == {"t": 1, "v": len(TRUTH) - 1}


@pytest.mark.parametrize("by", BREAKDOWNS)
def test_the_means_of_groups_weighted_by_their_sizes_are_the_mean_of_all(by: str) -> None:
    part = break_down(by, parse_truth_mapping(TRUTH))
    values = np.random.default_rng(1).random((3, len(TRUTH)))
    means, counts = part.means(np.arange(len(TRUTH)), values)
    assert sum(part.sizes) == counts.sum() == len(TRUTH)
    np.testing.assert_allclose((means * counts).sum(axis=1) / counts.sum(), values.mean(axis=1))
    some, few = part.means(np.array([0]), values[:, :1])
    assert few.sum() == 1
    assert np.isnan(some).sum() == 3 * (len(part.names) - 1)
