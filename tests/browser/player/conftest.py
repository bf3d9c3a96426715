"""The player alone, against the fake desk of `player_harness`."""

import re
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from contexts import Contexts
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
    """A browser of its own, for a test that changes more of it than what is shown and stored."""
    context = browser.new_context()
    context.set_default_timeout(8000)
    yield context
    context.close()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, contexts: Contexts, address: str) -> Iterator[Open]:
    """Opens the player's page; any error that escapes in the page fails the test."""
    errors: list[str] = []
    handed_on: list[Page] = []
    own: BrowserContext | None = None
    if "context" in signature(request.function).parameters:
        own = request.getfixturevalue("context")

    def noted(error: object) -> None:
        errors.append(str(error))

    def open_it(query: str = "", width: int = 1280, height: int = 720) -> Page:
        if own is None and not handed_on:
            page = contexts.take({})
            handed_on.append(page)
        else:
            page = (own or handed_on[0].context).new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("pageerror", noted)
        page.goto(f"{address}/{query}")
        expect(player(page)).to_have_attribute("data-state", re.compile("ready|empty"))
        return page

    yield open_it
    for page in handed_on:
        page.remove_listener("pageerror", noted)
        contexts.hand_back({}, page, address)
    assert errors == []
