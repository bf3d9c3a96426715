"""What a person's hands do at the desk; each waits for what it needs, so that a slow machine changes nothing."""

import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Download, Locator, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from backend.campaign.desk import exchange
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

STANDBY_IS_WHOLE = """(video) => video.readyState === 4 && video.buffered.length === 1
    && video.buffered.start(0) === 0 && video.buffered.end(0) > video.duration - 0.1"""


def player(page: Page) -> Locator:
    """The player's root, which tells its state."""
    return page.get_by_test_id("player")


def until(page: Page, condition: str, arg: object = None, *, within_s: float = 60.0) -> None:
    """Wait for a condition in JavaScript: the pages' policy does not let Playwright wait in the page itself."""
    deadline = time.monotonic() + within_s
    while not page.evaluate(condition, arg):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(20)


def pair_on_show(page: Page) -> str:
    """The pair that may be graded now: its clip has been on screen long enough."""
    expect(player(page)).to_have_attribute("data-gradable", "true")
    return player(page).get_attribute("data-pair") or ""


def press(page: Page, key: str | int) -> str:
    """Press a key that leads on from the pair on show, and wait until another one, or none, is there; that pair."""
    pair = pair_on_show(page)
    page.keyboard.press(str(key))
    expect(player(page)).not_to_have_attribute("data-pair", pair)
    return pair


def saved(page: Page) -> None:
    """Everything given has arrived, and the desk is filled again."""
    expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "0")


def network_is_back(page: Page) -> None:
    """What a browser tells a page whose network is back: the page tries at once, and not after its next pause."""
    page.evaluate("() => void dispatchEvent(new Event('online'))")


def time_passes(page: Page, seconds: float, seen: Callable[[], bool], *, within_s: float = 60.0) -> None:
    """Move the page's clock, which the test has installed, on by so many seconds again and again, until this is seen.

    A timer that the page sets only after its clock was moved waits for the next step, and not for real seconds.
    """
    deadline = time.monotonic() + within_s
    while not seen():
        assert time.monotonic() < deadline, "the page does not go on"
        page.clock.fast_forward(round(1000 * seconds))
        page.wait_for_timeout(50)


def next_clip_is_here(page: Page) -> None:
    """The clip after the one on show lies in the browser as a whole: it would play without a server."""
    saved(page)
    until(page, STANDBY_IS_WHOLE, page.locator("video[data-active='false']").element_handle())


def page_is_done(page: Page) -> None:
    """Streamlit has run the page to its end: nothing of it is still on its way."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def press_until(button: Locator, seen: Locator) -> None:
    """Press a button until what it leads to is there: a page that is drawn anew at this very moment may not notice."""
    for _ in range(5):
        button.click()
        try:
            return seen.wait_for(timeout=10_000)
        except NotInTime:
            if not button.is_visible():
                break
    expect(seen).to_be_visible()


def key_until(page: Page, key: str, seen: Locator) -> None:
    """Press a key until what it leads to is there: keys do nothing while a page is drawn anew."""
    for _ in range(5):
        page_is_done(page)
        page.keyboard.press(key)
        try:
            return seen.wait_for(timeout=10_000)
        except NotInTime:
            continue
    expect(seen).to_be_visible()


def downloaded(page: Page, ask: Callable[[], object]) -> Download:
    """Ask for a file until it comes: a page that is drawn anew at this very moment may not notice."""
    for _ in range(3):
        page_is_done(page)
        try:
            with page.expect_download(timeout=40_000) as caught:
                ask()
        except NotInTime:
            continue
        return caught.value
    raise AssertionError("the file did not come")


def upload(page: Page, file: Path) -> None:
    """Choose a file for the first field that takes one, and see it arrive: until then a form goes off without it."""
    with page.expect_response("**/_stcore/upload_file/**"):
        page.locator("input[type=file]").first.set_input_files(file)
    chip = page.get_by_test_id("stFileUploader").first.get_by_test_id("stFileChip")
    expect(chip.get_by_text(file.suffix)).to_be_visible()
    expect(chip.get_by_test_id("stFileChipIconSpinner")).to_have_count(0)


def button(page: Page, digit: int) -> Locator:
    """The tile of a grade."""
    return page.locator(f"button[aria-keyshortcuts='{digit}']")


def join(page: Page, link: str, password: str) -> None:
    """Choose a password behind a one-time link, and read the guideline with Enter to its end."""
    page.goto(link)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_label("Repeat password").fill(password)
    page.get_by_role("button", name="Save and sign in").click()
    expect(player(page)).to_have_attribute("data-state", "lesson")
    step = page.get_by_test_id("lesson-step")
    expect(step).to_contain_text("1 of")
    pages = int(step.inner_text().split()[-1])
    for number in range(2, pages + 1):
        page.keyboard.press("Enter")
        expect(step).to_contain_text(f"{number} of")
    page.keyboard.press("Enter")


def grade_elsewhere(project: Project, person: Person, grade_of: Callable[[PairKey], int]) -> None:
    """Grade everything left for an annotator without a browser: one desk in a browser is enough for a test."""
    left = exchange.desk(project, person, now=time.time())
    while left.items:
        pair = left.items[0].pair
        event = GradeEvent(pair, grade_of(pair), f"{person.name} {pair}", 1500)
        _, left = exchange.exchange(project, person, [event], [], now=time.time())


def skip(page: Page, digit: str) -> str:
    """Skip the clip on show by keys, without a reason, and see the next pair come up; the pair skipped."""
    pair = pair_on_show(page)
    page.keyboard.press("s")
    expect(skip_dialog(page)).to_be_visible()
    page.keyboard.press(digit)
    page.keyboard.press("Enter")
    expect(player(page)).not_to_have_attribute("data-pair", pair)
    return pair


def skip_dialog(page: Page) -> Locator:
    """Asks why a clip is skipped."""
    return page.get_by_role("dialog", name="Skip this clip")
