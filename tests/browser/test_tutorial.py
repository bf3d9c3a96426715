"""The tutorial in a real browser on the real server: a newcomer by keyboard, a changed guideline, the lead's page."""

import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role, Scale
from backend.campaign.qualification.exam.results import exempt_from_exam
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.qualification.guideline.versions import note_guideline_seen, reword_guideline
from backend.campaign.setup.people.accounts import add_person_with_password, list_people
from backend.campaign.setup.project.folder import Project, open_project
from hands import page_is_done, pair_on_show, player, press, saved
from support import person_of

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, ANNOTATORS, PASSWORD = demo_people()
NEW = "Nova"
PRACTICE = 4
"""Those that the demo comes with: right are 4, 3, 1, 0."""
Enter = Callable[..., Page]


def prepare(project: Project) -> None:
    """The app over the judged demo with an exam, which somebody new has to take."""
    add_person_with_password(project, OPERATOR, NEW, Role.ANNOTATOR, PASSWORD, now=time.time())
    set_exam(
        project, OPERATOR, queries=1, pairs=2, seed=2, newcomers_only=True, although="two will do", now=time.time()
    )
    for row in list_people(project, OPERATOR):
        if row.person.name in ANNOTATORS:
            exempt_from_exam(project, OPERATOR, row.person.annotator_id, "of the demo", now=time.time())


def title(page: Page, words: str) -> None:
    expect(page.get_by_test_id("lesson-sheet").get_by_role("heading", name=words)).to_be_visible()


def told(page: Page) -> str:
    """What is told about the practice pair on show, once it is."""
    box = player(page).locator(".missed")
    expect(box.get_by_role("button", name="Next")).to_be_enabled()
    return box.inner_text()


def practise(page: Page, nth: int, key: int) -> str:
    expect(page.get_by_test_id("progress")).to_have_text(f"Practice, {nth} of {PRACTICE}")
    pair_on_show(page)
    page.keyboard.press(str(key))
    return told(page)


def test_a_newcomer_reads_practises_and_comes_to_the_exam_by_keyboard(enter: Enter, server: AppServer) -> None:
    page = enter(NEW)
    step = page.get_by_test_id("lesson-step")
    title(page, "How to grade")
    expect(step).to_have_text("Tutorial, 1 of 13")
    no_serious_finding(page)
    page.keyboard.press("Enter")
    title(page, "Grade 4")
    button = page.get_by_role("button", name="Next")
    places = [button.bounding_box()]
    expect(page.get_by_test_id("lesson-sheet")).to_contain_text("Every action matches, is easy to see")
    page.keyboard.press("ArrowRight")
    title(page, "Grade 3")
    page.keyboard.press("ArrowLeft")
    title(page, "Grade 4")
    for words in ("Grade 3", "Grade 2", "Grade 1", "Grade 0", "Before each grade: ask three questions", "Keep in mind"):
        page.keyboard.press("Enter")
        title(page, words)
        places.append(button.bounding_box())
    assert places == places[:1] * len(places), "no page moves the button"
    page.keyboard.press("Enter")

    pair = pair_on_show(page)
    page.keyboard.press("Enter")  # nothing is right before there is an answer
    assert pair_on_show(page) == pair
    assert "Wrong: you gave 0, and the right grade is 4." in practise(page, 1, 0)
    assert "opened in full view" in told(page)
    expect(player(page).locator("[data-right='true']")).to_have_attribute("data-grade", "4")
    no_serious_finding(page)
    page.reload()
    expect(page.get_by_test_id("progress")).to_have_text(f"Practice, 2 of {PRACTICE}")
    assert "Right: the grade is 3." in practise(page, 2, 3)
    page.keyboard.press("Enter")
    assert "Close enough: you gave 2, and the right grade is 1." in practise(page, 3, 2)
    page.keyboard.press("Enter")
    practise(page, 4, 0)
    page.keyboard.press("Enter")
    title(page, "That was the tutorial")
    expect(player(page)).to_have_attribute("data-gradable", "false")
    expect(page.get_by_test_id("lesson-sheet")).to_contain_text("3 of your 3 practice grades agree")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The exam comes first")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("progress")).to_have_text("Exam, 1 of 2")

    (me,) = server.rows("SELECT annotator_id FROM annotator WHERE name = ?", NEW)[0]
    given = "SELECT grade FROM practice_answer WHERE annotator_id = ? ORDER BY rowid"
    assert server.rows(given, me) == [(0,), (3,), (2,), (0,)]
    assert server.rows("SELECT count(*) FROM judgement WHERE annotator_id = ?", me) == [(0,)]
    assert server.rows("SELECT count(*) FROM exam_answer") == [(0,)]
    assert server.rows("SELECT version FROM guideline_seen WHERE annotator_id = ?", me) == [(1,)]

    page.goto(f"{server.url}/my-work")
    page.get_by_role("link", name="Tutorial").click()
    title(page, "How to grade")
    for _ in range(8):
        page.keyboard.press("Enter")
    assert "Right: the grade is 4." in practise(page, 1, 4)
    page.goto(server.url)
    expect(page.get_by_test_id("progress")).to_have_text("Exam, 1 of 2")


@pytest.mark.long
def test_a_changed_guideline_is_told_after_the_clip_on_show_and_once(enter: Enter, server: AppServer) -> None:
    page, project = enter(ANNOTATORS[0]), open_project(server.project)
    pair_on_show(page)
    lead = person_of(project, LEAD)
    grading = project.campaign.grading
    meanings = tuple(replace(one, label="Mostly") if one.grade == 3 else one for one in grading.scale.meanings)
    reword_guideline(project, lead, replace(grading, scale=Scale(meanings)), "Well was too wide.", now=time.time())
    first = press(page, 2)
    while not page.get_by_role("heading", name="The guideline changed").is_visible():
        if player(page).get_attribute("data-gradable") == "true":
            page.keyboard.press("2")
        page.wait_for_timeout(100)
    sheet = page.get_by_test_id("lesson-sheet")
    expect(sheet).to_contain_text("Well was too wide.")
    expect(sheet.locator("del")).to_have_text("Well")
    expect(sheet.locator("ins")).to_have_text("Mostly")
    no_serious_finding(page)
    graded = (
        "SELECT pair_key FROM judgement JOIN pair USING (pair_id) JOIN annotator USING (annotator_id) WHERE name = ?"
    )
    assert (first,) in server.rows(graded, ANNOTATORS[0])
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^\d+ of \d+$"))
    expect(player(page).get_by_role("button", name=re.compile("^Grade 3, Mostly"))).to_be_visible()
    press(page, 1)
    saved(page)
    page.reload()
    pair_on_show(page)
    page_is_done(page)


def test_a_lead_rewords_the_guideline_by_keyboard_beside_what_annotators_see(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/guideline")
    seen = page.get_by_label("The guideline as annotators see it")
    expect(seen).to_contain_text("Nothing that matters in the query can be seen.")
    page_is_done(page)
    no_serious_finding(page)
    page.get_by_label("Meaning").first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("All of it")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("Nothing is missing, nothing beside it.")
    page.keyboard.press("Tab")
    expect(seen).to_contain_text("Nothing is missing, nothing beside it.")
    reason = page.get_by_label("Reason for the change")
    reason.focus()
    page.keyboard.type("Shorter.")
    page.keyboard.press("Tab")
    page_is_done(page)
    save = page.get_by_role("button", name=re.compile("Save as version"))
    expect(save).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile(r"Version \d saved; 2 texts changed"))).to_be_visible()
    assert server.rows("SELECT detail FROM scale WHERE grade = 4") == [("Nothing is missing, nothing beside it.",)]
    page.get_by_role("tab", name="Versions").click()
    expect(page.locator(".rr-changes")).to_contain_text("Nothing is missing, nothing beside it.")
    page.get_by_role("tab", name="Tutorial").click()
    expect(page.locator("[class*='st-key-practice-'] video").first).to_be_visible()
    no_serious_finding(page)


def test_german_readers_read_german_words_and_no_answer_moves_what_they_look_at(
    enter: Enter, server: AppServer
) -> None:
    project, name = open_project(server.project), ANNOTATORS[2]
    grading = project.campaign.grading
    german = replace(grading, translations={"de": {grading.scale.label(4): "Genau getroffen"}})
    version, _ = reword_guideline(project, OPERATOR, german, "German too", now=time.time())
    note_guideline_seen(project, person_of(project, name), version, now=time.time())
    page = enter(name, own=True, url=f"{server.url}/my-work", viewport={"width": 390, "height": 844})
    page.context.add_cookies([{"name": "reelrank_language", "value": "de", "url": server.url}])
    page.goto(f"{server.url}/grade?tutorial")
    title(page, "Wie bewertet wird")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("lesson-sheet")).to_contain_text("Genau getroffen")
    for _ in range(7):
        page.keyboard.press("Enter")
    for key in (0, 3):  # wrong, and right
        pair_on_show(page)
        places = [player(page).locator(part) for part in (".stage", ".tools", ".grades")]
        before = [place.bounding_box() for place in places]
        page.keyboard.press(str(key))
        expect(player(page).locator(".missed").get_by_role("button", name="Weiter")).to_be_enabled()
        assert [place.bounding_box() for place in places] == before
        page.keyboard.press("Enter")
