"""A lead works through the inbox on Progress: what waits comes first, the newest on top, each with its button."""

import secrets
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import passes_axe
from backend.campaign.demo import demo_people
from backend.campaign.desk.exchange import record_grades, record_skips
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.model import PairReview
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.jobs import begin_job, end_job
from backend.campaign.setup.serving.model import JobKind, JobOutcome, JobState
from backend.core.messages import said
from support import have_read, person_of, sit

pytestmark = pytest.mark.long

LEAD, (ANA, BEN, *_), _ = demo_people()
MAIN = "[data-testid=stMain]"
NOTE = "Is a mug a cup?"


def pairs_of(project: Project) -> list[PairReview]:
    """The pairs of the first query."""
    return query_pairs(project, OPERATOR, list_queries(project, OPERATOR)[0].query_id)


def prepare(project: Project) -> None:
    """Ben reported a clip ten minutes ago; a release failed after that."""
    have_read(project)
    now, ben, lead = time.time(), person_of(project, BEN), person_of(project, LEAD)
    pair = pairs_of(project)[0].pair
    sit(project, ben, [pair], now=now - 600)
    record_skips(project, ben, [SkipEvent(pair, SkipKind.BROKEN_CLIP, "all black", "k1")], now=now - 600)
    job = begin_job(project, lead, JobKind.RELEASE, "", said("Making a release"), {}, now=now - 300)
    assert job
    end_job(project, job, JobState.FAILED, JobOutcome(), now=now - 290)


def write_note(project: Project) -> None:
    """Ana grades a pair, with a note."""
    ana, pair = person_of(project, ANA), pairs_of(project)[1].pair
    sit(project, ana, [pair], now=time.time())
    record_grades(project, ana, [GradeEvent(pair, 2, secrets.token_hex(8), 2000, 2000, note=NOTE)], now=time.time())


def test_a_lead_works_through_the_inbox(enter: Callable[..., Page], server: AppServer) -> None:
    project = open_project(server.project)
    lead = enter(LEAD, own=True, url=f"{server.url}/progress")
    rows = lead.locator(".st-key-inbox li > span")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("Making a release failed.")
    expect(rows.nth(1)).to_contain_text("Ben reported a clip as broken: “all black”")
    expect(rows.nth(1)).to_be_in_viewport()
    passes_axe(lead, MAIN)

    # What is done leaves the list, and what follows from it stands on top.
    lead.get_by_role("button", name="Dismiss").click()
    expect(rows).to_have_count(1)
    lead.get_by_role("button", name="Block the clip").click()
    expect(rows.nth(0)).to_contain_text("blocked: ")
    expect(rows).to_have_count(1)

    # A note that comes in while the page is open is read there, and leads to its pair.
    lead.clock.install()
    write_note(project)
    lead.clock.fast_forward(20_000)
    expect(rows.nth(0)).to_contain_text("1 note has no reply.")
    expect(rows.nth(0)).to_contain_text(f"“{NOTE}” · Ana")
    lead.locator(".st-key-inbox").get_by_role("link", name="Reply").click()
    note = lead.get_by_text(f"wrote with 2: “{NOTE}”")
    expect(note).to_be_in_viewport()
    above, clip = note.bounding_box(), lead.locator("video").first.bounding_box()
    assert above
    assert clip
    assert above["y"] < clip["y"], "the note comes first"
    lead.get_by_label("Your reply").fill("Yes.")
    lead.get_by_role("button", name="Reply", exact=True).click()
    expect(lead.get_by_text("replied, ")).to_be_visible()


def test_the_inbox_on_a_phone_in_the_dark(enter: Callable[..., Page], server: AppServer) -> None:
    phone = enter(
        LEAD, own=True, url=f"{server.url}/progress", viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    expect(phone.locator(".st-key-inbox li").first).to_be_in_viewport()
    expect(phone.get_by_role("heading", name="Judgements a day")).to_be_attached()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    passes_axe(phone, MAIN)
