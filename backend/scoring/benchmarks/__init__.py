"""Find the supported benchmarks, such as Charades-STA. Each file of this package defines one.

To add a benchmark, add a file here that defines `BENCHMARK`.
"""

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from backend.core.errors import InputError
from backend.scoring.benchmarks.benchmark import Benchmark

_FRAME = ("benchmark", "scoring")


def find_benchmarks() -> Mapping[str, Benchmark]:
    """Return the benchmarks that are defined in this package, by name.

    >>> find_benchmarks()["charades-sta"].title
    'Charades-STA'
    """
    files = [module.name for module in pkgutil.iter_modules(__path__) if module.name not in _FRAME]
    benchmarks: list[Benchmark] = [import_module(f"{__name__}.{name}").BENCHMARK for name in files]
    return {benchmark.name: benchmark for benchmark in sorted(benchmarks, key=lambda benchmark: benchmark.name)}


BENCHMARKS = find_benchmarks()


def benchmark_named(name: str) -> Benchmark:
    """Return the benchmark of this name.

    Raises:
        InputError: there is none; the message lists the names.
    """
    if name not in BENCHMARKS:
        raise InputError.single("benchmark", f"{name!r} is not one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]
