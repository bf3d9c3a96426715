"""What tests of the pages share."""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import fake_api
import small_project
from backend.campaign.release.export import export
from backend.campaign.release.export.statistics import figures
from backend.encoders import sentence
from backend.store.sqlite import SqliteStore
from small_project import SmallProject
from support import NOW, WordEncoder


@pytest.fixture(scope="session", autouse=True)
def quick_pages(packages_are_searched_once: None) -> None:
    """Every file here tests pages."""


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


@pytest.fixture
def open_screen(monkeypatch: pytest.MonkeyPatch, project: fake_api.Project) -> Callable[..., AppTest]:
    """Opens a page over the file's project as somebody, as if their browser sent the cookie."""
    from annotate_app.session import auth

    def opened(screen: str, who: str = "Lea", **query: str) -> AppTest:
        monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
        monkeypatch.setattr(auth, "token", lambda: f"token-of-{who}")

        def script(page: str) -> None:
            import importlib

            importlib.import_module(f"annotate_app.screens.{page}").page()

        app = AppTest.from_function(script, args=(screen,), default_timeout=60)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return opened


@pytest.fixture(scope="session")
def small_made(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> SmallProject:
    """What `real_project` copies."""
    return small_project.make(corpus_folder, tmp_path_factory.mktemp("small"))


@pytest.fixture
def real_project(small_made: SmallProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallProject]:
    """A project with seven people and three queries, see `small_project`; the clock stands at `NOW`."""
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setattr(export, "figures", lambda documents: dict.fromkeys(figures.FIGURES, b"not drawn"))
    folder = Path(shutil.copytree(small_made.folder, tmp_path / "small"))
    # Opening it the usual way checks every page of the database, which takes as long as a page of the app.
    project = replace(small_made.project, folder=folder, store=SqliteStore(folder / "reelrank.db"))
    yield replace(small_made, project=project)
    project.store.close()


@pytest.fixture
def browser_of(monkeypatch: pytest.MonkeyPatch, real_project: SmallProject) -> Callable[[str], None]:
    """Lets script runs over the real project have the session cookie of somebody; "nobody" has none."""
    from annotate_app.session import auth

    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(real_project.folder))
    monkeypatch.setattr(auth, "_open", lambda folder: real_project.project)
    return lambda who: monkeypatch.setattr(auth, "token", lambda: real_project.tokens.get(who, ""))


@pytest.fixture
def open_page_of(browser_of: Callable[[str], None]) -> Callable[..., AppTest]:
    """Opens a page over the real project in somebody's browser."""

    def opened(screen: str, who: str = "Lea", **query: str) -> AppTest:
        browser_of(who)

        def script(page: str) -> None:
            import importlib

            importlib.import_module(f"annotate_app.screens.{page}").page()

        app = AppTest.from_function(script, args=(screen,), default_timeout=60)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return opened
