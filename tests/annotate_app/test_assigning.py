"""The page People over a project: a lead gives assignments, reads them, takes them back."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.judging.model import Assignment
from backend.campaign.judging.staffing import assign, current_assignments, suspend
from backend.campaign.nouns import Split
from backend.campaign.review.queries import list_queries
from reading import words
from support import NOW, Judging

Open = Callable[[], AppTest]


@pytest.fixture
def open_people(open_judging: Callable[..., AppTest]) -> Open:
    """The page as the lead sees it, with the form open."""

    def opened() -> AppTest:
        app = open_judging("people", part="assignments")
        app.session_state["assign"] = True
        return app.run()

    return opened


def standing(judging: Judging) -> dict[str, Assignment]:
    given = current_assignments(judging.project, judging.lead)
    names = {person.annotator_id: person.name for person in judging.annotators}
    return {names[who]: one for who, one in given.items()}


def test_several_people_get_a_part_of_a_split_and_a_quota(judging: Judging, open_people: Open) -> None:
    app = open_people()
    anna, boris = (person.annotator_id for person in judging.annotators[:2])
    app.multiselect(key="assign_who").set_value([anna, boris])
    app.selectbox(key="assign_split").set_value(Split.VAL)
    app.number_input(key="assign_part").set_value(2)
    app.number_input(key="assign_parts").set_value(2)
    app.number_input(key="assign_day").set_value(40)
    app.button(key="assign_button").click().run()
    assert not app.exception
    found = standing(judging)
    assert set(found) == {"Anna", "Boris"}
    assert (found["Anna"].split, found["Anna"].part, found["Anna"].parts, found["Anna"].a_day) == (Split.VAL, 2, 2, 40)
    told = "the validation queries, part 2 of 2; at most 40 grades a day"
    assert f"Assigned: {told}. That is 1 query with open batches." in words(app)
    assert not app.multiselect(key="assign_who").value, "the form is empty again"
    app.button(key=f"unassign-{anna}").click().run()
    assert set(standing(judging)) == {"Boris"}
    assert "Assignment of Anna removed" in words(app)


def test_queries_are_found_by_their_words_and_chosen(judging: Judging, open_people: Open) -> None:
    query = list_queries(judging.project, judging.lead)[1]
    app = open_people()
    app.text_input(key="assign_search").set_value(query.query.split()[-1]).run()
    app.multiselect(key="assign_queries").set_value([query.query_id])
    app.multiselect(key="assign_who").set_value([judging.annotators[2].annotator_id])
    app.button(key="assign_button").click().run()
    assert not app.exception
    assert standing(judging)["Carla"].queries == (query.query_id,)
    assert "1 query chosen by name" in words(app)


def test_what_cannot_be_is_said_and_the_form_keeps_what_was_typed(judging: Judging, open_people: Open) -> None:
    app = open_people()
    app.multiselect(key="assign_who").set_value([judging.annotators[0].annotator_id])
    app.number_input(key="assign_part").set_value(3)
    app.number_input(key="assign_parts").set_value(2)
    app.button(key="assign_button").click().run()
    assert "there is no part 3 of 2" in words(app)
    assert app.number_input(key="assign_part").value == 3
    assert standing(judging) == {}


def test_what_another_lead_assigned_meanwhile_is_told_and_shown_first(judging: Judging, open_people: Open) -> None:
    anna = judging.annotators[0].annotator_id
    app = open_people()
    assign(judging.project, judging.lead, [anna], Assignment(a_day=5), now=NOW)
    app.multiselect(key="assign_who").set_value([anna])
    app.number_input(key="assign_day").set_value(9)
    app.button(key="assign_button").click().run()
    assert "gave Anna another assignment" in words(app)
    assert "at most 5 grades a day" in words(app), "and there it is"
    assert app.number_input(key="assign_day").value == 9
    app.button(key="assign_button").click().run()
    assert standing(judging)["Anna"].a_day == 9


def test_an_assignment_of_somebody_who_was_suspended_can_be_taken_back(judging: Judging, open_people: Open) -> None:
    dev = judging.annotators[3].annotator_id
    assign(judging.project, judging.lead, [dev], Assignment(in_all=500), now=NOW)
    suspend(judging.project, judging.lead, dev, True, now=NOW)
    app = open_people()
    assert "at most 500 grades in all" in words(app)
    assert dev not in app.multiselect(key="assign_who").options
    app.button(key=f"unassign-{dev}").click().run()
    assert standing(judging) == {}
