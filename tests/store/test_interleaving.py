"""Two people whose acts are taken apart into statements, and put together in every order that the locks allow.

Each person works in a thread of their own, which stops before each statement until it is told to go on. A statement
that waits for a lock lets the other person go on. So one schedule, a list of 0 and 1, is one order of statements, and
the same each time. On SQLite the whole file is one lock.
"""

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import psycopg
import pytest

from backend.campaign.desk import exchange
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging import queue
from backend.campaign.judging.model import Assignment, GradeEvent, Receipt, SkipEvent, SkipKind
from backend.campaign.judging.staffing import assign, pause_person, unpause_person
from backend.core.ids import PairKey
from backend.store import shared_writing, sqlite
from backend.store.postgresql import PostgresConnection, PostgresStore
from postgres import ENGINES
from support import NOW, Judging, sit

PATIENCE_S = 60.0
BLOCKED = """
  SELECT count(DISTINCT l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE NOT l.granted AND a.datname = current_database()
"""
SCHEDULES = 6
"""How many orders of two acts are tried, beside those in which one comes after the other."""

Act = Callable[[], Any]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Either."""
    return str(request.param)


class Stepper:
    """Lets one thread at a time run, from one of its statements to the next."""

    def __init__(self, blocked: Callable[[], int]) -> None:
        self._blocked = blocked
        self._changed = threading.Condition()
        self._turn: int | None = None
        self._own = threading.local()
        self._at_gate: set[int] = set()
        self._over: set[int] = set()
        self.steps = 0

    def gate(self) -> None:
        """Wait for this thread's turn; called before each statement."""
        me = getattr(self._own, "number", None)
        if me is None:
            return
        with self._changed:
            self._at_gate.add(me)
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._turn == me, PATIENCE_S)
            self._turn = None
            self._at_gate.discard(me)
            self._changed.notify_all()
            self.steps += 1

    def run(self, acts: Sequence[Act], schedule: Iterator[int]) -> list[Any]:
        """Run these acts in the order that the schedule gives, and return their results."""
        results: list[Any] = [None] * len(acts)
        self._at_gate, self._over = set(), set()

        def work(number: int) -> None:
            self._own.number = number
            try:
                results[number] = acts[number]()
            except BaseException as error:
                results[number] = error
            with self._changed:
                self._over.add(number)
                self._changed.notify_all()

        threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(acts))]
        for thread in threads:
            thread.start()
        everybody = set(range(len(acts)))
        deadline = time.monotonic() + PATIENCE_S
        while self._over != everybody:
            assert time.monotonic() < deadline, "nobody can go on"
            ready = self._settled(everybody)
            if not ready:
                continue
            wanted = next(schedule)
            chosen = wanted if wanted in ready else min(ready)
            with self._changed:
                self._turn = chosen
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._turn is None, PATIENCE_S)
        for thread in threads:
            thread.join(PATIENCE_S)
        return results

    def _settled(self, everybody: set[int]) -> set[int]:
        """Wait until nobody runs: each stands before a statement, waits for a lock, or is through; who may go on."""
        while True:
            with self._changed:
                running = everybody - self._at_gate - self._over
                if not running:
                    return set(self._at_gate)
            # Whoever waits for a lock does so until somebody else goes on. If all do, the server ends one.
            if self._at_gate and self._blocked() == len(running):
                with self._changed:
                    if everybody - self._at_gate - self._over == running:
                        return set(self._at_gate)
            time.sleep(0.0005)


class Turn:
    """The lock of a file, which whoever waits gets next, and which knows how many wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: list[int] = []
        """Who has it, and who waits."""

    @property
    def waiting(self) -> int:
        return max(0, len(self._queue) - 1)

    def acquire(self, timeout: float) -> bool:
        me = threading.get_ident()
        with self._changed:
            self._queue.append(me)
            return self._changed.wait_for(lambda: self._queue[0] == me, timeout)

    def release(self) -> None:
        with self._changed:
            self._queue.pop(0)
            self._changed.notify_all()


@pytest.fixture
def stepper(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stepper]:
    """Stops before each statement of either engine."""
    store = judging.project.store
    with ExitStack() as opened:
        if isinstance(store, PostgresStore):
            watcher = opened.enter_context(psycopg.connect(store.address, autocommit=True))
            made = Stepper(lambda: int(watcher.execute(BLOCKED).fetchall()[0][0]))
            places = [
                (shared_writing.StatementQueue, "flush"),
                (shared_writing, "fetch_together"),
                (PostgresConnection, "execute"),
            ]
        else:
            turn = Turn()
            monkeypatch.setattr(store, "_turn", turn)
            made, places = Stepper(lambda: turn.waiting), [(sqlite._Connection, "execute")]
        for owner, name in places:
            monkeypatch.setattr(owner, name, stepped(made, getattr(owner, name)))
        yield made


def stepped(stepper: Stepper, inner: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which waits for its thread's turn first."""

    def call(*args: Any, **named: Any) -> Any:
        stepper.gate()
        return inner(*args, **named)

    return call


def schedules() -> list[Iterator[int]]:
    """One after the other, either way; in turn; and at random."""

    def at_random(seed: int) -> Iterator[int]:
        chance = random.Random(seed)
        return (chance.randrange(2) for _ in itertools.count())

    return [itertools.repeat(0), itertools.repeat(1), itertools.cycle((0, 1)), *map(at_random, range(SCHEDULES))]


def open_pairs(judging: Judging) -> list[PairKey]:
    """All pairs, in a fixed order; a test takes new ones for each schedule."""
    rows = judging.project.store.db.conn.execute("SELECT pair_key FROM pair ORDER BY pair_id").fetchall()
    return [PairKey(row[0]) for row in rows]


def grade(judging: Judging, who: int, pair: PairKey, value: int, key: str, at: float = NOW) -> Receipt:
    """What one key press brings; the desk follows, as in a browser."""
    event = GradeEvent(pair, value, key, 900, 2_000)
    receipts, _ = exchange.exchange(judging.project, judging.annotators[who], [event], [], now=at, window="one")
    return receipts[0]


def sound(judging: Judging) -> None:
    """Whatever follows from grades and seats is stored as it follows (the doctor computes all of it anew)."""
    assert doctor(judging.project, now=NOW).findings == ()


def test_two_people_who_grade_one_pair_settle_it_once(judging: Judging, stepper: Stepper) -> None:
    sql, pairs = judging.project.store.db.conn, iter(open_pairs(judging))
    for number, schedule in enumerate(schedules()):
        pair, values = next(pairs), ((4, 0) if number % 2 else (4, 3))
        for who in (0, 1):
            sit(judging.project, judging.annotators[who], [pair], now=NOW)
        acts = [partial(grade, judging, who, pair, values[who], f"{number}-{who}") for who in (0, 1)]
        assert [receipt.status for receipt in stepper.run(acts, schedule)] == ["saved", "saved"]
        of_pair = "WHERE pair_id = (SELECT pair_id FROM pair WHERE pair_key = ?)"
        given = sql.execute(f"SELECT grade FROM judgement {of_pair} ORDER BY grade", [pair]).fetchall()
        assert [row[0] for row in given] == sorted(values)
        stored = sql.execute(f"SELECT verdict, relevance FROM consensus {of_pair}", [pair]).fetchone()
        seats = sql.execute(f"SELECT count(*) FROM seat {of_pair}", [pair]).fetchone()[0]
        # The mean of 4 and 3 is 3.5, half up 4; 4 and 0 are a dispute, which opens two further seats.
        assert (tuple(stored), seats) == ((("escalated", None), 4) if number % 2 else (("consensus", 4), 2))
    sound(judging)


def test_two_people_never_get_one_seat(judging: Judging, stepper: Stepper) -> None:
    project = judging.project
    sql = project.store.db.conn
    for number, schedule in enumerate(schedules()):
        at = NOW + number
        acts = [partial(exchange.desk, project, judging.annotators[who], now=at) for who in (0, 1)]
        desks = [{item.pair for item in desk.items} for desk in stepper.run(acts, schedule)]
        assert [len(desk) for desk in desks] == [7, 7]
        held = sql.execute(
            "SELECT annotator_id, pair_key FROM seat JOIN pair USING (pair_id) WHERE lease_until >= ?", [at]
        ).fetchall()
        for who in (0, 1):
            me = judging.annotators[who].annotator_id
            assert sorted(row[1] for row in held if row[0] == me) == sorted(desks[who])
            queue.sign_off(project.store, judging.annotators[who], now=at)
    sound(judging)


def test_the_last_seat_goes_to_one(judging: Judging, stepper: Stepper) -> None:
    project = judging.project
    *others, last = open_pairs(judging)
    for nth, pair in enumerate(others):
        for who in (2, 3):
            sit(project, judging.annotators[who], [pair], now=NOW)
            assert grade(judging, who, pair, 3, f"{nth} {who}").status == "saved"
    for person in judging.annotators[2:]:
        queue.sign_off(project.store, person, now=NOW)
    sit(project, judging.annotators[2], [last], now=NOW)
    grade(judging, 2, last, 3, "the first one")
    for number, schedule in enumerate(schedules()):
        acts = [partial(exchange.desk, project, judging.annotators[who], now=NOW + number) for who in (0, 1)]
        desks = [[item.pair for item in desk.items] for desk in stepper.run(acts, schedule)]
        assert sorted(map(len, desks)) == [0, 1]
        for person in judging.annotators[:2]:
            queue.sign_off(project.store, person, now=NOW)
    sound(judging)


def test_one_key_press_from_two_windows_counts_once(judging: Judging, stepper: Stepper) -> None:
    sql, pairs = judging.project.store.db.conn, iter(open_pairs(judging))
    for number, schedule in enumerate(schedules()):
        pair = next(pairs)
        sit(judging.project, judging.annotators[0], [pair], now=NOW)
        keys = ["same", "same"] if number % 2 else ["one", "another"]
        acts = [partial(grade, judging, 0, pair, 2 + nth, f"{number} {key}") for nth, key in enumerate(keys)]
        assert [receipt.status for receipt in stepper.run(acts, schedule)] == ["saved", "saved"]
        rows = sql.execute(
            "SELECT revision FROM judgement JOIN pair USING (pair_id) WHERE pair_key = ? ORDER BY 1", [pair]
        ).fetchall()
        assert [row[0] for row in rows] == ([1] if number % 2 else [1, 2])
    sound(judging)


def test_a_key_press_belongs_to_one_of_two_people(judging: Judging, stepper: Stepper) -> None:
    pairs = iter(open_pairs(judging))
    for number, schedule in enumerate(schedules()):
        taken = [next(pairs), next(pairs)]
        for who in (0, 1):
            sit(judging.project, judging.annotators[who], [taken[who]], now=NOW)
        acts = [partial(grade, judging, who, taken[who], 3, f"stolen {number}") for who in (0, 1)]
        assert sorted(receipt.status for receipt in stepper.run(acts, schedule)) == ["refused", "saved"]
    sound(judging)


def test_a_quota_holds_for_grades_from_two_windows(judging: Judging, stepper: Stepper) -> None:
    project, me = judging.project, judging.annotators[0]
    sql = project.store.db.conn
    of_two = [
        [PairKey(row[0]) for row in sql.execute("SELECT pair_key FROM pair WHERE batch_id = ? ORDER BY 1", [batch])]
        for (batch,) in sql.execute("SELECT batch_id FROM batch ORDER BY batch_id LIMIT 2").fetchall()
    ]
    for number, schedule in enumerate(schedules()):
        assign(project, judging.lead, [me.annotator_id], Assignment(in_all=number + 1), now=NOW)
        pairs = [keys[number] for keys in of_two]
        sit(project, me, pairs, now=NOW)
        acts = [partial(grade, judging, 0, pair, 3, pair) for pair in pairs]
        assert sorted(receipt.status for receipt in stepper.run(acts, schedule)) == ["refused", "saved"]
    sound(judging)


def test_a_correction_and_a_third_person_who_looks_exclude_each_other(judging: Judging, stepper: Stepper) -> None:
    project = judging.project
    sql, pairs, met = project.store.db.conn, iter(open_pairs(judging)), set()
    for number, schedule in enumerate(schedules()):
        pair = next(pairs)
        for who, value in ((0, 0), (1, 4)):
            sit(project, judging.annotators[who], [pair], now=NOW)
            assert grade(judging, who, pair, value, f"{number} {who}").status == "saved"
        sit(project, judging.annotators[2], [pair], now=NOW)
        acts = [
            partial(grade, judging, 1, pair, 1, f"{number} corrected"),
            partial(exchange.shown, project, judging.annotators[2], pair, now=NOW),
        ]
        receipt, _ = stepper.run(acts, schedule)
        third = sql.execute(
            "SELECT shown_at FROM seat JOIN pair USING (pair_id) WHERE pair_key = ? AND seat_no = 3", [pair]
        ).fetchone()
        if receipt.status == "saved":
            assert third is None
        else:
            assert third is not None
            assert third[0] == NOW
        met.add(receipt.status)
    assert met == {"saved", "refused"}
    sound(judging)


def skip(judging: Judging, who: int, pair: PairKey, key: str) -> Receipt:
    """What the desk's button brings; the desk follows."""
    event = SkipEvent(pair, SkipKind.CANNOT_JUDGE, "too dark", key)
    receipts, _ = exchange.exchange(judging.project, judging.annotators[who], [], [event], now=NOW, window="two")
    return receipts[0]


def test_a_pair_is_graded_or_skipped_by_one_person_never_both(judging: Judging, stepper: Stepper) -> None:
    sql, pairs = judging.project.store.db.conn, iter(open_pairs(judging))
    for number, schedule in enumerate(schedules()):
        pair = next(pairs)
        sit(judging.project, judging.annotators[0], [pair], now=NOW)
        acts = [
            partial(grade, judging, 0, pair, 3, f"{number} g"),
            partial(skip, judging, 0, pair, f"{number} s"),
        ]
        graded, skipped = (receipt.status == "saved" for receipt in stepper.run(acts, schedule))
        assert graded != skipped
        for table, is_there in (("judgement", graded), ("skip", skipped)):
            rows = sql.execute(f"SELECT 1 FROM {table} JOIN pair USING (pair_id) WHERE pair_key = ?", [pair]).fetchall()
            assert len(rows) == is_there
    sound(judging)


def test_a_pair_that_two_people_skip_is_free_again_and_stops_neither(judging: Judging, stepper: Stepper) -> None:
    project, pairs = judging.project, iter(open_pairs(judging))
    for number, schedule in enumerate(schedules()):
        pair = next(pairs)
        for who in (0, 1):
            sit(project, judging.annotators[who], [pair], now=NOW)
        acts = [partial(skip, judging, who, pair, f"{number} {who}") for who in (0, 1)]
        assert [receipt.status for receipt in stepper.run(acts, schedule)] == ["saved", "saved"]
        held = "SELECT count(*) FROM seat JOIN pair USING (pair_id) WHERE pair_key = ? AND annotator_id IS NOT NULL"
        assert project.store.db.conn.execute(held, [pair]).fetchone()[0] == 0
    sound(judging)


def test_whoever_is_being_paused_keeps_no_pair(judging: Judging, stepper: Stepper) -> None:
    project, me = judging.project, judging.annotators[0]
    sql = project.store.db.conn
    for number, schedule in enumerate(schedules()):
        acts: list[Act] = [
            partial(exchange.desk, project, me, now=NOW + number),
            partial(pause_person, project, judging.lead, me.annotator_id, "a break", now=NOW + number),
        ]
        assert not [result for result in stepper.run(acts, schedule) if isinstance(result, Exception)]
        assert sql.execute("SELECT count(*) FROM seat WHERE annotator_id IS NOT NULL").fetchone()[0] == 0
        unpause_person(project, judging.lead, me.annotator_id, now=NOW + number)
    sound(judging)
