"""An exam before anything is settled, in a real browser: from an empty campaign to work, and to judgements."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.desk.clips import clip_for
from backend.campaign.desk.exchange import exam_act, exchange
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.qualification.exam.answer_key import exam_items, explain_exam_item
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.ids import PairKey
from hands import page_is_done, pair_on_show, press, press_until, saved
from recorder import Recorder
from support import have_read, person_of

pytestmark = [pytest.mark.long, pytest.mark.browser]
LEAD, ANNOTATORS, PASSWORD = demo_people()
NEW = "Nova"
ITEMS = 6
WHY = "qqwhy the grade is right"
Enter = Callable[..., Page]


def prepare(project: Project) -> None:
    """The app over a demo that nobody has judged, and somebody who has only read the guideline."""
    add_person_with_password(project, OPERATOR, NEW, Role.ANNOTATOR, PASSWORD, now=time.time())
    have_read(project)


def person(server: AppServer, name: str) -> int:
    return int(server.rows("SELECT annotator_id FROM annotator WHERE name = ?", name)[0][0])


def begin(page: Page) -> None:
    """From the first page that a newcomer sees to the first clip of the exam."""
    expect(page.get_by_role("heading", name="The exam comes first")).to_be_visible()
    expect(page.locator(".empty > p")).to_contain_text("your lead annotator may let these grades count later")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("progress")).to_have_text(f"Exam, 1 of {ITEMS}")
    expect(page.locator(".counts")).to_have_text("none of this counts as a judgement yet")


def right(server: AppServer, project: Project, me: Person, item: str) -> int:
    """What is right for an item, as these tests have it: 4 of every other pair of the exam, 0 of the rest.

    The pair is found by the moment that is cut for the item.
    """
    job = clip_for(project, me, PairKey(item))
    asked = server.rows(
        "SELECT m.start_s, v.sha256 FROM exam_item i JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) WHERE i.exam_id = (SELECT max(exam_id) FROM exam) ORDER BY v.sha256, m.start_s",
    )
    return 0 if asked.index((job.start_s, job.identity)) % 2 else 4


def takes_elsewhere(server: AppServer, project: Project, name: str) -> None:
    """Somebody takes the whole exam in a browser of their own, and gives what is right."""
    me = person_of(project, name)
    desk = exam_act(project, me, ExamAct.START, now=time.time())
    while desk.items:
        item = desk.items[0].pair
        event = GradeEvent(item, right(server, project, me, item), f"{name} {item}", 1500)
        _, desk = exchange(project, me, [event], [], now=time.time())
    desk = exam_act(project, me, ExamAct.HAND_IN, now=time.time())
    assert desk.exam is not None
    assert desk.exam.phase == "waiting"


def asks_again(page: Page) -> None:
    """What the page does by itself every few seconds while it has no clip, or when a connection is back."""
    page.evaluate("window.dispatchEvent(new Event('online'))")


def test_newcomers_take_the_round_and_one_fails_learns_retakes_and_goes_to_work(
    enter: Enter, server: AppServer
) -> None:
    name, project = NEW, open_project(server.project)
    lead = enter(LEAD, url=f"{server.url}/exam")
    lead.get_by_text("Median of all annotators who finish").click()
    lead.locator(".st-key-exam_queries input").fill("2")
    lead.locator(".st-key-exam_pairs input").fill("3")
    no_serious_finding(lead)
    lead.get_by_role("button", name="Preview").click()
    lead.get_by_role("button", name="Start exam").click()
    expect(lead.get_by_text("Handed in: nobody.")).to_be_visible()
    asked = [row[0] for row in server.rows("SELECT pair_id FROM exam_item")]
    assert len(asked) == ITEMS
    reviewer, me = person_of(project, LEAD), person_of(project, name)
    for item in exam_items(project, OPERATOR):
        explain_exam_item(project, reviewer, item.item_id, WHY, now=time.time())

    # Three newcomers take it; this one is as wrong as can be about half of it.
    recorder = Recorder(server.port)
    page = enter(name, own=True, url=recorder.url)
    begin(page)
    for nth in range(ITEMS):
        expect(page.get_by_test_id("progress")).to_have_text(f"Exam, {nth + 1} of {ITEMS}")
        key = right(server, project, me, pair_on_show(page))
        press(page, str(key if nth % 2 else 4 - key))
    takes_elsewhere(server, project, ANNOTATORS[1])
    saved(page)
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="You have handed in the exam")).to_be_visible()
    expect(page.locator(".empty [data-do='undo']")).to_be_disabled()
    expect(page.locator(".empty [data-do='exam']")).to_be_hidden()
    takes_elsewhere(server, project, ANNOTATORS[2])
    no_serious_finding(page)
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_text("open Grade later for your result")).to_be_visible()
    page.get_by_role("link", name="Back to grading").click()
    expect(page.get_by_role("heading", name="You have handed in the exam")).to_be_visible()
    asks_again(page)
    page_is_done(page)

    told = b"".join(recorder.received()).lower()
    assert WHY.encode() not in told, "an explanation reached the browser before the key was there"
    assert WHY.encode("utf-16-le") not in told
    before = recorder.desks()
    assert "waiting" in {desk["exam"]["phase"] for desk in before}
    for desk in before:
        assert (desk["exam"]["result"], desk["exam"]["missed"]) == (None, [])
        assert {item["grade"] for item in desk["items"]} <= {None}
        if desk["exam"]["phase"] == "waiting":
            assert (desk["items"], desk["previous"]) == ([], None)

    # The lead closes the round; whoever waits goes on by itself.
    lead.reload()
    expect(lead.get_by_text(f"Handed in: 3 ({', '.join(sorted([name, *ANNOTATORS[1:3]]))}).")).to_be_visible()
    no_serious_finding(lead)
    page_is_done(lead)
    lead.get_by_text("Close the exam", exact=True).click()
    page_is_done(lead)
    fixed = lead.get_by_text("Answer key fixed: 3 × 0, 3 × 4. 3 people finished so far.")
    press_until(lead.get_by_role("button", name="Fix the answer key"), fixed)
    asks_again(page)
    expect(page.get_by_role("heading", name="You did not pass the exam")).to_be_visible()
    expect(page.locator(".empty > p")).to_contain_text(f"3 of your {ITEMS} grades (50 %) are more than one away")
    page.keyboard.press("Enter")
    for nth in range(3):
        expect(page.get_by_test_id("progress")).to_have_text(f"Exam, look again: {nth + 1} of 3")
        key = right(server, project, me, pair_on_show(page))
        expect(page.locator(".missed b")).to_have_text(f"You gave {4 - key}. Right is {key}.")
        expect(page.locator(".missed span").first).to_have_text(WHY)
        press(page, str(key))
    expect(page.locator(".empty > p")).to_contain_text("Your lead annotator sees it")
    expect(page.locator(".empty [data-do='undo']")).to_be_disabled()
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_text(re.compile(rf"Attempt 1, .*: failed, missed 3 of {ITEMS}"))).to_be_visible()
    no_serious_finding(page)
    page.get_by_role("link", name="Back to grading").click()

    # The lead sees why, and grants a retake.
    row = lead.locator(f".st-key-exam-person-{person(server, name)}")
    lead.reload()
    row.get_by_text(re.compile("Attempt 1, ")).click()
    expect(row.locator("table").last.locator("tr")).to_have_count(4)  # three, and the labels
    expect(row.get_by_text(WHY).first).to_be_visible()
    row.get_by_role("button", name="Retake").click()
    expect(row.get_by_text("not started")).to_be_visible()
    lead.get_by_role("tab", name="Results").click()
    expect(lead.get_by_text("Missed at first", exact=True)).to_be_visible()
    expect(lead.locator("[data-testid='stVegaLiteChart']:visible")).to_have_count(3)
    no_serious_finding(lead)
    asks_again(page)
    expect(page.get_by_role("heading", name="The exam, attempt 2")).to_be_visible()
    page.get_by_role("button", name="Begin the exam").click()
    for _ in range(ITEMS):
        press(page, str(right(server, project, me, pair_on_show(page))))
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="You passed the exam")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^\d+ of \d+$"))
    on_show = server.rows("SELECT pair_id FROM pair WHERE pair_key = ?", pair_on_show(page))[0][0]
    assert on_show not in asked
    recorder.close()

    # The first answers count once the lead says so: two of each pair, and never those of the retake.
    lead.get_by_role("tab", name="Change or end").click()
    lead.get_by_role("button", name="Count the answers").click()
    lead.get_by_role("button", name="Count them as judgements").click()
    expect(lead.get_by_text("12 answers for 6 pairs now count as judgements: 4 from each of 3 people.")).to_be_visible()
    given = server.rows("SELECT pair_id, annotator_id, grade, event_key FROM judgement ORDER BY pair_id")
    assert sorted(pair for pair, *_ in given) == sorted(2 * asked)
    first = (
        "SELECT i.pair_id, t.annotator_id, n.grade FROM exam_answer n JOIN exam_attempt t USING (attempt_id) "
        "JOIN exam_item i USING (item_id) WHERE t.number = 1 AND n.again = 0"
    )
    assert {(pair, who, grade) for pair, who, grade, _ in given} <= set(server.rows(first))
    assert all(key.startswith("exam:") for *_, key in given)
