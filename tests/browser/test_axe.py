"""Looking at a page with axe: what a run pales in passing is no finding, what stays pale is one."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from axe import no_serious_finding, passes_axe

pytestmark = pytest.mark.long

APP = """<!doctype html><html lang="en"><title>Exam</title>
<main data-testid="stApp" data-test-script-state="notRunning"><h1>Exam</h1><p>Missed at first</p></main></html>"""
PALE = "document.querySelector('p').style.opacity = "
STATE = "document.querySelector('main').setAttribute('data-test-script-state', "
RUN_MEANWHILE = f"""() => {{
  let axe;
  window.looks = 0;
  const run = async (...what) => {{
    if ((window.looks += 1) > 1) return axe.run(...what);
    {STATE}"running"); {PALE}"0.33";
    const found = await axe.run(...what);
    {STATE}"notRunning"); {PALE}"1";
    return found;
  }};
  const get = () => axe && Object.create(axe, {{ run: {{ value: run }} }});
  Object.defineProperty(window, "axe", {{ get, set: (given) => (axe = given) }});
}}"""
"""A run of the page that begins after axe began to look for the first time, and ends before it is done."""


@pytest.mark.parametrize("look", [passes_axe, no_serious_finding])
def test_what_a_run_pales_while_axe_looks_is_looked_at_again(
    open_page: Callable[..., Page], look: Callable[[Page], None]
) -> None:
    page = open_page()
    page.set_content(APP)
    page.evaluate(RUN_MEANWHILE)
    look(page)
    assert page.evaluate("window.looks") == 2


@pytest.mark.parametrize("look", [passes_axe, no_serious_finding])
def test_what_is_pale_without_a_run_is_found(open_page: Callable[..., Page], look: Callable[[Page], None]) -> None:
    page = open_page()
    page.set_content(APP)
    page.evaluate(f"{PALE}'0.33'")
    with pytest.raises(AssertionError, match=r"color-contrast.*Missed at first"):
        look(page)


def test_what_stays_pale_after_runs_is_found(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.set_content(APP)
    page.evaluate(RUN_MEANWHILE.replace(f'{PALE}"1"', f'{PALE}"0.33"'))
    with pytest.raises(AssertionError, match=r"color-contrast.*Missed at first"):
        no_serious_finding(page)
    assert page.evaluate("window.looks") == 2
