"""Convert a run and its truth to the files of TREC programs, at one IoU threshold mu.

In these files each pair of a query and a truth moment is a document.

Predictions are matched with truth moments as in NDCG@K, IoU>=mu (see `matching`). The line of a matched prediction
names the pair of its moment. An unmatched prediction keeps its rank, under a name that the truth lacks. So any program
with linear gain and the discount 1 / log2(k + 1) gets the right NDCG@K from the two files: it equals the NDCG@K,
IoU>=mu of preset `paper`.

Reads truth, run and video map files. Writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import UNDECODABLE, unpacked_bytes
from backend.core.text_files import read_csv
from backend.scoring.fates import meet
from backend.scoring.files import text
from backend.scoring.files.formats import read_run, read_videos, truth_file
from backend.scoring.files.release_folder import choose_truth, queries_of
from backend.scoring.files.text import Form
from backend.scoring.files.words import TRUTH
from backend.scoring.matching.columns import Truth
from backend.scoring.plausibility import add_video_facts
from backend.scoring.presets import settle
from backend.scoring.scores import prepare_run, prepare_truth

FIELD = "pair_id"


def pair_ids(content: bytes, truth: Truth) -> list[str]:
    r"""Return an id for every moment of a truth, in the order of the truth.

    It is the `pair_id` in the file if every moment has one, otherwise the query id and the moment's number, such as
    `5-1`.

    Args:
        content: the bytes of the truth file, unpacked.
        truth: the same file, read.

    Raises:
        InputError: two moments of a query have the same id, or an id has a blank in it.

    >>> from backend.scoring.files.formats import truth_file
    >>> content = b"query_id,video,start,end,relevance,pair_id\n5,v,0,9,4,77\n5,v,9,12,0,78\n"
    >>> pair_ids(content, truth_file(content, "truth.csv"))
    ['77', '78']
    >>> pair_ids(content.replace(b"pair_id", b"other"), truth_file(content, "truth.csv"))
    ['5-1', '5-2']
    """
    entries = _entries(text.checked(content, truth.file), truth.file)
    query = [truth.queries[number] for number in truth.query.tolist()]
    rows, numbers = truth.row.tolist(), truth.number.tolist()
    numbered = [_pair_id(entries.get(row), number) for row, number in zip(rows, numbers, strict=True)]
    if any(one is None for one in numbered):
        return [f"{one}-{number}" for one, number in zip(query, numbers, strict=True)]
    names = [str(one) for one in numbered]
    problems, used = [], set()
    for position, name in enumerate(zip(query, names, strict=True)):
        if name in used:
            problems.append(truth.problem(position, said("duplicate pair {name}: keep one", name=name[1])))
        elif not name[1] or len(name[1].split()) != 1:
            problems.append(
                truth.problem(position, said("pair {name!r}: TREC ids cannot be empty or contain blanks", name=name[1]))
            )
        used.add(name)
    if problems:
        raise InputError(problems)
    return names


def require_no_blanks(names: Sequence[object], file: str) -> None:
    """Check that query ids fit into a line of a TREC file.

    Raises:
        InputError: an id has a blank in it.
    """
    bad = [str(name) for name in names if len(str(name).split()) != 1]
    problems = [Problem(file, None, said("query {name!r}: TREC ids cannot contain blanks", name=name)) for name in bad]
    if problems:
        raise InputError(problems)


def _entries(content: bytes, file: str) -> Mapping[int, Any]:
    """Return the entries of a truth file by row number. Rows are numbered as `Truth` numbers them."""
    form = text.form_of(content, file)
    if form is Form.CSV:
        table = read_csv(content, file, (), (FIELD,))
        cells = table.columns.get(FIELD, ())
        return {row: {FIELD: cell} for row, cell in zip(table.rows, cells, strict=bool(cells))}
    try:
        if form is Form.LINES:
            lines = content.split(b"\n")
            return {row: msgspec.json.decode(line) for row, line in enumerate(lines, start=1) if line.strip()}
        document = msgspec.json.decode(content)
    except UNDECODABLE as error:  # bad numbers in fields that other readers ignore
        raise InputError.single(file, said("its pairs cannot be read: {error}", error=error)) from None
    return dict(enumerate(document if isinstance(document, list) else [document], start=1))


def _pair_id(entry: Any, number: int) -> object | None:
    """Return the pair id in an entry of a truth file, or None if it has none.

    If the entry is a query with a list of moments, return the pair id of moment `number`, counted from 1.
    """
    if not isinstance(entry, Mapping):
        return None
    moments = entry.get(TRUTH.items)
    if isinstance(moments, list):
        entry = moments[number - 1]
    return entry.get(FIELD) if isinstance(entry, Mapping) else None


@dataclass(frozen=True, slots=True)
class MatchedRun:
    """A run and its truth as texts in TREC's formats. Each id stands for a pair of a query and a truth moment.

    `run` has a prediction on each line, and `qrels` a pair of the truth.

    `predictions` counts the run's predictions, `taken` those that were matched with a pair. `queries` counts the run's
    queries that are in the truth, `missing` the truth's queries that the run lacks.
    """

    run: str
    qrels: str
    queries: int
    missing: int
    predictions: int
    taken: int
    warnings: tuple[str, ...]


def match_run(truth_path: Path, run_path: Path, mu: float, *, videos: Path | None = None) -> MatchedRun:
    """Return a run and its truth as files of TREC's formats, matched at one IoU threshold as in preset `paper`.

    Args:
        truth_path: a truth file in any supported format, or a release folder, which holds a truth file for each split.
        run_path: a run file in any supported format.
        mu: the IoU threshold, in (0, 1].
        videos: `name -> [duration, index]`, for runs that give videos by index.

    Raises:
        InputError: lists the problems of the files, or says that mu is out of range. A relevance may be any whole
            number from 0 to 1000.
    """
    chosen = choose_truth(truth_path, videos=videos, queries=queries_of([run_path]))
    truth_path, videos = chosen.path, chosen.videos
    content = unpacked_bytes(truth_path)
    video_map = read_videos(videos) if videos else None
    truth = add_video_facts(truth_file(content, str(truth_path)), video_map)
    run = read_run(run_path, video_map, truth)
    longest = int(np.diff(run.offsets).max(initial=1))
    settings = settle("paper", [max(longest, 1)], [mu], {"gain": "linear"}, measures=["ndcg"])
    key = prepare_truth(truth, settings)
    if fractions := np.flatnonzero(key.truth.relevance % 1).tolist():
        message = said("TREC files have whole relevances alone")
        raise InputError([key.truth.problem(position, message) for position in fractions])
    ranked = prepare_run(run, key, settings)
    names = pair_ids(content, key.truth)
    require_no_blanks(key.truth.queries, str(truth_path))
    meeting = meet(key, ranked, settings, settings.k[0], mu)
    tag = "".join(run_path.name.split()) or "run"
    lines = []
    for query, rank, takes in zip(meeting.query.tolist(), meeting.rank.tolist(), meeting.takes.tolist(), strict=True):
        name = names[takes] if takes >= 0 else f"none-{rank}"
        # trec_eval sorts by score in float32, so scores are whole numbers that fall with the rank.
        lines.append(f"{key.truth.queries[query]} Q0 {name} {rank} {longest - rank + 1} {tag}\n")
    relevance = key.truth.grades.tolist()
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
        taken=int((meeting.takes >= 0).sum()),
        warnings=(*filter(None, (chosen.note,)), *key.warnings, *ranked.warnings),
    )
