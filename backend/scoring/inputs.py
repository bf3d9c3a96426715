"""The files that scores were made from, with their hashes and what they say besides numbers.

Reads: truth, run, video map and pool files. Writes: nothing.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from backend.core.errors import InputError
from backend.core.reading import bytes_of
from backend.scoring.files.facts import Facts, Inputs, Source, read_facts
from backend.scoring.files.reading import map_of
from backend.scoring.files.release_folder import choose_truth, queries_of
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.pooling import PoolFile


def file_inputs(
    truth: Path | None, runs: Sequence[Path], videos: Path | None = None, pool: PoolFile | None = None
) -> Inputs:
    """Inputs that are files; without a truth the pools are one.

    Raises:
        InputError: one cannot be read, or neither truth nor pools are given.
    """
    videos = None if videos is None else map_of(videos)
    if truth is not None:
        chosen = choose_truth(truth, videos=videos, queries=queries_of(runs))
        truth, videos = chosen.path, chosen.videos
    named = truth or (pool.path if pool else None)
    if named is None:
        raise InputError.single("truth", "is missing: give one, or pools, whose moments are one")
    files = [("truth", truth), *(("run", path) for path in runs), ("videos", videos)]
    files += [("pools", pool.path), ("first step", pool.first_step)] if pool else []
    sources = []
    for what, path in files:
        if path is not None:
            content = bytes_of(path)
            sources.append(Source(what, path.name, len(content), hashlib.sha256(content).hexdigest()))
    facts = Facts({}, {}) if truth is None else read_facts(truth, videos)
    if pool:
        pools = read_pools(pool.path)
        texts = {query.query_id: query.text for query in pools.queries}
        facts = Facts(texts | dict(facts.texts), dict(pools.durations) | dict(facts.durations))
    return Inputs(named.name.split(".")[0], named.name, facts, tuple(sources))
