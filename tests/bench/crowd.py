"""Simulated annotators at work on one project, as threads of one process: that is how the server works."""

import dataclasses
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

from backend.campaign.desk import exchange
from backend.campaign.judging.model import Desk, DeskState, GradeEvent, ReceiptStatus
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project, open_project
from bench import campaign
from bench.tables import peak_memory_mb


@dataclasses.dataclass
class Load:
    """What one setting gave."""

    seconds: list[float]
    errors: list[str]
    refused: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    over_assigned: int
    ran_dry: int


def grade_and_next(project: Project, person: Person, event: GradeEvent, now: float) -> tuple[bool, Desk]:
    """What one key press costs the store: the grade, and the desk with the next pairs."""
    receipts, desk = exchange.exchange(project, person, [event], [], now=now)
    return receipts[0].status is ReceiptStatus.SAVED, desk


def likely_grade(pair: str, chance: random.Random) -> int:
    """A grade such that people mostly agree: one pair in eight or so needs four of them."""
    return min(4, max(0, random.Random(pair).randrange(5) + chance.choices((-1, 0, 1), (1, 3, 1))[0]))


def over_assigned(project: Project) -> int:
    """Pairs with more grades than the rule asks for, among those that were fresh when the bench began."""
    count: int = project.store.db.conn.execute(
        "SELECT count(*) FROM (SELECT j.pair_id, count(DISTINCT j.annotator_id) AS people, (SELECT max(t.grade) - "
        "  min(t.grade) FROM standing t WHERE t.pair_id = j.pair_id AND t.seat_no <= 2) AS apart FROM judgement j "
        "  GROUP BY j.pair_id HAVING min(j.event_key NOT LIKE 'made-%')) "
        "WHERE people > CASE WHEN apart > 1 THEN 4 ELSE 2 END"
    ).fetchone()[0]
    return count


Beside = Callable[[Project, threading.Event], None]
"""What goes on in a thread of its own until the event is set."""


def simulate(folder: Path, annotators: int, think_s: float, lasts_s: float, beside: Beside | None = None) -> Load:
    """Let annotators loose on a project, all at once, until time is up or nothing is left. Runs in its own process."""
    project = open_project(folder)
    people = campaign.add_annotators(project, annotators, "simulated")
    taken: list[list[float]] = [[] for _ in people]
    errors: list[str] = []
    refused = [0] * annotators
    ran_dry = [0] * annotators
    ready = threading.Barrier(annotators + 1)
    over = threading.Event()

    def work(n: int) -> None:
        chance = random.Random(n)
        ready.wait()
        over.wait(chance.uniform(0, think_s))  # nobody starts in the same instant
        try:
            desk = exchange.desk(project, people[n], now=time.time())
            while not over.is_set():
                if not desk.items:
                    ran_dry[n] = 1
                    if over.wait(max(think_s, 0.05)) or desk.state is DeskState.FINISHED:
                        break
                    desk = exchange.desk(project, people[n], now=time.time())
                    continue
                if think_s and over.wait(chance.expovariate(1 / think_s)):
                    break
                key = desk.items[0].pair
                event = GradeEvent(key, likely_grade(key, chance), f"{n}-{key}-{len(taken[n])}", 3000)
                begun = time.perf_counter()
                saved, desk = grade_and_next(project, people[n], event, time.time())
                taken[n].append(time.perf_counter() - begun)
                refused[n] += not saved
        except Exception as error:  # whatever it is, it is what the bench looks for
            errors.append(repr(error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(annotators)]
    others = [] if beside is None else [threading.Thread(target=beside, args=(project, over))]
    for thread in others:
        thread.start()
    for thread in threads:
        thread.start()
    ready.wait()
    begun, cpu = time.perf_counter(), time.process_time()
    threading.Timer(lasts_s, over.set).start()
    for thread in threads:
        thread.join()
    wall_s, cpu_s = time.perf_counter() - begun, time.process_time() - cpu
    over.set()
    for thread in others:
        thread.join()
    return Load(
        seconds=[second for own in taken for second in own],
        errors=errors,
        refused=sum(refused),
        wall_s=wall_s,
        cpu_s=cpu_s,
        peak_mb=peak_memory_mb(),
        over_assigned=over_assigned(project),
        ran_dry=sum(ran_dry),
    )
