"""A check of pools on the real server: whole videos with a storyboard, two grades, and nothing that tells more."""

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


def test_whole_videos_come_with_a_storyboard_that_leads_to_their_parts(
    enter: Callable[..., Page], server: AppServer
) -> None:
    page = enter(DAN)
    pair_on_show(page)
    tiles = player(page).get_by_role("group", name="Grade").get_by_role("button")
    expect(tiles).to_have_count(2)
    assert [tile.get_attribute("aria-label") for tile in tiles.all()] == [
        *("Grade 0, Does not match: Nowhere in the video", "Grade 1, Matches: Somewhere in the video")
    ]
    boxes = [tile.bounding_box() for tile in tiles.all()]
    assert len({round(box["width"]) for box in boxes if box}) == 1, "columns of one width"
    assert len({round(box["y"]) for box in boxes if box}) == 1, "in one row"
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
    for _ in range(4):
        pair_on_show(page)
        assert not re.search("positive|negative", player(page).inner_html(), re.IGNORECASE)
        page.keyboard.press("3")  # no grade of this campaign
        press(page, 0)
    saved(page)
    given = "FROM judgement JOIN pair USING (pair_id) JOIN pool_place USING (query_id, moment_id)"
    assert sorted(server.rows(f"SELECT put_in_as, grade {given}")) == [*[("negative", 0)] * 2, *[("positive", 0)] * 2]
