"""The lead's page Calibration, over a real project."""

from collections.abc import Callable, Mapping

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.desk.clips import clip_for
from backend.campaign.desk.exchange import exam_act, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.staffing import suspend
from backend.campaign.qualification.exam.model import CalibrationRound
from backend.campaign.qualification.exam.setting import start_trial, trial_round
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.core.ids import PairKey, QueryId
from reading import html, read
from served import clip_of
from small_project import OPEN, SKIPPED, SmallProject
from support import NOW

Open = Callable[[], AppTest]
BEGIN = "trial-begin"
UNGRADED = (SKIPPED, *OPEN)
"""Ranks of query 3 that a round may ask."""
FIRST, SECOND = UNGRADED[:2]


@pytest.fixture
def begun(real_project: SmallProject) -> SmallProject:
    """A round of two pairs that Ana has finished and Ben has not."""
    real_project.sql("UPDATE query SET text = 'A <b>cup</b> *falls*' WHERE query_id = 3")
    start_trial(real_project.project, real_project.lead, queries=1, pairs=2, now=NOW)
    answer(real_project, "Ana", {FIRST: (4, "A <i>whole</i> *cup*"), SECOND: (3, "")})
    answer(real_project, "Ben", {FIRST: (0, "")})
    return real_project


def answer(small: SmallProject, who: str, given: Mapping[int, tuple[int, str]]) -> None:
    """Begin the round, and give grades with notes to pairs of query 3, named by their ranks."""
    person = small.person(who)
    ranks = {clip_of(small, small.pair(3, rank).pair): rank for rank in UNGRADED}
    desk = exam_act(small.project, person, ExamAct.START, now=NOW)
    for item in desk.items:
        rank = ranks[clip_for(small.project, person, item.pair).path]
        if rank in given:
            grade, note = given[rank]
            event = GradeEvent(item.pair, grade, f"{who} {rank}", 1000, note=note)
            assert record_grades(small.project, person, [event], now=NOW)[0].status == "saved"
    if len(given) == len(desk.items):
        exam_act(small.project, person, ExamAct.HAND_IN, now=NOW)


def trial(small: SmallProject) -> CalibrationRound | None:
    return trial_round(small.project, small.lead)


def asked(small: SmallProject) -> list[PairKey]:
    """What the newest round asks."""
    found = trial(small)
    return sorted(pair.pair for pair in found.pairs) if found else []


@pytest.fixture
def open_page(open_page_of: Callable[..., AppTest]) -> Open:
    """Opens the page Calibration as a lead."""
    return lambda: open_page_of("calibration")


def _choose(app: AppTest, query: QueryId) -> None:
    assert not app.multiselect(key="trial_queries").options, "nothing is offered before somebody looks for it"
    app.text_input(key="trial_search").set_value(str(query)).run()
    app.multiselect(key="trial_queries").select(query)


def test_a_round_is_begun_by_a_draw_or_with_chosen_queries(open_page: Open, real_project: SmallProject) -> None:
    app = open_page()
    app.number_input(key="trial_count").set_value(2)
    app.number_input(key="trial_pairs").set_value(2)
    app.button(key=BEGIN).click().run()
    told = "Asked for 2 queries with 2 pairs each; only 2 pairs of 1 query are available."
    assert read(app.success[0].value) == f"Calibration round started: 2 pairs from 1 query. {told}"
    assert asked(real_project) == sorted(real_project.pair(3, rank).pair for rank in (FIRST, SECOND))
    app.button(key="trial-end").click().run()
    _choose(app, QueryId(3))
    app.number_input(key="trial_pairs").set_value(5)
    app.button(key=BEGIN).click().run()
    assert "4 pairs of 1 query" in app.success[0].value
    assert asked(real_project) == sorted(real_project.pair(3, rank).pair for rank in UNGRADED)


def test_a_query_without_an_open_pair_is_refused_in_words(open_page: Open, real_project: SmallProject) -> None:
    app = open_page()
    _choose(app, QueryId(1))
    app.button(key=BEGIN).click().run()
    assert read(app.error[0].value) == "query 1 has no open pair to ask"
    assert trial(real_project) is None


def test_all_grades_and_notes_are_listed_with_or_without_names(open_page: Open, begun: SmallProject) -> None:
    app = open_page()
    assert BEGIN not in [button.key for button in app.button], "one at a time"
    told = html(app)
    assert "<td>Ana</td><td>2 of 2</td><td>yes</td>" in told
    assert "<td>Ben</td><td>1 of 2</td><td>not yet</td>" in told
    assert "<td>4</td><td>4 0</td><td>1</td><td>14</td><td>A &lt;b&gt;cup&lt;/b&gt; *falls*</td>" in told
    assert "<td>A &lt;i&gt;whole&lt;/i&gt; *cup*</td>" in told
    assert "<td>no note</td>" in told
    assert any("A <b>cup</b> *falls*" in read(one.value) for one in app.header)
    app.checkbox(key="trial_hide").check().run()
    told = html(app)
    assert "Ana" not in told
    assert "<td>Annotator 2</td><td>1 of 2</td>" in told
    assert any(one.value.endswith("rank 14") for one in app.caption)
    app.selectbox(key="address-trial").select_index(1).run()
    key = app.query_params["trial"]
    assert (key if isinstance(key, str) else key[0]) == begun.pair(3, SECOND).pair, "the pair stands in the address"
    assert any(one.value.endswith("rank 18") for one in app.caption)


def test_it_is_said_when_nobody_is_left_for_its_pairs(open_page: Open, begun: SmallProject) -> None:
    assert not open_page().warning
    suspend(begun.project, begun.lead, begun.person("Cem").annotator_id, False, now=NOW)
    for name in ("Ben", "Cem", "Dee", "Eli"):
        answer(begun, name, {rank: (2, "") for rank in (FIRST, SECOND)})
    assert "nobody is left to grade them" in open_page().warning[0].value


def test_a_round_is_ended_and_stays_to_be_read(open_page: Open, begun: SmallProject) -> None:
    app = open_page()
    app.button(key="trial-end").click().run()
    found = trial(begun)
    assert found.ended_at is not None
    assert "trial-end" not in [button.key for button in app.button]
    assert app.button(key=BEGIN)
    assert "<td>4 0</td>" in html(app)
