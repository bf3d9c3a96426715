"""Negatives by the scores of a run: read, completed, and turned into probabilities by equation 3 as loops."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from backend.campaign.selection.pools import negatives, run_scores
from backend.core.errors import InputError
from support import WordEncoder

VIDEOS = {"a": ["A dog runs.", "A cat sits."], "b": ["A man pours tea."], "c": ["Rain falls."]}
SCORES = {
    "a#0": {"a": [0.9, 0.2], "b": [0.6], "c": [0.1, 0.3]},
    "a#1": {"a": [0.5], "b": [0.7]},
    "b#0": {"b": [0.8], "a": [0.4], "c": [0.2]},
    "c#0": {"c": [0.95], "b": [0.65], "a": [0.05]},
}
BEST = np.array([[0.9, 0.6, 0.3], [0.5, 0.7, 0.5], [0.4, 0.8, 0.2], [0.05, 0.65, 0.95]])
"""Video c is not listed for a#1: it gets 0.5, the lowest score there."""
OWN = (0, 0, 1, 2)


def write_run(path: Path, scores: dict[str, dict[str, list[float]]]) -> Path:
    """Several moments of a video have several scores; video z is not in the annotation file."""
    run = {
        query: [
            ["z", 0.0, 1.0, 0.99],
            *([v, float(n), n + 1.0, s] for v, many in of.items() for n, s in enumerate(many)),
        ]
        for query, of in scores.items()
    }
    path.write_text(json.dumps(run))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [
        {"video": video, "start": 2.0 * n, "end": 2.0 * n + 2, "caption": caption}
        for video, captions in VIDEOS.items()
        for n, caption in enumerate(captions)
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_best_moment_of_each_video_counts(tmp_path: Path) -> None:
    found = run_scores.read(write_run(tmp_path / "run.json", SCORES), list(SCORES), list(VIDEOS))
    np.testing.assert_allclose(found.best, BEST, atol=1e-6)
    assert found.share == pytest.approx(11 / 12)


def expected(anchors: int, others: int, r, own) -> np.ndarray:
    rows = np.zeros((anchors, others))
    for anchor in range(anchors):
        golden = [r(anchor, other) for other in range(others) if own(anchor, other)]
        for other in range(others):
            if not own(anchor, other):
                rows[anchor, other] = math.exp(-((r(anchor, other) - math.fsum(golden) / len(golden)) ** 2))
        rows[anchor] /= rows[anchor].sum()
    return rows


@pytest.mark.parametrize("cells", [1 << 22, 1], ids=["one block", "a row at a time"])
def test_both_files_hold_equation_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpus: Path, cells: int) -> None:
    monkeypatch.setattr(negatives, "_CELLS_AT_ONCE", cells)
    run = write_run(tmp_path / "run.json", SCORES)
    out = tmp_path / "out"
    report = negatives.write_negatives(
        corpus, out, from_run=run, threshold=0.95, encoder=WordEncoder(), embeddings=tmp_path / "embeddings"
    )
    assert (report.temperature, report.run, report.run_share) == (None, "run.json", pytest.approx(11 / 12))
    by_query = parquet.read_table(out / negatives.VIDEOS_GIVEN_QUERY).to_pydict()
    by_video = parquet.read_table(out / negatives.QUERIES_GIVEN_VIDEO).to_pydict()
    assert by_query["query_id"] == list(SCORES)
    forward = expected(4, 3, lambda q, v: BEST[q, v], lambda q, v: OWN[q] == v)
    backward = expected(3, 4, lambda v, q: BEST[q, v], lambda v, q: OWN[q] == v)
    np.testing.assert_allclose(by_query["probability"], forward, atol=1e-6)
    np.testing.assert_allclose(by_video["probability"], backward, atol=1e-6)


def test_a_run_without_a_query_is_refused(tmp_path: Path, corpus: Path) -> None:
    run = write_run(tmp_path / "run.json", {query: of for query, of in SCORES.items() if query != "b#0"})
    with pytest.raises(InputError, match="lists no video of the annotation file for 1 of 4 queries, such as b#0"):
        negatives.write_negatives(corpus, tmp_path / "out", from_run=run, encoder=WordEncoder())
    assert not (tmp_path / "out").exists()
