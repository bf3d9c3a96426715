"""What a captioned moment can be, by itself and beside the others of its file: by hand."""

from typing import Any

import pytest

from backend.campaign.corpus.importing.model import CaptionedMoment, LeftOut
from backend.campaign.corpus.importing.rules import (
    Fault,
    check,
    count_left_out,
    finish,
    first_places,
    merge,
    outside_fault,
)
from backend.core.errors import InputError, Problem


def moment(row: int, start_s: float = 1.0, end_s: float = 3.0, **more: Any) -> CaptionedMoment:
    return CaptionedMoment(**{"video": "v", "caption": "A dog.", **more}, start_s=start_s, end_s=end_s, row=row)


def refusals(*moments: CaptionedMoment, problems: tuple[Problem, ...] = (), **more: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        check(moments, problems, "f", **more)
    return [str(problem) for problem in caught.value.problems]


def test_a_caption_has_a_length() -> None:
    assert check([moment(1, caption="a" * 5000)], (), "f")[0]
    assert refusals(moment(1, caption="a" * 5001)) == [
        "f, row 1: the caption has 5,001 characters; at most 5,000 are allowed"
    ]


END = "the end is more than 1 s after that of the video"
LATE = Fault(END, "end 11.5 is more than 1 s after the video's end at 10.0 s")
BEHIND = Fault("the start is after the end of the video", "start 10.0 is outside the video, which lasts 10.0 s")


@pytest.mark.parametrize(
    ("start_s", "end_s", "slack_s", "fault"),
    [
        (9.5, 11.0, 1.0, None),
        (9.5, 11.5, 1.0, LATE),
        (10.0, 10.5, 1.0, BEHIND),
        (10.0, 19.0, 1.0, BEHIND),
        (9.0, 12.0, 2.0, None),
        (9.0, 12.0, 0.5, Fault(
            "the end is more than 0.5 s after that of the video",
            "end 12.0 is more than 0.5 s after the video's end at 10.0 s",
        )),
    ],
)  # fmt: skip
def test_how_a_moment_lies_outside_its_video(start_s: float, end_s: float, slack_s: float, fault: Fault | None) -> None:
    assert outside_fault(start_s, end_s, 10.0, slack_s) == fault
    if slack_s == 1.0:
        assert outside_fault(start_s, end_s, 10.0) == fault


NUMBERS = [
    moment(1, duration_s=10.0, external_id="a"),
    moment(2, duration_s=1.5),
    moment(3, external_id="b", video="w"),
    moment(4, external_id="a"),
    moment(5, video="x", duration_s=0.0),
    moment(6, video="y", duration_s=-1.0, sentence=1),
    moment(7, video="y", duration_s=-1.0, sentence=2),
    moment(8, 12.0),
    moment(9, video=" ", caption=" "),
    moment(10, 0.1, 0.4, video="z", duration_s=0.5),
    moment(11, 0.1, 1.75, video="z"),
]


def test_every_fault_of_a_file_is_told_in_its_order() -> None:
    before = (Problem("f", 4, "was found before"), Problem("f", 1, "is odd"), Problem("f", None, "has no end"))
    found = refusals(*NUMBERS, problems=before)
    assert found == [
        "f: has no end",
        "f, row 1: is odd",
        "f, row 2: video 'v' lasts 1.5 s here and 10.0 s in row 1",
        "f, row 2: end 3.0 is more than 1 s after the video's end at 1.5 s",
        "f, row 4: was found before",
        "f, row 4: id 'a' is already used in row 1: give each moment its own",
        "f, row 5: duration 0.0 is not above 0",
        "f: video y, sentence 1: duration -1.0 is not above 0",
        "f, row 8: end 3.0 is not after start 12.0",
        "f, row 8: start 12.0 is outside the video, which lasts 10.0 s",
        "f, row 9: the video name is empty",
        "f, row 9: the caption is empty",
        "f, row 11: end 1.75 is more than 1 s after the video's end at 0.5 s",
    ]


def test_what_a_published_file_has_that_cannot_be_is_left_out_by_its_first_fault() -> None:
    moments = [
        *(moment(1, duration_s=10.0), moment(2, -1.0, 30.0), moment(3, 4.0, 4.0, caption=" "), moment(4, 3.0)),
        *(moment(row, 9.0, 20.0) for row in range(5, 12)),
        moment(12, 0.0, 11.5, video="unknown"),
    ]
    good, left = check(moments, [], "f", published=True)
    assert good == [moments[0], moments[-1]]
    assert left == [
        LeftOut("the start is negative", 1, ("row 2",)),
        LeftOut("the caption is empty", 1, ("row 3",)),
        LeftOut("the end is not after the start", 1, ("row 4",)),
        LeftOut(END, 7, ("row 5", "row 6", "row 7", "row 8", "row 9")),
    ]
    found = finish(moments, [], "f", published=True, notes=["read well"], left_out=[LeftOut("of type t", 2)])
    assert (found.moments, found.notes, found.published) == (good, ["read well"], True)
    assert found.left_out == (LeftOut("of type t", 2), *left)
    more = finish(moments, [], "f", published=True, end_slack_s=10.0)
    assert (len(more.moments), more.merged, more.end_slack_s, len(more.left_out)) == (3, 6, 10.0, 3)


def test_a_published_file_of_nothing_that_can_be_is_refused_with_all_of_it() -> None:
    assert refusals(moment(2, 3.0), moment(1, -1.0), published=True) == [
        "f, row 1: start -1.0 is negative",
        "f, row 2: end 3.0 is not after start 3.0",
    ]
    assert refusals(published=True) == refusals() == ["f: the file has no moments with captions"]


def test_a_little_more_than_the_video_lasts_is_let_pass_as_far_as_somebody_says() -> None:
    late = moment(1, 9.0, 12.0, duration_s=10.0)
    assert check([late], [], "f", end_slack_s=2.0) == ([late], [])
    assert refusals(late) == ["f, row 1: end 12.0 is more than 1 s after the video's end at 10.0 s"]
    assert refusals(late, end_slack_s=0.5) == ["f, row 1: end 12.0 is more than 0.5 s after the video's end at 10.0 s"]
    # One that tells no duration is held against what another line says.
    assert len(refusals(moment(1, 20.0, 21.0), moment(2, duration_s=10.0))) == 1


def test_what_repeats_video_span_and_caption_is_merged_into_the_first() -> None:
    moments = [
        *(moment(1), moment(2, video="w"), moment(3, 1.5), moment(4, 1.0, 3.5), moment(5, caption="A cat.")),
        *(moment(6, external_id="x"), moment(7, 1.5)),
    ]
    found = merge(iter(moments))
    assert (found.moments, found.merged) == (moments[:5], 2)
    assert (found.notes, found.left_out, found.published, found.end_slack_s) == ([], (), False, 1.0)


def test_moments_that_end_after_their_video_are_kept_and_told() -> None:
    late = [moment(row, row / 10, 10.5, duration_s=10.0) for row in range(1, 8)]
    others = [moment(20, 0.0, 10.0, duration_s=10.0), moment(21, 0.0, 99.0)]
    found = merge([*late, *others], notes=("read well",), published=True, end_slack_s=0.5)
    assert found.notes == [
        "read well",
        "moments kept that end up to 0.5 s after their video: 7 (row 1, row 2, row 3, row 4, row 5, ...)",
    ]
    assert (found.published, found.end_slack_s) == (True, 0.5)
    assert merge(late[:5]).notes[0].endswith("after their video: 5 (row 1, row 2, row 3, row 4, row 5)")


def test_the_first_places_of_many() -> None:
    assert first_places(list("abcde")) == "a, b, c, d, e"
    assert first_places(list("abcdef")) == "a, b, c, d, e, ..."
    assert count_left_out([(moment(n), LATE if n % 2 else BEHIND) for n in range(12)]) == [
        LeftOut(BEHIND.why, 6, ("row 0", "row 2", "row 4", "row 6", "row 8")),
        LeftOut(LATE.why, 6, ("row 1", "row 3", "row 5", "row 7", "row 9")),
    ]
