"""Every screen in German, in the dark, at 200 % of a small laptop's, by axe and by the Tab key.

Nothing is cut off or out of reach, nothing of ours is left in English, and its longer words have room.
"""

from collections.abc import Callable
from dataclasses import astuple
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from annotate_app import language
from annotate_app.pages import PAGES
from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.release.board.kept_runs import list_runs
from backend.campaign.release.board.leaderboard import truth_names
from backend.campaign.setup.project.folder import Project, open_project
from english import CUT_OFF, HAS_ROOM, left_in_english
from hands import button, page_is_done, pair_on_show, until
from support import have_read

pytestmark = [pytest.mark.long, pytest.mark.browser]
JUDGED = True
LEAD, (ANA, *_), PASSWORD = demo_people()
ZOOMED = {"width": 640, "height": 400}
"""What 1280 x 800 has at 200 %."""
WIDTHS = {"phone": 390, "laptop": 1280}
"""What an annotator has; all else is the lead's."""
Enter = Callable[..., Page]


def shown_to(name: str) -> list[tuple[str, str]]:
    """Title and address of a person's pages."""
    role = Role.ANNOTATOR if name == ANA else Role.LEAD
    return [(page.title, page.address) for page in PAGES if page.role is role]


IN_REACH = """() => { const within = (root) => [...root.querySelectorAll("*")].flatMap((one) => [
    ...(one.tabIndex >= 0 && !one.disabled && one.checkVisibility({visibilityProperty: true}) ? [one] : []),
    ...(one.shadowRoot ? within(one.shadowRoot) : [])]);
  return within(document.querySelector("[data-testid=stMain]")).length; }"""
IS_WHOLE = """(tile) => { const word = document.createRange(); word.selectNodeContents(tile.querySelector(".label"));
  return word.getBoundingClientRect().right <= tile.getBoundingClientRect().right - 2; }"""
DRAWER_IS_TOLD = """() => [...document.querySelectorAll("[data-testid=stSidebarNavItems]")]
  .every((one) => !one.checkVisibility() || one.getAttribute("role") === "none")"""
TABBED = """() => { const main = document.querySelector("[data-testid=stMain]"), one = document.activeElement;
  return main.contains(one) && one !== main; }"""


def prepare(project: Project) -> None:
    """The app over the judged demo, where every page has something to show."""
    have_read(project)


def findings(page: Page) -> list[str]:
    """What axe finds on the whole page: of the contrast of what has to be scrolled to, it says nothing."""
    size = page.viewport_size
    assert size is not None
    until(page, DRAWER_IS_TOLD)
    beyond = page.get_by_test_id("stMain").evaluate("(main) => main.scrollHeight - main.clientHeight")
    page.set_viewport_size({"width": size["width"], "height": size["height"] + beyond})
    try:
        no_serious_finding(page)
    except AssertionError as finding:
        return [str(finding).splitlines()[0]]
    finally:
        page.set_viewport_size(size)
    return []


def troubles(page: Page) -> list[str]:
    """What is wrong with the page on screen."""
    found = findings(page)
    main = page.get_by_test_id("stMain")
    if main.evaluate("(main) => main.scrollWidth > main.clientWidth"):
        found.append("it is wider than the screen")
    if page.locator("h1:visible").count() != 1:
        found.append(f"{page.locator('h1:visible').count()} first headings")
    levels = page.locator(":is(h1, h2, h3, h4, h5, h6):visible").evaluate_all(
        "(all) => all.map((one) => +one.tagName[1])"
    )
    found += [f"a heading skips from {above} to {below}" for above, below in pairwise(levels) if below > above + 1]
    main.focus()
    reached, in_reach = 0, page.evaluate(IN_REACH)
    while reached <= in_reach + 5:
        page.keyboard.press("Tab")
        if not page.evaluate(TABBED):
            break
        reached += 1
    else:
        found.append(f"the Tab key does not leave it: {reached} times pressed, {in_reach} things to reach")
    return found


def written(project: Project) -> set[str]:
    """What people wrote in the project, or called something: it is in no catalogue."""
    columns = {"query": "text", "caption": "text", "video": "name", "annotator": "name"}
    rows = (project.store.db.execute(f"SELECT {column} FROM {table}") for table, column in columns.items())
    found = {row[0] for those in rows for row in those}
    grading = project.campaign.grading
    for one in (*grading.scale.meanings, *grading.questions):
        found |= {text for text in astuple(one) if isinstance(text, str)}
    labels = {one.label.lower() for one in grading.scale.meanings}  # as they stand in a sentence
    scored = {*(one.name for one in list_runs(project, OPERATOR)), *truth_names(project, OPERATOR)}
    return {*found, *labels, *scored, *grading.reminders, grading.example_query, project.name}


@pytest.mark.parametrize("name", [LEAD, ANA])
def test_every_screen_is_usable_at_twice_the_size_and_has_room_for_german(
    enter: Enter, server: AppServer, name: str
) -> None:
    """German words are longer, and the dark has its own colours; English in the light is in the tests of each page."""
    page = enter(name, color_scheme="dark")
    page.context.add_cookies([{"name": language.COOKIE, "value": "de", "url": server.url}])
    data = written(open_project(server.project))
    found = {}
    for title, address in shown_to(name):
        page.set_viewport_size(ZOOMED)
        page.goto(f"{server.url}/{address}")
        page_is_done(page)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        until(page, "() => !document.querySelector('[data-testid=stSkeleton]')")
        if title == "Grade":
            pair_on_show(page)
            for grade in range(5):
                expect(button(page, grade)).to_be_in_viewport(ratio=1)
                assert button(page, grade).evaluate(IS_WHOLE), f"the word of {grade} is cut off"
        said = troubles(page)
        # A text that only leads read may wait for its translation.
        said += left_in_english(page, "de", data) if name == ANA else []
        for screen, width in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": 800})
            until(page, HAS_ROOM)  # charts take a moment to follow
            said += [f"cut off on a {screen}: {text}" for text in page.evaluate(CUT_OFF)]
        if said:
            found[title] = said
    assert found == {}
