"""MMN and both stages of CroCs learn a made-up corpus with a known answer."""

from pathlib import Path

import numpy as np
import pytest
import torch

import learnable
import moment_corpus
from backend.systems.learning import loop
from backend.systems.learning.config import TrainingOptions
from backend.systems.learning.hard_negatives import hard_probabilities
from backend.systems.learning.system import DrawnQueries, DrawnVideos, Rivals, Sizes, System
from backend.systems.learning.systems import system_class
from backend.systems.learning.systems.crocs import CroCs
from backend.systems.learning.systems.crocs import LossOptions as CroCsLossOptions
from backend.systems.learning.systems.mmn import MMN, LossOptions, ModelOptions
from backend.training import Distribution

SIZES = Sizes(moment_corpus.DIM, moment_corpus.WORDS_DIM)
MODEL = ModelOptions(clips=8, pool=1, pooling=(7,), hidden=32, kernel=3, layers=2, joint=32)
RATE, BATCH = 5e-3, 24


def trained(system: System, corpus: moment_corpus.Corpus, *, epochs: int, rate: float = RATE, draw=None) -> None:
    """`draw` gives the rivals of the pairs of a batch."""
    optimiser = torch.optim.AdamW(system.parameters(), lr=rate)
    order = np.random.default_rng(0)
    system.train()
    for _ in range(epochs):
        numbers = order.permutation(len(corpus.pairs))
        for start in range(0, len(numbers), BATCH):
            rows = numbers[start : start + BATCH]
            loss = system.losses(corpus.batch(rows), draw(rows) if draw else None)["loss"]
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


@pytest.fixture
def corpus() -> moment_corpus.Corpus:
    torch.manual_seed(0)
    return moment_corpus.Corpus(noise=0.1)


def test_mmn_learns(corpus: moment_corpus.Corpus) -> None:
    mmn = MMN(SIZES, MODEL, LossOptions())
    assert corpus.right(mmn) < 0.1
    trained(mmn, corpus, epochs=60)
    assert corpus.right(mmn) >= 0.95


def hard_rivals(crocs: CroCs, corpus: moment_corpus.Corpus):
    """Draw as stage 2 does, by the scores of the model as it is now."""
    videos = torch.from_numpy(corpus.clips)
    here = torch.ones(videos.shape[:2], dtype=torch.bool)
    words, mask = torch.from_numpy(corpus.words[0]), torch.from_numpy(corpus.mask)
    crocs.eval()
    with torch.no_grad():
        queries = crocs.encode_queries(words, mask, words.sum(dim=1))
        r = crocs.video_scores(queries, crocs.encode_videos(videos, here)).numpy()
    own = np.array([video for video, _, _ in corpus.pairs])
    golden = own[:, None] == np.arange(len(videos))
    for_queries = Distribution(torch.from_numpy(hard_probabilities(r, golden, ~golden)))
    for_videos = Distribution(torch.from_numpy(hard_probabilities(r.T, golden.T, ~golden.T)))
    plan, generator = crocs.stage_plans()[1], torch.Generator().manual_seed(1)

    def draw(rows: np.ndarray) -> Rivals:
        anchors, of = torch.from_numpy(rows), torch.from_numpy(own[rows])
        video_of, video_counts = for_queries.strong(anchors, plan.hard_videos, generator)
        query_of, query_counts = for_videos.strong(of, plan.hard_queries, generator)
        return Rivals(
            torch.zeros(len(rows), len(rows), dtype=torch.bool),
            DrawnVideos(videos, here, video_of, video_counts),
            DrawnQueries(words, mask, words.sum(dim=1), query_of, query_counts),
        )

    return draw


def test_both_stages_of_crocs_learn(corpus: moment_corpus.Corpus) -> None:
    crocs = CroCs(SIZES, MODEL, CroCsLossOptions(hard_videos=4, hard_queries=6))
    trained(crocs, corpus, epochs=60)
    first = corpus.right(crocs)
    assert first >= 0.95
    trained(crocs, corpus, epochs=5, rate=RATE * crocs.stage_plans()[1].learning_rate, draw=hard_rivals(crocs, corpus))
    assert corpus.right(crocs) >= 0.95


def test_stage_2_alone_learns(corpus: moment_corpus.Corpus) -> None:
    """From nothing: so that its negatives teach, and do not merely leave alone what stage 1 learned."""
    crocs = CroCs(SIZES, MODEL, CroCsLossOptions(hard_videos=4, hard_queries=6))
    trained(crocs, corpus, epochs=60, draw=hard_rivals(crocs, corpus))
    assert corpus.right(crocs) >= 0.9


@pytest.mark.parametrize(("name", "hard", "epochs"), [("mmn", {}, 20), ("crocs", {"hard_batch": 4}, 40)])
def test_the_training_loop_trains_every_stage(tmp_path: Path, name: str, hard: dict[str, int], epochs: int) -> None:
    cls = system_class(name)
    drawn = hard and {"hard_videos": 2, "hard_queries": 3}
    config = learnable.config(
        tmp_path,
        system=name,
        model=cls.ModelOptions(clips=9, pool=1, pooling=(8,), hidden=16, kernel=3, layers=2, joint=16),
        loss=cls.LossOptions(**hard, **drawn),
        training=TrainingOptions(epochs=20, evaluate_every=10, batch=8, learning_rate=5e-3),
    )
    material = learnable.material(tmp_path, clips=9, words=True)
    report = loop.train(config, material, 0, torch.device("cpu"))
    assert report.epochs == epochs
    assert report.ndcg > 0.85
