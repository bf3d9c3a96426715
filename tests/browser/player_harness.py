"""A small server for the player alone: fake desk, fake clips, a page that mounts the component as Streamlit does.

Everything a test wants to disturb (outage, ended session, broken clip, refusal) is a plain attribute of `FakeDesk`.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from annotate_app.shared import player as component
from annotate_app.shared.player import guideline
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.setup.project.model import StoredSettings
from backend.core.ids import PairKey
from support import new_campaign

SEATS = 7
PERSON = 5
QUERIES = (
    "A woman pours coffee into a red cup and hands it to a man at the door.",
    "Someone closes a laptop, stands up and leaves the room.",
)
EXAMPLE_QUERY, EXAMPLE_NOTE = "A <b>woman</b> sits down.", "She sits, but half of it is hidden."
LIGHT = {
    "background-color": "#ffffff",
    "text-color": "#1b1d25",
    "primary-color": "#3f67b1",
    "font": "'Source Sans', 'Inter', system-ui, sans-serif",
}
DARK = LIGHT | {"background-color": "#0e1117", "text-color": "#eceef4", "primary-color": "#8fb0f0"}

PAGE = """<!doctype html><html lang="en"><title>Player</title>
<link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{margin:0;padding:%(pad)s;background:var(--st-background-color)}input{display:block}</style>
<body style="%(style)s">%(input)s<div id="host"></div>
<script type="module">
import mount from "/component.js";
const {html, css, data} = %(boot)s;
const root = document.getElementById("host").attachShadow({mode: "open"});
const wrap = document.createElement("div");
wrap.innerHTML = html;
const style = document.createElement("style");
style.textContent = css;
wrap.append(style);
root.append(wrap);
window.mount = (more = {}) => mount({parentElement: root, data: {...data, ...more}});
window.cleanUp = window.mount();
</script></body></html>"""


def mounting(request: Request, component: Any, data: dict[str, Any], field: str, pad: str) -> HTMLResponse:
    """The page that mounts a component, in the theme that the address says."""
    theme = DARK if request.query_params.get("theme") == "dark" else LIGHT
    boot = {"html": component.markup(), "css": component.style(), "data": data}
    fill = {
        "style": ";".join(f"--st-{name}:{value}" for name, value in theme.items()),
        "input": field,
        "pad": pad,
        "boot": json.dumps(boot).replace("</", "<\\/"),
    }
    return HTMLResponse(PAGE % fill)


@dataclass
class FakeDesk:
    """One annotator's desk, in memory; `stored` holds what would be committed, in order of arrival."""

    clips: list[Path]
    total: int = 20
    stored: list[dict[str, Any]] = field(default_factory=list)
    arrivals: list[str] = field(default_factory=list)
    reports: list[dict[str, str]] = field(default_factory=list)
    skips: list[dict[str, str]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    exchanges: list[dict[str, Any]] = field(default_factory=list)
    garbage: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    bucket: str = ""  # where browsers are sent for clips, unless they ask for them `here`
    no_room: set[str] = field(default_factory=set)  # pairs whose clip the full disk has no place for
    not_now: int = 507  # the status of their answers; 429 is too many requests
    whole: set[str] = field(default_factory=set)  # pairs whose clip is a whole video
    boards: dict[str, bytes] = field(default_factory=dict)  # their storyboards; without one, there is none
    context_clip: Path | None = None
    context_s: tuple[float, float] = (2.0, 2.0)
    contexts_asked: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    answer_with: int = 200
    says: str = ""
    when_done: str = "finished"
    waiting: int = 0
    skipped: int = 0
    skips_refused: str = ""  # why no skip is taken just now
    replies: int = 0
    quota_today: int | None = None
    quota_in_all: int | None = None
    lose_answers: int = 0
    window: str = ""  # which has the desk
    paused: bool = False
    full_disk: bool = False  # clips still come
    renew_s: float = 240.0  # how often the player tells that its person is at work
    examples: tuple[int, ...] = ()  # grades for which the project has one
    missing_examples: set[int] = field(default_factory=set)  # those whose clip is gone
    examples_asked: list[str] = field(default_factory=list)
    campaign: StoredSettings = field(default_factory=new_campaign)

    def guideline(self) -> dict[str, Any]:
        """The words of the campaign, and its examples."""
        shown = [Example(n + 10, n, PairKey("p"), EXAMPLE_QUERY, EXAMPLE_NOTE, True) for n in self.examples]
        return guideline(self.campaign, shown)

    def pairs(self) -> list[str]:
        """All pairs of the desk; the ids are opaque to the player."""
        return [f"p{number:03d}" for number in range(1, self.total + 1)]

    def item(self, pair: str, grade: int | None = None) -> dict[str, Any]:
        """A pair as `/desk/exchange` describes it, twenty pairs a query."""
        number = int(pair[1:]) - 1
        query = QUERIES[number // 20 % len(QUERIES)]
        return {
            "pair": pair,
            "query": query,
            "position": number % 20 + 1,
            "total": 20,
            "duration_s": 2.0,
            "grade": grade,
            "whole": pair in self.whole,
            "note": self.notes().get(pair, "") if grade is not None else "",
        }

    def grades(self) -> dict[str, int]:
        """The standing grade of each graded pair."""
        return {event["pair"]: event["grade"] for event in self.stored}

    def notes(self) -> dict[str, str]:
        """The note of each graded pair that came with one; a grade without any leaves it."""
        return {event["pair"]: event["note"] for event in self.stored if "note" in event}

    def stored_keys(self) -> list[str]:
        """The key of each stored event."""
        return [event["key"] for event in self.stored]

    def desk(self) -> dict[str, Any]:
        """The desk as JSON values."""
        grades = self.grades()
        gone = {event["pair"] for event in self.reports + self.skips} | self.refused
        left = [pair for pair in self.pairs() if pair not in grades and pair not in gone]
        last = self.stored[-1]["pair"] if self.stored else None
        if self.paused:
            left, last = [], None
        return {
            "state": "ready" if left else "paused" if self.paused else self.when_done,
            "items": [self.item(pair) for pair in left[:SEATS]],
            "previous": self.item(last, grades[last]) if last else None,
            "today": len(grades),
            "in_all": 1200 + len(grades),
            "waiting": self.waiting,
            "skipped": self.skipped,
            "replies": self.replies,
            "quota_today": self.quota_today,
            "quota_in_all": self.quota_in_all,
        }

    def take_skip(self, event: dict[str, str]) -> dict[str, str]:
        """Store one skip, once per key; a pair that has a grade cannot be skipped."""
        self.arrivals.append(event["key"])
        why = "You have graded this pair already." if event["pair"] in self.grades() else self.skips_refused
        if why:
            return {"key": event["key"], "status": "refused", "message": why}
        if event["key"] not in {known["key"] for known in self.skips}:
            self.skips.append(event)
        return {"key": event["key"], "status": "saved", "message": ""}

    def take(self, event: dict[str, Any]) -> dict[str, str]:
        """Store one grade event, once per key."""
        self.arrivals.append(event["key"])
        if event["pair"] in self.refused:
            return {"key": event["key"], "status": "refused", "message": "The seat went to somebody else."}
        if event["key"] not in {known["key"] for known in self.stored}:
            self.stored.append(event)
        return {"key": event["key"], "status": "saved", "message": ""}

    # Routes

    async def exchange(self, request: Request) -> Response:
        """Answer like the real route, or fail in the way the test asked for."""
        assert request.headers["x-reelrank"] == "1"
        body = await request.json()
        self.exchanges.append(body)
        if self.full_disk:
            return JSONResponse({"message": self.says}, 503)
        if self.answer_with != 200:
            return JSONResponse({"message": self.says}, self.answer_with)
        receipts = [self.take(event) for event in body["grades"]] + [self.take_skip(event) for event in body["skips"]]
        if self.lose_answers > 0:
            self.lose_answers -= 1
            return PlainTextResponse("the answer got lost", 502)
        if body["takes"]:
            self.window = body["window"]
        return JSONResponse({"receipts": receipts, "desk": self.desk() | {"elsewhere": body["window"] != self.window}})

    async def recent(self, request: Request) -> Response:
        """The last grades, the newest first."""
        if self.answer_with != 200:
            return JSONResponse({"message": self.says}, self.answer_with)
        newest = dict.fromkeys(event["pair"] for event in reversed(self.stored))
        return JSONResponse({"items": [self.item(pair, self.grades()[pair]) for pair in newest]})

    async def broken(self, request: Request) -> Response:
        """Note the report."""
        if self.answer_with != 200:
            return JSONResponse({"message": self.says}, self.answer_with)
        self.reports.append(await request.json())
        return JSONResponse({"receipts": [], "desk": self.desk()})

    async def came_on_screen(self, request: Request) -> Response:
        """Note which clip a person sees."""
        assert request.headers["x-reelrank"] == "1"
        if self.answer_with != 200:
            return JSONResponse({"message": self.says}, self.answer_with)
        self.shown.append((await request.json())["pair"])
        return Response(status_code=204)

    async def clip(self, request: Request) -> Response:
        """A clip file, Range included, or garbage."""
        pair = request.path_params["pair"]
        if self.answer_with != 200:
            return JSONResponse({"message": self.says}, self.answer_with)
        if request.query_params.get("context") == "1":
            return self.context(pair)
        if self.bucket and "here" not in request.query_params:
            return RedirectResponse(f"{self.bucket}/{pair}.mp4", 307, {"Cache-Control": "no-store"})
        if pair in self.missing:
            return JSONResponse({"message": "s01e02: no video file in videos"}, 404)
        if pair in self.garbage:
            return Response(b"not a video", media_type="video/mp4")
        if pair in self.no_room:
            return JSONResponse({"message": "The server's disk is full."}, self.not_now)
        path = self.clips[int(pair[1:]) % len(self.clips)]
        kind = f"video/{path.suffix[1:]}"
        return FileResponse(path, media_type=kind, headers={"Cache-Control": "private, no-cache"})

    async def example(self, request: Request) -> Response:
        """The clip of an example."""
        self.examples_asked.append(str(request.url).removeprefix(str(request.base_url)))
        if request.path_params["grade"] in self.missing_examples:
            return JSONResponse({"message": "there is no such example"}, 404)
        return FileResponse(self.clips[0], media_type="video/mp4", headers={"Cache-Control": "private, no-cache"})

    async def board(self, request: Request) -> Response:
        """A storyboard, where the test gave one."""
        found = self.boards.get(request.path_params["pair"])
        return Response(found, media_type="image/png") if found else JSONResponse({"message": "damaged"}, 404)

    def context(self, pair: str) -> Response:
        """The moment with what is around it; 404 unless the test gave a clip."""
        self.contexts_asked.append(pair)
        if self.context_clip is None:
            return JSONResponse({"message": "s01e02 is damaged near 3.4 s"}, 404)
        before, after = self.context_s
        headers = {"X-ReelRank-Before": f"{before:.3f}", "X-ReelRank-After": f"{after:.3f}"}
        return FileResponse(self.context_clip, media_type="video/mp4", headers=headers)

    async def page(self, request: Request) -> Response:
        """The page; `?theme=dark`, `?bare` (no text field, no padding)."""
        bare = "bare" in request.query_params
        given, renew_s = self.guideline(), self.renew_s
        data = {"desk": self.desk(), "person": PERSON, "guideline": given, "renew_s": renew_s}
        field = "" if bare else '<input aria-label="Elsewhere">'
        return mounting(request, component, data, field, "56px 16px 0" if bare else "16px")

    async def script(self, request: Request) -> Response:
        """The component's module."""
        return PlainTextResponse(component.script(), media_type="text/javascript")

    async def internals(self, request: Request) -> Response:
        """The same module with its pure parts exported."""
        text = component.script() + "\nexport {ActiveTime, Gate, Sync, Unsent, commandOf, mergeDesk, newWork, newKey};"
        return PlainTextResponse(text, media_type="text/javascript")

    def app(self) -> Starlette:
        """The routes."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/component.js", self.script),
                Route("/internals.js", self.internals),
                Route("/desk/exchange", self.exchange, methods=["POST"]),
                Route("/desk/recent", self.recent),
                Route("/desk/shown", self.came_on_screen, methods=["POST"]),
                Route("/desk/broken", self.broken, methods=["POST"]),
                Route("/examples/{grade:int}.mp4", self.example),
                Route("/clips/{pair}.mp4", self.clip),
                Route("/clips/{pair}.webp", self.board),
            ]
        )


def make_clip(path: Path, seed: int, *, seconds: float = 2.0, width: int = 640, height: int = 360) -> None:
    """Render a moving H.264 clip with a colour of its own, 25 frames a second."""
    rng = np.random.default_rng(seed)
    hue = rng.integers(40, 200, size=3)
    down, across = np.mgrid[0:height, 0:width]
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=Fraction(25))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "30"}
        for number in range(int(seconds * 25)):
            shade = 0.35 + 0.4 * down / height
            picture = shade[..., None] * hue
            centre = width * (0.2 + 0.6 * number / (seconds * 25))
            inside = (across - centre) ** 2 + (down - height * 0.55) ** 2 < (height * 0.18) ** 2
            picture[inside] = 255 - hue / 2
            frame = av.VideoFrame.from_ndarray(picture.astype(np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


@contextmanager
def serving(desk: FakeDesk) -> Iterator[str]:
    """Serve the desk on a free port; gives the address."""
    with serving_app(desk.app()) as url:
        yield url


@contextmanager
def serving_app(app: Starlette) -> Iterator[str]:
    """Serve an app on a free port; gives the address."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError("the player's test server did not start")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(timeout=10)
