"""Pools from a corpus: what is written, what is dropped, what is refused, and that no order counts."""

import csv
import hashlib
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.selection.pools.annotations import read_corpus
from backend.campaign.selection.pools.building import BuildReport, build
from backend.campaign.selection.pools.model import CaptionedCorpus, PoolOptions
from backend.core.errors import InputError, ProjectError
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import PoolMoment
from support import NOW, WordEncoder

VERBS = ["opens a door", "reads one book", "drinks tea", "sits down", "throws something away"]
Document = dict[str, dict[str, Any]]


class Cosines:
    """An encoder under which sentences are as similar as their shared verbs and nouns; counts what it encodes."""

    identity, dim = "cosines", 64

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: list[str], *, progress: object = None) -> np.ndarray:
        self.encoded += texts
        return WordEncoder().encode(texts)

    def vocabulary(self) -> frozenset[str]:
        return frozenset()


def document(videos: int = 30) -> Document:
    """Videos of 40 s with a sentence or two, of which each holds in every fifth video; the last says it twice."""
    found: Document = {}
    for v in range(videos):
        spans, sentences = [[1.5, 9.0]], [f"Person {VERBS[v % 5]}."]
        if v % 7 == 0:
            spans, sentences = [*spans, [10, 40]], [*sentences, f"Somebody {VERBS[(v + 1) % 5]}."]
        found[f"v{v:02d}"] = {"duration": 40.0, "timestamps": spans, "sentences": sentences}
    last = found[f"v{videos - 1:02d}"]
    last["timestamps"].append([20.0, 30.0])
    last["sentences"].append(last["sentences"][0])
    return found


def captioned(found: Document, folder: Path) -> CaptionedCorpus:
    file = folder / "corpus.json"
    file.write_text(json.dumps(found))
    return read_corpus(file, "activitynet", ImportOptions())


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., BuildReport]:
    """Build the pools of a document into `out`."""

    def make(found: Document, out: str = "out", encoder: Any = None, **options: Any) -> BuildReport:
        taken = PoolOptions(**{"pool": 12, "positives": 4, "t_pos": 0.9, "t_neg": 0.5, "seed": 1} | options)
        return build(
            captioned(found, tmp_path),
            encoder or Cosines(),
            tmp_path / out,
            taken,
            embeddings=tmp_path / "embeddings",
            now=NOW,
        )

    return make


def slow_s_te(query: str, video: dict[str, Any]) -> float:
    vectors = WordEncoder().encode([query, *video["sentences"]])
    return max(float(vectors[0] @ other) for other in vectors[1:])


def test_the_file_holds_what_was_chosen_by_the_thresholds(made: Callable[..., BuildReport], tmp_path: Path) -> None:
    corpus = document()
    report = made(corpus)
    pools = read_pools(tmp_path / "out/pools.json")
    assert report.queries == len(pools.queries) > 20
    assert report.videos == len(pools.durations) == 30
    assert report.sentences == sum(len(video["sentences"]) for video in corpus.values())
    for query in pools.queries:
        assert len(query.videos) == 12
        assert query.videos[0] == query.own.video
        assert len(query.positive_videos) <= 4
        for moment in query.positives:
            assert slow_s_te(query.text, {"sentences": [moment.sentence]}) > 0.9 - 1e-4
            place = corpus[moment.video]["sentences"].index(moment.sentence)
            assert [moment.start_s, moment.end_s] in corpus[moment.video]["timestamps"][place:]
        assert all(slow_s_te(query.text, corpus[video]) <= 0.5 + 1e-4 for video in query.negatives)
    mean = sum(len(query.positive_videos) for query in pools.queries) / len(pools.queries)
    assert report.positives == pytest.approx(mean)
    # Every occurrence in the own video is a positive.
    twice = {query.query_id for query in pools.queries if [m.video for m in query.positives].count("v29") == 2}
    assert {"v29#0", "v29#1"} <= twice
    assert all(query.startswith("v29#") for query in twice)


def test_pairs_and_manifest_say_how(made: Callable[..., BuildReport], tmp_path: Path) -> None:
    corpus = document()
    report = made(corpus, t_neg=0.45)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/pairs.csv").read_text("utf-8"))))
    pools = read_pools(tmp_path / "out/pools.json")
    by_query: dict[str, dict[str, str]] = {}
    for row in rows:
        by_query.setdefault(row["query_id"], {})[row["video"]] = row["role"]
        text = next(query.text for query in pools.queries if query.query_id == row["query_id"])
        assert float(row["s_te"]) == pytest.approx(slow_s_te(text, corpus[row["video"]]), abs=2e-5)
        assert row["s_tv"] == ""
    for query in pools.queries:
        roles = by_query[query.query_id]
        assert tuple(roles) == query.videos
        assert [video for video, role in roles.items() if role != "negative"] == list(query.positive_videos)
    told = json.loads((tmp_path / "out/manifest.json").read_bytes())
    assert (told["encoder"], told["visual"], told["captions"]) == ("cosines", "text alone", "as published")
    assert (told["pool"], told["positives"], told["seed"], told["t_pos"], told["t_neg"]) == (12, 4, 1, 0.9, 0.45)
    assert told["as_published"] == []
    assert told["positives_mean"] == report.positives
    for name, digest in told["files"].items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    assert sorted(told["files"]) == ["pairs.csv", "pools.json"]


def test_no_order_of_the_corpus_changes_a_pool(made: Callable[..., BuildReport], tmp_path: Path) -> None:
    corpus = document()
    made(corpus)
    names = [*corpus]
    random.Random(3).shuffle(names)
    made({name: corpus[name] for name in names}, "other")
    one, other = (read_pools(tmp_path / folder / "pools.json") for folder in ("out", "other"))
    assert {q.query_id: q for q in one.queries} == {q.query_id: q for q in other.queries}
    made(corpus, "again")
    assert (tmp_path / "again/pools.json").read_bytes() == (tmp_path / "out/pools.json").read_bytes()
    made(corpus, "reseeded", seed=2)
    assert read_pools(tmp_path / "reseeded/pools.json").queries != one.queries


def test_vectors_are_kept(made: Callable[..., BuildReport]) -> None:
    first, second = Cosines(), Cosines()
    made(document(), encoder=first)
    made(document(), "again", encoder=second)
    assert len(first.encoded) == len(set(first.encoded)) == 10
    assert second.encoded == []


def test_short_pools_are_dropped_and_named_or_kept_as_published(
    made: Callable[..., BuildReport], tmp_path: Path
) -> None:
    corpus = document()
    for video in ["v01", "v06", "v11", "v16"]:  # they say everything, and so distract from nothing
        corpus[video] = {
            "duration": 40.0,
            "timestamps": [[n, n + 5] for n in range(5)],
            "sentences": [f"Person {verb}." for verb in VERBS],
        }
    report = made(corpus, pool=23, positives=1)
    pools = read_pools(tmp_path / "out/pools.json")
    assert report.short
    assert not set(report.short) & {query.query_id for query in pools.queries}
    assert report.queries + len(report.short) == report.sentences
    published = made(corpus, "published", pool=23, positives=1, as_published=True)
    kept = read_pools(tmp_path / "published/pools.json")
    assert published.queries == published.sentences == len(kept.queries)
    assert {query.query_id for query in kept.queries if len(query.videos) < 23} == set(published.short)
    assert json.loads((tmp_path / "published/manifest.json").read_bytes())["as_published"]


def test_queries_without_a_distractor_are_told(made: Callable[..., BuildReport], tmp_path: Path) -> None:
    corpus = {
        f"v{n}": {"duration": 9, "timestamps": [[0, 4]], "sentences": ["He sits." if n < 3 else f"Words {n}."]}
        for n in range(8)
    }
    report = made(corpus, pool=3, positives=3)
    assert report.without_distractor == ("v0#0", "v1#0", "v2#0")
    assert report.queries == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool": 1}, "2 videos or more"),
        ({"positives": 0}, "--positives is 0: write 1 or more"),
        ({"t_pos": 0.5}, "has to be below"),
        ({"pool": 31}, "has 30 videos"),
        ({"t_neg": -0.5}, "no query has a pool of 12"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_left(
    made: Callable[..., BuildReport], tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ProjectError, match=message):
        made(document(), **options)
    assert {path.name for path in tmp_path.iterdir()} <= {"corpus.json", "embeddings"}


def test_a_folder_with_something_in_it_stays_as_it_is(made: Callable[..., BuildReport], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(ProjectError, match="not empty"):
        made(document())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_video_without_a_duration_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "corpus.csv"
    file.write_text("video,start,end,caption,duration\na,1,2,He sits.,\nb,1,2,She sits.,9\nc,1,2,They sit.,\n")
    with pytest.raises(InputError, match="row 2: video a has no duration") as refusal:
        read_corpus(file, None, ImportOptions())
    assert [problem.row for problem in refusal.value.problems] == [2, 4]


def test_frames_become_seconds_and_ends_stay_in_reach(tmp_path: Path) -> None:
    file = tmp_path / "tacos.json"
    entry = {"fps": 10.0, "num_frames": 100, "timestamps": [[10, 30], [50, 108]], "sentences": ["He sits.", "He goes."]}
    file.write_text(json.dumps({"s1.avi": entry}))
    found = read_corpus(file, None, ImportOptions())
    assert found.durations == {"s1.avi": 10.0}
    # 10.8 s is up to a second after the end: kept, but no file of pools may say so.
    assert found.moments["s1.avi"] == [
        PoolMoment("s1.avi", 1.0, 3.0, "He sits."),
        PoolMoment("s1.avi", 5.0, 10.5, "He goes."),
    ]
