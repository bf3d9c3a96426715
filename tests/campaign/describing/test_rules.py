"""What follows from acts about descriptions, and what a sentence should not have."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.captions.rules import NOTHING_KNOWN, Known
from backend.campaign.describing.model import LONGEST_SENTENCE, DescriptionAct, DescriptionStatus
from backend.campaign.describing.rules import looked_at, may, order, same_span, status_of, tidy, wanted, wrong

AUTHOR = (DescriptionAct.WRITTEN, DescriptionAct.WITHDRAWN)
LEAD = (DescriptionAct.ACCEPTED, DescriptionAct.RETURNED, DescriptionAct.TAKEN_BACK)


@given(st.lists(st.sampled_from(DescriptionAct), max_size=30))
def test_whatever_people_try_a_description_stands_as_its_last_possible_act_says(tried: list[DescriptionAct]) -> None:
    done = [DescriptionAct.WRITTEN]
    for act in tried:
        if may(act, status_of(done)):
            done.append(act)
    found = status_of(done)
    # By hand: what the last act alone says, as a lead acts upon what waits and taking back lets it wait again.
    said = {
        DescriptionAct.WRITTEN: DescriptionStatus.WAITING,
        DescriptionAct.WITHDRAWN: DescriptionStatus.WITHDRAWN,
        DescriptionAct.ACCEPTED: DescriptionStatus.ACCEPTED,
        DescriptionAct.RETURNED: DescriptionStatus.RETURNED,
        DescriptionAct.TAKEN_BACK: DescriptionStatus.WAITING,
    }
    assert found is said[done[-1]]
    # Somebody can always go on: an author from everything but what was accepted, a lead from that.
    assert any(may(act, found) for act in (LEAD if found is DescriptionStatus.ACCEPTED else AUTHOR))


@pytest.mark.parametrize(
    "acts",
    [
        [],
        [DescriptionAct.ACCEPTED],
        [DescriptionAct.WRITTEN, DescriptionAct.TAKEN_BACK],
        [DescriptionAct.WRITTEN, DescriptionAct.ACCEPTED, DescriptionAct.WRITTEN],
        [DescriptionAct.WRITTEN, DescriptionAct.WITHDRAWN, DescriptionAct.ACCEPTED],
        [DescriptionAct.WRITTEN, DescriptionAct.RETURNED, DescriptionAct.ACCEPTED],
    ],
)
def test_a_history_that_could_not_be_is_refused(acts: list[DescriptionAct]) -> None:
    with pytest.raises(ValueError, match=r"."):
        status_of(acts)


@given(st.text())
def test_a_tidy_text_is_tidy_and_one_line(text: str) -> None:
    once = tidy(text)
    assert tidy(once) == once
    assert len(once.splitlines()) <= 1


@pytest.mark.parametrize(
    ("start", "end", "sentence", "said"),
    [
        (0.0, 60.0, "A dog runs.", None),
        (59.96, 60.0, "A dog runs.", None),
        (-0.04, 2.0, "A dog runs.", "the marks are no times of the video: mark start and end again"),
        (float("nan"), 2.0, "A dog runs.", "the marks are no times of the video: mark start and end again"),
        (1.0, float("inf"), "A dog runs.", "the marks are no times of the video: mark start and end again"),
        (2.0, 2.0, "A dog runs.", "the end (2.00 s) is not after the start (2.00 s): mark both again"),
        (2.0, 60.04, "A dog runs.", "the end (60.04 s) is after the end of the video (60.00 s): mark it again"),
        (2.0, 3.0, "", "the sentence is empty: write what happens"),
        (2.0, 3.0, "a" * LONGEST_SENTENCE, None),
        (2.0, 3.0, "a" * 501, "the sentence has 501 signs: say it in 500"),
    ],
)
def test_what_cannot_be_a_description_of_a_video_of_a_minute(
    start: float, end: float, sentence: str, said: str | None
) -> None:
    assert wrong(start, end, sentence, 60.0) == said


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("A woman pours tea into a blue cup.", []),
        ("The man wears a T-shirt on Monday.", []),
        ("A woman hugs Rachel.", ["Rachel"]),
        ("Then Mona laughs at Ross.", ["Mona", "Ross"]),
        ("Olga laughs.", ["Olga"]),
        ("A dog jumps. It barks.", ["more than one sentence"]),
        ("The man ran away and was gone.", ["was"]),
        ("A dog.", ["very little"]),
        ("Mr. Bean sits.", ["Bean"]),
    ],
)
def test_what_authors_are_told_about_a_sentence(sentence: str, words: list[str]) -> None:
    known = Known({"Olga": "a woman"}, frozenset(), frozenset())
    told = " ".join(looked_at(sentence, {"Rachel": "a woman"}, known))
    assert all(word in told for word in words)
    assert bool(told) == bool(words)
    assert looked_at("一只狗在跑。", {}, NOTHING_KNOWN) == []  # a script without spaces has no short sentences


times = st.integers(0, 400).map(lambda frame: frame / 25)
spans = st.tuples(times, times).filter(lambda span: span[0] < span[1])


@given(spans, spans)
def test_spans_are_the_same_from_seven_tenths_of_their_frames_on(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    first, second = ({*range(round(span[0] * 25), round(span[1] * 25))} for span in (one, other))
    assert same_span(one, other) == (Fraction(len(first & second), len(first | second)) >= Fraction(7, 10))
    assert same_span(one, other) == same_span(other, one)


@given(st.floats(0.1, 10_000), st.floats(0.01, 100))
def test_wanted_a_minute_is_enough_and_no_more(duration_s: float, per_minute: float) -> None:
    found = wanted(duration_s, None, per_minute)
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
    found = order(videos, returned, mine, 7)
    assert Counter(found) == Counter(keys)
    shuffled = random.Random(1).sample(videos, len(videos))
    assert order(shuffled, returned, mine, 7) == found
    full = {key for key, _, enough in videos if enough}

    def part(key: str) -> int:
        return 0 if key in returned else 3 if key in full else 1 if key in mine else 2

    assert [part(key) for key in found] == sorted(map(part, found))
    counts = [dict((key, n) for key, n, _ in videos)[key] for key in found if part(key) == 2]
    assert counts == sorted(counts)


def test_two_people_begin_with_different_videos() -> None:
    videos = [(str(number), 0, False) for number in range(200)]
    firsts = [set(order(videos, (), (), me)[:10]) for me in (1, 2)]
    assert len(firsts[0] & firsts[1]) < 5
