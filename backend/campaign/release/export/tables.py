"""Describe the tables of a release with the types of their fields, and make their rows. Pure functions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from backend.campaign.nouns import Split
from backend.campaign.release.export.model import RAW_COLUMNS, Contents, Field, ReleaseTable

_WHOLE, _NUMBER = "int64", "float64"
_KINDS = {
    **dict.fromkeys(("pair_id", "query_id", "worker", "active_ms", "elapsed_ms", "adjudicated", "re_opened"), _WHOLE),
    **dict.fromkeys(("relevance", "round", "contexts", "rank", "released", "simulated", "index"), _WHOLE),
    **dict.fromkeys(("start", "end", "duration", "similarity", "mean"), _NUMBER),
    "graded_at": "timestamp",
}
"""Types of the columns of the CSV files; all other columns are text."""


def columns(names: Iterable[str]) -> tuple[Field, ...]:
    """Return the fields, with their types, for the columns of a release's CSV file."""
    return tuple(Field(name, _KINDS.get(name, "string")) for name in names)


def query_fields(contents: Contents, *, graded: bool) -> tuple[Field, ...]:
    """Return the fields of a table with one query in each row, and the query's moments as a list.

    If `graded` is True, it is a table of the ground truth. Otherwise it is a training set, whose moments have no
    relevance.
    """
    published = ["published_caption"] if "published_caption" in contents.pair_columns else []
    moment = [
        *([Field("pair_id", _WHOLE)] if graded else []),
        Field("video_name"),
        Field("timestamp", _NUMBER, length=2),
        Field("duration", _NUMBER),
        *map(Field, ["caption", *published]),
        Field("similarity", _NUMBER),
        *([Field("relevance", _WHOLE), Field("adjudicated", "bool")] if graded else []),
    ]
    return (Field("query_id", _WHOLE), Field("query"), Field("relevant_moment", fields=tuple(moment)))


def typed_rows(fields: Sequence[Field], rows: Iterable[Sequence[object]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV file as objects with numbers and texts. Empty cells are None.

    >>> list(typed_rows(columns(["re_opened", "caption", "mean"]), [("1", "a dog", 2), ("", "", "")]))
    [{'re_opened': 1, 'caption': 'a dog', 'mean': 2.0}, {'re_opened': None, 'caption': None, 'mean': None}]
    """
    types: dict[str, Any] = {_WHOLE: int, _NUMBER: float}
    kinds = [(field.name, types.get(field.kind, str)) for field in fields]
    for row in rows:
        cells = zip(kinds, row, strict=True)
        yield {name: None if cell is None or cell == "" else kind(cell) for (name, kind), cell in cells}


def json_lines(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return the rows of a CSV file as JSON Lines, for programs that read only one format in a folder."""
    return b"".join(msgspec.json.encode(row) + b"\n" for row in typed_rows(columns(names), rows))


def release_tables(contents: Contents, training: Iterable[str]) -> list[ReleaseTable]:
    """Return the tables in the files of a release, without those that have no row.

    `training` names the files of training sets that are not empty.
    """
    truth, weighted = query_fields(contents, graded=True), query_fields(contents, graded=False)
    parts = [(Split.VAL, "validation"), (Split.TEST, "test")]
    return [
        *(ReleaseTable("truth", name, f"{split.value}.json", truth) for split, name in parts if contents.truth[split]),
        *(ReleaseTable(file.removesuffix(".json"), "train", file, weighted) for file in training),
        ReleaseTable("grades", "grades", "raw_annotation.jsonl", columns(RAW_COLUMNS)),
        ReleaseTable("pairs", "pairs", "raw_query_moment_pair.jsonl", columns(contents.pair_columns)),
    ]
