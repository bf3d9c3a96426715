"""Find the measures, one file each: a file here that defines `MEASURE`, and its test, are all that a new one needs."""

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module

from backend.scoring.measure import Measure


def find_measures() -> Mapping[str, Measure]:
    """Return the measures of the files beside this one, by name: graded relevance first, then those with theta.

    >>> names = list(find_measures())
    >>> sorted(["recall", "axiou", "ndcg", "axiou_ap"], key=names.index)
    ['ndcg', 'axiou_ap', 'recall', 'axiou']
    """
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    kinds = ("mu", "theta", None)
    found: list[Measure] = sorted(
        (module.MEASURE for module in modules),
        key=lambda one: (kinds.index(one.threshold.values if one.threshold else None), one.name),
    )
    return {measure.name: measure for measure in found}


MEASURES = find_measures()


def usual_names() -> tuple[str, ...]:
    """What preset `paper` computes where nothing is asked for."""
    return tuple(name for name, measure in MEASURES.items() if measure.usual)


def measure_of(key: str) -> Measure:
    """The measure of a key such as `ndcg@20,0.5`, `map@avg` or `miou`.

    >>> measure_of("map@avg").read("map@avg"), measure_of("ndcg@20,0.5").read("ndcg@20,0.5")
    ((None, 'avg'), ('20', '0.5'))
    """
    return MEASURES[key.partition("@")[0]]


def proper_names(asked: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of measures asked for, each once and under its own name, and what to tell about those that were not.

    A name of no measure is passed on as it is.

    >>> names, notes = proper_names(["ndcg", "rank", "recall"])
    >>> names, [note.partition(":")[0] for note in notes]
    (('ndcg', 'recall'), ['rank is called recall'])
    """
    own = {other: (measure.name, note) for measure in MEASURES.values() for other, note in measure.also.items()}
    given = dict.fromkeys(asked)
    names = dict.fromkeys(own[name][0] if name in own else name for name in given)
    return tuple(names), tuple(own[name][1] for name in given if name in own)
