"""Silent gold in real browsers: somebody is told, then paused; the lead sees why and lets them go on."""

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.desk import exchange
from backend.campaign.judging.model import Desk, DeskState, GradeEvent
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.gold.questions import GoldOptions, set_gold
from backend.campaign.review.queries import list_queries, query_pairs, take_back_queries
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project, open_project
from hands import pair_on_show, player, press, saved
from support import person_of, sit

pytestmark = pytest.mark.browser
LEAD, (ANA, *OTHERS), _ = demo_people()
Enter = Callable[..., Page]


def prepare(project: Project) -> None:
    """The app over the demo in small batches, of which two people settled some; with much gold and no patience."""
    before = time.time() - 3600
    take_back_queries(project, OPERATOR, now=before)
    # Pairs have random numbers, by which gold is chosen. A consequence comes where a query begins some pairs after the
    # last gold pair: with 14 queries, half of all runs had too few such places.
    draw_queries(project, OPERATOR, val=60, test=0, seed=3, now=before)
    choose_candidates(project, OPERATOR, batch_size=4, now=before)
    for query in list_queries(project, OPERATOR)[:10]:
        for nth, pair in enumerate(query_pairs(project, OPERATOR, query.query_id)):
            for name in OTHERS[:2]:
                event = GradeEvent(pair.pair, (query.query_id + nth) % 5, f"{name}-{pair.pair}", 2000, 2000)
                sit(project, person_of(project, name), [pair.pair], now=before)
                exchange.record_grades(project, person_of(project, name), [event], now=before)
    with closing(sqlite3.connect(project.folder / "reelrank.db")) as db, db:
        db.execute("UPDATE campaign SET gold_key = 'always the same'")
    options = GoldOptions(share=0.25, window=4, fewest=2, warn=100, pause=0)
    set_gold(project, OPERATOR, options, now=time.time())


def right(folder: Path) -> dict[str, int]:
    """The known grade of every gold pair."""
    with closing(sqlite3.connect(folder / "reelrank.db")) as db:
        return dict(
            db.execute(
                "SELECT pair_key, relevance FROM gold_pair JOIN pair USING (pair_id) JOIN consensus USING (pair_id)"
            )
        )


def given(pair: str, known: dict[str, int]) -> int:
    """A grade far from what is known, where something is."""
    return 2 if pair not in known else 4 if known[pair] < 2 else 0


def work(folder: Path, until: Callable[[Desk, int], bool]) -> int:  # type: ignore[type-arg]
    """Somebody grades gold wrong, until something holds of the desk and the number of grades; that number."""
    project, known, count = open_project(folder), right(folder), 0
    me = person_of(project, ANA)
    desk = exchange.desk(project, me, now=time.time())
    while not until(desk, count):
        pair = desk.items[0].pair
        event = GradeEvent(pair, given(pair, known), f"{folder.name}-{pair}", 2000, 2000)
        (receipt,), desk = exchange.exchange(project, me, [event], [], now=time.time())
        assert receipt.status == "saved", receipt.message
        count += 1
    project.store.close()
    return count


def test_a_person_on_gold_is_told_and_paused_and_the_lead_sees_why(
    enter: Enter, server: AppServer, tmp_path: Path
) -> None:
    twin = shutil.copytree(server.project, tmp_path / "twin")
    told = work(twin, lambda desk, _: desk.warned)
    paused = work(twin, lambda desk, _: desk.state is DeskState.PAUSED)
    known = right(server.project)

    work(server.project, lambda _, count: count == told - 1)
    page = enter(ANA)
    notice = page.get_by_role("alert").filter(has_text="A friendly note")
    pair = pair_on_show(page)
    assert pair not in known
    expect(notice).to_have_count(0)
    press(page, given(pair, known))
    expect(notice).to_contain_text("several of your grades were far from the right ones")
    expect(page.get_by_test_id("progress")).to_contain_text("1 of ")
    pair_on_show(page)
    no_serious_finding(page)
    page.get_by_role("button", name="Dismiss").click()
    expect(notice).to_have_count(0)

    work(server.project, lambda _, count: count == paused - 1)
    page.reload()
    pair = pair_on_show(page)
    assert pair not in known
    press(page, given(pair, known))
    expect(page.get_by_role("heading", name="Your work is paused")).to_be_visible()
    expect(player(page)).not_to_contain_text("Gold")
    no_serious_finding(page)

    lead = enter(LEAD, url=f"{server.url}/gold")
    row = lead.locator("[class*=st-key-gold-person-]").filter(has_text=ANA)
    expect(row.get_by_text("paused", exact=True)).to_be_visible()
    expect(row).to_contain_text("by a rule: Gold: ")
    expect(row).to_contain_text("answers agree with the known grade, fewer than 100 %, after a warning.")
    shown = lead.locator("table.rr-grades")
    expect(shown).to_contain_text("Given")
    expect(shown).to_contain_text("Known")
    expect(lead.locator("figure video")).to_be_visible()
    no_serious_finding(lead)
    row.get_by_role("button", name="Resume").click()
    expect(row.get_by_text("answers needed since the last warning or pause")).to_be_visible()

    page.reload()
    press(page, 2)
    saved(page)
    expect(page.get_by_role("heading", name="Your work is paused")).to_have_count(0)
