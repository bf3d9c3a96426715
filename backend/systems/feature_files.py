"""Read files of frame features, HDF5 or npz, which have one array for each video.

An array is named by its video and has the shape `(frames, dim)`. An HDF5 file may have the attributes `rate` (rows for
each second of video) and `encoder` (the model); an npz file may have both as scalars. Files that other programs wrote
usually have neither; then the caller states the rate.
"""

import io
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.core.errors import InputError, Problem
from backend.core.reading import LARGEST_UNPACKED
from backend.core.typed_text import nfc

FloatArray = npt.NDArray[np.float32]
RATE, ENCODER = "rate", "encoder"
_BYTES = 8
"""The most bytes of one number in a file, before it becomes a float32."""
_STEP = 1 << 16
"""Numbers that are unpacked and checked at a time."""
_LARGEST_HEAD = 1 << 16
"""Bytes of an npz file that say what an array is, and of a rate or a name of an encoder."""
_SAME = 1e-6
"""Two rates nearer than this, relatively, are one that was rounded."""


class Features:
    """An open file of frame features; the features of a video are read from disk when `of` is called.

    `open_features` opens and closes the file.

    Attributes:
        path: the file.
        rate: rows for each second of video, above 0; row `i` shows the time from `i / rate` to `(i + 1) / rate`
            seconds.
        dim: the length of a row.
        encoder: the model that made the features; None if the file does not say.
        videos: the names of the videos, sorted, with Unicode letters in composed form (NFC).
    """

    def __init__(self, path: Path, arrays: Mapping[str, Any], rate: float, dim: int, encoder: str | None) -> None:
        self.path, self.rate, self.dim, self.encoder = path, rate, dim, encoder
        self._arrays = {nfc(name): array for name, array in arrays.items()}
        if len(self._arrays) < len(arrays):
            raise InputError.single(path, "two names of videos differ only in how Unicode writes their letters")
        self.videos = tuple(sorted(self._arrays))

    def __contains__(self, video: object) -> bool:
        return video in self._arrays

    def of(self, video: str) -> FloatArray:
        """Return the features of a video, float32 `(frames, dim)`.

        Raises:
            InputError: the file has no such video, its array holds anything but finite numbers, or the file cannot be
                read.
        """
        require_videos(self, [video])
        try:
            rows: FloatArray = np.empty(self._arrays[video].shape, dtype=np.float32)
            self._arrays[video].read_direct(rows)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError.single(self.path, f"video {video}: is damaged ({error})") from None
        require_numbers(self.path, video, rows)
        return rows


@contextmanager
def open_features(path: Path, rate: float | None = None) -> Iterator[Features]:
    """Open a file of frame features, to read it video by video within a `with` block.

    Args:
        path: a file that ends in `.h5`, `.hdf5` or `.npz`.
        rate: rows for each second of video, for a file that does not state its rate.

    Raises:
        InputError: the file cannot be read, has no video, has an array that is not `(frames, dim)`, has no known rate,
            or states another rate than `rate`.
    """
    if path.suffix not in SUFFIXES:
        raise InputError.single(path, f"is not a file of features: its name must end in {', '.join(SUFFIXES)}")
    opener = _open_npz if path.suffix == ".npz" else _open_hdf5
    with opener(path) as (arrays, stored_rate, encoder):
        known = _rate(path, stored_rate, rate)
        yield Features(path, arrays, known, _dim(path, arrays), encoder)


def require_videos(features: Features, names: Iterable[str]) -> None:
    """Raise an error if a file of features lacks one of these videos.

    Raises:
        InputError: names every video that is missing.
    """
    missing = [name for name in dict.fromkeys(names) if name not in features]
    if missing:
        file = str(features.path)
        raise InputError([Problem(file, None, f"video {name}: has no features in this file") for name in missing])


Opened = tuple[Mapping[str, Any], object, str | None]
"""The arrays by video, what the file says of its rate, and of its encoder."""


@contextmanager
def _open_hdf5(path: Path) -> Iterator[Opened]:
    with _explain_damage(path):
        file = hdf5(path).File(path, "r")
    with file:
        with _explain_damage(path):
            arrays: dict[str, Any] = {}
            file.visititems(lambda name, item: arrays.update({name: item}) if hasattr(item, "shape") else None)
            for name, item in arrays.items():
                if item.external or item.is_virtual:
                    raise InputError.single(
                        path, f"video {name}: its numbers are in another file: copy them into this one"
                    )
            encoder = file.attrs.get(ENCODER)
            rate = file.attrs.get(RATE)
        yield arrays, rate, None if encoder is None else str(encoder)


@contextmanager
def _open_npz(path: Path) -> Iterator[Opened]:
    with _explain_damage(path):
        file = zipfile.ZipFile(path)
    with file:
        with _explain_damage(path):
            names = [name.removesuffix(".npy") for name in file.namelist() if name.endswith(".npy")]
            arrays = {name: _Member(file, f"{name}.npy") for name in names}
            # One of these names that has dimensions is a video's.
            alone = {
                name: arrays.pop(name).value() for name in (RATE, ENCODER) if name in arrays and not arrays[name].shape
            }
        encoder = alone.get(ENCODER)
        yield arrays, alone.get(RATE), None if encoder is None else str(encoder)


class _Member:
    """One array of an npz file, with the interface of an h5py dataset. Its numbers are read only by `read_direct`."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        with archive.open(name) as stream:
            head = io.BytesIO(stream.read(_LARGEST_HEAD))
        version = np.lib.format.read_magic(head)
        reads = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        self.shape, self._by_columns, self.dtype = reads(head)
        self._begins = head.tell()
        self.chunks = None

    def value(self) -> object:
        if self.dtype.hasobject or self.dtype.itemsize > _LARGEST_HEAD:
            raise ValueError(f"{self._name} is not a short text or number")
        with self._archive.open(self._name) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)[()]

    def read_direct(self, into: FloatArray) -> None:
        """Read the numbers of the array into `into`, a part at a time, like the h5py method of the same name."""
        flat = (into.T if self._by_columns else into).flat
        with self._archive.open(self._name) as stream:
            stream.read(self._begins)
            for start in range(0, into.size, _STEP):
                count = min(_STEP, into.size - start)
                part = stream.read(count * self.dtype.itemsize)
                if len(part) < count * self.dtype.itemsize:
                    raise ValueError("it is cut off")
                flat[start : start + count] = np.frombuffer(part, self.dtype)
            if stream.read(1):  # which also checks the sum of the member
                raise ValueError("there is other data after its numbers")


def _dim(path: Path, arrays: Mapping[str, Any]) -> int:
    """Return the length of a row, the same for all videos; refuse a file with arrays of other shapes or types."""
    with _explain_damage(path):
        shapes = {name: arrays[name].shape for name in arrays}
    if not shapes:
        raise InputError.single(path, "holds no features of any video")
    dim: int | None = next((shapes[name][1] for name in sorted(shapes) if len(shapes[name]) == 2), None)
    for name, shape in shapes.items():
        dtype, chunk = arrays[name].dtype, arrays[name].chunks or ()
        require_size(path, f"video {name}", max(math.prod(shape), math.prod(chunk)) * _BYTES)
        if dtype.kind not in "fiu" or dtype.itemsize > _BYTES:
            raise InputError.single(
                path, f"video {name}: must hold numbers of up to {_BYTES} bytes, not {str(dtype)[:80]}"
            )
    problems = [
        Problem(str(path), None, fault) for name in sorted(shapes) if (fault := wrong_shape(name, shapes[name], dim))
    ]
    if problems or dim is None:
        raise InputError(problems)
    return dim


def require_size(path: Path, array: str, size: int) -> None:
    """Raise an error if an array would not fit into memory. A small compressed file can state an array of any size.

    Args:
        path: the file.
        array: the name of the array, for the message.
        size: the size of the array in bytes, unpacked.

    Raises:
        InputError: the size is above `LARGEST_UNPACKED`.
    """
    if size > LARGEST_UNPACKED:
        raise InputError.single(path, f"{array}: unpacks to more than {LARGEST_UNPACKED / 2**30:g} GiB")


def wrong_shape(video: str, shape: tuple[int, ...], dim: int | None) -> str | None:
    """Return what is wrong with the shape of a video's features, or None if it is `(frames, dim)` and not empty."""
    if len(shape) != 2:
        return f"video {video}: has shape {shape}, not (frames, dim)"
    if not shape[0] or not shape[1]:
        return f"video {video}: has no frames" if shape[1] else f"video {video}: has rows without numbers"
    if shape[1] != dim:
        return f"video {video}: has rows of {shape[1]} numbers, and the first video rows of {dim}"
    return None


def require_numbers(path: Path, video: str, rows: npt.NDArray[np.floating]) -> None:
    """Raise an error if a video's features contain anything but finite numbers.

    Raises:
        InputError: names the first row with NaN or infinity, from 0.
    """
    step = max(1, _STEP // rows.shape[1])
    for start in range(0, len(rows), step):
        wrong = ~np.isfinite(rows[start : start + step]).all(axis=1)
        if wrong.any():
            row = start + int(wrong.argmax())
            raise InputError.single(path, f"video {video}: row {row} (from 0) holds NaN or infinity")


def _rate(path: Path, stored: object, option: float | None) -> float:
    if option is not None:
        require_rate(path, option)
    if stored is None:
        if option is None:
            raise InputError.single(path, "does not say how many rows there are a second: give the rate")
        return option
    try:
        number = float(stored)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not is_rate(number):
        raise InputError.single(path, f"gives the rate {stored!r}, which is not a number above 0")
    if option is not None and not math.isclose(number, option, rel_tol=_SAME):
        raise InputError.single(path, f"says {number:g} rows a second, but {option:g} were given: leave the rate out")
    return number


def hdf5(path: Path) -> Any:
    """Return the module h5py, which reads HDF5 files.

    Raises:
        InputError: h5py is not installed; the message names the file `path` that needs it.
    """
    try:
        import h5py  # who reads npz does without
    except ImportError:
        raise InputError.single(path, 'HDF5 needs h5py: pip install "reelrank[features]"') from None
    return h5py


@contextmanager
def _explain_damage(path: Path) -> Iterator[None]:
    """Turn any library's error about an unreadable file into an `InputError` that names the file."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError.single(path, "cannot be read: there is no such file") from None
    except (OSError, ValueError, KeyError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError.single(path, f"cannot be read as a file of features: {error}") from None


SUFFIXES = (".h5", ".hdf5", ".npz")


def is_rate(rate: float) -> bool:
    """Return whether a number of rows a second is valid: finite and above 0."""
    return math.isfinite(rate) and rate > 0


def require_rate(path: Path, rate: float) -> None:
    """Raise an error if a rate is invalid.

    Raises:
        InputError: it is not a finite number above 0.
    """
    if not is_rate(rate):
        raise InputError.single(path, f"the rate has to be a number above 0, not {rate:g}")
