"""The lead's page "Queries" in a real browser: address, list and query speak of one thing; a query, frame by frame."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import open_project
from hands import page_is_done

pytestmark = pytest.mark.browser
JUDGED = True
LEAD = demo_people()[0]
PER_PAGE = 25


@pytest.fixture
def texts(server: AppServer) -> dict[int, str]:
    """The queries by number, in the order of the list."""
    return {query.query_id: query.query for query in list_queries(open_project(server.project), OPERATOR)}


def test_address_list_and_query_speak_of_one_thing_also_after_back_and_reload(
    enter: Callable[..., Page], server: AppServer, texts: dict[int, str]
) -> None:
    reviews = list_queries(open_project(server.project), OPERATOR)
    numbers = list(texts)
    page = enter(LEAD, url=f"{server.url}/queries")
    _lists(page, list(texts.values()))
    no_serious_finding(page)

    # A click anywhere on a row, and Enter on it; Back and Forward go from one to the other.
    first, second, third = numbers[:3]
    _rows(page).nth(0).locator("td").nth(3).click()
    _speaks_of(page, first, texts)
    page.go_back()
    _lists(page, list(texts.values()))
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(_rows(page).nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    _speaks_of(page, third, texts)
    page.keyboard.press("p")
    _speaks_of(page, second, texts)
    page.keyboard.press("n")
    _speaks_of(page, third, texts)
    page.go_back()
    _speaks_of(page, second, texts)
    page.go_forward()
    _speaks_of(page, third, texts)
    page.get_by_role("link", name="Progress").click()
    expect(page.get_by_role("heading", name="Progress", exact=True)).to_be_visible()
    page.go_back()
    _speaks_of(page, third, texts)
    page.get_by_role("button", name="All queries").click()
    _lists(page, list(texts.values()))

    # Each list, found in the database by other means, and what Back makes of it.
    lists = {
        "In progress": [query.query for query in reviews if query.settled < query.pairs],
        "Next batch possible": [query.query for query in reviews if query.more_candidates],
    }
    assert 1 < len(lists["In progress"]) != len(lists["Next batch possible"]) > 1
    for name, listed in lists.items():
        page.get_by_role("radio", name=name).click()
        _lists(page, listed)
    word = next(word for word in listed[-1].split() if 0 < sum(word in text for text in listed) < len(listed))
    page.get_by_label("Search").fill(word)
    page.keyboard.press("Enter")
    found = [text for text in listed if word.lower() in text.lower()]
    _lists(page, found)
    page.reload()
    _lists(page, found)
    expect(page.get_by_label("Search")).to_have_value(word)
    expect(page.get_by_role("radio", name="Next batch possible")).to_be_checked()
    page.get_by_role("button", name="Query", exact=True).click()
    _lists(page, sorted(found, key=str.lower))
    page.go_back()
    page.go_back()
    _lists(page, listed)
    expect(page.get_by_label("Search")).to_have_value("")
    page.go_back()
    _lists(page, lists["In progress"])
    expect(page.get_by_role("radio", name="In progress")).to_be_checked()

    # From a filtered list keys lead to its queries alone.
    _rows(page).nth(0).click()
    expect(page.get_by_text(f"1 of {len(lists['In progress'])} queries")).to_be_visible()
    expect(page.get_by_role("heading", name=lists["In progress"][0], exact=True)).to_be_visible()
    page_is_done(page)
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name=lists["In progress"][1], exact=True)).to_be_visible()
    assert "show=work" in page.url


@pytest.mark.long
def test_a_query_shows_its_candidates_frame_by_frame_and_opens_them(
    enter: Callable[..., Page], server: AppServer
) -> None:
    project = open_project(server.project)
    review = next(one for one in list_queries(project, OPERATOR) if one.settled)
    pairs = query_pairs(project, OPERATOR, review.query_id)
    asked: list[str] = []
    refusal = {"status": 404, "json": {"message": "its video is gone"}}

    def watch(page: Page) -> None:
        page.on("request", lambda request: asked.append(request.url) if "/clips/" in request.url else None)
        page.route(f"**/clips/{pairs[1].pair}.*", lambda route: route.fulfill(**refusal))  # type: ignore[arg-type]

    page = enter(LEAD, url=f"{server.url}/queries?query={review.query_id}", watch=watch)
    cards = page.locator(".rr-candidates article")
    expect(cards).to_have_count(len(pairs))
    cards.nth(1).scroll_into_view_if_needed()
    expect(cards.nth(1)).to_contain_text("its video is gone")
    assert not any(".mp4" in url for url in asked), "to ask for a clip that cannot be made would block its pair"
    third = cards.nth(2)
    third.scroll_into_view_if_needed()
    frames = third.locator("img")
    expect(frames).to_have_count(8)
    for frame in frames.all():
        expect(frame).to_have_js_property("complete", True)
        assert frame.evaluate("(picture) => picture.naturalWidth") == 8 * 240, "one picture of all eight"
    assert not any(pairs[-1].pair in url for url in asked), "the last ones are far below, and nobody has looked"
    for card, pair in zip(cards.all(), pairs, strict=True):
        assert [int(cell) for cell in card.locator("td .rr-grade").all_inner_texts()] == [
            given.grade for given in pair.grades
        ]
    no_serious_finding(page)

    third.get_by_role("link", name="Rank 3").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".st-key-query-pair")).to_contain_text(pairs[2].caption)
    expect(dialog.locator("video")).to_have_js_property("paused", False)
    expect(page).to_have_url(f"{server.url}/queries?query={review.query_id}&pair=3")
    page_is_done(page)  # keys do nothing while a page is drawn anew
    page.keyboard.press("n")  # while a candidate is open, keys go from one to the next
    expect(dialog.locator(".st-key-query-pair")).to_contain_text(pairs[3].caption)
    expect(page).to_have_url(f"{server.url}/queries?query={review.query_id}&pair=4")
    page_is_done(page)
    page.keyboard.press("p")
    expect(page).to_have_url(f"{server.url}/queries?query={review.query_id}&pair=3")
    expect(dialog.locator(".st-key-query-pair")).to_contain_text(pairs[2].caption)
    page_is_done(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(f"{server.url}/queries?query={review.query_id}")


def _rows(page: Page) -> Locator:
    return page.get_by_role("table", name="Queries").locator("tbody tr")


def _lists(page: Page, texts: list[str]) -> None:
    expect(_rows(page).locator("td:first-child")).to_have_text(texts[:PER_PAGE])
    assert "query=" not in page.url
    page_is_done(page)  # keys do nothing while a page is drawn anew


def _speaks_of(page: Page, query: int, texts: dict[int, str]) -> None:
    expect(page.get_by_role("heading", name=texts[query], exact=True)).to_be_visible()
    expect(page.get_by_text(f"{list(texts).index(query) + 1} of {len(texts)} queries")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"[?&]query={query}$"))
    page_is_done(page)
