"""The CroCs loss in the loop draws from the right rows, leaves positives out, and sees best clips."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from backend.core.errors import InputError
from backend.systems.learning import checkpoints, loop, rivals
from backend.systems.learning.batches import batch_of
from backend.systems.learning.config import LossOptions, NegativesOptions
from backend.systems.learning.network import LateInteraction, Shape
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.rivals import Rivals
from backend.training import Distribution, Negatives
from learnable import TOPICS, config, material

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
    found = Rivals(known, Path("negatives"), TEXTS, made.pairs, made.clips, uniform=uniform)
    vectors = np.concatenate([made.vectors[::-1], made.vectors[:1]])
    return TrainingMaterial(
        made.clips, made.pairs, made.vectors, made.val, made.val_vectors, "frames", "words", found, vectors
    )


@pytest.mark.parametrize("uniform", [False, True])
def test_positives_are_never_drawn_where_they_are_masked(tmp_path: Path, uniform: bool) -> None:
    made = with_rivals(material(tmp_path), uniform=uniform)
    assert made.rivals is not None
    batch = batch_of(made.pairs, made.clips, made.vectors, np.arange(12), CPU)
    drawn = made.rivals.draw(batch, 7, torch.Generator().manual_seed(1), masked=True)
    free = made.rivals.draw(batch, 7, torch.Generator().manual_seed(1), masked=False)
    assert free.videos_count.all()
    assert free.queries_count.all()
    assert free.potential.all()
    left_out = 0
    for row in range(12):
        query, video = int(made.pairs.query[row]), int(made.pairs.video[row])
        shown = set(made.pairs.positives[query].tolist())
        for other in range(12):
            assert bool(drawn.potential[row, other]) == (int(made.pairs.video[other]) not in shown)
        for one in range(7):
            assert bool(drawn.videos_count[row, one]) == (int(drawn.videos[row, one]) not in shown)
            number = int(drawn.queries[row, one])
            positive = number < TOPICS and video in made.pairs.positives[TOPICS - 1 - number]
            assert bool(drawn.queries_count[row, one]) != positive
            left_out += positive
    assert left_out


def test_a_video_that_negatives_do_not_know_is_nobodys_negative_and_has_none(tmp_path: Path) -> None:
    made = material(tmp_path)
    found = Rivals(
        negatives(made.clips.videos[1:], TEXTS), Path("negatives"), TEXTS, made.pairs, made.clips, uniform=False
    )
    batch = batch_of(made.pairs, made.clips, made.vectors, np.arange(12), CPU)
    drawn = found.draw(batch, 3, torch.Generator().manual_seed(1), masked=False)
    known = made.pairs.video[:12] != 0
    assert drawn.potential.numpy().tolist() == [known.tolist()] * 12
    assert drawn.queries_count.all(dim=1).numpy().tolist() == known.tolist()
    assert drawn.queries_count.any(dim=1).numpy().tolist() == known.tolist()
    assert 0 not in drawn.videos


def test_the_likelier_are_drawn_more_often_unless_all_are_alike(tmp_path: Path) -> None:
    made = material(tmp_path)
    known = negatives(made.clips.videos, TEXTS)
    known.videos_given_query.probability[:, 0] *= 50
    batch = batch_of(made.pairs, made.clips, made.vectors, np.arange(12), CPU)
    shares = {}
    for uniform in (False, True):
        found = Rivals(known, Path("negatives"), TEXTS, made.pairs, made.clips, uniform=uniform)
        generator = torch.Generator().manual_seed(0)
        drawn = [found.draw(batch, 1, generator, masked=False).videos for _ in range(50)]
        shares[uniform] = float((np.concatenate(drawn) == 0).mean())
    assert shares[False] > 0.7
    assert shares[True] == pytest.approx(1 / 8, abs=0.06)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    made = material(tmp_path)
    known = negatives((*made.clips.videos[1:], "elsewhere"), TEXTS[:-1])
    with pytest.raises(InputError) as refusal:
        Rivals(known, Path("negatives"), TEXTS, made.pairs, made.clips, uniform=False)
    assert [str(one) for one in refusal.value.problems] == [
        "negatives: has no query 'topic 5' of the training set",
        "negatives: video 'elsewhere' is not in video_corpus.json",
    ]


def test_the_loss_is_that_of_best_clips_by_plain_python(tmp_path: Path) -> None:
    made = with_rivals(material(tmp_path))
    assert made.rivals is not None
    assert made.rival_vectors is not None
    torch.manual_seed(2)
    network = LateInteraction(Shape(12, 10, 16, 2, 0.0)).eval()
    batch = batch_of(made.pairs, made.clips, made.vectors, np.array([0, 4, 9]), CPU)
    drawn = made.rivals.draw(batch, 2, torch.Generator().manual_seed(1), masked=True)
    queries, videos = network.queries(batch.vectors), network.videos(batch.clips, batch.mask)
    loss = rivals.CroCsLoss(0.2, 0.3)
    found = rivals.crocs_loss(loss, network, batch, drawn, made.clips, made.rival_vectors, queries, videos)

    def clips_of(video: int) -> np.ndarray:
        rows = torch.from_numpy(made.clips.rows[made.clips.starts[video] : made.clips.starts[video + 1]])[None]
        return network.videos(rows, torch.ones(rows.shape[:2], dtype=torch.bool)).retrieval[0].detach().numpy()

    q = queries.retrieval.detach().numpy()
    asked = network.queries(torch.from_numpy(made.rival_vectors)).retrieval.detach().numpy()
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
            [q[i] @ moments[j] for j in others if drawn.potential[i, j]]
            + [
                (clips_of(int(video)) @ q[i]).max()
                for video, counts in zip(drawn.videos[i], drawn.videos_count[i], strict=True)
                if counts
            ],
            [q[j] @ moments[i] for j in others if drawn.potential[j, i]]
            + [
                asked[one] @ moments[i]
                for one, counts in zip(drawn.queries[i], drawn.queries_count[i], strict=True)
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
