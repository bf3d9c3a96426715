"""What follows from acts about descriptions, and what a sentence should not have."""

import hmac
import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.corpus.captions.rules import NOTHING_KNOWN, Known
from backend.campaign.corpus.describing.model import LONGEST_SENTENCE, DescriptionAct, DescriptionStatus
from backend.campaign.corpus.describing.rules import (
    description_problem,
    is_allowed,
    same_span,
    sentence_notes,
    video_order,
    wanted_count,
)
from backend.core.typed_text import tidy

WRITTEN, WITHDRAWN, ACCEPTED, RETURNED, TAKEN_BACK = DescriptionAct


@pytest.mark.parametrize(
    ("status", "acts"),
    [
        (DescriptionStatus.WAITING, {WRITTEN, WITHDRAWN, ACCEPTED, RETURNED}),
        (DescriptionStatus.RETURNED, {WRITTEN, WITHDRAWN, TAKEN_BACK}),
        (DescriptionStatus.ACCEPTED, {TAKEN_BACK}),
        (DescriptionStatus.WITHDRAWN, {WRITTEN, WITHDRAWN}),
    ],
)
def test_what_can_be_done_about_a_description_that_stands_so(
    status: DescriptionStatus, acts: set[DescriptionAct]
) -> None:
    assert {act for act in DescriptionAct if is_allowed(act, status)} == acts


@given(st.text())
def test_a_tidy_text_is_tidy_and_one_line(text: str) -> None:
    once = tidy(text)
    assert tidy(once) == once
    assert len(once.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [("a\x00b\x7f", "ab"), ("\u3000a\u2028\r\nb\x85", "a b"), ("a\u200db \ue000", "a\u200db \ue000"), ("\x07 \t", "")],
)
def test_signs_that_control_a_terminal_are_left_out_and_no_others(text: str, kept: str) -> None:
    assert tidy(text) == kept


@pytest.mark.parametrize(
    ("start", "end", "sentence", "said"),
    [
        (0.0, 60.0, "A dog runs.", None),
        (59.96, 60.0, "A dog runs.", None),
        (-0.04, 2.0, "A dog runs.", "start or end is not a time of this video: mark both again"),
        (float("nan"), 2.0, "A dog runs.", "start or end is not a time of this video: mark both again"),
        (1.0, float("inf"), "A dog runs.", "start or end is not a time of this video: mark both again"),
        (2.0, 2.0, "A dog runs.", "the end (2.00 s) is not after the start (2.00 s): mark both again"),
        (2.0, 60.04, "A dog runs.", "the end (60.04 s) is after the end of the video (60.00 s): mark it again"),
        (2.0, 3.0, "", "the sentence is empty: write what happens"),
        (2.0, 3.0, "a" * LONGEST_SENTENCE, None),
        (2.0, 3.0, "a" * 501, "the sentence has 501 characters: use at most 500"),
    ],
)
def test_what_cannot_be_a_description_of_a_video_of_a_minute(
    start: float, end: float, sentence: str, said: str | None
) -> None:
    assert description_problem(start, end, sentence, 60.0) == said


NAMES = 'may be {}: say "a woman", "a man", "somebody".'
MORE = "This is more than one sentence: one is enough."
LITTLE = "This says very little: who does what?"


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Then Mona laughs.", [f'"Mona" {NAMES.format("a name")}']),
        ("Then Mona laughs at Ross.", [f'"Mona", "Ross" {NAMES.format("names")}']),
        ("A dog jumps! It barks.", [MORE]),
        ("(A dog jumps up.) It barks.", [MORE]),
        ("A dog jumps up 3.5 steps.", []),
        ("A dog jumps up high. ", []),
        ("A dog HAD run, it WAS old.", ['"HAD" tells of the past: write what happens now.']),
        ("Dog runs.", [LITTLE]),
        ("A dog runs.", []),
        ("Dog, 3 4 5", [LITTLE]),
        ("Hündin rennt.", []),
        ("一只狗在跑。", []),  # a script without spaces has no short sentences
        ("The man wears a T-shirt on Monday.", []),
        ("3 4 5", []),
        (
            "Ran. Saw Mona.",
            [f'"Mona" {NAMES.format("a name")}', MORE, '"Saw" tells of the past: write what happens now.'],
        ),
    ],
)
def test_what_authors_are_told_about_a_sentence(sentence: str, told: list[str]) -> None:
    assert sentence_notes(sentence, {}, NOTHING_KNOWN) == told


def test_a_name_of_the_cast_or_of_the_lists_is_told_too() -> None:
    known = Known({"Olga": "a woman"}, frozenset(), frozenset())
    for sentence, name in (("She hugs Rachel.", "Rachel"), ("Olga laughs loudly.", "Olga")):
        assert sentence_notes(sentence, {"Rachel": "a woman"}, known) == [f'"{name}" {NAMES.format("a name")}']


times = st.integers(0, 400).map(lambda frame: frame / 25)
spans = st.tuples(times, times).filter(lambda span: span[0] < span[1])


@given(spans, spans)
def test_spans_are_the_same_from_seven_tenths_of_their_frames_on(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    first, second = ({*range(round(span[0] * 25), round(span[1] * 25))} for span in (one, other))
    assert same_span(one, other) == (Fraction(len(first & second), len(first | second)) >= Fraction(7, 10))
    assert same_span(one, other) == same_span(other, one)


def test_spans_that_only_touch_are_not_the_same() -> None:
    assert not same_span((0.0, 2.0), (2.0, 4.0))
    assert not same_span((0.0, 2.0), (3.0, 4.0))


@pytest.mark.parametrize(
    ("duration_s", "per_video", "per_minute", "count"),
    [
        *((60.0, None, 1.0, 1), (60.5, None, 1.0, 2), (30.0, None, 0.5, 1), (600.0, 3, 0.0, 1)),
        *((600.0, 3, 0.5, 5), (600.0, 0, None, 0), (600.0, None, None, None)),
        # 400 * 9.3 / 60 is 62, and a little more in floats.
        *((132.0, None, 1.1, 3), (400.0, None, 9.3, 62)),
    ],
)
def test_wanted_by_hand(duration_s: float, per_video: int | None, per_minute: float | None, count: int | None) -> None:
    assert wanted_count(duration_s, per_video, per_minute) == count


@given(st.floats(0.1, 10_000), st.floats(0.01, 100))
def test_wanted_a_minute_is_enough_and_no_more(duration_s: float, per_minute: float) -> None:
    found = wanted_count(duration_s, None, per_minute)
    assert found is not None
    assert found == max(1, found)
    assert found * 60 >= duration_s * per_minute * (1 - 1e-9)
    assert (found - 1) * 60 < duration_s * per_minute * (1 + 1e-9) or found == 1


@given(st.data())
def test_everybody_gets_every_video_once_and_what_came_back_first(data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.integers(1, 999).map(str), unique=True, max_size=12))
    videos = [(key, data.draw(st.integers(0, 4)), data.draw(st.booleans())) for key in keys]
    returned = {key for key in keys if data.draw(st.booleans())}
    mine = returned | {key for key in keys if data.draw(st.booleans())}
    found = video_order(videos, returned, mine, 7, b"s")
    assert Counter(found) == Counter(keys)
    shuffled = random.Random(1).sample(videos, len(videos))
    assert video_order(shuffled, returned, mine, 7, b"s") == found
    full = {key for key, _, enough in videos if enough}

    def part(key: str) -> int:
        return 0 if key in returned else 3 if key in full else 1 if key in mine else 2

    assert [part(key) for key in found] == sorted(map(part, found))
    counts = [dict((key, n) for key, n, _ in videos)[key] for key in found if part(key) == 2]
    assert counts == sorted(counts)


def test_what_is_new_goes_by_its_count_and_the_rest_by_chance_for_each_person() -> None:
    """Written out, so that somebody who goes on tomorrow finds the same order."""
    videos = [(str(number), number % 3, number % 5 == 0) for number in range(40)]

    def drawn(key: str) -> bytes:
        return hmac.digest(b"s", f"describe\n7\n{key}".encode(), "sha256")

    keys = [key for key, _, _ in videos]
    returned, mine = {"3", "4", "5"}, {"1", "2", "3", "9", "10"}
    full = {"0", "10", "15", "20", "25", "30", "35"}
    begun = {"1", "2", "9"}
    new = sorted(set(keys) - returned - full - begun, key=lambda key: (int(key) % 3, drawn(key)))
    expected = [*sorted(returned, key=drawn), *sorted(begun, key=drawn), *new, *sorted(full, key=drawn)]
    assert video_order(videos, returned, mine, 7, b"s") == expected


def test_two_people_begin_with_different_videos() -> None:
    videos = [(str(number), 0, False) for number in range(200)]
    firsts = [set(video_order(videos, (), (), me, b"s")[:10]) for me in (1, 2)]
    assert len(firsts[0] & firsts[1]) < 5
