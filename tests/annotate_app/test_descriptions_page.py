"""The part Descriptions of the page Captions, over a real project: review, who describes, the guideline."""

from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.screens.captions import describing_choice
from backend.campaign.corpus.describing import opening
from backend.campaign.corpus.describing.model import DescriptionStatus
from backend.campaign.corpus.describing.opening import describing_guideline
from backend.campaign.corpus.describing.reviewing import accept_description, description
from describing import event, opened, send
from reading import read, words
from support import NOW, Judging

Open = Callable[..., AppTest]


@pytest.fixture
def describing(judging: Judging) -> Judging:
    """Three descriptions wait; two of them show the same seconds."""
    opened(judging)
    send(judging, 0, event("d1", span=(40.0, 44.0)), event("d2", video="2", sentence="Then Mona *waves*."))
    send(judging, 1, event("d3", span=(40.0, 43.6), sentence="Somebody fills a cup."))
    return judging


@pytest.fixture
def open_page(describing: Judging, open_judging: Open) -> Open:
    return partial(open_judging, "captions", part="descriptions")


def status(judging: Judging, key: str) -> DescriptionStatus:
    found = description(judging.project, judging.lead, key)
    assert found is not None
    return found.status


def test_accepting_edited_words_goes_on_to_the_next_and_undo_brings_it_back(
    open_page: Open, describing: Judging
) -> None:
    app = open_page()
    assert app.text_area(key="sentence-d1-1").value == "A woman pours tea."
    app.text_area(key="sentence-d1-1").set_value("A person pours tea.")
    app.button(key="FormSubmitter:accept-d1-Accept").click().run()
    assert not app.exception
    assert app.query_params["description"] == "d2"
    assert status(describing, "d1") is DescriptionStatus.ACCEPTED
    assert "may be a name" in words(app)
    assert [read(one.value) for one in app.success] == ["Accepted as a caption: “A person pours tea.”"]
    app.button(key="description-undo").click().run()
    assert [read(one.value) for one in app.success] == ["Taken back. It waits for review again: “A woman pours tea.”"]
    assert app.query_params["description"] == "d1"
    assert status(describing, "d1") is DescriptionStatus.WAITING


def test_a_description_goes_back_with_words_and_never_without(open_page: Open, describing: Judging) -> None:
    app = open_page(description="d2")
    app.button(key="FormSubmitter:return-d2-Send back").click().run()
    assert ["Write what the author should change" in one.value for one in app.error] == [True]
    app.text_input(key="words-d2").set_value("No names, please.")
    app.button(key="FormSubmitter:return-d2-Send back").click().run()
    assert status(describing, "d2") is DescriptionStatus.RETURNED
    back = open_page(show="returned")
    assert "No names, please" in words(back)


def test_both_descriptions_of_the_same_seconds_stand_side_by_side_and_both_can_be_accepted(
    open_page: Open, describing: Judging
) -> None:
    app = open_page(description="d1")
    assert "Other descriptions of the same seconds" in words(app)
    assert "Somebody fills a cup." in words(app)
    app.button(key="FormSubmitter:accept-d1-Accept").click().run()
    again = open_page(description="d3")
    moment = describing.project.store.db.execute("SELECT moment_id FROM description WHERE moment_id").fetchone()[0]
    again.button(key=f"into-d3-{moment}").click().run()
    assert status(describing, "d3") is DescriptionStatus.ACCEPTED
    counted = describing.project.store.db.execute("SELECT count(*) FROM caption WHERE moment_id = ?", [moment])
    assert counted.fetchone()[0] == 2


def test_what_somebody_did_meanwhile_is_told_and_nothing_is_done(open_page: Open, describing: Judging) -> None:
    app = open_page(description="d1")
    accept_description(describing.project, describing.lead, "d1", seen=1, now=NOW)
    app.button(key="FormSubmitter:accept-d1-Accept").click().run()
    assert ["You accepted this description" in one.value for one in app.error] == [True]


def test_the_list_is_narrowed_by_the_address_and_says_when_it_is_empty(open_page: Open, describing: Judging) -> None:
    assert "1 of 3" in words(open_page())
    assert "1 of 1" in words(open_page(q="boris cup", show="all"))
    assert "matches your search" in words(open_page(q="elephant"))
    assert "No description is accepted yet." in words(open_page(show="accepted"))


def test_a_lead_opens_describing_for_people_and_closes_it(open_page: Open, describing: Judging) -> None:
    app = open_page()
    anna = describing.annotators[0]
    app.multiselect(key="describing_people").set_value([anna.annotator_id])
    app.number_input(key="describing_count").set_value(2.5)
    app.button(key="FormSubmitter:describing-choice-Save").click().run()
    assert ["whole number" in one.value for one in app.error] == [True]
    app.selectbox(key="describing_per").set_value("minute of video")
    app.button(key="FormSubmitter:describing-choice-Save").click().run()
    chosen = opening.describing_choice(describing.project, describing.lead)
    assert (chosen.open, chosen.people, chosen.per_minute, chosen.videos) == (True, (anna.annotator_id,), 2.5, None)
    app.button(key="FormSubmitter:describing-choice-Close").click().run()
    assert not opening.may_describe(describing.project, anna)
    assert "closed" in words(app)


def test_of_very_many_videos_the_names_are_pasted(
    open_page: Open, describing: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describing_choice, "OFFERED", 5)
    app = open_page()
    app.text_area(key="describing_videos").set_value(" v3 \n\nv1\nv3\nv77")
    app.button(key="FormSubmitter:describing-choice-Save").click().run()
    assert ["the project has no video v77" in read(one.value) for one in app.error] == [True]
    app.text_area(key="describing_videos").set_value(" v3 \n\nv1\nv3")
    app.button(key="FormSubmitter:describing-choice-Save").click().run()
    assert opening.describing_choice(describing.project, describing.lead).videos == ("v1", "v3")


def test_a_lead_rewords_the_guideline_for_describers(open_page: Open, describing: Judging) -> None:
    app = open_page()
    app.text_area(key="describing-words-1").set_value("Mark one thing.\nNo names.")
    app.text_input(key="describing-words-1-reason").set_value("shorter")
    next(one for one in app.button if one.label == "Save as version 2").click().run()
    assert describing_guideline(describing.project, describing.lead).text == "Mark one thing.\nNo names."
    assert "Version 2 saved." in words(app)
