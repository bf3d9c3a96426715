"""Files of pools: the published one against plain counting, every fault by its query and video, and back again."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.captioned import query_id
from backend.core.errors import InputError
from backend.scoring.pools.files import parse_pools, read_pools, write_pools
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools, occurrences

Document = dict[str, dict[str, Any]]


def seconds() -> Document:
    """Three videos in seconds; the second sentence of `a` is no query, its third repeats the first."""
    return {
        "a": {
            "duration": 30.5,
            "timestamps": [[1, 4.5], [5, 9], [20, 24]],
            "sentences": ["He sits.", "She runs.", "He sits."],
            "pos_moments": [[["b", "A man sits.", [2, 6]]], [], []],
            "retrieval_pool": [["a", "b", "c"], [], ["c", "a"]],
        },
        "b": {
            "duration": 12,
            "timestamps": [[2, 6]],
            "sentences": ["A man sits."],
            "pos_moments": [[]],
            "retrieval_pool": [[]],
        },
        "c": {"duration": 9, "timestamps": [], "sentences": [], "pos_moments": [], "retrieval_pool": []},
    }


def frames() -> Document:
    """The same in frames, at 10 and 20 a second."""
    found = seconds()
    for video, fps in (("a", 10), ("b", 20), ("c", 10)):
        entry = found[video]
        entry |= {"fps": fps, "num_frames": entry.pop("duration") * fps}
        entry["timestamps"] = [[start * fps, end * fps] for start, end in entry["timestamps"]]
    found["a"]["pos_moments"][0][0][2] = [40, 120]
    return found


def read(document: object) -> Pools:
    return parse_pools(json.dumps(document).encode(), "pools.json")


def refused(document: object) -> list[str]:
    with pytest.raises(InputError) as refusal:
        read(document)
    return [str(problem) for problem in refusal.value.problems]


def test_queries_are_sentences_with_a_pool_and_every_occurrence_in_the_own_video_is_positive() -> None:
    pools = read(seconds())
    first, again = pools.queries
    there = PoolMoment("b", 2, 6, "A man sits.")
    sits = PoolMoment("a", 1, 4.5, "He sits."), PoolMoment("a", 20, 24, "He sits.")
    assert first == PoolQuery("a#0", "He sits.", sits[0], (*sits, there), ("a", "b", "c"))
    assert again == PoolQuery("a#2", "He sits.", sits[1], sits[::-1], ("a", "c"))
    assert pools.durations == {"a": 30.5, "b": 12, "c": 9}
    assert [len(moments) for moments in pools.moments.values()] == [3, 1, 0]
    assert (first.positive_videos, first.negatives) == (("a", "b"), ("c",))
    assert (pools.size, pools.full) == (3, (first,))


def test_frames_become_seconds_by_the_rate_of_the_video_they_are_in() -> None:
    assert read(frames()) == read(seconds())


def test_a_file_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "pools.json.gz"
    path.write_bytes(gzip.compress(json.dumps(seconds()).encode()))
    assert read_pools(path) == read(seconds())


def with_(change: Callable[[Document], object], start: Callable[[], Document] = seconds) -> Document:
    document = start()
    change(document)
    return document


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param(
            with_(lambda d: d["a"]["retrieval_pool"][0].append("x")),
            "query a#0: video x of its pool is not in the file",
            id="unknown video",
        ),
        pytest.param(
            with_(lambda d: d["a"]["retrieval_pool"][0].remove("a")),
            "query a#0: its own video a is not in its pool",
            id="no own video",
        ),
        pytest.param(
            with_(lambda d: d["a"]["retrieval_pool"][0].remove("b")),
            "query a#0, positive 1 in video b: the video is not in the pool",
            id="positive outside",
        ),
        pytest.param(
            with_(lambda d: d["a"]["retrieval_pool"][0].append("c")),
            "query a#0: video c is 2 times in its pool",
            id="video twice",
        ),
        pytest.param(
            with_(lambda d: d["a"]["retrieval_pool"][0].clear()),
            "query a#0: has positives but an empty pool; give it a pool that begins with video a",
            id="positives without a pool",
        ),
        pytest.param(
            with_(lambda d: d["a"].update(timestamps=[[10, 45], [5, 9], [20, 24]])),
            "query a#0, own moment in video a: [10, 45] ends after the video, which lasts 30.5 s; if times are frames,"
            " give `fps` and `num_frames` instead of `duration` for all videos",
            id="own frames for seconds",
        ),
        pytest.param(
            with_(lambda d: d["a"]["pos_moments"].__setitem__(0, [["b", "A man sits.", [40, 120]]])),
            "query a#0, positive 1 in video b: [40, 120] ends after the video, which lasts 12 s; if times are frames,"
            " give `fps` and `num_frames` instead of `duration` for all videos",
            id="positive in frames",
        ),
        pytest.param(
            with_(lambda d: d["a"]["pos_moments"].__setitem__(0, [["b", "A man sits.", [2, 6]]]), frames),
            "query a#0, positive 1 in video b: mixes seconds and frames: the video has this sentence at [40, 120]"
            " frames, but the positive at [2, 6], which looks like seconds",
            id="positive in seconds among frames",
        ),
        pytest.param(
            with_(lambda d: d["a"].update(timestamps=[[1, 4.5], [50, 90], [200, 240]]), frames),
            "query a#0, own moment in video a: [1, 4.5] are not frame numbers, but a video with `fps` and without"
            " `duration` has its times in frames; if they are seconds, give `duration` for all videos",
            id="own seconds for frames",
        ),
        pytest.param(
            with_(lambda d: d["a"].update(timestamps=[[10, 9045], [50, 90], [200, 240]]), frames),
            "query a#0, own moment in video a: [10, 9045] ends after the video's last frame, 305",
            id="past the last frame",
        ),
        pytest.param(
            with_(lambda d: d["a"]["sentences"].pop()),
            "video a: its lists have different lengths: 3 in `timestamps`, 2 in `sentences`, 3 in `pos_moments`, 3 in"
            " `retrieval_pool`",
            id="lengths",
        ),
        pytest.param(
            with_(lambda d: d["a"].pop("duration")),
            "video a: has neither `duration` (times in seconds) nor `fps` and `num_frames` (in frames)",
            id="no scale",
        ),
        pytest.param(
            with_(lambda d: d["a"].update(duration=-3)),
            "video a: `duration` is -3, not a number above 0",
            id="duration",
        ),
        pytest.param(
            with_(lambda d: d["a"]["timestamps"].__setitem__(0, [4, 4])),
            "query a#0, own moment in video a: [4, 4] does not start at 0 or later and end after its start",
            id="empty span",
        ),
        pytest.param(
            with_(lambda d: d["a"]["pos_moments"].__setitem__(0, [["b", [2, 6]]])),
            "query a#0, positive 1: ['b', [2, 6]] is not [video, sentence, [start, end]]",
            id="shape of a positive",
        ),
        pytest.param(
            with_(lambda d: d["a"]["sentences"].__setitem__(1, " ")), "query a#1: its sentence is blank", id="blank"
        ),
    ],
)
def test_a_fault_is_refused_with_file_query_and_video(document: Document, said: str) -> None:
    assert refused(document) == [f"pools.json, row 1: {said}"]


def test_a_file_with_some_videos_in_frames_and_some_in_seconds_is_refused() -> None:
    assert refused(seconds() | {"b": frames()["b"]}) == [
        "pools.json: mixes seconds and frames: times are seconds in 2 videos such as a, by `duration`, but frames in 1 "
        "video such as b, by `fps` and `num_frames`; convert all to seconds with `duration`"
    ]


def test_all_faults_are_told_at_once_and_what_hangs_on_a_broken_entry_is_no_fault() -> None:
    document = seconds()
    document["a"]["retrieval_pool"][2] = ["c"]
    document["a"]["pos_moments"][0].append(["x", "Somebody sits.", [0, 1]])
    document["b"]["sentences"].append("One too many.")
    assert refused(document) == [
        "pools.json, row 1: query a#0, positive 2 in video x: the video is not in the pool",
        "pools.json, row 1: query a#0, positive 2 in video x: the video is not in the file",
        "pools.json, row 1: query a#2: its own video a is not in its pool",
        "pools.json, row 2: video b: its lists have different lengths: 1 in `timestamps`, 2 in `sentences`, 1 in"
        " `pos_moments`, 1 in `retrieval_pool`",
    ]


@pytest.mark.parametrize("content", [b"[]", b"{}", b"3", b"", b"{", b'{"a": 1, "a": 2}'])
def test_what_is_no_file_of_pools_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^pools\.json"):
        parse_pools(content, "pools.json")


@st.composite
def pools_in_seconds(draw: st.DrawFn) -> Pools:
    """Any pools: some sentences repeated, some without a pool."""
    names = draw(st.lists(st.text("abc#é ", min_size=1).filter(str.strip), min_size=1, max_size=5, unique=True))
    time = st.floats(0, 50).map(lambda value: round(value, 2))
    span = st.tuples(time, st.floats(0.01, 50).map(lambda value: round(value, 2))).map(lambda s: (s[0], sum(s)))
    said = st.lists(st.tuples(span, st.sampled_from(["He sits.", "He  sits.", "She runs.", "A\n“dog”"])), max_size=4)
    moments = {name: tuple(PoolMoment(name, *s, text) for s, text in draw(said)) for name in names}
    others = [moment for found in moments.values() for moment in found]
    queries = []
    for name, found in moments.items():
        for number, own in enumerate(found):
            if not draw(st.booleans()):
                continue
            listed = draw(st.lists(st.sampled_from(others), max_size=3, unique=True))
            positives = [*occurrences(found, number), *(moment for moment in listed if moment.video == name)]
            positives += [moment for moment in listed if moment.video != name]
            pool = [name, *(moment.video for moment in positives), *draw(st.lists(st.sampled_from(names)))]
            queries.append(
                PoolQuery(
                    *(query_id(name, number), own.sentence, own),
                    *(tuple(dict.fromkeys(positives)), tuple(dict.fromkeys(pool))),
                )
            )
    return Pools(tuple(queries), {name: 101.5 for name in names}, moments)


@given(pools_in_seconds())
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, pools: Pools) -> None:
    path = tmp_path_factory.mktemp("pools") / "pools.json"
    write_pools(pools, path)
    assert read_pools(path) == pools


def test_a_query_of_no_sentence_is_not_written(tmp_path: Path) -> None:
    pools = read(seconds())
    stray = PoolQuery("b#7", "He sits.", pools.queries[0].own, (), ("b",))
    with pytest.raises(ValueError, match="different sentences"):
        write_pools(Pools((*pools.queries, stray), pools.durations, pools.moments), tmp_path / "pools.json")
    assert not list(tmp_path.iterdir())


def test_the_published_charades_file_is_read_whole(shared: Path, tmp_path: Path) -> None:
    path = shared / "data/mvmr/charades_test_mvmr.json"
    published = json.loads(path.read_text("utf-8"))
    pools = read_pools(path)
    lengths = Counter(len(pool) for entry in published.values() for pool in entry["retrieval_pool"])
    assert Counter(len(query.videos) for query in pools.queries) == lengths
    assert pools.durations == {name: entry["duration"] for name, entry in published.items()}
    for query in pools.queries:
        name, number = query.query_id.split("#")
        entry, place = published[name], int(number)
        assert query.text == entry["sentences"][place]
        assert list(query.videos) == entry["retrieval_pool"][place]
        listed = [(m.video, m.sentence, [m.start_s, m.end_s]) for m in query.positives if m.video != name]
        assert listed == [tuple(positive) for positive in entry["pos_moments"][place]]
    write_pools(pools, tmp_path / "pools.json")
    assert json.loads((tmp_path / "pools.json").read_text("utf-8")) == published
