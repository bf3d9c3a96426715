"""A campaign of batches of ten on the real server, from the draw to the second batch."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs, take_back_queries
from backend.campaign.review.status import status_counts
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import open_project
from hands import press, saved
from support import grade_all

pytestmark = [pytest.mark.long, pytest.mark.browser]
LEAD, ANNOTATORS, _ = demo_people()


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path], serve: Callable[[Path], AppServer]
) -> AppServer:
    """The app over the demo, whose queries were taken back and drawn anew before anybody graded."""
    project = open_project(demo(tmp_path_factory.mktemp("small") / "project"))
    take_back_queries(project, OPERATOR, now=time.time())
    draw_queries(project, OPERATOR, val=1, test=0, seed=3, now=time.time())
    assert choose_candidates(project, OPERATOR, batch_size=10, now=time.time()).pairs == 10
    project.store.close()
    return serve(project.folder)


def test_ten_pairs_are_a_batch_and_their_last_two_speak_for_the_next(
    enter: Callable[..., Page], server: AppServer
) -> None:
    project = open_project(server.project)
    [query] = list_queries(project, OPERATOR)
    grades = {pair.pair: 4 if pair.rank >= 9 else 1 for pair in query_pairs(project, OPERATOR, query.query_id)}
    page = enter(ANNOTATORS[0])
    for number in range(1, 11):
        expect(page.get_by_test_id("progress")).to_have_text(f"{number} of 10")
        pair = page.get_by_test_id("player").get_attribute("data-pair") or ""
        assert press(page, grades[pair]) == pair  # type: ignore[index]
    saved(page)
    page.goto("about:blank")  # a desk that stays open takes the next batch by itself
    grade_all(project, ANNOTATORS[1], grades, now=time.time())
    lead = enter(LEAD, url=f"{server.url}/queries?query={query.query_id}")
    expect(lead.get_by_text("The rule: mean 4.0 of 2.0, 2 of 2 graded 3 or more")).to_be_visible()
    lead.get_by_role("button", name="Open batch 2").click()
    expect(lead.get_by_text("Batch 2 is open: 10 pairs went to the annotators.")).to_be_visible()
    expect(lead.get_by_role("button", name="Open batch 3")).to_be_disabled()
    assert status_counts(project, OPERATOR)["batches"] == {"1": 1, "2": 1}
    assert [pair.rank for pair in query_pairs(project, OPERATOR, query.query_id)] == list(range(1, 21))

    # A slip: back, declined, back again, and opened with all that the rule suggests, which is this one.
    _with_reason(lead, "Undo batch 2", "the wrong query")
    expect(lead.get_by_text("Batch 2 is taken back: 10 pairs went")).to_be_visible()
    _with_reason(lead, "Decline batch 2", "enough of it")
    expect(lead.get_by_text("declined batch 2, ")).to_contain_text("“enough of it”")
    _with_reason(lead, "Take that back", "not enough of it")
    expect(lead.get_by_role("button", name="Open batch 2")).to_be_enabled()
    lead.get_by_role("button", name="All queries").click()
    lead.get_by_role("button", name="Next batches").click()
    dialog = lead.get_by_role("dialog")
    expect(dialog.get_by_role("row", name="open 1 1 10", exact=True)).to_be_visible()
    no_serious_finding(lead)
    dialog.get_by_role("button", name="Open 1 batch").click()
    expect(lead.get_by_text("Open now: 1 batch, 10 pairs for the annotators.")).to_be_visible()
    expect(lead.get_by_text("val: 1 with two batches (of 1)")).to_be_visible()
    expect(dialog).to_have_count(0)
    page.goto(server.url)
    expect(page.get_by_test_id("progress")).to_have_text("1 of 10")


def _with_reason(page: Page, label: str, reason: str) -> None:
    """Press a button that asks for a reason, give one, and press the button below it."""
    page.get_by_role("button", name=label).click()
    asked = page.get_by_test_id("stPopoverBody")
    asked.get_by_role("textbox").fill(reason)
    asked.get_by_role("button", name=label).click()
