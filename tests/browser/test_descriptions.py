"""A lead reviews descriptions by keyboard: accept, edit, send back, undo; both of two about the same seconds."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.corpus.describing.model import DescribingChoice
from backend.campaign.corpus.describing.opening import choose_describing
from backend.campaign.corpus.describing.work import describe_exchange
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from describing import event
from hands import page_is_done
from support import person_of

pytestmark = pytest.mark.browser
LEAD, (ANA, BEN, *_), _ = demo_people()


def prepare(project: Project) -> None:
    """The demo, in which two people described three moments; two of them show the same seconds."""
    now = time.time() - 600
    choose_describing(project, OPERATOR, DescribingChoice(open=True), now=now)
    # Far from the moments that the demo has.
    said = {
        ANA: [("d1", "1", (0.04, 0.52), "Somebody reads by a lamp."), ("d2", "2", (0.04, 0.48), "Then Mona waves.")],
        BEN: [("d3", "1", (0.04, 0.48), "A person sits and reads a book.")],
    }
    for name, written in said.items():
        sent = [event(key, video=video, span=span, sentence=words) for key, video, span, words in written]
        assert not describe_exchange(project, person_of(project, name), sent, now=now).refused


def stands(server: AppServer) -> list[tuple[str, str, str | None]]:
    """How each description stands, and its caption."""
    return server.rows(
        "SELECT description_key, status, c.text FROM description LEFT JOIN caption c USING (caption_id) ORDER BY 1"
    )


def shows(page: Page, key: str) -> Locator:
    """The description is on show as a whole."""
    case = page.locator(f".st-key-card-{key}")
    expect(case).to_be_visible()
    page_is_done(page)
    return case


def test_a_lead_reviews_descriptions_by_keyboard(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/captions?part=descriptions")
    case = shows(page, "d1")
    expect(case.get_by_text("Other descriptions of the same seconds")).to_be_visible()
    expect(case.locator("video")).to_have_js_property("readyState", 4)
    no_serious_finding(page)

    # A letter in the sentence is a letter; outside it is a key.
    page.keyboard.press("e")
    expect(case.get_by_label("Sentence")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("A person at a table reads.")
    assert [one[1] for one in stands(server)] == ["waiting"] * 3
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    case = shows(page, "d2")
    assert stands(server)[0] == ("d1", "accepted", "A person at a table reads.")
    expect(case.get_by_text("may be a name")).to_be_visible()

    page.keyboard.press("w")
    page.keyboard.type("No names: say who it is.")
    page.keyboard.press("Enter")
    case = shows(page, "d3")
    assert stands(server)[1][:2] == ("d2", "returned")
    page.keyboard.press("u")
    shows(page, "d2")
    assert stands(server)[1][:2] == ("d2", "waiting")

    # The other one of the same seconds becomes another caption of the moment.
    page.keyboard.press("n")
    case = shows(page, "d3")
    case.get_by_role("button", name="Accept as another caption of").click()
    shows(page, "d2")
    assert [one[1] for one in stands(server)] == ["accepted", "waiting", "accepted"]
    assert server.rows("SELECT count(DISTINCT moment_id), count(*) FROM description WHERE moment_id") == [(1, 2)]
