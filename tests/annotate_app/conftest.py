"""What tests of the pages share."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import small_project
from backend.campaign.nouns import Person, Role
from backend.campaign.release.export import card, freezing
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.settings_file import LiveSettings
from backend.core import processes
from backend.encoders import sentence
from backend.store.sqlite import SqliteStore
from small_project import SmallProject
from support import NOW, Judging, WordEncoder


@pytest.fixture(scope="session", autouse=True)
def quick_pages() -> Iterator[None]:
    """Before each page, Streamlit searches all installed packages for components; there are none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: [])
        yield


class _Kept(Executor):
    """A clip cutter's process that outlives a test: starting one takes half a second."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: the next test uses the same process."""


@pytest.fixture(scope="session")
def kept_pools() -> Iterator[dict[frozenset[tuple[str, str]], _Kept]]:
    """The processes that outlive their tests, each by the environment that it began in."""
    kept: dict[frozenset[tuple[str, str]], _Kept] = {}
    yield kept
    for one in kept.values():
        one.pool.shutdown()


@pytest.fixture(scope="module", autouse=True)
def shared_pools(kept_pools: dict[frozenset[tuple[str, str]], _Kept]) -> Iterator[None]:
    """Let the servers of these tests, and of no others, share clip-cutting processes."""
    from annotate_app.server.clip_worker import ClipWorker

    new = ClipWorker._new_pool

    def shared(worker: ClipWorker[Any]) -> Executor:
        environment = frozenset(item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST")
        try:
            kept_pools[environment].pool.submit(int)
        except (KeyError, BrokenExecutor):
            kept_pools[environment] = _Kept(new(worker))
        return kept_pools[environment]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClipWorker, "_new_pool", shared)
        yield


@pytest.fixture(scope="session")
def small_made(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> SmallProject:
    """What `real_project` copies."""
    return small_project.make(corpus_folder, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def with_clocks() -> list[Callable[..., Any]]:
    """Functions whose default is the clock that was there when their module was imported: not one of a test's."""
    from annotate_app.server import annotator_routes, routes
    from annotate_app.server import lead_routes as rewriting_routes
    from annotate_app.session.routes import Sessions
    from backend.media import clips

    classes = Sessions, routes.Desks, annotator_routes.DescribeRoutes, annotator_routes.PracticeRoutes
    made = [one.__init__ for one in (*classes, rewriting_routes.Rewriting)]
    return [*made, clips.ensure, clips.with_room]


@pytest.fixture
def real_project(
    small_made: SmallProject,
    with_clocks: list[Callable[..., Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[SmallProject]:
    """A project with seven people and three queries, see `small_project`; the clock stands at `NOW`."""
    real_clock = time.time
    monkeypatch.setattr("time.time", lambda: NOW)
    for one in with_clocks:
        defaults = [time.time if value is real_clock else value for value in one.__defaults__ or ()]
        monkeypatch.setattr(one, "__defaults__", tuple(defaults))
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setattr(freezing, "figures", lambda documents: dict.fromkeys(card.FIGURES, b"not drawn"))
    folder = Path(shutil.copytree(small_made.folder, tmp_path / "small"))
    # Opening it the usual way checks every page of the database, which takes as long as a page of the app.
    project = replace(
        small_made.project, folder=folder, live=LiveSettings(folder), store=SqliteStore(folder / "reelrank.db")
    )
    yield replace(small_made, project=project)
    project.store.close()


@pytest.fixture
def without_work(real_project: SmallProject, corpus_project: Project) -> SmallProject:
    """A project that has handed out nothing, with a lead alone."""
    real_project.project.store.close()
    real_project.project = corpus_project
    real_project.join("Lea", Role.LEAD)
    return real_project


@pytest.fixture
def browser_of(monkeypatch: pytest.MonkeyPatch, real_project: SmallProject) -> Callable[[str], None]:
    """Lets script runs over the real project have the session cookie of somebody; "nobody" has none."""
    from annotate_app.session import auth

    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(real_project.folder))
    monkeypatch.setattr(auth, "_open", lambda folder: real_project.project)
    return lambda who: monkeypatch.setattr(auth, "token", lambda: real_project.tokens.get(who, ""))


@pytest.fixture(scope="session")
def show_screen(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., AppTest]:
    """Shows a page to whoever sends the cookie, at an address."""
    # `AppTest.from_function` would write it anew for each page.
    script = tmp_path_factory.mktemp("script") / "show_screen.py"
    script.write_text('import importlib\n\nimportlib.import_module(f"annotate_app.screens.{__args[0]}").page()\n')

    def shown(screen: str, query: Mapping[str, str]) -> AppTest:
        app = AppTest(str(script), default_timeout=60, args=(screen,))
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return shown


@pytest.fixture
def open_page_of(browser_of: Callable[[str], None], show_screen: Callable[..., AppTest]) -> Callable[..., AppTest]:
    """Opens a page over the real project in somebody's browser."""

    def opened(screen: str, who: str = "Lea", **query: str) -> AppTest:
        browser_of(who)
        return show_screen(screen, query)

    return opened


@pytest.fixture
def open_judging(
    judging: Judging, monkeypatch: pytest.MonkeyPatch, show_screen: Callable[..., AppTest]
) -> Callable[..., AppTest]:
    """Opens a page over `judging` as its lead, or as somebody else of it; the clock stands at `NOW`."""
    from annotate_app.session import auth

    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(judging.project.folder))
    monkeypatch.setattr("time.time", lambda: NOW)

    def opened(screen: str, who: Person | None = None, **query: str) -> AppTest:
        monkeypatch.setattr(auth, "current", lambda: who or judging.lead)
        return show_screen(screen, query)

    return opened


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would run in a process of its own is done before the page goes on."""

    def alone(work: Callable[..., None], *arguments: object, niceness: int) -> Future[None]:
        future: Future[None] = Future()
        work(*arguments)
        future.set_result(None)
        return future

    monkeypatch.setattr(processes, "alone", alone)


@pytest.fixture
def open_screen(
    monkeypatch: pytest.MonkeyPatch, project: Project, show_screen: Callable[..., AppTest]
) -> Callable[..., AppTest]:
    """Opens a page over the file's own project; the file says who is signed in."""
    from annotate_app.session import auth

    def opened(screen: str, **query: str) -> AppTest:
        monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
        return show_screen(screen, query)

    return opened
