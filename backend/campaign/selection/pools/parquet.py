"""Rows of names and probabilities into a Parquet file, block by block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from backend.encoders.sentence import FloatArray

Columns = Mapping[str, Sequence[str]]
PROBABILITY = "probability"


@contextmanager
def rows_file(path: Path, names: Sequence[str], width: int) -> Iterator[Callable[[Columns, FloatArray], None]]:
    """A Parquet file of text columns and the list column `probability`, written with what is yielded.

    That is called with the text columns of some rows and their probabilities, float32 `(rows, width)`; each call makes
    a row group, so that a reader too can take a block at a time.
    """
    lists = pa.list_(pa.field("element", pa.float32(), nullable=False), width)
    schema = pa.schema([*(pa.field(name, pa.string()) for name in names), pa.field(PROBABILITY, lists)])
    # Probabilities never repeat, so a dictionary of them is waste; their bytes by place do pack.
    split = f"{PROBABILITY}.list.element"
    with parquet.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=False, use_byte_stream_split=[split], write_statistics=False
    ) as file:

        def add(columns: Columns, probability: FloatArray) -> None:
            flat = pa.array(probability.ravel(), type=pa.float32())
            arrays = [pa.array(columns[name], type=pa.string()) for name in names]
            table = pa.Table.from_arrays([*arrays, pa.FixedSizeListArray.from_arrays(flat, type=lists)], schema=schema)
            file.write_table(table)

        yield add
