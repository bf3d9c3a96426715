"""Group queries by duration, show, video, relevance, type, or a property of the caller's own.

Each query belongs to exactly one group of a breakdown. Each group gets means of its own. The bootstrap may also draw
whole groups instead of single queries.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.timespan import Floats
from backend.core.typed_text import nfc
from backend.scoring.matching.columns import Indices, Truth, grade_text
from backend.scoring.measures import MEASURES
from backend.scoring.presets import Settings
from backend.scoring.scores import AnswerKey, RankedRun, score

DURATION_BOUNDS_S = (10.0, 30.0)
"""The bounds between short, medium and long queries. Benchmark `qvhighlights` divides windows, with its own bounds."""

_TV_NAME = re.compile(r"^(?:(?P<show>.+?)_)?s\d+e\d+(?:-\d+)?(?:_|$)", re.IGNORECASE)
_NONE = "no relevant moment"


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The queries of a truth in groups; `group[i]` is the index in `names` of the group of query i.

    `by` is the property that groups them, such as `duration`, and `note` describes it. `names` has only the groups that
    have a query.
    """

    by: str
    note: str
    names: tuple[str, ...]
    group: Indices

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of queries in each group."""
        return tuple(np.bincount(self.group, minlength=len(self.names)).tolist())

    def is_like(self, other: "Breakdown") -> bool:
        """Return whether another breakdown has the same groups with the same queries, under the same names."""
        return (self.by, self.names) == (other.by, other.names) and np.array_equal(self.group, other.group)

    def means(self, query: Indices, values: Floats) -> tuple[Floats, Indices]:
        """Return each group's mean over its scored queries (NaN if it has none), and their number.

        Args:
            query: for each column of `values`, the index of its query in the truth, shape (N,).
            values: a row for each key such as `ndcg@20,0.5`, a column for each of N scored queries; shape (keys, N).

        Returns:
            Means of shape (keys, groups), and counts of shape (groups,).
        """
        group = self.group[query]
        counts = np.bincount(group, minlength=len(self.names))
        means = np.full((len(values), len(self.names)), np.nan)
        for number in np.flatnonzero(counts):
            means[:, number] = values[:, group == number].mean(axis=1)
        return means, counts.astype(np.int64)

    def clusters(self) -> Indices:
        """Return a cluster number for each query, for significance tests that draw whole clusters, not single queries.

        The numbers count from 0. Each group is one cluster. But queries of the group "no relevant moment" have nothing
        in common, so each of them is a cluster of its own.

        Raises:
            InputError: all queries are in one cluster.
        """
        alone = np.isin(self.group, [number for number, name in enumerate(self.names) if name == _NONE])
        labels = np.where(alone, len(self.names) + np.arange(len(self.group)), self.group)
        clusters = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        if not clusters.any():
            what = said(
                "{by} puts all queries into one cluster, {name}; choose another", by=self.by, name=self.names[0]
            )
            raise InputError.single("clusters", what)
        return clusters


def show_of(video: str) -> str:
    """Return the show of a video named as in TVR, `friends_s01e01_seg02_clip_00`: the part before season and episode.

    TVR omits this part for one show (The Big Bang Theory); its videos return `no prefix`. Other names return `other`.

    >>> show_of("friends_s01e16-17_seg02_clip_00"), show_of("s09e01_seg02_clip_14"), show_of("kitchen")
    ('friends', 'no prefix', 'other')
    """
    match = _TV_NAME.match(video)
    if match is None:
        return "other"
    return match["show"] or "no prefix"


AnyGroups = str | Mapping[Any, Any]
"""A property of queries: a name such as `show`, or `{query: group}`, or `{property: {query: group}}`."""


def read_groups(given: AnyGroups | Iterable[AnyGroups] | None) -> list[AnyGroups]:
    """Return the properties that a caller names or gives, each as a name or as `{property: {query: group}}`.

    A text may hold several names, with commas between them. A mapping `{query: group}` becomes the property `group`. A
    pandas series counts as such a mapping, and its name is the name of the property.

    >>> read_groups("show, type"), read_groups({"q1": "indoor", "q2": "outdoor"})
    (['show', 'type'], [{'group': {'q1': 'indoor', 'q2': 'outdoor'}}])
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    items = getattr(given, "items", None)
    if items is None:
        return [one for part in given for one in read_groups(part)]
    group_of: dict[Any, Any] = dict(items())
    if group_of and all(hasattr(value, "items") for value in group_of.values()):
        return [{str(name): dict(value.items())} for name, value in group_of.items()]
    name = getattr(given, "name", None)
    return [{"group" if name is None else str(name): group_of}]


def break_down(by: AnyGroups, truth: Truth, min_relevance: float = 1, *, option: str = "by") -> Breakdown:
    """Group the queries of a truth by one property: `duration`, `show`, `video`, `relevance`, `type`, or a mapping.

    `duration`, `show` and `video` look only at moments with a relevance of at least `min_relevance`. `option` is the
    name of the caller's option, for error messages.

    Raises:
        InputError: there is no such property, or a query has no group.
    """
    given = read_groups(by)
    if len(given) != 1:
        raise InputError.single(option, said("holds {n} properties of queries; give one", n=len(given)))
    (one,) = given
    name = one if isinstance(one, str) else next(iter(one))
    if not isinstance(one, str):
        note, label, order = _by_own(name, one[name], truth, option)
    elif name in BREAKDOWNS:
        note, label, order = BREAKDOWNS[name](truth, min_relevance)
    else:
        what = said("{by} is not one of {names}, and no mapping", by=repr(name), names=", ".join(BREAKDOWNS))
        raise InputError.single(option, what)
    used = set(label)
    names = [group for group in order if group in used]
    place = {group: number for number, group in enumerate(names)}
    return Breakdown(name, note, tuple(names), np.array([place[group] for group in label], dtype=np.int64))


def _by_own(by: str, group_of: Mapping[Any, Any], truth: Truth, option: str) -> "_Groups":
    """Group queries by a mapping. Groups that are numbers are sorted, others stay in the order of the mapping."""
    by_text = {nfc(str(query)): group for query, group in group_of.items()}
    lacking = [str(query) for query in truth.queries if str(query) not in by_text]
    if lacking:
        listed = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
        what = said("{n:,} queries of the truth have no {by}: {listed}", n=len(lacking), by=by, listed=listed)
        raise InputError.single(option, what)
    label = [str(by_text[str(query)]) for query in truth.queries]
    groups = list(by_text.values())
    if all(isinstance(group, (int, float, np.number)) for group in groups):
        groups.sort()
    return said("groups of queries that the caller gave"), label, list(dict.fromkeys(map(str, groups)))


_Groups = tuple[str, list[str], list[str]]
"""A description of the grouping, the group of each query, and all groups in display order."""


def _by_duration(truth: Truth, min_relevance: float) -> _Groups:
    short, long = DURATION_BOUNDS_S
    names = [f"short, < {short:g} s", f"medium, {short:g}-{long:g} s", f"long, > {long:g} s", _NONE]
    relevant = truth.relevance >= min_relevance
    query = truth.query[relevant]
    count = np.bincount(query, minlength=len(truth.queries))
    total = np.bincount(query, (truth.end_s - truth.start_s)[relevant], minlength=len(truth.queries))
    label = []
    for seconds, moments in zip(total.tolist(), count.tolist(), strict=True):
        mean = seconds / moments if moments else 0.0
        label.append(names[3 if not moments else 0 if mean < short else 1 if mean <= long else 2])
    return "mean length of a query's relevant moments", label, names


def _by_video(truth: Truth, min_relevance: float) -> _Groups:
    label = []
    for first, last in zip(truth.offsets[:-1].tolist(), truth.offsets[1:].tolist(), strict=True):
        relevance = truth.relevance[first:last]
        best = int(relevance.argmax()) if last > first else 0
        relevant = last > first and relevance[best] >= min_relevance
        label.append(truth.videos[truth.video[first + best]] if relevant else _NONE)
    return "video of a query's most relevant moment (the first of equals)", label, [*sorted({*label} - {_NONE}), _NONE]


def _by_show(truth: Truth, min_relevance: float) -> _Groups:
    _, videos, _ = _by_video(truth, min_relevance)
    label = [_NONE if video == _NONE else show_of(video) for video in videos]
    return "show of a query's most relevant moment (the first of equals)", label, [*sorted({*label} - {_NONE}), _NONE]


def _by_relevance(truth: Truth, _min_relevance: float) -> _Groups:
    highest = np.full(len(truth.queries), -1.0)
    np.maximum.at(highest, truth.query, truth.relevance)
    names = [*map(grade_text, truth.scale[::-1].tolist()), "no moment"]
    label = [grade_text(grade) if grade >= 0 else "no moment" for grade in highest.tolist()]
    return "highest relevance of a query's moments", label, names


def _by_type(truth: Truth, _min_relevance: float) -> _Groups:
    label = list(truth.types) or ["not said"] * len(truth.queries)
    return "what a query tells of, as TVR has it: v the video, t subtitles, vt both", label, sorted(set(label))


BREAKDOWNS: Mapping[str, Callable[[Truth, float], _Groups]] = {
    "duration": _by_duration,
    "show": _by_show,
    "video": _by_video,
    "relevance": _by_relevance,
    "type": _by_type,
}


GAP = 0.05
"""The smallest difference in Judged@K between two runs that can cause a warning."""


def judged_key(truth: Truth, settings: Settings) -> str | None:
    """Return the name of the Judged@K value to report for each run, such as `judged@20,0.5`.

    Judged@K is the share of the K best predictions that show a graded moment. K is the middle one of the evaluation's
    cut-offs, and the IoU threshold the middle one of its thresholds mu.

    Return None if NDCG is not computed, or if all truth moments have relevance 1: such a truth lists only what is
    relevant, so the share would mean nothing.
    """
    pooled = bool((truth.relevance != 1).any())
    return MEASURES["judged"].key(*settings.middle) if pooled and "ndcg" in settings.measures else None


def bpref_warnings(
    key: AnswerKey,
    runs: Mapping[str, RankedRun],
    means: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, float],
    settings: Settings,
) -> list[str]:
    """Return a warning for each run that NDCG may rank too low because few of its predictions are graded.

    Such a run has a lower NDCG but a higher bpref than another run, and a lower share of graded predictions.

    Args:
        key: the truth, prepared for scoring.
        runs: the runs by name.
        means: the means of each run, by key such as `ndcg@20,0.5`.
        judged: Judged@K of each run: the share of its K best predictions that show a graded moment.
        settings: the settings of the evaluation.
    """
    k, mu = settings.middle
    ndcg, bpref = MEASURES["ndcg"].key(k, mu), MEASURES["bpref"].key(None, mu)
    pairs = [
        (name, other)
        for name in runs
        for other in runs
        if ndcg in means[name]
        and ndcg in means[other]
        and means[name][ndcg] < means[other][ndcg]
        and judged[name] < judged[other] - GAP
    ]
    if not pairs:
        return []
    alone = replace(settings, k=(k,), mu=(mu,), measures=("bpref",), asked=None)
    fair = {
        name: score(key, runs[name], alone).mean(alone)[bpref] for name in {name for pair in pairs for name in pair}
    }
    above: dict[str, list[str]] = {}
    for name, other in pairs:
        if fair[name] > fair[other]:
            above.setdefault(name, []).append(other)
    return [
        f"{runs[name].run.file}: {judged[name]:.0%} of its {k} best predictions show a graded moment, of "
        + ", ".join(f"{other}'s {judged[other]:.0%}" for other in others)
        + f". {ndcg} ranks it lower, {bpref}, which ignores ungraded moments, higher: it may lose {ndcg} only because "
        "nobody graded what it finds"
        for name, others in above.items()
    ]
