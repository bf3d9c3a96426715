"""A real small project behind the app's own routes: who is signed in, which clips they hold, what goes wrong."""

import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

import quick_cutter
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import own_routes
from annotate_app.session.guard import Guard
from backend.campaign.desk.clips import clip_for
from backend.campaign.desk.exchange import desk
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.model import PairReview, ReviewList
from backend.campaign.review.status import pair_review, review_page
from backend.campaign.setup.project.folder import Project
from backend.core.errors import StoreUnavailable
from backend.core.ids import PairKey
from backend.media.jobs import ClipJob
from backend.store.sqlite import SqliteStore
from small_project import SmallProject
from support import NOW

JSON = {"X-ReelRank": "1"}
FULL_DISK = "The disk is full: make room."


class Browser(TestClient):
    """A browser that may hold the session of anybody in the project."""

    def __init__(self, app: Starlette, tokens: Mapping[str, str]) -> None:
        super().__init__(app, base_url="http://testserver", follow_redirects=False)
        self.tokens = tokens

    def signed_in(self, who: str) -> "Browser":
        """Take the session of a person; a name that nobody has is a token that nobody has."""
        self.cookies.set("reelrank_session", self.tokens.get(who, who))
        return self


@pytest.fixture
def held(real_project: SmallProject) -> list[PairKey]:
    """The three pairs on Ana's desk, in order, each of another video."""
    return [item.pair for item in desk(real_project.project, real_project.person("Ana"), now=NOW - 60).items]


def small_app(
    project: Project, page: Callable[[Request], str], greeting: Callable[[WebSocket], str], *more: BaseRoute
) -> Starlette:
    """The guard, the app's own routes and more, and stand-ins for Streamlit's: what a page and a websocket say."""
    clips: ClipWorker[ClipJob] = ClipWorker(quick_cutter.cut)

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        yield
        clips.stop()

    async def anything(request: Request) -> PlainTextResponse:
        return PlainTextResponse(page(request))

    async def stream(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(greeting(socket))
        await socket.close()

    return Starlette(
        routes=[
            *own_routes(lambda: project, clips, lambda project, lead: {"at": 5.0, "counts": {"/progress": "7 stuck"}}),
            *more,
            WebSocketRoute("/_stcore/stream", stream),
            Route("/{path:path}", anything),
        ],
        middleware=[Middleware(Guard, project=lambda: project)],
        lifespan=lifespan,
    )


@pytest.fixture
def client(real_project: SmallProject) -> Iterator[Browser]:
    """A browser in front of the small app."""
    app = small_app(real_project.project, lambda request: "streamlit", lambda socket: "hello")
    with Browser(app, real_project.tokens) as found:
        yield found


@contextmanager
def browsing(project: Project, routes: Sequence[BaseRoute], token: str = "") -> Iterator[TestClient]:
    """A browser in front of the guard and some routes; `token` is the session that it has."""
    app = Starlette(routes=routes, middleware=[Middleware(Guard, project=lambda: project)])
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as found:
        if token:
            found.cookies.set("reelrank_session", token, domain="testserver.local")
        yield found


def rename_video(small: SmallProject, pair: PairKey, file: str) -> None:
    """Let the video of a pair lie in another file; see `quick_cutter` for what names do."""
    small.sql("UPDATE video SET path = ? WHERE name = ?", file, review(small, pair).video)


def review(small: SmallProject, pair: PairKey) -> PairReview:
    """How a pair stands."""
    found = pair_review(small.project, OPERATOR, pair)
    assert found is not None
    return found


def blocked(small: SmallProject) -> set[PairKey]:
    """The pairs that are kept back from everybody because their clips cannot be shown."""
    return {row.pair for row in review_page(small.project, OPERATOR, ReviewList.BLOCKED, size=100).rows}


def select(small: SmallProject, sql: str) -> list[tuple[object, ...]]:
    """Rows of the database."""
    with closing(sqlite3.connect(small.folder / "reelrank.db")) as db:
        return db.execute(sql).fetchall()


def clip_of(small: SmallProject, pair: PairKey) -> Path:
    """Where the clip of a pair lies, or will be."""
    return clip_for(small.project, small.lead, pair).path


def cuts(small: SmallProject) -> list[str]:
    """The names of the clips that were cut, in order."""
    log = small.project.clips.folder / "cuts.log"
    return log.read_text().split() if log.exists() else []


def wait_for(done: Callable[[], bool]) -> None:
    """Wait for what the server does behind its answer."""
    until = time.monotonic() + 60
    while not done() and time.monotonic() < until:
        time.sleep(0.02)
    assert done()


def fill_disk(patch: pytest.MonkeyPatch, sentence: str = FULL_DISK) -> None:
    """Let no database be written any more, and none be copied."""

    def refuse(_store: SqliteStore, *_: object) -> Any:
        raise StoreUnavailable(sentence)

    for name in ("writing", "copy_to"):
        patch.setattr(SqliteStore, name, refuse)


def unplug(patch: pytest.MonkeyPatch, sentence: str = "not even to be read") -> None:
    """Let no database be read any more."""

    def refuse(_store: SqliteStore) -> Any:
        raise StoreUnavailable(sentence)

    patch.setattr(SqliteStore, "db", property(refuse))
