"""The lead's pages at the size of TVR-Ranking, as a browser opens them: `make bench` prints the table.

A real server, a real Chromium, 96,483 judged pairs of 3,281 queries. There are no videos, so no frames are drawn. Never
fails on a time.
"""

import re
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from annotate_app.pages import PAGES, address
from app_server import AppServer
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from bench import campaign
from bench.tables import sized, table
from hands import until
from support import NOW

pytestmark = [pytest.mark.bench, pytest.mark.browser]

LEAD, _, PASSWORD = demo_people()
OPENINGS = sized(2, 5)
LIGHT, OTHER = "Guideline", "Gold"
"""Where somebody is before they open a page: one that costs little, and another one for that page itself."""
HERE = """([title, part]) =>
    [...document.querySelectorAll("h1")].some((heading) => heading.innerText.trim() === title)
    && document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning"
    && document.querySelector(part) !== null"""
"""The page is there: its heading, what it is opened for, and nothing of it is still on its way."""
PARTS = {"Queries": ".rr-list tbody tr", "Progress": ".rr-bar", "People": ".rr-facts"}
ANYTHING = "h1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> AppServer:
    """The app over the judged campaign."""
    full = campaign.full_folder(tmp_path_factory.getbasetemp())
    project = open_project(Path(shutil.copytree(full, tmp_path_factory.mktemp("lead") / "project")))
    add_person_with_password(project, OPERATOR, LEAD, Role.LEAD, PASSWORD, now=NOW)
    project.store.close()
    return serve(project.folder)


def test_the_leads_pages_at_full_size(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, viewport={"width": 3400, "height": 900})  # so wide that the menu shows all pages
    rows = []
    for title in (one.title for one in PAGES if one.role is Role.LEAD):
        clicked = [_from_the_menu(page, title) for _ in range(OPENINGS)]
        rows.append([title, *_told(clicked), *_told([_by_address(page, server, title) for _ in range(OPENINGS)])])
    rows.insert(1, ["a query, from the list", *_told([_a_query(page) for _ in range(OPENINGS)]), "", ""])
    rows.insert(2, ["the next query, by key", *_told(_next_queries(page)), "", ""])
    table(
        "The lead's pages at full size in the browser",
        rows,
        ("streamlit", "playwright"),
        "page|from the menu, median|longest|by its address, median|longest",
    )


def _from_the_menu(page: Page, title: str) -> float:
    _click(page, OTHER if title == LIGHT else LIGHT)
    return _timed(lambda: _click(page, title))


def _by_address(page: Page, server: AppServer, title: str) -> float:
    def opened() -> None:
        page.goto(f"{server.url}/{address(title)}", wait_until="commit")
        _wait(page, title)

    return _timed(opened)


def _a_query(page: Page) -> float:
    _click(page, LIGHT)
    _click(page, "Queries")

    def opened() -> None:
        page.locator(".rr-list tbody tr").nth(3).click()
        until(page, HERE, ["Queries", ".rr-candidates article"])

    return _timed(opened)


def _next_queries(page: Page) -> list[float]:
    """From one query to the next, and so on."""

    def pressed() -> None:
        before = page.locator("h2").first.inner_text()
        page.keyboard.press("n")
        until(page, "(before) => document.querySelector('h2')?.innerText !== before", before)
        until(page, HERE, ["Queries", ".rr-candidates article"])

    return [_timed(pressed) for _ in range(OPENINGS)]


def _click(page: Page, title: str) -> None:
    named = re.compile(rf"^{title}\b")  # some with a count beside them
    if group := next(one.group for one in PAGES if one.title == title):
        page.get_by_role("button", name=re.compile(rf"^{group}\b")).click()
        page.get_by_role("menuitem", name=named).click()
    else:
        page.get_by_role("link", name=named).click()
    _wait(page, title)


def _wait(page: Page, title: str) -> None:
    until(page, HERE, [title, PARTS.get(title, ANYTHING)])


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _told(seconds: list[float]) -> list[str]:
    return [f"{statistics.median(seconds):.2f} s", f"{max(seconds):.2f} s"]
