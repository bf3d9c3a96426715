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
from backend.campaign.release.export.model import RAW_COLUMNS, Contents, Field, ReleaseTable
from backend.campaign.release.export.tables import columns, query_fields, typed_rows

_ROWS = 5000
"""Rows of a row group; readers and writers hold one group of queries at a time."""


def write(contents: Contents, training: Mapping[int, Path], folder: Path) -> list[ReleaseTable]:
    """Write all tables of a release into a new folder `data/`, and return one entry for each.

    Args:
        contents: content of the release.
        training: the JSON files of the training sets, by size (moments per query).
        folder: the folder in which `data/` is made.
    """
    (folder / "data").mkdir()
    tables = []
    graded = _schema(query_fields(contents, graded=True))
    for split, name in ((Split.VAL, "validation"), (Split.TEST, "test")):
        rows = _blocks(contents.truth[split])
        tables.append(_table(folder, "truth", name, f"{split.value}.parquet", graded, rows))
    weighted = _schema(query_fields(contents, graded=False))
    for size, file in sorted(training.items()):
        rows = _blocks(msgspec.json.decode(file.read_bytes(), type=list[msgspec.Raw]))
        tables.append(_table(folder, f"train_top{size:02d}", "train", f"train_top{size:02d}.parquet", weighted, rows))
    videos = [(name, *value) for name, value in contents.videos.items()]
    for config, name, names, cells in (
        ("grades", "raw_annotation", RAW_COLUMNS, contents.raw),
        ("pairs", "raw_query_moment_pair", contents.pair_columns, contents.pairs),
        ("videos", "video_corpus", ("video_name", "duration", "index"), videos),
    ):
        fields = columns(names)
        rows = (list(typed_rows(fields, block)) for block in _blocks(cells))
        tables.append(_table(folder, config, config, f"{name}.parquet", _schema(fields), rows))
    return tables


def _table(
    folder: Path, config: str, split: str, name: str, schema: Any, blocks: Iterator[list[dict[str, Any]]]
) -> ReleaseTable:
    """Write one table as a Parquet file. `blocks` are its rows, some thousand at a time.

    The same rows give the same bytes under the same version of Arrow.
    """
    rows = 0
    path = folder / "data" / name
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:
        for block in blocks:
            file.write_table(pa.Table.from_pylist(block, schema=schema))
            rows += len(block)
    return ReleaseTable(config, split, f"data/{name}", rows=rows, size=path.stat().st_size)


def _schema(fields: Sequence[Field]) -> Any:
    """Return the Arrow schema of a table with these fields."""
    return pa.schema([(field.name, _type(field)) for field in fields])


def _type(field: Field) -> Any:
    if field.fields:
        return pa.list_(pa.struct([(part.name, _type(part)) for part in field.fields]))
    # An instant is text, as in the CSV file.
    kind = pa.string() if field.kind == "timestamp" else pa.type_for_alias(field.kind)
    return pa.list_(kind, field.length) if field.length else kind


def _blocks(rows: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        yield [msgspec.json.decode(row) if isinstance(row, msgspec.Raw) else row for row in block]
