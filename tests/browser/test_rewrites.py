"""The part Rewrites of the page Captions in a real browser: by keyboard, by two leads, over a session that ends."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app_server import AppServer
from axe import no_serious_finding, passes_axe
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from backend.store.connection import writing
from support import NOW, WordEncoder

pytestmark = pytest.mark.browser
LEADS, PASSWORD = ("Lea", "Lou"), "correct horse battery"
# Dev and Mona are missing from the cast; one text stands in two videos, one looks like Markdown and HTML.
CAPTIONS = [
    *("Then Dev waves at Anna.", "Then Dev sits down.", "Anna hugs Mona.", "Anna pours tea.", "Boris hugs Mona."),
    *("Now *Dev* <b>reads</b> to Boris.", "Boris gives Dev a ball.", "Anna and Dev dance.", "Rain falls."),
    *("Anna sees Dev.", "Anna opens the door for Mona.", "Boris leaves.", "Then Dev sits down."),
    "Boris calls Mona back.",
]  # fmt: skip
WAITING = 11
Enter = Callable[..., Page]


def build(folder: Path) -> Path:
    """A project with a cast that lacks two names, rewritten; two leads."""
    project = init_project(folder / "project", encoder="minilm")
    with (project.folder / "reelrank.toml").open("a") as file:
        file.write('"Anna" = "a woman"\n"Boris" = "a man"\n')
    project = open_project(project.folder)
    lines = [
        json.dumps({"video": f"v{n}", "start": 1, "end": 3, "duration": 9, "caption": text})
        for n, text in enumerate(CAPTIONS)
    ]
    (folder / "moments.jsonl").write_text("\n".join(lines))
    import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", now=NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        rewrite_captions(project, OPERATOR, now=NOW)
    with writing(project.store) as db:  # as a second attempt of a model would leave them
        db.conn.execute("UPDATE caption SET attempts = 2 WHERE accepted = 1 AND text LIKE 'A man%'")
    for name in LEADS:
        add_person_with_password(project, OPERATOR, name, Role.LEAD, PASSWORD, now=NOW)
    project.store.close()
    return project.folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("rewrites"))


@pytest.fixture(scope="module")
def serving(built: Path, serve: Callable[[Path], AppServer]) -> AppServer:
    return serve(Path(shutil.copytree(built, built.parent / "served")))


@pytest.fixture
def server(built: Path, serving: AppServer) -> AppServer:
    """One for all tests; what it serves is for each as it was built."""
    with (
        closing(sqlite3.connect(built / "reelrank.db")) as as_built,
        closing(sqlite3.connect(serving.project / "reelrank.db")) as served,
    ):
        as_built.backup(served)
    return serving


@pytest.fixture
def lead(enter: Enter, server: AppServer) -> Callable[..., Page]:
    """A lead at the page."""

    def entered(name: str = LEADS[0], **context: Any) -> Page:
        page = enter(name, PASSWORD, url=f"{server.url}/captions", **context)
        expect(page.get_by_role("heading", name="Captions", exact=True)).to_be_visible()
        expect(field(page).or_(page.get_by_text("fixed now"))).to_be_visible()
        return page

    return entered


def field(page: Page) -> Locator:
    return page.get_by_label("Imprecise caption")


def shows(page: Page, published: str, proposed: str | None = None) -> None:
    """Which rewrite the page shows."""
    expect(page.locator(".rewrites .before")).to_have_text(published, use_inner_text=True)
    if proposed is not None:
        expect(page.locator(".rewrites .after")).to_have_text(proposed, use_inner_text=True)
        expect(field(page)).to_have_value(proposed)


def counts(page: Page) -> dict[str, int]:
    return {
        group.get_attribute("data-count") or "": int(group.locator("dd").inner_text())
        for group in page.locator(".rewrites [data-count]").all()
    }


def equal_to_sql(page: Page, server: AppServer) -> None:
    """All that was pressed is saved, and the counts on top are those of the database."""
    ours = "FROM caption WHERE kind = 'rewritten' AND"
    found = server.rows(
        f"SELECT (SELECT count(*) {ours} accepted = 0 AND decided_at IS NULL), (SELECT count(*) {ours} accepted = 1), "
        f"(SELECT count(*) {ours} accepted = 1 AND rule_version = 'by-hand'), "
        f"(SELECT count(*) {ours} accepted = 0 AND decided_at IS NOT NULL), (SELECT count(*) {ours} attempts > 1)",
    )[0]
    shown = counts(page)
    assert tuple(shown[name] for name in ("waiting", "accepted", "by_hand", "rejected", "retried")) == found


def saved(page: Page, press: Callable[[], None]) -> None:
    """Press, and wait until the server has answered."""
    with page.expect_response("**/rewriting/*") as answer:
        press()
    answer.value.finished()


def test_the_queue_is_worked_by_keyboard_alone(lead: Callable[..., Page], server: AppServer) -> None:
    page = lead()
    shows(page, CAPTIONS[0], "Then Dev waves at a woman.")
    assert page.locator(".rewrites del").all_inner_texts() == ["Anna"]
    assert page.locator(".rewrites ins").all_inner_texts() == ["a woman"]
    expect(page.locator(".rewrites .why")).to_have_text("it still has a name: Dev")
    equal_to_sql(page, server)
    assert counts(page)["waiting"] == WAITING
    passes_axe(page)

    # Edit and accept, seen to be taken as typed.
    page.keyboard.press("e")
    expect(field(page)).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Then a man waves at a woman.")  # its letters are no commands, neither ours nor Streamlit's
    expect(page.get_by_role("button", name="Accept as edited")).to_be_visible()
    saved(page, lambda: page.keyboard.press("Enter"))
    shows(page, CAPTIONS[1], "Then Dev sits down.")
    expect(page.locator(".rewrites .why")).to_contain_text("Your decision counts for all 2 captions")
    expect(page.get_by_text("Accepted: “Then a man waves at a woman.”")).to_be_visible()

    # Reject both captions with these words; then accept as it stands; undo both, and decide otherwise.
    saved(page, lambda: page.keyboard.press("r"))
    shows(page, CAPTIONS[2], "A woman hugs Mona.")
    assert counts(page)["rejected"] == 2
    saved(page, lambda: page.keyboard.press("a"))
    shows(page, CAPTIONS[4])
    equal_to_sql(page, server)
    saved(page, lambda: page.keyboard.press("u"))
    shows(page, CAPTIONS[2], "A woman hugs Mona.")
    saved(page, lambda: page.keyboard.press("u"))
    shows(page, CAPTIONS[1], "Then Dev sits down.")
    equal_to_sql(page, server)
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Then a man sits down.")
    page.keyboard.press("Escape")  # leaves the field, and what was typed stands
    saved(page, lambda: page.keyboard.press("a"))
    shows(page, CAPTIONS[2])
    equal_to_sql(page, server)
    assert counts(page) == {"waiting": WAITING - 3, "accepted": 6, "by_hand": 3, "retried": 1, "rejected": 0}

    # A name of the cast is refused in words, and what was typed comes back.
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("A woman hugs Boris.")
    saved(page, lambda: page.keyboard.press("Enter"))
    expect(page.get_by_role("alert")).to_contain_text("the rewrite still has a name: Boris")
    shows(page, CAPTIONS[2])
    expect(field(page)).to_have_value("A woman hugs Boris.")
    passes_axe(page)

    # The rest, faster than the server answers.
    for _ in range(WAITING - 3 - 1):
        page.keyboard.press("r")
    expect(page.locator(".rewrites .before")).to_have_text("Boris calls Mona back.", use_inner_text=True)
    saved(page, lambda: page.keyboard.press("r"))
    expect(page.get_by_role("heading", name="No rewrites to review")).to_be_visible()
    expect(page.get_by_text("Next: reelrank queries ")).to_be_visible()
    expect(page.locator("[data-count=rejected] dd")).to_have_text(str(WAITING - 3))
    equal_to_sql(page, server)
    passes_axe(page)
    expected = [("Lea", "by-hand", 1, 3), ("Lea", "rules", 0, WAITING - 3)]
    assert expected == server.rows(
        "SELECT name, iif(rule_version = 'by-hand', 'by-hand', 'rules') AS version, accepted, count(*) FROM caption "
        "JOIN annotator ON annotator_id = decided_by GROUP BY version ORDER BY version",
    )

    # Once queries are drawn, the page says that the texts are fixed.
    project = open_project(server.project)
    draw_queries(project, OPERATOR, val=2, test=0, seed=1, now=NOW)
    project.store.close()
    saved(page, lambda: page.keyboard.press("u"))
    expect(page.get_by_role("alert")).to_contain_text("their texts are fixed")
    page.reload()
    expect(page.get_by_text("Queries are drawn from these captions. Rewriting is closed.")).to_be_visible()
    no_serious_finding(page)


@pytest.mark.long
def test_words_of_captions_are_shown_as_they_stand(lead: Callable[..., Page]) -> None:
    page = lead()
    for _ in range(4):
        page.keyboard.press("r")
    shows(page, "Now *Dev* <b>reads</b> to Boris.", "Now *Dev* <b>reads</b> to a man.")


@pytest.mark.long
def test_what_was_typed_outlives_the_session(lead: Callable[..., Page], server: AppServer) -> None:
    page = lead()
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Then a man waves to her.")
    server.rows("DELETE FROM session")
    page.keyboard.press("Enter")
    # The queue says it, and then the page itself, which may come before the click.
    page.get_by_role("alert").get_by_role("link", name="Sign in").first.click()
    page.get_by_label("Name").fill(LEADS[0])
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    shows(page, CAPTIONS[0])
    expect(field(page)).to_have_value("Then a man waves to her.")
    equal_to_sql(page, server)


@pytest.mark.long
def test_a_server_that_is_away_for_a_while_loses_nothing(lead: Callable[..., Page], server: AppServer) -> None:
    page = lead()
    server.kill()
    page.keyboard.press("r")
    shows(page, CAPTIONS[1])
    expect(page.get_by_role("alert").filter(has_text="not saved yet")).to_be_visible()
    with page.expect_response(lambda answer: "/rewriting/" in answer.url and answer.ok):
        server.start()
    expect(page.get_by_text("Rejected: “Then Dev waves at Anna.”")).to_be_visible()
    equal_to_sql(page, server)


@pytest.mark.long
@pytest.mark.parametrize(
    "context", [{"viewport": {"width": 390, "height": 844}}, {"color_scheme": "dark"}], ids=["narrow", "dark"]
)
def test_small_and_dark_screens(lead: Callable[..., Page], context: dict[str, Any]) -> None:
    page = lead(**context)
    passes_axe(page, ".stMain")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    saved(page, page.get_by_role("button", name="Accept A").click)
    shows(page, CAPTIONS[1])
    passes_axe(page, ".stMain")
