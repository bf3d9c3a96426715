"""Taking back a grade that another person's desk has gone on from, or not yet: three people at a real server."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import open_project
from hands import pair_on_show, player, press, saved
from support import grade_all

pytestmark = [pytest.mark.long, pytest.mark.browser]

_, (ANA, BEN, CLEO, _), _ = demo_people()


def seats(server: AppServer, pair: str) -> list[tuple[int, bool, bool]]:
    """(seat, whether somebody sits there, whether they had it on screen) of a pair."""
    rows = server.rows(
        "SELECT seat_no, annotator_id IS NOT NULL, shown_at IS NOT NULL FROM seat JOIN pair USING (pair_id) "
        "WHERE pair_key = ? ORDER BY seat_no",
        pair,
    )
    return [(row[0], bool(row[1]), bool(row[2])) for row in rows]


def test_undo_outlives_anothers_browser_that_loads_ahead_and_ends_in_words_when_it_shows(
    server: AppServer, enter: Callable[[str], Page]
) -> None:
    """Two people disagree; the third one's desk gets the pair when it is next filled, behind the clip on her screen."""

    def undo(page: Page, pair: str, key: str) -> None:
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", pair)
        press(page, key)
        saved(page)

    cleo = enter(CLEO)
    project = open_project(server.project)
    batch = query_pairs(project, OPERATOR, list_queries(project, OPERATOR)[0].query_id)
    pairs = [pair.pair for pair in batch]
    grade_all(project, ANA, dict.fromkeys(pairs, 0), now=time.time())
    ben = enter(BEN)
    first = press(ben, "4")
    saved(ben)
    assert first in pairs
    assert seats(server, first)[2:] == [(3, False, False), (4, False, False)]
    for _ in range(3):  # and her desk is filled: the disputed pair is chosen before anything else
        press(cleo, "2")
        saved(cleo)
    assert seats(server, first)[2:] == [(3, True, False), (4, False, False)]

    undo(ben, first, "1")
    assert len(seats(server, first)) == 2, "the two agree, nobody else is asked"
    undo(ben, first, "4")
    assert len(seats(server, first)) == 4

    while pair_on_show(cleo) != first:
        with cleo.expect_response("**/desk/shown"):
            press(cleo, "2")
    saved(cleo)
    undo(ben, first, "1")
    notice = ben.get_by_role("alert")
    expect(notice).to_contain_text(re.compile("was not taken. another annotator has this pair on screen"))
    assert seats(server, first)[2:] == [(3, True, True), (4, False, False)]
    press(cleo, "3")
    saved(cleo)
    assert len(seats(server, first)) == 4
