"""One Chromium and one demo for all browser tests; a context for each person, a copy of the demo for each server."""

import fcntl
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from app_server import AppServer, has_signed_in
from backend import api

LEAD, _, PASSWORD = api.demo_people()
VIEWPORT = {"width": 1280, "height": 800}
SHELL, *WHOLE = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Two cores may be busy with another test's videos: what takes long is not yet wrong.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="package")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The browser, or a skip where there is none; it must end with this package, because it runs an event loop.

    Tests take the shell, which is Chromium without its windows and menus: the same engine, and half the work for every
    page. What is measured is measured in what people have.
    """
    names = [*WHOLE, SHELL] if request.config.getoption("markexpr") == "bench" else [SHELL, *WHOLE]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page in a browser context of its own, as on another person's computer; all close with the test."""
    contexts = []

    def opened(**options: Any) -> Page:
        contexts.append(browser.new_context(**({"viewport": VIEWPORT} | options)))
        contexts[-1].set_default_timeout(30_000)
        return contexts[-1].new_page()

    yield opened
    for context in contexts:
        context.close()


def sign_in_fast(project: Path) -> None:
    """Let the demo's password cost next to nothing here: somebody signs in two hundred times."""
    hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with closing(sqlite3.connect(project / "reelrank.db")) as db, db:
        db.execute("UPDATE annotator SET password_hash = ? WHERE password_hash IS NOT NULL", [hashed])


@pytest.fixture(scope="module")
def served() -> Iterator[list[AppServer]]:
    """The servers of a file of tests, which `serve` adds to."""
    servers: list[AppServer] = []
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def serve(served: list[AppServer], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], AppServer]:
    """Serves a project until the last test of the file is done."""

    def started(project: Path) -> AppServer:
        server = AppServer(project, tmp_path_factory.mktemp("serve") / "server.log")
        served.append(server)
        server.start()
        return server

    return started


@pytest.fixture(autouse=True)
def alive(served: list[AppServer]) -> None:
    """A test that failed between killing a server and starting it again does not fail the next one."""
    for server in served:
        server.revive()


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[dict[object, BrowserContext]]:
    """Browser contexts that stay until the last test of the file: a page costs two thirds in one that knows the app."""
    contexts: dict[object, BrowserContext] = {}
    yield contexts
    for context in contexts.values():
        context.close()


@pytest.fixture
def enter(
    browser: Browser, open_page: Callable[..., Page], server: AppServer, kept: dict[object, BrowserContext]
) -> Iterator[Callable[..., Page]]:
    """Open a page as somebody who has signed in; `server` is the one of the file of tests.

    Everybody has a browser context of their own in each test, but for the lead, who keeps one for the file; `alone`
    says it otherwise, as for a lead whose session ends. `watch` gets the page before anything is on it.
    """
    pages: list[Page] = []

    def entered(
        name: str,
        password: str = PASSWORD,
        *,
        url: str = "",
        alone: bool | None = None,
        watch: Callable[[Page], object] = lambda page: None,
        **options: Any,
    ) -> Page:
        if name != LEAD if alone is None else alone:
            page = open_page(**options)
        else:
            key = (server.url, name, *sorted((key, str(value)) for key, value in options.items()))
            if key not in kept:
                kept[key] = browser.new_context(**({"viewport": VIEWPORT} | options))
                kept[key].set_default_timeout(30_000)
            page = kept[key].new_page()
            pages.append(page)
        watch(page)
        has_signed_in(page.context, server.url, name, password)
        page.goto(url or server.url)
        expect(page.get_by_role("button", name="Sign out")).to_be_visible(timeout=30_000)
        return page

    yield entered
    for page in pages:
        page.close()


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[..., Path]:
    """Copies the demo project, with simulated judgements or without.

    It is built once, as a person would build it, by the first of the processes that needs it.
    """
    alone = worker_id == "master"
    folder = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent
    clips = folder / "clips"

    def build(judged: bool) -> Path:
        built = folder / ("demo-judged" if judged else "demo")
        if not built.exists():
            part = tmp_path_factory.mktemp("demo") / "project"
            if judged:
                shutil.copytree(build(False), part)
            command = [sys.executable, "-m", "backend", "demo", str(part), "--no-serve", *["--judged"] * judged]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            sign_in_fast(part)
            part.rename(built)
        return built

    def copy(to: Path, *, judged: bool = False) -> Path:
        with (folder / "demo.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = build(judged)
            clips.mkdir(exist_ok=True)
        shutil.copytree(built, to)
        # A clip is named by what it shows: what one copy cut, every copy has.
        api.open_project(to).clips.symlink_to(clips)
        return to

    return copy
