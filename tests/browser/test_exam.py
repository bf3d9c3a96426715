"""The exam in a real browser on the real server: from a new annotator to work, and to a retake; what is told when."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.desk.clips import clip_for
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam.answer_key import exam_items, explain_exam_item
from backend.campaign.qualification.exam.setting import end_exam, set_exam
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.ids import PairKey
from hands import page_is_done, pair_on_show, press, saved
from recorder import Recorder
from support import person_of

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, ANNOTATORS, _ = demo_people()
ITEMS = 6
WHY = "qqwhy the grade is right"
Enter = Callable[..., Page]


def prepare(project: Project) -> None:
    """The app over the judged demo, with an exam of two queries and three pairs each, every one explained."""
    set_exam(project, OPERATOR, queries=2, pairs=3, seed=2, most_missed=40, although="few pairs", now=time.time())
    lead = person_of(project, LEAD)
    for item in exam_items(project, OPERATOR):
        explain_exam_item(project, lead, item.item_id, f"{WHY} ({item.item_id})", now=time.time())


def person(server: AppServer, name: str) -> int:
    return int(server.rows("SELECT annotator_id FROM annotator WHERE name = ?", name)[0][0])


def right(server: AppServer, item: str, name: str) -> int:
    """The right grade of an item of somebody's exam, found by the moment that is cut for it."""
    project = open_project(server.project)
    me = person_of(project, name)
    job = clip_for(project, me, PairKey(item))
    found = server.rows(
        "SELECT i.right_grade FROM exam_item i JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) WHERE m.start_s = ? AND v.sha256 = ?",
        job.start_s,
        job.identity,
    )
    return int(found[0][0])


def look_again(page: Page) -> int:
    """Grade every missed item as it is told; how many there were."""
    expect(page.locator(".missed")).to_be_visible()
    total = int((page.get_by_test_id("progress").inner_text()).rsplit(" ", 1)[1])
    for nth in range(total):
        expect(page.get_by_test_id("progress")).to_have_text(f"Exam, look again: {nth + 1} of {total}")
        told = re.fullmatch(r"You gave ([0-4])\. Right is ([0-4])\.", page.locator(".missed b").inner_text())
        assert told is not None
        assert abs(int(told[1]) - int(told[2])) > 1
        expect(page.locator(".missed > span")).to_contain_text(WHY)
        press(page, told[2])
    return total


def test_a_new_annotator_passes_is_told_of_the_misses_and_goes_to_work(enter: Enter, server: AppServer) -> None:
    name = ANNOTATORS[0]
    recorder = Recorder(server.port)
    page = enter(name, url=recorder.url)
    expect(page.get_by_role("heading", name="The exam comes first")).to_be_visible()
    no_serious_finding(page)
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="How to grade")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("progress")).to_have_text(f"Exam, 1 of {ITEMS}")
    expect(page.locator(".counts")).to_have_text("none of this counts as a judgement")
    expect(page.get_by_role("button", name="Skip this clip")).to_be_hidden()
    pair_on_show(page)
    no_serious_finding(page)
    assert page.locator("video[data-active='true']").evaluate("video => video.videoWidth") > 0
    page.keyboard.press("s")
    expect(page.get_by_role("alert")).to_contain_text("The exam has no skip")
    page.get_by_role("button", name="Dismiss").click()

    # A grade is taken back, a page is loaded anew in the middle: the exam goes on where it was.
    first = pair_on_show(page)
    press(page, "0")
    press(page, "u")
    assert pair_on_show(page) == first
    press(page, "4")
    saved(page)
    page.reload()
    expect(page.get_by_test_id("progress")).to_have_text(f"Exam, 2 of {ITEMS}")
    press(page, "u")
    assert pair_on_show(page) == first
    page.keyboard.press("Escape")
    for nth in range(1, ITEMS):
        expect(page.get_by_test_id("progress")).to_have_text(f"Exam, {nth + 1} of {ITEMS}")
        press(page, str(right(server, pair_on_show(page), name)))
    expect(page.get_by_role("heading", name="All clips of the exam have a grade")).to_be_visible()
    press_undo = page.locator(".empty").get_by_role("button", name="Undo the last grade")
    press_undo.click()
    expect(page.get_by_test_id("progress")).to_have_text(f"Exam, {ITEMS} of {ITEMS}")
    pair_on_show(page)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_text("Every clip of the exam has a grade: open Grade to hand it in.")).to_be_visible()
    page.get_by_role("link", name="Back to grading").click()
    expect(page.get_by_role("button", name="Hand in")).to_be_visible()
    saved(page)
    page_is_done(page)  # what of the desk comes now is of the time before, too

    told = b"".join(recorder.received()).lower()
    assert WHY.encode() not in told, "an explanation reached the browser before the exam was handed in"
    assert WHY.encode("utf-16-le") not in told
    before = recorder.desks()
    assert len(before) > ITEMS
    for desk in before:
        assert desk["exam"]["result"] is None
        assert desk["exam"]["missed"] == []
        assert {key for item in desk["items"] for key in item} <= {
            *("pair", "query", "position", "total", "duration_s", "grade", "whole", "note")
        }
        assert {item["grade"] for item in desk["items"]} <= {None}

    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="You passed the exam")).to_be_visible()
    missed = int(page.locator(".figures dd").first.inner_text().split(" of ")[0])
    no_serious_finding(page)
    page.keyboard.press("Enter")
    if missed:
        pair_on_show(page)
        no_serious_finding(page)
        assert look_again(page) == missed
        assert WHY.encode() in b"".join(recorder.received())
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^\d+ of \d+$"))
    pair_on_show(page)
    me = person(server, name)
    assert server.rows("SELECT count(*) FROM judgement WHERE annotator_id = ?", me) == [(0,)]
    press(page, "2")
    saved(page)
    assert server.rows("SELECT grade FROM judgement WHERE annotator_id = ?", me) == [(2,)]
    recorder.close()


@pytest.mark.long
def test_an_exam_set_and_ended_in_the_middle_of_work_takes_no_clip_from_under_anybodys_eyes(
    enter: Enter, server: AppServer
) -> None:
    """The pair on show is graded, then the exam comes; ended while somebody answers, work goes on at once."""
    name, project = ANNOTATORS[3], open_project(server.project)
    end_exam(project, OPERATOR, now=time.time())
    page = enter(name)
    pair_on_show(page)
    set_exam(project, OPERATOR, queries=1, pairs=3, seed=5, although="few pairs", now=time.time())
    press(page, "1")
    saved(page)
    expect(page.get_by_test_id("progress")).not_to_contain_text("Exam")
    press(page, "2")
    expect(page.get_by_role("heading", name="The exam comes first")).to_be_visible()
    given = "SELECT grade FROM judgement WHERE annotator_id = ? ORDER BY judgement_id"
    assert server.rows(given, person(server, name)) == [(1,), (2,)]

    page.keyboard.press("Enter")
    expect(page.get_by_test_id("progress")).to_have_text("Exam, 1 of 3")
    pair_on_show(page)
    end_exam(project, OPERATOR, now=time.time())
    press(page, "3")
    expect(page.get_by_role("alert")).to_contain_text("this exam has ended")
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^\d+ of \d+$"))
    pair_on_show(page)
    assert server.rows(given, person(server, name)) == [(1,), (2,)]
