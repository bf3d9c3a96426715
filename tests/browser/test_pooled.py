"""A lead sees what found candidates: on a query's page, where a later pooling has its own batch, and in Explore."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.setup.project.folder import Project, open_project
from support import NOW

pytestmark = [pytest.mark.long, pytest.mark.browser]
JUDGED = True
LEAD, _, _ = demo_people()


def prepare(project: Project) -> None:
    """The judged demo; a run was pooled that found rank 2 of a query, and a moment that nobody had thought of."""
    query = list_queries(project, OPERATOR)[0]
    known = next(pair for pair in query_pairs(project, OPERATOR, query.query_id) if pair.rank == 2)
    lasts = project.store.db.conn.execute("SELECT duration_s FROM video WHERE name = ?", [known.video]).fetchone()[0]
    run = {query.query_id: [[known.video, known.start_s, known.end_s, 2], [known.video, 0, lasts, 1]]}
    file = project.folder.parent / "our-system.json"
    file.write_text(json.dumps(run))
    report = pool_candidates(project, OPERATOR, [file], again=True, now=NOW)
    assert report.pairs == 1


def test_a_lead_sees_what_found_a_candidate(enter: Callable[..., Page], server: AppServer) -> None:
    query = list_queries(open_project(server.project), OPERATOR)[0]
    page = enter(LEAD, url=f"{server.url}/queries?query={query.query_id}")
    expect(page.get_by_text("in 2 batches")).to_be_visible()
    second = page.locator(".rr-candidates article", has=page.get_by_role("link", name="Rank 2", exact=True))
    expect(second).to_contain_text("found by our-system (rank 1), captions (rank 2)")
    last = page.locator(".rr-candidates article").last
    expect(last).to_contain_text("found by our-system (rank 2)")
    expect(last).not_to_contain_text("similarity")
    expect(page.locator("[data-testid=stVegaLiteChart]").first).to_be_visible()
    no_serious_finding(page)
    page.goto(f"{server.url}/explore?part=sources")
    row = page.locator(".rr-sources tbody tr", has_text="our-system")
    expect(row).to_contain_text("pooled run, 20 deep, added later")
    assert [cell.split()[0] for cell in row.locator("td").all_inner_texts()[1:4]] == ["2", "2", "1"]
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth <= main.clientWidth")
    no_serious_finding(page)
