# ruff: noqa: E402
"""A writing process that is killed again and again: `crash_worker.py FOLDER KILLS SEED [CLUSTER]`, for test_crash.py.

The parent imports everything once and forks a child for each life. The child does what annotators and a lead do,
notes every event before it hands it in (`attempts`) and, on disk for good, after the receipt (`receipts`); as a
browser does, a new life first hands in again what has no receipt. The parent kills it (SIGKILL) while it writes, and
prints at the end what the child was doing at its deaths.

With the folder of a cluster of PostgreSQL's it is the database's server that is killed, and started anew, under one
child that goes on as a browser does: what has no receipt is handed in again.
"""

import json
import mmap
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from backend.store import connection
from backend.store.connection import Database, Lock, Store

OUTSIDE, OPEN, COMMITTING = 0, 1, 2
PATIENCE_S = 0.15
"""For how long to wait for a moment worth killing at."""
STARTED_S = 1.0
AWAY_S = 60.0
"""Sooner a front end is at work again after its database is back."""

watched = mmap.mmap(-1, mmap.PAGESIZE)
"""Shared by parent and child: where the child stands with its transaction, and the number of its act."""
_writing, _sharing = connection.writing, connection.sharing
T = TypeVar("T")


@contextmanager
def _watched_writing(store: Store) -> Iterator[Database]:
    """`writing`, telling the parent when a transaction opens, commits and is over."""
    outermost = not store.db.conn.in_transaction
    try:
        with _writing(store) as db:
            if outermost:
                watched[0] = OPEN
            yield db
            if outermost:
                watched[0] = COMMITTING
    finally:
        if outermost:
            watched[0] = OUTSIDE


def _watched_sharing(store: Store, locks: Sequence[Lock], act: Callable[[Database], T]) -> T:
    """`sharing`, telling the parent the same."""
    outermost = not store.db.conn.in_transaction

    def watched_act(db: Database) -> T:
        if outermost:
            watched[0] = OPEN
        done = act(db)
        if outermost:
            watched[0] = COMMITTING
        return done

    try:
        return _sharing(store, locks, watched_act)
    finally:
        if outermost:
            watched[0] = OUTSIDE


connection.writing, connection.sharing = _watched_writing, _watched_sharing  # before anything else takes them

from backend.campaign.desk import exchange
from backend.campaign.doctor.database import backup
from backend.campaign.judging import queue
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.judging.verdicts import rebuild_verdicts
from backend.campaign.nouns import (
    OPERATOR,
    Role,
)
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.model import ReviewList
from backend.campaign.review.queries import list_queries
from backend.campaign.review.status import pair_review, review_page
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import StoreUnavailable
from backend.core.ids import PairKey
from backend.store.engine import Connection
from postgres import Cluster

ACTS = {"grade": 60, "undo": 12, "skip": 5, "decide": 8, "open": 5, "back up": 4, "sign out": 3, "rebuild": 3}
ORDER = ("start", "send again", *ACTS)


class Life:
    """One child, from its start to its death."""

    def __init__(self, folder: Path, number: int, seed: int, *, patient: bool = False) -> None:
        watched[1] = ORDER.index("start")
        self.chance = random.Random(f"{seed}-{number}")
        self.folder, self.number, self.now = folder, number, 1_790_000_000.0 + 60 * number
        self.project = open_project(folder / "project")
        everybody = [row.person for row in list_people(self.project, OPERATOR)]
        self.lead = next(person for person in everybody if person.role is Role.LEAD)
        self.people = {person.name: person for person in everybody if person.role is Role.ANNOTATOR}
        self.attempts = os.open(folder / "attempts", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.receipts = os.open(folder / "receipts", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.last: dict[str, tuple[PairKey, int]] = {}
        self.events = 0
        self.patient = patient

    def run(self) -> None:
        """Work until somebody ends it."""
        with suppress(StoreUnavailable):  # its connection to a server gets to know the statements first
            exchange.desk(self.project, next(iter(self.people.values())), now=self.now)
        while True:
            try:
                self.send_again()
                self.act()
            except StoreUnavailable:
                if not self.patient:
                    raise

    def act(self) -> None:
        """One thing after the other."""
        while True:
            act = self.chance.choices(list(ACTS), list(ACTS.values()))[0]
            self.do(act)

    def do(self, act: str) -> None:
        """One of the acts, by anybody."""
        watched[1] = ORDER.index(act)
        getattr(self, act.replace(" ", "_"))(self.chance.choice(list(self.people)))

    def send_again(self) -> None:
        """Hand in everything without a receipt, under the key it had."""
        watched[1] = ORDER.index("send again")
        known = {line["key"] for line in lines(self.folder / "receipts")}
        for line in lines(self.folder / "attempts"):
            if line["key"] not in known and line["kind"] in ("grade", "skip"):
                self.hand_in(line["who"], line)

    def grade(self, who: str) -> None:
        desk = exchange.desk(self.project, self.people[who], now=self.now)
        for item in desk.items[:3]:
            grade = self.chance.choice((0, 1, 2, 2, 3, 3, 3))
            self.submit(kind="grade", who=who, pair=item.pair, value=grade)
            self.last[who] = item.pair, grade

    def undo(self, who: str) -> None:
        self.grade(who)
        if who in self.last:
            pair, grade = self.last[who]
            self.last[who] = pair, (grade + self.chance.choice((1, 2))) % 5
            self.submit(kind="grade", who=who, pair=pair, value=self.last[who][1])

    def skip(self, who: str) -> None:
        items = exchange.desk(self.project, self.people[who], now=self.now).items
        if items:
            self.submit(kind="skip", who=who, pair=items[0].pair, value=0)

    def decide(self, who: str) -> None:
        lists = (ReviewList.ESCALATED, ReviewList.DISCARDED, ReviewList.DECIDED)
        rows = [row for one in lists for row in review_page(self.project, OPERATOR, one, size=1000).rows]
        for row in self.chance.sample(rows, min(3, len(rows))):
            if (pair := pair_review(self.project, OPERATOR, row.pair)) is None:
                continue
            key = self.note_attempt(kind="decision", who=self.lead.name, pair=pair.pair, value=2)
            adjudicate(self.project, self.lead, pair.pair, 2, key, seen=len(pair.acts), now=self.now)
            self.note_receipt(key, "saved")

    def open(self, who: str) -> None:
        ready = [query.query_id for query in list_queries(self.project, OPERATOR) if query.more_candidates]
        if ready:
            query = self.chance.choice(ready)
            key = self.note_attempt(kind="batch", who=self.lead.name, pair=str(query), value=2)
            open_batch(self.project, self.lead, query, now=self.now)
            self.note_receipt(key, "saved")

    def back_up(self, who: str) -> None:
        backup(self.project, self.folder / f"backup-{self.number}-{self.events}.db")
        self.events += 1

    def sign_out(self, who: str) -> None:
        queue.sign_off(self.project.store, self.people[who], now=self.now)

    def rebuild(self, who: str) -> None:
        rebuild_verdicts(self.project.store)

    def submit(self, **event: object) -> None:
        key = self.note_attempt(**event)
        self.hand_in(str(event["who"]), event | {"key": key})

    def hand_in(self, who: str, event: dict[str, object]) -> None:
        pair, key = PairKey(str(event["pair"])), str(event["key"])
        grades = [GradeEvent(pair, int(str(event["value"])), key, 1000)] if event["kind"] == "grade" else []
        skips = [] if grades else [SkipEvent(pair, SkipKind.CANNOT_JUDGE, "dark", key)]
        receipts, _ = exchange.exchange(self.project, self.people[who], grades, skips, now=self.now)
        for receipt in receipts:
            self.note_receipt(receipt.key, receipt.status.value)

    def note_attempt(self, **event: object) -> str:
        key = f"{self.number}-{self.events}"
        self.events += 1
        os.write(self.attempts, json.dumps(event | {"key": key}).encode() + b"\n")
        return key

    def note_receipt(self, key: str, status: str) -> None:
        os.write(self.receipts, json.dumps({"key": key, "status": status}).encode() + b"\n")
        os.fsync(self.receipts)


def lines(file: Path) -> list[dict[str, object]]:
    """What was noted; the last line may be half of one."""
    return [json.loads(line) for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def live(folder: Path, number: int, seed: int, *, patient: bool = False) -> int:
    """Fork a child that works until it is killed; its process id."""
    watched[0] = OUTSIDE
    child = os.fork()
    if child == 0:
        try:
            Life(folder, number, seed, patient=patient).run()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)  # it ends by itself only after an error
    return child


def take_aim(chance: random.Random) -> None:
    """Wait for a random moment to kill at: any, or in the middle of writing, or in the middle of a named act."""
    time.sleep(chance.uniform(0.02, 0.06))
    aim = chance.choice(("any", "write", "write", *ACTS))
    if aim == "any":
        return
    wait_until(lambda: watched[1] != ORDER.index("start"), STARTED_S, nap_s=0.001)
    if aim in ACTS:
        wait_until(lambda: watched[1] == ORDER.index(aim), PATIENCE_S, nap_s=0.0001)
    if aim != "back up":  # it opens no transaction
        wait_until(lambda: watched[0] != OUTSIDE, PATIENCE_S)
    wait_until(lambda: False, chance.choice((0, chance.uniform(0, 0.0005), chance.uniform(0, 0.005))))


def wait_until(there: Callable[[], bool], seconds: float, nap_s: float = 0) -> None:
    """An act takes milliseconds. A transaction is over sooner than a sleeper wakes up, so nobody sleeps for it."""
    deadline = time.perf_counter() + seconds
    while not there() and time.perf_counter() < deadline:
        if nap_s:
            time.sleep(nap_s)


def check(folder: Path) -> None:
    """The database is intact, and holds what has a receipt."""
    with closing(open_project(folder / "project").store) as store:
        assert not store.damaged_pages()
        assert not lost(folder, store.db.conn)


def lost(folder: Path, sql: Connection) -> set[object]:
    """Keys with the receipt "saved" that are in no table."""
    there = {row[0] for row in sql.execute("SELECT event_key FROM judgement UNION ALL SELECT event_key FROM skip")}
    there |= {row[0] for row in sql.execute("SELECT reason FROM adjudication")}
    batches = {line["key"] for line in lines(folder / "attempts") if line["kind"] == "batch"}
    return {line["key"] for line in lines(folder / "receipts") if line["status"] == "saved"} - there - batches


def kill_front_ends(folder: Path, kills: int, seed: int) -> Iterator[tuple[int, int]]:
    """One life after the other; what `watched` said at each death."""
    chance = random.Random(seed)
    for number in range(kills):
        child = live(folder, number, seed)
        take_aim(chance)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"life {number} ended by itself"
        yield watched[0], watched[1]


def kill_databases(folder: Path, kills: int, seed: int, cluster: Cluster) -> Iterator[tuple[int, int]]:
    """One life whose database goes away, and comes back, again and again; what `watched` said when it went."""
    chance = random.Random(seed)
    child = live(folder, 0, seed, patient=True)

    def told() -> int:
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the front end ended by itself"
        return (folder / "receipts").stat().st_size

    for _ in range(kills):
        before = told()
        wait_until(lambda: told() > before, AWAY_S, nap_s=0.01)  # noqa: B023
        assert told() > before, "the front end did not come back to work"
        take_aim(chance)
        stood = watched[0], watched[1]
        cluster.kill()
        yield stood
        cluster.start()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main(folder: Path, kills: int, seed: int, cluster: Cluster | None) -> None:
    first = Life(folder, kills, seed)
    for act in ACTS:  # so that what is remembered of statements is there in every life
        first.do(act)
    first.project.store.close()
    stood: Counter[str] = Counter()
    acts: Counter[str] = Counter()
    deaths = kill_databases(folder, kills, seed, cluster) if cluster else kill_front_ends(folder, kills, seed)
    for number, (where, what) in enumerate(deaths):
        stood[("outside", "open", "committing")[where]] += 1
        acts[ORDER[what]] += 1
        if number % 20 == 19 and not cluster:
            check(folder)
    Life(folder, kills + 1, seed).send_again()
    check(folder)
    print(json.dumps({"stood": stood, "acts": acts}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Cluster(Path(sys.argv[4])) if sys.argv[4:] else None)
