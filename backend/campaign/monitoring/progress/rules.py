"""Compute who can still grade which pairs, which pairs the team cannot finish, and when the others may be done. Pure.

Pairs with the same state are counted together (`PairKind`), so that a hundred thousand pairs are a few dozen groups.
Distributing the grades among annotators is a maximum-flow problem. Every group needs its grades, everybody gives each
pair at most one, and nobody gives more than their days and quotas allow. The maximum flow is the most grades that
people can give in that time.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import floor, inf
from typing import TYPE_CHECKING

from backend.campaign.monitoring.progress.model import Barred, Forecast, PairKind, Stuck, Worker
from backend.campaign.nouns import SECOND_ROUND_SEATS
from backend.core.ids import AnnotatorId, QueryId

if TYPE_CHECKING:
    from numpy import int32
    from numpy.typing import NDArray

FEWEST_DECIDED = 50
"""With fewer pairs that have two grades, no share of disputed pairs is reported."""
_STEPS = 24
"""How often the interval of days is halved, which gives the days to a millionth."""
_ROUNDING = 1e-6
"""Part of a grade by which a product of floats may miss a whole number."""

Kinds = Mapping[PairKind, int]
Demand = Counter[tuple[frozenset[AnnotatorId], float]]
"""Counts pairs by the people who can grade them and the grades that each of the pairs wants."""


def barred_from(kind: PairKind, worker: Worker) -> Barred | None:
    """Return why an annotator cannot grade the pairs of a group; None if they can.

    All pairs of the group are in the same state. This does not check whether the annotator has graded them already, or
    knows them from an exam.
    """
    if worker.barred is not None:
        return worker.barred
    if worker.queries is not None and kind.query not in worker.queries:
        return Barred.ASSIGNED
    return Barred.SKIPPED if worker.annotator_id in kind.skipped else None


def able(kind: PairKind, workers: Iterable[Worker]) -> frozenset[AnnotatorId]:
    """Return the annotators who can now grade the pairs of a group. All its pairs are in the same state."""
    return frozenset(
        worker.annotator_id
        for worker in workers
        if worker.annotator_id not in kind.graded
        and worker.annotator_id not in kind.known
        and barred_from(kind, worker) is None
    )


def able_later(kind: PairKind, workers: Iterable[Worker]) -> frozenset[AnnotatorId]:
    """Return the annotators who can grade the pairs of a group now, or once they have passed the exam.

    All pairs of the group are in the same state.
    """
    through = (
        replace(worker, barred=None) if worker.barred is Barred.EXAM_AHEAD and worker.room != 0 else worker
        for worker in workers
    )
    return able(kind, through)


def alike(assigned: Sequence[frozenset[QueryId]]) -> Callable[[QueryId], QueryId] | None:
    """Return a function that maps all queries with the same assigned annotators to one of these queries.

    The same people may grade these queries, so their pairs can be counted together. The result is None if `assigned` is
    empty.

    Args:
        assigned: the set of queries of each annotator who is assigned to some queries only.
    """
    if not assigned:
        return None
    first: dict[tuple[bool, ...], QueryId] = {}

    def named(query: QueryId) -> QueryId:
        return first.setdefault(tuple(query in queries for queries in assigned), query)

    return named


def lacks(kind: PairKind, workers: Iterable[Worker]) -> int:
    """Return how many more annotators are needed to finish the pairs of a group; 0 or less if there are enough.

    All pairs of the group are in the same state.
    """
    return kind.free - len(able_later(kind, workers))


def has_team(workers: Iterable[Worker]) -> bool:
    """Return whether at least one annotator is not suspended. If all are, a campaign has not begun, or is over."""
    return any(worker.barred is not Barred.SUSPENDED for worker in workers)


def places_of(kind: PairKind) -> tuple[int, ...]:
    """Return the numbers of the grades that each pair of a group lacks: (3, 4) for the third and the fourth."""
    return tuple(range(kind.judged + 1, kind.seats + 1))


def stuck(kinds: Kinds, workers: Sequence[Worker]) -> tuple[Stuck, ...]:
    """Return the pairs that too few annotators can grade, in groups, the largest group first.

    The result is empty if every annotator is suspended.
    """
    if not has_team(workers):
        return ()
    pairs, lacking, grades = Counter[tuple[int, ...]](), Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    out: defaultdict[tuple[int, ...], Counter[tuple[Barred, str]]] = defaultdict(Counter)
    for kind, count in kinds.items():
        short, places = lacks(kind, workers), places_of(kind)
        if short <= 0:
            continue
        pairs[places] += count
        grades[places] += count * short
        lacking[places] = max(lacking[places], short)
        for worker in workers:
            if worker.annotator_id in kind.graded | kind.known or worker.barred is Barred.EXAM_AHEAD:
                continue
            if why := barred_from(kind, worker):
                out[places][why, worker.name] += count
    return tuple(
        Stuck(places, pairs[places], lacking[places], grades[places], _ways_out(out[places]))
        for places in sorted(pairs, key=lambda places: (-pairs[places], places))
    )


def _ways_out(by_reason: Counter[tuple[Barred, str]]) -> tuple[tuple[Barred, tuple[str, ...], int], ...]:
    """Return (reason, names, pairs) for each reason that keeps annotators from some pairs, in the order of `Barred`.

    `names` are the annotators whom the reason concerns. `pairs` is the largest number of pairs that it keeps from one
    of them.
    """
    ways = []
    for why in Barred:
        names = {name: count for (reason, name), count in by_reason.items() if reason is why}
        if names:
            ways.append((why, tuple(sorted(names, key=str.casefold)), max(names.values())))
    return tuple(ways)


def share_disputed(decided: int, disputed: int) -> float | None:
    """Return the share of pairs that were disputed; None while too few pairs have two grades to tell.

    Args:
        decided: number of pairs that got their first two grades.
        disputed: how many of them went on to two further annotators.
    """
    return disputed / decided if decided >= FEWEST_DECIDED else None


def further(kinds: Kinds, share: float | None) -> int:
    """Return how many grades disputes will add to the open pairs.

    `share` is the share of pairs that are expected to be disputed; each of them needs two further grades. None counts
    as 0.
    """
    undecided = sum(count for kind, count in kinds.items() if not kind.disputed)
    return round(len(SECOND_ROUND_SEATS) * undecided * share) if share else 0


def forecast(kinds: Kinds, workers: Sequence[Worker], share: float | None) -> Forecast:
    """Forecast when the annotators will have given all grades that they can give, and which will then still be missing.

    `share` is the share of pairs that are expected to be disputed. A disputed pair needs two further grades. So `2 *
    share` grades are added to those of every pair that may still be disputed.
    """
    if kinds and not has_team(workers):
        return Forecast(None)
    now, later = Demand(), Demand()
    lost, after_exam, disputes, disputes_lack = 0, 0, 0.0, 0
    for kind, count in kinds.items():
        who, later_on = able(kind, workers), able_later(kind, workers)
        now[who, min(kind.free, len(who))] += count
        lost += count * max(kind.free - len(later_on), 0)
        after_exam += count * (min(kind.free, len(later_on)) - min(kind.free, len(who)))
        disputed = 0.0 if kind.disputed or not share else share
        later[who, min(kind.free + len(SECOND_ROUND_SEATS) * disputed, len(who))] += count
        short = kind.free + len(SECOND_ROUND_SEATS) - len(later_on)
        if disputed and kind.free <= len(later_on) and short > 0:
            disputes += count * disputed
            disputes_lack = max(disputes_lack, short)
    room = {worker.annotator_id: inf if worker.room is None else float(worker.room) for worker in workers}
    pace = {worker.annotator_id: worker.a_day for worker in workers}
    in_pace = {who: most if pace[who] else 0.0 for who, most in room.items()}
    sharing = _Sharing(now)
    within, moving = sharing.given(room), sharing.given(in_pace)
    return Forecast(
        days=None if sharing.wanted + lost + after_exam and not moving else _days(later, in_pace, pace),
        stuck=lost,
        over_quota=sharing.wanted - within,
        idle=within - moving,
        disputes=round(disputes),
        disputes_lack=disputes_lack if round(disputes) else 0,
        exam=after_exam,
    )


def _days(demand: Demand, room: Mapping[AnnotatorId, float], pace: Mapping[AnnotatorId, float]) -> float:
    """Return in how many days people can give all the grades that their quotas allow.

    `room` is how many more grades each person may give in all; `pace` is the number of grades that they give a day.
    """
    sharing = _Sharing(demand)
    target = sharing.given(room)

    def enough(days: float) -> bool:
        by_then = {who: min(most, floor(pace[who] * days + _ROUNDING)) for who, most in room.items()}
        return sharing.given(by_then) >= target

    if not target:
        return 0.0
    low = target / sum(pace[who] for who, most in room.items() if most)
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class _Sharing:
    """A flow network that distributes the needed grades among annotators.

    Edges lead from a source to groups of pairs, from there to the annotators who can grade them, and on to a sink.
    """

    def __init__(self, demand: Demand) -> None:
        kinds = [(sorted(who), count, floor(count * each)) for (who, each), count in demand.items() if who]
        self.wanted = sum(wanted for *_, wanted in kinds)
        self._people = sorted({person for who, *_ in kinds for person in who})
        node = {person: 1 + len(kinds) + nth for nth, person in enumerate(self._people)}
        self._sink = 1 + len(kinds) + len(node)
        self._edges = [
            *((0, 1 + nth, wanted) for nth, (_, _, wanted) in enumerate(kinds)),
            # Nobody grades a pair twice.
            *((1 + nth, node[person], count) for nth, (who, count, _) in enumerate(kinds) for person in who),
            *((node[person], self._sink, 0) for person in self._people),
        ]

    def given(self, most: Mapping[AnnotatorId, float]) -> int:
        """Return how many of the needed grades can be given, if nobody gives more than `most` allows.

        `most` maps each person to the largest number of grades that they can give.
        """
        if all(most[person] == inf for person in self._people):
            return self.wanted
        # Imported here, because only forecasts need it.
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        begin, end, capacity = self._columns
        capacity[len(capacity) - len(self._people) :] = [
            floor(min(most[person], self.wanted)) for person in self._people
        ]
        graph = csr_array((capacity, (begin, end)), shape=(self._sink + 1, self._sink + 1))
        return int(maximum_flow(graph, 0, self._sink).flow_value)

    @cached_property
    def _columns(self) -> "NDArray[int32]":
        """The edges of the network as three columns: start node, end node, capacity.

        The last edges lead from people to the sink; `given` sets their capacities.
        """
        from numpy import array, int32

        return array(self._edges, dtype=int32).T.copy()
