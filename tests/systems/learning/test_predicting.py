"""Spans of a run equal those that brute force finds."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.systems.learning.config import PredictOptions
from backend.systems.learning.network import LateInteraction, Shape
from backend.systems.learning.predicting import best_spans, predict, without_overlap
from backend.systems.model import Predicted
from learnable import CLIP_S, config, material

VALUES = st.sampled_from([-3.0, -1.0, -0.5, 0.0])


@given(st.data(), st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 30))
def test_best_spans_are_all_spans_in_order_cut(
    data: st.DataObject, videos: int, length: int, longest: int, count: int
) -> None:
    row = st.lists(VALUES, min_size=length, max_size=length)
    table = st.lists(row, min_size=videos, max_size=videos)
    scores = data.draw(st.lists(VALUES, min_size=videos, max_size=videos))
    start, end = data.draw(table), data.draw(table)
    every = [
        (-(scores[v] + start[v][i] + end[v][j]), v, i, j)
        for v, i, j in itertools.product(range(videos), range(length), range(length))
        if i <= j < i + longest
    ]
    found = best_spans(torch.tensor(scores), torch.tensor(start), torch.tensor(end), longest=longest, count=count)
    columns = (-found.score, found.video, found.first, found.last)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(every)[:count]


def test_worked_by_hand() -> None:
    start, end = torch.tensor([[0.75, 0.25]]).log(), torch.tensor([[0.5, 0.5]]).log()
    found = best_spans(torch.zeros(1), start, end, longest=2, count=9)
    assert [*zip(found.first.tolist(), found.last.tolist(), strict=True)] == [(0, 0), (0, 1), (1, 1)]
    assert found.score.exp().tolist() == pytest.approx([0.375, 0.375, 0.125])


def test_clips_that_are_not_there_begin_and_end_nothing() -> None:
    gone = torch.tensor([[0.0, -torch.inf]])
    found = best_spans(torch.zeros(1), gone, gone, longest=2, count=9)
    assert (found.first.tolist(), found.last.tolist()) == ([0], [0])


def test_a_run_is_what_brute_force_over_all_videos_gives(tmp_path: Path) -> None:
    made = material(tmp_path, videos=5)
    torch.manual_seed(1)
    network = LateInteraction(Shape(12, 10, 16, 2, 0.1)).eval()
    options = PredictOptions(videos=2, moments=7, alpha=3.0)
    run = predict(network, made.clips, [5], made.val_vectors[:1], options, longest=2)
    scored = []
    with torch.no_grad():
        query = network.queries(torch.from_numpy(made.val_vectors[:1]))
        for v, name in enumerate(made.clips.videos):
            rows = torch.from_numpy(made.clips.rows[made.clips.starts[v] : made.clips.starts[v + 1]])[None]
            video = network.videos(rows, torch.ones(rows.shape[:2], dtype=torch.bool))
            best = float((video.retrieval[0] @ query.retrieval[0]).max())
            start, end = (
                one[0].softmax(0).numpy() for one in network.span_logits(query.location, video.location, video.mask)
            )
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
    network = LateInteraction(Shape(12, 10, 16, 2, 0.1))
    run = predict(network, made.clips, [5], made.val_vectors[:1], config(tmp_path).predict, longest=9)
    assert max(end for _, _, end, _ in run["5"]) == 17.5
    assert all(start < end for _, start, end, _ in run["5"])
