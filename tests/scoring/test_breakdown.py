"""Groups of queries: every query in exactly one, with the stated bounds."""

from dataclasses import replace

import numpy as np
import pytest

from backend.core.errors import InputError
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


def test_a_query_belongs_to_the_video_of_its_first_most_relevant_moment() -> None:
    truth = {"q": [moment(5, 2, "a"), moment(5, 4, "c"), moment(5, 4, "b")], "r": [moment(5, 1, "a")], "s": []}
    assert groups("video", truth) == {"q": "c", "r": "a", "s": "no relevant moment"}


class Series(dict):  # type: ignore[type-arg]
    """What a column of a data frame, taken by itself, can do."""

    name = "scene"


class TestOwnGroups:
    truth = parse_truth_mapping({"q": [moment(5, 1)], 7: [moment(5, 1)], "r": [moment(5, 1)]})

    @pytest.mark.parametrize(
        ("given", "by", "names"),
        [
            ({"q": "out", "7": "in", "r": "out", "more": "x"}, "group", ("out", "in")),
            ({"scene": {"q": "out", 7: "in", "r": "out"}}, "scene", ("out", "in")),
            (Series({"q": 10, 7: 9.5, "r": 10}), "scene", ("9.5", "10")),
            ({"q": None, 7: True, "r": None}, "group", ("None", "True")),
        ],
    )
    def test_they_stay_in_the_order_of_the_mapping_and_numbers_are_sorted(
        self, given: dict[object, object], by: str, names: tuple[str, ...]
    ) -> None:
        found = break_down(given, self.truth)
        assert (found.by, found.names) == (by, names)
        assert [found.group[0], found.group[2]] == [found.group[0]] * 2
        assert found.group[1] != found.group[0]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("place", "by: 'place' is not one of duration, show, video, relevance, type, and no mapping"),
            ("show,type", "by: holds 2 properties of queries; give one"),
            ({"scene": {"q": 1}}, "by: 2 queries of the truth have no scene: 7, r"),
        ],
    )
    def test_what_is_no_property_is_told(self, given: object, message: str) -> None:
        with pytest.raises(InputError) as refused:
            break_down(given, self.truth)  # type: ignore[arg-type]
        assert str(refused.value) == message

    def test_clusters_are_groups_but_for_queries_without_relevant_moments(self) -> None:
        truth = {"q": [moment(5, 2, "a")], "n": [], "r": [moment(5, 1, "a")], "s": [moment(5, 1, "b")], "m": []}
        found = break_down("video", parse_truth_mapping(truth)).clusters()
        assert found[0] == found[2]
        assert sorted(set(found.tolist())) == [0, 1, 2, 3]
        with pytest.raises(
            InputError, match="clusters: type puts all queries into one cluster, not said; choose another"
        ):
            break_down("type", parse_truth_mapping(truth)).clusters()
