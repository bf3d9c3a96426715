"""The page Set up in a real browser: an empty project, videos and a file sent, work that goes on without the page."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign import demo
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.project.settings_file import replace_lines
from hands import page_is_done, press_until

pytestmark = pytest.mark.browser
LEAD, _, PASSWORD = demo_people()
FIRST, *MORE = sorted(demo.clip_folder().glob("*.mp4"))[:3]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> AppServer:
    """The app over a project with nothing in it but a lead."""
    project = init_project(tmp_path_factory.mktemp("set-up") / "project", encoder="minilm")
    replace_lines(project.folder, {"media_roots": f"media_roots = [{str(tmp_path_factory.getbasetemp())!r}]"})
    add_person_with_password(project, OPERATOR, LEAD, Role.LEAD, PASSWORD, now=time.time())
    return serve(project.folder)


def step(page: Page, title: str) -> None:
    """Open a step."""
    page.locator("summary").filter(has_text=title).click()


def test_an_empty_project_is_filled_from_the_browser(
    enter: Callable[..., Page], server: AppServer, tmp_path: Path
) -> None:
    page = enter(LEAD)
    expect(page.get_by_role("heading", name="Set up")).to_be_visible()
    no_serious_finding(page)

    # Files from this computer: what is no video stays away, the other one is added once it was looked at.
    letter = tmp_path / "letter.mp4"
    letter.write_text("")
    page.get_by_label("Videos from your computer").set_input_files([FIRST, letter])
    expect(page.get_by_text("1 new video, ")).to_be_visible()
    expect(page.locator(".rr-video-cards figure")).to_have_count(1)
    no_serious_finding(page)
    page.get_by_role("button", name="Add 1 video").click()
    expect(page.get_by_text("1 video added, ")).to_be_visible()
    # Still told, though the page was drawn anew.
    expect(page.get_by_role("alert").filter(has_text="Not taken:")).to_contain_text("letter.mp4 is empty.")
    assert (server.project / "videos" / FIRST.name).read_bytes() == FIRST.read_bytes()

    # A folder of the server, while this lead looks at another page.
    folder = tmp_path / "more"
    folder.mkdir()
    for clip in MORE:
        shutil.copy(clip, folder / clip.name)
    page.get_by_label("Folder on the server").fill(str(folder))
    page_is_done(page)
    look = page.get_by_role("button", name="Preview", exact=True)
    press_until(look, page.get_by_text("You can close this page: it continues."))
    page.get_by_role("link", name="Progress").click()
    expect(page.get_by_role("heading", name="Progress")).to_be_visible()
    page.get_by_role("link", name="Set up").click()
    expect(page.get_by_text("2 new videos, ")).to_be_visible()
    expect(page.locator("summary").filter(has_text="1 video")).to_be_visible()
    page.get_by_role("button", name="Add 2 videos").click()
    expect(page.get_by_text("2 videos added, ")).to_be_visible()
    expect(page.locator("summary").filter(has_text="3 videos")).to_be_visible()
    page.get_by_test_id("stMain").get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("2 videos added, ")).to_be_hidden()

    # An annotation file: sent, looked at, and imported as it was looked at.
    file = tmp_path / "moments.jsonl"
    file.write_text(json.dumps({"video": FIRST.name, "start": 0, "end": 1, "caption": "Somebody is there."}))
    step(page, "Annotation files")
    field = page.get_by_label("Annotation files from your computer")
    expect(field).to_have_count(1)  # Streamlit draws it anew where the step before it has become shorter
    field.set_input_files(file)
    expect(page.get_by_role("textbox", name="Annotation file")).to_have_value(file.name)
    page.get_by_role("group").filter(has=field).get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import").click()
    expect(page.locator("summary").filter(has_text="1 caption")).to_be_visible()
    expect(page.get_by_text(f"{FIRST.stem} is now {FIRST.name}")).to_be_visible()
    no_serious_finding(page)
    counts = status_counts(open_project(server.project), OPERATOR)
    assert (counts["videos"], counts["moments"], counts["captions"]) == (3, 1, 1)
