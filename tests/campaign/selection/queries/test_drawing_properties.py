"""Whatever the captions are: no text of validation or test trains, counts add up, and order does not matter."""

import random
from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.nouns import Split
from backend.campaign.selection.queries.model import Draw, Drawable, Repeats
from backend.campaign.selection.queries.rules import apportion, draw

TEXTS = [f"text {n}" for n in range(12)]
CAPTIONS = st.lists(
    st.tuples(st.sampled_from(TEXTS), st.sampled_from("abcd"), st.integers(0, 5)), min_size=4, max_size=60
)
OWN = st.dictionaries(st.sampled_from([*TEXTS, "mine", "mine too"]), st.sampled_from(list(Split)), max_size=4)
SEED = st.integers(0, 5)


def drawables(drawn: list[tuple[str, str, int]]) -> list[Drawable]:
    """Captions of distinct moments, so that what a caption is does not hang on its id."""
    return [
        Drawable(n, text, video, start + n * 10.0, start + n * 10.0 + 1) for n, (text, video, start) in enumerate(drawn)
    ]


def sizes(captions: list[Drawable], own: dict[str, Split], data: st.DataObject) -> tuple[int, int]:
    free = len({caption.text for caption in captions} - own.keys())
    val = data.draw(st.integers(0, free))
    return val, data.draw(st.integers(0, free - val))


def video(caption: Drawable) -> str:
    return caption.video


@given(CAPTIONS, OWN, SEED, st.sampled_from([None, video]), st.data())
def test_no_text_of_validation_or_test_trains_and_every_caption_is_somewhere(
    drawn: list[tuple[str, str, int]], own: dict[str, Split], seed: int, stratum: object, data: st.DataObject
) -> None:
    captions = drawables(drawn)
    val, test = sizes(captions, own, data)
    for repeats in Repeats:
        found = draw(captions, val=val, test=test, seed=seed, own=own, stratum=stratum, repeats=repeats)  # type: ignore[arg-type]
        by_split = {split: [q.text for q in found.queries if q.split is split] for split in Split}
        assert (len(by_split[Split.VAL]), len(by_split[Split.TEST])) == (val, test)
        judged = by_split[Split.VAL] + by_split[Split.TEST]
        assert len(set(judged)) == len(judged)
        assert not set(judged) & own.keys()
        barred = {*judged, *(text for text, split in own.items() if split is not Split.TRAIN)}
        assert not barred & set(by_split[Split.TRAIN])
        assert len(captions) == val + test + len(by_split[Split.TRAIN]) + found.removed + found.merged
        text_of = {caption.caption_id: caption.text for caption in captions}
        assert all(text_of[query.caption_id] == query.text for query in found.queries)
        assert len({query.caption_id for query in found.queries}) == len(found.queries)
        left = Counter(caption.text for caption in captions if caption.text not in barred)
        if repeats is Repeats.KEEP:
            assert (Counter(by_split[Split.TRAIN]), found.merged) == (left, 0)
        else:
            assert sorted(by_split[Split.TRAIN]) == sorted(left.keys() - own.keys())


@given(CAPTIONS, SEED, st.sampled_from([None, video]), st.randoms(use_true_random=False), st.data())
def test_the_same_seed_draws_the_same_whatever_the_order_and_the_ids_of_the_captions(
    drawn: list[tuple[str, str, int]], seed: int, stratum: object, shuffled: random.Random, data: st.DataObject
) -> None:
    captions = drawables(drawn)
    val, test = sizes(captions, {}, data)
    ids = [*range(100, 100 + len(captions))]
    shuffled.shuffle(ids)
    others = [Drawable(n, c.text, c.video, c.start_s, c.end_s) for n, c in zip(ids, captions, strict=True)]
    shuffled.shuffle(others)

    def told(found: Draw, there: list[Drawable]) -> list[tuple[str, Split, str, float]]:
        by_id = {caption.caption_id: caption for caption in there}
        return [(q.text, q.split, by_id[q.caption_id].video, by_id[q.caption_id].start_s) for q in found.queries]

    first, second = (
        draw(there, val=val, test=test, seed=seed, stratum=stratum)  # type: ignore[arg-type]
        for there in (captions, others)
    )
    assert told(first, captions) == told(second, others)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9), min_size=1), st.data())
def test_every_stratum_gets_its_proportion_rounded_down_or_up(sizes: dict[str, int], data: st.DataObject) -> None:
    everything = sum(sizes.values())
    total = data.draw(st.integers(0, everything))
    if not everything:
        return
    shares = apportion(total, sizes, random.Random(data.draw(SEED)))
    assert sum(shares.values()) == total
    assert all(abs(shares[name] - Fraction(total * size, everything)) < 1 for name, size in sizes.items())
    assert all(shares[name] <= size for name, size in sizes.items())
