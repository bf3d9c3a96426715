"""From a folder of videos alone to a scored run, in a browser: nothing is typed on a command line, nothing imported.

A lead names the folder, finds shots, invites two people; these describe three moments, which the lead accepts; queries
are typed, a system's run is pooled beside what captions find, both people grade, and the release scores that run.
"""

import math
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from app_server import AppServer
from backend.campaign import demo
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import accept_invitation, add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from hands import page_is_done, pair_on_show, press, press_until, saved, upload
from support import have_read, small_clips

pytestmark = [pytest.mark.long, pytest.mark.browser]
LEAD, (ANA, BEN, *_), PASSWORD = demo_people()
QUERIES = ("A person plays with a ball", "Somebody walks along a street")
BATCH = 3
LONG_MS = 120_000
Enter = Callable[..., Page]


@pytest.fixture(scope="module")
def videos(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three smallest real videos where there are some, three of the demo's clips otherwise; and a letter."""
    folder = tmp_path_factory.mktemp("from_videos") / "videos"
    folder.mkdir()
    try:
        found = (request.getfixturevalue("shared") / "data/videos").glob("*.mp4")
    except pytest.skip.Exception:
        found = demo.clip_folder().glob("*.mp4")
    for video in sorted(found, key=lambda video: video.stat().st_size)[:3]:
        shutil.copy(video, folder / video.name)
    (folder / "letter.mp4").write_text("Dear Lea")
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> AppServer:
    """The app over an empty project, with a lead."""
    folder = tmp_path_factory.mktemp("from_videos") / "project"
    project = init_project(folder, encoder="minilm")
    small_clips(folder)
    add_person_with_password(project, OPERATOR, LEAD, Role.LEAD, PASSWORD, now=time.time())
    project.store.close()
    return serve(folder)


def unfold(page: Page, title: str, inside: Locator) -> None:
    """Open a step, unless it opens by itself as the one that comes next, which takes a moment."""
    page_is_done(page)
    while True:
        try:
            return inside.wait_for(timeout=3_000)
        except NotInTime:
            page.locator("summary", has_text=title).click()


def is_done(page: Page, told: str) -> None:
    """A step says so of itself, however long it takes."""
    expect(page.locator("summary", has_text=told)).to_be_visible(timeout=LONG_MS)


def predictions(server: AppServer) -> Iterator[str]:
    """A run of a system: for each query a span of three videos."""
    for (query,) in server.rows("SELECT query_id FROM query WHERE split = 'test' ORDER BY query_id"):
        for rank, (name, duration) in enumerate(server.rows("SELECT name, duration_s FROM video LIMIT 3"), start=1):
            start = 0.1 * query * duration
            yield f"{query},{name},{start:.2f},{start + 2:.2f},{1 / rank}\n"


def describe(page: Page, *sentences: str) -> None:
    """Somebody describes one shot after the other of the first video: keys alone."""
    page.get_by_role("dialog", name="How to describe").get_by_role("button", name="Begin").click()
    desk = page.get_by_test_id("describe")
    expect(desk).to_have_attribute("data-state", "ready", timeout=LONG_MS)
    for sentence in sentences:
        page.keyboard.press("s")  # the shot on screen
        expect(desk).not_to_have_attribute("data-end", "")
        page.keyboard.press("Enter")
        page.keyboard.type(sentence)
        page.keyboard.press("Enter")
        expect(desk).to_have_attribute("data-start", "")
        page.keyboard.press("]")
    expect(page.get_by_test_id("saving")).to_have_text("saved")
    page.close()


def ndcg(server: AppServer, run: Path) -> float:
    """NDCG@20 at an IoU of 0.5 by the words of its definition; the mean over the queries."""
    judged = server.rows(
        "SELECT query_id, name, start_s, end_s, relevance FROM pair JOIN consensus USING (pair_id) "
        "JOIN moment USING (moment_id) JOIN video USING (video_id)",
    )
    predicted = [line.split(",") for line in run.read_text().splitlines()[1:]]
    values = []
    for query in {row[0] for row in judged}:
        truth = [row[1:] for row in judged if row[0] == query]
        gains = [
            found(truth, name, float(start), float(end)) for q, name, start, end, _ in predicted if int(q) == query
        ]
        ideal = sorted((row[3] for row in truth), reverse=True)
        values.append(discounted(gains) / discounted(ideal))
    return sum(values) / len(values)


def found(truth: list[tuple[Any, ...]], video: str, start: float, end: float) -> int:
    """The relevance of the moment that a span is, 0 if it is none."""
    for name, first, last, relevance in truth:
        shared = max(0.0, min(end, last) - max(start, first))
        if name == video and shared / (end - start + last - first - shared) >= 0.5:
            return int(relevance)
    return 0


def discounted(gains: list[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def invite(page: Page, server: AppServer, name: str) -> None:
    """The lead invites somebody, who chooses a password behind the link."""
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Add and invite").click()
    expect(page.get_by_text(f"Send this link to {name}")).to_be_visible()
    page_is_done(page)
    link = page.get_by_test_id("stCode").first.inner_text()
    accept_invitation(open_project(server.project), link.rpartition("/")[2], PASSWORD, now=time.time())


def test_from_videos_alone_to_a_scored_run(enter: Enter, server: AppServer, videos: Path, tmp_path: Path) -> None:
    count = len(list(videos.glob("*.mp4"))) - 1
    lead = enter(LEAD, viewport={"width": 1280, "height": 1600})
    expect(lead.get_by_role("heading", name="Set up")).to_be_visible()  # where an empty project begins
    lead.get_by_label("Folder on the server").fill(str(videos))
    lead.get_by_role("button", name="Take its videos").click()
    is_done(lead, f"Videos — {count} videos")
    expect(lead.get_by_text("1 file was not taken; everything else was.")).to_be_visible()
    propose = lead.get_by_role("button", name="Propose moments")
    unfold(lead, "Moments", propose)
    press_until(propose, lead.get_by_text("Looking for shots").first)
    is_done(lead, " shots")
    unfold(lead, "People", lead.get_by_role("button", name="Add and invite"))
    for name in (ANA, BEN):
        invite(lead, server, name)

    # Two people describe what they see in three shots; the lead accepts each with a key.
    lead.goto(f"{server.url}/descriptions?tab=Who describes")
    # Menus on the page have a button of that name too.
    lead.get_by_test_id("stBaseButton-primaryFormSubmit").filter(has_text=re.compile("^Open$")).click()
    expect(lead.get_by_text("Open: the page Describe is in their menu")).to_be_visible()
    describe(enter(ANA, url=f"{server.url}/describe"), "A person throws a ball.", "A dog runs after a ball.")
    describe(enter(BEN, url=f"{server.url}/describe"), "A hand moves a cup on a table.")
    lead.get_by_role("tab", name="Review").click()
    for left in (2, 1, 0):
        expect(lead.get_by_role("button", name="Accept Shortcut A")).to_be_visible()
        page_is_done(lead)
        lead.keyboard.press("a")
        expect(lead.get_by_text(f"To review {left}")).to_be_visible()

    lead.get_by_role("link", name="Set up").click()
    unfold(lead, "Queries", lead.get_by_label("One query a line"))
    lead.get_by_label("One query a line").fill("\n".join(QUERIES))
    lead.get_by_role("button", name="Look at them").click()
    lead.get_by_role("button", name=f"Take these {len(QUERIES)} queries").click()
    is_done(lead, f"{len(QUERIES)} queries: {len(QUERIES)} test")

    run = tmp_path / "system.csv"
    run.write_text("query_id,video,start,end,score\n" + "".join(predictions(server)))
    unfold(lead, "Candidates", lead.get_by_role("button", name="Choose candidates"))
    lead.get_by_label("Runs from your computer").set_input_files(run)
    expect(lead.get_by_role("spinbutton", name="Depth")).to_be_visible()
    size = lead.get_by_role("spinbutton", name="Candidates a batch")
    size.fill(str(BATCH))
    size.press("Tab")
    expect(lead.get_by_text(f"at most {len(QUERIES) * BATCH}", exact=True)).to_be_visible()
    lead.get_by_role("button", name="Only look at what they come to").click()
    expect(lead.get_by_text("Nothing is written yet.")).to_be_visible(timeout=LONG_MS)
    lead.get_by_role("button", name="Choose these candidates").click()
    is_done(lead, f"{len(QUERIES) * BATCH} pairs handed out")
    is_done(lead, "people can grade")

    described = "SELECT count(*), count(DISTINCT annotator_id), min(status), max(status) FROM description"
    assert server.rows(described) == [(3, 2, "accepted", "accepted")]
    sources = (
        "SELECT kind, count(*) > 0 FROM candidate_source JOIN source USING (source_id) GROUP BY kind ORDER BY kind"
    )
    assert server.rows(sources) == [("captions", 1), ("run", 1)]
    have_read(open_project(server.project))  # the guideline, which has tests of its own
    ana, given = enter(ANA), dict[str, int]()
    theirs = {
        key for (key,) in server.rows("SELECT pair_key FROM pair JOIN moment USING (moment_id) WHERE origin = 'pooled'")
    }
    for _ in range(len(QUERIES) * BATCH):  # what only the system found is better than what captions found
        pair = pair_on_show(ana)
        given[pair] = 4 if pair in theirs else 1
        press(ana, given[pair])
    saved(ana)
    ana.close()  # a clip that loops for nobody costs a fifth of a processor
    ben = enter(BEN)
    for _ in given:
        press(ben, given[pair_on_show(ben)])
    saved(ben)
    ben.close()

    lead.goto(f"{server.url}/release")
    lead.get_by_label("Name", exact=True).fill("v1")
    lead.get_by_label("Name", exact=True).press("Tab")
    lead.get_by_role("button", name="Make release").click()
    expect(lead.get_by_text("The release v1 is ready; it stands below.")).to_be_visible(timeout=LONG_MS)

    lead.goto(f"{server.url}/leaderboard")
    expect(lead.get_by_text("Keep a file")).to_be_visible()
    upload(lead, run)
    lead.get_by_role("button", name="Keep it").click()
    expect(lead.get_by_text(f"Kept system: {len(QUERIES)} queries")).to_be_visible()
    measure = lead.get_by_role("combobox", name="Measure")
    expect(measure).to_have_value("ndcg@20,0.5 · NDCG@20, IoU>=0.5")
    cells = lead.get_by_test_id("stDataFrame").first.locator("table [role=gridcell]")
    expect(cells.filter(has_text="system").first).to_be_attached()
    shown = [float(cell) for cell in cells.all_inner_texts() if re.fullmatch(r"[01]\.\d+", cell)]
    assert ndcg(server, run) > 0
    assert any(value == pytest.approx(ndcg(server, run), abs=0.0006) for value in shown)
