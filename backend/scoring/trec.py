"""Runs and truths as programs of TREC read them: documents are the truth's pairs, and a run is matched at one mu.

Each prediction of a run takes a truth moment as in NDCG@K, IoU>=mu (see `matching`); its line names that pair. One that
takes none keeps its rank under a name that no truth has. So NDCG@K of the two files, by any program with linear gain
and the discount 1 / log2(k + 1), is the NDCG@K, IoU>=mu of preset `paper`.

Reads truth, run and video map files. Writes nothing.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.core.reading import unpacked
from backend.scoring.analysis.meeting import meet
from backend.scoring.files.formats import truth_file
from backend.scoring.files.pair_ids import pair_ids, require_plain
from backend.scoring.files.reading import read_run, read_videos
from backend.scoring.files.release_folder import choose_truth, queries_of
from backend.scoring.plausibility import with_videos
from backend.scoring.presets import settle
from backend.scoring.scores import prepare_run, prepare_truth


@dataclass(frozen=True, slots=True)
class MatchedRun:
    """A run in the ids of the truth's pairs, a prediction a line; and the truth, a pair a line.

    `predictions` of the run took `taken` pairs; `queries` of it are in the truth, which has `missing` more.
    """

    run: str
    qrels: str
    queries: int
    missing: int
    predictions: int
    taken: int
    warnings: tuple[str, ...]


def match_run(truth_path: Path, run_path: Path, mu: float, *, videos: Path | None = None) -> MatchedRun:
    """Match a run with the truth at one IoU threshold, by the conventions of preset `paper`.

    Args:
        truth_path: a truth of any form, or the folder of a release.
        run_path: a run of any form.
        mu: the IoU threshold, in (0, 1].
        videos: `name -> [duration, index]`, for runs that give videos by index.

    Raises:
        InputError: with the problems of the files, or mu.
    """
    chosen = choose_truth(truth_path, videos=videos, queries=queries_of([run_path]))
    truth_path, videos = chosen.path, chosen.videos
    content = unpacked(truth_path)
    named = read_videos(videos) if videos else None
    truth = with_videos(truth_file(content, str(truth_path)), named)
    run = read_run(run_path, named, truth)
    longest = int(np.diff(run.offsets).max(initial=1))
    settings = settle("paper", [max(longest, 1)], [mu], {}, measures=["ndcg"])
    key = prepare_truth(truth, settings)
    ranked = prepare_run(run, key, settings)
    names = pair_ids(content, key.truth)
    require_plain(key.truth.queries, str(truth_path))
    found = meet(key, ranked, settings, settings.k[0], mu)
    tag = "".join(run_path.name.split()) or "run"
    lines = []
    for query, rank, takes in zip(found.query.tolist(), found.rank.tolist(), found.takes.tolist(), strict=True):
        name = names[takes] if takes >= 0 else f"none-{rank}"
        # Whole numbers that fall with the rank: trec_eval orders by the scores, and holds them in float32.
        lines.append(f"{key.truth.queries[query]} Q0 {name} {rank} {longest - rank + 1} {tag}\n")
    relevance = key.truth.relevance.astype(np.int64).tolist()
    query_of = key.truth.query.tolist()
    qrels = [
        f"{key.truth.queries[query]} 0 {name} {grade}\n"
        for query, name, grade in zip(query_of, names, relevance, strict=True)
    ]
    return MatchedRun(
        run="".join(lines),
        qrels="".join(qrels),
        queries=len(key.truth.queries) - len(ranked.missing),
        missing=len(ranked.missing),
        predictions=len(lines),
        taken=int((found.takes >= 0).sum()),
        warnings=(*filter(None, (chosen.note,)), *key.warnings, *ranked.warnings),
    )
