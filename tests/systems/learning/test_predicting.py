"""Spans of a run equal those that brute force finds."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.systems.learning import predicting
from backend.systems.learning.batches import padded
from backend.systems.learning.config import PredictOptions
from backend.systems.learning.first_step import FirstRun, FirstStep
from backend.systems.learning.predicting import best_spans, merged, predict, without_overlap
from backend.systems.learning.system import Encoded
from backend.systems.learning.systems.late import ModelOptions
from backend.systems.model import Answers, Predicted
from learnable import CLIP_S, config, encoded, late, material

VALUES = st.sampled_from([-np.inf, -3.0, -1.0, -0.5, 0.0])


@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(1, 30), st.integers(1, 3))
def test_best_spans_are_all_spans_in_order_cut_in_whatever_blocks(
    data: st.DataObject, videos: int, length: int, longest: int, count: int, at_once: int
) -> None:
    size = videos * length * length
    scores = np.array(data.draw(st.lists(VALUES, min_size=size, max_size=size))).reshape(videos, length, length)
    limits = [longest + video % 2 for video in range(videos)]
    every = [
        (-scores[v, i, j], v, i, j)
        for v, i, j in itertools.product(range(videos), range(length), range(length))
        if i <= j < i + limits[v] and scores[v, i, j] > -np.inf
    ]
    parts = [
        best_spans(torch.from_numpy(scores)[rows], rows, torch.tensor(limits)[rows], count)
        for rows in torch.arange(videos).split(at_once)
    ]
    found = merged(parts[::-1], count)
    columns = (-found.score, found.video, found.first, found.last)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(every)[:count]


def test_worked_by_hand() -> None:
    scores = torch.tensor([[[-1.0, -2.0], [-torch.inf, -1.0]]])
    found = best_spans(scores, torch.tensor([7]), torch.tensor([2]), 9)
    assert [*zip(found.first.tolist(), found.last.tolist(), strict=True)] == [(0, 0), (1, 1), (0, 1)]
    assert found.video.tolist() == [7, 7, 7]


@pytest.mark.parametrize("size", [1, 2000, 1 << 30])
def test_a_system_without_a_first_step_and_any_size_of_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Whatever is encoded at once, a run has the best spans of all videos, or of the best."""
    made = material(tmp_path, videos=5)
    torch.manual_seed(1)
    network = late()
    wanted, best = {}, network.video_scores
    for name, options in (("all", PredictOptions(videos=5, moments=9)), ("some", PredictOptions(videos=2, moments=9))):
        wanted[name] = predict(network, made.clips, range(6), made.val_queries, options, longest=2)
    monkeypatch.setattr(predicting, "BLOCK_BYTES", size)
    monkeypatch.setattr(predicting, "KEPT_BYTES", 2 * size)
    found = predict(network, made.clips, range(6), made.val_queries, PredictOptions(videos=2, moments=9), longest=2)
    assert same(found, wanted["some"])
    monkeypatch.setattr(network, "video_scores", lambda *_: None)
    found = predict(network, made.clips, range(6), made.val_queries, PredictOptions(videos=2, moments=9), longest=2)
    assert same(found, wanted["all"])
    queries, videos = np.array([4, 1]), np.array([0, 3, 4])
    scores = predicting.score_videos(network, made.clips, made.queries, queries, videos, progress=None)
    monkeypatch.setattr(network, "video_scores", best)
    encodings = network.encode_videos(*padded(made.clips, videos, torch.device("cpu")))
    asked = network.encode_queries(torch.zeros(0), torch.zeros(0), torch.from_numpy(made.queries.vectors[queries]))
    spans = network.span_scores(asked, encodings).flatten(2).amax(dim=2)
    assert scores == pytest.approx(spans.detach().numpy(), abs=1e-4)
    scores = predicting.score_videos(network, made.clips, made.queries, queries, videos, progress=None)
    assert scores == pytest.approx(network.video_scores(asked, encodings).detach().numpy(), abs=1e-5)


@pytest.mark.parametrize("size", [1, 1 << 30])
def test_a_first_run_names_the_videos_and_gives_their_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Two queries with other videos; the score of the run is added to that of every span."""
    made = material(tmp_path, videos=6)
    torch.manual_seed(1)
    network = late()
    own = network.span_scores
    monkeypatch.setattr(predicting, "BLOCK_BYTES", size)
    lists = {"0": ([4, 1, 5], [0.5, -2.0, 9.0]), "1": ([2], [3.0])}
    run = FirstRun(
        FirstStep(("run.json",)),
        {query: (np.array(videos), np.float32(scores)) for query, (videos, scores) in lists.items()},
    )
    options = PredictOptions(videos=2, moments=1000)
    plain = predict(network, made.clips, [0, 1], made.val_queries, PredictOptions(moments=1000), longest=2)

    def with_first(queries: Encoded, videos: Encoded) -> torch.Tensor:
        return own(queries, videos) + videos["first_score"][None, :, None, None]

    monkeypatch.setattr(network, "span_scores", with_first)
    found = predict(network, made.clips, [0, 1], made.val_queries, options, longest=2, first=run)
    for query, kept in (("0", {"v4": 0.5, "v1": -2.0}), ("1", {"v2": 3.0})):
        wanted = [(video, a, b, score + kept[video]) for video, a, b, score in plain[query] if video in kept]
        wanted.sort(key=lambda row: (-round(row[3], 4), row[0], row[1], row[2]))
        assert [row[:3] for row in found[query]] == [row[:3] for row in wanted]
        assert [row[3] for row in found[query]] == pytest.approx([row[3] for row in wanted], abs=1e-4)


def same(found: Answers, wanted: Answers) -> bool:
    return all(
        [one[:3] for one in found[query]] == [one[:3] for one in wanted[query]]
        and [one[3] for one in found[query]] == pytest.approx([one[3] for one in wanted[query]], abs=1e-4)
        for query in wanted
    )


def test_the_longest_moment_is_counted_in_the_clips_of_each_video(tmp_path: Path) -> None:
    made = material(tmp_path, videos=2, clips=6)  # of 3 s each
    made.clips.clip_s[1] = 1.0
    run = predict(late(), made.clips, [5], made.val_queries, PredictOptions(longest_s=3.5), longest=1)
    lengths = {(video, end - start) for video, start, end, _ in run["5"]}
    assert lengths == {("v0", 3.0), ("v0", 6.0), ("v1", 1.0), ("v1", 2.0), ("v1", 3.0), ("v1", 4.0)}


def test_a_run_is_what_brute_force_over_all_videos_gives(tmp_path: Path) -> None:
    made = material(tmp_path, videos=5)
    torch.manual_seed(1)
    network = late(dropout=0.1).eval()
    network.model = ModelOptions(hidden=16, heads=2, alpha=3.0)
    options = PredictOptions(videos=2, moments=7)
    run = predict(network, made.clips, [5], encoded(made.val_queries.vectors[:1]), options, longest=2)
    scored = []
    with torch.no_grad():
        none = torch.zeros(0)
        query = network.encode_queries(none, none, torch.from_numpy(made.val_queries.vectors[:1]))
        for v, name in enumerate(made.clips.videos):
            rows = torch.from_numpy(made.clips.rows[made.clips.starts[v] : made.clips.starts[v + 1]])[None]
            video = network.encode_videos(rows, torch.ones(rows.shape[:2], dtype=torch.bool))
            best = float((video["retrieval"][0] @ query["retrieval"][0]).max())
            alike = video["location"] @ query["location"][0]
            start, end = (one[0].softmax(0).numpy() for one in network.span_logits(alike, video["mask"]))
            for i, j in itertools.combinations_with_replacement(range(len(start)), 2):
                if j < i + 2:
                    product = float(start[i]) * float(end[j]) * np.exp(3.0 * best)
                    scored.append((best, -product, name, i * CLIP_S, (j + 1) * CLIP_S))
    top = sorted({one[0] for one in scored}, reverse=True)[:2]
    wanted = sorted(one[1:] for one in scored if one[0] in top)[:7]
    assert [(video, start, end) for video, start, end, _ in run["5"]] == [one[1:] for one in wanted]
    assert [np.exp(score) for *_, score in run["5"]] == pytest.approx([-one[0] for one in wanted], rel=1e-4)


def test_overlapping_moments_are_left_out_if_asked_for() -> None:
    spans = [("v", 0.0, 10.0, 3.0), ("v", 0.0, 9.0, 2.0), ("w", 0.0, 9.0, 1.0), ("v", 20.0, 30.0, 0.5)]
    rows = [Predicted(*span) for span in spans]
    assert without_overlap({"1": rows, "2": []}, 0.5, 2) == {"1": [rows[0], rows[2]], "2": []}


def test_a_span_ends_with_its_video(tmp_path: Path) -> None:
    made = material(tmp_path, videos=2)
    made.clips.durations_s[:] = 17.5
    run = predict(late(), made.clips, [5], made.val_queries, config(tmp_path).predict, longest=9)
    assert max(end for _, _, end, _ in run["5"]) == 17.5
    assert all(start < end for _, start, end, _ in run["5"])
