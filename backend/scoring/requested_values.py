"""Read which values a caller wants from an evaluation: measures by name, and single values by key.

`ndcg` asks for NDCG at every cut-off and threshold of the evaluation, and `ndcg@20` for all thresholds at one cut-off.
`ndcg@20,0.5`, `map@avg` and `miou` ask for one value, by the name that output uses.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from backend.core.errors import InputError, Problem
from backend.scoring import measures as family
from backend.scoring.measure import AVERAGE, Level, Measure
from backend.scoring.own_measures import AnyMeasure, read_measures

HIGHEST_K = 2**53
"""float64 represents every whole number up to this one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compute: the measures, cut-offs and thresholds that cover all values that the caller asked for.

    `keys` are the values that the caller asked for, such as `ndcg@20,0.5`, in the caller's order. It is None if all
    values of these measures are wanted. Each measure is named once. `notes` says which measures were asked for by
    another name.
    """

    measures: tuple[str, ...]
    k: tuple[int, ...]
    mu: tuple[float, ...]
    theta: tuple[float, ...]
    keys: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    """The measure, cut-off and thresholds that one name or key asks for.

    None stands for all cut-offs, or all thresholds, of the evaluation.
    """

    measure: Measure
    k: int | None
    levels: tuple[Level, ...] | None


def split(text: str) -> list[str]:
    """Split a text with commas into names and keys; a number after a comma belongs to the key before it.

    >>> split("ndcg@20,0.5, recall@1,0.7,miou,map@avg")
    ['ndcg@20,0.5', 'recall@1,0.7', 'miou', 'map@avg']
    """
    return [part.strip() for part in re.split(r",(?!\s*(?:[\d.]|avg\b))", text)]


def listed(given: Iterable[AnyMeasure] | AnyMeasure) -> list[AnyMeasure]:
    """Return several measures, or a single one, as a list. A text is split at its commas.

    >>> listed("ndcg@20,0.5, miou"), listed(["ndcg", "miou"])
    (['ndcg@20,0.5', 'miou'], ['ndcg', 'miou'])
    """
    if isinstance(given, str):
        return list(split(given))
    return list(given) if isinstance(given, Iterable) else [given]


def read_asked(
    texts: Iterable[str],
    k: tuple[int, ...],
    mu: tuple[float, ...],
    theta: tuple[float, ...],
    *,
    strict: bool,
    problems: list[Problem],
    own: Mapping[str, Measure] = MappingProxyType({}),
) -> Asked:
    """Read names and keys of measures; those that cannot be read are added to `problems`.

    Args:
        texts: names such as `ndcg`, and keys such as `ndcg@20,0.5`.
        k: cut-offs of measures that are given by name alone.
        mu: thresholds of graded measures that are given without a threshold.
        theta: thresholds of other measures that are given without a threshold.
        strict: whether a threshold must lie in (0, 1]; otherwise any finite one will do.
        problems: the list of problems of the evaluation.
        own: the measures that the caller wrote, by name.
    """
    wanted_texts = list(dict.fromkeys(texts))
    names, notes = family.proper_names(text.partition("@")[0] for text in wanted_texts)
    requests = [request for text in wanted_texts if (request := _request(text, strict, problems, own)) is not None]
    if not wanted_texts:
        problems.append(Problem("measures", None, f"give at least one of {', '.join(family.MEASURES)}"))
    if all(request.k is None and request.levels is None for request in requests):
        return Asked(names, k, mu, theta, notes=notes)
    lists = {"mu": mu, "theta": theta}
    keys = [key for request in requests for key in _keys(request, k, lists)]
    levels = {name: _levels(name, usual, requests) for name, usual in lists.items()}
    cutoffs = _cutoffs(k, requests)
    return Asked(names, cutoffs, levels["mu"], levels["theta"], tuple(dict.fromkeys(keys)), notes)


def _request(text: str, strict: bool, problems: list[Problem], own: Mapping[str, Measure]) -> _Request | None:
    """Read the name of a measure, or a key such as `ndcg@20,0.5`. If it is faulty, add a problem and return None.

    `strict` says whether thresholds must lie in (0, 1]. `own` are the measures that the caller wrote, by name.
    """
    name, at, rest = text.partition("@")
    (proper,), _ = family.proper_names([name])
    measure = own.get(name) or family.MEASURES.get(proper)
    if measure is None:
        problems.append(Problem("measures", None, f"{text!r} is not one of {', '.join((*family.MEASURES, *own))}"))
        return None
    if not at:
        return _Request(measure, None, None)
    parts = [part.strip() for part in rest.split(",")]
    k = None
    if measure.depth is None:
        first = parts.pop(0)
        if not (first.isascii() and first.isdecimal() and 1 <= int(first) <= HIGHEST_K):
            problems.append(_refused(text, measure, f"{first!r} is not a cut-off, a whole number from 1"))
            return None
        k = int(first)
    if parts and measure.threshold is None:
        problems.append(_refused(text, measure, "it takes no threshold"))
        return None
    levels = [_level(part, measure, strict) for part in parts]
    wrong = [repr(part) for part, level in zip(parts, levels, strict=True) if level is None]
    if wrong:
        problems.append(_refused(text, measure, f"{', '.join(wrong)} is not a threshold in (0, 1]"))
        return None
    return _Request(measure, k, tuple(level for level in levels if level is not None) or None)


class Key(NamedTuple):
    """The parts of a key such as `ndcg@20,0.5`, which names one value of an evaluation.

    `measure` is the name of the measure, `k` the rank cut-off, and `threshold` the IoU threshold: a number in (0, 1] or
    `avg`. A part that the measure does not have is None. As text it is the key: `str(Key("ndcg", 20, 0.5))` is
    `ndcg@20,0.5`.
    """

    measure: str
    k: int | None = None
    threshold: Level | None = None

    def __str__(self) -> str:
        parts = [str(part) for part in (self.k, self.threshold) if part is not None]
        return self.measure + ("@" + ",".join(parts) if parts else "")


def parse_key(key: str | Key, measures: Iterable[AnyMeasure] = ()) -> Key:
    """Return the parts of a key such as `ndcg@20,0.5`, and check that it names one value of a measure.

    Another name of a measure is replaced by the proper one: `rank@1,0.5` is `recall@1,0.5`. `measures` are measures of
    your own that the key may name, as for `evaluate`.

    Raises:
        InputError: the measure is unknown, or the key lacks a part, has one too many or has a wrong one.

    >>> parse_key("ndcg@20,0.5"), parse_key("map@avg").threshold, parse_key("miou").k
    (Key(measure='ndcg', k=20, threshold=0.5), 'avg', None)
    >>> str(parse_key(Key("recall", 1, 0.7)))
    'recall@1,0.7'
    """
    problems: list[Problem] = []
    _, own = read_measures(measures, problems)
    request = _request(str(key), True, problems, own)
    if request is None or problems:
        raise InputError([replace(problem, file="key") for problem in problems])
    measure, levels = request.measure, request.levels or ()
    lacks_k, lacks_level = measure.depth is None and request.k is None, measure.threshold is not None and not levels
    if lacks_k or lacks_level or len(levels) > 1:
        raise InputError.single("key", f"{str(key)!r} does not name one value; write {measure.signature}")
    return Key(measure.name, request.k, levels[0] if levels else None)


def _level(text: str, measure: Measure, strict: bool) -> Level | None:
    if text == AVERAGE and measure.threshold and measure.threshold.averaged:
        return AVERAGE
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and (not strict or 0 < value <= 1) else None


def _refused(text: str, measure: Measure, why: str) -> Problem:
    return Problem("measures", None, f"{text!r}: {why}; write {measure.name} as {measure.signature}")


def _keys(request: _Request, k: tuple[int, ...], lists: dict[str, tuple[float, ...]]) -> Sequence[str]:
    cutoffs = k if request.k is None else (request.k,)
    usual = lists[request.measure.threshold.values] if request.measure.threshold else ()
    if request.levels is None:
        return request.measure.keys(cutoffs, usual)
    return [request.measure.key(cutoff, level) for cutoff in cutoffs for level in request.levels]


def _cutoffs(usual: tuple[int, ...], requests: Sequence[_Request]) -> tuple[int, ...]:
    """Return the cut-offs to compute for what a caller asks for, each once.

    They are the cut-offs in keys such as `ndcg@20,0.5`. The default cut-offs, `usual`, come first if a measure with
    cut-offs is asked for by name alone. They are also used if no key has a cut-off.
    """
    own = [request.k for request in requests if request.k is not None]
    by_name = any(request.measure.depth is None and request.k is None for request in requests)
    return tuple(dict.fromkeys([*(usual if by_name or not own else ()), *own]))


def _levels(name: str, usual: tuple[float, ...], requests: Sequence[_Request]) -> tuple[float, ...]:
    """Return the thresholds to compute for the measures that use the option `name` (`mu` or `theta`), each once.

    They are the thresholds in keys such as `ndcg@20,0.5`. The default thresholds, `usual`, come first if such a measure
    is asked for without a threshold. They are also used if no key has a threshold.
    """
    ours = [request for request in requests if request.measure.threshold and request.measure.threshold.values == name]
    own = [level for request in ours for level in request.levels or () if level != AVERAGE]
    by_name = any(request.levels is None for request in ours)
    return tuple(dict.fromkeys([*(usual if by_name or not own else ()), *own]))
