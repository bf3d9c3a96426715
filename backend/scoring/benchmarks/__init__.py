"""The benchmarks of the field, one file each: a file here that defines `BENCHMARK` is all that a new one needs."""

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from backend.core.errors import InputError
from backend.scoring.benchmarks.benchmark import Benchmark

_FRAME = ("benchmark", "scoring")


def find_benchmarks() -> Mapping[str, Benchmark]:
    """The benchmarks of the files beside this one, by name.

    >>> find_benchmarks()["charades-sta"].title
    'Charades-STA'
    """
    files = [module.name for module in pkgutil.iter_modules(__path__) if module.name not in _FRAME]
    found: list[Benchmark] = [import_module(f"{__name__}.{name}").BENCHMARK for name in files]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


BENCHMARKS = find_benchmarks()


def benchmark_named(name: str) -> Benchmark:
    """The benchmark of this name.

    Raises:
        InputError: with the names that there are.
    """
    if name not in BENCHMARKS:
        raise InputError.single("benchmark", f"{name!r} is not one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]
