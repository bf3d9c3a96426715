"""G2L does what its public code does: plain NumPy beside it, and the numbers of that code on a small example."""

import heapq
import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import synthetic_pairs
from backend.systems.learning.system import Batch, Sizes
from backend.systems.learning.systems import g2l, mmn

CLIPS, DIM, CELLS = 6, 6, 21
VIDEO = (0, 0, 1, 2, 2, 2)
SPANS = ((0.0, 2.0), (2.5, 6.0), (1.2, 4.6), (0.0, 3.1), (3.2, 4.0), (0.4, 3.5))


def vectors(count: int, step: float, shift: float) -> Tensor:
    """Vectors by a formula that look random; they share a part, as moments do."""
    number = torch.arange(count * DIM, dtype=torch.float64)
    return (torch.sin(step * number + shift) + 0.8 * torch.sin(0.13 * number + 1.0)).view(count, DIM)


MOMENTS = vectors(3 * CELLS, 0.9, 0.0).view(3, CELLS, DIM)
"""In the order of the cells of the map, row by row."""
SENTENCES = vectors(len(VIDEO), 1.7, 0.3)


def example(moments: Tensor = MOMENTS, sentences: Tensor = SENTENCES) -> Batch:
    """Six pairs of a query and a moment in three videos."""
    span, video, pairs = torch.tensor(SPANS, dtype=torch.float64), torch.tensor(VIDEO), len(VIDEO)
    return Batch(
        numbers=torch.arange(pairs),
        query=torch.arange(pairs),
        video=video,
        words=sentences[:, None],
        words_mask=torch.ones(pairs, 1, dtype=torch.bool),
        vectors=sentences,
        clips=moments[video],
        mask=torch.ones(pairs, CELLS, dtype=torch.bool),
        first=span[:, 0].long(),
        last=span[:, 1].ceil().long() - 1,
        span=span,
        weight=torch.ones(pairs, dtype=torch.float64),
        positives=video[:, None] == video,
    )


class Given(g2l.G2L):
    """G2L whose network is the identity: clips of a batch are vectors of moments, tokens are those of sentences."""

    def __init__(self, **loss: float) -> None:
        options = g2l.GeodesicOptions(**{"margin": 0.3, "weight": 0.1, **loss})
        super().__init__(Sizes(DIM, DIM), mmn.ModelOptions(CLIPS, 1, (5,), DIM, 3, 1, DIM), options)
        for heads in (self.moment_heads, self.sentence_heads):
            heads.update({space: nn.Identity() for space in ("iou", "match")})
        self.sentence_norm = nn.Identity()

    def moments(self, clips: Tensor) -> Tensor:
        return clips


FEWER = {"neighbours": 3, "similar": 2, "players": 4, "negative_iou": 0.3, "temperature": 0.2}


@pytest.mark.parametrize(
    ("options", "published"),
    [
        (
            {},
            {
                "bce": 2.1392470954225256,
                "queries": 8.381714465353937,
                "hard": 249.98218626823774,
                "weak": 9.707686548665338,
                "interaction": 5.4099032783508925,
            },
        ),
        (
            FEWER,
            {
                "bce": 2.1392470954225256,
                "queries": 4.3924694283710215,
                "hard": 124.67274689815083,
                "weak": 5.070814405313997,
                "interaction": 6.00763684732874,
            },
        ),
    ],
)
def test_losses_are_those_of_the_public_code(options: dict[str, float], published: dict[str, float]) -> None:
    """`ContrastiveLoss` and `BceLoss` of lihxxxxx/G2L, commit 892370e, in float64 on the same tensors.

    `interaction` is with the sign that the model gives it. `knn_graph` of torch_geometric was replaced by sorted
    distances with its documented results.
    """
    found = Given(**options).double().losses(example(), None)
    assert {name: found[name].item() for name in published} == pytest.approx(published, rel=1e-9)
    matching = published["queries"] + published["hard"]
    total = published["bce"] + 0.1 * matching + 0.0005 * published["interaction"]
    assert found["loss"].item() == pytest.approx(total, rel=1e-9)


def test_late_epochs_learn_from_the_overlap_almost_alone() -> None:
    system = Given(full_epochs=5, weak=0.5, hard=2.0, interaction=0.1).double()
    system.epoch = 5
    early = {name: one.item() for name, one in system.losses(example(), None).items()}
    system.epoch = 6
    late = system.losses(example(), None)["loss"].item()
    rest = 0.1 * (early["queries"] + 2 * early["hard"] + 0.5 * early["weak"]) + 0.1 * early["interaction"]
    assert early["loss"] == pytest.approx(early["bce"] + rest)
    assert late == pytest.approx(early["bce"] + 0.01 * rest)


def test_weights_multiply_the_losses_of_pairs_if_asked() -> None:
    pairs = example()
    pairs.weight[:] = 0.5
    plain, weighted = (Given(weighted=asked).double().losses(pairs, None) for asked in (False, True))
    for name in ("bce", "queries", "hard", "weak"):
        assert weighted[name].item() == pytest.approx(plain[name].item() / 2)
    assert weighted["interaction"].item() == pytest.approx(plain["interaction"].item())


# Plain NumPy and Python, one number at a time.


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def geodesic(moments: np.ndarray, source: int, neighbours: int, limit: float) -> list[float]:
    """Dijkstra's algorithm on the graph of nearest moments."""
    count = len(moments)
    cosine = unit(moments) @ unit(moments).T
    nearest = [
        sorted((j for j in range(count) if j != i), key=lambda j: np.linalg.norm(moments[i] - moments[j]))[:neighbours]
        for i in range(count)
    ]
    distance, queue = {}, [(0.0, source)]
    while queue:
        far, place = heapq.heappop(queue)
        if place not in distance:
            distance[place] = far
            for j in nearest[place]:
                heapq.heappush(queue, (far + 1 - cosine[place, j], j))
    return [1 - distance[j] if distance.get(j, math.inf) <= limit else 0.0 for j in range(count)]


def log_sum(values: list[float], temperature: float) -> float:
    top = max(values)
    return top / temperature + math.log(sum(math.exp((value - top) / temperature) for value in values))


def plain_losses(pair: int, g: list[float], options: g2l.GeodesicOptions) -> tuple[list[float], list[float]]:
    """(2) and (3) of the module for one query, in plain numbers."""
    cells = [(i, j) for i in range(CLIPS) for j in range(i, CLIPS)]
    start, end = SPANS[pair]
    iou = [max(0, min(end, j + 1) - max(start, i)) / (max(end, j + 1) - min(start, i)) for i, j in cells]
    u = unit(MOMENTS.numpy())
    own, q = u[VIDEO[pair]], unit(SENTENCES.numpy())[pair]
    m = own[int(np.argmax(iou))]
    order = sorted(range(CELLS), key=lambda j: -g[j])[: options.similar]
    right = [g[j] * math.exp(q @ own[j]) for j in order]
    apart = [float(one < options.negative_iou) for one in iou]
    weak_same = [apart[j] * math.exp(q @ own[j]) for j in range(CELLS)]
    near = [1.0 if g[j] == 1 else 1 + g[j] for j in range(CELLS)]
    hard_same = [weak_same[j] * math.exp(m @ own[j]) * near[j] for j in range(CELLS)]
    others = [v for v in range(3) if v != VIDEO[pair]]
    softmax, like, cosine = {}, {}, {}
    for asked in (n for n in range(len(VIDEO)) if VIDEO[n] == VIDEO[pair]):
        his = unit(SENTENCES.numpy())[asked]
        s, e = SPANS[asked]
        theirs = [max(0, min(e, j + 1) - max(s, i)) / (max(e, j + 1) - min(s, i)) for i, j in cells]
        cosine[asked] = [his @ u[v, j] for v in others for j in range(CELLS)]
        total = sum(math.exp(one) for one in cosine[asked])
        softmax[asked] = [1000 * math.exp(one) / total for one in cosine[asked]]
        like[asked] = [own[int(np.argmax(theirs))] @ u[v, j] for v in others for j in range(CELLS)]
    mean_softmax = np.mean([one for row in softmax.values() for one in row])
    mean_like = np.mean([one for row in like.values() for one in row])
    hard_other = [
        cosine[pair][n] * ((s > mean_softmax) * like[pair][n] + (like[pair][n] > mean_like) * s)
        for n, s in enumerate(softmax[pair])
    ]
    t = options.temperature
    return (
        [log_sum(right + hard_same + hard_other, t) - one / t for one in right],
        [log_sum(right + weak_same + cosine[pair], t) - one / t for one in right],
    )


def test_geodesic_similarity_is_that_of_shortest_paths() -> None:
    for video in MOMENTS:
        for neighbours, limit in ((1, 0.9), (2, 0.5), (5, 0.5), (5, 0.05)):
            found = g2l.geodesic_similarity(video, torch.arange(CELLS), neighbours, limit)
            for source in range(CELLS):
                plain = geodesic(video.numpy(), source, neighbours, limit)
                assert found[source].tolist() == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("options", [{}, FEWER])
def test_losses_are_those_of_the_formulas(options: dict[str, float]) -> None:
    system = Given(**options).double()
    found = system.losses(example(), None)
    hard, weak = [], []
    overlap = system.overlaps(example()).argmax(dim=1)
    for pair, video in enumerate(VIDEO):
        g = geodesic(MOMENTS[video].numpy(), int(overlap[pair]), system.geodesic.neighbours, system.geodesic.limit)
        parts = plain_losses(pair, g, system.geodesic)
        hard += parts[0]
        weak += parts[1]
    assert found["hard"].item() == pytest.approx(np.mean(hard), abs=1e-6)
    assert found["weak"].item() == pytest.approx(np.mean(weak), abs=1e-6)


def plain_alignment(queries: np.ndarray, moments: np.ndarray) -> float:
    scores = queries @ moments.T
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    return (likely.max(axis=0).mean() + likely.max(axis=1).mean()) / 2


def filled(rows: np.ndarray, left_out: int) -> np.ndarray:
    copy = rows.copy()
    copy[left_out] = -1e9
    return copy


def test_interactions_are_those_of_vectors_left_out() -> None:
    queries, moments = unit(SENTENCES.numpy())[3:], unit(MOMENTS.numpy())[2, :8]
    found = g2l.interactions(torch.from_numpy(queries), torch.from_numpy(moments))
    plain = np.zeros((8, 3))
    for i in range(8):
        for j in range(3):
            fewer, others = filled(moments, i), filled(queries, j)
            plain[i, j] = plain_alignment(queries, moments) - plain_alignment(queries, fewer)
            plain[i, j] += plain_alignment(others, moments) - plain_alignment(others, fewer)
    assert found.numpy() == pytest.approx(plain, abs=1e-6)
    likely = np.exp(queries @ moments.T)
    logs = np.log(likely / likely.sum(axis=1, keepdims=True)).flatten()
    total = sum(x * a for x, a in zip(plain.flatten() / np.linalg.norm(plain), logs, strict=True)) * 3 / 8
    loss = g2l.interaction_loss(torch.from_numpy(queries), torch.from_numpy(moments))
    assert loss.item() == pytest.approx(total, abs=1e-6)


def test_gradients() -> None:
    """Of each of the losses; geodesic similarities and interactions are constants, so they are held."""
    system = Given(interaction=0.0).double()
    names = ("bce", "queries", "hard", "weak")
    similar = {n: g2l.geodesic_similarity(MOMENTS[n], torch.arange(CELLS), 5, 0.5) for n in range(3)}
    numbers = iter(list(range(3)) * 10_000)

    def held(moments: Tensor, sources: Tensor, neighbours: int, limit: float) -> Tensor:
        return similar[next(numbers)][sources]

    def losses(moments: Tensor, sentences: Tensor) -> tuple[Tensor, ...]:
        found = system.losses(example(moments, sentences), None)
        return tuple(found[name] for name in names)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(g2l, "geodesic_similarity", held)
        given = MOMENTS.clone().requires_grad_(), SENTENCES.clone().requires_grad_()
        assert torch.autograd.gradcheck(losses, given, fast_mode=True, eps=1e-7, atol=1e-4)


def test_videos_with_another_moment_of_the_query_are_no_others() -> None:
    """As if the batch had not had this video, for the queries of another video; and a batch of one video is finite."""
    system, pairs = Given().double(), example()
    pairs.positives[:2, 2] = False
    pairs.positives[:2, 3:] = True
    unit_of = nn.functional.normalize(MOMENTS, dim=-1)
    queries = nn.functional.normalize(SENTENCES[:2], dim=-1)
    overlap = system.overlaps(pairs)[:2]
    masked = system.losses_in(0, MOMENTS[0], unit_of, queries, overlap, torch.tensor([[False, True, False]] * 2))
    fewer = system.losses_in(0, MOMENTS[0], unit_of[:2], queries, overlap, torch.tensor([[False, True]] * 2))
    for one, other in zip(masked, fewer, strict=True):
        assert one.tolist() == pytest.approx(other.tolist(), abs=1e-9) if one.ndim == 0 else torch.allclose(one, other)
    alone = system.losses(synthetic_pairs.rows(example(), torch.arange(2)), None)
    assert all(value.isfinite() for value in alone.values())


def test_bfloat16_gives_the_same_losses_to_1_percent() -> None:
    torch.manual_seed(0)
    model = mmn.ModelOptions(synthetic_pairs.CLIPS, 1, (7,), 32, 3, 2, 16)
    system = g2l.G2L(Sizes(synthetic_pairs.FRAMES, synthetic_pairs.TOKENS), model, g2l.GeodesicOptions())
    pairs = synthetic_pairs.corpus(6)
    exact = system.losses(pairs, None)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = system.losses(pairs, None)
    rounded["loss"].backward()
    assert {name: one.item() for name, one in rounded.items()} == pytest.approx(
        {name: one.item() for name, one in exact.items()}, rel=1e-2
    )


@pytest.mark.long
def test_it_learns_which_moments_queries_describe() -> None:
    """Videos and queries that training did not see; all spans of all videos are ranked."""
    torch.manual_seed(0)
    model = mmn.ModelOptions(synthetic_pairs.CLIPS, 1, (7,), 32, 3, 2, 16)
    system = g2l.G2L(Sizes(synthetic_pairs.FRAMES, synthetic_pairs.TOKENS), model, g2l.GeodesicOptions())
    synthetic_pairs.learn(system, synthetic_pairs.corpus(96), epochs=10, size=16, rate=2e-3)
    anywhere, in_video = synthetic_pairs.rank_1(system, synthetic_pairs.corpus(12, seed=7))
    assert anywhere >= 0.95
    assert in_video >= 0.9


def test_initial_weights_have_the_published_spread() -> None:
    """Kaiming's normal distribution by the outputs of a layer: sqrt(2 / outputs)."""
    torch.manual_seed(0)
    system = g2l.G2L(Sizes(7, 5), mmn.ModelOptions(CLIPS, 1, (5,), 32, 3, 2, 48), g2l.GeodesicOptions())
    assert system.convolutions.convolutions[1].weight.std().item() == pytest.approx((2 / (32 * 9)) ** 0.5, rel=0.05)
    assert system.moment_heads["match"].weight.std().item() == pytest.approx((2 / 48) ** 0.5, rel=0.1)


def test_presets_are_those_of_the_public_configuration() -> None:
    """configs/anet.yaml of lihxxxxx/G2L, commit 892370e."""
    preset = g2l.G2L.presets["activitynet"]
    assert preset["loss"] == {"margin": 0.3, "weight": 0.1, "full_epochs": 5}
    options = g2l.GeodesicOptions(**preset["loss"])
    assert (options.neighbours, options.similar, options.players) == (5, 5, 7)
    assert (options.hard, options.weak, options.interaction) == (1.0, 0.0, 0.0005)
    assert (options.min_iou, options.max_iou, options.negative_iou, options.temperature) == (0.5, 1.0, 0.5, 0.1)
