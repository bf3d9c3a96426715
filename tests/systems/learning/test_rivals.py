"""The CroCs loss in the loop draws from the right rows, leaves positives out, and sees best clips."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from backend.core.errors import InputError
from backend.systems.learning import checkpoints, loop
from backend.systems.learning.batches import batch_of
from backend.systems.learning.config import NegativesOptions
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.rivals import rivals_of, sampler_of_folder, sampler_of_scores
from backend.systems.learning.systems.late import LossOptions
from backend.training import Distribution, Negatives
from learnable import TOPICS, config, encoded, late, material

CPU = torch.device("cpu")
TEXTS = tuple(f"topic {n}" for n in range(TOPICS))


def negatives(videos: Sequence[str], texts: Sequence[str], seed: int = 0) -> Negatives:
    rng = np.random.default_rng(seed)

    def drawn(anchors: int, others: int) -> Distribution:
        return Distribution(torch.from_numpy(rng.uniform(0.1, 1, (anchors, others)).astype(np.float32)))

    return Negatives(
        query_ids=tuple(f"v#{n}" for n in range(len(texts))),
        queries=tuple(texts),
        videos=tuple(videos),
        own=torch.zeros(len(texts), dtype=torch.int64),
        videos_given_query=drawn(len(texts), len(videos)),
        queries_given_video=drawn(len(videos), len(texts)),
    )


def with_rivals(made: TrainingMaterial, *, uniform: bool = False) -> TrainingMaterial:
    """Negatives whose rows are in another order than the release's, with a query that does not train."""
    known = negatives(made.clips.videos[::-1], (*TEXTS[::-1], "another query"))
    found = sampler_of_folder(known, Path("negatives"), TEXTS, made.pairs, made.clips, uniform=uniform)
    vectors = made.queries.vectors
    of_folder = encoded(np.concatenate([vectors[::-1], vectors[:1]]))
    return dataclasses.replace(made, negatives=found, negative_queries=of_folder)


@pytest.mark.parametrize("uniform", [False, True])
def test_positives_are_never_drawn_where_they_are_masked(tmp_path: Path, uniform: bool) -> None:
    made = with_rivals(material(tmp_path), uniform=uniform)
    sampler = made.negatives
    assert sampler is not None
    query, video = made.pairs.query[:12], made.pairs.video[:12]
    for masked in (True, False):
        generator = torch.Generator().manual_seed(1)
        potential = sampler.potential(query, video, masked=masked)
        videos, videos_count = sampler.draw_videos(query, 7, generator, masked=masked)
        queries, queries_count = sampler.draw_queries(video, 7, generator, masked=masked)
        if not masked:
            assert all(one.all() for one in (potential, videos_count, queries_count))
            continue
        left_out = 0
        for row in range(12):
            shown = set(made.pairs.positives[int(query[row])].tolist())
            for other in range(12):
                assert bool(potential[row, other]) == (int(video[other]) not in shown)
            for one in range(7):
                assert bool(videos_count[row, one]) == (int(videos[row, one]) not in shown)
                number = int(queries[row, one])
                positive = number < TOPICS and int(video[row]) in made.pairs.positives[TOPICS - 1 - number]
                assert bool(queries_count[row, one]) != positive
                left_out += positive
        assert left_out


def test_a_video_that_negatives_do_not_know_is_nobodys_negative_and_has_none(tmp_path: Path) -> None:
    made = material(tmp_path)
    found = sampler_of_folder(
        negatives(made.clips.videos[1:], TEXTS), Path("negatives"), TEXTS, made.pairs, made.clips, uniform=False
    )
    query, video = made.pairs.query[:12], made.pairs.video[:12]
    generator = torch.Generator().manual_seed(1)
    videos, _ = found.draw_videos(query, 3, generator, masked=False)
    _, queries_count = found.draw_queries(video, 3, generator, masked=False)
    known = video != 0
    assert found.potential(query, video, masked=False).tolist() == [known.tolist()] * 12
    assert queries_count.all(axis=1).tolist() == known.tolist()
    assert queries_count.any(axis=1).tolist() == known.tolist()
    assert 0 not in videos


def test_the_likelier_are_drawn_more_often_unless_all_are_alike(tmp_path: Path) -> None:
    made = material(tmp_path)
    known = negatives(made.clips.videos, TEXTS)
    known.videos_given_query.probability[:, 0] *= 50
    shares = {}
    for uniform in (False, True):
        found = sampler_of_folder(known, Path("negatives"), TEXTS, made.pairs, made.clips, uniform=uniform)
        generator = torch.Generator().manual_seed(0)
        query = made.pairs.query[:12]
        drawn = [found.draw_videos(query, 1, generator, masked=False)[0] for _ in range(50)]
        shares[uniform] = float((np.concatenate(drawn) == 0).mean())
    assert shares[False] > 0.7
    assert shares[True] == pytest.approx(1 / 8, abs=0.06)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    made = material(tmp_path)
    known = negatives((*made.clips.videos[1:], "elsewhere"), TEXTS[:-1])
    with pytest.raises(InputError) as refusal:
        sampler_of_folder(known, Path("negatives"), TEXTS, made.pairs, made.clips, uniform=False)
    assert [str(one) for one in refusal.value.problems] == [
        "negatives: has no query 'topic 5' of the training set",
        "negatives: video 'elsewhere' is not in video_corpus.json",
    ]


def test_negatives_by_scores_are_other_training_videos_and_the_nearest_to_the_right_ones(tmp_path: Path) -> None:
    """MVMR, equation 3: the probability falls with the squared distance from the mean score of right videos."""
    made = material(tmp_path)
    rng = np.random.default_rng(3)
    queries, videos = np.arange(TOPICS), np.arange(1, 8)  # video 0 is no training video
    scores = rng.uniform(0, 1, (TOPICS, 7)).astype(np.float32)
    found = sampler_of_scores(scores, queries, videos, made.pairs, 8)
    for query in range(TOPICS):
        right = [int(video in made.pairs.positives[query]) for video in videos]
        mean = np.mean([score for score, one in zip(scores[query], right, strict=True) if one])
        weight = np.array(
            [0 if one else np.exp(-((s - mean) ** 2)) for s, one in zip(scores[query], right, strict=True)]
        )
        drawn = found.videos_given_query.probability[query].numpy()
        assert drawn == pytest.approx(weight / weight.sum(), abs=1e-6)
    drawn_videos, counts = found.draw_videos(queries, 7, torch.Generator().manual_seed(0), masked=True)
    for query in range(TOPICS):
        kept = drawn_videos[query][counts[query]].tolist()
        assert sorted(kept) == sorted(set(videos.tolist()) - set(made.pairs.positives[query].tolist()))
    _, of_unknown = found.draw_queries(np.array([0]), 3, torch.Generator().manual_seed(0), masked=True)
    assert not of_unknown.any()
    only = np.zeros((TOPICS, 7), dtype=bool)
    only[:, 2] = True
    limited = sampler_of_scores(scores, queries, videos, made.pairs, 8, only)
    assert set(np.flatnonzero(limited.videos_given_query.probability.numpy().any(axis=0))) <= {2}


def test_the_loss_is_that_of_best_clips_by_plain_python(tmp_path: Path) -> None:
    made = with_rivals(material(tmp_path))
    sampler, texts = made.negatives, made.negative_queries
    assert sampler is not None
    assert texts is not None
    torch.manual_seed(2)
    network = late(video="crocs", temperature=0.2, margin=0.3, span=0.0).eval()
    batch = batch_of(made.pairs, made.clips, made.queries, np.array([0, 4, 9]), CPU)
    generator = torch.Generator().manual_seed(1)
    numbers = batch.numbers
    drawn_videos, videos_count = sampler.draw_videos(made.pairs.query[numbers], 2, generator, masked=True)
    drawn_queries, queries_count = sampler.draw_queries(made.pairs.video[numbers], 2, generator, masked=True)
    potential = sampler.potential(made.pairs.query[numbers], made.pairs.video[numbers], masked=True)
    found = network.losses(
        batch,
        rivals_of(
            batch,
            made.pairs,
            sampler,
            sampler,
            (2, 2),
            made.clips,
            texts,
            torch.Generator().manual_seed(1),
            masked=True,
        ),
    )["video"]
    queries = network.encode_queries(batch.words, batch.words_mask, batch.vectors)

    def clips_of(video: int) -> np.ndarray:
        rows = torch.from_numpy(made.clips.rows[made.clips.starts[video] : made.clips.starts[video + 1]])[None]
        mask = torch.ones(rows.shape[:2], dtype=torch.bool)
        return network.encode_videos(rows, mask)["retrieval"][0].detach().numpy()

    q = queries["retrieval"].detach().numpy()
    none = torch.zeros(0)
    asked = network.encode_queries(none, none, torch.from_numpy(texts.vectors))["retrieval"].detach().numpy()
    moments = []
    for row, number in enumerate((0, 4, 9)):
        own = clips_of(int(made.pairs.video[number]))
        own = own[int(made.pairs.first[number]) : int(made.pairs.last[number]) + 1]
        moments.append(own[(own @ q[row]).argmax()])
    total = 0.0
    for i in range(3):
        right = np.exp((q[i] @ moments[i] - 0.3) / 0.2)
        others = [j for j in range(3) if j != i]
        ways = (
            [q[i] @ moments[j] for j in others if potential[i, j]]
            + [
                (clips_of(int(video)) @ q[i]).max()
                for video, counts in zip(drawn_videos[i], videos_count[i], strict=True)
                if counts
            ],
            [q[j] @ moments[i] for j in others if potential[j, i]]
            + [
                asked[one] @ moments[i]
                for one, counts in zip(drawn_queries[i], queries_count[i], strict=True)
                if counts
            ],
        )
        total += sum(-np.log(right / (right + sum(np.exp(np.array(way) / 0.2)))) for way in ways)
    assert found.item() == pytest.approx(total / 3, rel=1e-4)


def test_it_is_a_switch_of_the_same_loop_and_repeats_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "write_pictures", lambda *_: None)
    settings = config(tmp_path, loss=LossOptions(video="crocs"), negatives=NegativesOptions("negatives", count=2))
    reports = [
        loop.train(msgspec.structs.replace(settings, out=str(tmp_path / name)), with_rivals(material(tmp_path)), 0, CPU)
        for name in "ab"
    ]
    first, again = ((one.folder / "best.safetensors").read_bytes() for one in reports)
    assert first == again
