"""Refuse names and rates that no file of features can have, before one is written."""

import math
from collections.abc import Iterable
from pathlib import Path

from backend.core.errors import InputError, Problem

SUFFIXES = (".h5", ".hdf5", ".npz")


def require_suffix(out: Path) -> None:
    """Refuse a name that says nothing of HDF5.

    Raises:
        InputError: it ends in neither `.h5` nor `.hdf5`.
    """
    if out.suffix not in SUFFIXES[:2]:
        raise InputError.single(out, "is no name for a file of features: it has to end in .h5")


def require_names(out: Path, videos: Iterable[str]) -> None:
    """Refuse names that HDF5 would not give back as they were; a slash in one makes a group, as elsewhere in the field.

    Raises:
        InputError: with each of them; or a name is a part of another's path.
    """
    names = dict.fromkeys(videos)
    problems = []
    for name in names:
        parts = name.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            problems.append(f"video {name!r}: HDF5 has no place of this name; rename the video")
        elif above := next((one for n in range(1, len(parts)) if (one := "/".join(parts[:n])) in names), None):
            problems.append(f"video {name!r}: HDF5 has no place for it below video {above!r}; rename one of them")
    if problems:
        raise InputError([Problem(str(out), None, told) for told in problems])


def require_rate(path: Path, rate: float) -> None:
    """Refuse what is no rate.

    Raises:
        InputError: it is not a number above 0.
    """
    if not is_rate(rate):
        raise InputError.single(path, f"the rate has to be a number above 0, not {rate:g}")


def is_rate(rate: float) -> bool:
    """Whether it is a number of rows a second: finite, above 0."""
    return math.isfinite(rate) and rate > 0
