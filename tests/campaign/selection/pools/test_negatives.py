"""The files of negatives, from an annotation file down to their numbers, against loops over sentences and videos."""

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from backend.campaign.selection.pools import negatives
from backend.core.errors import InputError, ProjectError
from backend.scoring.pools.files import read_pools
from support import WordEncoder

CORPUS = {
    "a": ["A dog runs.", "A cat sits on a mat."],
    "b": ["A dog runs.", "A man pours tea."],
    "c": ["A dog runs fast.", "Somebody reads a book.", "The cat sleeps."],
    "d": ["Rain falls on a window."],
}


def write_corpus(path: Path, corpus: dict[str, list[str]]) -> Path:
    """In the form of Charades-STA: a sentence every two seconds."""
    path.write_text(
        json.dumps(
            {
                video: {
                    "duration": 60.0,
                    "timestamps": [[2.0 * n, 2.0 * n + 2] for n in range(len(sentences))],
                    "sentences": sentences,
                }
                for video, sentences in corpus.items()
            }
        )
    )
    return path


def write(file: Path, out: Path, *, threshold: float = 0.9, temperature: float = 0.1) -> negatives.NegativesReport:
    return negatives.write_negatives(
        file,
        out,
        threshold=threshold,
        temperature=temperature,
        encoder=WordEncoder(),
        embeddings=out.parent / "embeddings",
        format="charades-sta",
    )


def by_loops(corpus: dict[str, list[str]], threshold: float, temperature: float) -> np.ndarray:
    """p'(v|q) before dividing by its sum, `(queries, videos)`: the exponential, or 0."""
    vectors = {text: vector for texts in corpus.values() for text, vector in zip(texts, _encoded(texts), strict=True)}
    rows = []
    for own, texts in corpus.items():
        for query in texts:
            row = []
            for video, others in corpus.items():
                s_te = max(math.fsum(vectors[query] * vectors[other]) for other in others)
                row.append(math.exp(s_te / temperature) if s_te < threshold and video != own else 0.0)
            rows.append(row)
    return np.array(rows)


def _encoded(texts: Sequence[str]) -> np.ndarray:
    return WordEncoder().encode(texts).astype(np.float64)


@pytest.mark.parametrize("cells", [1 << 22, 1], ids=["one block", "a row at a time"])
def test_both_files_hold_the_equations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr(negatives, "_CELLS_AT_ONCE", cells)
    report = write(write_corpus(tmp_path / "c.json", CORPUS), tmp_path / "out", threshold=0.85, temperature=0.2)
    weights = by_loops(CORPUS, 0.85, 0.2)
    videos = parquet.read_table(tmp_path / "out" / negatives.VIDEOS_GIVEN_QUERY).to_pydict()
    queries = parquet.read_table(tmp_path / "out" / negatives.QUERIES_GIVEN_VIDEO).to_pydict()
    assert videos["query_id"] == ["a#0", "a#1", "b#0", "b#1", "c#0", "c#1", "c#2", "d#0"]
    assert videos["query"] == [text for texts in CORPUS.values() for text in texts]
    assert videos["video"] == ["a", "a", "b", "b", "c", "c", "c", "d"]
    assert queries["video"] == ["a", "b", "c", "d"]
    assert np.array(videos["probability"]) == pytest.approx(weights / weights.sum(axis=1, keepdims=True), abs=1e-6)
    given_video = weights.T / weights.T.sum(axis=1, keepdims=True)
    assert np.array(queries["probability"]) == pytest.approx(given_video, abs=1e-6)
    assert weights[0, 1] == 0, "the same sentence in another video is no negative"
    assert (report.queries, report.sentences, report.videos) == (8, 7, 4)
    assert report.potential_videos == pytest.approx((weights > 0).sum() / 8)
    assert report.potential_queries == pytest.approx((weights > 0).sum() / 4)


def test_the_manifest_says_what_they_were_made_of(tmp_path: Path) -> None:
    file = write_corpus(tmp_path / "c.json", CORPUS)
    report = write(file, tmp_path / "out")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["encoder"] == "words-64"
    assert (manifest["threshold"], manifest["temperature"]) == (0.9, 0.1)
    assert manifest["corpus_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert manifest["potential_videos"] == report.potential_videos
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "queries_given_video.parquet",
        "videos_given_query.parquet",
    ]


def test_a_query_like_every_video_has_no_negative(tmp_path: Path) -> None:
    corpus = {"a": ["A dog runs."], "b": ["A dog runs."], "c": ["A dog runs.", "Rain falls."]}
    report = write(write_corpus(tmp_path / "c.json", corpus), tmp_path / "out")
    table = parquet.read_table(tmp_path / "out" / negatives.VIDEOS_GIVEN_QUERY).to_pydict()
    assert [sum(row) for row in table["probability"]] == [0, 0, 0, 1]
    assert (report.queries_without, report.videos_without) == (3, 1)


def test_the_number_of_a_sentence_is_the_file_s(tmp_path: Path) -> None:
    """Pools of the same file name their queries so; an entry without a moment shifts nobody."""
    file = write_corpus(tmp_path / "c.json", CORPUS)
    document = json.loads(file.read_text())
    document["a"]["timestamps"][0] = [5.0, 5.0]
    file.write_text(json.dumps(document))
    report = write(file, tmp_path / "out")
    table = parquet.read_table(tmp_path / "out" / negatives.VIDEOS_GIVEN_QUERY).to_pydict()
    assert table["query_id"][:3] == ["a#1", "b#0", "b#1"]
    assert report.left_out != ()


class Interrupted(WordEncoder):
    """Stops in the middle, as Ctrl-C does."""

    def encode(self, texts: Sequence[str], *, progress: object = None) -> np.ndarray:
        raise KeyboardInterrupt


def test_nothing_is_left_of_an_interruption(tmp_path: Path) -> None:
    file = write_corpus(tmp_path / "c.json", CORPUS)
    with pytest.raises(KeyboardInterrupt):
        negatives.write_negatives(
            file,
            tmp_path / "out",
            encoder=Interrupted(),
            embeddings=tmp_path / "embeddings",
            format="charades-sta",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


def test_one_video_has_no_negatives(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has fewer than two videos with sentences"):
        write(write_corpus(tmp_path / "c.json", {"a": ["A dog runs.", "It rains."]}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("threshold", "temperature", "message"),
    [
        (0.0, 0.1, "the threshold is 0: write"),
        (1.5, 0.1, "the threshold is 1.5"),
        (math.nan, 0.1, "threshold is nan"),
        (0.9, 0.01, "temperature is 0.01: write at least 0.03"),
        (0.9, math.inf, "temperature is inf"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, threshold: float, temperature: float, message: str) -> None:
    file = write_corpus(tmp_path / "c.json", CORPUS)
    with pytest.raises(ProjectError, match=message):
        write(file, tmp_path / "out", threshold=threshold, temperature=temperature)


@pytest.mark.long
def test_a_real_corpus_and_the_pools_published_for_it(shared: Path, tmp_path: Path) -> None:
    """Charades-STA's test set: its queries are called as in the pools, and rows hold what loops over it find."""
    file = shared / "data/charades_sta/charades_test.json"
    documents = json.loads(file.read_bytes())
    report = write(file, tmp_path / "out", threshold=0.8)
    assert report.queries == sum(len(document["sentences"]) for document in documents.values()) == 3720
    assert report.videos == len(documents) == 1334
    assert report.sentences == len({text for document in documents.values() for text in document["sentences"]})
    table = parquet.read_table(tmp_path / "out" / negatives.VIDEOS_GIVEN_QUERY)
    text_of = dict(zip(table["query_id"].to_pylist(), table["query"].to_pylist(), strict=True))
    pools = read_pools(shared / "data/mvmr/charades_test_mvmr.json")
    assert {query.query_id: query.text.strip() for query in pools.queries}.items() <= text_of.items()
    names = parquet.read_table(tmp_path / "out" / negatives.QUERIES_GIVEN_VIDEO)["video"].to_pylist()
    every = {name: _encoded(documents[name]["sentences"]) for name in names}
    for number in range(0, 3720, 311):
        (row,) = table.slice(number, 1).to_pylist()
        (vector,) = _encoded([row["query"]])
        s_te = np.array([max(float(vector @ other) for other in every[name]) for name in names])
        weight = np.array(
            [math.exp(s / 0.1) if s < 0.8 and n != row["video"] else 0 for s, n in zip(s_te, names, strict=True)]
        )
        # A cosine of 0.8 in double precision may be less in single: such a video is left to either side.
        sure = np.abs(s_te - 0.8) > 1e-6
        assert ((np.array(row["probability"]) > 0) == (weight > 0))[sure].all()
        assert np.array(row["probability"])[sure] == pytest.approx((weight / weight.sum())[sure], rel=1e-3, abs=1e-6)
