"""Taking what describers write: once, in order, never lost."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.campaign.corpus.describing.model import (
    DescribeEvent,
    DescribeKind,
    DescribeWork,
    DescribingChoice,
    DescriptionStatus,
    VideoWork,
)
from backend.campaign.corpus.describing.opening import (
    choose_describing,
    close_describing,
    describing_choice,
    describing_comes_first,
    may_describe,
)
from backend.campaign.corpus.describing.rows import descriptions
from backend.campaign.corpus.describing.rules import ALSO_TAKEN
from backend.campaign.corpus.describing.work import describe_clip, describe_frames, describe_work, note_describing_seen
from backend.campaign.judging.staffing import pause_person, unpause_person
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import NotAllowed, ProjectError
from backend.core.ids import AnnotatorId
from describing import event, send
from support import NOW, Judging

AGAIN, OUT = DescribeKind.REDESCRIBE, DescribeKind.WITHDRAW


def stored(judging: Judging, name: str) -> descriptions.DescriptionRow:
    found = descriptions.by_key(judging.project.store.db, name)
    assert found is not None
    return found


def work(judging: Judging, who: int) -> DescribeWork:
    return describe_work(judging.project, judging.annotators[who])


def video(found: DescribeWork, key: str) -> VideoWork:
    return next(one for one in found.videos if one.key == key)


def test_a_description_is_kept_once_with_its_author_its_times_and_how_long_it_took(describing: Judging) -> None:
    first = event("d1", sentence="  A woman\tpours   tea. ")
    for _ in range(2):
        answer = send(describing, 0, first)
        assert (answer.accepted, answer.refused) == ([first.key], [])
    row = stored(describing, "d1")
    me = describing.annotators[0].annotator_id
    assert (row.annotator_id, row.video_id, row.span, row.sentence) == (me, 1, (2.0, 5.0), "A woman pours tea.")
    acts = describing.project.store.db.execute("SELECT at, elapsed_ms, active_ms FROM description_act").fetchall()
    assert [tuple(act) for act in acts] == [(NOW, 4000, 3000)]
    assert [(one.description, one.status) for one in answer.mine] == [("d1", DescriptionStatus.WAITING)]


def test_an_author_changes_withdraws_and_puts_back(describing: Judging) -> None:
    answer = send(describing, 0, event("d1"), event("d1", AGAIN, span=(2.04, 5.0)), event("d1", OUT), event("d1", OUT))
    assert (len(answer.accepted), answer.refused) == (4, [])
    assert stored(describing, "d1").status is DescriptionStatus.WITHDRAWN
    assert video(work(describing, 0), "1").mine == ()
    send(describing, 0, event("d1", AGAIN, sentence="A man pours tea."))
    row = stored(describing, "d1")
    assert (row.status, row.revision, row.sentence) == (DescriptionStatus.WAITING, 3, "A man pours tea.")


def test_what_cannot_count_is_refused_alone_and_stays_in_the_log(describing: Judging) -> None:
    good, bad = event("d1"), event("d2", span=(5.0, 70.0), sentence="A long one.")
    strange = event("d3", video="99")
    for _ in range(2):
        answer = send(describing, 0, bad, good, strange)
        assert answer.accepted == [good.key]
        assert {one.key: one.message for one in answer.refused} == {
            bad.key: "the end (70.00 s) is after the end of the video (60.00 s): mark it again",
            strange.key: "there is no such video in the project: reload the page",
        }
    logged = describing.project.store.db.execute("SELECT payload FROM event WHERE kind = 'description_refused'")
    assert [json.loads(row[0])["sentence"] for row in logged] == ["A long one.", "A woman pours tea."]


@pytest.mark.parametrize("name", ["", "1.5", "-1", "x", "²", "9" * 30])
def test_a_video_that_is_none_is_no_accident(describing: Judging, name: str) -> None:
    assert "no such video" in send(describing, 0, event("d1", video=name)).refused[0].message
    with pytest.raises(ProjectError, match="not asked to describe this video"):
        describe_clip(describing.project, describing.annotators[0], name)


def test_nobody_changes_what_somebody_else_wrote(describing: Judging) -> None:
    first = event("d1")
    send(describing, 0, first)
    for theirs in (event("d1", AGAIN), event("d1", OUT)):
        assert [one.message for one in send(describing, 1, theirs).refused] == ["this is somebody else's description"]
    assert "under a name that is taken" in send(describing, 1, replace(first)).refused[0].message
    assert stored(describing, "d1").revision == 1


def test_two_people_who_describe_the_same_seconds_are_both_kept_and_the_second_is_told(describing: Judging) -> None:
    assert send(describing, 0, event("d1", span=(2.0, 12.0))).mine[0].notes == []
    # Of ten seconds seven and a half are the same; of the other five and a half, about as many.
    told = send(describing, 1, event("d2", span=(2.0, 9.0)), event("d3", span=(8.0, 14.0))).mine
    assert [one.notes for one in told] == [[ALSO_TAKEN], []]
    assert [stored(describing, name).status for name in ("d1", "d2")] == [
        DescriptionStatus.WAITING,
        DescriptionStatus.WAITING,
    ]
    shown = video(work(describing, 2), "1")
    assert (shown.mine, shown.taken, shown.written) == ((), [(2.0, 9.0), (2.0, 12.0), (8.0, 14.0)], 3)
    known = repr(work(describing, 2))  # spans, never words or names
    assert not any(word in known for word in ("pours", "Anna", "Boris"))


def test_describing_is_closed_until_a_lead_opens_it_and_for_those_that_they_choose(describing: Judging) -> None:
    project, lead = describing.project, describing.lead
    anna, boris = describing.annotators[:2]
    choose_describing(
        project, lead, DescribingChoice(open=True, people=(anna.annotator_id,), videos=("v3",), per_minute=2.5), now=NOW
    )
    assert (may_describe(project, anna), may_describe(project, boris)) == (True, False)
    assert not may_describe(project, lead)
    with pytest.raises(NotAllowed, match="closed for you"):
        work(describing, 1)
    shown = work(describing, 0)
    assert [(one.name, one.wanted, one.fps, one.ready) for one in shown.videos] == [("v3", 3, 25.0, False)]
    assert (shown.me.name, shown.me.written, shown.guideline.version, shown.guideline.seen) == ("Anna", 0, 1, False)
    note_describing_seen(project, anna, 1, now=NOW)
    assert work(describing, 0).guideline.seen
    with pytest.raises(ProjectError, match="no version 2"):
        note_describing_seen(project, anna, 2, now=NOW)


def test_what_was_written_before_describing_was_closed_is_kept(describing: Judging) -> None:
    project = describing.project
    assert close_describing(project, OPERATOR, now=NOW + 1)
    assert not close_describing(project, OPERATOR, now=NOW + 2)
    assert send(describing, 0, event("d1"), at=NOW + 5).refused == []
    with pytest.raises(NotAllowed):
        work(describing, 0)
    told = [one.kind for one in find_activity(project, OPERATOR, ActivityFilter(), first=0, most=2)]
    assert told == ["describing_closed", "describing_opened"]


def test_whoever_is_paused_is_handed_no_video_and_writes_into_the_log_only(describing: Judging) -> None:
    project, anna = describing.project, describing.annotators[0]
    pause_person(project, describing.lead, anna.annotator_id, "a talk first", now=NOW)
    assert not may_describe(project, anna)
    with pytest.raises(NotAllowed, match="you are paused"):
        work(describing, 0)
    for see in (describe_clip, describe_frames):
        with pytest.raises(ProjectError, match="you are paused"):
            see(project, anna, "1")
    (refused,) = send(describing, 0, event("d1")).refused
    assert "your work is paused" in refused.message
    unpause_person(project, describing.lead, anna.annotator_id, now=NOW)
    assert work(describing, 0).me.written == 0
    log = project.store.db.conn.execute("SELECT payload FROM event WHERE kind = 'description_refused'").fetchall()
    assert [json.loads(row[0])["sentence"] for row in log] == [event("d1").sentence]


def test_a_choice_that_cannot_be_tells_everything_that_is_wrong(describing: Judging) -> None:
    people = (describing.lead.annotator_id, AnnotatorId(99))
    chosen = DescribingChoice(open=True, people=people, videos=("v1", "v77"), per_video=0, per_minute=-1.0)
    with pytest.raises(ProjectError) as refused:
        choose_describing(describing.project, describing.lead, chosen, now=NOW)
    for words in ("Lea is a lead", "no person 99", "no video v77", "1 or more", "above 0", "not both"):
        assert words in str(refused.value)
    assert describing_choice(describing.project, OPERATOR).people is None


def test_a_video_that_has_enough_comes_last_and_takes_more_all_the_same(describing: Judging) -> None:
    choose_describing(describing.project, OPERATOR, DescribingChoice(open=True, per_video=1), now=NOW)
    first = work(describing, 0).videos[0].key
    send(describing, 0, event("d1", video=first))
    assert work(describing, 1).videos[-1].key == first
    assert send(describing, 1, event("d2", video=first)).refused == []
    found = video(work(describing, 1), first)
    assert (found.wanted, found.written) == (1, 2)


EVENTS = st.lists(
    st.builds(
        lambda name, kind, start, length: event(name, kind, span=(start / 25, (start + length) / 25)),
        st.sampled_from(["d1", "d2", "d3"]),
        st.sampled_from(DescribeKind),
        st.integers(0, 1400),
        st.integers(-3, 120),
    ),
    max_size=8,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS, st.lists(st.integers(0, 8), max_size=4))
def test_sending_again_from_the_beginning_changes_nothing(
    describing: Judging, events: list[DescribeEvent], acknowledged: list[int]
) -> None:
    """A browser sends what it has until an answer reaches it, however often."""
    db = describing.project.store.db
    db.execute("BEGIN")
    try:
        for until in [*acknowledged, 8, 8]:
            send(describing, 0, *events[:until])
        kept = [tuple(row) for row in db.execute("SELECT event_key, kind FROM description_act ORDER BY act_id")]
        assert len({key for key, _ in kept}) == len(kept)
        expected = replayed(events)
        found = {row.key: (row.status, row.span) for row in descriptions.where(db, "1", [])}
        assert found == expected
    finally:
        db.execute("ROLLBACK")


def replayed(events: list[DescribeEvent]) -> dict[str, tuple[DescriptionStatus, tuple[float, float]]]:
    """By hand: events once, in order, those with an impossible span left out."""
    found: dict[str, tuple[DescriptionStatus, tuple[float, float]]] = {}
    for one in events:
        if one.kind is OUT:
            if one.description in found:
                found[one.description] = (DescriptionStatus.WITHDRAWN, found[one.description][1])
        elif 0 <= one.start_s < one.end_s <= 60:
            found[one.description] = (DescriptionStatus.WAITING, (one.start_s, one.end_s))
    return found


def test_it_comes_first_where_nobody_can_grade_yet(describing: Judging, tmp_path: Path) -> None:
    assert not describing_comes_first(describing.project, describing.annotators[0])
    empty = init_project(tmp_path / "empty", encoder="minilm")
    anna = people.add(empty.store, OPERATOR, "Anna", Role.ANNOTATOR, now=NOW)
    assert not describing_comes_first(empty, anna)  # nor is it open
    choose_describing(empty, OPERATOR, DescribingChoice(open=True), now=NOW)
    assert describing_comes_first(empty, anna)
