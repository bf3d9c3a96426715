"""Flags of a project, against asking its grades one by one."""

import random
import secrets
from collections import defaultdict
from statistics import fmean

import pytest

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.rules import too_fast, unseen
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.monitoring.quality.flags import dismiss_flags, flag_evidence, flags, pairs_behind
from backend.campaign.monitoring.quality.model import FlagDismissal, FlagKind
from backend.core.errors import Overtaken, ProjectError
from support import NOW, Judging


def test_a_project_tells_its_flags(judging: Judging) -> None:
    rng = random.Random(2)
    given: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    clips = {pair.pair: pair for pair in judging.pairs()}
    for n in range(100):
        me = judging.annotators[n % 2]
        pair = desk(judging.project, me, now=NOW + 10 * n).items[0].pair if n < 80 else None
        if pair is None:
            continue
        elapsed = rng.choice((400, 700, 1400, 4000))
        event = GradeEvent(pair, rng.choice((2, 3)), secrets.token_hex(8), elapsed, elapsed)
        record_grades(judging.project, me, [event], now=NOW + 10 * n + 5)
        given[me.annotator_id].append((elapsed, elapsed, clips[pair].end_s - clips[pair].start_s))
    found = {one.annotator_id: one for one in flags(judging.project, judging.lead)}
    assert [one.name for one in found.values()] == ["Anna", "Boris", "Carla", "Dev"]
    for who, times in given.items():
        hasty, blind = found[who].flags[:2]
        assert hasty.value == fmean(too_fast(min(active, elapsed), length) for active, elapsed, length in times)
        assert blind.value == fmean(unseen(elapsed, length) for _, elapsed, length in times)
        behind = flag_evidence(judging.project, judging.lead, found[who].annotator_id, FlagKind.TOO_FAST)
        reviews = pairs_behind(judging.project, judging.lead, behind.pairs[:10])
        assert [pair.pair_id for pair in reviews] == list(behind.pairs[:10])
        assert all(any(one.too_fast and one.annotator == found[who].name for one in pair.grades) for pair in reviews)


def test_a_correction_in_no_time_is_not_too_fast(judging: Judging) -> None:
    me, at = judging.annotators[0], NOW
    pair = desk(judging.project, me, now=at).items[0].pair
    for grade, ms in ((0, 5000), (3, 300)):
        event = GradeEvent(pair, grade, secrets.token_hex(8), ms, ms)
        record_grades(judging.project, me, [event], now=at + 10)
    assert flags(judging.project, judging.lead)[0].flags[0].value == 0
    (given,) = judging.state(pair).grades
    assert (given.grade, given.active_ms, given.too_fast) == (3, 5300, False)


def hasty(judging: Judging, who: int, count: int, *, at: float) -> None:
    """Grade the next pairs of an annotator, each faster than anybody can."""
    me = judging.annotators[who]
    for _ in range(count):
        pair = desk(judging.project, me, now=at).items[0].pair
        record_grades(judging.project, me, [GradeEvent(pair, 2, secrets.token_hex(8), 100, 100)], now=at)


def raised(judging: Judging, who: int) -> set[FlagKind]:
    (one,) = flags(judging.project, judging.lead, judging.annotators[who].annotator_id)
    return {flag.kind for flag in one.raised}


def test_a_dismissed_flag_comes_again_once_new_work_raises_it_by_itself(judging: Judging) -> None:
    project, lead, anna = judging.project, judging.lead, judging.annotators[0].annotator_id
    hasty(judging, 0, 50, at=NOW)
    assert raised(judging, 0) == {FlagKind.TOO_FAST, FlagKind.UNSEEN, FlagKind.ONE_GRADE}
    dismiss_flags(project, lead, anna, [FlagKind.TOO_FAST], " a  slip ", now=NOW + 60)
    assert raised(judging, 0) == {FlagKind.UNSEEN, FlagKind.ONE_GRADE}
    (one,) = flags(project, lead, anna)
    assert one.flags[0].raised
    assert one.flags[0].dismissed == FlagDismissal(NOW + 60, "Lea", "a slip")
    entry = find_activity(project, lead, ActivityFilter(), first=0, most=1)[0]
    assert (entry.words, entry.by) == ("dismissed the quality flag “Too fast” (“a slip”)", "Lea")
    with pytest.raises(Overtaken, match="“Too fast” is not raised any more, or was dismissed already"):
        dismiss_flags(project, lead, anna, [FlagKind.UNSEEN, FlagKind.TOO_FAST], "", now=NOW + 61)
    assert FlagKind.UNSEEN in raised(judging, 0), "all of them or none"
    with pytest.raises(ProjectError, match="has 201 characters: use at most 200"):
        dismiss_flags(project, lead, anna, [FlagKind.UNSEEN], "x" * 201, now=NOW + 61)

    hasty(judging, 0, 10, at=NOW + 120)
    assert FlagKind.TOO_FAST not in raised(judging, 0), "ten grades alone are no flag"
