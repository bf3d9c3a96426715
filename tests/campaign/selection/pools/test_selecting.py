"""The pool of a query follows from similarities, names and a seed, and keeps to its sizes and thresholds."""

from collections import Counter
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.selection.pools.model import PoolOptions, VisualBounds
from backend.campaign.selection.pools.rules import Selection, Sentences, draw_negative, select
from backend.campaign.selection.pools.similarity import best_sentences
from backend.scoring.pools.model import PoolMoment

Corpus = list[tuple[str, list[PoolMoment]]]


class Table(dict[tuple[PoolMoment, PoolMoment], float]):
    """Similarities: thousands, which take a minute to print where a test fails."""

    def __repr__(self) -> str:
        return f"<{len(self)} similarities>"


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
    text = Table({(a, b): 1.0 if a == b else float(rng.choice(levels)) for a in everything for b in everything})
    look = Table({(a, b): float(rng.choice([0.2, 0.25, 0.3])) for a in everything for b in everything})
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


@settings(deadline=None, max_examples=40)
@given(corpora())
def test_a_pool_is_drawn_by_hashes_of_names_and_of_the_query(drawn: tuple[Corpus, Table, Table, PoolOptions]) -> None:
    """So the same seed makes the same pools anywhere, and in times to come."""
    videos, text, look, options = drawn
    options = replace(options, as_published=False)
    bounds = VisualBounds(0.25, 0.25)
    by_name = {
        name: sorted(moments, key=lambda one: (one.start_s, one.end_s, one.sentence)) for name, moments in videos
    }

    def in_turn(names: list[str], purpose: str, own: PoolMoment) -> list[str]:
        asked = number(f"{purpose} {own.video} {own.start_s} {own.end_s} {own.sentence}")
        return sorted(sorted(names), key=lambda name: mixed(number(f"{options.seed} {name}") ^ asked))

    for own, found in pools(videos, text, options, look, bounds).items():
        s_te = {name: max(text[own, other] for other in moments) for name, moments in by_name.items()}
        likes = {name: look[own, moments[0]] for name, moments in by_name.items()}
        others = [name for name in by_name if name != own.video]
        match = in_turn([name for name in others if s_te[name] >= 0.9], "matching", own)
        match = [name for name in match if likes[name] >= 0.25][: min(options.positives, options.pool) - 1]
        best = [next(one for one in by_name[name] if text[own, one] == s_te[name]) for name in match]
        distract = in_turn([name for name in others if s_te[name] <= 0.5], "distracting", own)
        distract = [name for name in distract if likes[name] <= 0.25][: options.pool - 1 - len(match)]
        assert found == (best, distract)
        sentences = Sentences(videos, options.seed)
        values = np.array([s_te[name] for name in sentences.names])
        measured = draw_negative(sentences.moments.index(own), values, sentences, options)
        far = in_turn([name for name in others if s_te[name] <= 0.5], "measuring", own)
        assert (None if measured is None else sentences.names[measured]) == (far[0] if far else None)


def mixed(number: int) -> int:
    """The last steps of SplitMix64."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def number(text: str) -> int:
    return int(blake2b(text.encode(), digest_size=8).hexdigest(), 16)


def test_sentences_know_their_videos_and_their_places() -> None:
    said = [PoolMoment("b", 5.0, 6.0, "c"), PoolMoment("b", 0.0, 9.0, "b"), PoolMoment("b", 0.0, 9.0, "a")]
    early = [PoolMoment("a", 3.0, 4.0, "d"), PoolMoment("a", 3.0, 3.5, "e")]
    found = Sentences([("b", said), ("a", early)], 3)
    assert found.names == ("a", "b")
    assert "".join(moment.sentence for moment in found.moments) == "edabc", "by start, by end, by words"
    assert (found.starts.tolist(), found.ends.tolist()) == ([0, 2], [2, 5])
    assert (found.video.tolist(), found.place.tolist()) == ([0, 0, 1, 1, 1], [1, 0, 2, 1, 0])


@pytest.mark.parametrize(
    ("pool", "unlike", "asked"),
    [(5, 4, [128]), (6, 4, [128, 128]), (10, 4, [128, 128, 44]), (301, 128, [128, 128, 44])],
)
def test_no_more_videos_are_looked_at_than_it_takes(pool: int, unlike: int, asked: list[int]) -> None:
    """128 at a time, of which so many look unlike the query, until there are enough."""
    videos, text, own = corpus_of({f"v{n:03d}": [0.0] for n in range(300)})
    sentences = Sentences(videos, 0)
    row = sentences.moments.index(own)
    similarities = np.array([text[own, other] for other in sentences.moments])
    s_te = best_sentences(similarities[None], sentences.starts)[0]
    looked: list[int] = []

    def seen(videos: np.ndarray, *, weighted: bool) -> np.ndarray:
        assert weighted
        looked.append(len(videos))
        return np.where(np.arange(len(videos)) < unlike, 0.3, 0.31)

    chosen = select(row, similarities, s_te, sentences, PoolOptions(pool=pool), seen, VisualBounds(0.2, 0.3))
    assert looked == asked
    assert len(chosen.negatives) == min(pool - 1, len(asked) * unlike, 300)


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
    text = {(own, own): 1.0}
    for name, values in similarities.items():
        # Later in the file is earlier in the video: the two orders differ.
        moments = [PoolMoment(name, 50.0 - n, 60.0, f"{name} {n}") for n in range(len(values))]
        videos.append((name, moments))
        text |= {(own, moment): value for moment, value in zip(moments, values, strict=True)}
    everything = [moment for _, moments in videos for moment in moments]
    return videos, Table({(a, b): text.get((a, b), 0.0) for a in everything for b in everything}), own


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
    assert draw_negative(row, s_te, sentences, PoolOptions()) == sentences.names.index("far")
    assert draw_negative(row, np.full(4, 0.8), sentences, PoolOptions()) is None


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
