"""CONQUER against plain NumPy, the published code, padding, gradients, and a corpus with a known answer."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
import torch
from torch import Tensor

import conquer_reference as reference
from backend.systems.learning.first_step import FirstRun, FirstStep
from backend.systems.learning.system import DrawnVideos, Rivals, Sizes
from backend.systems.learning.systems.conquer import Conquer, ConquerLoss
from backend.systems.learning.systems.query_aware import ConquerOptions
from conquer_example import FIRST, FRAMES, LAST, PAIRS, VIDEO_OF, batch, named, rivals, system

SIMILARITIES = [("exclusive", True), ("disjoint", False), ("general", True)]


def encoded(made: Conquer, pairs: SimpleNamespace) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    return (
        made.encode_queries(pairs.words, pairs.words_mask, pairs.vectors),
        made.encode_videos(pairs.clips, pairs.mask),
    )


def by_hand(
    made: Conquer, clips: Tensor, mask: Tensor, words: Tensor, words_mask: Tensor
) -> tuple[np.ndarray, np.ndarray, float]:
    weights = {name: weight.numpy() for name, weight in named(made).items()}
    return reference.pair(clips[mask].numpy(), words[words_mask].numpy(), weights, frames=FRAMES)


@pytest.mark.parametrize(("similarity", "subtitles"), SIMILARITIES)
def test_logits_are_those_of_plain_numpy(similarity: str, subtitles: bool) -> None:
    made, pairs = system(similarity=similarity, subtitles=subtitles).eval(), batch(padded=True, subtitles=subtitles)
    with torch.no_grad():
        start, end, relevance = made.pair_logits(*encoded(made, pairs))
    for row in range(PAIRS):
        mask = pairs.mask[row]
        starts, ends, video = by_hand(made, pairs.clips[row], mask, pairs.words[row], pairs.words_mask[row])
        np.testing.assert_allclose(start[row][mask].numpy(), starts, atol=1e-6)
        np.testing.assert_allclose(end[row][mask].numpy(), ends, atol=1e-6)
        assert start[row][~mask].eq(-torch.inf).all()
        assert relevance is None if similarity != "exclusive" else float(relevance[row]) == pytest.approx(video, 1e-6)


@pytest.mark.parametrize(("similarity", "subtitles"), SIMILARITIES)
@pytest.mark.parametrize("weighted", [True, False])
def test_losses_are_normalised_over_all_clips_of_all_videos(similarity: str, subtitles: bool, weighted: bool) -> None:
    made = system(similarity=similarity, subtitles=subtitles, loss=ConquerLoss(weighted=weighted, span=0.3, video=0.7))
    pairs, others = batch(padded=True, subtitles=subtitles), rivals(padded=True, subtitles=subtitles)
    found = made.losses(pairs, others)
    assert others.videos is not None
    drawn, span, video = others.videos, 0.0, 0.0
    for row in range(PAIRS):
        shown = [(pairs.clips[row], pairs.mask[row])]
        for place, counts in zip(VIDEO_OF[row], drawn.video_counts[row].tolist(), strict=True):
            shown += [(drawn.clips[place], drawn.mask[place])] if counts else []
        logits = [by_hand(made, clips, mask, pairs.words[row], pairs.words_mask[row]) for clips, mask in shown]
        weight = float(pairs.weight[row]) if weighted else 1.0
        for which, right in ((0, FIRST[row]), (1, LAST[row])):
            powers = np.exp(np.concatenate([one[which] for one in logits]))
            span -= weight * np.log(powers[right] / powers.sum()) / PAIRS
        powers = np.exp(np.array([one[2] for one in logits]))
        video -= weight * np.log(powers[0] / powers.sum()) / PAIRS
    expected = {"loss": 0.3 * span, "span": span}
    if similarity == "exclusive":
        expected = {"loss": 0.3 * span + 0.7 * video, "span": span, "video": video}
    assert {name: value.item() for name, value in found.items()} == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("similarity", "subtitles"), SIMILARITIES)
def test_scores_of_spans_are_those_of_plain_numpy(similarity: str, subtitles: bool) -> None:
    made, pairs = system(similarity=similarity, subtitles=subtitles).eval(), batch(padded=True, subtitles=subtitles)
    queries, videos = encoded(made, pairs)
    first = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64)
    with torch.no_grad():
        scores = made.span_scores(queries, {**videos, "first_score": first})
    assert scores.shape == (PAIRS, PAIRS, 8, 8)
    for query in range(PAIRS):
        for video in range(PAIRS):
            mask = pairs.mask[video]
            starts, ends, relevance = by_hand(
                made, pairs.clips[video], mask, pairs.words[query], pairs.words_mask[query]
            )
            expected = np.full((8, 8), -np.inf)
            for i in range(len(starts)):
                for j in range(i, len(ends)):
                    if similarity == "disjoint":
                        expected[i, j] = starts[i] + ends[j]
                    else:
                        right = {"general": float(first[video]), "exclusive": relevance}[similarity]
                        begin, finish = reference.softmax(starts)[i], reference.softmax(ends)[j]
                        expected[i, j] = right + np.log(begin * finish)
            np.testing.assert_allclose(scores[query, video].numpy(), expected, atol=1e-6)


def test_the_published_code_gives_the_same_numbers() -> None:
    """houzhijian/CONQUER, commit d4af371, on the same tensors and weights, without padding, in float64."""
    made, pairs, others = system().eval(), batch(), rivals()
    pairs.weight = torch.ones(PAIRS, dtype=torch.float64)
    losses = {name: value.item() for name, value in made.losses(pairs, others).items()}
    assert 0.01 * losses["span"] == pytest.approx(0.06349529886277497, abs=1e-5)
    assert 0.05 * losses["video"] == pytest.approx(0.11597406548199081, abs=1e-5)
    assert losses["loss"] == pytest.approx(0.1794693643447658, abs=1e-5)
    assert others.videos is not None
    queries, videos = encoded(made, pairs)
    shown = made.encode_videos(others.videos.clips[[0, 1]], others.videos.mask[[0, 1]])
    shown = {name: torch.cat([videos[name][:1], rows]) for name, rows in shown.items()}
    asked = {name: rows[:1] for name, rows in queries.items()}
    _, _, relevance = made.pair_logits({name: rows.expand(3, *rows.shape[1:]) for name, rows in asked.items()}, shown)
    assert relevance is not None
    assert relevance.tolist() == pytest.approx([25.115729164, 25.717254385, 23.620331942], abs=1e-5)
    spans = made.span_scores(asked, shown)[0] - relevance.logsumexp(dim=0)
    assert spans[1, 0, :4].exp().tolist() == pytest.approx(
        [0.010186484, 0.009143199, 0.008926445, 0.008981315], abs=1e-5
    )


def test_the_published_code_gives_the_same_numbers_without_subtitles() -> None:
    """The same commit, mode `visual` and similarity `general`; the last query is pair 1 with the second drawn video."""
    made, pairs, others = (
        system(similarity="general", subtitles=False).eval(),
        batch(subtitles=False),
        rivals(subtitles=False),
    )
    pairs.weight = torch.ones(PAIRS, dtype=torch.float64)
    assert made.losses(pairs, others)["loss"].item() == pytest.approx(0.06407635614160569, abs=1e-5)
    assert others.videos is not None
    queries, _ = encoded(made, pairs)
    shown = made.encode_videos(others.videos.clips[[3]], others.videos.mask[[3]])
    start, _, _ = made.pair_logits({name: rows[[1]] for name, rows in queries.items()}, shown)
    published = [
        0.254807166,
        -0.123803782,
        1.069512868,
        0.806926472,
        0.809790774,
        0.790228978,
        0.560804932,
        -0.206685491,
    ]
    assert start[0].tolist() == pytest.approx(published, abs=1e-5)


def test_padding_changes_nothing() -> None:
    made, pairs, others = system().eval(), batch(padded=True), rivals(padded=True)
    loss = made.losses(pairs, others)["loss"]
    pairs.clips[~pairs.mask] = 9.0
    pairs.words[~pairs.words_mask] = -7.0
    assert others.videos is not None
    others.videos.clips[~others.videos.mask] = 5.0
    assert made.losses(pairs, others)["loss"].item() == pytest.approx(loss.item(), abs=1e-9)
    longer = {
        "clips": torch.nn.functional.pad(pairs.clips, (0, 0, 0, 3)),
        "mask": torch.nn.functional.pad(pairs.mask, (0, 3)),
        "words": torch.nn.functional.pad(pairs.words, (0, 0, 0, 2)),
        "words_mask": torch.nn.functional.pad(pairs.words_mask, (0, 2)),
    }
    again = made.losses(SimpleNamespace(**{**vars(pairs), **longer}), others)["loss"]
    assert again.item() == pytest.approx(loss.item(), abs=1e-9)


def test_clips_after_the_last_position_share_it() -> None:
    made, pairs = system(subtitles=False).eval(), batch(subtitles=False)
    long = torch.cat([pairs.clips, pairs.clips], dim=1)[:1]
    mask = torch.ones(1, 16, dtype=torch.bool)
    queries = made.encode_queries(pairs.words[:1], pairs.words_mask[:1], pairs.vectors[:1])
    start, _, _ = made.pair_logits(queries, made.encode_videos(long, mask))
    starts, _, _ = by_hand(made, long[0], mask[0], pairs.words[0], pairs.words_mask[0])
    np.testing.assert_allclose(start[0].detach().numpy(), starts, atol=1e-6)


@pytest.mark.parametrize("similarity", ["exclusive", "general"])
def test_gradients_are_right(similarity: str) -> None:
    made, pairs, others = system(similarity=similarity), batch(padded=True), rivals(padded=True)

    def loss(clips: Tensor, words: Tensor) -> Tensor:
        return made.losses(SimpleNamespace(**{**vars(pairs), "clips": clips, "words": words}), others)["loss"]

    inputs = (pairs.clips.clone().requires_grad_(), pairs.words.clone().requires_grad_())
    assert torch.autograd.gradcheck(loss, inputs, fast_mode=True)
    loss(*inputs).backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in made.parameters())


def test_general_needs_a_first_run() -> None:
    with pytest.raises(ValueError, match="general needs the scores of `model"):
        Conquer(Sizes(5, 7), ConquerOptions(), ConquerLoss())
    with pytest.raises(ValueError, match="has to divide"):
        Conquer(Sizes(5, 7), ConquerOptions(first_run="a.json", heads=5), ConquerLoss())
    options = msgspec.convert({"first_run": ["a.json", "b.json"]}, ConquerOptions)
    tiny = msgspec.structs.replace(options, hidden=8, heads=2)
    assert Conquer.first_step(tiny, ConquerLoss(negatives=2)) == FirstStep(("a.json", "b.json"), negatives=2)
    alone = ConquerOptions(similarity="disjoint", hidden=8, heads=2)
    assert Conquer.first_step(alone, ConquerLoss()) is None


def test_published_sizes() -> None:
    """The published configuration: three negatives from 1,000, and as many weights as the published network has."""
    model, loss = ConquerOptions(first_run="first.json"), ConquerLoss()
    assert (loss.span, loss.video, loss.negatives, loss.pool) == (0.01, 0.05, 3, 1000)
    with torch.device("meta"):
        made = Conquer(Sizes(4352, 768, 768), model, loss)
    assert sum(weight.numel() for weight in made.parameters()) == 47_672_640


TOPICS, CLIPS, VIDEOS = 6, 8, 24


def corpus() -> SimpleNamespace:
    """Videos of three topics each; the tokens of a query are a fixed linear map of the clips of its moment, with noise.

    The first run scores a video 1 if it shows the query's topic and 0 if not, with noise of 0.5.
    """
    rng = np.random.default_rng(3)
    wording, looks = rng.standard_normal((12, 10)) / 12**0.5, rng.standard_normal((TOPICS * 4, 12))
    clips, words, spans, lists = np.zeros((VIDEOS, CLIPS, 12)), np.zeros((VIDEOS * 3, 4, 10)), [], {}
    topic_of = [rng.choice(len(looks), 3, replace=False) for _ in range(VIDEOS)]
    shown, topics = [], []
    for video, these in enumerate(topic_of):
        bounds = [0, *np.sort(rng.choice([2, 4, 6], 2, replace=False)).tolist(), CLIPS]
        clips[video] = np.repeat(looks[these], np.diff(bounds), axis=0) + 0.1 * rng.standard_normal((CLIPS, 12))
        for topic, start, end in zip(these.tolist(), bounds[:-1], bounds[1:], strict=True):
            noise = 0.1 * rng.standard_normal((end - start, 10))
            words[len(shown), : end - start] = clips[video, start:end] @ wording + noise
            spans.append((start, end))
            shown.append(video)
            topics.append(topic)
    for pair, topic in enumerate(topics):
        fits = np.array([topic in these for these in topic_of])
        scores = fits + 0.5 * rng.standard_normal(VIDEOS)
        order = np.argsort(-scores)
        lists[str(pair)] = order, scores[order].astype(np.float32)
    span, video = torch.tensor(spans), torch.tensor(shown)
    return SimpleNamespace(
        video=video,
        words=torch.tensor(words, dtype=torch.float32),
        words_mask=torch.arange(4) < (span[:, 1:] - span[:, :1]),
        vectors=torch.zeros(len(shown), 10),
        all_clips=torch.tensor(clips, dtype=torch.float32),
        first=span[:, 0],
        last=span[:, 1] - 1,
        weight=torch.ones(len(shown)),
        topic=torch.tensor(topics),
        lists=lists,
    )


def drawn(made: SimpleNamespace, run: FirstRun, chosen: Tensor, rng: np.random.Generator) -> Rivals:
    positives = [made.video[made.topic == made.topic[pair]].numpy() for pair in chosen.tolist()]
    videos, counts = run.draw([str(pair) for pair in chosen.tolist()], made.video[chosen].numpy(), positives, rng)
    different, place = np.unique(videos, return_inverse=True)
    mask = torch.ones(len(different), CLIPS, dtype=torch.bool)
    clips = made.all_clips[torch.from_numpy(different)]
    rows = torch.from_numpy(place.reshape(videos.shape))
    return Rivals(
        torch.ones(len(chosen), len(chosen), dtype=torch.bool), DrawnVideos(clips, mask, rows, torch.from_numpy(counts))
    )


@pytest.mark.long
@pytest.mark.parametrize("similarity", ["general", "exclusive", "disjoint"])
def test_it_learns_a_corpus_with_a_known_answer(similarity: str) -> None:
    """The best span of the ten best videos of the first run has IoU >= 0.5 with a moment of the query: Rank 1, 95 %."""
    made, rng = corpus(), np.random.default_rng(0)
    step = FirstStep(("first.json",), negatives=3)
    run = FirstRun(step, made.lists)
    torch.manual_seed(0)
    options = ConquerOptions(
        first_run="first.json", similarity=similarity, hidden=32, heads=4, filters=16, longest=(8, 4), dropout=0.0
    )
    network = Conquer(Sizes(12, 10), options, ConquerLoss(span=1.0, video=1.0))
    optimiser = torch.optim.AdamW(network.parameters(), 2e-3)
    for _ in range(40):
        for chosen in torch.randperm(len(made.video)).split(16):
            names = ("words", "words_mask", "vectors", "first", "last", "weight")
            part = SimpleNamespace(**{name: getattr(made, name)[chosen] for name in names})
            part.clips = made.all_clips[made.video[chosen]]
            part.mask = torch.ones(part.clips.shape[:2], dtype=torch.bool)
            optimiser.zero_grad()
            network.losses(part, drawn(made, run, chosen, rng))["loss"].backward()
            optimiser.step()
    network.eval()
    right = 0
    with torch.no_grad():
        for pair in range(len(made.video)):
            candidates, scores = run.candidates(str(pair), 10)
            clips = made.all_clips[torch.from_numpy(candidates)]
            videos = network.encode_videos(clips, torch.ones(clips.shape[:2], dtype=torch.bool))
            one = slice(pair, pair + 1)
            queries = network.encode_queries(made.words[one], made.words_mask[one], made.vectors[one])
            best = int(network.span_scores(queries, {**videos, "first_score": torch.from_numpy(scores)}).argmax())
            video, start, end = candidates[best // CLIPS**2], best // CLIPS % CLIPS, best % CLIPS
            same = (made.video == video) & (made.topic == made.topic[pair])
            both = (made.last.clamp(max=end) - made.first.clamp(min=start) + 1)[same]
            either = (made.last.clamp(min=end) - made.first.clamp(max=start) + 1)[same]
            right += bool((both / either >= 0.5).any())
    assert right / len(made.video) >= 0.95
