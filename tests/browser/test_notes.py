"""A note with a grade from the annotator's keyboard to the lead and back, and a pause, in real browsers."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.judging.model import CORRECTION_S
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey
from hands import pair_on_show, press, saved
from support import grade_all

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, _ = demo_people()
NOTE = "Is <b>that</b> *a* cup :smile: -> 3?"
REPLY = "Yes: $a$ cup <i>it</i> is."
Enter = Callable[..., Page]


def settle(server: AppServer, pair: str) -> None:
    """Somebody else grades the pair alike."""
    project = open_project(server.project)
    grade_all(project, ANNOTATORS[1], {PairKey(pair): 3}, now=time.time())


def let_time_pass(server: AppServer, seconds: float) -> None:
    """Everything that was graded was so much earlier; the record cannot be changed otherwise."""
    ((rule,),) = server.rows("SELECT sql FROM sqlite_master WHERE name = 'judgement_no_update'")
    server.rows("DROP TRIGGER judgement_no_update")
    server.rows("UPDATE judgement SET graded_at = graded_at - ?", seconds)
    server.rows(rule)


@pytest.mark.long
def test_a_note_reaches_the_lead_and_the_reply_its_author_once_the_pair_is_settled(
    enter: Enter, server: AppServer
) -> None:
    page = enter(ANNOTATORS[0])
    pair = pair_on_show(page)
    query = page.get_by_test_id("query").inner_text()
    page.keyboard.press("n")
    page.keyboard.type(NOTE)
    page.keyboard.press("Enter")
    press(page, 3)
    saved(page)

    lead = enter(LEAD, url=f"{server.url}/disagreements")
    lead.get_by_role("radio", name="Notes 1").click()
    card = lead.locator(f".st-key-card-{pair}")
    expect(card.get_by_text(f"{ANNOTATORS[0]} wrote with 3: “{NOTE}”")).to_be_visible()
    no_serious_finding(lead)
    card.get_by_label("Your reply").fill(REPLY)
    card.get_by_role("button", name="Reply", exact=True).click()
    expect(card.get_by_text(f"“{REPLY}”")).to_be_visible()
    expect(lead.get_by_role("radio", name="Notes 0")).to_be_visible()

    new = page.get_by_role("link", name="1 new reply")
    for step in (lambda: None, lambda: settle(server, pair)):
        step()
        press(page, 3)
        saved(page)
        expect(new).to_have_count(0)
        assert REPLY not in page.content()
    let_time_pass(server, CORRECTION_S + 60)
    press(page, 3)
    saved(page)
    new.click()
    replied = page.locator("[class*=st-key-my-reply-]")
    expect(replied).to_contain_text(query)
    expect(replied).to_contain_text(f"You wrote with 3: “{NOTE}”")
    expect(replied).to_contain_text(f"“{REPLY}”")
    expect(page.get_by_test_id("stMain")).not_to_contain_text(ANNOTATORS[1])
    expect(page.get_by_test_id("stMain").get_by_text(LEAD, exact=True)).to_have_count(0)
    no_serious_finding(page)
    page.get_by_role("link", name="Back to grading").click()
    pair_on_show(page)
    expect(new).to_have_count(0)


def test_a_trial_round_is_taken_before_work_and_read_by_the_lead(enter: Enter, server: AppServer) -> None:
    lead = enter(LEAD, url=f"{server.url}/exam")
    lead.get_by_text("Begin a trial round", exact=True).click()
    lead.get_by_label("Top pairs of each").fill("2")
    lead.locator(".st-key-trial_count").get_by_label("Queries").fill("1")
    lead.get_by_role("button", name="Begin the trial round").click()
    expect(lead.get_by_text("The trial round asks 2 pairs of 1 query.")).to_be_visible()

    page = enter(ANNOTATORS[2])
    expect(page.get_by_role("heading", name="A trial round comes first")).to_be_visible()
    page.keyboard.press("Enter")
    pair_on_show(page)
    expect(page.get_by_test_id("progress")).to_have_text("Trial round, 1 of 2")
    page.keyboard.press("s")
    expect(page.get_by_text("The trial round has no skip")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.type(NOTE)
    page.keyboard.press("Enter")
    press(page, 4)
    press(page, 0)
    expect(page.get_by_role("heading", name="All clips of the trial round have a grade")).to_be_visible()
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(page.get_by_label("Note", exact=True)).to_have_value(NOTE)
    page.keyboard.press("Escape")
    saved(page)
    page.keyboard.press("Enter")
    pair_on_show(page)
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^1 of \d+$"))  # work, no trial any more

    lead.reload()
    expect(lead.get_by_role("cell", name=NOTE)).to_be_visible()
    expect(lead.get_by_role("row", name=f"{ANNOTATORS[2]} 2 of 2 yes")).to_be_visible()
    no_serious_finding(lead)
    lead.get_by_role("button", name="End the trial round").click()
    expect(lead.get_by_text("over since")).to_be_visible()
