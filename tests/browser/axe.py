"""What axe finds on a page: asked in one way by all browser tests."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

WCAG = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
# What passes is not described node by node: half the time on a large page, and the same findings.
FINDINGS_ALONE = {"resultTypes": ["violations"]}

RUNNING = "[data-testid='stApp']:not([data-test-script-state='notRunning'])"
"""A page in the middle of a run of Streamlit: what it draws anew may be pale, and pale text has too little contrast."""
LOOKS = 10
DRAWN = """() => [...document.querySelectorAll("[role=graphics-symbol]:empty:not([aria-label])")]
  .every((one) => !one.checkVisibility() || one.closest("[aria-hidden=true]"))"""
"""A chart whose rows have arrived: before that, its marks have nothing in them, and no name."""

SETTLED = """(running) => {
  window.ranMeanwhile = document.querySelector(running) !== null;
  window.runsWatched ??= new MutationObserver(() => (window.ranMeanwhile = true));
  window.runsWatched.observe(document, { subtree: true, attributeFilter: ["data-test-script-state"] });
  [document, ...document.querySelectorAll("*")]
    .flatMap((one) => (one === document ? one : one.shadowRoot)?.getAnimations() ?? [])
    .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
    .forEach((one) => one.finish());
}"""
"""Notes from here on whether the page runs, and brings to its end at once what moves or fades now, in components too,
and does not do so for ever.
"""


def passes_axe(page: Page, context: str | None = None) -> None:
    """Nothing against WCAG, A and AA; `context` is the selector of what is ours to judge."""
    found = _found(page, {"runOnly": WCAG}, context)
    assert found == [], found  # pytest explains assertions of tests alone


def no_serious_finding(page: Page) -> None:
    """Nothing serious by any of axe's rules, of Streamlit's frame around the page either."""
    found = _found(page, {}, impacts=("serious", "critical"))
    assert found == [], found


def _found(
    page: Page, options: dict[str, Any], context: str | None = None, impacts: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    """The rules broken, and the first node of each.

    A tab's or a key's run begins when the server hears of it, which may be after axe began to look; what it paled is no
    finding. So findings of such a look are looked for again.
    """
    for _ in range(LOOKS):
        expect(page.locator(RUNNING)).to_have_count(0)
        page.wait_for_function(DRAWN)
        page.evaluate(SETTLED, RUNNING)
        response = Axe().run(page, context=context, options={**FINDINGS_ALONE, **options}).response
        found = [
            (broken["id"], broken["nodes"][0]["html"][:200])
            for broken in response["violations"]
            if not impacts or broken["impact"] in impacts
        ]
        if not found or not page.evaluate("window.ranMeanwhile"):
            break
    return found
