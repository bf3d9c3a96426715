"""XML and ReLoCLNet do what their equations say, written here once more in plain NumPy, and what public code does."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

import moment_corpus
import stream_example as example
from backend.systems.learning.config import PredictOptions, TrainingOptions
from backend.systems.learning.losses import positives_of
from backend.systems.learning.system import Batch, Sizes
from backend.systems.learning.systems.reloclnet import ReLoCLNet, frame_loss
from backend.systems.learning.systems.xml import XML
from backend.systems.learning.two_streams import Positions, TwoStreams, best_clips

Array = np.ndarray
Weights = dict[str, Array]
PUBLISHED = {"weighted": False, "positives": "own"}
BOTH = pytest.mark.parametrize("kind", [XML, ReLoCLNet])
STREAMS = pytest.mark.parametrize("sizes", [example.SIZES, example.FRAMES_ALONE])


def system_of(kind: type[TwoStreams], sizes: Sizes, model: dict[str, Any] | None = None, **loss: Any) -> TwoStreams:
    options = kind.ModelOptions(**{**example.MODEL, "alpha": 20.0, **(model or {})})
    built = kind(sizes, options, kind.LossOptions(**loss))
    example.by_formula(built)
    return built.eval()


def batch_of(sizes: Sizes) -> Batch:
    return example.batch(sizes.frame_dim + sizes.subtitle_dim)


def weights_of(system: TwoStreams) -> Weights:
    return {name: weight.detach().numpy() for name, weight in system.named_parameters()}


# Plain NumPy, one sequence at a time.


def norm(x: Array, w: Weights, name: str) -> Array:
    scaled = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def dense(x: Array, w: Weights, name: str) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def softmax(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


def heads(x: Array, y: Array, w: Weights, name: str, count: int = 2) -> Array:
    asks, keys, values = (
        np.split(dense(rows, w, f"{name}.{part}"), count, axis=1)
        for rows, part in ((x, "query"), (y, "key"), (y, "value"))
    )
    seen = [softmax(a @ k.T / math.sqrt(k.shape[1])) @ v for a, k, v in zip(asks, keys, values, strict=True)]
    return np.concatenate(seen, axis=1)


def self_attention(x: Array, w: Weights, name: str) -> Array:
    return norm(x + dense(heads(x, x, w, f"{name}.attention"), w, f"{name}.output.0"), w, f"{name}.norm")


def placed(x: Array, w: Weights, layer: str, table: str) -> Array:
    projected = np.maximum(dense(norm(x, w, f"{layer}.0"), w, f"{layer}.2"), 0)
    return norm(projected + w[f"{table}.table.weight"][: len(x)], w, f"{table}.norm")


def plain_query(tokens: Array, w: Weights, layers: int) -> list[Array]:
    x = placed(tokens, w, "words", "word_positions")
    for number in range(layers):
        x = self_attention(x, w, f"word_encoders.{number}")
    return [softmax(x @ row) @ x for row in w["modular.weight"]]


def plain_stages(clips: Array, w: Weights, layers: int, streams: int) -> list[list[Array]]:
    parts = np.split(clips, [example.FRAMES], axis=1)[:streams]
    xs = [placed(part, w, f"streams.{n}.project", "clip_positions") for n, part in enumerate(parts)]
    stages = []
    for number in range(layers):
        if number == 1 and streams == 2:
            crossed = [x + heads(x, xs[1 - n], w, f"streams.{n}.cross") for n, x in enumerate(xs)]
            xs = [norm(x, w, f"streams.{n}.cross_norm") for n, x in enumerate(crossed)]
        xs = [self_attention(x, w, f"streams.{n}.layers.{number}") for n, x in enumerate(xs)]
        stages.append(xs)
    return stages


def plain_ends(query: list[Array], clips: list[Array], w: Weights) -> tuple[Array, Array]:
    """The probabilities of the start and of the end."""
    asked = [dense(one, w, f"streams.{n}.query") for n, one in enumerate(query)]
    similar = np.mean([x @ one for x, one in zip(clips, asked, strict=True)], axis=0)
    around = np.pad(similar, 2)
    start, end = (softmax(np.array([f[0] @ around[i : i + 5] for i in range(len(similar))])) for f in w["ends.weight"])
    return start, end


def cosine(x: Array, y: Array) -> float:
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def plain_frame(products: Array, first: int, last: int) -> float:
    inside = [math.log(2) - math.log(1 + math.exp(-x)) for x in products[first : last + 1]]
    outside = [math.log(1 + math.exp(x)) - math.log(2) for x in [*products[:first], *products[last + 1 :]]]
    return float(np.mean(outside) if outside else 0) - float(np.mean(inside))


class Plain:
    """Encodings, scores and losses of a batch."""

    def __init__(self, system: TwoStreams, batch: Batch) -> None:
        self.w, self.batch, self.streams = weights_of(system), batch, len(system.columns)
        words, clips = batch.words.numpy(), batch.clips.numpy()
        layers = system.clip_layers[self.streams == 2]
        masks = zip(batch.words_mask.numpy(), batch.mask.numpy(), strict=True)
        self.queries, self.videos = [], []
        for n, (has_words, has_clips) in enumerate(masks):
            self.queries.append(plain_query(words[n][has_words], self.w, system.word_layers))
            self.videos.append(plain_stages(clips[n][has_clips], self.w, layers, self.streams))

    def score(self, q: int, v: int, stage: int) -> float:
        pairs = zip(self.queries[q], self.videos[v][stage], strict=True)
        return float(np.mean([max(cosine(query, clip) for clip in clips) for query, clips in pairs]))

    def product(self, q: int, v: int, stage: int) -> float:
        pairs = zip(self.queries[q], self.videos[v][stage], strict=True)
        return float(np.mean([max(float(query @ clip) for clip in clips) for query, clips in pairs]))

    def ends(self, q: int, v: int) -> tuple[Array, Array]:
        return plain_ends(self.queries[q], self.videos[v][-1], self.w)

    def losses(self, retrieval: int, positives: Array) -> dict[str, list[float]]:
        every = range(len(self.queries))
        found: dict[str, list[float]] = {"span": [], "hinge": [], "frame": [], "contrast": [], "nce": []}
        s = np.array([[self.score(q, v, retrieval) for v in every] for q in every])
        e, cosines = np.exp([[self.product(q, v, -2) for v in every] for q in every]), np.exp(s / 0.1)
        for i in every:
            start, end = self.ends(i, i)
            first, last = int(self.batch.first[i]), int(self.batch.last[i])
            found["span"].append(-math.log(start[first]) - math.log(end[last]))
            videos = [max(0, 0.1 + s[i, j] - s[i, i]) for j in every if not positives[i, j]]
            queries = [max(0, 0.1 + s[j, i] - s[i, i]) for j in every if not positives[j, i]]
            found["hinge"].append(float(np.mean(videos) + np.mean(queries)))
            for name, x in (("contrast", e), ("nce", cosines)):
                found[name].append(-math.log(x[i][positives[i]].sum() / (x[i].sum() + x[:, i].sum())))
            pairs = zip(self.queries[i], self.videos[i][-2], strict=True)
            found["frame"].append(float(np.mean([plain_frame(clips @ query, first, last) for query, clips in pairs])))
        return found


def padded(batch: Batch, *, lengths: tuple[int, ...]) -> Batch:
    """The videos cut to these lengths and then filled up with other numbers."""
    mask = torch.arange(7) < torch.tensor(lengths)[:, None]
    clips = batch.clips.masked_fill(~mask[..., None], 9.0)
    last = torch.minimum(batch.last, torch.tensor(lengths) - 1)
    held = {name: getattr(batch, name) for name in Batch.__slots__}
    return Batch(**{**held, "clips": clips, "mask": mask, "last": last})


@BOTH
@STREAMS
def test_scores_are_those_of_the_equations(kind: type[TwoStreams], sizes: Sizes) -> None:
    system, batch = system_of(kind, sizes), padded(batch_of(sizes), lengths=(7, 3, 5, 6))
    plain = Plain(system, batch)
    queries = system.encode_queries(batch.words, batch.words_mask, batch.vectors)
    videos = system.encode_videos(batch.clips, batch.mask)
    found, spans = system.video_scores(queries, videos), system.span_scores(queries, videos)
    assert spans.shape == (4, 4, 7, 7)
    for q in range(4):
        for v in range(4):
            score = plain.score(q, v, system.retrieval)
            assert found[q, v].item() == pytest.approx(score, abs=1e-6)
            start, end = plain.ends(q, v)
            for i in range(7):
                for j in range(7):
                    there = i <= j < len(end)
                    expected = math.log(start[i] * end[j] * math.exp(20 * score)) if there else -math.inf
                    assert spans[q, v, i, j].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("positives", ["own", "top"])
@pytest.mark.parametrize("weighted", [False, True])
@BOTH
@STREAMS
def test_losses_are_those_of_the_equations(
    kind: type[TwoStreams], sizes: Sizes, weighted: bool, positives: str
) -> None:
    batch = padded(batch_of(sizes), lengths=(7, 4, 5, 6))
    mask = positives_of(batch.positives, own_only=positives == "own").numpy()
    weight = batch.weight.numpy() if weighted else np.ones(4)
    factors = {"span": 0.01, "hinge": 1.0, "frame": 0.03, "contrast": 0.03}
    if kind is ReLoCLNet:
        kinds: list[tuple[dict[str, str], dict[str, str]]] = [({}, {name: name for name in factors})]
    else:
        kinds = [({"video": name}, {"span": "span", "video": name}) for name in ("hinge", "nce")]
    for options, names in kinds:
        system = system_of(kind, sizes, weighted=weighted, positives=positives, **options)
        plain = Plain(system, batch).losses(system.retrieval, mask)
        found = system.losses(batch, None)
        means = {name: float((weight * plain[part]).mean()) for name, part in names.items()}
        total = sum(factors.get(name, 1.0) * mean for name, mean in means.items())
        assert {name: one.item() for name, one in found.items()} == pytest.approx({"loss": total, **means}, abs=1e-6)


@BOTH
@STREAMS
def test_gradients(kind: type[TwoStreams], sizes: Sizes) -> None:
    system, batch = system_of(kind, sizes), padded(batch_of(sizes), lengths=(7, 4, 5, 6))
    held = {name: getattr(batch, name) for name in Batch.__slots__}

    def loss(words: torch.Tensor, clips: torch.Tensor) -> torch.Tensor:
        return system.losses(Batch(**{**held, "words": words, "clips": clips}), None)["loss"]

    given = [batch.words.clone().requires_grad_(), batch.clips.clone().requires_grad_()]
    assert torch.autograd.gradcheck(loss, given, fast_mode=True)
    loss(*given).backward()
    unused = [name for name, one in system.named_parameters() if one.grad is None or not one.grad.abs().sum()]
    # A softmax over tokens or clips does not see what is the same for all of them.
    assert all(name.endswith(("key.bias", "table.weight")) for name in unused), unused


@BOTH
def test_padding_changes_nothing(kind: type[TwoStreams]) -> None:
    system, batch = system_of(kind, example.SIZES), example.batch()
    short, long = batch.clips[:1, :4], padded(batch, lengths=(4, 7, 7, 7)).clips
    mask = torch.arange(7) < torch.tensor([4, 7, 7, 7])[:, None]
    alone = system.encode_queries(batch.words[1:2, :2], batch.words_mask[1:2, :2], batch.vectors[1:2])
    beside = system.encode_queries(
        batch.words.masked_fill(~batch.words_mask[..., None], 5.0), batch.words_mask, batch.vectors
    )
    assert torch.allclose(alone["streams"], beside["streams"][1:2])
    one = system.span_scores(alone, system.encode_videos(short, mask[:1, :4]))
    many = system.span_scores(beside, system.encode_videos(long, mask))
    assert torch.allclose(one[0, 0], many[1, 0, :4, :4])
    assert many[:, 0, 4:].isneginf().all()
    assert many[:, 0, :, 4:].isneginf().all()


def test_positions_beyond_the_table_are_shared() -> None:
    positions = Positions(4, 2, 0.0)
    with torch.no_grad():
        positions.table.weight.copy_(torch.tensor([[0.0, 1.0], [5.0, 0.0], [-3.0, 1.0], [7.0, 9.0]]))
        positions.norm = torch.nn.Identity()  # type: ignore[assignment]
    mask = torch.arange(8) < torch.tensor([8, 3, 6])[:, None]
    found = positions(torch.zeros(3, 8, 2), mask)
    table = positions.table.weight
    for row, places in enumerate([[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 2], [0, 0, 1, 2, 2, 3]]):
        assert torch.equal(found[row, : len(places)], table[places])


def test_tokens_beyond_the_longest_query_are_left_out() -> None:
    system, batch = system_of(XML, example.SIZES, {"max_words": 3}), example.batch()
    whole = system.encode_queries(batch.words, batch.words_mask, batch.vectors)
    cut = system.encode_queries(batch.words[:, :3], batch.words_mask[:, :3], batch.vectors)
    assert torch.equal(whole["streams"], cut["streams"])


def test_worked_by_hand() -> None:
    query, clips = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[[0.6, 0.8]], [[0.8, 0.6]]]])
    assert best_clips(query, clips, torch.ones(1, 2, dtype=torch.bool)).item() == pytest.approx(0.8)
    products = torch.tensor([[[[math.log(3)]], [[0.0]]]])
    place, mask = torch.tensor([0]), torch.ones(1, 2, dtype=torch.bool)
    assert frame_loss(torch.ones(1, 1, 1), products, place, place, mask).item() == pytest.approx(math.log(2 / 3))


def test_a_number_of_heads_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"field `model.heads` is 3: it has to divide `model.hidden`, 8"):
        system_of(XML, example.SIZES, {"heads": 3})


@BOTH
def test_presets_are_options(kind: type[TwoStreams]) -> None:
    assert set(kind.presets) == {"tvr", "tvr-ranking"}
    for tables in kind.presets.values():
        msgspec.convert(tables.get("model", {}), kind.ModelOptions)
        msgspec.convert(tables.get("loss", {}), kind.LossOptions)
        msgspec.convert(tables["training"], TrainingOptions)
        msgspec.convert(tables["predict"], PredictOptions)


# Figures of the public code for the same numbers, in float64. Losses are the mean over all draws of negatives.

XML_LOSSES = {"loss": 0.2278696556243968, "span": 3.625045759787963, "video": 0.1916191980265171}
XML_HARD = 0.24217544347690179
XML_VIDEOS = [0.10363854592457489, 0.14909159015342016, 0.1810074624132716, 0.14336566503830694]
XML_SPANS = [
    *(-1.4830662030201376, -0.5017341784736588, 1.7096486442036987, 1.6664488368046873),
    *(-0.8785130626041514, -1.1800582056469113, 0.4504865664549544),
]
FRAMES_LOSSES = {"loss": 0.2647405116339651, "span": 3.996613209295426, "video": 0.2247743795409799}
FRAMES_HARD = 0.3250766073970857
FRAMES_VIDEOS = [0.640717705911218, 0.6029063436998868, 0.43252402379220384, 0.4555757506376079]
FRAMES_SPANS = [
    *(4.306679434649407, 5.114314942019523, 5.5412507048609605, 4.827005798273378),
    *(4.823972558237578, 5.362518756324928, 5.447197632827486),
]
RELOCLNET_LOSSES = {
    "loss": 0.3260915775067621,
    "span": 3.132231735923517,
    "hinge": 0.2062153357243122,
    "frame": 0.728837203772778,
    "contrast": 2.222960277001047,
}
RELOCLNET_HARD = 0.3493169071521095
RELOCLNET_VIDEOS = [0.34921195348832956, 0.3106356660187085, 0.28996486104373703, 0.2855899540201508]
RELOCLNET_SPANS = [
    *(-0.29629480749229925, 0.29950305255835113, 2.7040227420759666, 4.099764449073336),
    *(3.7969843293844345, 4.109266083499437, 3.7313121941422898),
]


@pytest.mark.parametrize(
    ("kind", "sizes", "losses", "hard", "of_videos", "of_spans"),
    [
        # jayleicn/TVRetrieval, commit d99a9ea: with subtitles, and its mode "video".
        (XML, example.SIZES, XML_LOSSES, XML_HARD, XML_VIDEOS, XML_SPANS),
        (XML, example.FRAMES_ALONE, FRAMES_LOSSES, FRAMES_HARD, FRAMES_VIDEOS, FRAMES_SPANS),
        # 26hzhang/ReLoCLNet, commit 56cb666.
        (ReLoCLNet, example.SIZES, RELOCLNET_LOSSES, RELOCLNET_HARD, RELOCLNET_VIDEOS, RELOCLNET_SPANS),
    ],
)
def test_public_code_has_the_same_figures(
    kind: type[TwoStreams],
    sizes: Sizes,
    losses: dict[str, float],
    hard: float,
    of_videos: list[float],
    of_spans: list[float],
) -> None:
    """`of_videos` are scores of the second query; `of_spans` of its spans in the third video, from the first clip."""
    system, batch = system_of(kind, sizes, hard_pool=2, **PUBLISHED), batch_of(sizes)
    assert {name: one.item() for name, one in system.losses(batch, None).items()} == pytest.approx(losses, abs=1e-5)
    system.epoch = 21
    assert system.losses(batch, None)["loss"].item() == pytest.approx(hard, abs=1e-5)
    queries = system.encode_queries(batch.words, batch.words_mask, batch.vectors)
    videos = system.encode_videos(batch.clips, batch.mask)
    assert system.video_scores(queries, videos)[1].tolist() == pytest.approx(of_videos, abs=1e-5)
    assert system.span_scores(queries, videos)[1, 2, 0].tolist() == pytest.approx(of_spans, abs=1e-5)


def test_public_code_of_tvr_ranking_has_the_same_weighted_losses() -> None:
    """Ranking-VMR/TVR-Ranking, commit db1dc44, without its hinge losses: it does not weight these."""
    system = system_of(ReLoCLNet, example.SIZES, hinge=0.0, positives="own")
    assert system.losses(example.batch(), None)["loss"].item() == pytest.approx(0.06946314820582446, abs=1e-5)


@BOTH
def test_it_learns_which_words_mean_which_clips(kind: type[TwoStreams]) -> None:
    """Sentences that it has not seen in training, over all videos."""
    torch.manual_seed(0)
    corpus, rng, epochs, batches = moment_corpus.Corpus(36, noise=0.2), np.random.default_rng(0), 50, 3
    options = kind.ModelOptions(hidden=64, heads=2, dropout=0.0, input_dropout=0.0)
    system = kind(Sizes(moment_corpus.DIM, moment_corpus.WORDS_DIM), options, kind.LossOptions(span=0.1))
    optimiser = torch.optim.AdamW(system.parameters())
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=epochs * batches, pct_start=0.1)
    system.train()
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(corpus.pairs)), batches):
            optimiser.zero_grad()
            system.losses(corpus.batch(rows), None)["loss"].backward()
            optimiser.step()
            rates.step()
    assert corpus.right(system) >= 0.95
