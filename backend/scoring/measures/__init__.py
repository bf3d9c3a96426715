"""The measures, one file each: a file here that defines `MEASURE` is all that a new one needs."""

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from backend.scoring.measure import Measure


def find_measures() -> Mapping[str, Measure]:
    """The measures of the files beside this one, by name: graded relevance first, then those with theta.

    >>> list(find_measures())
    ['ndcg', 'ap', 'rank', 'recall', 'axiou', 'dcg']
    """
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    kinds = ("mu", "theta", None)
    found: list[Measure] = sorted(
        (module.MEASURE for module in modules), key=lambda measure: (kinds.index(measure.threshold), measure.name)
    )
    return {measure.name: measure for measure in found}


MEASURES = find_measures()
