"""A lead at work in a real browser: a session that ends in the middle, addresses that lead nowhere, another lead."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer, sign_in
from backend.campaign.demo import demo_people
from hands import page_is_done

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, ANNOTATORS, PASSWORD = demo_people()
REASON = "She puts the cup down; *twice*."
Enter = Callable[..., Page]


def end_sessions(server: AppServer, name: str) -> None:
    server.rows("DELETE FROM session WHERE annotator_id = (SELECT annotator_id FROM annotator WHERE name = ?)", name)


def card(page: Page) -> tuple[str, object]:
    """The case on show: the key of its pair, and its form."""
    first = page.locator("[class*='st-key-card-']").first
    expect(first).to_be_visible()
    found = re.search(r"st-key-card-([\w-]+)", first.get_attribute("class") or "")
    assert found is not None
    return found[1], first


def fill(page: Page, key: str, relevance: int, reason: str) -> None:
    of_the_pair = page.locator(f".st-key-card-{key}")
    of_the_pair.get_by_role("radio", name=re.compile(f"^{relevance} ")).click()
    of_the_pair.get_by_label("Reason").fill(reason)


def test_a_session_that_ends_in_mid_work_leads_back_to_the_same_card_with_what_was_typed(
    enter: Enter, server: AppServer
) -> None:
    found = server.rows("SELECT pair_key FROM pair JOIN consensus USING (pair_id) WHERE verdict = 'discarded'")
    discarded = {str(key) for (key,) in found}
    page = enter(LEAD, url=f"{server.url}/disputes")
    listed = page.locator(".rr-list tr[data-opens]")
    page.get_by_role("radio", name=re.compile("^Discarded")).click()
    for pair in discarded:
        expect(page.locator(f".rr-list tr[data-opens='{pair}']")).to_be_visible()
    expect(listed).to_have_count(len(discarded))
    # Until then a case of the list before is on show; a run that comes after the session has ended shows none at all.
    expect(page).to_have_url(re.compile("show=discarded"))
    expect(page.locator(", ".join(f".st-key-card-{pair}" for pair in discarded))).to_be_visible()
    expect(page.locator("[class*='st-key-card-']")).to_have_count(1)
    page_is_done(page)
    key, _ = card(page)
    before = server.rows("SELECT count(*) FROM adjudication")
    end_sessions(server, LEAD)
    fill(page, key, 3, REASON)
    of_the_pair = page.locator(f".st-key-card-{key}")
    of_the_pair.get_by_role("button", name="Adjudicate").click()
    expect(page.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible()
    assert server.rows("SELECT count(*) FROM adjudication") == before
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, LEAD, PASSWORD)
    expect(page).to_have_url(f"{server.url}/disputes?show=discarded&case={key}")
    expect(page.get_by_role("radio", name=re.compile("^Discarded"))).to_be_checked()
    expect(of_the_pair.get_by_label("Reason")).to_have_value(REASON)
    expect(of_the_pair.get_by_role("radio", name=re.compile("^3 "))).to_be_checked()
    expect(of_the_pair).to_contain_text("You were signed out, so nothing was done")
    of_the_pair.get_by_role("button", name="Adjudicate").click()
    expect(page.get_by_text("Relevance 3 saved")).to_be_visible()
    assert server.rows("SELECT relevance, reason FROM adjudication ORDER BY adjudication_id DESC LIMIT 1") == [
        (3, REASON)
    ]


@pytest.mark.long
def test_what_was_typed_is_shown_to_nobody_else_at_the_same_computer(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/people")
    page.get_by_label("Name").fill("Somebody who is not announced yet")
    end_sessions(server, LEAD)
    page.get_by_role("button", name="Add and invite").click()
    expect(page.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible()
    server.rows("UPDATE annotator SET role = 'lead' WHERE name = ?", ANNOTATORS[0])
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, ANNOTATORS[0], PASSWORD)
    expect(page).to_have_url(f"{server.url}/people")
    expect(page.get_by_label("Name")).to_have_value("")
    server.rows("UPDATE annotator SET role = 'annotator' WHERE name = ?", ANNOTATORS[0])
    page.goto(server.url)
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{server.url}/people")
    sign_in(page, LEAD, PASSWORD)
    expect(page.get_by_label("Name")).to_have_value("Somebody who is not announced yet")
    page.reload()
    expect(page.get_by_label("Name")).to_have_value("")
