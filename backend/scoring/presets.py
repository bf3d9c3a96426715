"""Define the options that can change a score, and three presets: sets of values for all of these options.

The paper and the published evaluator of TVR-Ranking compute NDCG in different ways. Preset `paper` is the formula of
the paper: linear gain, IoU >= mu, exact arithmetic, and every query of the truth counts. Preset `tvr-ranking` gives the
evaluator's numbers, bit for bit: gain 2**rel - 1, IoU > mu, float64, and an average over the queries that the run
holds. Preset `axiou` has the options of `paper` and the twelve measures that the experiments of AxIoU (Togashi et al.,
CVPR 2022, section 6.2) compare. An option that you give overrides its preset.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import Any, Literal, SupportsIndex, TypedDict, cast, get_args

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.scoring import measures as family
from backend.scoring.gain import AnyGain, OwnGain, own_gain
from backend.scoring.matching.columns import HIGHEST_GRADE, HIGHEST_RELEVANCE
from backend.scoring.matching.discount import NAMED as ABANDONMENTS
from backend.scoring.matching.discount import UNIFORM, Gain, read_abandonment
from backend.scoring.matching.greedy import Arithmetic
from backend.scoring.measure import Measure
from backend.scoring.measures.map import DEPTH as MAP_DEPTH
from backend.scoring.own_measures import AnyMeasure, read_measures
from backend.scoring.requested_values import HIGHEST_K, Asked, listed, read_asked

Preset = Literal["paper", "tvr-ranking", "axiou", "official"]
FORMER: Mapping[str, str] = {"official": "tvr-ranking"}
"""Former names of presets: still accepted as input, never printed."""
DEFAULT_K = (10, 20, 40)
DEFAULT_MU = (0.3, 0.5, 0.7)
POOL_K = (1, 5, 20, 50)
POOL_MU = (0.5, 0.7)
POOL_MEASURES = ("recall", "axiou", "ndcg")
"""The default measures in pools of videos: MVMR's Rank n@m, which is R@K, IoU>=theta, then AxIoU and NDCG."""


@dataclass(frozen=True, slots=True)
class Conventions:
    """Every choice that can change a score, such as the gain of NDCG or how to count queries without predictions.

    `evaluate` explains each option and its values; docs/metrics.md says why it exists.
    """

    gain: Gain | OwnGain
    iou_compare: Literal["ge", "gt"]
    arithmetic: Arithmetic
    zero_relevance: Literal["absorb", "drop"]
    """`absorb`: a truth moment of relevance 0 takes a prediction; `drop`: it is removed."""
    missing: Literal["zero", "skip", "error", "published"]
    """What happens to a truth query without predictions: it is absent from the run, has an empty list, or has only
    impossible predictions that `invalid` leaves out. `published`: an absent query is left out, any other scores 0, as
    in the published function."""
    unknown: Literal["error", "ignore"]
    """What happens to a query of the run that the truth lacks."""
    no_relevant: Literal["zero", "skip", "correct_empty"]
    """What happens to a query whose truth has no relevance above 0. `correct_empty`: it scores 1 in every measure
    if the run has no predictions for it, otherwise 0."""
    order: Literal["file", "score"]
    duplicates: Literal["keep", "merge_max"]
    """What happens to repeated truth moments; `merge_max` keeps the first, with the highest relevance of them."""
    dedupe_predictions: bool
    """Whether to keep only the best-ranked of equal predictions."""
    invalid: Literal["error", "skip", "zero"]
    """What happens to impossible moments (end not after start, negative or not finite times) and to mu outside (0, 1].
    `skip` leaves such moments out. `zero` keeps them: their IoU is 0, except that negative times overlap as usual.
    Both accept any finite mu."""
    nms: float | None = None
    """IoU above which a better prediction of the same query and video removes another, see `matching.suppression`."""
    abandonment: str = UNIFORM
    """Where a person stops reading; used by NCxIoU only, see `matching.discount`."""
    persistence: float = 0.8
    """How likely a person reads on after each rank; used by RBP only."""
    map_depth: int = MAP_DEPTH
    """How many of a query's first predictions count for mAP."""
    iou_epsilon: float = 0.0
    """Seconds that are added to the union of a prediction and a truth moment, as some published evaluators do."""


class Options(TypedDict, total=False):
    """The options of `Conventions` as keyword arguments. An option that is absent or None has the preset's value."""

    gain: AnyGain | None
    iou_compare: str | None
    arithmetic: str | None
    zero_relevance: str | None
    missing: str | None
    unknown: str | None
    no_relevant: str | None
    order: str | None
    duplicates: str | None
    dedupe_predictions: bool | None
    invalid: str | None
    nms: float | None
    abandonment: str | Sequence[float] | None
    persistence: float | None
    map_depth: int | None
    iou_epsilon: float | None


_PAPER = Conventions(
    gain="linear",
    iou_compare="ge",
    arithmetic="exact",
    zero_relevance="absorb",
    missing="zero",
    unknown="error",
    no_relevant="zero",
    order="file",
    duplicates="keep",
    dedupe_predictions=False,
    invalid="error",
)
_PUBLISHED = replace(_PAPER, gain="exp2", iou_compare="gt", arithmetic="float64", missing="published", invalid="zero")
PRESETS: Mapping[str, Conventions] = {"paper": _PAPER, "tvr-ranking": _PUBLISHED, "axiou": _PAPER}
_MEASURES: Mapping[str, tuple[str, ...]] = {"tvr-ranking": ("ndcg",), "axiou": ("recall_gt", "axiou")}
"""The default measures of presets; the others compute the usual ones."""
_AXIOU_K = (1, 5, 10)
AXIOU_TEST_MEASURES = tuple(
    f"recall_gt@{k},{theta}" for k in _AXIOU_K for theta in DEFAULT_MU if (k, theta) != (10, 0.3)
)
"""The eight measures that judge models in AxIoU, Figure 8. The ninth, R@10,0.3, is left out: it is near 1 for all."""

OPTION_VALUES: Mapping[str, tuple[str | bool, ...]] = {
    **{
        option.name: get_args(option.type) or (False, True)
        for option in fields(Conventions)
        if option.default is MISSING
    },
    "gain": get_args(Gain),
    "abandonment": ABANDONMENTS,
}
"""The options that have names as values; `abandonment` accepts probabilities too."""


def _number(convert: Callable[[Any], float], accepts: Callable[[float], bool], words: str) -> Callable[[object], float]:
    """Return a function that converts an option's value to a number, or raises ValueError if it is not allowed.

    `convert` makes a number of a value, and `accepts` says whether the number is allowed. `words` describes the allowed
    numbers in the message of the error.
    """

    def read(value: object) -> float:
        try:
            number = convert(value)
        except (TypeError, ValueError):
            raise ValueError(f"{value!r} is not {words}") from None
        if isinstance(value, bool) or not accepts(number):
            raise ValueError(f"{value!r} is not {words}")
        return number

    return read


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, str) else operator.index(value)


READERS: Mapping[str, Callable[[object], Any]] = {
    "abandonment": read_abandonment,
    "persistence": _number(float, lambda p: 0 < p < 1, "a probability above 0 and below 1"),
    "map_depth": _number(_whole, lambda n: 1 <= n <= HIGHEST_K, "a whole number from 1"),
    "iou_epsilon": _number(float, lambda s: 0 <= s < 1, "a number of seconds from 0 to below 1"),
}
"""The options whose values are read from numbers or text. Each function raises a ValueError that says what is wrong."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The preset, measures, cut-offs and thresholds of one evaluation, all checked.

    `mu` and `theta` are the IoU thresholds of measures with and without graded relevance. `asked` has the keys of the
    values that the caller wants, such as `ndcg@20,0.5`; None means all values of `measures`. `own` has the measures
    that the caller wrote, by name. `any_grade` tells whether the truth may have relevances other than 0 to 4, because
    the caller named the gain. `notes` says which measures the caller asked for by another name.
    """

    preset: str
    k: tuple[int, ...]
    mu: tuple[float, ...]
    conventions: Conventions
    theta: tuple[float, ...]
    min_relevance: float
    """The lowest relevance that counts as relevant for measures without graded relevance."""
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    asked: tuple[str, ...] | None = None
    any_grade: bool = False
    own: Mapping[str, Measure] = field(default_factory=dict)

    @property
    def family(self) -> tuple[Measure, ...]:
        """The measures that are computed."""
        return tuple(self.own.get(name) or family.MEASURES[name] for name in self.measures)

    @property
    def depth(self) -> int:
        """How many predictions of each query, from rank 1 on, must be kept so that every measure can be computed."""
        return max(*self.k, *map(self._depth_of, self.family))

    def _depth_of(self, measure: Measure) -> int:
        return getattr(self.conventions, measure.depth_option) if measure.depth_option else measure.depth or 1

    @property
    def middle(self) -> tuple[int, float]:
        """The middle cut-off K and the middle IoU threshold mu of this evaluation.

        If the number of cut-offs or thresholds is even, the higher of the middle two is taken.
        """
        return sorted(self.k)[len(self.k) // 2], sorted(self.mu)[len(self.mu) // 2]

    def thresholds(self, measure: Measure) -> tuple[float, ...]:
        """Return the IoU thresholds at which a measure is computed; empty if it has no threshold."""
        if measure.threshold is None:
            return ()
        return self.mu if measure.threshold.values == "mu" else self.theta

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the values, such as `ndcg@20,0.5`: those that the caller asked for, or else all.

        They are in the caller's order, or by measure, then by K.
        """
        return self._computed if self.asked is None else self.asked

    @property
    def rows(self) -> list[int]:
        """The row of each requested value, such as `ndcg@20,0.5`, in the array of all computed values."""
        at = {key: row for row, key in enumerate(self._computed)}
        return [at[key] for key in self.keys]

    @property
    def _computed(self) -> tuple[str, ...]:
        return tuple(key for measure in self.family for key in measure.keys(self.k, self.thresholds(measure)))

    @property
    def changed(self) -> dict[str, str | bool | float]:
        """The options whose value differs from the preset, by name; also `min_relevance` if it is not 1."""
        usual = asdict(PRESETS[self.preset])
        changed = {name: value for name, value in asdict(self.conventions).items() if value != usual[name]}
        if self.min_relevance != 1:
            changed["min_relevance"] = self.min_relevance
        return changed


def settle(
    preset: str,
    k: Iterable[SupportsIndex] | SupportsIndex | None,
    mu: Iterable[float] | float,
    options: Options,
    *,
    theta: Iterable[float] | float = DEFAULT_MU,
    min_relevance: float = 1,
    measures: Iterable[AnyMeasure] | AnyMeasure | None = None,
) -> Settings:
    """Check the options that a caller gave, and fill in the rest from the preset.

    A measure can be given by its name, or as one written by the caller (see `own_measures`). A key such as
    `ndcg@20,0.5` asks for one value, whatever `k`, `mu` and `theta` are. By default preset `paper` has the usual
    measures, `tvr-ranking` has only NDCG, and `axiou` has R@K, IoU>theta and AxIoU@K. Other measures can be computed in
    each preset too, with its options for gain, arithmetic and missing queries. If `k` is None, the cut-offs are 1, 5
    and 10 in preset `axiou`, and 10, 20 and 40 in the others.

    If `options` name the gain, the truth may have any relevance from 0 to 1000, and `min_relevance` may be any number
    above 0, up to 1000.

    Raises:
        InputError: names every preset, option, measure, K, mu, theta or min_relevance that cannot be used.
    """
    given_name, preset = preset, FORMER.get(preset, preset)
    if preset not in PRESETS:
        raise InputError.single("preset", f"{given_name!r} is not one of {', '.join(PRESETS)}")
    problems = []
    chosen: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name, value in chosen.items():
        allowed = OPTION_VALUES.get(name)
        if name == "nms":
            problems += [] if _is_level(value) else [Problem(name, None, f"{value!r} is not an IoU in (0, 1]")]
        elif name in READERS:
            try:
                chosen[name] = READERS[name](value)
            except ValueError as error:
                problems.append(Problem(name, None, str(error)))
        elif name == "gain" and not isinstance(value, str):
            try:
                chosen[name] = own_gain(value)
            except ValueError as error:
                problems.append(Problem(name, None, str(error)))
        elif allowed is None:
            known = ", ".join(dict.fromkeys([*OPTION_VALUES, *READERS]))
            problems.append(Problem(name, None, f"no such option; there are {known}"))
        elif value not in allowed:
            problems.append(Problem(name, None, f"{value!r} is not one of {', '.join(map(str, allowed))}"))
    if problems:
        raise InputError(problems)
    conventions: Conventions = replace(PRESETS[preset], **chosen)
    if conventions.iou_epsilon and conventions.arithmetic == "exact":
        message = "exact arithmetic has none: add arithmetic=float64_hull, or float64 or float32 as in your evaluator"
        problems.append(Problem("iou_epsilon", None, message))
    cutoffs = _cutoffs((_AXIOU_K if preset == "axiou" else DEFAULT_K) if k is None else k, problems)
    strict = conventions.invalid == "error"
    thresholds = _thresholds("mu", mu, strict, problems)
    thetas = _thresholds("theta", theta, strict, problems)
    any_grade = "gain" in chosen
    least = _least(min_relevance, any_grade, problems)
    own: Mapping[str, Measure] = {}
    graded_only = isinstance(conventions.gain, OwnGain) and conventions.gain.is_mapping
    if measures is None:
        names = _MEASURES.get(preset) or family.usual_names()
        without_dcg = tuple(name for name in names if name != "dcg")
        note = (said("dcg was left out: its gains are of IoUs, which the mapping `gain` does not have"),)
        asked = Asked(without_dcg if graded_only else names, cutoffs, thresholds, thetas)
        asked = replace(asked, notes=note) if asked.measures != names else asked
    else:
        texts, own = read_measures(listed(measures), problems)
        asked = read_asked(texts, cutoffs, thresholds, thetas, strict=strict, problems=problems, own=own)
        if graded_only and "dcg" in asked.measures:
            problems.append(Problem("gain", None, said("a mapping has no gains of IoUs, as dcg needs; use a function")))
    if problems:
        raise InputError(problems)
    return Settings(
        *(preset, asked.k, asked.mu, conventions, asked.theta, least),
        *(asked.measures, asked.notes, asked.keys, any_grade, own),
    )


def _listed(name: str, values: object, example: str, problems: list[Problem]) -> Iterable[Any]:
    """Return the values given for an option as an iterable, even if there is only a single value.

    A text is refused: a message is added to `problems`, and the result is empty. The message names the option (`name`)
    and shows how to write it (`example`).
    """
    if isinstance(values, (str, bytes)):
        problems.append(Problem(name, None, f"{values!r} is text; write {example}"))
        return ()
    return values if isinstance(values, Iterable) else (values,)


def _cutoffs(values: Iterable[SupportsIndex] | SupportsIndex, problems: list[Problem]) -> tuple[int, ...]:
    cutoffs = []
    for value in _listed("k", values, "k=10 or k=[10, 20]", problems):
        try:
            cutoffs.append(operator.index(value))
        except TypeError:
            problems.append(Problem("k", None, f"{value!r} is not a whole number"))
    problems += [Problem("k", None, f"{value} is not at least 1") for value in cutoffs if value < 1]
    problems += [Problem("k", None, f"{value} is more than any list holds") for value in cutoffs if value > HIGHEST_K]
    if not cutoffs and not problems:
        problems.append(Problem("k", None, "give at least one cut-off, such as 10"))
    return tuple(dict.fromkeys(cutoffs))


def _least(value: object, any_grade: bool, problems: list[Problem]) -> float:
    """Return the option `min_relevance`, the lowest relevance that counts as relevant, after a check.

    The value must be 1 to 4 or, if `any_grade` is true, any number above 0 up to 1000. Otherwise a problem is added to
    `problems`, and the result is 1. Whole numbers are returned as int.
    """
    if any_grade and isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= HIGHEST_GRADE:
        return int(value) if value == int(value) else value
    if not isinstance(value, bool) and value in range(1, HIGHEST_RELEVANCE + 1):
        return int(cast("float", value))
    words = f"a number above 0, up to {HIGHEST_GRADE}" if any_grade else "one of 1, 2, 3, 4"
    problems.append(Problem("min_relevance", None, f"{value!r} is not {words}"))
    return 1


def _is_level(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 < value <= 1


def _thresholds(name: str, values: Iterable[float] | float, strict: bool, problems: list[Problem]) -> tuple[float, ...]:
    thresholds = []
    for value in _listed(name, values, f"{name}=0.5 or {name}=[0.3, 0.5]", problems):
        try:
            thresholds.append(float(value))
        except (TypeError, ValueError):
            problems.append(Problem(name, None, f"{value!r} is not a number"))
    for value in thresholds:
        if not math.isfinite(value) or (strict and not 0 < value <= 1):
            problems.append(Problem(name, None, f"{value!r} is not in (0, 1]"))
    if not thresholds and not problems:
        problems.append(Problem(name, None, "give at least one threshold, such as 0.5"))
    return tuple(dict.fromkeys(thresholds))
