"""How many changes of shot are found, how many too much, and how fast: `make bench`.

Videos are joined from pieces of the demo's clips and of the real videos (which are one shot each but one), so that
every change is known: cuts, dissolves of three lengths, fades through black. PySceneDetect is measured beside where it
is installed. Prints a Markdown table for docs/decisions/080-moments.md; never fails on a number.
"""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from backend.campaign import demo
from backend.media.probe import probe
from backend.media.shots import find_shots
from bench.tables import sized, table

pytestmark = pytest.mark.bench

FPS, SIZE, PIECES = 25, (640, 360), sized(8, 20)
DISSOLVES = (10, 20, 30)  # frames: 0.4, 0.8 and 1.2 s
ONE_SHOT = ("dog_ball", "cups_game", "letter_blocks", "pour_coffee", "ball_juggle", "silent_film", "table_visitors")
# By eye, see tests/media/test_shots.py.
MIRROR = [(5.005, 6.006), (8.008, 8.008)]
Change = tuple[float, float]
Frame = NDArray[np.uint8]
Find = Callable[[Path], list[float]]


def frames(path: Path, start_s: float, end_s: float) -> Iterator[Frame]:
    """What is shown from one time to another, 25 times a second."""
    with av.open(str(path)) as container:
        at_s, last = start_s, None
        for frame in container.decode(video=0):
            time_s = float(frame.time)
            while last is not None and at_s < min(time_s, end_s):
                yield last
                at_s += 1 / FPS
            if time_s >= end_s:
                return
            if time_s > start_s - 0.5:
                last = frame.reformat(*SIZE, "rgb24").to_ndarray()


def joined(out: Path, pool: list[Path], kind: str, seed: int) -> list[Change]:
    """Write a video of pieces; when each change begins and ends."""
    rng, changes, count = random.Random(seed), list[Change](), 0
    with av.open(str(out), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"crf": "23", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"

        def put(frame: Frame) -> None:
            nonlocal count
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
            count += 1

        held: list[Frame] = []
        last = None
        for number in range(PIECES):
            last = rng.choice([path for path in pool if path != last])
            length = rng.uniform(3, 5)
            start = rng.uniform(0, probe(last).duration_s - length - 0.1)
            piece = list(frames(last, start, start + length))
            lasts = {"cut": 0, "fade": 20, "dissolve": DISSOLVES[number % 3]}[kind]
            if number:
                changes.append((count / FPS, (count + lasts) / FPS))
            for n, (one, other) in enumerate(zip(held[:lasts], piece, strict=False), start=1):
                share = n / (lasts + 1)
                if kind == "dissolve":
                    put((one * (1 - share) + other * share).astype(np.uint8))
                else:
                    put((one * max(0.0, 1 - 2 * share) + other * max(0.0, 2 * share - 1)).astype(np.uint8))
            rest = piece[lasts if number else 0 :]
            keep = 0 if kind == "cut" else max(DISSOLVES)
            for frame in rest[: len(rest) - keep]:
                put(frame)
            held = rest[len(rest) - keep :]
        for frame in held:
            put(frame)
        container.mux(stream.encode(None))
    return changes


def judged(changes: list[Change], found: list[float]) -> tuple[int, int]:
    """How many changes were found (each by one time, within 0.1 s of a cut, 0.25 s of others), and what is too much."""
    left = list(found)
    hits = 0
    for start, end in changes:
        slack = 0.1 if start == end else 0.25
        hit = next((time_s for time_s in left if start - slack <= time_s <= end + slack), None)
        if hit is not None:
            left.remove(hit)
            hits += 1
    return hits, len(left)


def ours(path: Path) -> list[float]:
    return [start for start, _ in find_shots(path, probe(path).duration_s)[1:]]


def others() -> dict[str, Find]:
    try:
        import scenedetect
    except ImportError:
        return {}

    def by(detector: str) -> Find:
        def find(path: Path) -> list[float]:
            manager = scenedetect.SceneManager()
            manager.add_detector(getattr(scenedetect, detector)())
            manager.detect_scenes(scenedetect.open_video(str(path), backend="pyav"))
            return [start.seconds for start, _ in manager.get_scene_list()[1:]]

        return find

    return {f"PySceneDetect, {name}": by(name) for name in ("ContentDetector", "AdaptiveDetector")}


def test_shots(tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    videos = shared / "data" / "videos"
    pools = {
        "real": [videos / f"{name}.mp4" for name in (*ONE_SHOT, "bottles")],
        "demo": sorted(demo.clip_folder().glob("*.mp4")),
    }
    known: dict[str, list[tuple[Path, list[Change]]]] = {}
    for seed, (name, pool) in enumerate(pools.items(), start=11):
        for kind in ("cut", "dissolve", "fade"):
            path = tmp_path / f"{name}-{kind}.mp4"
            known.setdefault(kind, []).append((path, joined(path, pool, kind, seed)))
    known["nine real videos"] = [(path, []) for path in pools["real"]] + [(videos / "mirror_workers.mp4", MIRROR)]
    known["demo's clips"] = [(path, []) for path in pools["demo"]]
    rows = []
    for name, find in {"ours": ours, **others()}.items():
        began, cells, seconds = time.process_time(), [], 0.0
        for parts in known.values():
            results = [judged(changes, find(path)) for path, changes in parts]
            seconds += sum(probe(path).duration_s for path, _ in parts)
            total = sum(len(changes) for _, changes in parts)
            cells.append(f"{sum(hits for hits, _ in results)} of {total} + {sum(more for _, more in results)}")
        rows.append([name, *cells, f"{seconds / (time.process_time() - began):.0f}"])
    with capsys.disabled():
        head = "|".join(["detector", *known, "times real time (CPU)"])
        table("Changes of shot: found, and + found too much", rows, ("av", "numpy"), head)
