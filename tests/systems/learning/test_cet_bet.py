"""CET and BET do what equations 7 to 13 of MVMR say, written here once more in plain NumPy."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

import synthetic_pairs
from backend.systems.learning.system import Batch, Sizes
from backend.systems.learning.systems import bet, boundaries, cet

Array = np.ndarray
Build = Callable[..., cet.CrossEncoder | bet.BiEncoder]


PAPER = boundaries.BoundaryOptions()


def cross(loss: boundaries.BoundaryOptions = PAPER, **sizes: float) -> cet.CrossEncoder:
    return cet.CrossEncoder(Sizes(12, 10), cet.CrossEncoderOptions(**{**SMALL, **sizes}), loss)


def separate(loss: boundaries.BoundaryOptions = PAPER, **sizes: float) -> bet.BiEncoder:
    return bet.BiEncoder(Sizes(12, 10), bet.BiEncoderOptions(**{**SMALL, **sizes}), loss)


SMALL = {"hidden": 8, "layers": 2, "heads": 2, "dropout": 0.0, "clips": 8}
BOTH = pytest.mark.parametrize("build", [cross, separate])


def by_formula(system: torch.nn.Module) -> None:
    """Weights without a random generator: the sines of a count."""
    with torch.no_grad():
        for number, weight in enumerate(system.parameters()):
            weight.copy_(
                0.5 * torch.sin(0.7 * torch.arange(weight.numel(), dtype=weight.dtype) + number).view_as(weight)
            )


def doubled(pairs: Batch) -> Batch:
    held = {name: getattr(pairs, name) for name in Batch.__slots__}
    return Batch(**{name: one.double() if one.dtype == torch.float32 else one for name, one in held.items()})


# Plain NumPy, one pair at a time.


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def layer_norm(x: Array, weights: dict[str, Array], name: str) -> Array:
    spread = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return (x - x.mean(axis=-1, keepdims=True)) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dense(x: Array, weights: dict[str, Array], name: str) -> Array:
    return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0)


def perceptron(x: Array, weights: dict[str, Array], name: str) -> Array:
    for number in (0, 2):
        x = np.maximum(dense(x, weights, f"{name}.{number}"), 0)
    return dense(x, weights, f"{name}.4")


def attention(x: Array, weights: dict[str, Array], name: str, heads: int) -> Array:
    rows = x @ weights[f"{name}.in_proj_weight"].T + weights[f"{name}.in_proj_bias"]
    asks, keys, values = (np.split(part, heads, axis=1) for part in np.split(rows, 3, axis=1))
    found = []
    for ask, key, value in zip(asks, keys, values, strict=True):
        likely = np.exp(ask @ key.T / np.sqrt(key.shape[1]))
        found.append(likely / likely.sum(axis=1, keepdims=True) @ value)
    return dense(np.concatenate(found, axis=1), weights, f"{name}.out_proj")


def encoder(x: Array, weights: dict[str, Array], heads: int = 2, layers: int = 2) -> Array:
    for layer in range(layers):
        name = f"encoder.layers.{layer}"
        x = x + attention(layer_norm(x, weights, f"{name}.norm1"), weights, f"{name}.self_attn", heads)
        inner = np.maximum(dense(layer_norm(x, weights, f"{name}.norm2"), weights, f"{name}.linear1"), 0)
        x = x + dense(inner, weights, f"{name}.linear2")
    return layer_norm(x, weights, "encoder.norm")


def placed(clips: Array, weights: dict[str, Array]) -> Array:
    rows = dense(clips, weights, "clips")
    for p in range(rows.shape[0]):
        for n in range(rows.shape[1]):
            rows[p, n] += (np.cos if n % 2 else np.sin)(p / 10000 ** (n // 2 * 2 / rows.shape[1]))
    return rows


def by_equations_7_and_8(clips: Array, words: Array, weights: dict[str, Array]) -> tuple[Array, Array]:
    rows = encoder(np.concatenate([placed(clips, weights), dense(words, weights, "words")]), weights)[: len(clips)]
    return sigmoid(perceptron(rows, weights, "start")[:, 0]), sigmoid(perceptron(rows, weights, "end")[:, 0])


def by_equations_11_to_13(clips: Array, words: Array, weights: dict[str, Array]) -> tuple[Array, Array]:
    rows = encoder(placed(clips, weights), weights)
    pooled = dense(words, weights, "words").mean(axis=0)
    found = []
    for name in ("start", "end"):
        asked = perceptron(pooled, weights, name)
        cosines = [row @ asked / np.linalg.norm(row) / np.linalg.norm(asked) for row in rows]
        found.append(sigmoid(10 * np.array(cosines)))
    return found[0], found[1]


PLAIN = {cross: by_equations_7_and_8, separate: by_equations_11_to_13}


def labels_9(span: list[float], first: int, last: int, clips: int, k: float) -> tuple[list[float], list[float]]:
    inside = range(first, last + 1)
    length = last - first + 1
    start = [((span[1] - i) / length) ** k if i in inside else 0 for i in range(clips)]
    return start, [((i + 1 - span[0]) / length) ** k if i in inside else 0 for i in range(clips)]


def cross_entropy(p: Array, y: list[float]) -> float:
    return -sum(y[i] * np.log(p[i]) + (1 - y[i]) * np.log(1 - p[i]) for i in range(len(y))) / len(y)


def test_labels_are_those_of_equation_9() -> None:
    spans, first, last = [[1.0, 3.0], [2.25, 4.5], [0.5, 0.75], [0.0, 5.0]], [1, 2, 0, 0], [2, 4, 0, 4]
    for k in (1, 10):
        found = boundaries.interpolated_labels(
            torch.tensor(spans, dtype=torch.float64), torch.tensor(first), torch.tensor(last), 5, k
        )
        for row, span in enumerate(spans):
            for one, plain in zip(found, labels_9(span, first[row], last[row], 5, k), strict=True):
                assert one[row].tolist() == pytest.approx(plain, abs=1e-12)


def test_a_moment_of_whole_clips_starts_and_ends_with_1() -> None:
    start, end = boundaries.interpolated_labels(
        torch.tensor([[1.0, 3.0], [2.0, 3.0]]), torch.tensor([1, 2]), torch.tensor([2, 2]), 4, 1
    )
    assert start.tolist() == [[0, 1, 0.5, 0], [0, 0, 1, 0]]
    assert end.tolist() == [[0, 0.5, 1, 0], [0, 0, 1, 0]]


@BOTH
def test_losses_and_scores_are_those_of_the_equations(build: Build) -> None:
    system = build().double()
    by_formula(system)
    pairs = doubled(synthetic_pairs.corpus(2))
    pairs.span[:] += torch.tensor([[0.25, -0.5]])
    pairs.weight[:] = torch.linspace(0.5, 1, len(pairs.weight))
    weights = {name: one.numpy() for name, one in system.state_dict().items()}
    halves = np.zeros(2)
    found = system.losses(pairs, None)
    with torch.no_grad():
        asked = system.encode_queries(pairs.words, pairs.words_mask, pairs.vectors)
        scores = system.span_scores(asked, system.encode_videos(pairs.clips[::3], pairs.mask[::3]))
    for q in range(6):
        words = pairs.words[q][pairs.words_mask[q]].numpy()
        for v in range(2):
            start, end = PLAIN[build](pairs.clips[3 * v].numpy(), words, weights)
            for i in range(8):
                for j in range(8):
                    expected = start[i] * end[j] if i <= j else -np.inf
                    assert scores[q, v, i, j].item() == pytest.approx(expected, abs=1e-6)
            if pairs.video[q] == v:
                labels = labels_9(pairs.span[q].tolist(), int(pairs.first[q]), int(pairs.last[q]), 8, 10)
                each = [cross_entropy(p, y) for p, y in zip((start, end), labels, strict=True)]
                halves += pairs.weight[q].item() * np.array(each) / 6
    assert [found[key].item() for key in ("start", "end")] == pytest.approx(halves, abs=1e-6)
    assert found["loss"].item() == pytest.approx(halves.mean(), abs=1e-6)


@BOTH
@pytest.mark.parametrize("count", [2, 100])
def test_other_videos_of_the_batch_are_negatives(build: Build, count: int) -> None:
    """The next two pairs, or all others, give negatives, but no video that has a moment of the query."""
    system = build(boundaries.BoundaryOptions(other_videos=count)).double()
    by_formula(system)
    pairs = doubled(synthetic_pairs.corpus(2))
    weights = {name: one.numpy() for name, one in system.state_dict().items()}
    moments = set(zip(pairs.query.tolist(), pairs.video.tolist(), strict=True))
    each = []
    for q in range(6):
        for other in range(q + 1, q + 1 + min(count, 5)):
            clips, words = pairs.clips[other % 6].numpy(), pairs.words[q][pairs.words_mask[q]].numpy()
            relevant = (pairs.query[q].item(), pairs.video[other % 6].item()) in moments
            each += [0 if relevant else cross_entropy(p, [0] * 8) for p in PLAIN[build](clips, words, weights)]
    assert any(each)
    plain = build().double()
    by_formula(plain)
    found = system.losses(pairs, None)
    assert found["others"].item() == pytest.approx(np.mean(each), abs=1e-6)
    own = plain.losses(pairs, None)["loss"].item()
    assert found["loss"].item() == pytest.approx(own + found["others"].item(), abs=1e-9)


@BOTH
def test_gradients(build: Build) -> None:
    system = build(layers=1, hidden=4).double()
    by_formula(system)
    pairs = doubled(synthetic_pairs.corpus(1))
    names = [name for name, _ in system.named_parameters()]

    def loss(*weights: torch.Tensor) -> torch.Tensor:
        given = dict(zip(names, weights, strict=True))
        with torch.nn.utils.stateless._reparametrize_module(system, given):
            return system.losses(pairs, None)["loss"]

    weights = [one.detach().clone().requires_grad_() for one in system.parameters()]
    assert torch.autograd.gradcheck(loss, weights, fast_mode=True)


@BOTH
def test_padding_changes_nothing(build: Build) -> None:
    """Two more clips and tokens, full of large numbers, and a video beside it that has them."""
    system = build().eval()
    by_formula(system)
    pairs = synthetic_pairs.corpus(1)
    clips, words = pairs.clips[:1], pairs.words[:2]
    more = torch.cat([clips, torch.full((1, 2, 12), 9.0)], dim=1)
    longer = torch.cat([words, torch.full((2, 2, 10), 9.0)], dim=1)
    longer_mask = torch.cat([pairs.words_mask[:2], torch.zeros(2, 2, dtype=torch.bool)], dim=1)
    with torch.no_grad():
        plain = system.span_scores(
            system.encode_queries(words, pairs.words_mask[:2], pairs.vectors[:2]),
            system.encode_videos(clips, torch.ones(1, 8, dtype=torch.bool)),
        )
        filled = system.span_scores(
            system.encode_queries(longer, longer_mask, pairs.vectors[:2]),
            system.encode_videos(more.repeat(2, 1, 1), torch.tensor([[True] * 8 + [False] * 2, [True] * 10])),
        )
    assert torch.allclose(plain, filled[:, :1, :8, :8], atol=1e-6)
    assert filled[:, 0].flatten(1).isfinite().sum(dim=1).tolist() == [36, 36]
    held = {name: getattr(pairs, name) for name in Batch.__slots__}
    wider = {"clips": torch.cat([pairs.clips, torch.full((3, 2, 12), 9.0)], dim=1)}
    wider["mask"] = torch.cat([pairs.mask, torch.zeros(3, 2, dtype=torch.bool)], dim=1)
    beside = system.losses(Batch(**{**held, **wider}), None)
    assert beside["loss"].item() == pytest.approx(system.losses(pairs, None)["loss"].item(), abs=1e-6)


def test_the_size_of_blocks_changes_nothing() -> None:
    system = cross(block=5).eval()
    pairs = synthetic_pairs.corpus(3)
    with torch.no_grad():
        asked = system.encode_queries(pairs.words, pairs.words_mask, pairs.vectors)
        shown = system.encode_videos(pairs.clips[::3], pairs.mask[::3])
        in_fives = system.span_scores(asked, shown)
        system.model = cet.CrossEncoderOptions(**SMALL, block=1000)
        assert torch.allclose(in_fives, system.span_scores(asked, shown), atol=1e-6)


@BOTH
def test_bfloat16_gives_the_same_losses_to_1_percent(build: Build) -> None:
    torch.manual_seed(0)
    system, pairs = build(), synthetic_pairs.corpus(4)
    exact = system.losses(pairs, None)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = system.losses(pairs, None)
    assert {name: one.item() for name, one in rounded.items()} == pytest.approx(
        {name: one.item() for name, one in exact.items()}, rel=1e-2
    )


@BOTH
def test_it_learns_which_moments_queries_describe(build: Build) -> None:
    """Videos and queries that training did not see; all spans of all videos are ranked."""
    torch.manual_seed(0)
    system = build(hidden=32, heads=4)
    synthetic_pairs.learn(system, synthetic_pairs.corpus(64), epochs=30, size=16, rate=2e-3)
    anywhere, in_video = synthetic_pairs.rank_1(system, synthetic_pairs.corpus(12, seed=7))
    assert anywhere >= 0.95
    assert in_video >= 0.9


@BOTH
def test_heads_that_do_not_divide_are_refused(build: Build) -> None:
    with pytest.raises(ValueError, match=r"`model\.heads`, 3, has to divide `model\.hidden`, 8"):
        build(heads=3)


def test_published_sizes_are_the_defaults() -> None:
    """MVMR, appendix B.2."""
    for options in (cet.CrossEncoderOptions(), bet.BiEncoderOptions()):
        assert (options.hidden, options.layers) == (512, 6)
    assert boundaries.BoundaryOptions().power == 10
    assert bet.BiEncoderOptions().scale == 10
    assert {preset["training"]["learning_rate"] for preset in boundaries.PRESETS.values()} == {1e-3}
