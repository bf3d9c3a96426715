"""CroCs against its equations as loops in NumPy, and against the public code on the same numbers."""

import math
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import moment_example as example
import moment_reference as reference
from backend.systems.learning import hard_negatives
from backend.systems.learning.hard_negatives import hard_probabilities
from backend.systems.learning.system import DrawnQueries, DrawnVideos, Rivals, StagePlan
from backend.systems.learning.systems.crocs import CroCs, LossOptions
from backend.systems.learning.systems.mmn import MMN, ModelOptions
from backend.systems.learning.systems.mmn import LossOptions as MatchingOptions


def system(**loss: object) -> CroCs:
    found = example.with_formula_weights(CroCs(example.SIZES, ModelOptions(**example.MODEL), LossOptions(**loss)))
    assert isinstance(found, CroCs)
    return found


def as_numpy(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    return {name: one.detach().numpy() for name, one in tensors.items()}


def as_floats(tensors: dict[str, torch.Tensor]) -> dict[str, float]:
    return {name: float(one) for name, one in tensors.items()}


def encoded(crocs: CroCs, batch: SimpleNamespace) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    queries = crocs.encode_queries(batch.words, batch.words_mask, batch.vectors)
    return as_numpy(crocs.batch_videos(batch)[0]), as_numpy(queries)


def plain_of(crocs: CroCs) -> reference.Network:
    return reference.Network(as_numpy(dict(crocs.named_parameters())), example.MODEL)


@pytest.mark.parametrize("negative_bce", [0.0, 0.5, 1.0])
def test_stage_1_as_loops(negative_bce: float) -> None:
    crocs, batch, rivals = system(negative_bce=negative_bce, weight=0.2), example.batch(), example.rivals(drawn=False)
    found = as_floats(crocs.losses(batch, rivals))
    potential = rivals.potential.tolist()
    wrong_videos = [{example.VIDEO[j] for j in range(5) if potential[i][j]} for i in range(5)]
    wrong_queries = [{j for j in range(5) if potential[j][i]} for i in range(5)]
    wrong_queries[0] |= {1}
    wrong_queries[1] |= {0}
    assert wrong_videos[0] == {1}
    assert 3 not in wrong_queries[0], "the video of pair 0 is no potential negative of query 3"
    videos, queries = encoded(crocs, batch)
    where = (example.VIDEO, example.SPANS, wrong_videos, wrong_queries)
    expected = reference.losses(plain_of(crocs), videos, queries, *where, negative_bce=negative_bce)
    expected["loss"] = expected["bce"] + 0.2 * (expected["cells"] + expected["queries"])
    assert found == pytest.approx(expected, abs=1e-6)


def test_stage_2_as_loops() -> None:
    crocs, batch, rivals = system(negative_bce=1, weight=0.2), example.batch(), example.rivals(drawn=True)
    crocs.eval()  # the videos of the batch and the drawn ones are normed alike
    found = as_floats(crocs.losses(batch, rivals))
    drawn_videos, drawn_queries = rivals.videos, rivals.queries
    assert drawn_videos is not None
    assert drawn_queries is not None
    videos, queries = encoded(crocs, batch)
    more_videos = as_numpy(crocs.encode_videos(drawn_videos.clips, drawn_videos.mask))
    more_queries = as_numpy(crocs.encode_queries(drawn_queries.words, drawn_queries.mask, drawn_queries.vectors))
    videos = {space: np.concatenate([videos[space], more_videos[space]]) for space in videos}
    queries = {space: np.concatenate([queries[space], more_queries[space]]) for space in queries}
    wrong_videos = [{3 + i % 4, 3 + (i + 2) % 4} for i in range(5)]
    wrong_queries = [{5 + i % 6, 5 + (i + 1) % 6, 5 + (i + 4) % 6} for i in range(5)]
    wrong_videos[1].discard(3 + 3)
    wrong_queries[2].discard(5 + 0)
    where = (example.VIDEO, example.SPANS, wrong_videos, wrong_queries)
    expected = reference.losses(plain_of(crocs), videos, queries, *where, negative_bce=1.0)
    expected["loss"] = expected["bce"] + 0.2 * (expected["cells"] + expected["queries"])
    assert found == pytest.approx(expected, abs=1e-6)


def test_stage_1_without_a_filter_is_the_public_code() -> None:
    """Commit 122883f, CROCS/crocs/modeling/crocs/loss.py, `FalseNegContrastiveLoss` with all similarities of 0.5."""
    found = system(left_out_as_zero=True).losses(example.batch(), None)
    assert float(found["queries"]) == pytest.approx(5.30681844824385, abs=1e-5)
    assert float(found["cells"]) == pytest.approx(8.357773669043413, abs=1e-5)


def public_stage_1(videos: np.ndarray, queries: np.ndarray, similar: np.ndarray) -> tuple[float, float]:
    """The same class with what the equations do not have: filtered cosines of 0, and weights in the exponent."""
    cells = reference.cells_of(8, (3, 2))
    best, right, overlaps = [], [], []
    for i, v in enumerate(example.VIDEO):
        overlap = [reference.iou((2 * first, 2 * last + 2), example.SPANS[i]) for first, last in cells]
        best.append(int(np.argmax(overlap)))
        right.append(float(queries[i] @ videos[v][best[i]]))
        overlaps.append(overlap)
    kept = [[not similar[j][v] for j in range(5)] for v in example.VIDEO]
    weight_queries = 25 / sum(map(sum, kept))
    others = [[w for w in range(3) if w != v] for v in example.VIDEO]
    weight_cells = sum(map(len, others)) / sum(not similar[i][w] for i in range(5) for w in others[i])
    to_queries, to_cells = [], []
    for i, v in enumerate(example.VIDEO):
        total = 0.0
        for j in range(5):
            apart = example.VIDEO[j] != v or reference.iou(example.SPANS[i], example.SPANS[j]) < 0.5
            if i == j or apart:
                cosine = 0.0 if similar[j][v] else float(queries[j] @ videos[v][best[i]])
                total += math.exp(weight_queries * (cosine - 0.4 * (i == j)) / 0.1)
        to_queries.append(math.log(total) - (right[i] - 0.4) / 0.1)
        total = math.exp(weight_cells * (right[i] - 0.4) / 0.1)
        for c, moment in enumerate(videos[v]):
            total += math.exp(weight_cells * (overlaps[i][c] < 0.5) * float(queries[i] @ moment) / 0.1)
        for w in others[i]:
            total += sum(math.exp(weight_cells * (not similar[i][w]) * float(queries[i] @ m) / 0.1) for m in videos[w])
        to_cells.append(math.log(total) - (right[i] - 0.4) / 0.1)
    return float(np.mean(to_queries)), float(np.mean(to_cells))


def test_how_the_public_code_departs_from_the_equations_in_stage_1() -> None:
    """The figures of that class, with the similarity 1 of a query and its own video, and 0.95 where rivals say so."""
    similar = np.array([[v == w for w in range(3)] for v in example.VIDEO])
    similar[0, 2] = similar[3, 0] = True
    crocs, batch = system(), example.batch()
    videos, queries = encoded(crocs, batch)
    public = public_stage_1(videos["match"], queries["match"], similar)
    assert public == pytest.approx((6.388604026956015, 8.548208461631488), abs=1e-5)


def one_pair() -> tuple[SimpleNamespace, Rivals]:
    """Pair 0 alone, with all drawn videos and queries."""
    batch, videos, queries = example.batch(), example.drawn_videos(), example.drawn_queries()
    for name, value in vars(batch).items():
        setattr(batch, name, value[:1, :1] if name == "positives" else value[:1])
    every_video = DrawnVideos(videos.clips, videos.mask, torch.arange(4)[None], torch.ones(1, 4, dtype=torch.bool))
    every_query = DrawnQueries(
        queries.words, queries.mask, queries.vectors, torch.arange(6)[None], torch.ones(1, 6, dtype=torch.bool)
    )
    return batch, Rivals(torch.zeros(1, 1, dtype=torch.bool), every_video, every_query)


def test_stage_2_is_the_public_code() -> None:
    """The same commit, `SimANSContrastiveLoss` with `simans_mode` q2v, and `BceLoss` of the own and the drawn videos.

    Their loss of the drawn videos is a mean over cells; equation 4 is the mean over all five videos. With v2q, their
    margins of shape (6 + 1, 6 + 1) turn the row of cosines into a square: each row takes the margin off another query,
    and the mean of these rows is the loss. Equation 5 is the first row.
    """
    batch, rivals = one_pair()
    crocs = system(left_out_as_zero=True, negative_bce=1)
    crocs.eval()
    found = as_floats(crocs.losses(batch, rivals))
    assert found["cells"] == pytest.approx(8.956892040958918, abs=1e-5)
    assert found["bce"] == pytest.approx((7.834394396049943 + 4 * 8.24853842516372) / 5, abs=1e-5)
    drawn = example.drawn_queries()
    videos, queries = encoded(crocs, batch)
    more = as_numpy(crocs.encode_queries(drawn.words, drawn.mask, drawn.vectors))["match"]
    overlap = [reference.iou((2 * a, 2 * b + 2), example.SPANS[0]) for a, b in reference.cells_of(8, (3, 2))]
    cosines = np.concatenate([queries["match"], more]) @ videos["match"][0][int(np.argmax(overlap))]
    rows = [
        math.log(sum(math.exp((cosine - 0.4 * (n == row)) / 0.1) for n, cosine in enumerate(cosines)))
        - (cosines[0] - 0.4) / 0.1
        for row in range(7)
    ]
    assert np.mean(rows) == pytest.approx(8.561001517032052, abs=1e-5)
    assert found["queries"] == pytest.approx(rows[0], abs=1e-6)


def test_what_was_not_drawn_does_not_matter_in_stage_2() -> None:
    crocs, batch, rivals = system(), example.batch(), example.rivals(drawn=True)
    crocs.eval()
    expected = as_floats(crocs.losses(batch, rivals))
    assert rivals.videos is not None
    rivals.videos.clips[3] += 1  # pair 3 alone may have it, and pair 1, for which it does not count
    rivals.videos.video_counts[3, 0] = False
    changed = as_floats(crocs.losses(batch, rivals))
    rivals.videos.clips[3] += 1
    assert as_floats(crocs.losses(batch, rivals)) == pytest.approx(changed, abs=1e-12)
    assert changed["cells"] < expected["cells"]


def test_without_negatives_it_is_mmn() -> None:
    mmn = example.with_formula_weights(MMN(example.SIZES, ModelOptions(**example.MODEL), MatchingOptions()))
    assert isinstance(mmn, MMN)
    batch = example.batch()
    assert as_floats(system(negative_bce=0).losses(batch, None)) == pytest.approx(
        as_floats(mmn.losses(batch, None)), abs=1e-12
    )


def test_stages() -> None:
    assert system().stage_plans() == (StagePlan(), StagePlan(0.1, 2, 50, 100))
    assert system(stage=1).stage_plans() == (StagePlan(),)


@pytest.mark.parametrize(
    ("preset", "margin", "weight", "rate", "videos", "queries"),
    [
        ("charades", 0.4, 0.05, 1e-4, 50, 100),
        ("activitynet", 0.3, 0.1, 8e-4, 100, 200),
        ("tacos", 0.1, 0.05, 1.5e-3, 5, 100),
    ],
)
def test_presets_are_those_of_the_paper(
    preset: str, margin: float, weight: float, rate: float, videos: int, queries: int
) -> None:
    """MVMR, sections 7.1 and B.1."""
    tables = CroCs.presets[preset]
    loss = msgspec.convert(tables["loss"], LossOptions)
    msgspec.convert(tables["model"], ModelOptions)
    assert (loss.margin, loss.weight, tables["training"]["learning_rate"]) == (margin, weight, rate)
    assert tables["predict"] == {"nms": 0.4 if preset == "tacos" else 0.5}
    assert (loss.hard_videos, loss.hard_queries, loss.hard_learning_rate, loss.temperature) == (
        videos,
        queries,
        0.1,
        0.1,
    )


@given(st.integers(1, 5), st.integers(1, 7), st.integers(0, 999), st.floats(0.1, 3))
def test_probabilities_of_hard_negatives(anchors: int, others: int, seed: int, scale: float) -> None:
    """Equations 2 and 3: rows may be queries or moments or videos."""
    draw = np.random.default_rng(seed)
    scores = scale * draw.standard_normal((anchors, others))
    kind = draw.integers(0, 3, (anchors, others))
    found = hard_probabilities(scores, kind == 0, kind == 1)
    np.testing.assert_allclose(found, reference.hard_probabilities(scores, kind == 0, kind == 1), atol=1e-6)


def test_probabilities_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = example.wave((9, 4), 0.7).numpy()
    golden = np.eye(9, 4, dtype=bool)
    expected = hard_probabilities(scores, golden, ~golden)
    monkeypatch.setattr(hard_negatives, "_CELLS_AT_ONCE", 8)
    assert np.array_equal(hard_probabilities(scores, golden, ~golden), expected)


def test_scores_far_apart_still_give_probabilities() -> None:
    found = hard_probabilities(
        np.array([[0.0, 50.0, 60.0]]), np.array([[True, False, False]]), np.array([[False, True, True]])
    )
    assert found.tolist() == [[0.0, 1.0, 0.0]]


def test_a_right_pair_is_no_negative() -> None:
    one = np.ones((1, 1), dtype=bool)
    with pytest.raises(ValueError, match="cannot be a potential negative"):
        hard_probabilities(np.zeros((1, 1)), one, one)
