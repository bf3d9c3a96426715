"""Write a release as Parquet in the layout of Hugging Face `datasets`: one file per table.

The tables hold the same rows as the files of a release in the format of TVR-Ranking, in the same order. Empty CSV cells
are null.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyarrow import parquet

from backend.campaign.nouns import Split
from backend.campaign.release.export.model import RAW_COLUMNS, Contents, MadeTable

_ROWS = 5000
"""Rows of a row group; readers and writers hold one group of queries at a time."""
_MOMENT = (
    *(("video_name", pa.string()), ("timestamp", pa.list_(pa.float64(), 2)), ("duration", pa.float64())),
    ("caption", pa.string()),
)
_TYPES = {
    **dict.fromkeys(("pair_id", "query_id", "worker", "active_ms", "elapsed_ms"), pa.int64()),
    **dict.fromkeys(("relevance", "round", "contexts", "rank", "released"), pa.int64()),
    **dict.fromkeys(("start", "end", "duration", "similarity", "mean"), pa.float64()),
}
"""Types of the columns of the two CSV files; all other columns are text."""


def write(contents: Contents, training: Mapping[int, Path], folder: Path) -> list[MadeTable]:
    """Write all tables of a release into a new folder `data/`, and return one entry for each.

    Args:
        contents: content of the release.
        training: the JSON files of the training sets, by size (moments per query).
        folder: the folder in which `data/` is made.
    """
    (folder / "data").mkdir()
    tables = []
    graded = _query_schema(contents, ("pair_id", pa.int64()), ("relevance", pa.int64()), ("adjudicated", pa.bool_()))
    for split, name in ((Split.VAL, "validation"), (Split.TEST, "test")):
        rows = _blocks(contents.truth[split])
        tables.append(_table(folder, "truth", name, f"{split.value}.parquet", graded, rows))
    weighted = _query_schema(contents)
    for size, file in sorted(training.items()):
        rows = _blocks(msgspec.json.decode(file.read_bytes(), type=list[msgspec.Raw]))
        tables.append(_table(folder, f"train_top{size:02d}", "train", f"train_top{size:02d}.parquet", weighted, rows))
    raw, pairs = _csv_schema(RAW_COLUMNS), _csv_schema(contents.pair_columns)
    tables.append(_table(folder, "grades", "grades", "raw_annotation.parquet", raw, _cells(RAW_COLUMNS, contents.raw)))
    pair_blocks = _cells(contents.pair_columns, contents.pairs)
    tables.append(_table(folder, "pairs", "pairs", "raw_query_moment_pair.parquet", pairs, pair_blocks))
    videos = pa.schema([("video_name", pa.string()), ("duration", pa.float64()), ("index", pa.int64())])
    video_blocks = _cells(videos.names, [(name, *value) for name, value in contents.videos.items()])
    tables.append(_table(folder, "videos", "videos", "video_corpus.parquet", videos, video_blocks))
    return tables


def _table(
    folder: Path, config: str, split: str, name: str, schema: Any, blocks: Iterator[list[dict[str, Any]]]
) -> MadeTable:
    """Write one table as a Parquet file. `blocks` are its rows, some thousand at a time.

    The same rows give the same bytes under the same version of Arrow.
    """
    rows = 0
    path = folder / "data" / name
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:
        for block in blocks:
            file.write_table(pa.Table.from_pylist(block, schema=schema))
            rows += len(block)
    return MadeTable(config, split, f"data/{name}", rows, path.stat().st_size)


def _query_schema(contents: Contents, *more: tuple[str, Any]) -> Any:
    """Return the Arrow schema of a table with one query per row, and the query's moments as a list.

    `more` are further fields of the moments, as (name, type).
    """
    published = "published_caption" in contents.pair_columns
    fields = [*_MOMENT, *([("published_caption", pa.string())] if published else []), ("similarity", pa.float64())]
    moment = pa.struct([*more[:1], *fields, *more[1:]])
    return pa.schema([("query_id", pa.int64()), ("query", pa.string()), ("relevant_moment", pa.list_(moment))])


def _csv_schema(columns: Sequence[str]) -> Any:
    """Return the Arrow schema of a table with the columns of a CSV file.

    The column `adjudicated` is a number in both CSV files that have it: a relevance in the file of grades, and 0 or 1
    in the file of pairs.
    """
    types = {**_TYPES, "adjudicated": pa.int64(), "simulated": pa.int64()}
    return pa.schema([(name, types.get(name, pa.string())) for name in columns])


def _cells(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[list[dict[str, Any]]]:
    for block in _blocks(rows):
        yield [{name: None if cell == "" else cell for name, cell in zip(columns, row, strict=True)} for row in block]


def _blocks(rows: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        yield [msgspec.json.decode(row) if isinstance(row, msgspec.Raw) else row for row in block]
