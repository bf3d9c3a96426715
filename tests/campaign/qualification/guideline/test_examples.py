"""Examples of the guideline: which pairs a lead may show, and when they stop being shown."""

from dataclasses import asdict

import pytest

from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk
from backend.campaign.judging.queue import restore_clip
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.guideline.versions import (
    choose_example,
    example_clip,
    examples,
    examples_chosen,
    withdraw_example,
)
from backend.campaign.review.adjudicating import adjudicate
from backend.core.errors import ProjectError
from backend.core.ids import PairKey
from support import NOW, Judging

pytestmark = pytest.mark.usefixtures("videos")
QUARTER_HOUR = 15 * 60.0
LATER = NOW + QUARTER_HOUR + 1
NOTE = "All of it is there."


def settled(judging: Judging, nth: int, *grades: int) -> PairKey:
    """The nth pair, with these grades."""
    pair = judging.pairs()[nth].pair
    for who, grade in enumerate(grades):
        judging.grade(who, pair, grade)
    return pair


def choose(judging: Judging, pair: PairKey, grade: int, note: str = NOTE, *, at: float = LATER) -> None:
    choose_example(judging.project, judging.lead, pair, grade, note, now=at)


def shown(judging: Judging) -> dict[int, str]:
    return {example.grade: example.pair for example in examples(judging.project, judging.annotators[0])}


def test_a_project_starts_without_examples(judging: Judging) -> None:
    assert examples(judging.project, judging.annotators[0]) == examples_chosen(judging.project, OPERATOR) == []


def test_a_settled_pair_is_shown_with_its_query_and_the_note(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 4)  # mean 3.5, half up: 4
    choose(judging, pair, 4, "  All of it\n is there. ")
    (example,) = examples(judging.project, judging.annotators[0])
    assert (example.grade, example.query, example.note) == (4, judging.state(pair).query, "All of it is there.")
    assert set(asdict(example)) == {"version", "grade", "pair", "query", "note", "showing"}
    assert judging.rows("SELECT kind, actor, payload FROM event ORDER BY event_id DESC LIMIT 1") == [
        (
            "example_chosen",
            judging.lead.annotator_id,
            '{"grade":4,"note":"All of it is there.","replaced":null}',
        )
    ]


def test_a_decided_pair_may_be_shown_at_once(judging: Judging) -> None:
    pair = settled(judging, 0, 0, 4)
    adjudicate(judging.project, judging.lead, pair, 1, "only the cup is there", now=NOW)
    choose(judging, pair, 1, at=NOW)
    assert shown(judging) == {1: pair}


@pytest.mark.parametrize(
    ("grades", "why"),
    [
        ((), "no relevance yet"),
        ((3,), "no relevance yet"),
        ((0, 4), "no relevance yet"),
        ((0, 4, 0, 4), "no relevance"),
    ],
    ids=["open", "half graded", "escalated", "discarded"],
)
def test_a_pair_without_a_relevance_is_refused(judging: Judging, grades: tuple[int, ...], why: str) -> None:
    pair = settled(judging, 0, *grades)
    with pytest.raises(ProjectError, match=why):
        choose(judging, pair, 3)
    assert examples_chosen(judging.project, OPERATOR) == []


def test_a_grade_that_is_not_the_relevance_is_refused(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    with pytest.raises(ProjectError, match="the relevance of this pair is now 3, not 4"):
        choose(judging, pair, 4)


@pytest.mark.parametrize(("note", "why"), [(" \n ", "needs a note"), ("x" * 201, "has 201 characters")])
def test_a_note_has_words_but_not_too_many(judging: Judging, note: str, why: str) -> None:
    pair = settled(judging, 0, 3, 3)
    with pytest.raises(ProjectError, match=why):
        choose(judging, pair, 3, note)


def test_a_blocked_clip_is_refused(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    report_clip(judging.project, judging.annotators[0], pair, "the file is damaged", now=NOW)
    with pytest.raises(ProjectError, match="cannot be shown: the file is damaged"):
        choose(judging, pair, 3)


def test_a_pair_without_a_video_file_is_refused(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    judging.rows("UPDATE video SET path = NULL")
    with pytest.raises(ProjectError, match="its video file is not known"):
        choose(judging, pair, 3)


def test_a_pair_that_is_not_there_is_refused(judging: Judging) -> None:
    with pytest.raises(ProjectError, match="this pair no longer exists"):
        choose(judging, PairKey("nothing"), 3)


def test_a_pair_is_refused_while_its_last_grade_may_be_corrected(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    with pytest.raises(ProjectError, match="can still be corrected: choose it in 10 minutes"):
        choose(judging, pair, 3, at=NOW + 5 * 60 + 1)
    assert judging.grade(1, pair, 4, at=NOW + QUARTER_HOUR).status == "saved"  # it could indeed
    with pytest.raises(ProjectError, match="can still be corrected"):
        choose(judging, pair, 4, at=LATER)
    choose(judging, pair, 4, at=NOW + 2 * QUARTER_HOUR + 1)
    assert judging.grade(1, pair, 3, at=NOW + 2 * QUARTER_HOUR + 1).status == "refused"


def test_a_pair_on_somebodys_desk_is_refused_until_they_are_gone_and_then_nobody_can_grade_it(judging: Judging) -> None:
    pair = desk(judging.project, judging.annotators[0], now=NOW).items[0].pair
    adjudicate(judging.project, judging.lead, pair, 2, "clear enough", now=NOW)
    with pytest.raises(ProjectError, match="somebody is grading this pair"):
        choose(judging, pair, 2, at=NOW + 60)
    choose(judging, pair, 2, at=NOW + QUARTER_HOUR + 60)
    assert judging.grade(0, pair, 2, at=NOW + QUARTER_HOUR + 61).status == "refused"
    held = [item.pair for item in desk(judging.project, judging.annotators[0], now=NOW + QUARTER_HOUR + 62).items]
    assert pair not in held


def test_what_is_shown_is_on_nobodys_desk(judging: Judging) -> None:
    pairs = [settled(judging, nth, 2, 2) for nth in range(3)]
    choose(judging, pairs[1], 2)
    for person in judging.annotators:
        assert pairs[1] not in [item.pair for item in desk(judging.project, person, now=LATER).items]
        assert desk(judging.project, person, now=LATER).previous is None


def test_the_next_choice_takes_the_place_of_the_one_before(judging: Judging) -> None:
    first, second, other = (settled(judging, nth, grade, grade) for nth, grade in enumerate((3, 3, 0)))
    for pair, grade in ((first, 3), (other, 0), (second, 3)):
        choose(judging, pair, grade)
    assert shown(judging) == {0: other, 3: second}
    assert [example.grade for example in examples(judging.project, judging.annotators[0])] == [0, 3]
    kept = judging.rows("SELECT grade, withdrawn_at IS NULL FROM example ORDER BY example_id")
    assert kept == [(3, 0), (0, 1), (3, 1)]
    assert len({example.version for example in examples(judging.project, judging.annotators[0])}) == 2


def test_a_withdrawn_example_is_shown_no_more(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    choose(judging, pair, 3)
    withdraw_example(judging.project, judging.lead, 3, now=LATER)
    withdraw_example(judging.project, judging.lead, 3, now=LATER)
    assert examples_chosen(judging.project, OPERATOR) == []
    kinds = [kind for (kind,) in judging.rows("SELECT kind FROM event ORDER BY event_id DESC LIMIT 2")]
    assert kinds == ["example_withdrawn", "example_chosen"]


def test_a_new_decision_hides_the_example_and_the_lead_still_sees_that_it_stands(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    choose(judging, pair, 3)
    adjudicate(judging.project, judging.lead, pair, 1, "the main action is not there", now=LATER)
    assert shown(judging) == {}
    assert [(example.grade, example.showing) for example in examples_chosen(judging.project, OPERATOR)] == [(3, False)]
    adjudicate(judging.project, judging.lead, pair, 3, "it is, after all", seen=1, now=LATER)
    assert shown(judging) == {3: pair}


def test_a_clip_that_breaks_later_is_shown_no_more(judging: Judging) -> None:
    pair = settled(judging, 0, 3, 3)
    choose(judging, pair, 3)
    report_clip(judging.project, judging.annotators[0], pair, "damaged", now=LATER)
    assert shown(judging) == {}
    with pytest.raises(ProjectError, match="this example of grade 3 no longer exists"):
        example_clip(judging.project, judging.annotators[0], 3)
    restore_clip(judging.project, judging.lead, pair, now=LATER)
    assert shown(judging) == {3: pair}


def test_the_clip_is_the_exact_moment_of_this_choice(judging: Judging) -> None:
    first, second = settled(judging, 0, 3, 3), settled(judging, 1, 3, 3)
    choose(judging, first, 3)
    job, moment = example_clip(judging.project, judging.annotators[0], 3), judging.state(first)
    assert (job.start_s, job.end_s, job.identity) == (moment.start_s, moment.end_s, moment.video)
    version = examples(judging.project, judging.annotators[0])[0].version
    assert example_clip(judging.project, judging.annotators[0], 3, version) == job
    choose(judging, second, 3)
    with pytest.raises(ProjectError, match="reload the page"):
        example_clip(judging.project, judging.annotators[0], 3, version)
