"""Choose the truth file when the folder of a release is given in its place.

A release has a truth for each split, `val.json` and `test.json`. If no split is asked for, the queries of a run can
show which one is meant.

Reads: the truths of the folder, and perhaps a run. Writes: nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import unpacked_bytes
from backend.scoring.files.formats import map_of, read_run, read_truth, read_videos
from backend.scoring.matching.columns import QueryKey, Run, Truth

SPLITS = ("val", "test")
"""The judged splits of a release; each has its truth in `SPLIT.json`."""

Queries = Callable[[Mapping[int, str] | None], Iterable[QueryKey]]
"""A function that returns the query ids of a run, given video names by index; `InputError` if it cannot be read."""


@dataclass(frozen=True, slots=True)
class ChosenTruth:
    """A truth file and its video map (None if there is none); `note` says why this file was chosen from a release."""

    path: Path
    videos: Path | None = None
    note: str = ""


def truths_in(folder: Path) -> dict[str, Path]:
    """Return the truth files in the folder of a release, by split (`val`, `test`).

    Raises:
        InputError: the folder has no truth.
    """
    truths = {split: folder / f"{split}.json" for split in SPLITS}
    truths = {split: path for split, path in truths.items() if path.is_file()}
    if not truths:
        raise InputError.single(
            folder,
            said(
                "is not a release: it has neither val.json nor test.json; give a file or what `reelrank export` wrote"
            ),
        )
    return truths


def choose_truth(
    given: Path, *, videos: Path | None = None, split: str | None = None, queries: Queries | None = None
) -> ChosenTruth:
    """Return the truth file to use: the given file, or the truth of one split if a release folder is given.

    Without `split`, it is the only truth in the folder that has queries. If the truths of both splits have queries, it
    is the one that has all queries of the run.

    Args:
        given: a truth file, or the folder of a release.
        videos: the video map, or the release that has it; default is the map of the truth's release.
        split: `val` or `test`; ignored if a file is given.
        queries: a function that returns the query ids of a run, given video names by index.

    Raises:
        InputError: the folder is no release or lacks the split, or it is not clear which split is meant.
    """
    videos = None if videos is None else map_of(videos)
    if not given.is_dir():
        return ChosenTruth(given, videos)
    truths = truths_in(given)
    videos = videos or (path if (path := map_of(given)).is_file() else None)
    if split is not None:
        if split not in truths:
            names = ", ".join(path.name for path in truths.values())
            raise InputError.single(given, said("has no {split}.json; it has {names}", split=split, names=names))
        return ChosenTruth(truths[split], videos)
    filled = {name: path for name, path in truths.items() if unpacked_bytes(path).strip() not in (b"", b"[]")} or truths
    if len(filled) == 1:
        (path,) = filled.values()
        return ChosenTruth(path, videos, f"truth {path}: the only split of the release with queries")
    needed = _ids(queries, videos)
    ids_of = {path: set(map(str, read_truth(path).queries)) for path in filled.values()} if needed else {}
    fitting = [path for path, ids in ids_of.items() if needed <= ids]
    if len(fitting) == 1:
        return ChosenTruth(fitting[0], videos, f"truth {fitting[0]}: all queries of the run are of this split")
    files = " or ".join(map(str, filled.values()))
    if not needed:
        raise InputError.single(given, said("has several truths: give {files}", files=files))
    message = said(
        "has several truths, and the run's queries are not all of one (of {n:,}, {counts}): give {files}",
        n=len(needed),
        counts=", ".join(f"{path.name} has {len(needed & ids):,}" for path, ids in ids_of.items()),
        files=files,
    )
    raise InputError.single(given, message)


def other_truths(truth: Path) -> list[Path]:
    """Return the truths of the other splits if `truth` lies in the folder of a release; otherwise an empty list."""
    if truth.name not in {f"{split}.json" for split in SPLITS}:
        return []
    return [path for path in truths_in(truth.parent).values() if path != truth]


def split_hints(truth: Truth, runs: Iterable[Run], others: Iterable[Path]) -> list[Problem]:
    """Return hints for runs that share no query with the truth: which of the truths in `others` fit them better.

    There is a hint for each such run and each other truth with some of its queries; it says with how many. Truths that
    cannot be read are skipped.
    """
    lost = [run for run in runs if run.queries and not set(map(str, run.queries)) & set(map(str, truth.queries))]
    problems = []
    for path in others if lost else ():
        try:
            ids = set(map(str, read_truth(path).queries))
        except InputError:
            continue
        for run in lost:
            if shared := len(ids & set(map(str, run.queries))):
                message = said(
                    "{file} has {n:,} of this run's {total:,} query ids", file=path, n=shared, total=len(run.queries)
                )
                problems.append(Problem(run.file, None, message))
    return problems


def queries_of(runs: Iterable[Path]) -> Queries:
    """Return a function that reads the query ids of the first run in `runs`, to be given to `choose_truth`.

    The function takes video names by index.
    """
    paths = list(runs)[:1]
    return lambda names: [query for path in paths for query in read_run(path, names).queries]


def _ids(queries: Queries | None, videos: Path | None) -> set[str]:
    """Return the query ids of a run as texts; empty if the run cannot be read without a truth."""
    if queries is None:
        return set()
    try:
        return set(map(str, queries(read_videos(videos) if videos else None)))
    except InputError:
        return set()
