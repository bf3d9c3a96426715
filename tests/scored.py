"""A small truth and runs as files, with names that try to be markup: what tests of evaluation reports share."""

import json
import random
from pathlib import Path

import av
import numpy as np

from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project

HOSTILE = "<script>alert(1)</script>"
QUERIES = 12


def write_files(folder: Path) -> tuple[Path, list[Path]]:
    """`val.json` and three runs; the last lacks two queries, and its name is hostile as far as a file name can be."""
    rng = random.Random(7)
    truth, good, poor = [], {}, {}
    for number in range(QUERIES):
        moments = []
        for place in range(6):
            start = round(rng.uniform(0, 40), 2)
            moments.append(
                {
                    "pair_id": number * 10 + place,
                    "video_name": f"friends_s01e0{place % 3}_seg02_clip_0{number % 4}",
                    "timestamp": [start, round(start + rng.uniform(2, 15), 2)],
                    "duration": 60.0,
                    "caption": HOSTILE,
                    "similarity": 0.5,
                    "relevance": (place + number) % 5,
                }
            )
        truth.append({"query_id": f"q{number}", "query": f"{HOSTILE} & query {number}", "relevant_moment": moments})
        good[f"q{number}"] = [
            [m["video_name"], m["timestamp"][0], m["timestamp"][1] + 0.5, 1.0 - place / 10]
            for place, m in enumerate(moments)
        ]
        good[f"q{number}"].append([f"\"'>{HOSTILE}", 1.0, 2.0, 0.1])
        poor[f"q{number}"] = [
            [video, start + 2, end + 3, score] for video, start, end, score in good[f"q{number}"][::-1]
        ]
    paths = [folder / "good.json", folder / "poor.json", folder / "a<b>&'_{x}|`.json"]
    (folder / "val.json").write_text(json.dumps(truth))
    for path, run in zip(paths, (good, poor, {q: poor[q] for q in list(poor)[2:]}), strict=True):
        path.write_text(json.dumps(run))
    return folder / "val.json", paths


def colour_at(second: int) -> tuple[int, int, int]:
    """Red, green, blue of that second (0-62) of a video by `write_video`; far from each other, never black."""
    number = second + 1
    return 85 * (number % 4), 85 * (number // 4 % 4), 85 * (number // 16)


def write_video(path: Path, seconds: int, width: int = 64, height: int = 36, every: int = 250) -> Path:
    """A video of two frames a second that changes its colour every second; `every` so many frames is a key frame."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=2, options={"crf": "4", "g": str(every)})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(2 * seconds):
            picture = np.full((height, width, 3), colour_at(number // 2), dtype=np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        out.mux(stream.encode(None))
    return path


def video_project(folder: Path, seconds: int = 60) -> Project:
    """A project with a video for each name in the files of `write_files`; the first was damaged after the import."""
    (folder / "videos").mkdir()
    one = write_video(folder / "one.mp4", seconds)
    names = [f"friends_s01e0{episode}_seg02_clip_0{clip}" for episode in range(3) for clip in range(4)]
    for name in names:
        (folder / "videos" / f"{name}.mp4").write_bytes(one.read_bytes())
    rows = [{"video": name, "start": 0, "end": 5, "caption": "A", "duration": seconds} for name in names]
    (folder / "moments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    project = init_project(folder / "project", encoder="minilm")
    import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", videos=folder / "videos", now=0.0)
    (folder / "videos" / f"{names[0]}.mp4").write_bytes(b"damaged")
    return project
