"""Let callers write their own measures: functions of one query's predictions that `evaluate` calls.

    def success(query, k, theta):
        "Whether one of the first K predictions reaches theta."
        return (query.iou >= theta).any()

    evaluate(truth, run, k=10, theta=0.5, measures=["ndcg", success])

The first parameter gets a query as `QueryMatches`. The names of the other parameters say what the measure depends on:

- `k`: a rank cut-off. The function is called for each cut-off, with only the first k predictions of the query.
- `theta` or `mu`: an IoU threshold. The function is called for each value of the option `theta` or `mu`.

A parameter of another name needs a default. The function returns a number; higher is better. It is called only for
queries with predictions. The option `missing` decides how queries without predictions count. Values have keys such as
`success@10,0.5`.

Any object that can be called like this is a measure too. These attributes of a function or an object are read:

| attribute | meaning | default |
| --- | --- | --- |
| `name` | the name in keys: letters, digits and `_` | the name of the function |
| `title` | the name in tables, such as `Success` | `name` |
| `description` | half a sentence for legends | the first line of the docstring |
| `highest` | the upper bound of the values, which then start at 0; None if there is none | 1 |
| `compare` | how the function compares an IoU with theta, `>=` or `>`; for titles | `>=` |
| `depth` | how many predictions a measure without `k` sees | 1000 |

Tables in percent show a measure without an upper bound as it is. If a measure is too slow as a function of one query,
write it as a `Measure`: its `compute` gets arrays for many queries at once, as in `backend/scoring/measures`.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat, cast, get_args

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.timespan import Floats
from backend.scoring import measures as family
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Compare, Measure, Threshold
from backend.scoring.query_matches import MatchChunk, QueryMatches

OwnMeasure = Callable[..., SupportsFloat]
"""A measure that a caller wrote; the module says what it gets and returns."""
AnyMeasure = str | OwnMeasure | Measure
"""A name or key such as `ndcg@20,0.5`, or a measure that a caller wrote."""

DEPTH = 1000
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _PerQuery:
    """Computes a caller's measure, by calling its function for every query, cut-off and threshold.

    It is used as the attribute `compute` of a `Measure`. `has_k` says whether the function takes a rank cut-off
    `k`. If not, it sees the first `depth` predictions. `level` is its parameter for the IoU threshold: `theta`, `mu` or
    None. `highest` is the upper bound of its values, None without one.
    """

    name: str
    function: OwnMeasure
    has_k: bool
    level: str | None
    highest: float | None
    depth: int

    def __call__(self, matches: Matches, cutoffs: tuple[int, ...], thresholds: tuple[float, ...]) -> Floats:
        """Return the values of the caller's measure, shape (cut-offs, thresholds, queries).

        If the function takes no cut-off or no threshold, that axis has length 1.
        """
        chunk = MatchChunk(matches)
        depths = cutoffs if self.has_k else (self.depth,)
        values = np.zeros((len(depths), len(thresholds) or 1, matches.queries))
        for number in np.flatnonzero(matches.size).tolist():
            query = chunk.origin.truth.queries[int(chunk.origin.truth_query[number])]
            for row, depth in enumerate(depths):
                seen = QueryMatches(query, number, chunk, min(int(matches.size[number]), depth))
                at_depth = {"k": depth} if self.has_k else {}
                for column, threshold in enumerate(thresholds or (0.0,)):
                    at = at_depth | ({self.level: threshold} if self.level else {})
                    values[row, column, number] = self._value(seen, at)
        return values

    def _value(self, query: QueryMatches, at: Mapping[str, float]) -> float:
        try:
            given = self.function(query, **at)
        except Exception as error:
            error.add_note(f"Raised by the measure {self.name} for query {query.query}.")
            raise
        try:
            value = float(given)
        except (TypeError, ValueError):
            value = math.nan
        if math.isfinite(value) and (self.highest is None or 0 <= value <= self.highest):
            return value
        what = said("{name} returned {given} for query {query}", name=self.name, given=repr(given), query=query.query)
        if not math.isfinite(value):
            raise InputError.single("measures", said("{what}; return a number, such as 0.0", what=what))
        advice = said(
            "{what}, outside 0 to {highest:g}; set the attribute `highest` of the measure to its upper bound, or None",
            what=what,
            highest=self.highest,
        )
        raise InputError.single("measures", advice)


def read_measures(given: Iterable[AnyMeasure], problems: list[Problem]) -> tuple[list[str], dict[str, Measure]]:
    """Return the names and keys of measures to compute, and the caller's own measures by name.

    `given` mixes names, keys such as `ndcg@20,0.5`, and measures that the caller wrote. An item that is not a valid
    measure is added to `problems`.
    """
    texts: list[str] = []
    own: dict[str, Measure] = {}
    taken = {*family.MEASURES, *(name for measure in family.MEASURES.values() for name in measure.also)}
    for item in given:
        if isinstance(item, str):
            texts.append(item)
            continue
        try:
            measure = item if isinstance(item, Measure) else _measure_of(item)
            if measure.name in taken and family.MEASURES.get(measure.name) is not measure:
                raise ValueError(said("{name} is taken by a measure of ReelRank; choose another", name=measure.name))
            if own.setdefault(measure.name, measure) != measure:
                raise ValueError(said("two measures are called {name}; rename one", name=measure.name))
        except ValueError as error:
            problems.append(Problem("measures", None, str(error)))
            continue
        texts.append(measure.name)
    return texts, {name: measure for name, measure in own.items() if name not in family.MEASURES}


def _measure_of(given: object) -> Measure:
    """Return a function or callable object of the caller as a `Measure`.

    Raises:
        ValueError: it cannot be used as a measure; the message says why.
    """
    if isinstance(given, type) or not callable(given):
        raise ValueError(said("{given} is no measure; give a name, a function or a callable object", given=repr(given)))
    name = str(getattr(given, "name", getattr(given, "__name__", type(given).__name__)))
    if not _NAME.fullmatch(name):
        raise ValueError(said("{name!r} is no name for a measure; use `def`, or set the attribute `name`", name=name))
    highest: float | None = getattr(given, "highest", 1.0)
    depth: int = getattr(given, "depth", DEPTH)
    compare: Compare = getattr(given, "compare", ">=")
    if not (isinstance(depth, int) and depth > 0):
        raise ValueError(said("{name} has depth {depth!r}, not a whole number from 1", name=name, depth=depth))
    if compare not in get_args(Compare):
        raise ValueError(said("{name} has compare {compare!r}, neither '>=' nor '>'", name=name, compare=compare))
    parameters = _parameters(given, name)
    level = next((parameter for parameter in ("mu", "theta") if parameter in parameters), None)
    text = str(getattr(given, "description", None) or inspect.getdoc(given) or said("a measure of your own"))
    return Measure(
        name,
        str(getattr(given, "title", name)),
        {None: None, "mu": Threshold("mu", None, "mu"), "theta": Threshold("theta", compare)}[level],
        _PerQuery(name, given, "k" in parameters, level, highest, depth),
        text.partition("\n")[0].rstrip("."),
        highest=highest,
        depth=None if "k" in parameters else depth,
        usual=False,
    )


def _parameters(given: Callable[..., Any], name: str) -> set[str]:
    """Return which of the parameters `k`, `theta` and `mu` a measure's function has.

    Raises:
        ValueError: the function does not take a query first, or needs other parameters, or takes both `theta` and `mu`.
    """
    kinds = inspect.Parameter
    try:
        query, *others = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        query, others = None, []
    named = {one.name for one in others if one.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)}
    known = named & {"k", "theta", "mu"}
    needed = {
        one.name
        for one in others
        if one.default is kinds.empty and one.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    }
    if query is None or query.kind is kinds.KEYWORD_ONLY or needed - known or {"theta", "mu"} <= known:
        raise ValueError(said("{name} must take a query and then only k, and theta or mu, by these names", name=name))
    return known


def describe(measure: Measure) -> dict[str, Any]:
    """Return a caller's measure as a JSON object with all that tables show of it, such as its title and upper bound."""
    threshold = measure.threshold
    return {
        "title": measure.short,
        "description": measure.description,
        "highest": measure.highest,
        "depth": measure.depth,
        "threshold": threshold and [threshold.symbol, threshold.compare, threshold.values, list(threshold.averaged)],
        "source": measure.source,
    }


def described(name: str, facts: Mapping[str, Any]) -> Measure:
    """Return the measure `name` from the object that `describe` made of it.

    The result can name and format values. It cannot compute them, because JSON does not hold the caller's function.
    """
    threshold = None
    if facts["threshold"]:
        symbol, compare, values, averaged = facts["threshold"]
        threshold = Threshold(symbol, compare, values, tuple(averaged))
    compute = cast("Callable[..., Floats]", described)
    return Measure(
        name,
        facts["title"],
        threshold,
        compute,
        facts["description"],
        facts["source"],
        highest=facts["highest"],
        depth=facts["depth"],
        usual=False,
    )
