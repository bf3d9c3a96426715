"""Nine runs of three models in two splits, each spoilt more or less: what tests of tables share."""

import json
import random
from pathlib import Path

MODELS, VARIANTS, SPLITS = ("XML", "CONQUER", "ReLoCLNet"), ("1", "20", "40"), {"val": 12, "test": 9}


def truth_of(queries: int, rng: random.Random) -> list[dict[str, object]]:
    """Invented graded moments of a few videos."""
    return [
        {
            "query_id": f"q{number}",
            "relevant_moment": [
                {"video_name": f"friends_s01e0{place}", "timestamp": [at, at + 9.5], "relevance": (place + number) % 5}
                for place, at in enumerate(rng.sample(range(50), 6))
            ],
        }
        for number in range(queries)
    ]


def spoilt(truth: list[dict[str, object]], by_s: float, rng: random.Random) -> dict[str, list[list[object]]]:
    """The truth as a run whose moments are that many seconds off."""
    run = {}
    for query in truth:
        rows = []
        for moment in query["relevant_moment"]:  # type: ignore[attr-defined]  # a list, see above
            start = round(abs(moment["timestamp"][0] + rng.gauss(0, by_s)), 2)
            rows.append([moment["video_name"], start, round(start + 9.5, 2), moment["relevance"] + rng.gauss(0, 1.5)])
        run[str(query["query_id"])] = sorted(rows, key=lambda row: -row[3])
    return run


def write_nine(folder: Path, *, seeds: int = 1, lacking: str = "") -> Path:
    """The truths, the runs and `runs.toml`; every run of the model `lacking` has no answer to one query of val."""
    rng = random.Random(3)
    lines = ['truth = {val = "val.json", test = "test.json"}', 'variant = "Top N"']
    for split, queries in SPLITS.items():
        truth = truth_of(queries, rng)
        (folder / f"{split}.json").write_text(json.dumps(truth))
        for nth, model in enumerate(MODELS):
            for variant in VARIANTS:
                for seed in range(1, seeds + 1):
                    run = spoilt(truth, (20, 3, 0.4)[nth], rng)
                    if model == lacking and split == "val":
                        del run["q0"]
                    name = f"{model}_{variant}_{seed}_{split}.json"
                    (folder / name).write_text(json.dumps(run))
                    lines += ["[[run]]", f'file = "{name}"', f'model = "{model}"', f"variant = {variant}"]
                    lines += [f'split = "{split}"', *([f"seed = {seed}"] if seeds > 1 else [])]
    (folder / "runs.toml").write_text("\n".join(lines))
    return folder / "runs.toml"
