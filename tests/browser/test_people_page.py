"""The page People in a browser: one-time links stay until they are dismissed, and people are removed."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import passes_axe
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.sentence_encoder import init_project
from hands import page_is_done

pytestmark = pytest.mark.browser
LEAD, _, PASSWORD = demo_people()
MAIN = "[data-testid=stMain]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> AppServer:
    """The app over a project with nothing in it but a lead."""
    project = init_project(tmp_path_factory.mktemp("people") / "project", encoder="minilm")
    add_person_with_password(project, OPERATOR, LEAD, Role.LEAD, PASSWORD, now=time.time())
    return serve(project.folder)


def invite(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Add and invite").click()
    expect(page.get_by_text(f"Send this link to {name}")).to_be_in_viewport()


def test_links_stay_and_can_be_copied_and_people_are_removed(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/people")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page_is_done(page)
    invite(page, "Ana")
    invite(page, "Ben")
    links = [page.get_by_role("textbox", name=f"Link for {name}") for name in ("Ana", "Ben")]
    for link in links:
        expect(link).to_be_visible()
    assert links[0].input_value() != links[1].input_value()
    page.get_by_role("button", name="Copy link").first.click()  # the newest comes first
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == links[1].input_value()
    passes_axe(page, MAIN)
    page.get_by_role("button", name="Dismiss").first.click()
    expect(links[1]).to_be_hidden()
    expect(links[0]).to_be_visible()

    row = page.locator("[class*=st-key-person-]").filter(has_text="Ana")
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove Ana").click()
    expect(page.get_by_text("Ana is removed.")).to_be_visible()
    expect(row).to_have_count(0)
    assert server.rows("SELECT name FROM annotator ORDER BY 1") == [("Ben",), (LEAD,)]
