"""The network does what its equations say, whatever videos are filled up with and whoever is encoded beside them."""

import numpy as np
import pytest
import torch

from backend.systems.learning.positions import positions
from backend.systems.learning.system import Encoded, Sizes
from backend.systems.learning.systems.late import Late, LossOptions, ModelOptions
from learnable import differences


def network() -> Late:
    torch.manual_seed(3)
    return Late(Sizes(5, 4), ModelOptions(hidden=8, heads=2, dropout=0.5), LossOptions()).eval()


def asked(one: Late, count: int) -> Encoded:
    none = torch.zeros(0)
    return one.encode_queries(none, none, torch.randn(count, 4))


def logits(one: Late, query: torch.Tensor, clips: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return one.span_logits(torch.einsum("vd,vld->vl", query, clips), mask)


def test_what_fills_a_video_up_changes_nothing() -> None:
    one, clips = network(), torch.randn(1, 6, 5)
    filled = torch.cat([clips, torch.full((1, 3, 5), 7.0)], dim=1)
    mask = torch.tensor([[True] * 6 + [False] * 3])
    queries = asked(one, 1)
    alone, beside = one.encode_videos(clips, torch.ones(1, 6, dtype=torch.bool)), one.encode_videos(filled, mask)
    assert torch.allclose(alone["retrieval"], beside["retrieval"][:, :6], atol=1e-5)
    assert torch.allclose(one.video_scores(queries, alone), one.video_scores(queries, beside), atol=1e-5)
    spans = [one.span_scores(queries, video) for video in (alone, beside)]
    assert torch.allclose(spans[0], spans[1][:, :, :6, :6], atol=1e-4)
    assert int(spans[1].isfinite().sum()) == 21
    for short, long in zip(
        logits(one, queries["location"], alone["location"], alone["mask"]),
        logits(one, queries["location"], beside["location"], mask),
        strict=True,
    ):
        assert torch.allclose(short, long[:, :6], atol=1e-5)
        assert long[:, 6:].tolist() == [[-np.inf] * 3]


def test_the_score_of_a_video_is_the_cosine_of_its_best_clip() -> None:
    one = network()
    queries, mask = asked(one, 2), torch.tensor([[True, True, True], [True, True, False]])
    videos = one.encode_videos(torch.randn(2, 3, 5), mask)
    found = one.video_scores(queries, videos).tolist()
    for q in range(2):
        for v in range(2):
            clips = [videos["retrieval"][v, c].detach().numpy() for c in range(3) if mask[v, c]]
            query = queries["retrieval"][q].detach().numpy()
            cosines = [np.dot(query, clip) / np.linalg.norm(query) / np.linalg.norm(clip) for clip in clips]
            assert found[q][v] == pytest.approx(max(cosines), abs=1e-6)


def test_starts_and_ends_are_told_by_filters_over_similarities() -> None:
    """The example of the module: similarities (0, 0, 9, 9, 0) under the filter (0, -1, 1, 0, 0)."""
    one = network()
    rising, falling = [0.0, -1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0, 0.0]
    with torch.no_grad():
        one.ends.weight.copy_(torch.tensor([[rising], [falling]]))
    query = torch.zeros(1, 8)
    query[0, 0] = 8**0.5
    clips = torch.zeros(1, 5, 8)
    clips[0, 2:4, 0] = 9.0
    start, end = logits(one, query, clips, torch.ones(1, 5, dtype=torch.bool))
    assert start.tolist()[0] == pytest.approx([0, 0, 9, 0, -9], abs=1e-5)
    assert end.tolist()[0] == pytest.approx([0, -9, 0, 9, 0], abs=1e-5)


def test_places_are_sines_and_cosines() -> None:
    found = positions(4, 6)
    for place in range(4):
        for number in range(6):
            wave = np.sin if number % 2 == 0 else np.cos
            assert found[place, number].item() == pytest.approx(wave(place / 10000 ** (number // 2 * 2 / 6)), abs=1e-6)


def test_gradients_where_queries_and_clips_meet() -> None:
    """Best clips and filters in plain Python: their finite differences are what comes down to clips and to filters."""
    rng = np.random.default_rng(5)
    query, clips, filters = rng.normal(size=(2, 8)), rng.normal(size=(2, 4, 8)), rng.normal(size=(2, 5))
    there = np.array([[True] * 4, [True] * 3 + [False]])
    upon = rng.normal(size=(2, 2, 4))
    """What each start and each end weighs in the sum."""

    def best(given: np.ndarray) -> float:
        return sum(max(query[q] @ given[v, c] for c in range(4) if there[v, c]) for q in range(2) for v in range(2))

    def ends(given: np.ndarray, kernel: np.ndarray) -> float:
        total = 0.0
        for v in range(2):
            alike = [query[v] @ given[v, c] / 8**0.5 if there[v, c] else 0.0 for c in range(4)]
            for which in range(2):
                for c in np.flatnonzero(there[v]):
                    seen = [(k, c + k - 2) for k in range(5) if 0 <= c + k - 2 < 4]
                    total += upon[which, v, c] * sum(kernel[which, k] * alike[place] for k, place in seen)
        return total

    one = network().double()
    with torch.no_grad():
        one.ends.weight.copy_(torch.from_numpy(filters)[:, None])
    q, mask = torch.from_numpy(query), torch.from_numpy(there)
    given = torch.from_numpy(clips).requires_grad_()
    scores = one.video_scores({"retrieval": q}, {"retrieval": given, "mask": mask}).sum()
    assert scores.item() == pytest.approx(best(clips))
    (found,) = torch.autograd.grad(scores, given)
    assert found.numpy() == pytest.approx(differences(best, clips), abs=1e-6)
    start, end = logits(one, q, given, mask)
    told = sum(
        (torch.from_numpy(upon[n]) * logit.masked_fill(~mask, 0.0)).sum() for n, logit in enumerate((start, end))
    )
    assert told.item() == pytest.approx(ends(clips, filters))
    found, of_filters = torch.autograd.grad(told, [given, one.ends.weight])
    assert found.numpy() == pytest.approx(differences(lambda at: ends(at, filters), clips), abs=1e-6)
    assert of_filters[:, 0].numpy() == pytest.approx(differences(lambda at: ends(clips, at), filters), abs=1e-6)
