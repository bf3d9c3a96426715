"""Find the measures, one file each. To add one, add a file here that defines `MEASURE`, and its test."""

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module

from backend.scoring.measure import Measure


def find_measures() -> Mapping[str, Measure]:
    """Return the measures that are defined in this package, by name; those with graded relevance (mu) come first.

    >>> names = list(find_measures())
    >>> sorted(["recall", "axiou", "ndcg", "axiou_ap"], key=names.index)
    ['ndcg', 'axiou_ap', 'recall', 'axiou']
    """
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    kinds = ("mu", "theta", None)
    measures: list[Measure] = sorted(
        (module.MEASURE for module in modules),
        key=lambda measure: (kinds.index(measure.threshold.values if measure.threshold else None), measure.name),
    )
    return {measure.name: measure for measure in measures}


MEASURES = find_measures()


def usual_names() -> tuple[str, ...]:
    """Return the names of the measures that preset `paper` computes by default."""
    return tuple(name for name, measure in MEASURES.items() if measure.usual)


def measure_of(key: str) -> Measure:
    """Return the measure of a key such as `ndcg@20,0.5`, `map@avg` or `miou`.

    >>> measure_of("map@avg").read("map@avg"), measure_of("ndcg@20,0.5").read("ndcg@20,0.5")
    ((None, 'avg'), ('20', '0.5'))
    """
    return MEASURES[key.partition("@")[0]]


def proper_names(asked: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace alternative names of measures, such as `rank` for `recall`; return each name once, and notes.

    There is a note for each alternative name in `asked`. Unknown names stay as they are.

    >>> names, notes = proper_names(["ndcg", "rank", "recall"])
    >>> names, [note.partition(":")[0] for note in notes]
    (('ndcg', 'recall'), ['rank is called recall'])
    """
    own = {other: (measure.name, note) for measure in MEASURES.values() for other, note in measure.also.items()}
    given = dict.fromkeys(asked)
    names = dict.fromkeys(own[name][0] if name in own else name for name in given)
    return tuple(names), tuple(own[name][1] for name in given if name in own)
