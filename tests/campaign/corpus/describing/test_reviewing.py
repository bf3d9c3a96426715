"""A lead's review: accept, send back, take back; what comes of it is a corpus like any other."""

import csv
import io
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.campaign.corpus.describing.model import (
    DescribeKind,
    DescribingChoice,
    DescriptionFilter,
    DescriptionReview,
    DescriptionSort,
    DescriptionStatus,
)
from backend.campaign.corpus.describing.opening import choose_describing, reword_describing
from backend.campaign.corpus.describing.reviewing import (
    accept_description,
    count_descriptions,
    describing_figures,
    description,
    description_counts,
    description_keys,
    descriptions_csv,
    find_descriptions,
    return_description,
    take_back_description,
)
from backend.campaign.corpus.describing.work import describe_work, note_describing_seen
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.activity.log import campaign_settings
from backend.campaign.monitoring.progress.inbox import waits
from backend.campaign.monitoring.progress.model import Wait, WaitKind
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.core.errors import Overtaken, ProjectError
from describing import event, send
from support import NOW, Judging

AGAIN = DescribeKind.REDESCRIBE
ALL = DescriptionFilter(None)
Facts = dict[str, list[tuple[object, ...]]]


def corpus(judging: Judging) -> Facts:
    """Moments and captions as they stand."""
    db = judging.project.store.db
    return {
        "moment": [tuple(row) for row in db.execute("SELECT * FROM moment ORDER BY 1")],
        "caption": [tuple(row) for row in db.execute("SELECT * FROM caption ORDER BY 1")],
    }


def shown(judging: Judging, key: str) -> DescriptionReview:
    found = description(judging.project, judging.lead, key)
    assert found is not None
    return found


def accept(judging: Judging, key: str, **more: object) -> None:
    seen = shown(judging, key).revision
    accept_description(judging.project, judging.lead, key, seen=seen, now=NOW, **more)  # type: ignore[arg-type]  # of each test


def test_an_accepted_description_is_a_moment_and_a_caption_like_any_other(describing: Judging) -> None:
    before = status_counts(describing.project, describing.lead)
    send(describing, 0, event("d1", span=(40.0, 44.4)), event("d2", span=(50.0, 52.0)))
    assert waits(describing.project, describing.lead) == (Wait(WaitKind.DESCRIPTIONS, 2, NOW),)
    accept(describing, "d1")
    accept(describing, "d2", sentence=" A person   pours tea. ")
    after = status_counts(describing.project, describing.lead)
    assert [after[what] - before[what] for what in ("moments", "captions")] == [2, 2]
    found = describing.project.store.db.execute(
        "SELECT v.name, m.start_s, m.end_s, m.origin, c.text, c.kind FROM moment m JOIN video v USING (video_id) "
        "JOIN caption c USING (moment_id) WHERE m.origin = 'described' ORDER BY 2"
    )
    assert [tuple(row) for row in found] == [
        ("v0", 40.0, 44.4, "described", "A woman pours tea.", "published"),
        ("v0", 50.0, 52.0, "described", "A person pours tea.", "published"),
    ]
    one = shown(describing, "d2")
    assert (one.status, one.sentence, one.caption) == (
        DescriptionStatus.ACCEPTED,
        "A woman pours tea.",
        "A person pours tea.",
    )
    assert (one.author, one.last[1]) == ("Anna", "Lea")
    assert not waits(describing.project, describing.lead)
    assert "descriptions" not in {one.check for one in doctor(describing.project, now=NOW).findings}


def test_status_and_settings_tell_of_describing(describing: Judging) -> None:
    project = describing.project
    settings = {one.name: one for one in campaign_settings(project, OPERATOR)}
    assert (settings["Describing"].value, settings["Describing"].by) == ("Open for everybody, in all videos", "Lea")
    assert status_counts(project, OPERATOR)["descriptions"] == {}
    send(describing, 0, event("d1"), event("d2"), event("d3"), event("d3", DescribeKind.WITHDRAW))
    accept(describing, "d2")
    assert status_counts(project, OPERATOR)["descriptions"] == {"waiting": 1, "accepted": 1}


@pytest.mark.parametrize(
    "break_it",
    [
        "UPDATE description SET status = 'returned' WHERE description_key = 'd1'",
        "UPDATE description SET revision = 2 WHERE description_key = 'd1'",
        "UPDATE description SET sentence = 'Another one.' WHERE description_key = 'd1'",
        "UPDATE description SET moment_id = 1 WHERE description_key = 'd2'",
    ],
)
def test_the_doctor_finds_a_description_that_does_not_stand_as_its_acts_say(describing: Judging, break_it: str) -> None:
    def found() -> set[str]:
        return {one.check for one in doctor(describing.project, now=NOW).findings}

    send(describing, 0, event("d1"), event("d2", span=(40.0, 44.0)))
    accept(describing, "d2")
    assert "descriptions" not in found()
    describing.project.store.db.execute(break_it)
    assert "descriptions" in found()


def test_the_author_reads_why_it_came_back_and_sends_it_again(describing: Judging) -> None:
    send(describing, 0, event("d1"))
    project, lead = describing.project, describing.lead
    with pytest.raises(ProjectError, match="then send the description back"):
        return_description(project, lead, "d1", "  ", seen=1, now=NOW)
    return_description(project, lead, "d1", "Which woman?", seen=1, now=NOW)
    answer = send(describing, 0)
    assert [(one.description, one.words, one.status) for one in answer.returned] == [
        ("d1", "Which woman?", DescriptionStatus.RETURNED)
    ]
    assert send(describing, 1).returned == []
    first = describe_work(project, describing.annotators[0]).videos[0]
    assert first.key == "1"  # what came back comes first
    assert send(describing, 0, event("d1", AGAIN, sentence="A woman in red pours tea.")).returned == []
    one = shown(describing, "d1")
    assert (one.status, one.revision, one.words) == (DescriptionStatus.WAITING, 2, "")


def test_a_lead_who_looked_at_other_words_is_told(describing: Judging) -> None:
    send(describing, 0, event("d1"))
    project, lead = describing.project, describing.lead
    send(describing, 0, event("d1", AGAIN, sentence="A man pours tea."), at=NOW + 5)
    with pytest.raises(Overtaken, match="Anna changed this description just now"):
        accept_description(project, lead, "d1", seen=1, now=NOW + 9)
    accept_description(project, lead, "d1", seen=2, now=NOW)
    with pytest.raises(Overtaken, match="You accepted this description 2 hours ago"):
        return_description(project, lead, "d1", "No.", seen=2, now=NOW + 7300)
    refused = send(describing, 0, event("d1", AGAIN)).refused
    assert ["a lead has accepted" in one.message for one in refused] == [True]
    with pytest.raises(ProjectError, match="no such description"):
        take_back_description(project, lead, "d9", now=NOW)


def test_taking_back_leaves_the_corpus_as_it_was(describing: Judging) -> None:
    before = corpus(describing)
    send(describing, 0, event("d1", span=(40.0, 44.0)))
    accept(describing, "d1")
    assert take_back_description(describing.project, describing.lead, "d1", now=NOW) == "accepted"
    assert corpus(describing) == before
    assert shown(describing, "d1").status is DescriptionStatus.WAITING
    with pytest.raises(Overtaken, match="You undid the decision about this description"):
        take_back_description(describing.project, describing.lead, "d1", now=NOW)


def test_both_descriptions_of_the_same_seconds_become_captions_of_one_moment(describing: Judging) -> None:
    send(describing, 0, event("d1", span=(40.0, 44.0)))
    send(describing, 1, event("d2", span=(40.0, 43.6), sentence="Somebody fills a cup."))
    assert [(one.author, one.description) for one in shown(describing, "d1").beside] == [("Boris", "d2")]
    accept(describing, "d1")
    beside = shown(describing, "d2").beside
    moment = next(one.moment_id for one in beside if one.description == "")
    assert [(one.sentence, one.moment_id == moment) for one in beside] == [("A woman pours tea.", True)] * 2
    accept(describing, "d2", into=moment)
    texts = describing.project.store.db.execute(
        "SELECT text FROM caption WHERE moment_id = ? ORDER BY caption_id", [moment]
    )
    assert [row[0] for row in texts] == ["A woman pours tea.", "Somebody fills a cup."]
    # The first one made the moment; it stays for the second, and goes with it.
    before = len(corpus(describing)["moment"])
    take_back_description(describing.project, describing.lead, "d1", now=NOW)
    assert len(corpus(describing)["moment"]) == before
    take_back_description(describing.project, describing.lead, "d2", now=NOW)
    assert len(corpus(describing)["moment"]) == before - 1


def test_a_moment_of_other_seconds_takes_no_caption(describing: Judging) -> None:
    send(describing, 0, event("d1", span=(40.0, 44.0)))
    with pytest.raises(ProjectError, match="the moment with these times is not there"):
        accept(describing, "d1", into=1)
    with pytest.raises(ProjectError, match="the caption is empty"):
        accept(describing, "d1", sentence=" ")


@pytest.mark.parametrize("use", ["candidate", "rewrite"])
def test_what_rests_on_a_caption_keeps_it(describing: Judging, use: str) -> None:
    send(describing, 0, event("d1", span=(40.0, 44.0)))
    accept(describing, "d1")
    db = describing.project.store.db
    moment, caption = db.execute("SELECT moment_id, caption_id FROM description").fetchone()
    if use == "candidate":
        db.execute(
            "INSERT INTO candidate (query_id, rank, moment_id, similarity, encoder) "
            "SELECT query_id, 99, ?, 0.5, 'words' FROM query LIMIT 1",
            [moment],
        )
    else:
        db.execute(
            "INSERT INTO caption (moment_id, text, kind, source_caption_id) VALUES (?, 'x', 'rewritten', ?)",
            [moment, caption],
        )
    before = corpus(describing)
    with pytest.raises(ProjectError, match="cannot be undone"):
        take_back_description(describing.project, describing.lead, "d1", now=NOW)
    assert corpus(describing) == before
    assert shown(describing, "d1").status is DescriptionStatus.ACCEPTED


def test_the_list_is_searched_sorted_and_cut_by_the_database(describing: Judging) -> None:
    project, lead = describing.project, describing.lead
    words = ["A dog 50% runs.", "a cat sits", "A bird_sings.", "A dog sleeps."]
    for nth, sentence in enumerate(words):
        send(describing, nth % 2, event(f"d{nth}", video=str(1 + nth % 3), span=(nth, nth + 1.0), sentence=sentence))
    accept(describing, "d3", sentence="A wolf sleeps.")

    def keys(wanted: DescriptionFilter) -> list[str]:
        found = [one.description for one in find_descriptions(project, lead, wanted)]
        assert found == description_keys(project, lead, wanted)
        assert len(found) == count_descriptions(project, lead, wanted)
        return found

    assert keys(DescriptionFilter()) == ["d0", "d1", "d2"]
    assert keys(ALL) == ["d0", "d1", "d2", "d3"]
    assert keys(DescriptionFilter(None, "DOG")) == ["d0", "d3"]  # also what the author wrote before the lead's edit
    assert keys(DescriptionFilter(None, "wolf")) == ["d3"]
    assert keys(DescriptionFilter(None, "50% anna")) == ["d0"]
    assert keys(DescriptionFilter(None, "_")) == ["d2"]
    assert keys(DescriptionFilter(None, "", DescriptionSort.SENTENCE)) == ["d2", "d1", "d0", "d3"]
    assert keys(DescriptionFilter(None, "", DescriptionSort.VIDEO, True)) == ["d2", "d1", "d3", "d0"]
    assert keys(DescriptionFilter(None, "", DescriptionSort.AUTHOR)) == ["d0", "d2", "d1", "d3"]
    page = find_descriptions(project, lead, ALL, first=1, most=2)
    assert [one.description for one in page] == ["d1", "d2"]
    assert description_counts(project, lead) == {
        DescriptionStatus.WAITING: 3,
        DescriptionStatus.RETURNED: 0,
        DescriptionStatus.ACCEPTED: 1,
        DescriptionStatus.WITHDRAWN: 0,
    }


def test_figures_and_the_export_say_who_did_what(describing: Judging) -> None:
    project, lead = describing.project, describing.lead
    choose_describing(project, lead, DescribingChoice(open=True, per_video=2), now=NOW)
    send(describing, 0, event("d1", span=(40.0, 44.0)), event("d2", sentence='A "quoted", odd one.'))
    send(describing, 1, event("d3", video="2"))
    accept(describing, "d1")
    figures = describing_figures(project, lead)
    assert (figures.videos, figures.described, figures.enough) == (6, 2, 1)
    assert [(one.name, one.waiting, one.accepted, round(one.active_h * 3600)) for one in figures.people] == [
        ("Anna", 1, 1, 6),
        ("Boris", 1, 0, 3),
    ]
    rows = list(csv.DictReader(io.StringIO(descriptions_csv(project, lead))))
    assert [(row["video"], row["sentence"], row["author"], row["status"]) for row in rows] == [
        ("v0", 'A "quoted", odd one.', "Anna", "waiting"),
        ("v0", "A woman pours tea.", "Anna", "accepted"),
        ("v1", "A woman pours tea.", "Boris", "waiting"),
    ]
    assert (rows[1]["moment_start_s"], rows[1]["written_at"]) == ("40.0", "2026-09-21T14:13:20Z")


def test_the_guideline_has_versions_and_is_shown_anew(describing: Judging) -> None:
    project, lead, anna = describing.project, describing.lead, describing.annotators[0]
    note_describing_seen(project, anna, 1, now=NOW)
    assert describe_work(project, anna).guideline.seen
    for text, reason, why in [(" \n ", "x", "is empty"), ("A.", "", "needs a reason"), ("a" * 5000, "x", "characters")]:
        with pytest.raises(ProjectError, match=why):
            reword_describing(project, lead, text, reason, now=NOW)
    assert reword_describing(project, lead, " Mark  one thing. \n\n No names. ", "shorter", now=NOW) == 2
    found = describe_work(project, anna).guideline
    assert (found.version, found.text, found.reason, found.by, found.seen) == (
        *(2, "Mark one thing.\nNo names.", "shorter", "Lea"),
        False,
    )
    with pytest.raises(ProjectError, match="nothing changed"):
        reword_describing(project, lead, "Mark one thing.\nNo names.", "again", now=NOW)
    with pytest.raises(Overtaken, match=r"Lea changed the guideline meanwhile \(version 2\)"):
        reword_describing(project, lead, "Other words.", "why", based_on=1, now=NOW)


ACTS = st.lists(
    st.tuples(st.sampled_from(["write", "withdraw", "accept", "into", "return", "back"]), st.integers(0, 2))
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTS)
def test_whatever_leads_and_authors_do_taking_everything_back_leaves_the_corpus_as_it_was(
    describing: Judging, acts: list[tuple[str, int]]
) -> None:
    project, lead, db = describing.project, describing.lead, describing.project.store.db
    spans = [(40.0, 44.0), (40.0, 44.0), (40.0, 43.0)]

    def into(key: str) -> None:
        beside = [one.moment_id for one in shown(describing, key).beside if one.moment_id is not None]
        accept(describing, key, into=beside[0] if beside else None)

    doing: dict[str, Callable[[str, int], object]] = {
        "write": lambda key, nth: send(describing, nth, event(key, span=spans[nth])),
        "withdraw": lambda key, nth: send(describing, nth, event(key, DescribeKind.WITHDRAW)),
        "accept": lambda key, nth: accept(describing, key),
        "into": lambda key, nth: into(key),
        "return": lambda key, nth: return_description(project, lead, key, "why", seen=1, now=NOW),
        "back": lambda key, nth: take_back_description(project, lead, key, now=NOW),
    }
    db.execute("BEGIN")
    try:
        before = corpus(describing)
        for nth in range(3):
            doing["write"](f"d{nth}", nth)
        for act, nth in acts:
            try:
                doing[act](f"d{nth}", nth)
            except (Overtaken, ProjectError):
                continue
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
        accepted = db.execute("SELECT DISTINCT moment_id, caption_id FROM description WHERE status = 'accepted'")
        new = {row[1] for row in accepted}
        assert {row[0] for row in corpus(describing)["caption"]} == {row[0] for row in before["caption"]} | new
        for key in description_keys(project, lead, DescriptionFilter(DescriptionStatus.ACCEPTED)):
            take_back_description(project, lead, key, now=NOW)
        assert corpus(describing) == before
    finally:
        db.execute("ROLLBACK")
