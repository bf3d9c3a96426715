"""A small file of pools over the demo's clips, and which of its videos really match, by looking at them."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CLIPS = ROOT / "assets" / "demo"

# (own video, its sentence, positives put in, negatives put in)
POOLS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        *("bedroom_morning", "Zoe opens the curtains."),
        *(("juice_morning",), ("park_fetch", "rainy_street")),
    ),
    (
        *("park_fetch", ""),
        *(("playground_catch",), ("dog_dinner", "front_door")),
    ),
    (
        *("office_monday", ""),
        *(("cafe_meeting",), ("moving_boxes", "evening_lamp")),
    ),
)


def moments() -> dict[str, list[dict[str, Any]]]:
    """The demo's moments by video."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (CLIPS / "moments.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        found[one["video"]].append(one)
    return dict(found)


def document() -> dict[str, dict[str, Any]]:
    """The file's content; of a pool without a sentence named, the first of its video is the query."""
    said = moments()
    found = {
        video: {
            "duration": own[0]["duration"],
            "timestamps": [[one["start"], one["end"]] for one in own],
            "sentences": [one["caption"] for one in own],
            "pos_moments": [[] for _ in own],
            "retrieval_pool": [[] for _ in own],
        }
        for video, own in said.items()
    }
    for video, sentence, positives, negatives in POOLS:
        number = found[video]["sentences"].index(sentence) if sentence else 0
        found[video]["retrieval_pool"][number] = [video, *positives, *negatives]
        found[video]["pos_moments"][number] = [
            [other, said[other][0]["caption"], [said[other][0]["start"], said[other][0]["end"]]] for other in positives
        ]
    return found


def write(path: Path) -> Path:
    """The file."""
    path.write_text(json.dumps(document()), "utf-8")
    return path
