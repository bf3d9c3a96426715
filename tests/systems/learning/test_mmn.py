"""MMN against its equations as loops in NumPy, and against the public code on the same numbers."""

import msgspec
import numpy as np
import pytest
import torch

import moment_example as example
import moment_reference as reference
from backend.systems.learning.config import PredictOptions
from backend.systems.learning.matching import matching_loss
from backend.systems.learning.moment_map import MapConvolutions, diagonals, max_pooled_map, span_iou, valid_cells
from backend.systems.learning.systems.mmn import MMN, LossOptions, ModelOptions

SAME_VIDEO_APART = [{1}, {0}, set(), set(), set()]
"""Moments 3 and 4 overlap with an IoU of exactly 0.5, which is not below it."""


def system(**loss: object) -> MMN:
    found = example.with_formula_weights(MMN(example.SIZES, ModelOptions(**example.MODEL), LossOptions(**loss)))
    assert isinstance(found, MMN)
    return found


def as_numpy(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    return {name: one.detach().numpy() for name, one in tensors.items()}


def reference_of(mmn: MMN) -> reference.Network:
    return reference.Network(as_numpy(dict(mmn.named_parameters())), example.MODEL)


@pytest.mark.parametrize(("clips", "pooling", "count"), [(16, (15,), 136), (64, (15, 8, 8), 1104), (8, (3, 2), 29)])
def test_cells_of_the_map(clips: int, pooling: tuple[int, ...], count: int) -> None:
    valid = valid_cells(clips, pooling)
    cells = [tuple(cell) for cell in valid.nonzero().tolist()]
    assert cells == reference.cells_of(clips, pooling)
    assert len(cells) == count
    rows = example.wave((2, clips, 3), 0.77)
    found = max_pooled_map(rows, pooling).numpy()
    for video in range(2):
        assert np.array_equal(found[video], reference.moment_map(rows[video].numpy(), cells))


def test_moments_longer_than_the_video_are_refused() -> None:
    with pytest.raises(ValueError, match="moments of 9 clips, but N is 8"):
        list(diagonals(8, (8,)))


@pytest.mark.parametrize(
    ("model", "loss", "message"),
    [
        ({"pool": 3}, {}, "field `model.pool` is 3: it has to divide `model.clips`, 16"),
        ({"pooling": (8,)}, {}, "field `model.pooling` asks for moments of 9 clips, but a video has 8: shorten it"),
        (
            {"kernel": 4, "layers": 1},
            {},
            "field `model.kernel` is 4: make it odd, or the number of `model.layers` even",
        ),
        ({}, {"min_iou": 0.9, "max_iou": 0.9}, "field `loss.min_iou` is 0.9: it has to be below `loss.max_iou`, 0.9"),
    ],
)
def test_options_that_do_not_fit_are_named(model: dict[str, object], loss: dict[str, object], message: str) -> None:
    options = ModelOptions(**{**example.MODEL, **model}), LossOptions(**loss)
    assert MMN.faults(*options, negatives=False) == [message]
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        MMN(example.SIZES, *options)


def test_the_network_as_loops() -> None:
    mmn, batch = system(), example.batch()
    mmn.train()
    plain = reference_of(mmn)
    clips = batch.clips[[0, 2, 3]]
    for found, expected in (
        (mmn.encode_videos(clips, batch.mask[:3]), plain.videos(clips.numpy())),
        (
            mmn.encode_queries(batch.words, batch.words_mask, batch.vectors),
            plain.queries(batch.words.numpy(), batch.words_mask.numpy()),
        ),
    ):
        for space in ("iou", "match"):
            np.testing.assert_allclose(found[space].detach().numpy(), expected[space], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "plain_options"),
    [
        ({}, {}),
        ({"left_out_as_zero": True}, {"zeros": True}),
        (
            {"top": 3, "margin": 0.1, "min_iou": 0.3, "max_iou": 0.7, "temperature": 0.3, "negative_iou": 0.4},
            {"top": 3, "margin": 0.1, "low": 0.3, "high": 0.7, "temperature": 0.3, "negative_iou": 0.4},
        ),
    ],
)
def test_the_losses_as_loops(options: dict[str, object], plain_options: dict[str, float]) -> None:
    mmn, batch = system(weight=0.07, **options), example.batch()
    mmn.train()
    found = as_numpy(mmn.losses(batch, None))
    plain = reference_of(mmn)
    videos, queries = as_numpy(mmn.batch_videos(batch)[0]), plain.queries(batch.words.numpy(), batch.words_mask.numpy())
    wrong_videos = [{0, 1, 2} - {v} for v in example.VIDEO]
    wrong_queries = [
        {j for j in range(5) if example.VIDEO[j] != v} | SAME_VIDEO_APART[i] for i, v in enumerate(example.VIDEO)
    ]
    expected = reference.losses(
        plain, videos, queries, example.VIDEO, example.SPANS, wrong_videos, wrong_queries, **plain_options
    )
    expected["loss"] = expected["bce"] + 0.07 * (expected["cells"] + expected["queries"])
    assert {name: float(one) for name, one in found.items()} == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "published"),
    [
        ({}, {"queries": 5.30681844824385, "cells": 8.357773669043413, "bce": 7.192135064438852}),
        (
            {"top": 3, "margin": 0.1, "min_iou": 0.3, "max_iou": 0.7},
            {"queries": 2.398276815064914, "cells": 5.309797993669078, "bce": 5.980563742860745},
        ),
    ],
)
def test_the_losses_of_the_public_code(options: dict[str, object], published: dict[str, float]) -> None:
    """MCG-NJU/MMN, commit e694e69, mmn/modeling/mmn: `ContrastiveLoss` (loss_vid, loss_sent) and `BceLoss`."""
    mmn = system(left_out_as_zero=True, **options)
    mmn.train()
    found = mmn.losses(example.batch(), None)
    assert {name: found[name].item() for name in published} == pytest.approx(published, abs=1e-5)


def test_the_scores_of_the_public_code() -> None:
    """The same commit, mmn/data/datasets/evaluation.py: the scores of sentences 0 and 4 for their own videos."""
    mmn, batch = system(), example.batch()
    mmn.eval()
    videos, _ = mmn.batch_videos(batch)
    queries = mmn.encode_queries(batch.words, batch.words_mask, batch.vectors)
    scores = mmn.cell_scores(queries, videos)
    first = [0.7432941041276897, 0.753293841174034, 0.7529927507124029, 0.7580739174009834, 0.7595446658396077]
    assert scores[0, 0, :5].tolist() == pytest.approx(first, abs=1e-5)
    assert scores[0, 0].sum().item() == pytest.approx(21.819290541546597, abs=1e-5)
    assert scores[4, 2].sum().item() == pytest.approx(21.518955223659553, abs=1e-5)
    assert mmn.video_scores(queries, videos).equal(scores.amax(dim=2))


def test_spans_are_those_of_the_cells() -> None:
    mmn, batch = system(), example.batch()
    mmn.eval()
    videos, _ = mmn.batch_videos(batch)
    queries = mmn.encode_queries(batch.words, batch.words_mask, batch.vectors)
    scores, spans = mmn.cell_scores(queries, videos), mmn.span_scores(queries, videos)
    assert spans.shape == (5, 3, 16, 16)
    assert int(spans[0, 0].isfinite().sum()) == 29
    for number, (i, j) in enumerate(reference.cells_of(8, (3, 2))):
        assert spans[2, 1, 2 * i, 2 * j + 1] == scores[2, 1, number]


def test_gradients_are_those_of_differences() -> None:
    """Through the losses, from cosines that are smooth functions of the vectors."""
    mmn, batch = system(top=2), example.batch()
    mmn.train()
    videos, of_pair = mmn.batch_videos(batch)
    queries = mmn.encode_queries(batch.words, batch.words_mask, batch.vectors)
    wrong = ~batch.positives

    def loss(*vectors: torch.Tensor) -> torch.Tensor:
        v, q = (
            dict(zip(("iou", "match"), vectors[:2], strict=True)),
            dict(zip(("iou", "match"), vectors[2:], strict=True)),
        )
        return mmn.losses_of(batch, of_pair, q, v, wrong[:, [0, 2, 3]], wrong.T, negative_bce=1.0)["loss"]

    inputs = [one.detach().requires_grad_() for one in (*videos.values(), *queries.values())]
    assert torch.autograd.gradcheck(loss, inputs)


def test_gradients_of_map_and_convolutions() -> None:
    valid = valid_cells(5, (1, 1))
    layers = example.with_formula_weights(MapConvolutions(2, 2, 3, 1, valid))
    clips = (example.wave((2, 5, 2), 0.9) + 2).requires_grad_()  # away from the kinks of ReLU and of the maximum

    def both(rows: torch.Tensor) -> torch.Tensor:
        return layers(max_pooled_map(rows, (1, 1)))

    assert torch.autograd.gradcheck(both, [clips])


@pytest.mark.parametrize("zeros", [True, False])
def test_a_loss_without_negatives_is_finite(zeros: bool) -> None:
    cosines = torch.tensor([[0.3], [0.4]], dtype=torch.float64, requires_grad=True)
    none = torch.zeros(2, 3, dtype=torch.bool)
    loss = matching_loss(
        cosines, cosines.expand(-1, 3), none, margin=0.1, temperature=0.1, left_out_as_zero=zeros
    ).sum()
    loss.backward()
    assert cosines.grad is not None
    assert torch.isfinite(cosines.grad).all()
    if not zeros:
        assert loss.item() == pytest.approx(0, abs=1e-12)


def test_padding_of_words_changes_nothing() -> None:
    mmn, batch = system(), example.batch()
    expected = mmn.losses(batch, None)["loss"]
    batch.words = torch.cat([batch.words, torch.full((5, 2, 7), torch.nan, dtype=torch.float64)], dim=1)
    batch.words_mask = torch.cat([batch.words_mask, torch.zeros(5, 2, dtype=torch.bool)], dim=1)
    assert mmn.losses(batch, None)["loss"].item() == pytest.approx(expected.item(), abs=1e-12)


def test_videos_with_another_number_of_clips_are_refused() -> None:
    with pytest.raises(ValueError, match=r"videos have 15 clips, not `model.clips`, 16"):
        system().encode_videos(torch.zeros(1, 15, 5, dtype=torch.float64), torch.ones(1, 15, dtype=torch.bool))


def test_a_batch_of_one_pair_can_be_trained_on() -> None:
    batch = example.batch()
    for name, value in vars(batch).items():
        setattr(batch, name, value[:1, :1] if name == "positives" else value[:1])
    mmn = system()
    mmn.train()
    found = mmn.losses(batch, None)
    found["loss"].backward()
    assert float(found["queries"]) == pytest.approx(0, abs=1e-12), "there is no other query"
    assert all(one.grad is not None and torch.isfinite(one.grad).all() for one in mmn.parameters())


def test_a_pair_weighs_as_much_as_asked() -> None:
    batch = example.batch()
    plain, weighted = system(), system(weighted=True)
    alone = []
    for n in range(5):
        batch.weight = torch.eye(5, dtype=torch.float64)[n]
        alone.append(float(weighted.losses(batch, None)["loss"]))
    batch = example.batch()
    assert float(weighted.losses(batch, None)["loss"]) == pytest.approx(np.dot(batch.weight.numpy(), alone), abs=1e-9)
    assert float(plain.losses(batch, None)["loss"]) == pytest.approx(sum(alone), abs=1e-9)


def test_mutual_matching_fades_after_the_full_epochs() -> None:
    mmn, batch = system(weight=0.5, full_epochs=3), example.batch()
    for epoch, factor in ((3, 0.5), (4, 0.005)):
        mmn.epoch = epoch
        parts = {name: float(one) for name, one in mmn.losses(batch, None).items()}
        assert parts["loss"] == pytest.approx(parts["bce"] + factor * (parts["cells"] + parts["queries"]), abs=1e-9)


def test_iou_of_spans() -> None:
    a, b = torch.tensor(example.SPANS, dtype=torch.float64), torch.tensor(example.SPANS[:3], dtype=torch.float64)
    expected = [[reference.iou(one, other) for other in example.SPANS[:3]] for one in example.SPANS]
    np.testing.assert_allclose(span_iou(a, b).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("preset", ["charades", "activitynet", "tacos"])
def test_presets_fit_the_options(preset: str) -> None:
    tables = MMN.presets[preset]
    model = msgspec.convert(tables["model"], ModelOptions)
    msgspec.convert(tables["loss"], LossOptions)
    predict = msgspec.convert(tables["predict"], PredictOptions)
    assert predict.nms == {"charades": 0.5, "activitynet": 0.5, "tacos": 0.4}[preset]  # TEST.NMS_THRESH of its configs
    assert {"charades": 136, "activitynet": 1104, "tacos": 2548}[preset] == int(
        valid_cells(model.clips // model.pool, model.pooling).sum()
    )
