"""Define the input and output of studies of measures: every system's value at every query, and a table of results."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from backend.core.timespan import Floats

_COUNTED = {
    "queries": "queries",
    "test_queries": "test queries",
    "trials": "trials per size",
    "sets": "noisy sets",
    "draws": "draws per boundary",
}

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class SystemValues:
    """The values of every measure, system and query: `values` has shape (measures, systems, queries), each >= 0."""

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats

    @property
    def means(self) -> Floats:
        """The means over the queries, shape (measures, systems)."""
        means: Floats = self.values.mean(axis=2)
        return means


@dataclass(frozen=True, slots=True)
class Study:
    """The results of one study of measures, as a table.

    All `rows` have the same columns. An undefined value is None, and its `reason` says why. `choices` are what the
    numbers depend on: preset, options, queries, systems, seed and the like.
    """

    name: str
    choices: dict[str, object]
    rows: list[dict[str, Cell]]
    warnings: list[str]

    @property
    def description(self) -> str:
        """The study's choices (preset, options, numbers of queries, ...) as one line to show beside its results.

        >>> Study("ties", {"preset": "paper", "options": {"gain": "exp2"}, "systems": ["a", "b"]}, [], []).description
        'preset paper, gain=exp2; 2 systems'
        """
        parts: list[str] = []
        for name, value in self.choices.items():
            if name == "options" and isinstance(value, dict):
                parts[-1] += "".join(f", {option}={choice}" for option, choice in value.items())
            elif name == "systems" and isinstance(value, list):
                parts.append(f"{len(value)} systems")
            elif name in _COUNTED and isinstance(value, int):
                parts.append(f"{value:,} {_COUNTED[name]}")
            elif isinstance(value, list):
                parts.append(f"{name} {', '.join(map(str, value))}")
            else:
                parts.append(f"{name.replace('_', ' ')} {value}")
        return "; ".join(parts)


def generator_of(seed: int, *unit: int) -> np.random.Generator:
    """Return the random generator of one job: different for each job, and the same in any process.

    `unit` are numbers that identify the job.

    >>> bool(generator_of(7, 1, 2).random() == generator_of(7, 1, 2).random() != generator_of(7, 2, 1).random())
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=unit))


def chunks(total: int, size: int) -> Iterator[int]:
    """Yield the sizes of pieces that make up `total`: `size` as often as it fits, then the remainder.

    >>> list(chunks(7, 3))
    [3, 3, 1]
    """
    for start in range(0, total, size):
        yield min(size, total - start)
