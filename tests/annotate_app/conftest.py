"""What tests of the pages share."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

import fake_api


@pytest.fixture(scope="session", autouse=True)
def quick_pages(packages_are_searched_once: None) -> None:
    """Every file here tests pages."""


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
