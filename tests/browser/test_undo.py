"""Taking back a grade: what the player offers, what it tells the server, and what another person's desk does to it."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer, sign_in
from backend import api
from player_harness import FakeDesk, make_clip, serving

pytestmark = pytest.mark.browser

_, (ANA, BEN, CLEO, _), PASSWORD = api.demo_people()
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    make_clip(path, 1, seconds=1.0, width=320, height=180)
    return path


@pytest.fixture
def desk(clip: Path) -> FakeDesk:
    return FakeDesk([clip])


@pytest.fixture
def address(desk: FakeDesk) -> Iterator[str]:
    with serving(desk) as url:
        yield url


def player(page: Page):
    return page.get_by_test_id("player")


def shows(page: Page, pair: str) -> None:
    """This pair's clip was on screen long enough to be graded."""
    expect(player(page)).to_have_attribute("data-pair", pair)
    expect(player(page)).to_have_attribute("data-gradable", "true")


def grade(page: Page, key: str) -> str:
    """Press a grade key and see another pair come up; the pair graded."""
    expect(player(page)).to_have_attribute("data-gradable", "true")
    pair = player(page).get_attribute("data-pair") or ""
    page.keyboard.press(key)
    expect(player(page)).not_to_have_attribute("data-pair", pair)
    return pair


def saved(page: Page) -> None:
    expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "0")


class TestWhatIsOnScreen:
    def test_is_told_of_each_clip_as_it_comes_and_never_of_those_ahead(
        self, desk: FakeDesk, address: str, open_page: Open
    ) -> None:
        page = open_page()
        page.goto(address)
        shows(page, "p001")
        grade(page, "1")
        shows(page, "p002")
        saved(page)
        page.keyboard.press("x")  # the context goes and comes, the clip is the same
        expect(page.get_by_text("The context cannot be shown")).to_be_visible()
        grade(page, "2")
        shows(page, "p003")
        saved(page)
        with page.expect_response("**/desk/exchange"):
            page.evaluate("window.dispatchEvent(new Event('online'))")  # asks anew, as after a pause
        assert desk.shown == ["p001", "p002", "p003"]
        assert [body["shown"] for body in desk.exchanges] == [None, None, "p003"]

    def test_is_told_again_after_an_outage_and_a_reload_but_holds_no_grade_up(
        self, desk: FakeDesk, address: str, open_page: Open
    ) -> None:
        page = open_page()
        page.goto(address)
        shows(page, "p001")
        desk.answer_with = 503
        grade(page, "1")
        shows(page, "p002")
        assert desk.shown == ["p001"]
        desk.answer_with = 200
        page.evaluate("window.dispatchEvent(new Event('online'))")
        saved(page)
        assert desk.exchanges[-1]["shown"] == "p002"
        assert desk.grades() == {"p001": 1}
        page.reload()
        shows(page, "p002")
        assert desk.shown == ["p001", "p002"]


@pytest.fixture
def server(tmp_path: Path, demo: Callable[..., Path]) -> Iterator[AppServer]:
    project = tmp_path / "project"
    demo(project)
    server = AppServer(project, tmp_path / "server.log")
    server.start()
    yield server
    server.kill()


def seats(server: AppServer, pair: str) -> list[tuple[int, bool, bool]]:
    """(seat, whether somebody sits there, whether they had it on screen) of a pair."""
    with closing(sqlite3.connect(server.project / "reelrank.db")) as db:
        rows = db.execute(
            "SELECT seat_no, annotator_id IS NOT NULL, shown_at IS NOT NULL FROM seat JOIN pair USING (pair_id) "
            "WHERE pair_key = ? ORDER BY seat_no",
            [pair],
        )
        return [(row[0], bool(row[1]), bool(row[2])) for row in rows]


def test_undo_outlives_anothers_browser_that_loads_ahead_and_ends_in_words_when_it_shows(
    server: AppServer, open_page: Open
) -> None:
    """Two people disagree; the third one's desk gets the pair at once, behind the clip on her screen."""

    def enter(name: str) -> Page:
        page = open_page()
        page.goto(server.url)
        sign_in(page, name, PASSWORD)
        expect(player(page)).to_have_attribute("data-gradable", "true")
        return page

    def undo(page: Page, pair: str, key: str) -> None:
        page.keyboard.press("u")
        shows(page, pair)
        page.keyboard.press(key)
        expect(player(page)).not_to_have_attribute("data-pair", pair)
        saved(page)

    ana, cleo = enter(ANA), enter(CLEO)
    pairs = [grade(ana, "0") for _ in range(20)]
    saved(ana)
    ben = enter(BEN)
    first = grade(ben, "4")
    saved(ben)
    assert first in pairs
    assert seats(server, first)[2:] == [(3, False, False), (4, False, False)]
    grade(cleo, "2")  # and her desk is filled: the disputed pair comes before anything else, after what is in hand
    saved(cleo)
    assert seats(server, first)[2:] == [(3, True, False), (4, False, False)]

    undo(ben, first, "1")
    assert len(seats(server, first)) == 2, "the two agree, nobody else is asked"
    undo(ben, first, "4")
    assert len(seats(server, first)) == 4

    while player(cleo).get_attribute("data-pair") != first:
        grade(cleo, "2")
    shows(cleo, first)
    saved(cleo)
    undo(ben, first, "1")
    notice = ben.get_by_role("alert")
    expect(notice).to_contain_text(re.compile("was not taken. another annotator has this pair on screen"))
    assert seats(server, first)[2:] == [(3, True, True), (4, False, False)]
    grade(cleo, "3")
    saved(cleo)
    assert len(seats(server, first)) == 4
