"""The lead's page "Queries" in a real browser: address, box, table and detail speak of one query, also after Back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app_server import AppServer, sign_in
from backend import api
from hands import page_is_done, page_runs_again

pytestmark = pytest.mark.browser
LEAD, _, PASSWORD = api.demo_people()


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


def test_another_list_marks_the_query_that_is_shown(page: Page, texts: dict[int, str]) -> None:
    chosen = list(texts)[1]
    _choose(page, 1)
    _speaks_of(page, chosen, texts)
    for name in ("In work", "Next batch possible", "All"):
        page_is_done(page)
        with page_runs_again(page):
            page.get_by_role("radio", name=name).click()
        expect(page.get_by_role("radio", name=name)).to_be_checked()
        marked = _table(page).locator("tr[aria-selected=true]")
        listed = _table(page).locator("tbody tr").filter(has_text=texts[chosen])
        expect(marked).to_have_count(listed.count())
        for row in marked.all():
            expect(row).to_contain_text(texts[chosen])
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
