"""What axe finds on a page: asked in one way by all browser tests."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

WCAG = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
# What passes is not described node by node: half the time on a large page, and the same findings.
FINDINGS_ALONE = {"resultTypes": ["violations"]}

ENDED = """() => [document, ...document.querySelectorAll("*")]
  .flatMap((one) => (one === document ? one : one.shadowRoot)?.getAnimations() ?? [])
  .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
  .forEach((one) => one.finish())"""
"""Brings to its end at once what moves or fades now, in components too, and does not do so for ever."""


def passes_axe(page: Page, context: str | None = None) -> None:
    """Nothing against WCAG, A and AA; `context` is the selector of what is ours to judge."""
    _is_drawn(page)
    found = _found(Axe().run(page, context=context, options={**FINDINGS_ALONE, "runOnly": WCAG}).response)
    assert found == [], found  # pytest explains assertions of tests alone


def no_serious_finding(page: Page) -> None:
    """Nothing serious by any of axe's rules, of Streamlit's frame around the page either."""
    _is_drawn(page)
    found = _found(Axe().run(page, options=FINDINGS_ALONE).response, ("serious", "critical"))
    assert found == [], found


def _is_drawn(page: Page) -> None:
    """Streamlit pales what a run of the page has not drawn again yet, and pale text has too little contrast; so has one
    whose colour is on its way to another one.
    """
    expect(page.locator("[data-stale='true']")).to_have_count(0)
    page.evaluate(ENDED)


def _found(response: dict[str, Any], impacts: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The rules broken, and the first node of each."""
    return [
        (broken["id"], broken["nodes"][0]["html"][:200])
        for broken in response["violations"]
        if not impacts or broken["impact"] in impacts
    ]
