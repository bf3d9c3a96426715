"""The exam in a real browser on the real server: from a new annotator to work, and to a retake; what is told when."""

import json
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.desk.clips import clip_for
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam.answer_key import exam_items, explain_exam_item
from backend.campaign.qualification.exam.setting import end_exam, exam_held, set_exam
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey
from hands import page_is_done, pair_on_show, press, saved
from recorder import Recorder
from support import person_of

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, PASSWORD = demo_people()
ITEMS = 6
WHY = "qqwhy the grade is right"
Enter = Callable[..., Page]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path], serve: Callable[[Path], AppServer]
) -> AppServer:
    """The app over the judged demo, with an exam of two queries and three pairs each, every one explained."""
    project = open_project(demo(tmp_path_factory.mktemp("exam") / "project", judged=True))
    set_exam(project, OPERATOR, queries=2, pairs=3, seed=2, most_missed=40, although="few pairs", now=time.time())
    lead = person_of(project, LEAD)
    for item in exam_items(project, OPERATOR):
        explain_exam_item(project, lead, item.item_id, f"{WHY} ({item.item_id})", now=time.time())
    return serve(project.folder)


def rows(server: AppServer, sql: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(server.project / "reelrank.db")) as db:
        return db.execute(sql, values).fetchall()


def person(server: AppServer, name: str) -> int:
    return int(rows(server, "SELECT annotator_id FROM annotator WHERE name = ?", name)[0][0])


def right(server: AppServer, item: str, name: str) -> int:
    """The right grade of an item of somebody's exam, found by the moment that is cut for it."""
    project = open_project(server.project)
    me = person_of(project, name)
    job = clip_for(project, me, PairKey(item))
    found = rows(
        server,
        "SELECT i.right_grade FROM exam_item i JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) WHERE m.start_s = ? AND v.sha256 = ?",
        job.start_s,
        job.identity,
    )
    return int(found[0][0])


def answer_all(page: Page, server: AppServer, name: str, misses: int) -> None:
    """Grade every item, the first ones wrong by as much as can be."""
    for nth in range(ITEMS):
        expect(page.get_by_test_id("progress")).to_have_text(f"Exam, {nth + 1} of {ITEMS}")
        key = right(server, pair_on_show(page), name)
        press(page, str(key if nth >= misses else (4 if key <= 2 else 0)))
    saved(page)
    expect(page.get_by_role("heading", name="All clips of the exam have a grade")).to_be_visible()


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


def desks(recorder: Recorder) -> list[dict[str, Any]]:
    """Every desk among the bytes received, as it was sent."""
    found, decoder = [], json.JSONDecoder()
    for received in recorder.received():
        text = received.decode("utf-8", "replace")
        for start in (match.start() for match in re.finditer(r'\{"receipts":\[', text)):
            found.append(decoder.raw_decode(text, start)[0]["desk"])
    return found


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
    before = desks(recorder)
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
    assert rows(server, "SELECT count(*) FROM judgement WHERE annotator_id = ?", me) == [(0,)]
    press(page, "2")
    saved(page)
    assert rows(server, "SELECT grade FROM judgement WHERE annotator_id = ?", me) == [(2,)]
    recorder.close()


@pytest.mark.long
def test_the_exam_is_taken_on_a_phone_and_waits_while_the_server_is_away(enter: Enter, server: AppServer) -> None:
    name = ANNOTATORS[2]
    page = enter(name, viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark")
    page.get_by_role("button", name="Begin the exam").tap()
    pair_on_show(page)
    server.kill()
    page.locator("[data-grade='3']").first.tap()
    expect(page.get_by_test_id("saving")).to_have_text("offline: 1 grade kept")
    expect(page.get_by_test_id("progress")).to_have_text(f"Exam, 2 of {ITEMS}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    server.start()
    expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "0")
    given = "SELECT grade FROM exam_answer JOIN exam_attempt USING (attempt_id) WHERE annotator_id = ?"
    assert rows(server, given, person(server, name)) == [(3,)]


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
    assert rows(server, given, person(server, name)) == [(1,), (2,)]

    page.keyboard.press("Enter")
    expect(page.get_by_test_id("progress")).to_have_text("Exam, 1 of 3")
    pair_on_show(page)
    end_exam(project, OPERATOR, now=time.time())
    press(page, "3")
    expect(page.get_by_role("alert")).to_contain_text("this exam is not held any more")
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^\d+ of \d+$"))
    pair_on_show(page)
    assert rows(server, given, person(server, name)) == [(1,), (2,)]


@pytest.mark.long
def test_a_lead_looks_at_an_exam_before_it_is_held_and_says_why_it_is_held_all_the_same(
    enter: Enter, server: AppServer
) -> None:
    project = open_project(server.project)
    end_exam(project, OPERATOR, now=time.time())
    page = enter(LEAD, url=f"{server.url}/exam")
    for field, value in {"queries": "2", "pairs": "40", "most": "45"}.items():
        page.locator(f".st-key-exam_{field} input").fill(value)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Not held yet: look at it first")).to_be_visible()
    expect(page.get_by_text("Asked for 2 queries with 40 pairs each; there were only")).to_be_visible()
    passing = page.locator("table.rr-guesses tr", has_text="passes").filter(has_text="always")
    expect(passing.first).to_be_visible()
    clip = page.locator("video").first
    clip.scroll_into_view_if_needed()
    expect(clip).to_have_js_property("readyState", 4)
    no_serious_finding(page)
    assert exam_held(project, OPERATOR) is None
    page.get_by_role("button", name="Hold this exam").click()
    expect(page.get_by_text("give a reason why it is held all the same")).to_be_visible()
    assert exam_held(project, OPERATOR) is None
    page.get_by_label("Why hold it all the same?").fill("to learn from it")
    page.get_by_role("button", name="Hold this exam").click()
    expect(page.get_by_text("Held all the same: to learn from it")).to_be_visible()
    held = exam_held(project, OPERATOR)
    assert held is not None
    assert (held.queries, held.most_missed) == (2, 45)
