"""The page Release in a browser: what would be in it, licence, two releases by name, and what changed between them."""

import hashlib
import time
import zipfile
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import passes_axe
from backend.campaign.demo import demo_people
from backend.campaign.release.board.leaderboard import truth_names
from backend.campaign.release.export.freezing import release_preview
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import query_pairs
from backend.campaign.setup.project.folder import open_project
from hands import page_is_done
from support import person_of

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, _, _ = demo_people()
MAIN = "[data-testid=stMain]"


def make(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Name", exact=True).press("Tab")
    page.get_by_role("button", name="Make release").click()
    expect(page.get_by_text(f"The release {name} is ready. Download it below.")).to_be_visible(timeout=120_000)


def test_a_lead_makes_two_releases_and_sees_what_changed(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/release", viewport={"width": 1280, "height": 1600})
    expect(page.get_by_text("3 queries are left out: some pairs still wait for grades")).to_be_visible()
    page_is_done(page)
    page.get_by_text("Licence and citation: no licence chosen").click()
    keep = page.get_by_role("button", name="Save", exact=True)
    keep.click(trial=True)
    # What stands below moves until all has unfolded: a list that is open closes when something moves.
    page.get_by_role("button", name="Make release").click(trial=True)
    licence = page.get_by_role("combobox", name="Licence")
    licence.press_sequentially("CC-BY-4.0")
    expect(page.get_by_role("option", name="CC-BY-4.0").first).to_be_visible()
    licence.press("Enter")
    expect(licence).to_have_value("CC-BY-4.0")
    page.get_by_label("How to cite it").fill("The demo, 2026.")
    keep.click()
    expect(page.get_by_text("Licence and citation: CC-BY-4.0")).to_be_visible()
    make(page, "v1")

    project = open_project(server.project)
    lead = person_of(project, LEAD)
    query = release_preview(project, lead).queries[0].query_id
    pair = next(one for one in query_pairs(project, lead, query) if one.relevance == 0)
    adjudicate(project, lead, pair.pair, 3, "the second half shows it", now=time.time())
    make(page, "v2")
    page.goto(f"{server.url}/release?from=v1")  # as a colleague was sent it
    expect(page.get_by_text("1 has another relevance")).to_be_visible()
    expect(page.get_by_text(f"{LEAD} decided on 3: the second half shows it")).to_be_visible()
    passes_axe(page, MAIN)

    kept = {one.name: one for one in list_releases(project, lead)}
    assert list(kept) == ["v2", "v1"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).first.click()
    with zipfile.ZipFile(download.value.path()) as archive:
        (manifest,) = (name for name in archive.namelist() if name.endswith("/manifest.json"))
        assert hashlib.sha256(archive.read(manifest)).hexdigest() == kept["v2"].sha256
        assert b'"licence": "CC-BY-4.0"' in archive.read(manifest)
    assert truth_names(project, lead)[2:] == [
        "release v2, val",
        "release v2, test",
        "release v1, val",
        "release v1, test",
    ]
