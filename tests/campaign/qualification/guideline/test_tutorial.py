"""The tutorial: whom it stops, what may be practised on, what is told when, and that none of it is a judgement."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import clip_for
from backend.campaign.judging.model import DeskState
from backend.campaign.nouns import OPERATOR, Person, Role, Scale
from backend.campaign.qualification.exam.setting import end_exam, set_exam
from backend.campaign.qualification.guideline.practice_pairs import (
    answer_practice,
    choose_practice,
    choose_practice_pair,
    practice_clip,
    practice_figures,
    practice_items,
    practice_offers,
    practice_texts,
    set_practice_from_file,
    switch_tutorial,
    withdraw_practice,
)
from backend.campaign.qualification.guideline.rules import Reading
from backend.campaign.qualification.guideline.versions import guideline_due, guideline_news, reword_guideline
from backend.campaign.review.queries import list_queries
from backend.campaign.setup.people import accounts as people
from backend.core.errors import InputError, NotAllowed, ProjectError
from backend.core.ids import MomentId, PairKey
from support import NOW, Judging

pytestmark = pytest.mark.usefixtures("videos")
LATER = NOW + 15 * 60 + 1
TEXT, WHY = "Somebody waves from a boat.", "The boat is there, and so is the hand."


@pytest.fixture
def nova(judging: Judging) -> Person:
    """Somebody new."""
    return people.add(judging.project.store, OPERATOR, "Nova", Role.ANNOTATOR, now=NOW)


def practise(judging: Judging, grade: int = 3, text: str = TEXT, moment: int = 1) -> None:
    choose_practice(judging.project, judging.lead, text, MomentId(moment), grade, WHY, now=NOW)


def reword(judging: Judging, label: str, *, now: float = NOW) -> None:
    grading = judging.project.campaign.grading
    meanings = (replace(grading.scale.meanings[0], label=label), *grading.scale.meanings[1:])
    reword_guideline(
        judging.project, judging.lead, replace(grading, scale=Scale(meanings)), f"{label} is clearer.", now=now
    )


def test_somebody_new_reads_first_and_holds_no_pair_meanwhile(judging: Judging, nova: Person) -> None:
    desk = exchange.desk(judging.project, nova, now=NOW)
    assert (desk.state, desk.items, desk.previous) == (DeskState.GUIDELINE, (), None)
    assert guideline_due(judging.project, nova) is Reading.FIRST
    assert judging.rows(f"SELECT count(*) FROM seat WHERE annotator_id = {nova.annotator_id}") == [(0,)]
    after = exchange.read_guideline(judging.project, nova, 1, now=NOW)
    assert (after.state, len(after.items)) == (DeskState.READY, 7)
    assert guideline_due(judging.project, nova) is None


def test_before_the_exam_the_guideline(judging: Judging, nova: Person) -> None:
    pair = judging.pairs()[0].pair
    for who in (0, 1):
        judging.grade(who, pair, 3)
    set_exam(judging.project, OPERATOR, although="one pair will do here", now=LATER)
    assert exchange.desk(judging.project, nova, now=LATER).state is DeskState.GUIDELINE
    after = exchange.read_guideline(judging.project, nova, 1, now=LATER)
    assert after.state is DeskState.EXAM


def test_a_changed_guideline_is_told_once_and_what_was_begun_still_counts(judging: Judging) -> None:
    person = judging.annotators[0]
    held = exchange.desk(judging.project, person, now=NOW).items[0].pair
    reword(judging, "Nothing")
    assert judging.grade(0, held, 2).status == "saved"
    assert exchange.desk(judging.project, person, now=NOW).state is DeskState.GUIDELINE
    assert guideline_due(judging.project, person) is Reading.CHANGED
    assert exchange.read_guideline(judging.project, person, 2, now=NOW).state is DeskState.READY
    assert guideline_news(judging.project, person) is None


def test_a_version_that_is_old_by_the_time_it_was_read_leads_to_the_newer(judging: Judging, nova: Person) -> None:
    reword(judging, "Nothing")
    assert exchange.read_guideline(judging.project, nova, 1, now=NOW).state is DeskState.GUIDELINE
    assert guideline_due(judging.project, nova) is Reading.CHANGED


def test_a_lead_switches_the_tutorial_off_and_newcomers_begin_at_once(judging: Judging, nova: Person) -> None:
    switch_tutorial(judging.project, judging.lead, False, now=NOW)
    assert not judging.project.campaign.tutorial
    assert exchange.desk(judging.project, nova, now=NOW).state is DeskState.READY
    switch_tutorial(judging.project, judging.lead, True, now=NOW)
    switch_tutorial(judging.project, judging.lead, True, now=NOW)
    assert exchange.desk(judging.project, nova, now=NOW).state is DeskState.GUIDELINE
    assert judging.rows("SELECT payload FROM event WHERE kind = 'tutorial_switched'") == [
        ('{"on":false}',),
        ('{"on":true}',),
    ]


def test_practice_tells_what_is_right_with_the_answer_and_never_before(judging: Judging, nova: Person) -> None:
    practise(judging)
    (item,) = practice_items(judging.project, nova, now=NOW)
    assert set(asdict(item)) == {"pair", "query", "whole", "own"}
    assert (item.query, item.own) == (TEXT, None)
    told = answer_practice(judging.project, nova, item.pair, 0, "k1", now=NOW)
    assert (told.own, told.right, told.agrees, told.explanation) == (0, 3, False, WHY)
    assert answer_practice(judging.project, nova, item.pair, 2, "k2", now=NOW).agrees  # within the tolerance of 1
    assert answer_practice(judging.project, nova, item.pair, 3, "k3", now=NOW).agrees
    assert answer_practice(judging.project, nova, item.pair, 0, "k1", now=NOW).own == 0  # sent again
    assert judging.rows("SELECT grade FROM practice_answer ORDER BY rowid") == [(0,), (2,), (3,)]
    assert practice_items(judging.project, nova, now=NOW)[0].own == 3
    (figures,) = practice_figures(judging.project, judging.lead, now=NOW)
    assert (figures.people, figures.missed, figures.hidden) == (1, 1, "")  # first answers count
    assert judging.rows("SELECT count(*) FROM judgement") == [(0,)]
    with pytest.raises(ProjectError, match="5 is not a grade: grades are 0 to 4"):
        answer_practice(judging.project, nova, item.pair, 5, "k4", now=NOW)
    with pytest.raises(ProjectError, match="stored for another answer"):
        answer_practice(judging.project, nova, item.pair, 4, "k1", now=NOW)


def test_clips_of_practice_are_for_whoever_is_signed_in_under_names_that_tell_nothing(
    judging: Judging, nova: Person
) -> None:
    practise(judging)
    (item,) = practice_items(judging.project, nova, now=NOW)
    job = practice_clip(judging.project, nova, item.pair)
    assert (job.start_s, job.end_s) == judging.rows("SELECT start_s, end_s FROM moment WHERE moment_id = 1")[0]
    assert item.pair not in {pair.pair for pair in judging.pairs()}
    with pytest.raises(NotAllowed):
        clip_for(judging.project, nova, PairKey(item.pair))  # no pair of the desk
    (figures,) = practice_figures(judging.project, judging.lead, now=NOW)
    withdraw_practice(judging.project, judging.lead, figures.practice_id, now=NOW)
    with pytest.raises(NotAllowed):
        practice_clip(judging.project, nova, item.pair)
    with pytest.raises(ProjectError, match="no longer a practice pair"):
        answer_practice(judging.project, nova, item.pair, 0, "k", now=NOW)


def test_a_pair_that_somebody_may_still_grade_is_refused_however_its_text_is_written(judging: Judging) -> None:
    pair = judging.pairs()[0]
    (moment,) = judging.rows(f"SELECT moment_id FROM pair WHERE pair_key = '{pair.pair}'")[0]
    for text in (pair.query, pair.query.upper()):
        with pytest.raises(ProjectError, match="it is an open pair"):
            practise(judging, text=text, moment=int(str(moment)))
    for who in (0, 1):
        judging.grade(who, pair.pair, 3)
    choose = choose_practice_pair
    with pytest.raises(ProjectError, match="can still be corrected"):
        choose(judging.project, judging.lead, pair.pair, 3, WHY, now=NOW + 60)
    with pytest.raises(ProjectError, match="the relevance of this pair is 3, not 4"):
        choose(judging.project, judging.lead, pair.pair, 4, WHY, now=LATER)
    choose(judging.project, judging.lead, pair.pair, 3, WHY, now=LATER)
    assert [one.query for one in practice_figures(judging.project, judging.lead, now=LATER)] == [pair.query]
    with pytest.raises(ProjectError, match="already a practice pair"):
        choose(judging.project, judging.lead, pair.pair, 3, WHY, now=LATER)


def test_a_candidate_that_a_further_batch_may_hand_out_is_refused(judging: Judging) -> None:
    text, moment = judging.rows(
        "SELECT q.text, k.moment_id FROM candidate k JOIN query q USING (query_id) WHERE k.rank = 25 LIMIT 1"
    )[0]
    for given in (str(text), str(text).upper()):
        with pytest.raises(ProjectError, match="a later batch may hand it out"):
            practise(judging, text=given, moment=int(str(moment)))


def test_a_practice_pair_that_the_exam_asks_is_hidden_and_comes_back(judging: Judging, nova: Person) -> None:
    pair = judging.pairs()[0]
    for who in (0, 1):
        judging.grade(who, pair.pair, 3)
    choose_practice_pair(judging.project, judging.lead, pair.pair, 3, WHY, now=LATER)
    set_exam(judging.project, OPERATOR, although="one pair will do here", now=LATER)
    (figures,) = practice_figures(judging.project, judging.lead, now=LATER)
    assert figures.hidden == "it is in the exam, and practice would reveal its grade"
    assert practice_items(judging.project, nova, now=LATER) == []
    end_exam(judging.project, OPERATOR, now=LATER)
    assert len(practice_items(judging.project, nova, now=LATER)) == 1


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda j: practise(j, text=" "), "needs the text of a query"),
        (lambda j: practise(j, text="x" * 401), "the query has 401 characters"),
        (lambda j: practise(j, grade=5), "5 is not a grade"),
        (lambda j: practise(j, moment=999), "there is no such moment"),
        (lambda j: choose_practice(j.project, j.lead, TEXT, MomentId(1), 3, " ", now=NOW), "needs an explanation"),
    ],
    ids=["no text", "long", "grade", "moment", "no explanation"],
)
def test_what_cannot_be_practised_on_is_refused(judging: Judging, spoil: Callable[[Judging], None], why: str) -> None:
    with pytest.raises(ProjectError, match=why):
        spoil(judging)
    assert practice_figures(judging.project, judging.lead, now=NOW) == []


def test_a_clip_that_cannot_be_shown_hides_its_practice_pair(judging: Judging, nova: Person) -> None:
    practise(judging)
    judging.rows("INSERT INTO clip_fault (moment_id, reason, reported_at) VALUES (1, 'damaged', 0)")
    assert practice_items(judging.project, nova, now=NOW) == []
    assert practice_figures(judging.project, judging.lead, now=NOW)[0].hidden == ("its clip cannot be shown: damaged")


FILE = """query,video,start,end,grade,explanation
Somebody waves.,v0,0,2.5,3,"All of it."
Somebody waves.,v1,1,3.5,0,"Nobody waves."
"""


def test_practice_comes_from_a_file_in_its_order_and_the_same_file_changes_nothing(
    judging: Judging, tmp_path: Path
) -> None:
    practise(judging)
    file = tmp_path / "practice.csv"
    file.write_text(FILE)
    assert set_practice_from_file(judging.project, OPERATOR, file, now=NOW) == 2
    found = practice_figures(judging.project, judging.lead, now=NOW)
    assert [(one.query, one.video, one.start_s, one.grade) for one in found] == [
        ("Somebody waves.", "v0", 0.0, 3),
        ("Somebody waves.", "v1", 1.0, 0),
    ]
    set_practice_from_file(judging.project, OPERATOR, file, now=NOW)
    assert [one.key for one in practice_figures(judging.project, judging.lead, now=NOW)] == [one.key for one in found]


def test_every_problem_of_a_file_is_named_by_row_and_nothing_is_taken(judging: Judging, tmp_path: Path) -> None:
    pair = judging.pairs()[0]
    file = tmp_path / "practice.csv"
    file.write_text(
        FILE
        + "Somebody waves.,v0,0,2.5,3,again\n"
        + "Somebody waves.,nowhere,0,2.5,3,why\n"
        + "Somebody waves.,v0,zero,2.5,7,why\n"
        + "Somebody waves.,v2,2,4.5,1,\n"
        + f"{pair.query},{pair.video},{pair.start_s},{pair.end_s},1,why\n"
    )
    with pytest.raises(InputError) as refused:
        set_practice_from_file(judging.project, OPERATOR, file, now=NOW)
    assert [(problem.row, problem.message) for problem in refused.value.problems] == [
        (4, "this text and moment are in the file twice"),
        (5, "nowhere has no moment from 0 to 2.5 s"),
        (6, "start is 'zero', not a number of seconds"),
        (6, "grade is '7', not one of 0, 1, 2, 3, 4"),
        (7, "a practice pair needs an explanation: say in one or two sentences why this grade is right"),
        (8, "it is an open pair, so somebody may still have to grade it"),
    ]
    assert practice_figures(judging.project, judging.lead, now=NOW) == []


def test_training_queries_find_their_moments(judging: Judging) -> None:
    """With an encoder of words, the most similar caption of a text is the one it is."""
    texts = practice_texts(judging.project, judging.lead)
    judged = {query.query for query in list_queries(judging.project, OPERATOR)}
    assert texts
    assert not judged & set(texts)
    offers = practice_offers(judging.project, judging.lead, texts[0], most=4)
    assert len(offers) == 4
    assert offers[0].caption == texts[0]
    assert [one.similarity for one in offers] == sorted((one.similarity for one in offers), reverse=True)
    choose_practice(judging.project, judging.lead, texts[0], MomentId(offers[0].moment_id), 4, WHY, now=NOW)
    assert len(practice_figures(judging.project, judging.lead, now=NOW)) == 1
