"""Describing from the menu to the database: a real server, which dies on the way, and a real video."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from app_server import AppServer
from axe import passes_axe
from backend.campaign.corpus.describing.model import DescribingChoice, DescriptionFilter
from backend.campaign.corpus.describing.opening import choose_describing
from backend.campaign.corpus.describing.reviewing import find_descriptions
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project, open_project
from support import have_read

pytestmark = pytest.mark.browser
_, (ANA, BEN, *_), _ = demo_people()
VIDEO = "rainy_street"
TWO_PAINTINGS = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def prepare(project: Project) -> None:
    """The app over the demo, where Ana may describe one video."""
    have_read(project)
    people = {one.person.name: one.person for one in list_people(project, OPERATOR)}
    chosen = DescribingChoice(open=True, people=(people[ANA].annotator_id,), videos=(VIDEO,), per_video=3)
    choose_describing(project, OPERATOR, chosen, now=time.time())


def desk(page: Page) -> Locator:
    return page.get_by_test_id("describe")


def describe(page: Page, far: str, sentence: str) -> None:
    """Mark from the frame on screen to one further on, and write."""
    page.keyboard.press("i")
    expect(desk(page)).not_to_have_attribute("data-start", "")
    page.keyboard.press(far)
    page.keyboard.press("o")
    expect(desk(page)).to_have_attribute("data-playing", "true")  # in a loop
    page.keyboard.press("Enter")
    page.keyboard.type(sentence)
    page.keyboard.press("Enter")
    expect(desk(page)).to_have_attribute("data-start", "")
    page.keyboard.press(" ")
    expect(desk(page)).to_have_attribute("data-playing", "false")
    page.evaluate(TWO_PAINTINGS)  # what was on its way to the screen is there


def test_a_video_is_described_while_the_server_dies_and_comes_back(
    enter: Callable[..., Page], server: AppServer
) -> None:
    ben = enter(BEN)
    expect(ben.get_by_role("link", name="My work", exact=True)).to_be_visible()
    expect(ben.get_by_role("link", name="Describe")).to_have_count(0)

    page = enter(ANA)
    page.get_by_role("link", name="Describe").first.click()
    guideline = page.get_by_role("dialog", name="How to describe")
    expect(guideline).to_contain_text("Use no names.")
    guideline.get_by_role("button", name="Begin").click()
    expect(desk(page)).to_have_attribute("data-state", "ready")
    expect(page.get_by_role("combobox", name="Video")).to_contain_text(VIDEO)
    describe(page, "Shift+.", "A car passes through a puddle.")
    expect(page.get_by_test_id("saving")).to_have_text("saved")

    server.kill()
    describe(page, "Shift+.", "Mona opens an umbrella.")
    expect(page.get_by_test_id("saving")).to_have_text("offline: 1 description kept")
    server.start()
    expect(page.get_by_test_id("saving")).to_have_text("saved")
    row = page.get_by_role("listitem").filter(has_text="Mona opens an umbrella.")
    expect(row).to_contain_text('Look again: "Mona" may be a name')
    passes_axe(page)

    project = open_project(server.project)
    first, second = sorted(
        (round(25 * one.start_s), round(25 * one.end_s), one.sentence)
        for one in find_descriptions(project, OPERATOR, DescriptionFilter())
    )
    project.store.close()
    # The demo has 25 frames a second: eleven frames from the first one on, and as many from somewhere behind them.
    assert first == (0, 11, "A car passes through a puddle.")
    assert second[0] >= 11
    assert second[1:] == (second[0] + 11, "Mona opens an umbrella.")
