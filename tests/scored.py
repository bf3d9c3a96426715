"""A small truth and runs as files, with names that try to be markup: what tests of evaluation reports share."""

import json
import random
from pathlib import Path

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
