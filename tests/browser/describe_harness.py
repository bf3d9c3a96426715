"""A small server for the desk of describing alone: fake work, videos whose frames show their numbers.

What a test wants to disturb (outage, refusal, a video that is not ready) is an attribute of `FakeDescribing`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotate_app.screens import describe as component
from player_harness import mounting, serving_app

PERSON = 5
BITS = 8
FIRST_S = 0.48
"""Time of the first frame in the source, which need not be 0."""
RULES = "Mark one thing that happens.\nWrite one sentence in the present tense.\nUse no names."
# A frame's number as bars from left to right, read back from the painted picture.
NUMBER_ON_SCREEN = """() => {
    const video = document.getElementById("host").shadowRoot.querySelector("video");
    const canvas = document.createElement("canvas");
    canvas.width = 320; canvas.height = 180;
    const pen = canvas.getContext("2d");
    pen.drawImage(video, 0, 0, 320, 180);
    let number = 0;
    for (let bit = 0; bit < 8; bit += 1) {
        if (pen.getImageData(40 * bit + 20, 60, 1, 1).data[0] > 128) number += 2 ** bit;
    }
    return number;
}"""


def frame_times(count: int) -> list[float]:
    """Times of frames at a variable rate: every fourth stays on screen twice as long."""
    steps = [Fraction(2 if number % 4 == 3 else 1, 25) for number in range(count)]
    return [FIRST_S + float(sum(steps[:number], Fraction(0))) for number in range(count)]


def numbered_video(path: Path, count: int = 160) -> None:
    """A video of `count` frames, each with its number in bars; rate and start are those of `frame_times`."""
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=Fraction(25))
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "30"}
        stream.codec_context.time_base = Fraction(1, 25)
        for number, time_s in enumerate(frame_times(count)):
            picture = np.full((180, 320, 3), 60 + number % 90, dtype=np.uint8)
            for bit in range(BITS):
                picture[30:90, 40 * bit + 2 : 40 * bit + 38] = 255 if number >> bit & 1 else 0
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = round(time_s * 25), Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


@dataclass
class FakeDescribing:
    """What one person describes, in memory; `events` holds what would be committed, in order of arrival."""

    clip: Path
    times: Sequence[float] = field(default_factory=lambda: frame_times(160))
    videos: int = 3
    shots: list[list[float]] = field(default_factory=list)
    taken: list[list[float]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    arrivals: list[str] = field(default_factory=list)
    mine: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refuse: str = ""
    answer_with: int = 200
    closed: str = ""
    full_disk: str = ""
    not_ready: set[str] = field(default_factory=set)
    damaged: set[str] = field(default_factory=set)
    seen: bool = True
    read: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.shots:
            cuts = [self.times[0], self.times[40], self.times[100], self.ends_s]
            self.shots = [list(span) for span in pairwise(cuts)]

    @property
    def ends_s(self) -> float:
        """Where the video ends."""
        return self.times[-1] + 0.08

    def work(self) -> dict[str, Any]:
        """What GET /describe/work answers."""
        keys = [f"v{number}" for number in range(1, self.videos + 1)]
        return {
            "videos": [
                {
                    "key": key,
                    "name": f"kitchen_{key[1:]}.mp4",
                    "duration_s": self.ends_s,
                    "fps": 20.0,
                    "clip": f"/describe/videos/{key}.mp4",
                    "frames": f"/describe/videos/{key}.json",
                    "shots": self.shots,
                    "mine": [one for one in self.mine.values() if one["video"] == key],
                    "taken": self.taken,
                    "wanted": 3,
                    "written": len(self.taken),
                    "ready": key not in self.not_ready,
                }
                for key in keys
            ],
            "more": 0,
            "guideline": {"version": 1, "text": RULES, "seen": self.seen},
            "me": {"person": PERSON, "name": "Ann", "written": 0, "accepted": 0},
        }

    def take(self, event: dict[str, Any]) -> None:
        """Store one event, once per key."""
        self.arrivals.append(event["key"])
        if event["key"] in {known["key"] for known in self.events}:
            return
        self.events.append(event)
        if event["kind"] == "withdraw":
            self.mine[event["description"]]["status"] = "withdrawn"
            return
        fields = ("description", "video", "start_s", "end_s", "sentence")
        told = {"status": "waiting", "words": "", "notes": self.notes}
        self.mine[event["description"]] = {name: event[name] for name in fields} | told

    def give_back(self, description: str, words: str) -> None:
        """A lead sends one back."""
        self.mine[description] |= {"status": "returned", "words": words}

    @property
    def standing(self) -> list[tuple[float, float, str]]:
        """Spans and sentences of what stands, in the order of the video."""
        found = [one for one in self.mine.values() if one["status"] != "withdrawn"]
        return sorted((one["start_s"], one["end_s"], one["sentence"]) for one in found)

    # Routes

    async def get_work(self, request: Request) -> Response:
        """Answer, or refuse because describing is closed."""
        if self.closed:
            return JSONResponse({"message": self.closed}, 403)
        if self.answer_with != 200:
            return JSONResponse({}, self.answer_with)
        return JSONResponse(self.work())

    async def exchange(self, request: Request) -> Response:
        """Take events, or fail in the way the test asked for."""
        assert request.headers["x-reelrank"] == "1"
        body = await request.json()
        assert body["person"] == PERSON
        if self.answer_with != 200:
            return JSONResponse({}, self.answer_with)
        events = body["events"]
        refused = [{"key": event["key"], "message": self.refuse} for event in events if self.refuse]
        for event in events if not self.refuse else []:
            self.take(event)
        about = {event["description"] for event in events}
        return JSONResponse(
            {
                "accepted": [event["key"] for event in events if not self.refuse],
                "refused": refused,
                "mine": [one for key, one in self.mine.items() if key in about],
                "returned": [one for one in self.mine.values() if one["status"] == "returned"],
            }
        )

    async def guideline(self, request: Request) -> Response:
        """Note what was read."""
        self.read.append((await request.json())["version"])
        self.seen = True
        return Response(status_code=204)

    async def video(self, request: Request) -> Response:
        """The video, by Range."""
        if request.path_params["key"] == "none":
            return JSONResponse({}, 502)
        return FileResponse(self.clip, media_type="video/mp4")

    async def frames(self, request: Request) -> Response:
        """The times of its frames."""
        return JSONResponse(list(self.times))

    async def ready(self, request: Request) -> Response:
        """Whether it is there."""
        key = request.path_params["key"]
        if key in self.damaged:
            return JSONResponse({"message": "kitchen.mp4 is not a video file"}, 404)
        if self.full_disk:
            return JSONResponse({"message": self.full_disk}, 507)
        return JSONResponse({"ready": key not in self.not_ready})

    async def page(self, request: Request) -> Response:
        """The page; `?theme=dark`."""
        return mounting(request, component, {"person": PERSON}, "", "60px 16px 0")

    async def script(self, request: Request) -> Response:
        """The component's module, its pure parts exported too."""
        text = component.script() + "\nexport {Frames, commandOf, sameSpan, clock, standing, takingBack};"
        return PlainTextResponse(text, media_type="text/javascript")

    def app(self) -> Starlette:
        """The routes."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/component.js", self.script),
                Route("/describe/work", self.get_work),
                Route("/describe/exchange", self.exchange, methods=["POST"]),
                Route("/describe/guideline", self.guideline, methods=["POST"]),
                Route("/describe/videos/{key}.mp4", self.video),
                Route("/describe/videos/{key}.json", self.frames),
                Route("/describe/videos/{key}/ready", self.ready),
            ]
        )


@contextmanager
def describing_at(fake: FakeDescribing) -> Iterator[str]:
    """Serve it on a free port; gives the address."""
    with serving_app(fake.app()) as url:
        yield url
