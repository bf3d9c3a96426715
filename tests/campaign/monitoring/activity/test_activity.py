"""The activity log: filters leave what a reading of all of it leaves; settings in words."""

import csv
import io
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate_app.pages import PAGES
from backend.campaign.judging.staffing import pause_person
from backend.campaign.monitoring.activity.log import activity_csv, campaign_settings, count_activity, find_activity
from backend.campaign.monitoring.activity.model import USUAL, ActivityFilter
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.selection.batches.model import BatchRule
from backend.campaign.selection.batches.suggestions import set_batch_rule
from backend.campaign.setup.project.folder import open_project
from backend.core.days import instant
from backend.core.events import EventGroup, find_events
from backend.store.connection import writing
from backend.store.events import record
from backend.store.upkeep import RESTORED
from support import NOW, Judging

ALL = ActivityFilter()


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Two people grade, one twice; a lead decides, gives a rule, and pauses somebody."""
    pairs = [pair.pair for pair in judging.pairs()]
    for nth, pair in enumerate(pairs[:4]):
        judging.grade(0, pair, 4 * (nth == 0), at=NOW + nth)
    judging.grade(0, pairs[0], 3, at=NOW + 50)
    for nth, pair in enumerate(pairs[:4]):
        judging.grade(1, pair, 4 * (nth == 1), at=NOW + 100 + nth)
    project = judging.project
    adjudicate(project, judging.lead, pairs[1], 2, "seen <twice>, 100 %", now=NOW + 300)
    set_batch_rule(project, judging.lead, BatchRule(5, 3.0, None, 1), "stricter", now=NOW + 400)
    pause_person(project, judging.lead, judging.annotators[0].annotator_id, "on leave", now=NOW + 90_000)
    with writing(project.store) as db:
        record(db, RESTORED, at=NOW + 95_000, actor=None, subject="project", payload={"file": "a_b%"})
    return judging


def test_it_tells_who_did_what_to_what(worked: Judging) -> None:
    project = worked.project
    found = find_activity(project, OPERATOR, ALL, first=0, most=4)
    assert [(one.by, one.words) for one in found] == [
        (None, "restored the database from a_b%; the former state is kept as –"),
        ("Lea", "paused (“on leave”)"),
        ("Lea", "changed the rule for next batches: of the last 5, a mean of 3, or – graded 1 or more (“stricter”)"),
        ("Lea", "adjudicated: relevance 2 (“seen <twice>, 100 %”)"),
    ]
    assert found[1].about == worked.annotators[0].name
    pair = worked.pairs()[1]
    assert found[3].query_id == pair.query_id
    assert found[3].about.startswith(f"“{pair.query}”, {pair.video}, ")


def test_grades_stand_in_it_with_their_corrections(worked: Judging) -> None:
    wanted = ActivityFilter(EventGroup.GRADES, worked.annotators[0].name)
    assert [one.words for one in find_activity(worked.project, OPERATOR, wanted, first=0, most=9)] == [
        *("corrected the grade to 3", "graded 0", "graded 0", "graded 0", "graded 4")
    ]
    assert count_activity(worked.project, OPERATOR, ActivityFilter(EventGroup.GRADES)) == 9


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_filters_leave_what_reading_everything_leaves(whole: Judging, data: st.DataObject) -> None:
    project, db = whole.project, whole.project.store.db
    group_of = {kind: event.group for kind, event in find_events().items()}
    groups = [group for group in EventGroup if group is not EventGroup.GRADES]
    wanted = ActivityFilter(
        data.draw(st.none() | st.sampled_from(groups)),
        data.draw(st.sampled_from(["", "Lea", whole.annotators[1].name])),
        data.draw(st.none() | st.sampled_from([NOW, NOW + 100, NOW + 90_000])),
        data.draw(st.none() | st.sampled_from([NOW + 301, NOW + 90_000])),
        data.draw(st.sampled_from(["", "SEEN", "100 %", "_", "%", "\\", "nothing of the kind"])),
    )
    names = {row[0]: row[1] for row in db.conn.execute("SELECT annotator_id, name FROM annotator")}
    about = {f"annotator:{number}": name for number, name in names.items()}
    about |= {f"pair:{pair.pair_id}": pair.query for pair in whole.pairs()}
    about |= {f"query:{pair.query_id}": pair.query for pair in whole.pairs()}
    expected = [
        row[0]
        for row in db.conn.execute("SELECT event_id, at, actor, kind, subject, payload FROM event ORDER BY 1 DESC")
        if (group_of[row[3]] is wanted.group if wanted.group else group_of[row[3]] in USUAL)
        and (not wanted.by or names.get(row[2]) == wanted.by)
        and (wanted.since is None or row[1] >= wanted.since)
        and (wanted.until is None or row[1] < wanted.until)
        and (wanted.text.lower() in row[5].lower() or wanted.text.lower() in about.get(row[4], "").lower())
    ]
    assert count_activity(project, OPERATOR, wanted) == len(expected)
    most = data.draw(st.integers(1, 30))
    pages = [
        find_activity(project, OPERATOR, wanted, first=first, most=most) for first in range(0, len(expected) + 1, most)
    ]
    assert [one.entry for page in pages for one in page] == expected


@pytest.fixture(scope="module")
def whole(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """A campaign of its own for many questions."""
    place = shutil.copytree(judging_made.project.folder, tmp_path_factory.mktemp("activity") / "project")
    found = Judging(open_project(place), judging_made.lead, judging_made.annotators)
    pairs = [pair.pair for pair in found.pairs()]
    for who in (0, 1):
        for nth, pair in enumerate(pairs[:6]):
            found.grade(who, pair, 4 * (nth == who), at=NOW + 100 * who + nth)
    adjudicate(found.project, found.lead, pairs[1], 2, "seen <twice>, 100 %", now=NOW + 300)
    adjudicate(found.project, found.lead, pairs[0], 2, "a_b \\ c", now=NOW + 400)
    pause_person(found.project, found.lead, found.annotators[1].annotator_id, "on leave", now=NOW + 90_000)
    return found


def test_the_file_holds_all_of_it(worked: Judging) -> None:
    rows = list(csv.DictReader(io.StringIO(activity_csv(worked.project, OPERATOR, ALL))))
    found = find_activity(worked.project, OPERATOR, ALL, first=0, most=1000)
    assert [(row["at"], row["by"], row["words"], row["about"]) for row in rows] == [
        (instant(one.at), one.by or "", one.words, one.about) for one in found
    ]


def test_settings_say_what_holds_since_when_and_by_whom(worked: Judging) -> None:
    found = {one.name: one for one in campaign_settings(worked.project, OPERATOR)}
    rule = found["Next batch"]
    assert rule.value == "Worth opening if the last 5 have a mean relevance of 3.0 or more"
    assert (rule.since, rule.by, rule.where) == (NOW + 400, "Lea", "queries")
    assert found["Gold"].value == "Off"
    assert found["Gold"].since is None
    assert found["Batch"].value == "20 candidates per query"
    terms = {"licence": "CC-BY-4.0", "citation": "Us, 2026", "reason": "agreed"}
    set_release_terms(worked.project, worked.lead, **terms, now=NOW + 500)
    found = {one.name: one for one in campaign_settings(worked.project, OPERATOR)}
    assert (found["Licence"].value, found["Licence"].since, found["Licence"].by) == ("CC-BY-4.0", NOW + 500, "Lea")
    assert {one.where.partition("?")[0] for one in found.values()} <= {page.address for page in PAGES} | {""}
