"""What people and files wrote stands on the pages sign by sign in a real browser: none of it is Markdown or HTML."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from backend.campaign.demo import demo_people
from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR, Person, Scale
from backend.campaign.qualification.exam.answer_key import exam_items, explain_exam_item
from backend.campaign.qualification.exam.results import exempt_from_exam
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.qualification.guideline.practice_pairs import choose_practice
from backend.campaign.qualification.guideline.versions import choose_example, reword_guideline
from backend.campaign.release.board.kept_runs import add_run, add_truth
from backend.campaign.review.adjudicating import adjudicate, reply_to_note
from backend.campaign.review.model import ReviewList
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.ids import AnnotatorId, MomentId
from hands import upload
from support import cases, have_read

pytestmark = [pytest.mark.long, pytest.mark.browser]
LEAD, ANNOTATORS, PASSWORD = demo_people()
SIGNS = "*a* <b> [x](y) $x$ :smile: # y -> -- >= ~= :material_home: :streamlit: &lt; a@b.io www.b.io"
TOOK_EFFECT = "em, .katex, a[href$='/y'], a[href*='b.io'], [aria-label='home icon'], img[alt='Streamlit logo']"
Enter = Callable[..., Page]


def hostile(what: str) -> str:
    """A text that tells its field and tries every way to be more than text."""
    return f"{what} {SIGNS}"


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path], serve: Callable[[Path], AppServer]
) -> AppServer:
    """The app over the judged demo, with hostile text in every field that a file or a person fills."""
    folder = tmp_path_factory.mktemp("literal")
    demo(folder / "project", judged=True)
    settings = folder / "project" / "reelrank.toml"
    named = [line for line in settings.read_text().splitlines() if not line.startswith("name =")]
    settings.write_text("\n".join([f"name = '{hostile('project')}'", *named]))
    with closing(sqlite3.connect(folder / "project" / "reelrank.db")) as db, db:
        db.execute("UPDATE query SET text = 'query ' || query_id || ? ", [f" {SIGNS}"])
        db.execute("UPDATE caption SET text = 'caption ' || caption_id || ?", [f" {SIGNS}"])
        db.execute("UPDATE video SET name = 'video ' || video_id || ?", [f" {SIGNS}"])
        for name in (LEAD, ANNOTATORS[0]):
            db.execute("UPDATE annotator SET name = ? WHERE name = ?", [hostile(name), name])
        waiting = "SELECT {} FROM pair LEFT JOIN consensus USING (pair_id) WHERE verdict IS NULL ORDER BY pair_id"
        db.execute(
            "INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key) "
            f"SELECT ({waiting.format('pair_id')} LIMIT 1), annotator_id, 'skip', ?, 1, 'skip' FROM annotator "
            "WHERE name = ?",
            [hostile("skip"), hostile(ANNOTATORS[0])],
        )
        db.execute(
            "INSERT INTO clip_fault (moment_id, reason, reported_at) "
            f"SELECT moment_id, ?, 1 FROM ({waiting.format('moment_id')} LIMIT 1 OFFSET 5)",
            [hostile("fault")],
        )
    _act(open_project(folder / "project"), folder)
    return serve(folder / "project")


def _act(project: Project, folder: Path) -> None:
    """What a lead does with words: a decision, an example, an exam, an exemption, a run and a truth."""
    people = {row.person.name: row.person for row in list_people(project, OPERATOR)}
    lead, now = people[hostile(LEAD)], time.time()
    queries = list_queries(project, lead)
    pairs = [pair for query in queries for pair in query_pairs(project, lead, query.query_id)]
    shown = [pair for pair in pairs if not pair.fault]
    disputed = next(pair for pair in shown if pair.verdict.value == "discarded")
    adjudicate(project, lead, disputed.pair, 3, hostile("decision"), now=now)
    settled = next(pair for pair in shown if pair.relevance == 4)
    choose_example(project, lead, settled.pair, 4, hostile("note"), now=now)
    set_exam(project, lead, queries=1, pairs=3, seed=1, most_missed=20, although="few pairs", now=now)
    for item in exam_items(project, lead):
        explain_exam_item(project, lead, item.item_id, hostile("explanation"), now=now)
    examinee = people[hostile(ANNOTATORS[0])].annotator_id
    exempt_from_exam(project, lead, AnnotatorId(examinee), hostile("exemption"), now=now)
    _write_notes(project, lead, people[hostile(ANNOTATORS[0])])
    run = {
        str(pair.query_id): [[other.video, other.start_s, other.end_s, 1.0] for other in pairs if other == pair]
        for pair in pairs
    }
    file = folder / f"{hostile('file')}.json"
    file.write_text(json.dumps(run))
    add_run(project, lead, file, name=hostile("run"), now=now)
    truth = folder / "truth.json"
    moments = [{"video_name": settled.video, "timestamp": [settled.start_s, settled.end_s], "relevance": 4}]
    truth.write_text(json.dumps([{"query_id": 1, "query": settled.query, "relevant_moment": moments}]))
    add_truth(project, lead, truth, name=hostile("truth"), now=now)
    grading = project.campaign.grading
    meanings = tuple(replace(one, example="") for one in grading.scale.meanings)  # those would stand in an <em> of ours
    reworded = replace(grading, scale=Scale(meanings), reminders=(hostile("reminder"),))
    reword_guideline(project, lead, reworded, hostile("changed"), now=now)
    have_read(project)
    choose_practice(project, lead, hostile("practised"), MomentId(1), 4, hostile("explained"), now=now)


def _write_notes(project: Project, lead: Person, annotator: Person) -> None:
    """A note with a grade and the lead's reply, which has reached its person: an hour ago the pair was decided."""
    then = time.time() - 3600
    pair = desk(project, annotator, now=then).items[0].pair
    grade = GradeEvent(pair, 3, "noted", 1000, note=hostile("written"))
    assert record_grades(project, annotator, [grade], now=then)[0].status == "saved"
    (given,) = (one for noted in cases(project, lead, ReviewList.NOTES) for one in noted.grades if one.note)
    assert given.note is not None
    reply_to_note(project, lead, given.note.note, hostile("replied"), now=then)
    adjudicate(project, lead, pair, 3, hostile("decision"), now=then)


@pytest.fixture
def enter(enter: Enter, server: AppServer) -> Enter:
    """Opens a page as somebody; at the end nothing of what was written may have taken effect on any page."""

    def entered(path: str, name: str = LEAD) -> Page:
        # Below 1700 a lead's menu takes the place of the project's name.
        viewport = {"width": 1920, "height": 800}
        return enter(hostile(name), url=server.url + path, viewport=viewport)

    return entered


def stands(page: Page, *whats: str) -> None:
    """The texts of these fields are on the page, sign by sign, and no text of anybody does anything there."""
    main = page.get_by_test_id("stApp")
    for what in whats:
        expect(main.get_by_text(hostile(what)).filter(visible=True).first).to_be_visible()
    expect(main.locator(TOOK_EFFECT)).to_have_count(0)
    told = main.inner_text()
    assert "😄" not in told
    assert not set("→—≥≈") & set(told)


def settled_query(server: AppServer) -> int:
    return int(list_queries(open_project(server.project), OPERATOR)[0].query_id)


def test_queries(enter: Enter, server: AppServer) -> None:
    query = settled_query(server)
    page = enter(f"/queries?query={query}")
    stands(page, f"query {query}", "project")
    page.locator(".rr-candidates article").first.click()
    expect(page.locator(".st-key-query-pair")).to_be_visible()
    stands(page, f"query {query}")
    expect(page.locator(".rr-candidates .rr-caption").first).to_contain_text(SIGNS)
    expect(page.locator(".st-key-query-pair").get_by_text("caption ")).to_contain_text(SIGNS)
    page.goto(page.url.partition("?")[0])
    expect(page.locator(".rr-list tbody tr")).not_to_have_count(0)
    stands(page, f"query {query}")


def test_disagreements(enter: Enter) -> None:
    page = enter("/disputes?show=blocked")
    expect(page.get_by_role("button", name="Hand out again").first).to_be_visible()
    stands(page, "fault")
    page.get_by_role("radio", name="Adjudicated").click()
    expect(page.get_by_text("Decided by a lead: relevance 3.").first).to_be_visible()
    stands(page, "decision")
    page.get_by_role("radio", name="Skipped").click()
    stands(page, "skip", ANNOTATORS[0])
    page.get_by_role("radio", name="Notes").click()
    expect(page.get_by_text(f"“{hostile('written')}”").first).to_be_visible()
    expect(page.get_by_text(f"“{hostile('replied')}”")).to_be_visible()
    stands(page)


def test_guideline(enter: Enter) -> None:
    page = enter("/guideline")
    seen = page.get_by_label("The guideline as annotators see it")
    expect(seen).to_contain_text(hostile("reminder"))
    stands(page)
    page.get_by_role("tab", name="Versions").click()
    stands(page, "changed", "reminder")
    page.get_by_role("tab", name="Tutorial").click()
    stands(page, "practised", "explained")


def test_the_tutorial(enter: Enter) -> None:
    page = enter("/grade?tutorial", ANNOTATORS[0])
    sheet = page.get_by_test_id("lesson-sheet")
    expect(sheet.get_by_role("heading", name="How to grade")).to_be_visible()
    for _ in range(7):
        page.keyboard.press("Enter")
    expect(sheet).to_contain_text(hostile("reminder"))
    stands(page)


def test_progress(enter: Enter) -> None:
    stands(enter("/progress"), "project", LEAD)


def test_backups(enter: Enter) -> None:
    page = enter("/backups")
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_role("button", name="Download", exact=True)).to_be_visible()
    stands(page, "project", LEAD)


def test_people(enter: Enter) -> None:
    page = enter("/people")
    stands(page, ANNOTATORS[0], LEAD)
    row = page.locator("[class*=st-key-person-]").filter(has_text=ANNOTATORS[0])
    row.get_by_role("button", name="New link").click()
    stands(page, f"Send this link to {ANNOTATORS[0]}")
    # A new name has at most 80 characters: the signs come in two parts, and each is invited, then refused.
    for part in (SIGNS[:28], SIGNS[28:]):
        for told in (f"Send this link to {part}", f"there is already somebody named {part}"):
            page.get_by_label("Name").fill(part)
            page.get_by_role("button", name="Add and invite").click()
            expect(page.get_by_test_id("stApp").get_by_text(told).filter(visible=True).first).to_be_visible()
            stands(page, ANNOTATORS[0])


def test_exam(enter: Enter) -> None:
    page = enter("/exam")
    stands(page, "Exempt: exemption", f"Started by {LEAD}")
    page.get_by_role("tab", name="Items").click()
    expect(page.get_by_text("Right grade")).to_be_visible()
    expect(page.get_by_role("tabpanel", name="Items").get_by_role("heading")).to_contain_text(SIGNS)
    stands(page)


def test_leaderboard(enter: Enter, tmp_path: Path) -> None:
    page = enter("/leaderboard")
    box = page.get_by_test_id("stSelectbox").filter(has_text="Ground truth").locator("input")
    box.click()
    page.get_by_role("option", name=hostile("truth")).click()
    stands(page, "truth")
    for part in ("Charts", "Groups", "Errors", "Cases", "Runs"):
        page.get_by_role("radio", name=part).click()
        expect(page.get_by_test_id("stSpinner")).to_have_count(0)
        if part == "Cases":
            expect(page.get_by_role("heading", level=2).first).to_contain_text(SIGNS)
        stands(page)
    stands(page, "run", "file", "truth", f"by {LEAD}")
    file = tmp_path / f"{hostile('broken')}.json"
    file.write_text('{"1": [["v", 5, 4, 1]]}')
    upload(page, file)
    page.get_by_role("button", name="Upload", exact=True).last.click()
    expect(page.get_by_test_id("stAlert").filter(has_text="row 1")).to_contain_text(hostile("broken"))
    stands(page)


def test_pages_of_annotators(enter: Enter) -> None:
    page = enter("/my-work", ANNOTATORS[0])
    stands(page, "exempted you: exemption", ANNOTATORS[0])
    expect(page.get_by_text(f"“{hostile('written')}”")).to_be_visible()
    expect(page.get_by_text(f"“{hostile('replied')}”")).to_be_visible()
    page.goto(page.url.replace("/my-work", "/people"))
    stands(page, f"You are signed in as {ANNOTATORS[0]}")
