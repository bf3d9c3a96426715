"""The whole product: an annotator in a real browser, three elsewhere who disagree, the lead, a release, a score."""

import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from backend.campaign.demo import demo_people
from backend.campaign.desk import exchange
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey
from commands import reelrank
from hands import next_clip_is_here, press, saved, until
from support import grade_all, person_of

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, _ = demo_people()
BATCH = 20
Enter = Callable[..., Page]


def counts(server: AppServer) -> dict[str, Any]:
    """What `reelrank status` tells."""
    return status_counts(open_project(server.project), OPERATOR)


def leave(page: Page, server: AppServer) -> None:
    """Go where no clip is: one that loops for nobody costs a fifth of a processor."""
    page.goto(f"{server.url}/_stcore/health")


def test_from_the_first_grade_to_a_score(enter: Enter, server: AppServer, tmp_path: Path) -> None:
    ana = enter(ANNOTATORS[0])
    expect(ana.get_by_test_id("progress")).to_have_text("1 of 20")
    query = ana.get_by_test_id("query").inner_text()

    # The clip really plays, and loops.
    clip = ana.locator('video[data-active="true"]')
    expect(clip).to_be_visible()
    until(
        ana,
        "() => { const v = [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)"
        ".flatMap(r => [...r.querySelectorAll('video[data-active=\"true\"]')])[0]"
        " ?? document.querySelector('video[data-active=\"true\"]'); return v && v.loop && v.currentTime > 0.2 }",
    )

    given = {PairKey(press(ana, 4)): 4}
    for n in range(1, 8):
        grade = n % 5
        given[PairKey(press(ana, grade))] = grade
    saved(ana)

    next_clip_is_here(ana)  # this test grades faster than real clips are cut
    # kill -9 in the middle; two more grades go into the void; the server comes back; reload.
    server.kill()
    for grade in (2, 3):
        given[PairKey(press(ana, grade))] = grade
    expect(ana.get_by_test_id("saving")).to_have_attribute("data-unsaved", "2")
    server.start()
    ana.reload()
    saved(ana)
    expect(ana.get_by_test_id("progress")).to_have_text("11 of 20")
    assert counts(server)["judgements"] == len(given) == 10
    while len(given) < BATCH:
        grade = len(given) % 5
        given[PairKey(press(ana, grade))] = grade
    saved(ana)
    expect(ana.get_by_test_id("query")).not_to_have_text(query)
    leave(ana, server)

    # Ben grades the same batch alike, but for Ana's first pair, to which he gives 0 instead of 4.
    project, disputed = open_project(server.project), next(iter(given))
    ben = person_of(project, ANNOTATORS[1])
    assert {item.query for item in exchange.desk(project, ben, now=time.time()).items} == {query}
    grade_all(project, ben.name, given | {disputed: 0}, now=time.time())
    now = counts(server)
    queries = now["queries"]["val"] + now["queries"]["test"]
    assert now["judgements"] == 2 * BATCH
    assert now["pairs"] == {
        **{"open": (queries - 1) * BATCH, "escalated": 1, "consensus": BATCH - 1},
        **{"discarded": 0, "adjudicated": 0, "set_aside": 0, "blocked": 0},
    }

    lead = enter(LEAD)
    expect(lead.get_by_role("heading", name="Queries", exact=True)).to_be_visible()
    lead.get_by_role("link", name="Disputes").click()
    expect(lead.get_by_role("heading", name="Disputes", exact=True)).to_be_visible()
    expect(lead.get_by_text(query).first).to_be_visible()

    # Two further annotators meet the disputed pair before anything else, and settle it: 0 2 3 4 -> 2.5 -> 3.
    for name, grade in ((ANNOTATORS[2], 2), (ANNOTATORS[3], 3)):
        further = exchange.desk(project, person_of(project, name), now=time.time()).items[0]
        assert (further.pair, further.query) == (disputed, query)
        grade_all(project, name, {further.pair: grade}, now=time.time())
    lead.reload()
    expect(lead.get_by_text("No pairs in this list.")).to_be_visible()

    lead.goto(f"{server.url}/queries?query=1")  # queries are numbered in judging order
    expect(lead.get_by_role("heading", name=query)).to_be_visible()
    lead.get_by_role("button", name="Open batch 2").click()
    expect(lead.get_by_text("Batch 2 is open: 20 pairs")).to_be_visible()
    assert counts(server)["batches"] == {"1": queries, "2": 1}
    # A release holds finished queries, and this one is not while its second batch waits: a slip, taken back.
    lead.get_by_role("button", name="Undo batch 2").click()
    asked = lead.get_by_test_id("stPopoverBody")
    asked.get_by_role("textbox").fill("the first one is enough")
    asked.get_by_role("button", name="Undo batch 2").click()
    expect(lead.get_by_text("Batch 2 is undone: 20 pairs")).to_be_visible()
    assert counts(server)["batches"] == {"1": queries, "2": 0}

    lead.get_by_role("button", name="Team").click()
    lead.get_by_role("menuitem", name="People").click()
    expect(lead.get_by_role("heading", name="People", exact=True)).to_be_visible()
    lead.goto(f"{server.url}/release")  # the menu has more pages than room
    expect(lead.get_by_role("heading", name="Release", exact=True)).to_be_visible()
    lead.get_by_role("button", name="Make release").click()
    with lead.expect_download(timeout=120_000) as download:
        lead.get_by_role("button", name="Download", exact=True).click(timeout=120_000)
    with zipfile.ZipFile(download.value.path()) as release:
        release.extractall(tmp_path)
    truth = next(tmp_path.glob("*/val.json"))
    documents = json.loads(truth.read_text())
    assert [document["query"] for document in documents] == [query]
    relevances = [moment["relevance"] for moment in documents[0]["relevant_moment"]]
    assert sorted(relevances) == sorted([3, *(grade for pair, grade in given.items() if pair != disputed)])

    # A run that lists the truth from best to worst is perfect; the command line says so.
    best_first = sorted(documents[0]["relevant_moment"], key=lambda moment: -moment["relevance"])
    run = {documents[0]["query_id"]: [[m["video_name"], *m["timestamp"], 1 / n] for n, m in enumerate(best_first, 1)]}
    (tmp_path / "run.json").write_text(json.dumps(run))
    scored = reelrank("evaluate", "--truth", truth, "--run", tmp_path / "run.json", "--json", "-")
    measures = json.loads(scored)["runs"][0]["measures"]
    assert measures.keys() >= {"ndcg@10,0.3", "ndcg@40,0.7"}
    assert {value for key, value in measures.items() if key.startswith("ndcg")} == {1.0}
