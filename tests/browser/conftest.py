"""One Chromium and one demo for all browser tests; a context for each person, a copy of the demo for each server."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

from app_server import AppServer, Nursery, sign_in_unseen
from backend.campaign.demo import demo_people
from backend.campaign.setup.project.folder import open_project
from backend.media.jobs import MEDIA_TYPES as CLIP_TYPES
from commands import reelrank
from contexts import Contexts, new_context
from support import is_free

PASSWORD = demo_people()[2]
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
SHELL, *WHOLE = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A page of a test lives for seconds: scripts optimised for longer ones cost more than they save.
PLAIN_SCRIPTS = "--js-flags=--no-maglev --no-opt"

# Two cores may be busy with another test's videos: what takes long is not yet wrong.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="package")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The browser, or a skip where there is none; it must end with this package, because it runs an event loop.

    Tests take the shell, which is Chromium without its windows and menus: the same engine, and half the work for every
    page. What is measured is measured in what people have.
    """
    measured = request.config.getoption("markexpr") == "bench"
    names = [*WHOLE, SHELL] if measured else [SHELL, *WHOLE]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=ARGUMENTS if measured else [*ARGUMENTS, PLAIN_SCRIPTS]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page in a browser context of its own, as on another person's computer; all close with the test."""
    contexts = []

    def opened(**options: Any) -> Page:
        contexts.append(new_context(browser, **({"viewport": VIEWPORT} | options)))
        return contexts[-1].new_page()

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def ports() -> list[int]:
    """Ports of servers that have stopped: the next one there finds browsers that know the app's files."""
    return []


@pytest.fixture(scope="module")
def served(ports: list[int]) -> Iterator[list[AppServer]]:
    """The servers of a file of tests, which `serve` adds to."""
    servers: list[AppServer] = []
    yield servers
    for server in reversed(servers):
        server.stop()
        ports.append(server.port)


@pytest.fixture(scope="package")
def nursery(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Nursery | None]:
    """Where servers of tests come from; what is measured is measured with servers as people start them."""
    if request.config.getoption("markexpr") == "bench" or not hasattr(os, "pidfd_open"):
        yield None
        return
    nursery = Nursery(tmp_path_factory.mktemp("nursery"))
    yield nursery
    nursery.stop()


@pytest.fixture(scope="module")
def serve(
    served: list[AppServer], ports: list[int], nursery: Nursery | None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], AppServer]:
    """Serves a project until the last test of the file is done."""

    def started(project: Path) -> AppServer:
        port = ports.pop() if ports and is_free(ports[-1]) else None
        server = AppServer(project, tmp_path_factory.mktemp("serve") / "server.log", port=port, nursery=nursery)
        served.append(server)
        server.start()
        return server

    return started


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest,
    demo: Callable[..., Path],
    serve: Callable[[Path], AppServer],
    tmp_path_factory: pytest.TempPathFactory,
) -> AppServer:
    """The app over a copy of the demo: judged where the file of tests says `JUDGED`, and as its `prepare` leaves it."""
    folder = demo(tmp_path_factory.mktemp("demo") / "project", judged=getattr(request.module, "JUDGED", False))
    if prepare := getattr(request.module, "prepare", None):
        project = open_project(folder)
        prepare(project)
        project.store.close()
    return serve(folder)


@pytest.fixture(autouse=True)
def alive(served: list[AppServer]) -> None:
    """A test that failed between killing a server and starting it again does not fail the next one."""
    for server in served:
        server.revive()


@pytest.fixture(scope="package")
def contexts(browser: Browser) -> Contexts:
    """The contexts of all tests behind the sign-in page; they end with the browser."""
    return Contexts(browser)


@pytest.fixture
def enter(contexts: Contexts, server: AppServer) -> Iterator[Callable[..., Page]]:
    """Open a page as somebody who has signed in, as on a computer of their own; `server` is that of the file of tests.

    No page does what its Content-Security-Policy refuses.

    `watch` gets the page before anything is on it; such a page, and one that is changed for good (`own`), ends with the
    test.
    """
    taken: list[tuple[dict[str, Any], Page, str]] = []
    ours: list[BrowserContext] = []
    refused: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    def entered(
        name: str,
        password: str = PASSWORD,
        *,
        url: str = "",
        watch: Callable[[Page], object] | None = None,
        own: bool = False,
        viewport: ViewportSize = VIEWPORT,
        color_scheme: Literal["light", "dark"] = "light",
        **options: Any,
    ) -> Page:
        url = url or server.url
        if watch or own:
            page = contexts.new(options)
            ours.append(page.context)
        else:
            page = contexts.take(options)
            taken.append((options, page, urljoin(url, "/")))
        page.on("console", note)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        if watch:
            watch(page)
        sign_in_unseen(page.context, server.url, name, password)
        page.goto(url)
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        return page

    yield entered
    for context in ours:
        context.close()
    for one in taken:
        one[1].remove_listener("console", note)
        contexts.hand_back(*one)
    assert refused == [], "a page needs what its policy does not allow"


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[..., Path]:
    """Copies the demo project, with simulated judgements or without.

    It is built once, as a person would build it, by the first of the processes that needs it.
    """
    alone = worker_id == "master"
    folder = tmp_path_factory.getbasetemp() if alone else tmp_path_factory.getbasetemp().parent
    clips = folder / "clips"
    made: list[Path] = []

    def build(judged: bool) -> Path:
        built = folder / ("demo-judged" if judged else "demo")
        if not built.exists():
            part = tmp_path_factory.mktemp("demo") / "project"
            if judged:
                shutil.copytree(build(False), part)
            # Here, where passwords cost next to nothing: somebody signs in two hundred times.
            reelrank("demo", part, "--no-serve", *["--judged"] * judged)
            part.rename(built)
        return built

    def copy(to: Path, *, judged: bool = False) -> Path:
        with (folder / "demo.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = build(judged)
            clips.mkdir(exist_ok=True)
            # A clip is named by what it shows: what one copy cut, the next ones have.
            for cut in (cut for one in made for cut in (one / "cache" / "clips").glob("*.*")):
                if cut.suffix in CLIP_TYPES:
                    with suppress(FileExistsError):
                        os.link(cut, clips / cut.name)
        shutil.copytree(built, to)
        shutil.copytree(clips, to / "cache" / "clips", copy_function=os.link, dirs_exist_ok=True)
        made.append(to)
        return to

    return copy
