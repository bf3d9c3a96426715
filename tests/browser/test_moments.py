"""The page Moments in a real browser: a lead looks through what was proposed, and makes it fit."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign import demo
from backend.campaign.corpus.moments.editing import moments_of_video
from backend.campaign.corpus.moments.model import ByWindows
from backend.campaign.corpus.moments.proposing import propose_moments
from backend.campaign.demo import demo_people
from backend.campaign.monitoring.videos.check import import_corpus, register_videos
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from hands import key_until, page_is_done, press_until

pytestmark = pytest.mark.browser
LEAD, _, PASSWORD = demo_people()
CLIPS = ("dog_dinner", "park_book", "rainy_street")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> AppServer:
    """The app over three videos cut into moments of 5 s; one moment has a caption."""
    folder = tmp_path_factory.mktemp("moments")
    (folder / "videos").mkdir()
    for name in CLIPS:
        shutil.copy(demo.clip_folder() / f"{name}.mp4", folder / "videos")
    project = init_project(folder / "project", encoder="minilm")
    now = time.time()
    add_person_with_password(project, OPERATOR, LEAD, Role.LEAD, PASSWORD, now=now)
    register_videos(project, OPERATOR, folder / "videos", now=now)
    propose_moments(project, OPERATOR, ByWindows((5.0,), 1.0), now=now)
    first, *_ = moments_of_video(project, OPERATOR, "dog_dinner")
    file = folder / "captions.csv"
    file.write_text(f"video,start,end,caption\ndog_dinner,{first.start_s},{first.end_s},A dog waits.\n")
    import_corpus(project, OPERATOR, file, now=now)
    project.store.close()
    return serve(project.folder)


def spans(server: AppServer) -> list[tuple[float, float]]:
    project = open_project(server.project)
    found = [(row.start_s, row.end_s) for row in moments_of_video(project, OPERATOR, "dog_dinner")]
    project.store.close()
    return found


def test_a_lead_makes_proposed_moments_fit(enter: Callable[..., Page], server: AppServer) -> None:
    before = spans(server)
    page = enter(LEAD)
    page_is_done(page)
    page.locator("summary").filter(has_text="Moments").click()
    way = page.get_by_role("link", name="View and change the moments")
    press_until(way, page.get_by_role("heading", name="Moments"))
    videos = page.get_by_role("table", name="Videos")
    expect(videos.get_by_role("row")).to_have_count(4)
    moments = page.get_by_role("table", name="Moments")
    press_until(videos.get_by_role("link", name="dog_dinner"), moments)
    listed = moments.get_by_role("row")
    expect(listed).to_have_count(1 + len(before))

    # The first has a caption, so it stays; the way on is a key.
    expect(page.get_by_text("Locked: used by 1 caption.")).to_be_visible()
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    key_until(page, "n", page.get_by_text(f"2 of {len(before)}"))
    clip = page.get_by_label(f"Clip of dog_dinner, {before[1][0]:.2f} to")
    expect(clip).to_have_js_property("readyState", 4)
    no_serious_finding(page)

    # Another start, then two of it, then one again.
    _, end = before[1]
    page.get_by_label("Start (s)").first.fill("5.5")
    page.get_by_role("button", name="Change", exact=True).click()
    expect(page.get_by_text("Changed.")).to_be_in_viewport()
    assert spans(server)[1] == (5.5, end)
    page.get_by_label("Split at (s)").fill("7")
    page.get_by_role("button", name="Split", exact=True).click()
    expect(listed).to_have_count(2 + len(before))
    assert spans(server)[1:3] == [(5.5, 7.0), (7.0, end)]
    page.get_by_role("button", name="Join with 7.00").click()
    expect(listed).to_have_count(1 + len(before))
    expect(page.get_by_text("Joined.")).to_be_in_viewport()  # until the next press or its own button takes it away
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Joined.")).to_be_hidden()
    page.get_by_role("button", name="Remove").click()
    expect(listed).to_have_count(len(before))
    page.get_by_role("button", name="Undo").click()
    expect(listed).to_have_count(1 + len(before))
    assert spans(server) == sorted([before[0], (5.5, end), *before[2:]])

    # What can be no moment is refused in words, and nothing changes.
    page.get_by_text("Add a moment").click()
    page.get_by_label("Start (s)").last.fill("3")
    page.get_by_label("End (s)").last.fill("2")
    refused = page.get_by_text("the end 2 is not after the start 3")
    press_until(page.get_by_role("button", name="Add", exact=True), refused)
    expect(listed).to_have_count(1 + len(before))
