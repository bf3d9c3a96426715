"""The page docs/first-day.md, done as it says: every button that is bold there is pressed, in the order of the page."""

import json
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer, Nursery
from axe import no_serious_finding
from backend.campaign.desk.clips import clip_for
from backend.campaign.desk.exchange import exam_act
from backend.campaign.qualification.exam.taking import ExamStep
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey
from hands import grade_elsewhere, join, key_until, page_is_done, pair_on_show, player, press, saved
from support import have_read, person_of

pytestmark = [pytest.mark.long, pytest.mark.browser]
ROOT = Path(__file__).parents[2]
DAY, RUN = ((ROOT / f"docs/first-{name}.md").read_text("utf-8") for name in ("day", "run"))
PASSWORD = "reelrank-first"
BATCH = 4
OWN = (
    "SELECT v.sha256, m.start_s FROM pair p JOIN query USING (query_id) JOIN caption c USING (caption_id) "
    "JOIN moment m ON m.moment_id = c.moment_id JOIN video v USING (video_id) "
    "WHERE p.moment_id = c.moment_id AND p.pair_id {among} (SELECT pair_id FROM exam_item)"
)
"""The moments that the queries of the exam, or those outside of it, were written of."""


@pytest.fixture
def server(tmp_path: Path, nursery: Nursery | None) -> Iterator[AppServer]:
    """A server over a folder that does not exist."""
    found = AppServer(tmp_path / "kitchen", tmp_path / "server.log", nursery=nursery)
    found.start()
    yield found
    found.stop()


class Buttons:
    """The bold words of the page, taken one after the other."""

    def __init__(self) -> None:
        self.left = re.findall(r"\*\*(.+?)\*\*", " ".join(DAY.split()))

    def __call__(self, name: str) -> str:
        """Return a name, which has to be the next bold one."""
        assert self.left.pop(0) == name
        return name


def open_step(page: Page, title: str) -> None:
    page_is_done(page)
    details = page.locator("details").filter(has=page.locator("summary").filter(has_text=title))
    if details.get_attribute("open") is None:
        details.locator("summary").click()


def told(page: Page, words: str) -> None:
    """Wait until a step shows this behind its title."""
    expect(page.locator("summary").filter(has_text=words)).to_be_visible()


def exam_page(page: Page) -> None:
    page.get_by_role("button", name="Training").click()
    page.get_by_role("menuitem", name="Exam").click()
    expect(page.get_by_role("heading", name="Exam", exact=True)).to_be_visible()


def create(lead: Page, link: str, bold: Buttons) -> None:
    lead.goto(link)
    lead.get_by_label("Name of the project").fill("Kitchen scenes")
    lead.get_by_label("Sentence encoder").select_option(label="MiniLM (works offline)")
    lead.get_by_label("Your name").fill("Lea")
    for field in ("Password", "Repeat password"):
        lead.get_by_label(field, exact=True).fill(PASSWORD)
    lead.get_by_role("button", name=bold("Create project")).click()
    expect(lead.get_by_role("heading", name="Set up", exact=True)).to_be_visible()


def set_up(lead: Page, folder: Path, bold: Buttons) -> list[str]:
    """Do what the table of the page says; the links of Ana and Ben."""
    names = re.findall(r"\{(\w+(?:,\w+)+)\}\.mp4", RUN)[0].split(",")
    lead.get_by_label("Videos from your computer").set_input_files([ROOT / f"assets/demo/{name}.mp4" for name in names])
    lead.get_by_role("button", name=bold("Add 6 videos")).click()
    told(lead, "6 videos")

    moments = folder / "moments.csv"
    moments.write_text(re.findall(r"```csv\n(.*?)```", RUN, re.DOTALL)[0])
    open_step(lead, "Annotation files")
    field = lead.get_by_label("Annotation files from your computer")
    expect(field).to_have_count(1)
    field.set_input_files(moments)
    expect(lead.get_by_role("textbox", name="Annotation file")).to_have_value(moments.name)
    lead.get_by_role("group").filter(has=field).get_by_role("button", name=bold("Preview")).click()
    lead.get_by_role("button", name=bold("Import")).click()
    told(lead, "12 captions")

    open_step(lead, "Queries")
    lead.get_by_role("spinbutton", name="Test queries").fill("2")
    lead.get_by_role("spinbutton", name="Random seed").fill("7")
    lead.locator(".st-key-look_at_queries").get_by_role("button", name=bold("Preview")).click()
    lead.get_by_role("button", name=bold("Add 2 queries")).click()
    told(lead, "2 queries: 2 test")

    open_step(lead, "Candidates")
    per_batch = lead.get_by_role("spinbutton", name="Candidates per batch")
    per_batch.fill(str(BATCH))
    per_batch.press("Tab")
    page_is_done(lead)
    lead.get_by_role("button", name=bold("Choose candidates")).click()
    told(lead, "8 pairs handed out")

    open_step(lead, "People")
    invite = bold("Add and invite")
    for name in ("Ana", "Ben"):
        lead.get_by_label("Name", exact=True).fill(name)
        lead.get_by_role("button", name=invite).click()
        expect(lead.get_by_role("textbox", name=f"Link for {name}")).to_be_visible()
    lead.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lead.get_by_role("button", name=bold("Copy link")).first.click()
    expect(lead.get_by_text("Copied.")).to_be_visible()
    return [lead.get_by_role("textbox", name=f"Link for {name}").input_value() for name in ("Ana", "Ben")]


def set_exam(lead: Page, bold: Buttons) -> None:
    exam_page(lead)
    expect(lead.get_by_role("button", name="Preview")).to_be_visible()
    page_is_done(lead)
    own = bold("My own grades")
    lead.get_by_test_id("stRadioGroup").get_by_text(own).click()
    expect(lead.get_by_role("radio", name=own)).to_be_checked()
    lead.locator(".st-key-exam_queries input").fill("1")
    lead.locator(".st-key-exam_pairs input").fill(str(BATCH))
    lead.get_by_role("button", name=bold("Preview")).click()
    lead.get_by_role("button", name=bold("Start exam")).click()
    lead.get_by_role("button", name=bold("Answer it yourself")).click()
    expect(lead.locator(".empty")).to_be_visible()
    no_serious_finding(lead)
    lead.keyboard.press("Enter")


def test_the_page_leads_from_an_empty_folder_to_a_release(
    server: AppServer, open_page: Callable[..., Page], tmp_path: Path
) -> None:
    bold, lead = Buttons(), open_page()
    create(lead, server.new_project_link(), bold)
    links = set_up(lead, tmp_path, bold)
    set_exam(lead, bold)

    # The lead grades the answer key at a desk without right grades.
    project = open_project(server.project)

    def right(name: str, pair: str) -> int:
        """4 of the moment that a query was written of, 1 of any other; the pair is found by the clip that is cut."""
        clip = clip_for(project, person_of(project, name), PairKey(pair))
        return 4 if (clip.identity, clip.start_s) in own else 1

    own = server.rows(OWN.format(among="IN"))
    for nth in range(BATCH):
        expect(lead.get_by_test_id("progress")).to_have_text(f"Exam, {nth + 1} of {BATCH}")
        pair = pair_on_show(lead)
        assert lead.locator("video[data-active='true']").evaluate("video => video.videoWidth") > 0
        press(lead, right("Lea", pair))
    saved(lead)
    assert server.rows("SELECT count(*) FROM exam WHERE closed_at IS NULL") == [(1,)]
    assert server.rows("SELECT count(annotator_id) FROM seat") == [(0,)], "a lead grades nothing"
    lead.keyboard.press("Enter")
    lead.get_by_role("button", name=bold("Back to the exam")).click()
    lead.get_by_label("Reason for using it").fill("a first try")
    lead.get_by_role("button", name=bold("Fix the answer key")).click()
    expect(lead.get_by_text("Answer key fixed: 3 × 1, 1 × 4.")).to_be_visible()

    # Ana passes, and grades what is left. So does Ben elsewhere, who disagrees once.
    given: dict[str, int] = {}
    page = open_page()
    join(page, links[0], PASSWORD)
    expect(page.locator(".empty")).to_be_visible()
    page.keyboard.press("Enter")
    for _ in range(BATCH):
        press(page, right("Ana", pair_on_show(page)))
    saved(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You passed the exam")).to_be_visible()
    page.keyboard.press("Enter")
    own = server.rows(OWN.format(among="NOT IN"))
    for _ in range(BATCH):
        pair = pair_on_show(page)
        given[pair] = right("Ana", pair)
        press(page, given[pair])
    saved(page)
    expect(player(page)).to_have_attribute("data-state", "empty")
    page.close()
    own = server.rows(OWN.format(among="IN"))
    have_read(project)
    bens = {pair: 0 if grade == 4 else grade for pair, grade in given.items()}
    ben = person_of(project, "Ben")
    exam_act(project, ben, ExamStep.START, now=time.time())
    grade_elsewhere(project, ben, lambda pair: right("Ben", pair))
    for step in (ExamStep.HAND_IN, ExamStep.GO_ON):
        exam_act(project, ben, step, now=time.time())
    grade_elsewhere(project, ben, bens.__getitem__)
    assert sorted(given.values()) == [1, 1, 1, 4]
    lead.reload()
    lead.get_by_role("tab", name=bold("Change or end")).click()
    lead.get_by_role("button", name=bold("Count the answers")).click()
    lead.get_by_role("button", name=bold("Count them as judgements")).click()
    expect(lead.get_by_text("8 answers for 4 pairs now count as judgements")).to_be_visible()

    # The inbox leads to the dispute, and the dispute to a relevance.
    lead.get_by_role("link", name=re.compile("^Progress")).first.click()
    lead.locator(".st-key-inbox").get_by_role("link", name=bold("Adjudicate")).click()
    expect(lead.get_by_label("Reason", exact=True)).to_be_visible()
    key_until(lead, "4", lead.get_by_role("radio", name=re.compile("^4 "), checked=True))
    expect(lead.get_by_label("Reason", exact=True)).to_be_focused()
    lead.keyboard.type("It is the whole action.")
    lead.keyboard.press("Enter")
    expect(lead.get_by_text("Relevance 4 saved")).to_be_visible()

    [(query,)] = server.rows("SELECT text FROM query JOIN pair USING (query_id) JOIN lead_act USING (pair_id)")
    lead.get_by_role("link", name=re.compile("^Queries")).first.click()
    lead.locator("tr[data-opens]").filter(has_text=query).click()
    lead.get_by_role("button", name=bold("Open batch 2")).click()
    expect(lead.get_by_text("Batch 2 is open: 4 pairs")).to_be_visible()
    for name in ("Ana", "Ben"):
        grade_elsewhere(project, person_of(project, name), lambda _: 1)

    lead.get_by_role("link", name=re.compile("^Release")).first.click()
    lead.get_by_role("button", name=bold("Make release")).click()
    with lead.expect_download(timeout=120_000) as download:
        lead.get_by_role("button", name=bold("Download"), exact=True).click(timeout=120_000)
    with zipfile.ZipFile(download.value.path()) as release:
        release.extractall(tmp_path)
    graded = json.loads(next(tmp_path.glob("*/test.json")).read_text())
    found = {
        document["query"]: sorted(moment["relevance"] for moment in document["relevant_moment"]) for document in graded
    }
    assert found.pop(query) == [1] * 7 + [4]
    assert list(found.values()) == [[1, 1, 1, 4]]
    assert bold.left == []
