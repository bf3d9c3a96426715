"""The lead's page "Queries" in a real browser: address, box, table and detail speak of one query, also after Back."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app_server import AppServer, sign_in
from backend import api

pytestmark = pytest.mark.browser
LEAD, _, PASSWORD = api.demo_people()
IN_VIEW = 10
"""Of so many rows the table tells readers without being moved."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path]) -> Iterator[AppServer]:
    """The app over the judged demo."""
    folder = tmp_path_factory.mktemp("queries")
    server = AppServer(demo(folder / "project", judged=True), folder / "server.log")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def page(open_page: Callable[..., Page], server: AppServer) -> Page:
    """The page, with a lead signed in and nothing chosen."""
    page = open_page()
    page.goto(f"{server.url}/queries")
    sign_in(page, LEAD, PASSWORD)
    expect(page.get_by_role("heading", name="Queries")).to_be_visible()
    expect(_table(page).locator("tbody tr").first).to_be_attached()
    return page


@pytest.fixture
def texts(server: AppServer) -> dict[int, str]:
    """The queries by number, in the order of the table."""
    return {query.query_id: query.query for query in api.list_queries(api.open_project(server.project), api.OPERATOR)}


def test_back_shows_and_marks_the_query_of_the_address(page: Page, texts: dict[int, str]) -> None:
    first, second, third = list(texts)[:3]
    _choose(page, 0)
    _speaks_of(page, first, texts)
    _choose(page, 1)
    _speaks_of(page, second, texts)
    page.go_back()
    _speaks_of(page, first, texts)
    page.go_back()
    _speaks_of(page, None, texts)
    page.go_forward()
    _speaks_of(page, first, texts)
    _box(page).fill(texts[third])
    page.get_by_role("option", name=texts[third]).click()
    _speaks_of(page, third, texts)
    page.go_back()
    _speaks_of(page, first, texts)
    page.get_by_role("link", name="Progress").click()
    expect(page.get_by_role("heading", name="Progress", exact=True)).to_be_visible()
    page.go_back()
    _speaks_of(page, first, texts)
    _choose(page, 0)
    _speaks_of(page, None, texts)


def test_another_list_marks_the_query_that_is_shown(page: Page, server: AppServer, texts: dict[int, str]) -> None:
    reviews = api.list_queries(api.open_project(server.project), api.OPERATOR)
    lists = {
        "In work": [query.query for query in reviews if query.settled < query.pairs],
        "Next batch possible": [query.query for query in reviews if query.more_candidates],
        "All": [query.query for query in reviews],
    }
    chosen = next(number for number, text in texts.items() if text not in lists["In work"])
    _choose(page, list(texts).index(chosen))
    _speaks_of(page, chosen, texts)
    shown = lists["All"]
    for name, listed in lists.items():
        assert listed[:IN_VIEW] != shown[:IN_VIEW], "one could not tell when the page has changed"
        page.get_by_role("radio", name=name).click()
        expect(_table(page).locator("tbody tr td:nth-child(1)")).to_have_text(listed[:IN_VIEW])
        marked = _table(page).locator("tr[aria-selected=true]")
        expect(marked).to_have_text([re.compile(re.escape(texts[chosen]))] * (texts[chosen] in listed))
        shown = listed
    _speaks_of(page, chosen, texts)


def _table(page: Page) -> Locator:
    """The table as it is read out: the canvas has the same rows for readers."""
    return page.locator(".st-key-queries_table table")


def _box(page: Page) -> Locator:
    return page.locator(".st-key-queries_box input")


def _choose(page: Page, row: int) -> None:
    page.locator(".st-key-queries_table").get_by_test_id("stDataFrame").click(position={"x": 16, "y": 52 + 35 * row})


def _speaks_of(page: Page, query: int | None, texts: dict[int, str]) -> None:
    marked = _table(page).locator("tr[aria-selected=true]")
    if query is None:
        expect(page.get_by_text("Open candidates in rank order")).to_have_count(0)
        expect(marked).to_have_count(0)
        expect(_box(page)).to_have_value("")
        assert "query=" not in page.url
        return
    expect(page.get_by_role("heading", name=texts[query], exact=True)).to_be_visible()
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text(texts[query])
    expect(_box(page)).to_have_value(texts[query])
    assert page.url.endswith(f"?query={query}")
