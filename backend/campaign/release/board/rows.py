"""SQL for the ground truths and runs that a project stores. They are stored as arrays, which load in milliseconds."""

import json
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from backend.campaign.release.board.model import RUN_ADDED, Kept
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import nfc
from backend.scoring.files.facts import Facts
from backend.scoring.files.words import canonical
from backend.scoring.matching.columns import Run, Spans, Truth
from backend.scoring.upper_bound import is_upper_bound
from backend.store.engine import Database

# The column `videos` is a JSON object that maps each name to its duration in seconds (null where unknown), in the order
# of the numbers in `video`. Rows of earlier versions, which stored no durations, have a list of names.
_DTYPES = {"query_rows": "<i8", "offsets": "<i8", "video": "<i4", "start_s": "<f8", "end_s": "<f8", "row": "<i4"}
_VALUE_DTYPE = "<f8"


class Shelf(StrEnum):
    """A kind of file that a project stores: ground truths or runs. The value is the name of the database table."""

    TRUTHS = "kept_truth"
    RUNS = "kept_run"

    @property
    def value_column(self) -> str:
        """The column that only one of the two tables has: `relevance` in that of truths, `score` in that of runs."""
        return "relevance" if self is Shelf.TRUTHS else "score"


def add(
    db: Database,
    shelf: Shelf,
    spans: Truth | Run,
    *,
    name: str,
    sha256: str,
    facts: Facts,
    at: float,
    by: AnnotatorId | None,
) -> None:
    """Store a truth or a run under a name that is not used yet.

    `facts` holds the query texts and video durations that its file states.
    """
    value = spans.relevance if isinstance(spans, Truth) else spans.score
    columns = {key: getattr(spans, key) for key in _DTYPES} | {shelf.value_column: value}
    blobs = {
        key: np.asarray(column).astype(_DTYPES.get(key, _VALUE_DTYPE)).tobytes() for key, column in columns.items()
    }
    row = {
        "name": name,
        "file": spans.file,
        "sha256": sha256,
        "added_at": at,
        "added_by": by,
        "query_count": len(spans.queries),
        "moment_count": len(spans.video),
        "queries": json.dumps(spans.queries, ensure_ascii=False),
        "videos": json.dumps({video: facts.durations.get(video) for video in spans.videos}, ensure_ascii=False),
        "texts": json.dumps(facts.texts, ensure_ascii=False),
        **blobs,
    }
    marks = ", ".join("?" * len(row))
    db.conn.execute(f"INSERT INTO {shelf} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def listed(db: Database, shelf: Shelf) -> list[Kept]:
    """Return the list entries of all stored truths, or of all stored runs, in the order in which they were added."""
    rows = db.conn.execute(
        "SELECT k.name, k.file, k.sha256, k.added_at, a.name, k.query_count, k.moment_count "
        f"FROM {shelf} k LEFT JOIN annotator a ON a.annotator_id = k.added_by ORDER BY k.{shelf}_id"
    ).fetchall()
    kept = [Kept(*row) for row in rows]
    if shelf is Shelf.TRUTHS:
        return kept
    marked = _marked(db)
    return [replace(run, upper_bound=(run.name, run.added_at) in marked or is_upper_bound(run.name)) for run in kept]


def _marked(db: Database) -> frozenset[tuple[str, float]]:
    """Return (name, time added) of each run whose entry in the event log marks it as an upper bound."""
    sql = "SELECT payload ->> 'name', at FROM event WHERE kind = ? AND payload ->> 'upper_bound' IS NOT NULL"
    return frozenset((name, at) for name, at in db.conn.execute(sql, [RUN_ADDED.kind]))


def answered(db: Database, shelf: Shelf) -> dict[str, frozenset[str]]:
    """Return the query ids of each stored truth, or of each stored run, by its name."""
    rows = db.conn.execute(f"SELECT name, queries FROM {shelf} ORDER BY {shelf}_id")
    return {name: frozenset(str(canonical(query)) for query in json.loads(queries)) for name, queries in rows}


def remove(db: Database, shelf: Shelf, name: str) -> Kept | None:
    """Remove the truth or run of this name, and return its list entry; None if there was none."""
    name = _stored(db, shelf, name)
    removed = next((kept for kept in listed(db, shelf) if kept.name == name), None)
    db.conn.execute(f"DELETE FROM {shelf} WHERE name = ?", [name])
    return removed


def facts(db: Database, shelf: Shelf, name: str) -> Facts:
    """Return the query texts and video durations in seconds that came with a stored truth or run.

    They come from its file. For a run that names videos by index, they may come from the JSON file of videos added with
    it.
    """
    stored = _stored(db, shelf, name)
    row = db.conn.execute(f"SELECT texts, videos FROM {shelf} WHERE name = ?", [stored]).fetchone()
    texts, videos = map(json.loads, row) if row else ({}, {})
    lengths = videos if isinstance(videos, dict) else {}
    texts = {nfc(query): text for query, text in texts.items()}
    return Facts(texts, {nfc(video): seconds for video, seconds in lengths.items() if seconds is not None})


def _stored(db: Database, shelf: Shelf, name: str) -> str:
    """Return the stored name that equals `name` after Unicode normalisation; `name` itself if there is none."""
    names = [kept.name for kept in listed(db, shelf)]
    return name if name in names else next((kept for kept in names if nfc(kept) == nfc(name)), name)


def load(db: Database, shelf: Shelf, name: str) -> Spans | None:
    """Return the stored truth or run of this name; None if there is none.

    Error messages about it show this name where they would name a file.

    Raises:
        ProjectError: the arrays are damaged in the database.
    """
    columns = [*_DTYPES, shelf.value_column]
    row = db.conn.execute(
        f"SELECT file, queries, videos, {', '.join(columns)} FROM {shelf} WHERE name = ?", [_stored(db, shelf, name)]
    ).fetchone()
    if row is None:
        return None
    file, queries, videos, *blobs = row
    try:
        # `astype` copies: the measures need aligned arrays of these widths.
        arrays: dict[str, Any] = {
            key: np.frombuffer(blob, dtype).astype(np.float64 if dtype[1] == "f" else np.int64)
            for key, blob in zip(columns, blobs, strict=True)
            for dtype in [_DTYPES.get(key, _VALUE_DTYPE)]
        }
        value, query_rows = arrays.pop(shelf.value_column), arrays.pop("query_rows")
        offsets = arrays["offsets"]
        names: dict[str, int] = {}  # in rows of earlier versions, two names may be the same name in NFC
        place = np.array([names.setdefault(nfc(video), len(names)) for video in json.loads(videos)], dtype=np.int64)
        arrays["video"] = place[arrays["video"]]
        spans: dict[str, Any] = {
            "file": name,
            "queries": tuple(map(canonical, json.loads(queries))),
            "query_rows": tuple(query_rows.tolist()),
            "videos": tuple(names),
            "number": np.arange(len(value)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1,
            **arrays,
        }
    except ValueError:
        raise ProjectError(
            said(
                "{name!r} is damaged in the database: remove it and add {file} again, or restore a backup",
                name=name,
                file=file,
            )
        ) from None
    return Truth(**spans, relevance=value) if shelf is Shelf.TRUTHS else Run(**spans, score=value)
