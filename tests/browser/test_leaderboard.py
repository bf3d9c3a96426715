"""The leaderboard in a real browser: ranking, clips of cases, report; hostile names."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run, add_truth, remove_run
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import Project, open_project
from hands import page_is_done, until

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, ANNOTATORS, _ = demo_people()
HOSTILE = "<img src=x onerror=document.title='run'> **run** " + "long-name-" * 4
SCREEN: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 900}
PARTS = ("Ranking", "Charts", "Groups", "Errors", "Cases", "Runs")
Enter = Callable[..., Page]


def prepare(project: Project) -> None:
    """The app over the judged demo project, with a run more whose name tries to be markup."""
    add_run(
        project, OPERATOR, write_run(project.folder.parent / "hostile.json", project), name=HOSTILE, now=1_790_000_000
    )


@pytest.fixture
def enter(enter: Enter, server: AppServer) -> Iterator[Enter]:
    """Open the page as somebody who has signed in; no script may fail and no markup of a run take effect."""
    pages: list[Page] = []
    failed: list[str] = []

    def entered(name: str = LEAD) -> Page:
        page = enter(
            name,
            url=f"{server.url}/leaderboard",
            viewport=SCREEN,
            watch=lambda page: page.on("pageerror", lambda error: failed.append(str(error))),
        )
        pages.append(page)
        if name == LEAD:
            expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
        return page

    yield entered
    assert failed == []
    assert "run" not in [page.title() for opened in pages for page in opened.context.pages]


def write_run(path: Path, project: Project) -> Path:
    """Every query's candidates, the last first."""
    run = {}
    for query in list_queries(project, OPERATOR):
        pairs = query_pairs(project, OPERATOR, query.query_id)[::-1]
        run[str(query.query_id)] = [[p.video, p.start_s, p.end_s, 1 / n] for n, p in enumerate(pairs, start=1)]
    path.write_text(json.dumps(run))
    return path


def open_part(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name, exact=True)).first.click()
    shown = {
        "Ranking": page.get_by_text("Export", exact=True),
        "Charts": page.locator("[data-testid=stVegaLiteChart] svg, [data-testid=stVegaLiteChart] canvas").first,
        "Groups": page.get_by_text("Queries by"),
        "Errors": page.get_by_text("What became of the truth"),
        "Cases": page.locator(".case .card").first,
        "Runs": page.get_by_text("Upload files"),
    }
    expect(shown[name]).to_be_visible()
    expect(page.get_by_test_id("stSpinner")).to_have_count(0)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_test_id("stSelectbox").filter(has_text=label).locator("input").first.click()
    page.get_by_role("option", name=option, exact=True).click()


def table_cells(page: Page) -> list[str]:
    """The ranking as it is read out: the canvas has a table of the same cells for readers."""
    cells = page.get_by_test_id("stDataFrame").first.locator("table [role=gridcell]")
    expect(cells.first).to_be_attached()
    return cells.all_inner_texts()


def stays_within(page: Page) -> None:
    """Tables and charts take up another width of the window by and by."""
    main = page.get_by_test_id("stMain").element_handle()
    until(page, "(main) => main.scrollWidth <= main.clientWidth", main)


def is_faded(card: Locator) -> bool:
    return card.evaluate("(card) => Number(getComputedStyle(card).opacity) < 1")


def is_drawn_in(page: Page, scheme: str) -> None:
    """Streamlit has drawn the page in the colours that were asked for."""
    lightness = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor.match(/\\d+/)[0]"
    until(page, f"({lightness} > 127) === {json.dumps(scheme == 'light')}")
    page_is_done(page)


@pytest.mark.long
def test_every_part_is_usable_by_everybody_and_a_hostile_name_is_text_in_it(enter: Enter) -> None:
    """In the light, in the dark and on a phone, where the next part is opened then."""
    page = enter()
    for name in PARTS:
        open_part(page, name)
        if name == "Runs":
            expect(page.get_by_text("<img src=x onerror=document.title='run'> **run**").first).to_be_visible()
        assert page.locator("img[src=x]").count() == 0
        for table in page.get_by_test_id("stDataFrame").filter(visible=True).all():
            table.hover()
            expect(table.get_by_role("button", name="Search")).to_be_visible()
            assert table.get_by_role("button", name="CSV").count() == 0, "a raw CSV, in which names can be formulas"
        page.set_viewport_size(SCREEN)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            is_drawn_in(page, scheme)
            no_serious_finding(page)
            stays_within(page)
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light")
        stays_within(page)
        if name == "Cases":
            truth, run = page.locator(".case .truth").bounding_box(), page.locator(".case .run").bounding_box()
            assert truth is not None
            assert run is not None
            assert truth["x"] == run["x"]
            assert run["y"] >= truth["y"] + truth["height"]
            expect(page.locator(".case svg")).to_be_hidden()
            page.set_viewport_size(SCREEN)
            choose(page, "Compare with", HOSTILE)
            expect(page.locator(".case h3").last).to_contain_text(HOSTILE)
            assert page.locator("img[src=x]").count() == 0
    assert page.title() != "run"


@pytest.mark.long
def test_the_ranking_is_exported(enter: Enter, server: AppServer, browser: Browser, tmp_path: Path) -> None:
    page = enter()
    expect(page.get_by_text("settled val: preset paper, unknown=ignore; 8 queries, ")).to_be_visible()
    assert "None" not in table_cells(page)
    page_is_done(page)

    # The report is one file that needs nothing else.
    with page.expect_download() as download:
        page.get_by_role("button", name="Report").click()
    assert download.value.suggested_filename == "leaderboard.html"
    download.value.save_as(tmp_path / "leaderboard.html")
    asked: list[str] = []
    context = browser.new_context(offline=True)
    opened = context.new_page()
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto((tmp_path / "leaderboard.html").as_uri())
    expect(opened.locator("#leaderboard")).to_contain_text("similarity (demo)")
    expect(opened.locator("#leaderboard")).to_contain_text(HOSTILE)
    assert opened.title() != "run"
    assert asked == [opened.url]
    context.close()

    # The caption spoke of all measures while only the one on the screen had been compared.
    choose(page, "Baseline", "any order (demo)")
    expect(page.get_by_text("Differences: run minus any order (demo)")).to_be_visible()
    page_is_done(page)  # the buttons below it hand out this run's files from now on
    files = {}
    for label, name in (("CSV", "leaderboard.csv"), ("LaTeX", "leaderboard.tex"), ("Markdown", "leaderboard.md")):
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        download.value.save_as(tmp_path / name)
        files[label] = (tmp_path / name).read_text(encoding="utf-8")
    rows = list(csv.DictReader(files["CSV"].splitlines()))
    apart = [row["measure"] for row in rows if row["p_holm"] and float(row["p_holm"]) < 0.05]
    assert len({measure.partition("@")[0] for measure in apart}) > 1, "the demo's runs differ by more than one measure"
    # The files say the same of every measure.
    for label, dagger in (
        ("LaTeX", r"(?<!phantom{)\$\^\{\\dagger\\(?:up|down)arrow\}\$"),
        ("Markdown", r"\d†[↑↓]"),
    ):
        assert len(re.findall(dagger, files[label])) == len(apart)


def test_a_case_links_what_matches_under_each_truth(enter: Enter, server: AppServer, tmp_path: Path) -> None:
    project = open_project(server.project)
    others = []
    for query in list_queries(project, OPERATOR)[:2]:
        pairs = query_pairs(project, OPERATOR, query.query_id)[:3]
        moments = [{"video_name": p.video, "timestamp": [p.start_s, p.end_s], "relevance": 2} for p in pairs]
        others.append({"query_id": query.query_id, "query": f"Other words {len(others)}", "relevant_moment": moments})
    (tmp_path / "other.json").write_text(json.dumps(others))
    add_truth(project, OPERATOR, tmp_path / "other.json", now=1_790_000_000)
    page = enter()
    open_part(page, "Cases")
    address = page.locator(".case video").first.get_attribute("data-src")
    assert page.request.get(f"{server.url}{address}").status == 200
    truth, run = page.locator(".case .truth"), page.locator(".case .run")
    for column in (truth, run):
        clip = column.locator("video").first
        expect(clip).to_have_js_property("readyState", 4)
        assert clip.evaluate("(clip) => clip.videoWidth") > 0
    moment = truth.locator(".card[data-number]").first
    number = moment.get_attribute("data-number")
    partner = run.locator(f".card[data-number='{number}']")
    expect(partner).to_have_count(1)
    expect(partner).to_contain_text(f"takes T{number}")
    expect(page.locator(f".case path[data-number='{number}']")).to_have_count(1)
    # By keyboard alone: from the query's box on with Tab until the first card has the focus.
    page.get_by_test_id("stSelectbox").filter(has_text="IoU from").locator("input").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if moment.evaluate("(card) => card.matches(':focus')"):
            break
    for card in (moment, partner):
        expect(card).to_have_class("card chosen")
    assert is_faded(run.locator(".card:not(.chosen)").first)
    assert run.locator(".card.chosen").count() == 1

    # With two runs the truth stands between them.
    choose(page, "Compare with", "any order (demo)")
    expect(page.locator(".case .run")).to_have_count(2)
    left, middle, right = (
        box["x"]
        for box in (
            page.locator(".case section h3").nth(0).bounding_box(),
            page.locator(".case .truth h3").bounding_box(),
            page.locator(".case section h3").nth(2).bounding_box(),
        )
        if box
    )
    assert left < middle < right
    drawn = page.locator(".case path").count()
    assert drawn == page.locator(".case .run .card[data-number]").count() > 0

    # The box of queries went on showing the words of the truth before: it was told nothing, its value was the same.
    box = page.get_by_test_id("stSelectbox").filter(has_text="Query").locator("input")
    expect(box).not_to_have_value(re.compile("Other words"))
    choose(page, "Ground truth", "other")
    expect(page.get_by_role("heading", name="Other words")).to_be_visible()
    expect(box).to_have_value(re.compile("Other words"))
    choose(page, "Ground truth", "settled val")
    expect(page.get_by_text("settled val: preset paper")).to_be_visible()


def test_several_runs_are_uploaded_at_once_and_an_upper_bound_is_never_first(
    enter: Enter, server: AppServer, tmp_path: Path
) -> None:
    """The ground truth is that of their queries; why a run is not compared stands under the table."""
    project = open_project(server.project)
    test = [query for query in list_queries(project, OPERATOR) if query.split.value == "test"]
    whole = json.loads(write_run(tmp_path / "whole.json", project).read_text())
    run = {str(query.query_id): whole[str(query.query_id)] for query in test}
    best = {
        str(query.query_id): [
            [pair.video, pair.start_s, pair.end_s, 1]
            for pair in sorted(query_pairs(project, OPERATOR, query.query_id), key=lambda pair: -(pair.relevance or 0))
        ]
        for query in test
    }
    files = {"mine.json": run, "yours.json": run, "caption.json": best, "elsewhere.json": {"999999": [["v", 0, 1, 1]]}}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    page = enter()
    open_part(page, "Runs")
    page.locator("input[type=file]").first.set_input_files([tmp_path / name for name in files])
    expect(page.get_by_text("elsewhere.json")).to_be_visible()
    page.get_by_role("button", name="Upload", exact=True).last.click()
    expect(page.get_by_text("Scored against settled test.")).to_be_visible()
    expect(page.get_by_text("caption · upper bound")).to_be_visible()
    box = page.get_by_test_id("stSelectbox").filter(has_text="Ground truth").locator("input")
    expect(box).to_have_value("settled test")
    open_part(page, "Ranking")
    cells = table_cells(page)
    assert "caption (upper bound)" in cells
    assert cells.index("caption (upper bound)") > max(cells.index(name) for name in ("mine", "yours"))
    expect(page.get_by_text("is not compared: elsewhere: its query is not in this ground truth")).to_be_visible()
    for name in ("mine", "yours", "caption", "elsewhere"):
        remove_run(project, OPERATOR, name, now=1_790_000_100)
