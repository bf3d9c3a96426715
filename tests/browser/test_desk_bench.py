"""The desk as an annotator feels it, measured: `make bench` prints the tables of docs/performance.md.

A real server, a real Chromium, real keys, the demo's videos. Never fails on a time.
"""

import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import streamlit
from playwright.sync_api import Browser, Page, expect

from app_server import AppServer, sign_in
from backend.campaign import demo
from backend.campaign.demo import build_demo
from backend.campaign.desk.clips import clip_for
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.people.accounts import add_person_with_password, list_people
from backend.campaign.setup.project.folder import Project
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import is_cut
from bench.tables import sized, table
from hands import until
from support import have_read

pytestmark = [pytest.mark.bench, pytest.mark.browser]

CLIPS = sized(20, 110)
CROWD, THINK_S = 24, 2.0
STARTS = sized(1, 3)
WARM_UP = 5
"""Clips before the first that counts."""

LABEL_STUDIO = "443 / 482 ms, and stands still"
BROWSING = ("alone", "cold", "among25")
LISTEN = """() => {
    const roots = [document];
    for (let n = 0; n < roots.length; n += 1)
        for (const element of roots[n].querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
    const player = roots.map((root) => root.querySelector("[data-testid='player']")).find(Boolean);
    window.took = [];
    // Added after the player's own listener for the same event: by now the next clip is the one on show.
    document.addEventListener("keydown", (event) => {
        const video = player.querySelector("video[data-active='true']");
        const entry = {pair: player.dataset.pair, at: [], media: [], ready: video.readyState};
        const seen = (now, {mediaTime}) => {
            entry.at.push(now - event.timeStamp);
            entry.media.push(mediaTime);
            if (entry.at.length === 2) window.took.push(entry);
            else video.requestVideoFrameCallback(seen);
        };
        video.requestVideoFrameCallback(seen);
    }, {capture: true});
}"""


@dataclass
class Machine:
    """CPU seconds and memory of a server and the processes it started."""

    pid: int

    def _all(self) -> list[int]:
        found = [self.pid]
        for parent in found:
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += [int(child) for child in children.read_text().split()]
        return found

    def memory_mb(self) -> tuple[float, float]:
        """Resident memory of the server, and of its helpers together."""
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._all()]
        megabytes = [count * os.sysconf("SC_PAGE_SIZE") / 2**20 for count in pages]
        return megabytes[0], sum(megabytes[1:])

    def cpu_s(self) -> float:
        """CPU seconds of the server so far, its helpers left out."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(values: list[float]) -> str:
    """Median / 95th percentile / longest, in ms."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"{statistics.median(ordered):,.0f} / {p95:,.0f} / {ordered[-1]:,.0f} ms"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The demo with 80 queries of 20 pairs, so that 25 people have work; nothing is cut yet."""
    return campaign_of(tmp_path_factory.mktemp("desk") / "project", [*BROWSING, *crowd_names(CROWD)])


def crowd_names(people: int) -> list[str]:
    """What people of a crowd are called."""
    return [f"crowd{n}" for n in range(people)]


def campaign_of(folder: Path, names: Sequence[str]) -> Project:
    """The demo with 80 queries of 20 pairs, and these people; nothing is cut yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "VAL_QUERIES", 40)
        patch.setattr(demo, "TEST_QUERIES", 40)
        project = build_demo(folder, judged=False, now=time.time(), progress=lambda *_: None)
    for name in names:
        add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, demo.PASSWORD, now=time.time())
    have_read(project)
    return project


def cut_all(project: Project) -> int:
    """Cut every clip of the project, and return how many there are."""
    lead = next(row.person for row in list_people(project, OPERATOR) if row.person.role is Role.LEAD)
    pairs = [
        pair for query in list_queries(project, OPERATOR) for pair in query_pairs(project, OPERATOR, query.query_id)
    ]
    jobs = {job.path: job for job in (clip_for(project, lead, pair.pair) for pair in pairs)}
    for job in jobs.values():
        if not is_cut(job):
            cut_clip(job)
    return len(jobs)


@contextmanager
def desk_of(browser: Browser, url: str, name: str) -> Iterator[Page]:
    """A browser with somebody's first clip on show."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(url)
    sign_in(page, name, demo.PASSWORD)
    expect(page.locator('[data-testid="player"][data-gradable="true"]')).to_be_visible()
    page.evaluate(LISTEN)
    yield page
    context.close()


def grade_clips(page: Page, clips: int, think_s: float) -> list[dict[str, Any]]:
    """Grade by keys with a random pause before each; what the page measured, the first few left out."""
    chance = random.Random(7)
    gradable = page.locator('[data-testid="player"][data-gradable="true"]')
    for number in range(clips + WARM_UP):
        expect(gradable).to_be_visible()
        page.wait_for_timeout(1000 * chance.expovariate(1 / think_s))
        page.keyboard.press(str(number % 5))
        until(page, "(count) => window.took.length === count", number + 1, within_s=60)
    took: list[dict[str, Any]] = page.evaluate("window.took")
    assert len({entry["pair"] for entry in took}) == len(took)
    return took[WARM_UP:]


@contextmanager
def crowd_at(url: str, seen: dict[str, Any], names: Sequence[str]) -> Iterator[None]:
    """People at work in another process; afterwards `seen` has what they saw."""
    script = Path(__file__).with_name("crowd_load.py")
    command = [sys.executable, str(script), url, demo.PASSWORD, str(THINK_S), *names]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline().strip() == "ready"
            yield
            told, _ = process.communicate("", timeout=60)
            seen.update(json.loads(told))
        finally:
            process.kill()


def begin(server: AppServer) -> tuple[float, Machine]:
    """Start the server; the seconds until it answered."""
    began = time.perf_counter()
    server.start()
    took = time.perf_counter() - began
    assert server.process is not None
    return took, Machine(server.process.pid)


def row(setting: str, took: list[dict[str, Any]], aim: str, load: float) -> list[str]:
    return [
        setting,
        str(len(took)),
        spread([entry["at"][0] for entry in took]),
        spread([entry["at"][1] for entry in took]),
        aim,
        f"{load:.1f}",
    ]


def test_key_to_the_next_clip(browser: Browser, project: Project, tmp_path: Path) -> None:
    rows, facts = [], []
    server = AppServer(project.folder, tmp_path / "server.log")
    cache = project.clips.folder
    try:
        # Nothing cut yet: the worker cuts while somebody grades.
        shutil.rmtree(cache, ignore_errors=True)
        cold_start, _ = begin(server)
        with desk_of(browser, server.url, "cold") as page:
            took = grade_clips(page, CLIPS, 1.0)
        rows.append(row("alone, 1 s a grade, no clip cut before", took, "", os.getloadavg()[0]))
        server.kill()
        clips = cut_all(project)

        starts = []
        for _ in range(STARTS):
            start, machine = begin(server)
            starts.append(start)
            fresh = machine.memory_mb()
            server.kill()
        _, machine = begin(server)
        with desk_of(browser, server.url, "alone") as page:
            took = grade_clips(page, CLIPS, 0.3)
        rows.append(row("alone, 0.3 s a grade, clips cut before", took, "p95 60 ms", os.getloadavg()[0]))

        seen: dict[str, Any] = {}
        with desk_of(browser, server.url, "among25") as page, crowd_at(server.url, seen, crowd_names(CROWD)):
            cpu, began = machine.cpu_s(), time.perf_counter()
            took = grade_clips(page, CLIPS, THINK_S)
            cpu, wall = machine.cpu_s() - cpu, time.perf_counter() - began
            under_load = machine.memory_mb()
            load = os.getloadavg()[0]
        rows.append(row(f"among {CROWD + 1}, 2 s a grade, clips cut before", took, "p95 150 ms", load))
        rows.append(["Label Studio, alone, the same clips", "", LABEL_STUDIO, "", "", ""])
        grades = len(seen["exchange_ms"]) + len(took)
        facts = [
            [f"server answers after the start, median of {STARTS}", f"{statistics.median(starts):.1f} s", "3 s"],
            ["the same, first time", f"{cold_start:.1f} s", ""],
            ["memory after the start: server + clip cutter", f"{fresh[0]:.0f} + {fresh[1]:.0f} MB", "250 MB"],
            [f"memory with {CROWD + 1} people", f"{under_load[0]:.0f} + {under_load[1]:.0f} MB", "350 MB"],
            ["grades a second", f"{grades / wall:.1f}", ""],
            ["CPU a grade, clips and websockets included", f"{cpu / grades * 1e3:.0f} ms", ""],
            ["CPU of the server, of one core", f"{cpu / wall:.0%}", ""],
            ["grade and next desk over HTTP: median / p95 / longest", spread(seen["exchange_ms"]), ""],
            ["a clip over HTTP: median / p95 / longest", spread(seen["clip_ms"]), ""],
            ["grades refused / desks without work", f"{seen['refused']} / {seen['ran_dry']}", ""],
            ["errors", f"{len(seen['errors'])} {seen['errors'][:3] or ''}", "0"],
            ["Streamlit sessions open", str(seen["pages"] + 1), ""],
        ]
        first_media = statistics.median(entry["media"][0] for entry in took)
    finally:
        server.kill()
    print(
        f"\n{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}, Streamlit "
        f"{streamlit.__version__}, Chromium {browser.version}; {clips} clips of 640x360, 25 frames a second; "
        f"media time of the first frame {first_media * 1e3:.0f} ms"
    )
    table(
        "Grade key to the next clip: median / p95 / longest",
        rows,
        ("streamlit", "playwright"),
        "setting|clips|first frame painted|in motion|aim|load",
    )
    table(
        f"The server, with {CROWD + 1} annotators at {THINK_S:.0f} s a grade",
        facts,
        ("streamlit", "playwright"),
        "|measured|aim",
    )
