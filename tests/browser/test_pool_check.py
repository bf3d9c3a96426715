"""A whole check of pools on the real server: whole videos with a storyboard, two grades, a disagreement, the report."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import demo_pools
from app_server import AppServer
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from commands import reelrank
from hands import pair_on_show, player, press, saved
from support import have_read

pytestmark = [pytest.mark.long, pytest.mark.browser]
LEAD, (ANA, BEN, CLEO, DAN), PASSWORD = demo_people()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> AppServer:
    """A check of two queries of the demo's clips, each with a positive and a negative, made by the command."""
    folder = tmp_path_factory.mktemp("pools")
    pools = demo_pools.write(folder / "pools.json")
    options = ("--videos", demo_pools.CLIPS, "--queries", 2, "--negatives", 1, "--seed", 2)
    reelrank("mvmr", "check", pools, folder / "check", *options)
    project = open_project(folder / "check")
    for name in (LEAD, ANA, BEN, CLEO, DAN):
        role = Role.LEAD if name == LEAD else Role.ANNOTATOR
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=time.time())
    have_read(project)
    project.store.close()
    return serve(folder / "check")


def places(server: AppServer) -> dict[str, str]:
    """As what the pool has the video of each pair."""
    return dict(server.rows("SELECT pair_key, put_in_as FROM pair JOIN pool_place USING (query_id, moment_id)"))


def test_whole_videos_come_with_a_storyboard_that_leads_to_their_parts(enter: Callable[..., Page]) -> None:
    page = enter(DAN)
    pair_on_show(page)
    tiles = player(page).get_by_role("group", name="Grade").get_by_role("button")
    expect(tiles).to_have_count(2)
    assert [tile.get_attribute("aria-label") for tile in tiles.all()] == [
        *("Grade 0, Does not match: Nowhere in the video", "Grade 1, Matches: Somewhere in the video")
    ]
    parts = page.get_by_role("group", name="Storyboard").get_by_role("button")
    expect(parts).to_have_count(8)
    for part in parts.all():
        expect(part).to_have_css("background-image", re.compile(r"url\(.*/clips/.*\.webp"))
    page.keyboard.press("Space")
    parts.nth(6).click()
    expect(parts.nth(6)).to_have_attribute("aria-current", "true")
    expect(page.locator(".part[aria-current]")).to_have_count(1)
    video = page.locator("video[data-active='true']")
    share = video.evaluate("(video) => video.currentTime / video.duration")
    assert share == pytest.approx(6 / 8, abs=0.02)
    # What lies around a whole video is nothing.
    expect(page.get_by_role("button", name="Context: the seconds around the moment")).to_be_hidden()
    page.keyboard.press("x")
    expect(player(page)).not_to_have_attribute("data-context", re.compile("asked|before"))
    page.keyboard.press("g")
    panel = page.get_by_role("dialog", name="How to grade")
    expect(panel).to_contain_text("Does it happen at all?")
    expect(panel).to_contain_text("Then choose one of two grades")
    expect(panel).to_contain_text("Judge the picture.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Password")).to_be_visible()  # and the pairs went back


def test_a_check_from_the_first_key_to_the_report(enter: Callable[..., Page], server: AppServer) -> None:
    put_in_as = places(server)
    assert sorted(put_in_as.values()) == ["negative", "negative", "positive", "positive"]
    wrong = min(pair for pair, place in put_in_as.items() if place == "positive")
    split = min(pair for pair, place in put_in_as.items() if place == "negative")
    right = {pair: int(place == "positive") for pair, place in put_in_as.items()} | {wrong: 0}

    for name, other in ((ANA, 0), (BEN, 1)):
        page = enter(name)
        for _ in put_in_as:
            pair = pair_on_show(page)
            # Nothing on the desk tells positives from negatives.
            assert not re.search("positive|negative", player(page).inner_html(), re.IGNORECASE)
            page.keyboard.press("3")  # no grade of this campaign
            assert press(page, other if pair == split else right[pair]) == pair
        saved(page)
        page.close()

    # Their disagreement is all that is left: for two further people, one of whom agrees with each.
    for name, grade in ((CLEO, 0), (DAN, 1)):
        page = enter(name)
        assert press(page, grade) == split
        saved(page)
        expect(page.get_by_test_id("player")).to_have_attribute("data-state", "empty")

    lead = enter(LEAD)
    lead.get_by_role("link", name="Progress").click()
    expect(lead.get_by_text("Wrong videos in the pools")).to_be_visible()
    rows = lead.locator(".rr-shares tr")
    # 1 of 2: Wilson's interval is 9.5 % to 90.5 %; 0 of 1: 0 to 79.3 % (scipy.stats.binomtest).
    expect(rows.nth(1)).to_have_text(re.compile(r"positives that do not match\s*1 of 2\s*50.0%\s*9.5% to 90.5%\s*none"))
    expect(rows.nth(2)).to_have_text(re.compile(r"negatives that match\s*0 of 1\s*0.0%\s*0.0% to 79.3%\s*1 undecided"))

    lead.get_by_role("link", name="Disagreements").click()
    card = lead.locator(f".st-key-card-{split}")
    expect(card).to_contain_text("0 and 1 remain. They differ: there is no consensus.")
    card.get_by_text("1 matches", exact=True).click()
    card.get_by_role("textbox", name="Reason").fill("Seen at the end")
    card.get_by_role("button", name="Decide").click()
    expect(card).to_have_count(0)

    found = json.loads(reelrank("mvmr", "check-report", server.project, "--json"))
    assert [(found[kind]["wrong"], found[kind]["settled"]) for kind in ("positives", "negatives", "together")] == [
        *((1, 2), (1, 2), (2, 4))
    ]
    assert {one["put_in_as"] for one in found["wrong"]} == {"positive", "negative"}
    # An exam of such pairs asks for the very grade: with two, any answer would be within one of the key.
    project = open_project(server.project)
    add_person_with_password(project, OPERATOR, "Nia", Role.ANNOTATOR, PASSWORD, now=time.time())
    have_read(project)
    set_exam(project, OPERATOR, queries=2, pairs=4, seed=1, although="few pairs", now=time.time() + 16 * 60)
    exam = enter("Nia")
    expect(exam.get_by_text("of your grades may be other than the right one").first).to_be_visible()

    lead.get_by_role("link", name="Progress").click()
    expect(lead.locator(".rr-shares tr").nth(3)).to_have_text(re.compile(r"together\s*2 of 4\s*50.0%"))
    lead.get_by_text("2 wrong videos").click()
    expect(lead.get_by_text("positive, does not match")).to_be_visible()
    expect(lead.get_by_text("negative, matches")).to_be_visible()
