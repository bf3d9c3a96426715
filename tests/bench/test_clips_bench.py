"""What clips cost, beside the ffmpeg command line and decoding alone, and whether anybody waits for one: `make bench`.

On the moments of the real videos where they are (all 40 at full size, else those of two videos), else on those
of the demo. Prints Markdown tables for docs/performance.md. Never fails on a number.
"""

import asyncio
import hashlib
import itertools
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import httpx
import pytest

from annotate_app.server.clip_worker import ClipWorker, Priority
from app_server import AppServer
from backend.campaign import demo
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.ids import AnnotatorId
from backend.encoders import sentence
from backend.media.clips import ensure as cut_clip
from backend.media.cut import CutSpan, cut, cut_together, decoding_starts_s
from backend.media.decode import FrameSpan, opened, picture_stream
from backend.media.jobs import ClipCache, ClipForm, ClipJob, Profile, clip_job, with_context
from backend.media.sources import source_at
from backend.media.together import groups
from bench.tables import sized, table
from support import WordEncoder, have_read

pytestmark = pytest.mark.bench

PACKAGES = ("av", "opencv-python-headless")
Moment = tuple[Path, float, float]
WALKED, PACE_S = sized(25, 200), 1.5
NO_WAIT_S = 0.05
PASSWORD = "long enough"
TOPICS = ("kettle", "garden", "ladder", "violin", "tunnel", "blanket", "harbour", "pencil", "candle", "basket")
"""Words that the encoder of tests tells apart."""


@pytest.fixture(scope="module")
def moments() -> list[Moment]:
    """The real ones where they are."""
    folder = Path(os.environ.get("REELRANK_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data" / "videos"
    if (folder / "moments.jsonl").exists():
        lines = [json.loads(line) for line in (folder / "moments.jsonl").read_text("utf-8").splitlines()]
        found = [(folder / line["vid_name"], float(line["ts"][0]), float(line["ts"][1])) for line in lines]
        videos = list(dict.fromkeys(source for source, _, _ in found))[:: sized(5, 1)]
        return [moment for moment in found if moment[0] in videos]
    return [(path, start, start + 5.0) for path in sorted(demo.clip_folder().glob("*.mp4")) for start in (1.0, 4.5)]


def cpu_s(work: Callable[[], object], who: int = resource.RUSAGE_SELF) -> float:
    """Processor seconds of this process, or of the programs that it runs."""

    def used() -> float:
        found = resource.getrusage(who)
        return found.ru_utime + found.ru_stime

    before = used()
    work()
    return used() - before


def frames_wanted(moment: Moment) -> list[Fraction]:
    """When each frame of a moment is shown, from its first on, by the packets of the whole file."""
    source, start_s, end_s = moment
    with av.open(str(source)) as container:
        stream = max(container.streams.video, key=lambda stream: stream.width * stream.height)
        shown = sorted(packet.pts * stream.time_base for packet in container.demux(stream) if packet.pts is not None)
    inside = [time_s for time_s in shown if start_s <= float(time_s) < end_s]
    return [time_s - inside[0] for time_s in inside]


def is_exact(clip: Path, wanted: Sequence[Fraction]) -> bool:
    """Whether a clip has these frames at these times, to a millisecond."""
    with av.open(str(clip)) as container:
        stream = container.streams.video[0]
        times = [frame.pts * stream.time_base for frame in container.decode(stream) if frame.pts is not None]
    return len(times) == len(wanted) and all(
        abs(time_s - times[0] - at) <= Fraction(1, 1000) for time_s, at in zip(times, wanted, strict=True)
    )


ENCODERS = {
    ClipForm.MP4: (
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "-g", "25", "-bf", "0"),
        *("-c:a", "aac", "-b:a", "96k", "-movflags", "+faststart"),
    ),
    ClipForm.WEBM: (
        *("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "7", "-crf", "30", "-b:v", "0", "-g", "25"),
        *("-lag-in-frames", "0", "-auto-alt-ref", "0", "-c:a", "libopus", "-b:a", "96k"),
    ),
}


def ffmpeg(moment: Moment, out: Path, form: ClipForm) -> None:
    """The same clip by the command line, with the same settings, one thread throughout."""
    source, start_s, end_s = moment
    command = (
        *("ffmpeg", "-v", "error", "-y", "-threads", "1", "-filter_threads", "1"),
        *("-ss", repr(start_s), "-to", repr(end_s), "-i", str(source)),
        *(
            "-fps_mode",
            "passthrough",
            "-enc_time_base",
            "1:90000",
            "-vf",
            "scale=-2:'min(720,ih)'",
            "-pix_fmt",
            "yuv420p",
        ),
        *("-threads", "1", "-ar", "48000", "-ac", "2", *ENCODERS[form], str(out)),
    )
    subprocess.run(command, check=True)


def test_clips_beside_the_command_line_and_decoding(moments: list[Moment], tmp_path: Path) -> None:
    wanted = [frames_wanted(moment) for moment in moments]
    in_all_s = sum(end_s - start_s for _, start_s, end_s in moments)

    def decode(moment: Moment) -> None:
        with opened(moment[0]) as container:
            for _ in FrameSpan(container, picture_stream(container, moment[0]), *moment[1:]):
                pass

    def ours(form: ClipForm) -> list[Path]:
        outs = [tmp_path / f"ours{n}.{form}" for n in range(len(moments))]
        for moment, out in zip(moments, outs, strict=True):
            cut(*moment, out, Profile(form))
        return outs

    def theirs(form: ClipForm) -> list[Path]:
        outs = [tmp_path / f"theirs{n}.{form}" for n in range(len(moments))]
        for moment, out in zip(moments, outs, strict=True):
            ffmpeg(moment, out, form)
        return outs

    def measured(name: str, work: Callable[[], list[Path]], who: int) -> tuple[float, Sequence[str]]:
        outs: list[Path] = []
        took = cpu_s(lambda: outs.extend(work()), who)
        exact = sum(is_exact(out, frames) for out, frames in zip(outs, wanted, strict=True))
        size = sum(out.stat().st_size for out in outs) / 1e6
        return took, (name, f"{took:.1f} s", f"{exact} of {len(outs)}", f"{size:.1f} MB")

    decoding = cpu_s(lambda: [decode(moment) for moment in moments])
    rows: list[Sequence[str]] = [("decoding alone", f"{decoding:.1f} s", "", "", "")]
    for form in ClipForm:
        own_s, row = measured(f"reelrank, {form}", lambda form=form: ours(form), resource.RUSAGE_SELF)  # type: ignore[misc]
        rows.append((*row, f"{own_s / decoding:.1f} times decoding"))
        if shutil.which("ffmpeg"):
            their_s, row = measured(f"ffmpeg, {form}", lambda form=form: theirs(form), resource.RUSAGE_CHILDREN)  # type: ignore[misc]
            rows.append((*row, f"reelrank takes {own_s / their_s:.2f} times that"))
    title = f"{len(moments)} moments, {in_all_s:.0f} s together, cut one by one: processor time"
    table(title, rows, PACKAGES, "what|CPU|exact|size|beside")


def test_moments_of_one_video_share_a_decoding(moments: list[Moment], tmp_path: Path) -> None:
    rows: list[Sequence[str]] = []
    both = [0.0, 0.0]
    for source in dict.fromkeys(source for source, _, _ in moments):
        spans = sorted({(start_s, end_s) for video, start_s, end_s in moments if video == source})
        parts: list[list[CutSpan]] = []

        def alone(source: Path = source, spans: list[tuple[float, float]] = spans) -> None:
            for n, span in enumerate(spans):
                cut(source, *span, tmp_path / f"alone{n}.mp4")

        def together(
            source: Path = source, spans: list[tuple[float, float]] = spans, parts: list[list[CutSpan]] = parts
        ) -> None:
            wanted = [CutSpan(*span, tmp_path / f"together{n}.mp4") for n, span in enumerate(spans)]
            parts.extend(groups(wanted, [float(at) for at in decoding_starts_s(source, wanted)]))
            for part in parts:
                cut_together(source, part, Profile())

        took = cpu_s(alone), cpu_s(together)
        both = [sum_s + one_s for sum_s, one_s in zip(both, took, strict=True)]
        same = all(
            (tmp_path / f"alone{n}.mp4").read_bytes() == (tmp_path / f"together{n}.mp4").read_bytes()
            for n in range(len(spans))
        )
        shape = " + ".join(str(len(part)) for part in parts)
        rows.append(
            (source.name, f"{len(spans)} as {shape}", *(f"{one:.2f} s" for one in took), "yes" if same else "NO")
        )
    rows.append(("all", str(len(moments)), *(f"{one:.1f} s" for one in both), f"saves {1 - both[1] / both[0]:.0%}"))
    table("Moments of one video from one decoding", rows, PACKAGES, "video|moments|alone|together|same bytes")


def walk_project(folder: Path, moments: list[Moment]) -> tuple[Project, float]:
    """A campaign whose `WALKED` pairs are all of different moments of 3 to 9 s; and their mean length."""
    videos = list(dict.fromkeys(source for source, _, _ in moments))
    (folder / "videos").mkdir(parents=True)
    rows: list[dict[str, Any]] = []
    lengths: list[float] = []
    for source in videos:
        shutil.copy(source, folder / "videos" / source.name)
    place = 0
    while len(rows) < WALKED:
        source = videos[place % len(videos)]
        with av.open(str(source)) as container:
            lasts_s = float(container.duration or 0) / av.time_base
        length_s = min(3.0 + place % 7, lasts_s - 1)
        start_s = round((0.37 * place) % max(lasts_s - length_s, 0.1), 2)
        topic = TOPICS[len(rows) % len(TOPICS)]
        rows.append({"video": source.name, "start": start_s, "end": round(start_s + length_s, 2)})
        rows[-1] |= {"duration": lasts_s, "caption": f"{topic} {topic} {topic} {place}"}
        lengths.append(length_s)
        place += 1
    (folder / "moments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.txt").write_text("".join(f"{topic}\n" for topic in TOPICS))
    project = init_project(folder / "project", encoder="minilm")
    now = time.time()
    import_corpus(project, OPERATOR, folder / "moments.jsonl", videos=folder / "videos", now=now)
    draw_queries(project, OPERATOR, own=folder / "queries.txt", now=now)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        choose_candidates(project, OPERATOR, now=now)
    add_person_with_password(project, OPERATOR, "Walker", Role.ANNOTATOR, PASSWORD, now=now)
    have_read(project)
    return project, sum(lengths) / len(lengths)


def test_nobody_waits_for_a_clip(moments: list[Moment], tmp_path: Path) -> None:
    project, mean_s = walk_project(tmp_path, moments)
    server = AppServer(project.folder, tmp_path / "server.log")
    server.start()
    waits: list[float] = []
    cut_before: set[str] = set()
    try:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            form = client.get("/session/sign-in")
            csrf = re.search(r'name="csrf" value="([^"]+)"', form.text)
            assert csrf is not None
            client.post("/session/sign-in", data={"name": "Walker", "password": PASSWORD, "csrf": csrf[1]})
            headers = {"X-ReelRank": "1", "Origin": server.url}

            def exchange(grades: list[dict[str, Any]]) -> dict[str, Any]:
                body = {"grades": grades, "skips": []}
                return dict(client.post("/desk/exchange", json=body, headers=headers).json()["desk"])

            desk = exchange([])
            while len(waits) < WALKED and desk["items"]:
                pair = desk["items"][0]["pair"]
                began = time.perf_counter()
                answer = client.get(f"/clips/{pair}.mp4")
                waits.append(time.perf_counter() - began)
                assert answer.status_code == 200, answer.text
                cut_before.add(answer.headers["etag"])
                time.sleep(PACE_S)
                grade = {"pair": pair, "grade": 2, "key": f"k{len(waits)}", "active_ms": 1500, "elapsed_ms": 1500}
                desk = exchange([grade])
    finally:
        server.kill()
    at_once = sum(wait < NO_WAIT_S for wait in waits) / len(waits)
    longest = sorted(waits)[-3:]
    rows = [
        ("clips walked, and different ones", f"{len(waits)}, {len(cut_before)}", f"{mean_s:.1f} s long in the mean"),
        (f"there within {NO_WAIT_S * 1e3:.0f} ms", f"{at_once:.1%}", ">= 95 % wanted"),
        ("first wait", f"{waits[0]:.2f} s", ""),
        ("longest three", ", ".join(f"{wait:.2f} s" for wait in longest), ""),
    ]
    table(f"One person, {PACE_S} s a clip, nothing cut before, the server's own cutting ahead", rows, PACKAGES)


FLOOD, ASKED = 40, sized(2, 10)
"""Connections of one person, and clips that another person asks for beside them."""


def test_a_clip_beside_forty_connections_of_another_person(moments: list[Moment], tmp_path: Path) -> None:
    """First come, first served is everybody as one person who waits at a desk."""
    rows = []
    for what in ("context", "clips"):  # each wait of the first takes forty cuts
        for name, fair in (("first come, first served", False), ("by person and priority", True)):
            cache = ClipCache(tmp_path / f"{what}-{fair}")
            waits, cuts, longest_s = asyncio.run(_beside_a_flood(moments, cache, context=what == "context", fair=fair))
            told = (f"{cut(waits):.2f} s" for cut in (statistics.median, max))
            rows.append((f"{what}, {name}", *told, f"{longest_s:.2f} s", f"{cuts}"))
    head = "the flood asks for|median wait|longest wait|longest cut|cut for the flood"
    title = f"Another person's next uncut clip while one person has {FLOOD} connections"
    table(title, rows, PACKAGES, head)


async def _beside_a_flood(
    moments: list[Moment], cache: ClipCache, *, context: bool, fair: bool
) -> tuple[list[float], int, float]:
    """Seconds of each wait, how many clips the flood got meanwhile, and the seconds of the longest cut."""
    clips: ClipWorker[ClipJob] = ClipWorker(cut_clip)
    known = {source: hashlib.sha256(source.read_bytes()).hexdigest() for source, _, _ in moments}
    numbers = itertools.count()
    cut_for_flood, longest_s = 0, 0.0

    def job() -> ClipJob:
        number = next(numbers)
        source, start_s, end_s = moments[number % len(moments)]
        found = clip_job(cache, source_at(source), start_s + number / 1e4, min(end_s, start_s + 4.0), known[source])
        return with_context(found, end_s) if context else found

    async def ask(person: int, priority: Priority, asked: ClipJob) -> None:
        who, what = (AnnotatorId(person), priority) if fair else (AnnotatorId(0), Priority.DESK)
        with clips.waiting_for(asked, who, what) as future:
            await asyncio.wait((future,))
            future.result()

    async def flood() -> None:
        nonlocal cut_for_flood
        while True:
            await ask(1, Priority.CONTEXT if context else Priority.DESK, job())
            cut_for_flood += 1

    clips.start()
    real = clips._cut_in_pool

    async def timed_cut(asked: ClipJob) -> Path:
        nonlocal longest_s
        began = time.perf_counter()
        path = await real(asked)
        longest_s = max(longest_s, time.perf_counter() - began)
        return path

    clips._cut_in_pool = timed_cut  # type: ignore[method-assign]
    await ask(2, Priority.DESK, job())  # the process is there
    longest_s = 0.0
    tasks = [asyncio.create_task(flood()) for _ in range(FLOOD)]
    waits = []
    try:
        for _ in range(ASKED):
            await asyncio.sleep(0.3)
            began = time.perf_counter()
            await ask(2, Priority.DESK, job())
            waits.append(time.perf_counter() - began)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        clips.stop()
    return waits, cut_for_flood, longest_s
