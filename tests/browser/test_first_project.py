"""From an empty folder to the first lead, in browsers, and on to a rate that is paid."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import passes_axe

PASSWORD = "a good long password"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AppServer]:
    """A server over a folder that does not exist."""
    found = AppServer(tmp_path / "kitchen", tmp_path / "server.log")
    found.start()
    yield found
    found.stop()


def fill(page: Page, name: str) -> None:
    page.get_by_label("Name of the project").fill("Kitchen scenes")
    page.get_by_label("Scale of grades").select_option(label="Matches, or does not")
    page.get_by_label("Sentence encoder").select_option(label="MiniLM (works offline)")
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)


def test_from_an_empty_folder_to_the_first_lead_and_their_rate(
    server: AppServer, open_page: Callable[..., Page]
) -> None:
    lea, eve = open_page(), open_page()
    lea.goto(server.url)
    expect(lea.get_by_role("heading", name="No project yet")).to_be_visible()
    link = server.new_project_link()
    assert link.startswith(f"{server.url}/session/new-project/")
    for page, name in ((lea, "Lea"), (eve, "Eve")):
        page.goto(link)
        fill(page, name)
    passes_axe(lea)
    lea.get_by_role("button", name="Create project").click()
    expect(lea.get_by_role("heading", name="Set up", exact=True)).to_be_visible()
    expect(lea.locator(".rr-project")).to_have_text("Kitchen scenes")
    eve.get_by_role("button", name="Create project").click()
    expect(eve.get_by_role("alert")).to_contain_text("This link was used")
    eve.get_by_role("button", name="Sign in").click()
    expect(eve).to_have_url(re.compile("/session/sign-in$"))
    assert server.rows("SELECT name, role FROM annotator") == [("Lea", "lead")]

    lea.goto(f"{server.url}/hours")
    expect(lea.get_by_text("No hourly rate set.").get_by_role("link", name="Settings")).to_have_attribute(
        "href", re.compile("/settings$")
    )
    lea.goto(f"{server.url}/settings")
    lea.get_by_label("Hourly rate", exact=True).fill("12.5")
    passes_axe(lea)
    lea.get_by_role("button", name="Save settings").click()
    expect(lea.get_by_text("Saved and in force: Hourly rate.")).to_be_visible()
    lea.goto(f"{server.url}/hours")
    expect(lea.get_by_text("12.5 USD an hour")).to_be_visible()

    server.kill()
    server.start()  # the folder has a project now: no link, and the lead signs in as everybody does
    lea.goto(server.url)
    expect(lea.get_by_role("heading", name="Set up", exact=True)).to_be_visible()
    assert server.log.read_text().count("/session/new-project/") == 1
