"""Where the paper and the published evaluator of TVR-Ranking differ, as named options in two presets.

`paper` is the formula of the paper: linear gain, IoU >= mu, exact arithmetic, every query of the truth counts.
`tvr-ranking` is the published function bit for bit: gain 2**rel - 1, IoU > mu, float64, an average over the
queries that the run holds. An option given explicitly overrides its preset.
"""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, Literal, SupportsIndex, TypedDict, get_args

from backend.core.errors import InputError, Problem
from backend.scoring import measures as family
from backend.scoring.matching.columns import HIGHEST_RELEVANCE
from backend.scoring.matching.discount import ERR, Gain, read_abandonment
from backend.scoring.matching.discount import NAMED as ABANDONMENTS
from backend.scoring.matching.greedy import Arithmetic
from backend.scoring.measure import Measure
from backend.scoring.requested_values import HIGHEST_K, Asked, read_asked, split

Preset = Literal["paper", "tvr-ranking", "official"]
FORMER: Mapping[str, str] = {"official": "tvr-ranking"}
"""What a preset was called before: accepted where one is asked for, never printed."""
DEFAULT_K = (10, 20, 40)
DEFAULT_MU = (0.3, 0.5, 0.7)
POOL_K = (1, 5, 20, 50)
POOL_MU = (0.5, 0.7)
POOL_MEASURES = ("recall", "axiou", "ndcg")
"""In pools of videos: MVMR's Rank n@m, which is R@K, IoU>=theta, and beside it AxIoU and NDCG."""


@dataclass(frozen=True, slots=True)
class Conventions:
    """Every choice that can change a number; docs/metrics.md says why each exists."""

    gain: Gain
    iou_compare: Literal["ge", "gt"]
    arithmetic: Arithmetic
    zero_relevance: Literal["absorb", "drop"]
    """`absorb`: a truth moment of relevance 0 takes a prediction; `drop`: it is not there."""
    missing: Literal["zero", "skip", "error", "published"]
    """A truth query for which the run has no predictions: not named, an empty list, or only impossible ones that
    `invalid` leaves out. `published`: left out if not named, else 0, as in the published function."""
    unknown: Literal["error", "ignore"]
    """A query of the run that the truth lacks."""
    no_relevant: Literal["zero", "skip"]
    """A query whose truth has no relevance above 0."""
    order: Literal["file", "score"]
    duplicates: Literal["keep", "merge_max"]
    """A truth moment given twice; `merge_max` keeps the first with the higher relevance."""
    dedupe_predictions: bool
    """Keep only the best-ranked of equal predictions."""
    invalid: Literal["error", "skip", "zero"]
    """Moments that no video can hold (end not after start, negative, not finite), mu outside (0, 1]:
    `skip` leaves such moments out, `zero` computes on, which gives them IoU 0 (except negative times,
    which overlap as usual); both let any finite mu pass."""
    nms: float | None = None
    """IoU above which a prediction falls to a better one of its query and video, see `matching.suppression`."""
    abandonment: str = ERR
    """Where a person stops reading, for NCxIoU alone, see `matching.discount`."""


class Options(TypedDict, total=False):
    """`Conventions` as keyword arguments; None, like absence, means the preset's value."""

    gain: str | None
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
PRESETS: Mapping[str, Conventions] = {"paper": _PAPER, "tvr-ranking": _PUBLISHED}

OPTION_VALUES: Mapping[str, tuple[str | bool, ...]] = {
    **{one.name: get_args(one.type) or (False, True) for one in fields(Conventions) if one.default is MISSING},
    "abandonment": ABANDONMENTS,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """One evaluation's preset, measures, cut-offs and thresholds, all checked."""

    preset: str
    k: tuple[int, ...]
    mu: tuple[float, ...]
    conventions: Conventions
    theta: tuple[float, ...]
    min_relevance: int
    """What counts as relevant for measures without graded relevance."""
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What to tell of names that were asked for, where a measure is called otherwise."""
    asked: tuple[str, ...] | None = None
    """The keys that were asked for, where not all values of all these measures were."""

    @property
    def family(self) -> tuple[Measure, ...]:
        """The measures that are computed."""
        return tuple(map(family.MEASURES.__getitem__, self.measures))

    @property
    def depth(self) -> int:
        """How many predictions of a query are looked at."""
        return max(*self.k, *(measure.depth or 1 for measure in self.family))

    @property
    def middle(self) -> tuple[int, float]:
        """The cut-off and the mu in the middle of those asked for."""
        return sorted(self.k)[len(self.k) // 2], sorted(self.mu)[len(self.mu) // 2]

    def thresholds(self, measure: Measure) -> tuple[float, ...]:
        """The thresholds that a measure is computed at, none where it takes none."""
        if measure.threshold is None:
            return ()
        return self.mu if measure.threshold.values == "mu" else self.theta

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the values, such as `ndcg@K,mu` and `axiou@K`: as asked for, or measure by measure, then K by K."""
        return self._computed if self.asked is None else self.asked

    @property
    def rows(self) -> list[int]:
        """Which of the values computed, measure by measure, are those of `keys`."""
        at = {key: row for row, key in enumerate(self._computed)}
        return [at[key] for key in self.keys]

    @property
    def _computed(self) -> tuple[str, ...]:
        return tuple(key for measure in self.family for key in measure.keys(self.k, self.thresholds(measure)))

    @property
    def changed(self) -> dict[str, str | bool | float]:
        """The options whose value is not the preset's, or not the usual one."""
        usual = asdict(PRESETS[self.preset])
        changed = {name: value for name, value in asdict(self.conventions).items() if value != usual[name]}
        if self.min_relevance != 1:
            changed["min_relevance"] = self.min_relevance
        return changed


def settle(
    preset: str,
    k: Iterable[SupportsIndex] | SupportsIndex,
    mu: Iterable[float] | float,
    options: Options,
    *,
    theta: Iterable[float] | float = DEFAULT_MU,
    min_relevance: int = 1,
    measures: Iterable[str] | str | None = None,
) -> Settings:
    """Check what a caller asked for and fill the rest from the preset.

    `measures` are names, or keys such as `ndcg@20,0.5`, which choose one value whatever `k`, `mu` and `theta` are. They
    default to the usual ones in preset `paper`, and to NDCG alone in `tvr-ranking`, because the published
    function has no other; those asked for there follow its other conventions (gain, arithmetic, missing queries).

    Raises:
        InputError: naming every preset, option, measure, K, mu, theta or min_relevance that cannot be used.
    """
    given_name, preset = preset, FORMER.get(preset, preset)
    if preset not in PRESETS:
        raise InputError.single("preset", f"{given_name!r} is not one of {', '.join(PRESETS)}")
    problems = []
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        allowed = OPTION_VALUES.get(name)
        if name == "nms":
            problems += [] if _is_level(value) else [Problem(name, None, f"{value!r} is not an IoU in (0, 1]")]
        elif name == "abandonment":
            try:
                given[name] = read_abandonment(value)
            except ValueError as error:
                problems.append(Problem(name, None, str(error)))
        elif allowed is None:
            problems.append(Problem(name, None, f"no such option; there are {', '.join(OPTION_VALUES)}"))
        elif value not in allowed:
            problems.append(Problem(name, None, f"{value!r} is not one of {', '.join(map(str, allowed))}"))
    if problems:
        raise InputError(problems)
    conventions: Conventions = replace(PRESETS[preset], **given)
    cutoffs = _cutoffs(k, problems)
    strict = conventions.invalid == "error"
    thresholds = _thresholds("mu", mu, strict, problems)
    thetas = _thresholds("theta", theta, strict, problems)
    if isinstance(min_relevance, bool) or min_relevance not in range(1, HIGHEST_RELEVANCE + 1):
        problems.append(Problem("min_relevance", None, f"{min_relevance!r} is not one of 1, 2, 3, 4"))
    if measures is None:
        asked = Asked(family.usual_names() if preset == "paper" else ("ndcg",), cutoffs, thresholds, thetas)
    else:
        asked = read_asked(
            split(measures) if isinstance(measures, str) else measures,
            cutoffs,
            thresholds,
            thetas,
            strict=strict,
            problems=problems,
        )
    if problems:
        raise InputError(problems)
    return Settings(
        preset, asked.k, asked.mu, conventions, asked.theta, min_relevance, asked.measures, asked.notes, asked.keys
    )


def _listed(name: str, values: object, example: str, problems: list[Problem]) -> Iterable[Any]:
    """One value or several, as several; text is neither."""
    if isinstance(values, (str, bytes)):
        problems.append(Problem(name, None, f"{values!r} is text; write {example}"))
        return ()
    return values if isinstance(values, Iterable) else (values,)


def _cutoffs(values: Iterable[SupportsIndex] | SupportsIndex, problems: list[Problem]) -> tuple[int, ...]:
    found = []
    for value in _listed("k", values, "k=10 or k=[10, 20]", problems):
        try:
            found.append(operator.index(value))
        except TypeError:
            problems.append(Problem("k", None, f"{value!r} is not a whole number"))
    problems += [Problem("k", None, f"{value} is not at least 1") for value in found if value < 1]
    problems += [Problem("k", None, f"{value} is more than any list holds") for value in found if value > HIGHEST_K]
    if not found and not problems:
        problems.append(Problem("k", None, "give at least one cut-off, such as 10"))
    return tuple(dict.fromkeys(found))


def _is_level(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 < value <= 1


def _thresholds(name: str, values: Iterable[float] | float, strict: bool, problems: list[Problem]) -> tuple[float, ...]:
    found = []
    for value in _listed(name, values, f"{name}=0.5 or {name}=[0.3, 0.5]", problems):
        try:
            found.append(float(value))
        except (TypeError, ValueError):
            problems.append(Problem(name, None, f"{value!r} is not a number"))
    for value in found:
        if not math.isfinite(value) or (strict and not 0 < value <= 1):
            problems.append(Problem(name, None, f"{value!r} is not in (0, 1]"))
    if not found and not problems:
        problems.append(Problem(name, None, "give at least one threshold, such as 0.5"))
    return tuple(dict.fromkeys(found))
