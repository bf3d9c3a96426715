"""Draws what the demo shows: `python -m tools.draw_demo [--to FOLDER] [NAME...]`; see the README beside this file."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import cv2

from tools.draw_demo.clips import VIDEOS, cast_toml, frames, moments_jsonl, scene, write_video

KEPT = Path(__file__).parents[2] / "assets" / "demo"


def draw(folder: Path, name: str) -> str:
    """Write one video to `folder` and say its name."""
    write_video(folder / f"{name}.mp4", frames(scene(name)))
    return name


def main() -> None:
    """Draw the named videos, all if none is named, a process a core; then write their captions and cast."""
    parser = argparse.ArgumentParser(prog="python -m tools.draw_demo", description="Draw the videos of the demo.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="videos to draw; all if none is named")
    parser.add_argument("--to", type=Path, default=KEPT, metavar="FOLDER", help="where to (assets/demo)")
    wanted = parser.parse_args()
    if unknown := sorted(set(wanted.names) - set(VIDEOS)):
        parser.error(f"no such video: {', '.join(unknown)}; there are {', '.join(VIDEOS)}")
    wanted.to.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(initializer=partial(cv2.setNumThreads, 1)) as processes:
        for name in processes.map(partial(draw, wanted.to), wanted.names or VIDEOS):
            sys.stdout.write(f"{name}.mp4\n")
    (wanted.to / "moments.jsonl").write_text(moments_jsonl(), encoding="utf-8")
    (wanted.to / "cast.toml").write_text(cast_toml(), encoding="utf-8")


if __name__ == "__main__":
    main()
