"""Cache sentence vectors on disk, so that each encoder encodes a text only once.

The cache folder has one subfolder for each encoder. A subfolder holds shards: NumPy files of records with a text's hash
and its vector. A shard is written under a temporary name, renamed when complete, and never changed afterwards. So a
killed process leaves no half-written shard, two processes may write at once, and deleting any file is safe.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.core.file_system import make_private, make_private_folder
from backend.core.leftovers import part_of
from backend.core.parallel import each_unit
from backend.core.progress import Steps
from backend.core.where import where_of
from backend.encoders.sentence import Encoder, FloatArray
from backend.encoders.vocabulary import longest_first

SHARD_TEXTS = 256
"""Texts in a shard: the most that is encoded again after Ctrl-C or a kill, which takes some seconds."""

_KEY_BYTES = 16


def shared_folder() -> Path:
    """Return the folder in the user's cache for vectors that are computed outside a project (an annotation campaign).

    All commands of a user share this folder.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "reelrank" / "embeddings"


def encode_cached(encoder: Encoder, texts: Sequence[str], folder: Path, *, progress: Steps | None = None) -> FloatArray:
    """Return unit vectors of `texts` in order, float32 `(len(texts), encoder.dim)`, from disk where they are cached.

    `encoder.encode` is called with uncached texts only. If all texts are cached, it is not called, and an encoder that
    builds its model at the first call never builds it. If the encoder has an attribute `where` (processes or machines),
    the texts are encoded there, and their vectors are cached on this machine.

    Args:
        encoder: the sentence encoder; each `identity` of an encoder has its own subfolder of the cache.
        texts: the texts; the same text may occur several times.
        folder: the cache folder.
        progress: called with (uncached texts done, all uncached texts).

    Raises:
        EncoderUnavailable: some texts are not cached, and the model cannot be built.
        WorkerLost: encoding some of the texts ended every process that tried it.
        ClusterUnavailable: the machines of `where` cannot do the work.
    """
    place = folder / hashlib.sha256(encoder.identity.encode()).hexdigest()[:32]
    record = np.dtype([("key", f"V{_KEY_BYTES}"), ("vector", "<f4", (encoder.dim,))])
    keys = [_key(text) for text in texts]
    rows: dict[bytes, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    for shard in _shards(place, record):
        stored = np.ascontiguousarray(shard["key"]).tobytes()
        pairs = [
            (number, row)
            for number in range(len(shard))
            for row in rows.pop(stored[number * _KEY_BYTES : (number + 1) * _KEY_BYTES], ())
        ]
        if pairs:
            sources, targets = zip(*pairs, strict=True)
            vectors[list(targets)] = shard["vector"][list(sources)]
    # Sorted before splitting into shards, so that every batch holds texts of similar length.
    unknown = longest_first(encoder, (texts[numbers[0]] for numbers in rows.values()))
    parts = [unknown[start : start + SHARD_TEXTS] for start in range(0, len(unknown), SHARD_TEXTS)]
    where = where_of(encoder)
    where = replace(where, jobs=max(1, min(where.jobs, len(parts))))
    encoded = 0
    if progress and unknown:
        progress(0, len(unknown))
    for place_of_part, new_vectors in each_unit(_encoded, encoder, parts, where, called=_called) if parts else ():
        part = parts[place_of_part]
        fresh = np.empty(len(part), dtype=record)
        fresh["vector"] = new_vectors
        encoded += len(part)
        if progress:
            progress(encoded, len(unknown))
        for number, text in enumerate(part):
            key = _key(text)
            fresh["key"][number] = np.void(key)
            vectors[rows[key]] = fresh["vector"][number]
        _write(place, fresh)  # after each part, so that a later call continues where this one was cut off
    return vectors


def _encoded(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    return encoder.encode(texts)


def _called(texts: Sequence[str]) -> str:
    return f"{len(texts)} texts from {texts[0][:60]!r} on"


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def _shards(place: Path, record: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield the arrays of cached vectors in the folder `place` of one encoder, one for each file, memory-mapped.

    Files that are damaged, were just deleted, or have another dtype than `record` are skipped.
    """
    for path in sorted(place.glob("*.npy")):
        try:
            shard: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, EOFError, ValueError):
            continue
        if shard.dtype == record and shard.ndim == 1:
            yield shard


def _write(place: Path, records: npt.NDArray[Any]) -> None:
    """Write records, each with a text's hash and vector, to one file in `place`, the cache folder of an encoder.

    The file is named by a hash of the texts, so writing the same texts again makes no second file.
    """
    name = hashlib.blake2b(np.ascontiguousarray(records["key"]).tobytes(), digest_size=16).hexdigest()
    keep_array(place / f"{name}.npy", records)


def keep_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array to a `.npy` file atomically."""
    make_private_folder(path.parent)
    unfinished = part_of(path)
    try:
        with unfinished.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
            stream.flush()
            # Without this a power cut may leave the name in place and the contents empty.
            os.fsync(stream.fileno())
        make_private(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
