"""Compute the eight quality flags of an annotator, each from a figure, a number of cases and a limit.

Two flags use the share of pairs that the annotator skipped or reported as broken. The other six use one number per
grade, which is NaN where it is undefined. For four flags the number is 1 or 0. It tells whether the grade came too
fast, came before the clip can have been seen, is the annotator's most used grade, or agrees with the other annotator's
grade. For the other two flags it is the grade minus the mean of the others' grades. The value of a flag, its change
over time and the evidence for the flag are all computed from these numbers. All limits except the 45 % for the most
used grade are assumptions of this project (docs/decisions/058). A flag is only shown to leads; it has no effect by
itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from backend.campaign.judging.rules import SHORTEST_MS, too_fast, unseen
from backend.campaign.monitoring.quality.model import Flag, FlagDismissal, FlagEvidence, FlagKind, Stretch
from backend.campaign.monitoring.quality.rules import flag_words, people
from backend.campaign.monitoring.quality.rules.pairs import NO_SKIPS, NOT_MEASURED, Grades, Skips, Truths
from backend.campaign.monitoring.quality.rules.people import MOST_USED_SHARE, leanings, most_used
from backend.core.ids import PairId
from backend.core.messages import joined
from backend.scoring.statistics.agreement import Floats, Integers

FEWEST = 50
"""With fewer grades than this, no share and no mean is a flag. Two annotators must share as many pairs for a kappa."""
TOO_FAST_SHARE = 0.05
UNSEEN_SHARE = 0.10
"""Higher than for too fast, because the beginning of a clip can show that it is about something else."""
NEWEST = 200
"""How many newest grades (ten runs, about an hour) are compared with all earlier ones, which must be as many."""
BIAS = 1 / 8
"""A share of the scale, like DRIFT. On five grades it is half a grade, the most that rounding moves a relevance."""
DRIFT = 1 / 16
FALL = 0.10
SKIPPED_SHARE, REPORTED_SHARE = 0.20, 0.05
"""Shares of the pairs that somebody graded or skipped. In the demo's corpus and in TVR hardly any clip is broken."""
STRETCHES, FEWEST_IN_STRETCH = 24, 20
FIVE_GRADES = 5

OF_SKIPS = (FlagKind.SKIPS, FlagKind.REPORTS)
OF_TIME = (FlagKind.DRIFT, FlagKind.AGREEMENT)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The grades of one or all annotators, in the order of giving, with the numbers from which flags are computed.

    Each of `leaning`, `near`, `too_fast` and `unseen` has one number per grade, NaN if undefined. `leaning` is the
    grade minus the unrounded mean of the others' grades of the pair. `near` is 1 if the grade is within the tolerance
    of the pair's other first-round grade (the first two grades of a pair), else 0. `too_fast` is 1 if the grade came
    too fast, and `unseen` is 1 if it came before the clip can have been seen; else they are 0.
    """

    grades: Grades
    highest: int
    tolerance: int
    leaning: Floats
    near: Floats
    too_fast: Floats
    unseen: Floats
    skips: Skips

    def of(self, annotator_id: int) -> "Work":
        """Return the grades and skips of one annotator."""
        return self._part(self.grades.annotator == annotator_id, self.skips.of(annotator_id))

    def after(self, at: float) -> "Work":
        """Return the grades and skips after an instant (seconds since 1970). Grades without a time are left out."""
        return self._part(self.grades.timed & (self.grades.at > at), self.skips.take(self.skips.at > at))

    def _part(self, which: Truths, skips: Skips) -> "Work":
        columns = (self.leaning[which], self.near[which], self.too_fast[which], self.unseen[which])
        return Work(self.grades.take(which), self.highest, self.tolerance, *columns, skips)


def look_at(
    grades: Grades, clips: tuple[Integers, Floats, Truths], skips: Skips = NO_SKIPS, *, highest: int, tolerance: int
) -> Work:
    """Return all grades with the numbers from which quality flags are computed.

    Args:
        grades: the current grades of everybody.
        clips: ids of pairs (ascending), lengths of their clips in seconds, and whether each clip is a whole video.
        skips: the current skips of everybody.
        highest: the highest grade of the scale.
        tolerance: how far two grades may differ and still agree.
    """
    _, pair = np.unique(grades.pair, return_inverse=True)
    _, person = np.unique(grades.annotator, return_inverse=True)
    hasty, blind = _pace_columns(grades, clips)
    leaning = leanings(pair, person, grades.grade)
    return Work(grades, highest, tolerance, leaning, _near_column(grades, tolerance), hasty, blind, skips)


def flags_of(
    everybody: Work, annotator_id: int, dismissals: Mapping[FlagKind, FlagDismissal] | None = None
) -> tuple[Flag, ...]:
    """Return all quality flags of one annotator, raised, dismissed or neither, in the order of `FlagKind`.

    `everybody` has the grades and skips of all annotators. `dismissals` are the leads' dismissals of this annotator's
    flags.
    """
    flags = _flags(everybody, annotator_id)
    return tuple(_apply_dismissal(flag, everybody, annotator_id, (dismissals or {}).get(flag.kind)) for flag in flags)


def _apply_dismissal(flag: Flag, everybody: Work, annotator_id: int, dismissal: FlagDismissal | None) -> Flag:
    """Return the flag, marked as dismissed if it is raised and a lead has dismissed it.

    It is not marked if the work done since the dismissal is enough to raise the flag again.
    """
    if dismissal is None or not flag.raised:
        return flag
    since = next(later for later in _flags(everybody.after(dismissal.at), annotator_id) if later.kind is flag.kind)
    return flag if since.raised else replace(flag, dismissed=dismissal)


def _flags(everybody: Work, annotator_id: int) -> tuple[Flag, ...]:
    work = everybody.of(annotator_id)
    return (
        _share(FlagKind.TOO_FAST, work, TOO_FAST_SHARE),
        _share(FlagKind.UNSEEN, work, UNSEEN_SHARE),
        _one_grade(everybody, work, annotator_id),
        _bias(work),
        _drift(work),
        _agreement(work),
        _skipped(FlagKind.SKIPS, work, SKIPPED_SHARE),
        _skipped(FlagKind.REPORTS, work, REPORTED_SHARE),
    )


def behind(work: Work, kind: FlagKind) -> FlagEvidence:
    """Return the evidence for an annotator's quality flag: how its value changed over time, and pairs that support it.

    `work` has the grades and skips of the flagged annotator only.
    """
    if kind in OF_SKIPS:
        return FlagEvidence((), tuple(PairId(int(pair)) for pair in work.skips.pairs(kind is FlagKind.REPORTS)[::-1]))
    values = _values(work, kind)
    rows = np.flatnonzero(~np.isnan(values))
    telling = rows
    if kind in OF_TIME:
        rows = rows[work.grades.timed[rows]]
        telling = rows[-NEWEST:]
    if kind in (FlagKind.BIAS, FlagKind.DRIFT):
        direction = _direction(values[rows], kind)
        telling = telling[values[telling] * direction > 0]
        order = np.argsort(-values[telling] * direction, kind="stable")
    else:
        telling = telling[values[telling] == (0 if kind is FlagKind.AGREEMENT else 1)]
        order = np.arange(len(telling))[::-1]
    timed = bool(work.grades.timed[rows].all())
    stretches = _stretches(work.grades.at[rows], values[rows]) if timed else ()
    return FlagEvidence(stretches, tuple(PairId(int(pair)) for pair in work.grades.pair[telling[order]]))


def one_grade_limit(highest: int) -> float:
    """Return the share of all grades above which a most used grade may raise a quality flag.

    It is 25 points above the share that each grade has if all are equally frequent: 45 % for a scale of five grades.
    `highest` is the highest grade of the scale, which begins at 0.

    >>> [round(one_grade_limit(highest), 3) for highest in (4, 2, 1)]
    [0.45, 0.583, 0.75]
    """
    return MOST_USED_SHARE - 1 / FIVE_GRADES + 1 / (highest + 1)


def is_often(share: float, n: int, highest: int) -> bool:
    """Return whether an annotator's most used grade raises a quality flag.

    `share` is its share among their `n` grades, and `highest` the highest grade of the scale.

    >>> is_often(0.6, 100, 4), is_often(0.6, 10, 4)
    (True, False)
    """
    return n >= FEWEST and share > one_grade_limit(highest)


def _values(work: Work, kind: FlagKind) -> Floats:
    """Return one number per grade, from which this kind of flag is computed, such as 1 for too fast and 0 for not.

    Raises:
        ValueError: the flag is about skips, not grades.
    """
    match kind:
        case FlagKind.TOO_FAST:
            return work.too_fast
        case FlagKind.UNSEEN:
            return work.unseen
        case FlagKind.ONE_GRADE:
            most = most_used(np.bincount(work.grades.grade, minlength=work.highest + 1))
            is_most: Floats = (work.grades.grade == (most[0] if most else 0)).astype(np.float64)
            return is_most
        case FlagKind.BIAS | FlagKind.DRIFT:
            return work.leaning
        case FlagKind.AGREEMENT:
            return work.near
        case FlagKind.SKIPS | FlagKind.REPORTS:
            raise ValueError(f"{kind} is made of skips, not of grades")


def _share(kind: FlagKind, work: Work, limit: float) -> Flag:
    values = _values(work, kind)
    asked = values[~np.isnan(values)]
    n = len(asked)
    if not n:
        reason = flag_words.NOT_MEASURED if len(work.grades) else flag_words.NO_GRADES
        return Flag(kind, None, 0, limit, raised=False, told=reason, reason=reason)
    value = float(asked.mean())
    told = joined("", [flag_words.share(kind, value, n, limit), flag_words.few(n, FEWEST)])
    return Flag(kind, value, n, limit, raised=n >= FEWEST and value > limit, told=told)


def _one_grade(everybody: Work, work: Work, annotator_id: int) -> Flag:
    kind, limit = FlagKind.ONE_GRADE, one_grade_limit(work.highest)
    n = len(work.grades)
    most = most_used(np.bincount(work.grades.grade, minlength=work.highest + 1))
    if most is None:
        return Flag(kind, None, 0, limit, raised=False, told=flag_words.NO_GRADES, reason=flag_words.NO_GRADES)
    grade, value = most
    others = _others_share(everybody.grades, annotator_id, grade)
    told = joined("", [flag_words.one_grade(grade, value, n, limit, others), flag_words.few(n, FEWEST)])
    return Flag(kind, value, n, limit, raised=is_often(value, n, work.highest), told=told)


def _others_share(grades: Grades, annotator_id: int, grade: int) -> float | None:
    """Return the share of this grade among the grades that others gave to the annotator's pairs; None without any."""
    mine = grades.annotator == annotator_id
    shared = np.zeros(int(grades.pair.max()) + 1, dtype=bool)
    shared[grades.pair[mine]] = True
    theirs = grades.grade[shared[grades.pair] & ~mine]
    return float((theirs == grade).mean()) if len(theirs) else None


def _bias(work: Work) -> Flag:
    kind, limit = FlagKind.BIAS, BIAS * work.highest
    asked = work.leaning[~np.isnan(work.leaning)]
    n = len(asked)
    if not n:
        return Flag(kind, None, 0, limit, raised=False, told=flag_words.NOBODY_ELSE, reason=flag_words.NOBODY_ELSE)
    value = float(asked.mean())
    interval = people.of_mean(asked)
    told = joined("", [flag_words.bias(value, n, interval, limit), flag_words.few(n, FEWEST)])
    return Flag(kind, value, n, limit, n >= FEWEST and _passes_limit(abs(value), limit, interval), told, interval)


def _drift(work: Work) -> Flag:
    kind, limit = FlagKind.DRIFT, DRIFT * work.highest
    asked, reason = _timed_values(work, work.leaning)
    if reason:
        return Flag(kind, None, len(asked), limit, raised=False, told=reason, reason=reason)
    new, old = asked[-NEWEST:], asked[:-NEWEST]
    value, interval = float(new.mean() - old.mean()), people.of_difference(new, old)
    told = flag_words.drift(float(new.mean()), float(old.mean()), len(new), len(old), interval, limit)
    return Flag(kind, value, len(asked), limit, _passes_limit(abs(value), limit, interval), told, interval)


def _agreement(work: Work) -> Flag:
    """Return the flag for falling agreement: in the newest first-round grades, compared with earlier ones.

    Agreement is how often the first two grades of a pair agree. Later grades are left out, because they belong to
    disputed pairs, where agreement is lower anyway.
    """
    kind = FlagKind.AGREEMENT
    asked, reason = _timed_values(work, work.near)
    if reason:
        return Flag(kind, None, len(asked), FALL, raised=False, told=reason, reason=reason)
    new, old = asked[-NEWEST:], asked[:-NEWEST]
    value = float(new.mean() - old.mean())
    interval = people.of_difference(new, old)
    told = flag_words.agreement(
        float(new.mean()), float(old.mean()), len(new), len(old), interval, FALL, work.tolerance
    )
    return Flag(kind, value, len(asked), FALL, _passes_limit(-value, FALL, interval), told, interval)


def _skipped(kind: FlagKind, work: Work, limit: float) -> Flag:
    """Return the flag about the share of an annotator's pairs that they skipped, or reported as broken."""
    n = len(work.grades) + len(work.skips.pair)
    if not n:
        reason = flag_words.NOTHING_MET
        return Flag(kind, None, 0, limit, raised=False, told=reason, reason=reason)
    count = len(work.skips.pairs(kind is FlagKind.REPORTS))
    told = joined("", [flag_words.skipped(kind, count, n, limit), flag_words.few_pairs(n, FEWEST)])
    return Flag(kind, count / n, n, limit, raised=n >= FEWEST and count / n > limit, told=told)


def _timed_values(work: Work, values: Floats) -> tuple[Floats, str]:
    """Return the values of grades with a known time, in order of time, and why they cannot be compared over time.

    The second result is empty if there are enough values to compare the newest ones with earlier ones.
    """
    known = ~np.isnan(values)
    timed = values[known & work.grades.timed]
    if not known.any():
        return timed, flag_words.NOBODY_ELSE
    if not len(timed):
        return timed, flag_words.NO_TIMES
    return timed, "" if len(timed) >= 2 * NEWEST else flag_words.too_few_in_time(len(timed), NEWEST)


def _direction(values: Floats, kind: FlagKind) -> float:
    """Return 1 if an annotator grades higher than others (or has come to grade higher), and -1 if lower.

    `values` are the differences of their grades from those of others. If `kind` is drift, the newest ones are compared
    with the earlier ones.
    """
    difference = values.mean() if len(values) else 0.0
    if kind is FlagKind.DRIFT and len(values) > NEWEST:
        difference = values[-NEWEST:].mean() - values[:-NEWEST].mean()
    return 1.0 if difference >= 0 else -1.0


def _passes_limit(far: float, limit: float, interval: people.Interval | None) -> bool:
    """Return whether a figure reaches its limit and its interval does not contain 0.

    `far` is the size of the bias, the drift or the fall of agreement. Differences from rounding of floats are ignored.
    """
    return far > limit - 1e-9 and interval is not None and not interval[0] <= 0 <= interval[1]


def _pace_columns(grades: Grades, clips: tuple[Integers, Floats, Truths]) -> tuple[Floats, Floats]:
    """Return two columns: whether each grade came too fast, and whether it came before its clip can have been seen.

    Both are 1 or 0, and NaN where the time was not measured or the clip is unknown.
    """
    pair, length_s, whole = clips
    hasty, blind = np.full(len(grades), np.nan), np.full(len(grades), np.nan)
    if not len(pair):
        return hasty, blind
    place = np.minimum(np.searchsorted(pair, grades.pair), len(pair) - 1)
    measured = (grades.elapsed_ms != NOT_MEASURED) & (pair[place] == grades.pair)
    length, elapsed = length_s[place], grades.elapsed_ms
    at_clip_ms = np.minimum(grades.active_ms, elapsed)  # active time also counts the wait for a clip
    hasty[measured] = 0
    for row in np.flatnonzero(measured & (at_clip_ms < SHORTEST_MS)):  # few; only these can be too fast
        hasty[row] = too_fast(int(at_clip_ms[row]), float(length[row]))
    asked = measured & ~whole[place]
    blind[asked] = 0
    for row in np.flatnonzero(asked & (elapsed < length * 1000)):
        blind[row] = unseen(int(elapsed[row]), float(length[row]))
    return hasty, blind


def _near_column(grades: Grades, tolerance: int) -> Floats:
    """Return, for each first-round grade, whether it agrees with the pair's other first-round grade.

    First-round grades are the first two of a pair. The number is 1 if the two differ by at most the tolerance, and
    otherwise 0. It is NaN for later grades, for pairs with one first-round grade, and for pairs to which one person
    gave both.
    """
    near = np.full(len(grades), np.nan)
    first = np.flatnonzero(grades.seat <= 2)
    first = first[np.lexsort((grades.seat[first], grades.pair[first]))]
    one, other = first[:-1], first[1:]
    two = (grades.pair[one] == grades.pair[other]) & (grades.annotator[one] != grades.annotator[other])
    one, other = one[two], other[two]
    near[one] = near[other] = np.abs(grades.grade[one] - grades.grade[other]) <= tolerance
    return near


def _stretches(at: Floats, values: Floats) -> tuple[Stretch, ...]:
    """Divide the grades, in order of time, into stretches with about equally many grades, and return their means.

    A stretch has at least `FEWEST_IN_STRETCH` grades, and there are at most `STRETCHES`, so that a chart can show them.
    """
    count = min(STRETCHES, len(values) // FEWEST_IN_STRETCH)
    if not count:
        return ()
    runs = zip(np.array_split(at, count), np.array_split(values, count), strict=True)
    return tuple(Stretch(float(when[0]), float(when[-1]), len(what), float(what.mean())) for when, what in runs)
