"""The numbers of the page My work, against counting the rows one by one, and what that page must not tell."""

import random
import secrets
import sqlite3
import statistics
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.campaign.desk.exchange import desk, record_grades, record_skips
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.monitoring.quality import flags
from backend.campaign.monitoring.quality.model import MyWork
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.adjudicating import adjudicate
from support import DISPUTED, NOW, Judging, cases

DAY_S = 86_400.0
LATER = NOW + 3600


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Weeks of grades with corrections, escalations, skips and a lead's decision."""
    rng = random.Random(11)
    for days_ago in (40, 29, 12, 8, 6, 5, 3, 1, 0):
        at = NOW - days_ago * DAY_S
        for who in range(4):
            for _ in range(rng.randrange(2, 7)):
                items = desk(judging.project, judging.annotators[who], now=at - 100).items
                if not items:
                    continue
                for _ in range(rng.choice((1, 1, 1, 2))):  # the second is a correction
                    event = GradeEvent(
                        items[0].pair, rng.choice((2, 3, 3, 4, 0)), secrets.token_hex(8), rng.choice((0, 1400, 5200))
                    )
                    record_grades(judging.project, judging.annotators[who], [event], now=at)
        if days_ago == 3:
            pair = desk(judging.project, judging.annotators[0], now=at).items[0].pair
            skip = SkipEvent(pair, SkipKind.SKIP, "no", "a skip")
            record_skips(judging.project, judging.annotators[0], [skip], now=at)
    for pair_review in cases(judging.project, OPERATOR, *DISPUTED)[:2]:
        adjudicate(judging.project, judging.lead, pair_review.pair, 1, "seen twice", now=NOW)
    return judging


def report(judging: Judging, who: int = 0, *, at: float = LATER) -> MyWork:
    return flags.my_work(judging.project, judging.annotators[who], now=at)


def test_counts_days_time_and_spread_are_those_of_the_rows(worked: Judging) -> None:
    for who, person in enumerate(worked.annotators):
        found = report(worked, who)
        mine = worked.rows(
            "SELECT pair_id, revision, grade, graded_at, active_ms FROM judgement WHERE annotator_id = ? "
            "ORDER BY revision",
            person.annotator_id,
        )
        today = datetime.fromtimestamp(LATER).date()
        first = [datetime.fromtimestamp(at).date() for _, revision, _, at, _ in mine if revision == 1]
        standing = {pair: (grade, active_ms) for pair, _, grade, _, active_ms in mine}  # the newest comes last
        assert found.today == first.count(today)
        assert found.week == sum(day > today - timedelta(days=7) for day in first)
        assert found.in_all == len(standing)
        assert dict(found.days) == {
            (today - timedelta(days=n)).isoformat(): first.count(today - timedelta(days=n)) for n in range(30)
        }
        assert [day for day, _ in found.days] == sorted(day for day, _ in found.days)
        assert found.active_s == sum(active_ms for *_, active_ms in mine) / 1000
        months = {datetime.fromtimestamp(at).strftime("%Y-%m-01") for *_, at, active_ms in mine if active_ms}
        assert [month for month, _ in found.months] == sorted(months, reverse=True)
        assert sum(active_s for _, active_s in found.months) == pytest.approx(found.active_s)
        assert dict(found.months) == {
            month: sum(ms for *_, at, ms in mine if datetime.fromtimestamp(at).strftime("%Y-%m-01") == month) / 1000
            for month in months
        }
        assert found.median_s == statistics.median(ms for _, ms in standing.values() if ms) / 1000
        assert list(found.grades) == [[grade for grade, _ in standing.values()].count(n) for n in range(5)]
        assert found.skips == (1 if who == 0 else 0)


def test_agreement_is_over_settled_pairs_with_a_relevance(worked: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "FEWEST_PAIRS", 1)
    seen = set()
    for who, person in enumerate(worked.annotators):
        compared = worked.rows(
            "SELECT s.grade, c.relevance, c.verdict, c.mean FROM standing s JOIN consensus c USING (pair_id) "
            "WHERE s.annotator_id = ? AND c.relevance IS NOT NULL",
            person.annotator_id,
        )
        seen |= {verdict for _, _, verdict, _ in compared}
        apart = [grade - relevance for grade, relevance, _, _ in compared]
        value = [grade - (mean if verdict == "consensus" else rel) for grade, rel, verdict, mean in compared]
        agreement = report(worked, who).agreement
        assert agreement is not None
        assert agreement.pairs == len(compared)
        assert agreement.equal == pytest.approx(apart.count(0) / len(apart))
        assert (agreement.tolerance, agreement.within) == (
            1,
            pytest.approx(sum(abs(d) <= 1 for d in apart) / len(apart)),
        )
        assert agreement.difference == pytest.approx(sum(value) / len(value))
    assert seen == {"consensus", "adjudicated"}


def settle(judging: Judging, count: int, mine: int, theirs: int, *, at: float = NOW) -> list[str]:
    pairs = [pair.pair for pair in judging.pairs()[:count]]
    for pair in pairs:
        judging.grade(0, pair, mine, at=at)
        judging.grade(1, pair, theirs, at=at)
    return [str(pair) for pair in pairs]


def test_grading_above_the_others_is_a_positive_difference(judging: Judging) -> None:
    settle(judging, 10, 4, 3)
    mine, theirs = report(judging, 0).agreement, report(judging, 1).agreement
    # 4 and 3 agree on 3.5, which becomes relevance 4.
    assert mine is not None
    assert theirs is not None
    assert (mine.equal, mine.within, mine.difference) == (1.0, 1.0, 0.5)
    assert (theirs.equal, theirs.within, theirs.difference) == (0.0, 1.0, -0.5)


def test_nine_settled_pairs_say_nothing_and_ten_do(judging: Judging) -> None:
    settle(judging, 9, 3, 3)
    assert (report(judging).settled, report(judging).agreement) == (9, None)
    settle(judging, 10, 3, 3)
    found = report(judging)
    assert found.agreement is not None
    assert found.settled == found.agreement.pairs == 10


def test_open_and_escalated_pairs_change_nothing_whatever_others_think_of_them(judging: Judging) -> None:
    settle(judging, 12, 3, 3)
    before = report(judging)
    pairs = [pair.pair for pair in judging.pairs()[12:20]]
    for pair in pairs:
        judging.grade(0, pair, 4)  # open
    open_ones = report(judging)
    for pair in pairs[:4]:
        judging.grade(1, pair, 0)  # escalated
    escalated = report(judging)
    assert before.agreement == open_ones.agreement == escalated.agreement
    assert open_ones == escalated


def test_a_verdict_that_could_still_be_taken_back_is_not_told(judging: Judging) -> None:
    settle(judging, 10, 3, 3)
    pair = judging.pairs()[10].pair
    judging.grade(1, pair, 2, at=NOW)
    judging.grade(0, pair, 3, at=LATER)  # settles it, and may be corrected for 15 minutes
    assert report(judging, at=LATER + 1).settled == 10
    assert report(judging, 1, at=LATER + 1).settled == 10, "nor to the other person"
    assert report(judging, at=LATER + 15 * 60 - 1).settled == 10
    assert report(judging, at=LATER + 15 * 60 + 1).settled == 11


def test_pairs_whose_grades_can_still_be_taken_back_are_counted_apart_and_alike(judging: Judging) -> None:
    """As the page said "0 settled" while the lead saw 44: all of them had been graded within the last 15 minutes."""
    settle(judging, 12, 3, 3, at=LATER)
    agreeing = report(judging, at=LATER + 60)
    assert (agreeing.in_all, agreeing.settled, agreeing.recent) == (12, 0, 12)
    pairs = [pair.pair for pair in judging.pairs()[12:16]]
    for pair in pairs:
        judging.grade(0, pair, 0, at=NOW)
    assert report(judging, at=LATER + 60).recent == 12, "his own grade is old, and nobody else came"
    for pair, theirs in zip(pairs, (0, 4, 1, 3), strict=True):
        before = report(judging, at=LATER + 60)
        judging.grade(1, pair, theirs, at=LATER)
        after = report(judging, at=LATER + 60)
        assert (after.recent - before.recent, after.settled) == (1, 0), "whatever the other one thinks of it"
    ends = report(judging, at=LATER + 15 * 60 + 1)
    assert (ends.in_all, ends.settled, ends.recent) == (16, 14, 0)


def test_grades_of_an_earlier_campaign_are_counted_apart(judging: Judging) -> None:
    settle(judging, 2, 3, 3)
    key = judging.pairs()[5].pair
    person = judging.annotators[0].annotator_id
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        [pair] = db.execute("SELECT pair_id FROM pair WHERE pair_key = ?", [key]).fetchone()
        db.execute("UPDATE seat SET annotator_id = ? WHERE pair_id = ? AND seat_no = 1", [person, pair])
        db.execute(
            "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key, imported) "
            "VALUES (?, 1, ?, 1, 4, 0, 'earlier', 1)",
            [pair, person],
        )
    found = report(judging)
    assert (found.in_all, found.imported, sum(found.grades)) == (2, 1, 2)


def test_it_holds_numbers_about_the_person_and_nothing_else(worked: Judging) -> None:
    def leaves(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [leaf for part in value.values() for leaf in leaves(part)]
        return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list | tuple) else [value]

    texts = [leaf for leaf in leaves(asdict(report(worked))) if isinstance(leaf, str)]
    assert all(datetime.fromisoformat(text) for text in texts), "no text but days: no query, caption, name, pair"
    assert report(worked, 0) != report(worked, 1)
