"""The pool of a query follows from similarities, names and a seed, and keeps to its sizes and thresholds."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.pools.model import PoolOptions, VisualBounds
from backend.campaign.pools.rules.selecting import Selection, Sentences, drawn_negative, select
from backend.campaign.pools.similarity import best_sentences
from backend.scoring.pools.model import PoolMoment

Corpus = list[tuple[str, list[PoolMoment]]]
Table = dict[tuple[PoolMoment, PoolMoment], float]


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Corpus, Table, Table, PoolOptions]:
    """Videos with sentences, the similarity of every two, and how each sentence looks like each video's first."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=14))
    videos = [
        (f"v{v}", [PoolMoment(f"v{v}", float(n), n + 1.0 + v, f"sentence {v} {n}") for n in range(count)])
        for v, count in enumerate(counts)
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    everything = [moment for _, moments in videos for moment in moments]
    levels = [0.0, 0.4, 0.5, 0.6, 0.9, 0.95]  # few, so that thresholds and other similarities are met exactly
    text = {(a, b): 1.0 if a == b else float(rng.choice(levels)) for a in everything for b in everything}
    look = {(a, b): float(rng.choice([0.2, 0.25, 0.3])) for a in everything for b in everything}
    options = PoolOptions(
        pool=draw(st.integers(2, 9)),
        positives=draw(st.integers(1, 5)),
        seed=draw(st.integers(0, 9)),
        as_published=draw(st.booleans()),
    )
    return videos, text, look, options


class Looks:
    """EMScore by a table."""

    def __init__(self, sentences: Sentences, own: int, look: Table) -> None:
        self.scores = np.array([look[sentences.moments[own], sentences.moments[start]] for start in sentences.starts])

    def __call__(self, videos: np.ndarray, *, weighted: bool) -> np.ndarray:
        return np.asarray(self.scores[videos])


Found = dict[PoolMoment, tuple[list[PoolMoment], list[str]]]


def pools(
    videos: Corpus, text: Table, options: PoolOptions, look: Table | None = None, bounds: VisualBounds | None = None
) -> Found:
    """The pool of every sentence, in names instead of numbers."""
    sentences = Sentences(videos, options.seed)
    similarities = np.array([[text[a, b] for b in sentences.moments] for a in sentences.moments])
    s_te = best_sentences(similarities, sentences.starts)
    found: Found = {}
    for own, moment in enumerate(sentences.moments):
        seen = None if look is None else Looks(sentences, own, look)
        chosen: Selection = select(own, similarities[own], s_te[own].copy(), sentences, options, seen, bounds)
        found[moment] = (
            [sentences.moments[n] for n in chosen.positives],
            [sentences.names[n] for n in chosen.negatives],
        )
        assert chosen.size == 1 + sum(map(len, found[moment]))
    return found


@settings(deadline=None)
@given(corpora())
def test_sizes_and_thresholds_hold(drawn: tuple[Corpus, Table, Table, PoolOptions]) -> None:
    videos, text, _, options = drawn
    by_name = dict(videos)
    for own, (positives, negatives) in pools(videos, text, options).items():
        s_te = {name: max(text[own, other] for other in moments) for name, moments in videos}
        assert len(positives) <= options.positives - 1
        assert 1 + len(positives) + len(negatives) <= options.pool
        named = [own.video, *(moment.video for moment in positives), *negatives]
        assert max(Counter(named).values()) == 1
        for moment in positives:
            assert moment in by_name[moment.video]
            assert text[own, moment] >= 0.9
            if not options.as_published:
                assert text[own, moment] == s_te[moment.video]
        assert all(s_te[name] <= 0.5 for name in negatives)
        # Nothing that would have fitted was left out without need.
        matching = {name for name in by_name if name != own.video and s_te[name] >= 0.9}
        distracting = {name for name in by_name if name != own.video and s_te[name] <= 0.5}
        if not options.as_published:
            assert len(positives) == min(options.positives - 1, options.pool - 1, len(matching))
            assert len(negatives) == min(options.pool - 1 - len(positives), len(distracting))


@settings(deadline=None)
@given(corpora(), st.randoms(use_true_random=False))
def test_no_order_of_the_corpus_counts(drawn: tuple[Corpus, Table, Table, PoolOptions], random: object) -> None:
    videos, text, look, options = drawn
    options = replace(options, as_published=False)  # it takes the last sentence of a video in the order of the file
    shuffled = [(name, random.sample(moments, len(moments))) for name, moments in videos]  # type: ignore[attr-defined]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    bounds = VisualBounds(0.25, 0.25)
    assert pools(shuffled, text, options) == pools(videos, text, options)
    assert pools(shuffled, text, options, look, bounds) == pools(videos, text, options, look, bounds)


@settings(deadline=None)
@given(corpora())
def test_looks_filter_both_sides(drawn: tuple[Corpus, Table, Table, PoolOptions]) -> None:
    videos, text, look, options = drawn
    first = {name: moments[0] for name, moments in videos}
    for own, (positives, negatives) in pools(videos, text, options, look, VisualBounds(0.25, 0.25)).items():
        likeness = [look[own, first[moment.video]] for moment in positives]
        unlikeness = [look[own, first[name]] for name in negatives]
        if options.as_published:
            assert all(score > 0.25 for score in likeness)
            assert all(score < 0.25 for score in unlikeness)
        else:
            assert all(score >= 0.25 for score in likeness)
            assert all(score <= 0.25 for score in unlikeness)


def corpus_of(similarities: dict[str, list[float]]) -> tuple[Corpus, Table, PoolMoment]:
    """A query in video `own`, and other videos with sentences of these similarities to it, in the order of the file."""
    own = PoolMoment("own", 0, 2, "He sits.")
    videos: Corpus = [("own", [own])]
    text: Table = {(own, own): 1.0}
    for name, values in similarities.items():
        # Later in the file is earlier in the video: the two orders differ.
        moments = [PoolMoment(name, 50.0 - n, 60.0, f"{name} {n}") for n in range(len(values))]
        videos.append((name, moments))
        text |= {(own, moment): value for moment, value in zip(moments, values, strict=True)}
    everything = [moment for _, moments in videos for moment in moments]
    return videos, {(a, b): text.get((a, b), 0.0) for a in everything for b in everything}, own


def test_the_best_sentence_of_a_video_gives_the_moment_or_as_published_the_last() -> None:
    videos, text, own = corpus_of({"a": [0.92, 0.97, 0.93, 0.2], "far": [0.1]})
    options = PoolOptions(pool=3)
    assert pools(videos, text, options)[own][0] == [videos[1][1][1]]
    assert pools(videos, text, replace(options, as_published=True))[own][0] == [videos[1][1][2]]


def test_a_video_with_one_distant_sentence_is_no_distractor() -> None:
    videos, text, own = corpus_of({"near": [0.0, 0.7], "far": [0.1, 0.5]})
    assert pools(videos, text, PoolOptions(pool=3))[own] == ([], ["far"])
    assert pools(videos, text, PoolOptions(pool=3, as_published=True))[own] == ([], [])  # 0.5 is not below 0.5


def test_as_published_the_own_video_may_cost_another_one_its_place() -> None:
    """Of 24 that match, own included, 20 are looked at; only those that look alike stay, and 4 are taken."""
    videos, text, own = corpus_of({f"v{n:02d}": [0.95] for n in range(24)} | {"far": [0.0]})
    looked: list[int] = []

    def count(videos: np.ndarray, *, weighted: bool) -> np.ndarray:
        if not weighted:
            looked.append(len(videos))
        return np.full(len(videos), 0.25)

    sizes = set()
    for seed in range(30):
        sentences = Sentences(videos, seed)
        row = sentences.moments.index(own)
        similarities = np.array([text[own, other] for other in sentences.moments])
        s_te = best_sentences(similarities[None], sentences.starts)[0]
        options = PoolOptions(pool=8, seed=seed, as_published=True)
        chosen = select(row, similarities, s_te, sentences, options, count, VisualBounds(0.2, 0.3))
        sizes.add(looked.pop())
        assert len(chosen.positives) == 4
    assert sizes == {19, 20}


def test_another_seed_draws_otherwise_and_all_are_drawn_sooner_or_later() -> None:
    videos, text, own = corpus_of({f"v{n:02d}": [0.0] for n in range(40)})
    times: Counter[str] = Counter()
    for seed in range(400):
        times.update(pools(videos, text, PoolOptions(pool=5, seed=seed))[own][1])
    # 40 each are expected, with a standard deviation of 6.
    assert len(times) == 40
    assert 40 - 24 < min(times.values()) <= max(times.values()) < 40 + 24


def test_the_distractor_by_which_looks_are_measured_is_one_by_its_text() -> None:
    videos, text, own = corpus_of({"near": [0.8], "far": [0.2], "match": [0.95]})
    sentences = Sentences(videos, 3)
    row = sentences.moments.index(own)
    s_te = best_sentences(np.array([[text[own, other] for other in sentences.moments]]), sentences.starts)[0]
    assert drawn_negative(row, s_te, sentences, PoolOptions()) == sentences.names.index("far")
    assert drawn_negative(row, np.full(4, 0.8), sentences, PoolOptions()) is None


@pytest.mark.parametrize("weighted", [True, False])
def test_no_idf_weights_for_matches_as_published(weighted: bool) -> None:
    videos, text, own = corpus_of({"match": [0.95], "far": [0.0]})
    sentences = Sentences(videos, 0)
    asked: list[bool] = []

    def seen(videos: np.ndarray, *, weighted: bool) -> np.ndarray:
        asked.append(weighted)
        return np.full(len(videos), 0.25)

    row = sentences.moments.index(own)
    similarities = np.array([text[own, other] for other in sentences.moments])
    options = PoolOptions(pool=3, as_published=not weighted)
    s_te = best_sentences(similarities[None], sentences.starts)[0]
    select(row, similarities, s_te, sentences, options, seen, VisualBounds(0.2, 0.3))
    assert asked == [weighted, True]  # of the match, of the distractor


@settings(deadline=None)
@given(corpora())
def test_as_published_leaves_to_draws_what_the_published_code_does(
    drawn: tuple[Corpus, Table, Table, PoolOptions],
) -> None:
    """make_mvmr_dataset.py of yny0506/Massive-Videos-Moment-Retrieval, up to what it draws."""
    videos, text, look, options = drawn
    options = replace(options, as_published=True, positives=5, pool=max(6, options.pool))
    bounds = VisualBounds(0.25, 0.25)
    first = {name: moments[0] for name, moments in videos}
    in_file = [moment for _, moments in videos for moment in moments]
    for own, (positives, negatives) in pools(videos, text, options, look, bounds).items():
        last: dict[str, PoolMoment] = {}
        for moment in in_file:
            if text[own, moment] > 0.9:
                last[moment.video] = moment
        candidates = [
            moment for moment in last.values() if moment.video != own.video
        ]  # all of them: there are under 20
        good = [moment for moment in candidates if look[own, first[moment.video]] > 0.25]
        assert len(positives) == min(4, len(good))
        assert set(positives) <= set(good)
        unlike = {
            name
            for name, moments in videos
            if max(text[own, moment] for moment in moments) < 0.5 and look[own, first[name]] < 0.25
        }
        assert set(negatives) <= unlike
        assert len(negatives) == min(options.pool - len(positives) - 1, len(unlike))
