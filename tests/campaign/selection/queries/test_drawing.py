"""The draw by examples counted by hand, and refusals of what cannot be drawn."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from backend.campaign.nouns import Split
from backend.campaign.selection.queries.model import Drawable, DrawnQuery, Repeats
from backend.campaign.selection.queries.rules import apportion, draw, named_shows, shows
from backend.core.errors import ProjectError


def texts(count: int, videos: str = "v") -> list[Drawable]:
    """Captions of as many texts, which go round the videos."""
    return [Drawable(n, f"text {n:02}", videos[n % len(videos)], 0.0, 1.0) for n in range(count)]


def video(caption: Drawable) -> str:
    return caption.video


def test_no_more_is_drawn_than_there_are_texts() -> None:
    captions = [*texts(5), *texts(5)]
    assert len(draw(captions, val=3, test=2, seed=1).queries) == 5
    with pytest.raises(ProjectError) as refusal:
        draw(captions, val=3, test=2, seed=1, own={"text 00": Split.TRAIN, "mine": Split.VAL})
    assert str(refusal.value) == ("3 + 2 queries asked for, but there are only 4 distinct caption texts: ask for fewer")


def test_a_draw_of_none_leaves_all_to_training() -> None:
    for stratum in (None, video):
        found = draw(texts(4), val=0, test=0, seed=1, stratum=stratum)
        assert set(found.queries) == {DrawnQuery(f"text {n:02}", n, Split.TRAIN) for n in range(4)}
        assert len(found.queries) == 4


@pytest.mark.parametrize("stratum", [None, video])
def test_a_text_is_asked_by_the_first_of_its_captions(stratum: object) -> None:
    """By video, start, end, and then by number; what is asked may not train."""
    captions = [
        *(Drawable(1, "A cat.", "b", 0.0, 1.0), Drawable(2, "A cat.", "a", 3.0, 4.0)),
        *(Drawable(9, "A cat.", "a", 2.0, 5.0), Drawable(4, "A cat.", "a", 2.0, 6.0)),
        *(Drawable(8, "A cat.", "a", 2.0, 5.0), Drawable(5, "A dog.", "a", 0.0, 1.0)),
    ]
    found = draw(captions, val=1, test=1, seed=3, stratum=stratum)  # type: ignore[arg-type]
    assert {query.text: query.caption_id for query in found.queries} == {"A cat.": 8, "A dog.": 5}
    assert (found.removed, found.merged) == (4, 0)


def test_what_trains_is_kept_or_merged_and_own_texts_are_there_already() -> None:
    captions = [Drawable(n, text, "v", float(n), n + 1.0) for n, text in enumerate("aaabbcccc")]
    own = {"b": Split.TRAIN, "c": Split.TEST, "other": Split.TRAIN}
    kept = draw(captions, val=0, test=0, seed=1, own=own)
    assert [(query.text, query.caption_id) for query in kept.queries] == [
        *(("a", n) for n in range(3)),
        ("b", 3),
        ("b", 4),
    ]
    assert (kept.removed, kept.merged) == (4, 0)
    merged = draw(captions, val=0, test=0, seed=1, own=own, repeats=Repeats.MERGE)
    assert [(query.text, query.caption_id) for query in merged.queries] == [("a", 0)]
    assert (merged.removed, merged.merged) == (4, 2 + 2)


def test_validation_and_test_are_spread_alike() -> None:
    """Three videos of four texts each: three a video, one of them for validation."""
    for seed in range(5):
        captions = texts(12, "abc")
        found = draw(captions, val=3, test=6, seed=seed, stratum=video)
        drawn = Counter((captions[query.caption_id].video, query.split) for query in found.queries)
        each = {Split.VAL: 1, Split.TEST: 2, Split.TRAIN: 1}
        assert drawn == {(video, split): count for video in "abc" for split, count in each.items()}
        assert [query.split for query in found.queries] == [*[Split.VAL] * 3, *[Split.TEST] * 6, *[Split.TRAIN] * 3]


def test_another_seed_draws_others() -> None:
    for stratum in (None, video):
        drawn = {
            tuple(query.text for query in draw(texts(40, "ab"), val=9, test=9, seed=seed, stratum=stratum).queries)
            for seed in range(4)
        }
        assert len(drawn) == 4


def test_the_largest_remainders_get_what_is_left() -> None:
    """Of 10: 10 * 55/100 = 5.5, 10 * 27/100 = 2.7, 10 * 18/100 = 1.8; the whole parts are 8, the two last get one."""
    assert apportion(10, {"a": 55, "b": 27, "c": 18}, random.Random(1)) == {"a": 5, "b": 3, "c": 2}
    alike = {tuple(apportion(1, {"a": 1, "b": 1, "c": 1}, random.Random(seed)).items()) for seed in range(20)}
    assert len(alike) == 3, "remainders alike are settled by the seed"
    shares = [apportion(2, dict.fromkeys(names, 1), random.Random(5)) for names in ("abcde", "edcba")]
    assert shares[0] == shares[1]


def test_names_without_a_show_are_none() -> None:
    names = ["castle_s01e02_seg02", "s1e2", "s_1e2", "a castle_s01e02"]
    assert named_shows(names) == {"castle_s01e02_seg02": "castle", "s1e2": "", "s_1e2": None, "a castle_s01e02": None}
    assert named_shows(["abc-x", "-x"], "^([a-z])?([a-z])?([a-z])?-") == {"abc-x": "a", "-x": ""}
    assert named_shows(["abc"], "") == named_shows(["abc"])
    assert named_shows(["bbc-7", "itv-9"], r"^[a-z]+") == {"bbc-7": "bbc", "itv-9": "itv"}
    assert shows(["s1e2"], named_shows(names)) == {"s1e2": ""}


def test_what_is_no_regular_expression_is_told_with_what_is_wrong_in_it() -> None:
    with pytest.raises(ProjectError) as refusal:
        named_shows(["abc"], "(abc")
    expected = "This pattern is not a regular expression: (abc (missing ), unterminated subpattern at position 0)."
    assert str(refusal.value) == expected


def test_of_many_names_without_a_show_three_are_told() -> None:
    for names, told in ((["c", "b", "a"], "(a, b, c)"), (["d", "c", "b", "a"], "(a, b, c ...)")):
        with pytest.raises(ProjectError) as refusal:
            shows(everything := [*names, "castle_s01e02"], named_shows(everything))
        assert f"the names of {len(names)} of {len(names) + 1} videos do not tell their show {told}" in str(
            refusal.value
        )


def test_a_draw_is_spread_over_the_six_series_of_tvr(shared: Path) -> None:
    """Captions of each series in tvr_val_release.jsonl, counted by another rule, against what is drawn of them."""
    lines = [json.loads(line) for line in (shared / "data/tvr/tvr_val_release.jsonl").open()]
    captions = [Drawable(n, f"{n}", line["vid_name"], *line["ts"]) for n, line in enumerate(lines)]
    videos = {caption.video for caption in captions}
    show = shows(videos, named_shows(videos))
    found = draw(captions, val=500, test=2781, seed=7, stratum=lambda caption: show[caption.video])
    prefixes = ("castle", "friends", "grey", "house", "met", "s0", "s1")
    for split, total in ((Split.VAL, 500), (Split.TEST, 2781)):
        drawn = [captions[query.caption_id].video for query in found.queries if query.split is split]
        for prefix in prefixes[:5]:
            there = sum(line["vid_name"].startswith(prefix) for line in lines)
            assert abs(sum(name.startswith(prefix) for name in drawn) - total * there / len(lines)) < 2
    assert {name.split("_")[0] if not name.startswith("s") else "" for name in show} == {*prefixes[:5], ""}
