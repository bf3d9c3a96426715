"""The names of captions on the page Set up: closing the tab asks while they are unsaved, and rewriting saves them."""

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from backend.campaign.corpus.captions.name_mapping import propose_cast
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project

pytestmark = pytest.mark.browser
LEAD, _, PASSWORD = demo_people()


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, corpus_folder: Path, serve: Callable[[Path], AppServer]
) -> AppServer:
    """The app over a project with names in its captions and no queries yet."""
    folder = tmp_path_factory.mktemp("names") / "project"
    project = open_project(Path(shutil.copytree(corpus_folder / "project", folder)))
    propose_cast(project, OPERATOR)
    add_person_with_password(project, OPERATOR, LEAD, Role.LEAD, PASSWORD, now=time.time())
    project.store.close()
    return serve(folder)


def test_closing_the_tab_asks_and_rewriting_saves_the_names(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/set-up")
    page.locator("summary").filter(has_text="Names").click()
    field = page.get_by_label("What Dev becomes")
    field.fill("an old man")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    expect(page.get_by_role("heading", name="Set up")).to_be_visible()
    assert asked == ["beforeunload"]

    page.locator("summary").filter(has_text="Names").click()
    field.fill("an old man")
    page.get_by_role("button", name="Save names and rewrite the captions").click()
    outcome = page.get_by_text(re.compile("48 captions: "))
    expect(outcome).to_be_in_viewport()
    assert (server.project / "cast.csv").read_text().count("an old man") == 1
    page.get_by_role("link", name=re.compile("^Progress")).first.click()
    expect(page.get_by_role("heading", name="Progress")).to_be_visible()
    assert asked == ["beforeunload"]
