"""The evaluation report: one file, nothing fetched, everything from files shown as text."""

import base64
import hashlib
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.leaderboard import report_frames
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.scoring.files.facts import Inputs
from backend.scoring.report.page import add_strips, report_page
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.scored_files import file_inputs, score_files
from scored import HOSTILE, QUERIES, video_project, write_files

MADE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


class Page(HTMLParser):
    """Tags, attributes and cells of a page, as a browser would read them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.broken = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.broken = tag == "wbr"
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        # A place where a name may be broken is no end of its text.
        if self.broken:
            self.texts[-1] += data
        elif data.strip():
            self.texts.append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        self.broken = False

    def values(self, *names: str) -> list[str]:
        return [value for _, name, value in self.attributes if name in names]


@pytest.fixture
def board(tmp_path: Path) -> tuple[Scoreboard, Inputs]:
    truth, runs = write_files(tmp_path)
    return score_files(truth, runs, k=[3, 5]), file_inputs(truth, runs)


@pytest.fixture
def text(board: tuple[Scoreboard, Inputs]) -> str:
    return report_page(*board, made=MADE)


def test_nothing_is_fetched_and_no_text_of_a_file_becomes_markup(text: str) -> None:
    page = Page(text)
    assert page.tags.count("script") == 1
    assert not {"link", "iframe", "object", "embed", "img", "base", "form"} & set(page.tags)
    for value in page.values("src", "href", "xlink:href", "action", "poster", "srcset"):
        assert value.startswith(("#", "data:text/csv"))
    outside = re.sub(r'xmlns(:xlink)?="http://www\.w3\.org/[^"]+"', "", text)
    assert "http://" not in outside
    assert "https://" not in outside
    assert "url(" not in outside
    assert "@import" not in outside
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert HOSTILE in " ".join(page.texts)
    assert "a<b>&'_{x}|`" in page.texts


def test_every_link_leads_to_the_one_element_of_that_name(text: str) -> None:
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    targets = [value[1:] for value in page.values("href") if value.startswith("#")]
    assert set(targets) <= set(page.ids)
    assert any(target.startswith("c1g") for target in targets)


def test_only_the_pages_own_script_may_run(text: str) -> None:
    policy = next(value for value in Page(text).values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "unsafe-eval" not in policy


def test_the_page_says_what_was_scored_how_and_with_which_files(
    text: str, board: tuple[Scoreboard, Inputs], tmp_path: Path
) -> None:
    page = Page(text)
    assert "2026-01-02 03:04 UTC" in page.texts
    files = list(tmp_path.iterdir())
    assert len(files) == 4
    for path in files:
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page.texts
    for run in board[0].runs:
        assert f"{run.means['ndcg@5,0.5']:.4f}" in page.texts
    assert "a<b>&'_{x}|` has no predictions for 2 queries: q0, q1" in page.texts
    assert any("preset paper" in words for words in page.texts)


def test_options_that_differ_from_the_preset_stand_beside_every_table(tmp_path: Path) -> None:
    truth, runs = write_files(tmp_path)
    board = score_files(truth, runs, missing="skip", min_relevance=3)
    text = report_page(board, file_inputs(truth, runs), made=MADE)
    captions = re.findall(r"<caption[^>]*>(.*?)</caption>", text, re.DOTALL)
    numbers = [caption for caption in captions if "ndcg" in caption or "measures" in caption]
    assert len(numbers) >= 5
    assert all("paper, missing=skip, min_relevance=3" in caption for caption in numbers)


def test_the_download_holds_the_table_it_stands_above(text: str, board: tuple[Scoreboard, Inputs]) -> None:
    import csv
    from urllib.parse import unquote

    link = next(value for value in Page(text).values("href") if value.startswith("data:"))
    rows = list(csv.DictReader(unquote(link.partition(",")[2]).splitlines()))
    assert len(rows) == QUERIES
    assert {row["measure"] for row in rows} == {"ndcg@5,0.5"}
    for run in board[0].runs:
        assert sum(float(row[run.name]) for row in rows) / QUERIES == pytest.approx(run.means["ndcg@5,0.5"])


@pytest.mark.parametrize("measures", [["axiou"], ["recall", "dcg"], ["ndcg"]])
def test_one_run_and_any_measures_make_a_page(tmp_path: Path, measures: list[str]) -> None:
    truth, runs = write_files(tmp_path)
    board = score_files(truth, runs[2:], measures=measures)
    page = Page(report_page(board, file_inputs(truth, runs[2:]), made=MADE))
    assert f"mean {board.focus}" in page.texts
    assert "difference to baseline" not in page.texts


def test_many_runs_stand_in_tables_that_a_sheet_of_paper_holds(tmp_path: Path) -> None:
    truth, runs = write_files(tmp_path)
    named = [tmp_path / f"run{number:02}.json" for number in range(12)]
    for number, path in enumerate(named):
        path.write_bytes(runs[2 if number % 4 else 0].read_bytes())
    board = score_files(truth, named, k=[5], mu=[0.5], theta=[0.5])
    text = report_page(board, file_inputs(truth, named), made=MADE)
    heads = [re.findall(r"run\d\d", head) for head in re.findall(r"<thead>(.*?)</thead>", text, re.DOTALL)]
    names = [path.stem for path in named]
    assert [head for head in heads if len(head) > 1] == [names[:6], names[6:], names[:10]], (
        "means twice, every query once"
    )
    page = Page(text)
    assert any("The best 10 of 12 runs are shown, the file has all." in words for words in page.texts)
    # Nine runs lack queries: what else is to know stays in reach, and the table on the first screen.
    (more,) = (int(words.removesuffix(" more")) for words in page.texts if re.fullmatch(r"\d+ more", words))
    note = text[text.index('<div class="note"') : text.index('<section id="leaderboard">')]
    shown, folded = note.split("<details>")
    assert (shown.count("<li>"), folded.count("<li>")) == (2, more)
    assert note.count("has no predictions for 2 queries") == 9


def test_a_run_none_of_whose_queries_count_makes_a_page(tmp_path: Path) -> None:
    truth, _ = write_files(tmp_path)
    (tmp_path / "empty.json").write_text("{}")
    board = score_files(truth, [tmp_path / "empty.json"], preset="tvr-ranking")
    page = Page(report_page(board, file_inputs(truth, [tmp_path / "empty.json"]), made=MADE))
    assert any("no query counts" in words for words in page.texts)


@pytest.mark.long
def test_a_project_with_the_videos_puts_frames_beside_the_bars(
    tmp_path: Path, text: str, board: tuple[Scoreboard, Inputs]
) -> None:
    told: list[tuple[str, int, int]] = []
    project = video_project(tmp_path)
    film = report_frames(project, OPERATOR)
    filmed = report_page(*board, made=MADE, film=film, progress=lambda *one: told.append(one))
    strips = re.findall(r"\.s(\d+)\{background-image:url\(data:image/webp;base64,([^)]*)\)\}", filmed)
    assert [int(number) for number, _ in strips] == list(range(len(strips)))
    assert len(strips) > 20
    assert all(base64.b64decode(strip, validate=True)[8:12] == b"WEBP" for _, strip in strips)
    assert filmed.count("url(") == len(strips)
    page = Page(filmed)
    # Every class leads to a picture, and every picture says what it is.
    classes = re.findall(r'class="film s(\d+)"', filmed)
    assert set(classes) == {number for number, _ in strips}
    assert len(classes) > len(strips)
    alt = [value for value in page.values("aria-label") if value.startswith("Six frames of ")]
    assert len(alt) == len(classes)
    assert not any("s01e00_seg02_clip_00" in words for words in alt)
    assert any("s01e01_seg02_clip_01" in words for words in alt)
    # Pictures are all that is new: the policy and the script are those of a page without any.
    policies = {value for one in (page, Page(text)) for value in one.values("content") if "default-src" in value}
    assert len(policies) == 1
    assert "img-src data:;" in policies.pop()
    assert not {"img", "video", "image"} & set(page.tags)
    missing = next(words for words in page.texts if "have no picture" in words)
    moments = int(re.search(r"(\d+) of (\d+) moments", missing)[2])  # type: ignore[index]
    drawn = [(done, total) for what, done, total in told if what == "drawing pictures of moments"]
    assert drawn == [(done, moments) for done in range(moments + 1)]


def test_without_a_project_or_its_videos_a_report_has_bars_only(
    tmp_path: Path, text: str, board: tuple[Scoreboard, Inputs]
) -> None:
    assert "base64" not in text
    assert 'class="film' not in text
    empty = init_project(tmp_path / "empty", encoder="minilm")
    filmed = report_page(*board, made=MADE, film=report_frames(empty, OPERATOR))
    assert 'class="film' not in filmed
    assert re.search(r"(\d+) of \1 moments have no picture", filmed)


def test_where_the_budget_ends_the_deep_ranks_go_without_and_the_page_says_so() -> None:
    def card(second: int) -> dict[str, Any]:
        return {"span": ("v", float(second), second + 1.0), "strip": None}

    moments = [card(0), card(1)]
    first, second = [card(0), card(2), card(3)], [card(4), card(1)]
    cases = [{"moments": moments, "runs": [{"first": first}]}, {"moments": [], "runs": [{"first": second}]}]
    asked: list[float] = []

    def film(video: str, start_s: float, end_s: float) -> bytes:
        asked.append(start_s)
        return b"x" * 300

    found = add_strips([{"cases": cases}], film, budget=1_000)
    # 300 bytes are 400 characters: the third goes past 1,000.
    assert asked == [0, 4, 1]
    assert [len(strip) for strip in found["strips"]] == [400] * 3
    assert [[one["strip"] for one in lane] for lane in (moments, first, second)] == [[0, 2], [0, None, None], [1, 2]]
    assert "The pictures end at 0.001 MB; 2 later moments have none." in found["words"]


def test_the_page_opens_with_one_table_and_the_rest_is_folded(tmp_path: Path) -> None:
    truth, runs = write_files(tmp_path)
    text = report_page(score_files(truth, runs), file_inputs(truth, runs), made=MADE)
    body = re.sub(r"<style>.*?</style>", "", text[text.index("<main>") :], flags=re.DOTALL)
    first, *folded = re.split(r'<details class="part">', body)
    assert first.count("<table") == 1
    assert len(folded) == 7
    for part in folded:
        assert re.match(r'<summary><h2>[^<]+</h2> <span class="quiet">[^<]+</span></summary>\s*<section id="\w+"', part)
    # Every link of the head leads to a section; a browser unfolds what holds it.
    links = re.findall(r"<nav.*?</nav>", text, re.DOTALL)[0]
    assert re.findall(r'href="#(\w+)"', links) == re.findall(r'<section id="(\w+)"', body)
