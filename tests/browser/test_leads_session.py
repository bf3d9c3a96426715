"""A lead at work in a real browser: a session that ends in the middle, addresses that lead nowhere, another lead."""

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer, sign_in
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import Role
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey
from hands import page_is_done
from support import person_of

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, PASSWORD = demo_people()
REASON = "She puts the cup down; *twice*."
Enter = Callable[..., Page]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path], serve: Callable[[Path], AppServer]
) -> AppServer:
    """The app over the demo project with simulated judgements, so that there is something to decide."""
    return serve(demo(tmp_path_factory.mktemp("leads") / "project", judged=True))


def rows(server: AppServer, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(server.project / "reelrank.db", timeout=30)) as db:
        found = db.execute(sql, values).fetchall()
        db.commit()
        return found


def end_sessions(server: AppServer, name: str) -> None:
    rows(server, "DELETE FROM session WHERE annotator_id = (SELECT annotator_id FROM annotator WHERE name = ?)", name)


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
    found = rows(server, "SELECT pair_key FROM pair JOIN consensus USING (pair_id) WHERE verdict = 'discarded'")
    discarded = {str(key) for (key,) in found}
    page = enter(LEAD, url=f"{server.url}/disagreements")
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
    before = rows(server, "SELECT count(*) FROM adjudication")
    end_sessions(server, LEAD)
    fill(page, key, 3, REASON)
    of_the_pair = page.locator(f".st-key-card-{key}")
    of_the_pair.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible()
    assert rows(server, "SELECT count(*) FROM adjudication") == before
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, LEAD, PASSWORD)
    expect(page).to_have_url(f"{server.url}/disagreements?show=discarded&case={key}")
    expect(page.get_by_role("radio", name=re.compile("^Discarded"))).to_be_checked()
    expect(of_the_pair.get_by_label("Reason")).to_have_value(REASON)
    expect(of_the_pair.get_by_role("radio", name=re.compile("^3 "))).to_be_checked()
    expect(of_the_pair).to_contain_text("You were signed out, so this was not done")
    of_the_pair.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("Decided: relevance 3.")).to_be_visible()
    assert rows(server, "SELECT relevance, reason FROM adjudication ORDER BY adjudication_id DESC LIMIT 1") == [
        (3, REASON)
    ]


@pytest.mark.long
def test_a_card_that_another_lead_decided_stays_with_what_was_typed_also_over_a_sign_in(
    enter: Enter, server: AppServer
) -> None:
    project = open_project(server.project)
    mine = person_of(project, LEAD)
    add_person_with_password(project, mine, "Max", Role.LEAD, PASSWORD, now=time.time())
    other = person_of(project, "Max")
    page = enter(LEAD, url=f"{server.url}/disagreements")
    key, _ = card(page)
    fill(page, key, 4, REASON)
    adjudicate(project, other, PairKey(key), 1, "Only her *coat* is seen.", now=time.time() - 200)
    of_the_pair = page.locator(f".st-key-card-{key}")
    of_the_pair.get_by_role("button", name="Decide").click()
    told = "Max decided this pair 3 minutes ago: relevance 1 (“Only her *coat* is seen.”). Decide again"
    expect(of_the_pair).to_contain_text(told)
    end_sessions(server, LEAD)
    of_the_pair.get_by_role("button", name="Decide").click()
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, LEAD, PASSWORD)
    expect(of_the_pair.get_by_label("Reason")).to_have_value(REASON)
    of_the_pair.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("Decided: relevance 4.")).to_be_visible()
    page.get_by_role("radio", name=re.compile("^Decided")).click()
    page.locator(f".rr-list tr[data-opens='{key}']").click()
    decided = of_the_pair.locator(".rr-decided tr")
    expect(decided).to_have_count(3)
    expect(decided.nth(1)).to_contain_text(re.compile(r"^Max1Only her \*coat\* is seen\..* · replaced$"))
    expect(decided.nth(2)).to_contain_text(f"{LEAD}4{REASON}")


@pytest.mark.long
def test_what_was_typed_is_shown_to_nobody_else_at_the_same_computer(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/people")
    page.get_by_label("Name").fill("Somebody who is not announced yet")
    end_sessions(server, LEAD)
    page.get_by_role("button", name="Add and invite").click()
    expect(page.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible()
    rows(server, "UPDATE annotator SET role = 'lead' WHERE name = ?", ANNOTATORS[0])
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, ANNOTATORS[0], PASSWORD)
    expect(page).to_have_url(f"{server.url}/people")
    expect(page.get_by_label("Name")).to_have_value("")
    rows(server, "UPDATE annotator SET role = 'annotator' WHERE name = ?", ANNOTATORS[0])
    page.goto(server.url)
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{server.url}/people")
    sign_in(page, LEAD, PASSWORD)
    expect(page.get_by_label("Name")).to_have_value("Somebody who is not announced yet")
    page.reload()
    expect(page.get_by_label("Name")).to_have_value("")


@pytest.mark.long
def test_the_way_back_keeps_the_whole_address(enter: Enter, server: AppServer) -> None:
    [(query,)] = rows(server, "SELECT query_id FROM query WHERE split = 'val' ORDER BY position LIMIT 1 OFFSET 2")
    page = enter(LEAD, url=f"{server.url}/queries?q=a&query={query}")
    heading = page.get_by_role("heading", level=3).first
    expect(heading).to_be_visible()
    asked = heading.inner_text()
    end_sessions(server, LEAD)
    page.locator(".rr-candidates").get_by_role("link", name="Rank 1", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, LEAD, PASSWORD)
    expect(page).to_have_url(f"{server.url}/queries?q=a&query={query}&pair=1")
    expect(page.get_by_role("dialog", name="Candidate")).to_contain_text(asked)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name=asked)).to_be_visible()


@pytest.mark.long
def test_an_unknown_address_gives_a_page_of_our_own_with_a_way_on_and_the_sign_in_form_leads_on(
    open_page: Callable[..., Page], server: AppServer
) -> None:
    stranger = open_page()
    answer = stranger.goto(f"{server.url}/nonsense")
    assert answer is not None
    assert answer.status == 404
    expect(stranger.get_by_role("heading", name="No such page")).to_be_visible()
    stranger.get_by_role("button", name="Sign in").click()
    sign_in(stranger, LEAD, PASSWORD)
    expect(stranger.get_by_role("button", name="Sign out")).to_be_visible()
    answer = stranger.goto(f"{server.url}/queries/nonsense")
    assert answer is not None
    assert answer.status == 404
    expect(stranger.get_by_text("/queries/nonsense")).to_be_visible()
    stranger.get_by_role("button", name="Back to the project").click()
    expect(stranger.get_by_role("heading", name="Queries")).to_be_visible()

    # Who is signed in is led on from the sign-in form.
    stranger.goto(f"{server.url}/session/sign-in?next=/release")
    expect(stranger).to_have_url(f"{server.url}/release")
    expect(stranger.get_by_role("heading", name="Release", exact=True)).to_be_visible()
    stranger.goto(f"{server.url}/session/sign-in")
    expect(stranger.get_by_role("heading", name="Queries")).to_be_visible()


@pytest.mark.long
def test_a_lead_looks_behind_a_figure_of_somebody_by_keyboard(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/people")
    page.get_by_role("button", name="Simulated annotator 1").press("Enter")
    expect(page.get_by_role("heading", name="Simulated annotator 1")).to_be_visible()
    bias = page.locator(".st-key-figure-bias")
    expect(bias).to_contain_text("than the others on the same pairs, over")
    bias.get_by_role("button", name="Look at it").press("Enter")
    expect(page.get_by_role("heading", name="Bias", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/people\?who=\d+&flag=bias$"))
    page_is_done(page)
    clip = page.locator("[class*='st-key-card-'] video").first
    clip.scroll_into_view_if_needed()
    expect(clip).to_have_js_property("paused", False)
    no_serious_finding(page)
    page.get_by_role("button", name="All people").press("Enter")
    expect(page.get_by_role("heading", name="Add a person")).to_be_visible()
