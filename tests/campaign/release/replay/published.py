"""TVR-Ranking's real grades with the pairs that they belong to, and runs of simulated systems to rank them.

The published file of raw annotations has no queries, and the file of pairs and the truth are not in the shared data.
But pair numbers tell the query and the rank. Pairs come in blocks of 20, a batch each, whose first pair is the moment
of the query's own caption. The second batch of block b is block b + 8,666. This gives the paper's numbers exactly:
3,281 queries, 1,544 of them with a second batch. Videos and times are invented: a video for each pair.

The public systems cannot be scored on invented moments. Nine simulated ones stand for them, with the mean NDCG@20,
IoU >= 0.5 that the paper's Table 5 has for the nine systems on the test set. Systems of one model find similar pairs.
"""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.campaign.release.replay.replaying import ReplayInputs, prepare
from backend.campaign.release.replay.rules.truth import relevance_of
from backend.scoring.files.entries import parse_run_mapping
from backend.scoring.scores import prepare_run, prepare_truth, score

BATCH, SECOND = 20, 8_666
"""Pairs of a block, and how many blocks after the first batch of a query its second one comes."""

TABLE_5 = {
    **{"XML 1": 0.0660, "XML 20": 0.1567, "XML 40": 0.1502},
    **{"CONQUER 1": 0.0687, "CONQUER 20": 0.2104, "CONQUER 40": 0.1851},
    **{"ReLoCLNet 1": 0.1349, "ReLoCLNet 20": 0.3397, "ReLoCLNet 40": 0.4059},
}
"""NDCG@20, IoU >= 0.5 on the test set, by model and size of the training set."""

LADDER = {f"{'ABC'[step % 3]} {step}": 0.05 + 0.0125 * step for step in range(30)}
"""Thirty systems, each a little better than the one before."""


def blocks(pair_ids: NDArray[np.int64]) -> dict[int, int]:
    """The number of each query's first block, by block, from the ids of all graded pairs."""
    used = np.unique(pair_ids // BATCH).tolist()
    first = {block for block in used if block < SECOND}
    return {block: block - SECOND if block - SECOND in first else block for block in used}


def write_pairs(raw: Path, out: Path) -> NDArray[np.int64]:
    """The file of pairs; the result has (pair id, query, rank, 100 * mean grade) of each, by query and rank."""
    grades = np.genfromtxt(raw, delimiter=",", skip_header=1, dtype=np.int64)
    pair_ids, place, number = np.unique(grades[:, 0], return_inverse=True, return_counts=True)
    mean = np.bincount(place, grades[:, 2]) / number
    query_of = blocks(pair_ids)
    block = pair_ids // BATCH
    query = np.array([query_of[one] for one in block.tolist()])
    rank = pair_ids % BATCH + 1 + BATCH * (block != query)
    table = np.column_stack([pair_ids, query, rank, np.rint(100 * mean).astype(np.int64)])
    table = table[np.lexsort((rank, query))]
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["pair_id", "query_id", "query", "video_name", "start", "end", "rank", "similarity"])
        writer.writerows([pair, of, f"query {of}", f"v{pair}", 0, 10, at, 1] for pair, of, at, _ in table.tolist())
    return table


def simulated(table: NDArray[np.int64], found: float, seed: int, model: int, spread: float = 1.0) -> dict[str, list]:
    """A run that finds this share of each query's pairs, and ranks them by noisy mean grades among wrong moments.

    Whether a pair is found depends half on the model, and half on the seed.
    """
    own, shared = np.random.default_rng([seed, 1]), np.random.default_rng([model, 2])
    size = len(table)
    liking = (shared.normal(size=size) + own.normal(size=size)) / np.sqrt(2)
    keep = liking < np.quantile(liking, found)
    value = table[:, 3] / 100 + own.normal(scale=spread, size=size)
    run = {}
    edges = np.flatnonzero(np.diff(table[:, 1], prepend=-1, append=-1))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        chosen = begin + np.flatnonzero(keep[begin:end])
        chosen = chosen[np.argsort(-value[chosen])]
        # As many wrong moments as there are pairs not found, at random ranks.
        places = np.sort(own.permutation(end - begin)[: len(chosen)]).tolist()
        listed = {at: f"v{pair}" for at, pair in zip(places, table[chosen, 0].tolist(), strict=True)}
        rows = [[listed.get(at, f"x{at}"), 0, 10, 1 / (at + 1)] for at in range(end - begin)]
        run[str(table[begin, 1])] = rows
    return run


def calibrated(
    table: NDArray[np.int64], score: Callable[[dict[str, list]], float], aims: dict[str, float]
) -> Iterator[tuple[str, dict[str, list]]]:
    """A simulated run for each name, whose mean `score` is that of `aims`, to 0.0005."""
    models = {name: place for place, name in enumerate(dict.fromkeys(name.split()[0] for name in aims))}
    for seed, (name, aim) in enumerate(aims.items()):
        share = 0.5
        for _ in range(8):
            run = simulated(table, share, seed, models[name.split()[0]])
            mean = score(run)
            if abs(mean - aim) < 0.0005:
                break
            share *= (aim / mean) ** 0.9  # nearly in proportion
        yield name, run


def write_runs(
    table: NDArray[np.int64], raw: Path, pairs: Path, out: Path, aims: dict[str, float] = TABLE_5
) -> dict[str, Path]:
    """The runs of simulated systems, by name."""
    any_run = out / "any.json"
    any_run.write_text(json.dumps(simulated(table, 0.5, 0, 0)))
    replay, _ = prepare(ReplayInputs(raw, pairs, {"a": any_run, "b": any_run}))
    relevance = relevance_of(replay.given, np.ones(len(replay.given.pair), dtype=bool))
    graded = replace(replay.truth, relevance=relevance.astype(float)).take(np.flatnonzero(relevance >= 0))
    key = prepare_truth(graded, replay.settings)

    def mean(run: dict[str, list]) -> float:
        ranked = prepare_run(parse_run_mapping(run), key, replay.settings)
        return float(score(key, ranked, replay.settings).values[0].mean())

    paths = {}
    for name, run in calibrated(table, mean, aims):
        paths[name] = out / f"{name.replace(' ', '_')}.json"
        paths[name].write_text(json.dumps(run))
    return paths
