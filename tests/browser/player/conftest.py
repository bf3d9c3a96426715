"""The player alone, against the fake desk of `player_harness`."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from hands import player
from player_harness import FakeDesk, make_clip, serving

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    paths = [folder / f"{seed}.mp4" for seed in range(3)]
    for seed, path in enumerate(paths):
        make_clip(path, seed, seconds=1.0, width=320, height=180)
    return paths


@pytest.fixture
def desk(clips: list[Path]) -> FakeDesk:
    return FakeDesk(clips)


@pytest.fixture
def address(desk: FakeDesk) -> Iterator[str]:
    with serving(desk) as url:
        yield url


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(8000)
    yield context
    context.close()


@pytest.fixture
def open_page(context: BrowserContext, address: str) -> Iterator[Open]:
    """Opens the player's page; any error that escapes in the page fails the test."""
    errors: list[str] = []

    def open_it(query: str = "", width: int = 1280, height: int = 720) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/{query}")
        expect(player(page)).to_have_attribute("data-state", re.compile("ready|empty"))
        return page

    yield open_it
    assert errors == []
