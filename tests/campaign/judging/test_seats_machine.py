"""Everything that people can do to seats, in any order: what must hold afterwards is counted by hand from the tables.

Twelve pairs (two queries over the same six moments), six annotators, a lead, and a clock that may go back. What the
rules say is written here a second time, in plain loops over the rows.
"""

import dataclasses
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from itertools import count
from math import floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from backend.campaign.desk import exchange as desk_exchange
from backend.campaign.desk.clips import report_clip
from backend.campaign.doctor.database import move
from backend.campaign.judging import queue
from backend.campaign.judging.grades import NOT_ASSIGNED, PAUSED, QUOTA
from backend.campaign.judging.model import (
    Assignment,
    Desk,
    DeskState,
    GradeEvent,
    Receipt,
    ReceiptStatus,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.queue import lift_skips, offer_again, restore_clip
from backend.campaign.judging.staffing import assign, pause_person, unassign, unpause_person
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.adjudicating import adjudicate, confirm_discard, re_open, take_back
from backend.campaign.review.status import status_counts
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project import settings_file
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import Overtaken, PairLocked, ReelRankError
from backend.core.ids import PairKey, QueryId
from postgres import ENGINES, Cluster
from support import NOW, sit

EXAMPLES = {"sqlite": 150, "postgresql": 8}
"""How many random campaigns `make test-long` plays through; a database server takes longer for each statement."""
FEWER_EXAMPLES = {"sqlite": 20, "postgresql": 2}
"""How many random campaigns `make test` plays through."""
LEASE_S = 5 * 60.0
"""Shorter than a grade can be taken back, so that one may do so whose follower went away."""
SLACK_S = 60.0
"""A lease may have been renewed that long ago."""
QUEUE, FEWEST = 7, 5
"""Pairs on a desk that was just filled, and the fewest that are left on it before it is filled again."""
SETTLED = ("consensus", "discarded", "adjudicated")
UNDO_S = 15 * 60.0

WHO = st.integers(0, 5)
PAIR = st.integers(0, 11)
GRADE = st.sampled_from((0, 1, 2, 3, 4, 0, 4))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, make_twelve_pairs: Callable[..., Path]) -> Path:
    """The project as every example finds it."""

    def shorter_leases(text: str) -> str:
        changed, times = re.subn("(?m)^lease_minutes = .*", f"lease_minutes = {LEASE_S / 60:.0f}", text)
        assert times == 1
        return changed

    names = ("Anna", "Boris", "Carla", "Dev", "Eve", "Finn")
    return make_twelve_pairs(tmp_path_factory.mktemp("machine"), *names, settings=shorter_leases)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Either."""
    return str(request.param)


@pytest.fixture(scope="module")
def moved_template(template: Path, cluster: Cluster) -> tuple[Path, str]:
    """The project moved to PostgreSQL: its folder and the name of its database."""
    folder, name = template.parent / "moved", cluster.new()
    shutil.copytree(template, folder)
    move(folder, cluster.address(name), now=NOW)
    return folder, name


@pytest.fixture
def beginning(engine: str, template: Path, request: pytest.FixtureRequest) -> Callable[[Path], Project]:
    """Makes a folder the project as every example finds it, with a database of its own."""
    if engine == "sqlite":
        return lambda folder: open_project(Path(shutil.copytree(template, folder)))
    cluster: Cluster = request.getfixturevalue("cluster")
    moved, name = request.getfixturevalue("moved_template")

    last = ""

    def copied(folder: Path) -> Project:
        nonlocal last
        shutil.copytree(moved, folder)
        last = cluster.new(name, instead_of=last)
        settings_file.set_database(folder, cluster.address(last))
        return open_project(folder)

    return copied


def by_the_rule(grades: list[int], re_opened: bool = False) -> tuple[str, int | None, float | None]:
    """Verdict, relevance and mean of the grades of a pair."""
    if len(grades) < 2:
        return "open", None, None
    middle = sorted(grades)
    while len(middle) > 2:
        middle = middle[1:-1]
    if len(grades) in (3, 5) or (len(grades) == 2 and middle[1] - middle[0] > 1) or (len(grades) == 4 and re_opened):
        return "escalated", None, None
    if middle[1] - middle[0] > 1:
        return "discarded", None, None
    mean = sum(middle) / 2
    return "consensus", floor(mean + 0.5), mean


@dataclasses.dataclass
class Tables:
    """The rows as they are, by pair number."""

    seats: dict[int, dict[int, tuple[int | None, float | None]]]
    """Seat number: (who, until when)."""
    standing: dict[int, dict[int, int]]
    """Person: grade of the newest revision."""
    judgements: list[tuple[int, int, int, int]]
    """(pair, seat, person, revision), in the order of writing."""
    graded_at: dict[tuple[int, int], float]
    """(pair, person): when the newest grade was saved."""
    shown: set[tuple[int, int]]
    """(pair, person) whose clip was on screen since they sat down, judged or not."""
    verdicts: dict[int, tuple[str, int | None, float | None]]
    blocked: set[int]
    skips: set[tuple[int, int]]
    """(pair, person) that stand."""
    acts: dict[int, list[str]]
    """What leads did about a pair, as far as it stands."""
    reports: set[tuple[int, int]]
    """(pair, person) of the skips that say that the clip is broken."""

    def seat_of(self, pair: int, me: int) -> bool:
        """Whether somebody has a seat at a pair, held (lapsed or not) or judged."""
        return any(who == me for who, _ in self.seats[pair].values())

    def held_by(self, me: int) -> set[int]:
        """Pairs in somebody's hands that can be shown."""
        return {
            pair
            for pair, seats in self.seats.items()
            if pair not in self.blocked and any(who == me and until is not None for who, until in seats.values())
        }

    def wanted_from(self, me: int) -> set[int]:
        """Pairs this person may grade, has not got, and that lack a grade; others may hold them."""
        return {
            pair
            for pair, seats in self.seats.items()
            if pair not in self.blocked
            and self.verdicts.get(pair, ("open",))[0] not in SETTLED
            and (pair, me) not in self.skips
            and all(who != me for who, _ in seats.values())
            and any(who is None or until is not None for who, until in seats.values())
        }

    def on_screen(self, pair: int, who: int, now: float) -> bool:
        """Whether somebody has a clip on screen whose place is theirs at this instant."""
        sits = [until for person, until in self.seats[pair].values() if person == who]
        return (pair, who) in self.shown and any(until is not None and until >= now for until in sits)

    def may_change(self, pair: int, me: int, now: float) -> bool:
        """Whether a grade of this person may still be taken back."""
        verdict = self.verdicts.get(pair, ("open",))[0]
        if verdict in ("open", "adjudicated"):
            return verdict == "open"
        mine = max(n for n, row in enumerate(self.judgements) if row[0] == pair and row[2] == me)
        later = any(row[0] == pair and row[2] != me for row in self.judgements[mine:])
        [seat] = [n for n, (who, _) in self.seats[pair].items() if who == me]
        acts = self.acts.get(pair, [])
        if acts and (seat < 5 or acts[-1] != "re_opened"):
            return False
        last_of_round = seat + seat % 2
        beyond = [who for n, (who, _) in self.seats[pair].items() if n > last_of_round and who not in (None, me)]
        watched = any(self.on_screen(pair, who, now) for who in beyond)
        return not later and not watched and abs(now - self.graded_at[pair, me]) <= UNDO_S

    def open_to(self, me: int, now: float) -> set[int]:
        """Those of them with a place to sit down at this instant."""
        return {
            pair
            for pair in self.wanted_from(me)
            if any(who is None or (until is not None and until < now) for who, until in self.seats[pair].values())
        }


class Campaign(RuleBasedStateMachine):
    """The acts of six annotators and a lead on one small project."""

    def __init__(self, beginning: Callable[[Path], Project], folder: Path) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.project = beginning(self.folder / "project")
        self.sql: Any = self.project.store.db.conn
        self.in_a_file = isinstance(self.sql, sqlite3.Connection)
        if self.in_a_file:
            self.sql.execute("PRAGMA synchronous = 0")  # nobody pulls the plug here
        rows = self.sql.execute("SELECT pair_id, pair_key, moment_id FROM pair ORDER BY pair_id").fetchall()
        self.pair_ids = [row[0] for row in rows]
        self.keys = {row[0]: PairKey(row[1]) for row in rows}
        self.pair_of = {key: pair for pair, key in self.keys.items()}
        self.moment_of = {row[0]: row[2] for row in rows}
        found = self.sql.execute("SELECT annotator_id, name, role FROM annotator ORDER BY annotator_id").fetchall()
        self.lead, *self.people = [Person(row[0], row[1], Role(row[2])) for row in found]
        self.now = NOW
        self.presses = count()
        self.grades: dict[int, dict[int, int]] = defaultdict(dict)
        self.rows = 0
        self.read: tuple[tuple[int, object], Tables] | None = None
        self.acts: dict[int, list[tuple[str, int | None]]] = defaultdict(list)
        """What leads did about a pair and did not take back: (what, relevance)."""
        self.act_count: Counter[int] = Counter()
        self.skips: set[tuple[int, int]] = set()
        self.reports: set[tuple[int, int]] = set()
        """Those of them that say that the clip is broken."""
        self.blocked: set[int] = set()
        self.by_reports: set[int] = set()
        """Those of them that only annotators' reports block."""
        self.paused: set[int] = set()
        self.quota: dict[int, int] = {}
        """How many grades in all are wanted of a person."""
        self.query_of = dict(self.sql.execute("SELECT pair_id, query_id FROM pair").fetchall())
        self.only: dict[int, int] = {}
        """The one query that a person is assigned to."""
        self.refused: set[str] = set()
        self.sent: list[tuple[Person, GradeEvent | SkipEvent, Receipt]] = []
        self.desks: dict[int, tuple[PairKey, ...]] = defaultdict(tuple)
        self.promised: dict[tuple[int, int], float] = {}
        self.last: dict[int, int] = {}
        self.offered: set[PairKey] = set()
        self.seen: set[tuple[int, int]] = set()
        """(pair, person) whose clip was on screen since they sat down, as the acts had it."""

    def teardown(self) -> None:
        self.project.store.close()
        shutil.rmtree(self.folder)

    # Acts of annotators

    @initialize(who=WHO)
    def somebody_begins(self, who: int) -> None:
        self.asks_for_the_desk(who)

    @rule(who=WHO)
    def asks_for_the_desk(self, who: int) -> None:
        self.look(self.people[who], lambda person: desk_exchange.desk(self.project, person, now=self.now))

    @rule(who=WHO, nth=st.integers(0, 2), grade=GRADE)
    def grades_what_lies_on_the_desk(self, who: int, nth: int, grade: int) -> None:
        if nth < len(self.desks[who]):
            self.grade(self.people[who], self.desks[who][nth], grade)

    @rule(who=WHO, grade=GRADE)
    def grades_and_goes_on(self, who: int, grade: int) -> None:
        """As the browser does it."""
        if not self.desks[who]:
            return
        event = GradeEvent(self.desks[who][0], grade, f"press-{next(self.presses)}")
        receipts: list[Receipt] = []

        def exchange(person: Person) -> Desk:
            found, desk = desk_exchange.exchange(self.project, person, [event], [], now=self.now)
            receipts.extend(found)
            return desk

        self.take(self.people[who], event, lambda: self.look(self.people[who], exchange, fewest=FEWEST) or receipts[0])

    @rule(who=WHO, pair=PAIR, grade=GRADE)
    def grades_any_pair(self, who: int, pair: int, grade: int) -> None:
        """Late saves, corrections, and pairs of which somebody merely knows the key."""
        self.grade(self.people[who], self.keys[self.pair_ids[pair]], grade)

    def sit(self, person: Person, pair: int) -> None:
        """A person is given a seat at this pair, as the desk gives it, where it could."""
        me = person.annotator_id
        if pair in self.tables().open_to(me, self.now) and self.allowed(me, pair) is None:
            sit(self.project, person, [self.keys[pair]], now=self.now, lease_s=LEASE_S)

    def allowed(self, me: int, pair: int) -> str | None:
        """Why a lead's word keeps a person from a first grade of a pair: the refusal."""
        if me in self.paused:
            return PAUSED
        if len([pair for pair, grades in self.grades.items() if me in grades]) >= self.quota.get(me, 100):
            return QUOTA
        return NOT_ASSIGNED if self.query_of[pair] != self.only.get(me, self.query_of[pair]) else None

    @rule(pair=PAIR, grades=st.lists(GRADE, min_size=2, max_size=5), slip=st.none() | GRADE)
    def several_grade_one_pair(self, pair: int, grades: list[int], slip: int | None) -> None:
        """One after the other; the last one perhaps presses a wrong key first."""
        *others, last = zip(self.people, grades, strict=False)
        for person, grade in (*others, *([(last[0], slip)] if slip is not None else []), last):
            self.sit(person, self.pair_ids[pair])
            self.grade(person, self.keys[self.pair_ids[pair]], grade)

    @rule(pair=PAIR, seen=st.booleans(), wait=st.sampled_from((1.0, LEASE_S + 1)), back=st.booleans())
    def a_dispute_meets_a_third_desk(self, pair: int, seen: bool, wait: float, back: bool) -> None:
        """It lies there, perhaps on screen; some time passes; then the one who disagreed thinks better of it."""
        first, second, third = self.people[:3]
        key = self.keys[self.pair_ids[pair]]
        for person, grade in ((first, 0), (second, 4)):
            self.sit(person, self.pair_of[key])
            self.grade(person, key, grade)
        self.asks_for_the_desk(2)
        if seen:
            self.comes_on_screen(self.tables(), third.annotator_id, self.pair_of[key])
            desk_exchange.shown(self.project, third, key, now=self.now)
        self.time_passes(wait)
        if back:
            self.asks_for_the_desk(2)
        self.grade(second, key, 0)

    @rule(who=WHO, grade=GRADE)
    def takes_back_the_last_grade(self, who: int, grade: int) -> None:
        if who in self.last:
            self.grade(self.people[who], self.keys[self.last[who]], grade)

    @rule(who=WHO, pair=PAIR, kind=st.sampled_from(SkipKind))
    def skips_a_pair(self, who: int, pair: int, kind: SkipKind) -> None:
        self.skip(self.people[who], self.keys[self.pair_ids[pair]], kind)

    @rule(who=WHO, kind=st.sampled_from((SkipKind.SKIP, SkipKind.CANNOT_JUDGE)))
    def skips_what_lies_on_the_desk(self, who: int, kind: SkipKind) -> None:
        if self.desks[who]:
            self.skip(self.people[who], self.desks[who][0], kind)

    @rule(who=WHO, pair=PAIR)
    def the_clip_comes_on_screen(self, who: int, pair: int) -> None:
        """Most often one that lies on the desk; a late word about any other one changes nothing."""
        me, key = self.people[who].annotator_id, (self.desks[who] or (self.keys[self.pair_ids[pair]],))[0]
        self.comes_on_screen(self.tables(), me, self.pair_of[key])
        desk_exchange.shown(self.project, self.people[who], key, now=self.now)

    @rule(who=WHO)
    def asks_for_the_desk_with_a_clip_on_screen(self, who: int) -> None:
        """As after every key press, and after a pause in which the lease may have run out."""
        on_screen = self.desks[who][0] if self.desks[who] else None

        def exchange(person: Person) -> Desk:
            return desk_exchange.exchange(self.project, person, [], [], now=self.now, shown=on_screen)[1]

        self.look(self.people[who], exchange, on_screen)

    @rule(who=WHO)
    def signs_out(self, who: int) -> None:
        me = self.people[who].annotator_id
        self.seen -= {(pair, me) for pair in self.tables().held_by(me)}
        queue.sign_off(self.project.store, self.people[who], now=self.now)
        self.promised = {seat: until for seat, until in self.promised.items() if seat[1] != me}
        assert not any(
            person == me and until is not None
            for seats in self.tables().seats.values()
            for person, until in seats.values()
        )

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def sends_an_event_again(self, data: st.DataObject) -> None:
        person, event, receipt = data.draw(st.sampled_from(self.sent[-12:]))
        before = self.everything()
        assert self.hand_in(person, event).status is receipt.status
        assert self.everything() == before

    @precondition(lambda self: any(receipt.status is ReceiptStatus.SAVED for _, _, receipt in self.sent))
    @rule(data=st.data(), who=WHO, pair=PAIR)
    def sends_a_key_of_another_press(self, data: st.DataObject, who: int, pair: int) -> None:
        owner, event, _ = data.draw(st.sampled_from(self.sent[-12:]))
        key = self.keys[self.pair_ids[pair]]
        if not isinstance(event, GradeEvent) or (owner == self.people[who] and event.pair == key):
            return
        stored = self.sql.execute("SELECT count(*) FROM judgement WHERE event_key = ?", [event.key]).fetchone()[0]
        if stored:
            receipt = self.hand_in(self.people[who], dataclasses.replace(event, pair=key))
            assert receipt.status is ReceiptStatus.REFUSED
            self.refused.add(f"{key}:{event.key}")

    # Acts of the lead, and of time

    @rule(pair=PAIR)
    def lead_offers_a_pair_again(self, pair: int) -> None:
        mine = {skip for skip in self.skips if skip[0] == self.pair_ids[pair]}
        key = self.keys[self.pair_ids[pair]]
        settled = self.tables().verdicts.get(self.pair_ids[pair], ("open",))[0] in SETTLED
        if settled or (not mine and key in self.offered):
            with pytest.raises(PairLocked if settled else Overtaken):
                offer_again(self.project, self.lead, key, now=self.now)
            return
        assert offer_again(self.project, self.lead, key, now=self.now) == len(mine)
        self.offered |= {key} if mine else set()
        self.skips -= mine
        self.reports -= mine

    @rule(who=WHO, reports_only=st.booleans())
    def lead_lifts_all_skips_of_a_person(self, who: int, reports_only: bool) -> None:
        me = self.people[who].annotator_id
        mine = {one for one in (self.reports if reports_only else self.skips) if one[1] == me}
        act = partial(lift_skips, self.project, self.lead, self.people[who].annotator_id)
        if not mine:
            with pytest.raises(Overtaken):
                act(reports_only=reports_only, now=self.now)
            return
        moments = {self.moment_of[pair] for pair, _ in mine & self.reports}
        self.skips -= mine
        self.reports -= mine
        free = {pair for pair in self.by_reports if self.moment_of[pair] in moments and len(self.reporters(pair)) < 2}
        lifted = act(reports_only=reports_only, now=self.now)
        assert (lifted.skips, lifted.clips) == (len(mine), len({self.moment_of[pair] for pair in free}))
        self.blocked -= free
        self.by_reports -= free

    def reporters(self, pair: int) -> set[int]:
        """Who says that the clip of a pair is broken, at whichever pair of its moment."""
        return {me for other, me in self.reports if self.moment_of[other] == self.moment_of[pair]}

    @rule(who=WHO)
    def lead_pauses_a_person_or_lets_them_go_on(self, who: int) -> None:
        me = self.people[who].annotator_id
        if me in self.paused:
            unpause_person(self.project, self.lead, self.people[who].annotator_id, now=self.now)
            self.paused.discard(me)
            return
        self.seen -= {(pair, me) for pair in self.tables().held_by(me)}
        pause_person(self.project, self.lead, self.people[who].annotator_id, "why", now=self.now)
        self.paused.add(me)
        self.gives_back(me)

    @rule(who=WHO, quota=st.sampled_from((None, 1, 3)), query=st.sampled_from((None, 0, 1)))
    def lead_assigns_a_person(self, who: int, quota: int | None, query: int | None) -> None:
        person, me = self.people[who], self.people[who].annotator_id
        standing = me in self.quota or me in self.only
        self.quota.pop(me, None)
        self.only.pop(me, None)
        if quota is None and query is None:
            if standing:
                unassign(self.project, self.lead, me, now=self.now)
            return
        query_id = None if query is None else sorted(set(self.query_of.values()))[query]
        chosen = None if query_id is None else (QueryId(query_id),)
        assign(self.project, self.lead, [person.annotator_id], Assignment(queries=chosen, in_all=quota), now=self.now)
        self.quota |= {} if quota is None else {me: quota}
        self.only |= {} if query_id is None else {me: query_id}
        self.seen &= {(pair, who) for pair, seats in self.tables().seats.items() for who, _ in seats.values()}
        self.gives_back(me)

    def gives_back(self, me: int) -> None:
        """What was promised to a person is so no longer where they do not sit any more, or may not grade."""
        tables = self.tables()
        self.promised = {
            (pair, who): until
            for (pair, who), until in self.promised.items()
            if who != me or (tables.seat_of(pair, me) and me not in self.quota and self.allowed(me, pair) is None)
        }

    @precondition(lambda self: self.blocked)
    @rule(data=st.data())
    def lead_hands_a_broken_clip_out_again(self, data: st.DataObject) -> None:
        pair = data.draw(st.sampled_from(sorted(self.blocked)))
        restore_clip(self.project, self.lead, self.keys[pair], now=self.now)
        self.blocked -= self.of_the_moment(pair)
        self.by_reports -= self.of_the_moment(pair)

    @rule(pair=PAIR)
    def a_clip_cannot_be_shown(self, pair: int) -> None:
        report_clip(self.project, self.lead, self.keys[self.pair_ids[pair]], "damaged", now=self.now)
        self.block(self.pair_ids[pair])
        self.by_reports -= self.of_the_moment(self.pair_ids[pair])

    @rule(pair=PAIR, relevance=st.integers(0, 4))
    def lead_decides(self, pair: int, relevance: int) -> None:
        pair_id = self.pair_ids[pair]
        seen = self.act_count[pair_id]
        adjudicate(self.project, self.lead, self.keys[pair_id], relevance, "looked at it", seen=seen, now=self.now)
        self.acts[pair_id].append(("decided", relevance))
        self.act_count[pair_id] += 1

    @rule(pair=PAIR)
    def lead_confirms_a_discard(self, pair: int) -> None:
        pair_id = self.pair_ids[pair]
        allowed = self.tables().verdicts.get(pair_id, ("open",))[0] == "discarded"
        self.lead_acts(pair_id, "discard_confirmed", confirm_discard, allowed=allowed)

    @rule(pair=PAIR)
    def lead_re_opens_a_pair(self, pair: int) -> None:
        pair_id, tables = self.pair_ids[pair], self.tables()
        again = any(what == "re_opened" for what, _ in self.acts[pair_id])
        discarded = tables.verdicts.get(pair_id, ("open",))[0] == "discarded"
        allowed = discarded and not again and pair_id not in self.blocked
        self.lead_acts(pair_id, "re_opened", re_open, allowed=allowed)

    @rule(pair=PAIR)
    def lead_takes_back_what_was_done_last(self, pair: int) -> None:
        pair_id, before = self.pair_ids[pair], self.tables()
        standing = self.acts[pair_id]
        allowed = bool(standing)
        if standing and standing[-1][0] == "re_opened":
            further = [(who, until) for n, (who, until) in before.seats[pair_id].items() if n > 4 and who is not None]
            allowed = all(  # what ends later than two leases from now is from before the clock was set back
                until is not None and (until > self.now + 2 * LEASE_S or not self.on_screen(before, pair_id, who))
                for who, until in further
            )
        if not allowed:
            with pytest.raises(ReelRankError):
                self.takes_back(pair_id)
            return
        self.takes_back(pair_id)
        standing.pop()
        self.act_count[pair_id] += 1
        self.places_taken_away(pair_id, before)

    @rule(pair=PAIR, grades=st.lists(GRADE, max_size=2), back=st.booleans())
    def a_discard_is_re_opened_for_two_more(self, pair: int, grades: list[int], back: bool) -> None:
        """Four disagree, the lead asks two more, who look or do not; perhaps the lead thinks better of it."""
        key = self.keys[self.pair_ids[pair]]
        for person, grade in zip(self.people, (0, 4, 1, 3), strict=False):
            self.sit(person, self.pair_of[key])
            self.grade(person, key, grade)
        self.lead_re_opens_a_pair(pair)
        self.asks_for_the_desk(5)
        if back:
            self.lead_takes_back_what_was_done_last(pair)
        for person, grade in zip(self.people[4:], grades, strict=False):
            self.sit(person, self.pair_of[key])
            self.grade(person, key, grade)

    def lead_acts(self, pair: int, what: str, act: Callable[..., None], *, allowed: bool) -> None:
        def done() -> None:
            act(self.project, self.lead, self.keys[pair], "because", seen=self.act_count[pair], now=self.now)

        if not allowed:
            before = self.everything()
            with pytest.raises(ReelRankError):
                done()
            assert self.everything() == before
            return
        done()
        self.acts[pair].append((what, None))
        self.act_count[pair] += 1

    def takes_back(self, pair: int) -> None:
        take_back(self.project, self.lead, self.keys[pair], "not so", seen=self.act_count[pair], now=self.now)

    def on_screen(self, tables: Tables, pair: int, who: int) -> bool:
        return tables.on_screen(pair, who, self.now)

    @rule(seconds=st.sampled_from((1.0, 50.0, 400.0, LEASE_S + 1, 3600.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.promised = {seat: until for seat, until in self.promised.items() if until >= self.now}

    @rule(seconds=st.sampled_from((30.0, 3600.0)))
    def the_clock_is_set_back(self, seconds: float) -> None:
        self.now -= seconds

    # What must hold at every step

    @invariant()
    def the_tables_say_what_was_done(self) -> None:
        tables = self.tables()
        assert {pair: grades for pair, grades in self.grades.items() if grades} == tables.standing
        assert len(tables.judgements) == self.rows
        assert tables.skips == self.skips
        assert tables.reports == self.reports
        assert tables.blocked == self.blocked
        refusals = self.sql.execute("SELECT subject, payload FROM event WHERE kind = 'grade_refused'").fetchall()
        logged = [f"{self.keys[int(row[0][5:])]}:{json.loads(row[1])['event_key']}" for row in refusals]
        assert sorted(logged) == sorted(self.refused)

    @invariant()
    def what_was_on_screen_is_known(self) -> None:
        """Of everybody who sits somewhere; a place that changed hands, or was given back, begins anew."""
        tables = self.tables()
        sitting = {(pair, who) for pair, seats in tables.seats.items() for who, _ in seats.values()}
        self.seen &= sitting
        assert tables.shown == self.seen

    @invariant()
    def seats_hold(self) -> None:
        tables = self.tables()
        judged = defaultdict(list)
        for pair, seat_no, person, revision in tables.judgements:
            judged[pair, seat_no, person].append(revision)
        assert all(revisions == list(range(1, len(revisions) + 1)) for revisions in judged.values())
        seats_with_a_grade = set()
        for pair, seats in tables.seats.items():
            first_two = [tables.standing[pair][who] for n, (who, until) in seats.items() if n < 3 and who and not until]
            apart = len(first_two) == 2 and abs(first_two[0] - first_two[1]) > 1
            further = any(what == "re_opened" for what, _ in self.acts[pair])
            assert sorted(seats) == list(range(1, 3 + 2 * apart + 2 * further))
            sitting = [who for who, _ in seats.values() if who is not None]
            assert len(sitting) == len(set(sitting))
            assert not any((pair, who) in tables.skips for who in sitting)
            seats_with_a_grade |= {(pair, n, who) for n, (who, until) in seats.items() if who and until is None}
            assert pair not in tables.blocked or all(until is None for _, until in seats.values())
        assert seats_with_a_grade == set(judged)
        log = Counter(row[0] for row in self.sql.execute("SELECT kind FROM event"))
        assert log["escalated"] - log["de_escalated"] == sum(len(seats) > 3 for seats in tables.seats.values())

    @invariant()
    def nobody_who_is_paused_holds_a_seat(self) -> None:
        tables = self.tables()
        assert not any(
            who in self.paused and until is not None for seats in tables.seats.values() for who, until in seats.values()
        )

    @invariant()
    def consensus_is_what_the_rule_says(self) -> None:
        tables = self.tables()
        for pair in self.pair_ids:
            re_opened = any(what == "re_opened" for what, _ in self.acts[pair])
            expected = by_the_rule(list(tables.standing.get(pair, {}).values()), re_opened)
            decided = [relevance for what, relevance in self.acts[pair] if what == "decided"]
            if decided:
                expected = "adjudicated", decided[-1], expected[2]
            assert tables.verdicts.get(pair, ("open", None, None)) == expected

    @invariant()
    def the_agenda_lists_what_is_wanted(self) -> None:
        tables = self.tables()
        nearest: dict[int, int] = {}
        for pair, batch in self.sql.execute("SELECT pair_id, batch_id FROM pair"):
            lacking = [n for n, (who, until) in tables.seats[pair].items() if who is None or until is not None]
            settled = tables.verdicts.get(pair, ("open",))[0] in SETTLED
            if lacking and not settled and pair not in tables.blocked:
                nearest[batch] = max(min(lacking), nearest.get(batch, 0))
        stored = sorted(tuple(row) for row in self.sql.execute("SELECT batch_id, nearest, position FROM agenda"))
        assert {row[0]: row[1] for row in stored} == nearest
        assert (
            sorted(tuple(row) for row in self.sql.execute(candidates_rows.AGENDA_ROWS.format(where="TRUE"))) == stored
        )

    @invariant()
    def counts_add_up(self) -> None:
        tables = self.tables()
        counts = status_counts(self.project, OPERATOR)
        states = Counter(
            verdict
            if (verdict := tables.verdicts.get(pair, ("open",))[0]) in SETTLED or pair not in tables.blocked
            else "blocked"
            for pair in self.pair_ids
        )
        assert {state: n for state, n in counts["pairs"].items() if n} == dict(states)
        assert counts["judgements"] == sum(len(grades) for grades in tables.standing.values())

    # How acts are done and noted down

    def grade(self, person: Person, key: PairKey, grade: int) -> None:
        event = GradeEvent(key, grade, f"press-{next(self.presses)}")
        self.take(person, event, lambda: self.hand_in(person, event))

    def take(self, person: Person, event: GradeEvent, act: Callable[[], Receipt]) -> None:
        """Do it, and compare the receipt with the rows."""
        pair, me = self.pair_of[event.pair], person.annotator_id
        before = self.tables()
        judged, may = me in before.standing.get(pair, {}), self.allowed(me, pair)
        promised = self.promised.pop((pair, me), None)
        receipt = act()
        new = self.sql.execute("SELECT count(*) FROM judgement").fetchone()[0] - len(before.judgements)
        assert new == (receipt.status is ReceiptStatus.SAVED)
        if judged:
            changes = before.may_change(pair, me, self.now) and me not in self.paused
            assert (receipt.status is ReceiptStatus.SAVED) == changes, receipt.message
        else:
            counts = before.seat_of(pair, me) and may is None
            assert (receipt.status is ReceiptStatus.SAVED) == counts, receipt.message
            assert may is None or not before.seat_of(pair, me) or receipt.message == may
        self.places_taken_away(pair, before)
        if receipt.status is ReceiptStatus.SAVED:
            self.promised.pop((pair, me), None)
            self.grades[pair][me] = event.grade
            self.last[self.people.index(person)] = pair
        else:
            self.refused.add(f"{event.pair}:{event.key}")
            assert promised is None, (
                f"the seat was this person's, and the grade was refused: {receipt.message}; {before.seats[pair]}; {me}"
            )
        self.rows += new
        self.sent.append((person, event, receipt))

    def places_taken_away(self, pair: int, before: Tables) -> None:
        """A correction may end a disagreement: whoever only had the clip ahead of them loses it, nobody else."""
        for n in before.seats[pair].keys() - self.tables().seats[pair].keys():
            who, until = before.seats[pair][n]
            if who is not None:
                is_over = until is not None and until > self.now + 2 * LEASE_S
                assert is_over or not before.on_screen(pair, who, self.now), "the clip was on somebody's screen"
                self.promised.pop((pair, who), None)

    def comes_on_screen(self, tables: Tables, me: int, pair: int) -> None:
        """Only of a place that is theirs at this instant."""
        if any(who == me and until is not None and until >= self.now for who, until in tables.seats[pair].values()):
            self.seen.add((pair, me))

    def skip(self, person: Person, key: PairKey, kind: SkipKind) -> None:
        event = SkipEvent(key, kind, "because", f"press-{next(self.presses)}")
        pair, me = self.pair_of[key], person.annotator_id
        sits = self.tables().seat_of(pair, me) and me not in self.grades[pair]
        receipt = self.hand_in(person, event)
        assert (receipt.status is ReceiptStatus.SAVED) == (sits and me not in self.paused)
        if receipt.status is ReceiptStatus.SAVED:
            self.skips.add((pair, me))
            self.promised.pop((pair, me), None)
            if kind is SkipKind.BROKEN_CLIP:
                self.reports.add((pair, me))
                if len(self.reporters(pair)) >= 2:
                    self.by_reports |= set() if pair in self.blocked else self.of_the_moment(pair)
                    self.block(pair)
        before = self.everything()
        assert self.hand_in(person, event).status is receipt.status
        assert self.everything() == before

    def hand_in(self, person: Person, event: GradeEvent | SkipEvent) -> Receipt:
        if isinstance(event, GradeEvent):
            return desk_exchange.record_grades(self.project, person, [event], now=self.now)[0]
        return desk_exchange.record_skips(self.project, person, [event], now=self.now)[0]

    def look(
        self, person: Person, ask: Callable[[Person], Desk], on_screen: PairKey | None = None, fewest: int = QUEUE
    ) -> None:
        """Ask for a desk, and see that it is what this person must get."""
        me = person.annotator_id
        exchanged = self.tables()
        lapsed = {
            pair
            for pair, seats in exchanged.seats.items()
            if any(who == me and until is not None and until < self.now for who, until in seats.values())
        }
        desk = ask(person)
        after = self.tables()
        room = max(0, self.quota.get(me, 100) - sum(me in grades for grades in after.standing.values()))
        sitting = {(pair, me) for pair in after.held_by(me)}
        self.seen = {one for one in self.seen if one[1] != me or one in sitting or me in after.standing.get(one[0], {})}
        self.promised = {one: until for one, until in self.promised.items() if one[1] != me or len(sitting) < room}
        self.seen -= {(pair, me) for pair in lapsed if me not in after.standing.get(pair, {})}  # taken up again
        if on_screen is not None:
            self.comes_on_screen(after, me, self.pair_of[on_screen])
        got = {self.pair_of[item.pair] for item in desk.items}
        leases = [
            until
            for seats in after.seats.values()
            for who, until in seats.values()
            if until is not None and (fewest == QUEUE or who == me)
        ]
        too_long = any(until > self.now + LEASE_S for until in leases)
        assert me in self.paused or not too_long, "a lease from before the clock was set back"
        assert len(got) == len(desk.items) <= QUEUE
        assert got == after.held_by(me)
        assert not (got and me in self.paused)
        assert not any(me in after.standing.get(pair, {}) or (pair, me) in after.skips for pair in got)
        assert desk.in_all == sum(me in grades for grades in after.standing.values())
        for pair, who in list(self.promised):
            if who == me and me not in after.standing.get(pair, {}):
                assert pair in got, "the seat was this person's, and is not on the desk"
        # What was there to be had (a grade handed in at the same moment only makes it less or more by its own pair).
        mine = {pair for pair, query in self.query_of.items() if query == self.only.get(me, query)}
        left = after.open_to(me, self.now) & mine
        assert min(fewest, room) <= len(got) <= room or not left or me in self.paused
        waiting = (after.wanted_from(me) & mine) - left
        beyond = after.wanted_from(me)
        if me in self.paused:
            assert (desk.state, desk.previous) == (DeskState.PAUSED, None)
        elif got:
            assert desk.state is DeskState.READY
            fresh = got - exchanged.held_by(me)
            assert fresh <= exchanged.open_to(me, self.now) | {
                p for p in fresh if len(after.seats[p]) != len(exchanged.seats[p])
            }
        elif room == 0 and (waiting or left):
            assert desk.state is DeskState.QUOTA
        elif waiting:
            assert (desk.state, desk.waiting) == (DeskState.WAITING, len(waiting))
        elif beyond and (me in self.only or me in self.quota):
            assert desk.state is DeskState.ASSIGNED
        else:
            assert desk.state is DeskState.FINISHED
        if desk.previous is not None:
            pair = self.pair_of[desk.previous.pair]
            assert after.standing[pair][me] == desk.previous.grade
        self.desks[self.people.index(person)] = tuple(item.pair for item in desk.items)
        # No lease is longer than one from now on: else the clock was set back.
        self.promised = {seat: min(until, self.now + LEASE_S - SLACK_S) for seat, until in self.promised.items()}
        if me not in self.quota:  # with one, what was promised may be beyond it by then
            self.promised |= {(pair, me): self.now + LEASE_S - SLACK_S for pair in got}

    def block(self, pair: int) -> None:
        self.blocked |= self.of_the_moment(pair)
        self.promised = {seat: until for seat, until in self.promised.items() if seat[0] not in self.blocked}

    def of_the_moment(self, pair: int) -> set[int]:
        return {other for other in self.pair_ids if self.moment_of[other] == self.moment_of[pair]}

    def tables(self) -> Tables:
        """The rows as they are; read anew only after something was written, by us or through another connection."""
        if self.in_a_file:
            written = (self.sql.total_changes, self.sql.execute("PRAGMA data_version").fetchone()[0])
        else:  # how long the server's log of changes is
            written = (0, str(self.sql.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]))
        if self.read is None or self.read[0] != written:
            self.read = written, self.read_anew()
        acts = {pair: [what for what, _ in done] for pair, done in self.acts.items()}
        return dataclasses.replace(self.read[1], acts=acts)

    def read_anew(self) -> Tables:
        seats: dict[int, dict[int, tuple[int | None, float | None]]] = defaultdict(dict)
        shown = set()
        for pair, n, who, until, at in self.sql.execute(
            "SELECT pair_id, seat_no, annotator_id, lease_until, shown_at FROM seat"
        ):
            seats[pair][n] = (who, until)
            shown |= {(pair, who)} if at is not None else set()
        judgements, standing, graded_at = [], defaultdict[int, dict[int, int]](dict), {}
        for pair, n, who, revision, grade, at in self.sql.execute(
            "SELECT pair_id, seat_no, annotator_id, revision, grade, graded_at FROM judgement ORDER BY judgement_id"
        ):
            judgements.append((pair, n, who, revision))
            standing[pair][who] = grade
            graded_at[pair, who] = at
        verdicts = {
            row[0]: tuple(row)[1:]
            for row in self.sql.execute("SELECT pair_id, verdict, relevance, mean FROM consensus")
        }
        moments = {row[0] for row in self.sql.execute("SELECT moment_id FROM clip_fault")}
        blocked = {pair for pair, moment in self.moment_of.items() if moment in moments}
        standing_skips = "SELECT pair_id, annotator_id FROM skip WHERE lifted_at IS NULL"
        skips = {tuple(row) for row in self.sql.execute(standing_skips)}
        reports = {tuple(row) for row in self.sql.execute(f"{standing_skips} AND kind = 'broken_clip'")}
        return Tables(seats, dict(standing), judgements, graded_at, shown, verdicts, blocked, skips, {}, reports)

    def everything(self) -> list[Any]:
        """Every row of every table that an act may change."""
        names = ("seat", "judgement", "consensus", "skip", "clip_fault", "adjudication", "ruling", "agenda", "event")
        return [sorted(map(repr, map(tuple, self.sql.execute(f"SELECT * FROM {name}")))) for name in names]


@pytest.mark.parametrize(
    "examples", [FEWER_EXAMPLES, pytest.param(EXAMPLES, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_no_order_of_acts_breaks_a_seat_a_grade_or_a_verdict(
    examples: dict[str, int], engine: str, beginning: Callable[[Path], Project], tmp_path: Path
) -> None:
    run_state_machine_as_test(
        lambda: Campaign(beginning, tmp_path),
        settings=settings(
            max_examples=int(os.environ.get("REELRANK_EXAMPLES", examples[engine])),
            stateful_step_count=40,
            deadline=None,
            derandomize="REELRANK_EXAMPLES" not in os.environ,
            print_blob=True,
            database=None,
            phases=(Phase.generate,),
        ),
    )


def test_two_in_the_rule_agree_with_the_paper() -> None:
    """The rule of this file against the worked examples of the annotation protocol."""
    assert by_the_rule([2, 3]) == ("consensus", 3, 2.5)
    assert by_the_rule([0, 2, 1, 4]) == ("consensus", 2, 1.5)
    assert by_the_rule([0, 4, 1, 3])[0] == "discarded"
    assert by_the_rule([0, 4, 1, 3], re_opened=True)[0] == "escalated"
