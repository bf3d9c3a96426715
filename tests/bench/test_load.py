"""The store under the load of a real campaign: `make bench` prints the tables of docs/performance.md.

Annotators are threads of one process, because that is how the server works; each setting runs in a process of its own,
so that memory and CPU time belong to it alone (the making of the grades included). Never fails on a time.
"""

import shutil
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from annotate_app.server import job_functions, jobs
from backend.campaign.desk import exchange
from backend.campaign.doctor.database import backup
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging import queue, verdicts
from backend.campaign.judging.model import GradeEvent
from backend.campaign.monitoring.progress.inbox import waits
from backend.campaign.monitoring.progress.progress import progress, stuck, work_version
from backend.campaign.monitoring.quality.agreement_board import agreement_board, agreement_version, other_relevances
from backend.campaign.monitoring.quality.model import WHOLE
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.model import ReviewList
from backend.campaign.review.queries import list_queries
from backend.campaign.review.status import (
    pair_review,
    review_counts,
    review_page,
    status_counts,
)
from backend.campaign.setup.people import accounts
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.model import JobKind
from bench import campaign
from bench.crowd import Load, grade_and_next, simulate
from bench.tables import sized, table

pytestmark = pytest.mark.bench

THINK_S = 2.0
LASTS_S = sized(8.0, 60.0)
NOW = campaign.STARTED + 1_000_000
LABEL_STUDIO = {
    "median": "1,000 ms",
    "p95": "3,200-4,600 ms",
    "CPU a grade": "78-131 ms",
    "pairs with too many seats": "13-27 %",
    "errors": '1,421 "database is locked"',
    "peak memory": "353 MB",
}
"""Label Studio Community 1.23.2 on SQLite, two quiet cores, 25 users, think time 2 s: next and submit together."""


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f} ms"


def p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)]


def alone(work: Callable[..., Load], *args: object) -> Load:
    """Run in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *args).result()


@pytest.fixture(scope="module")
def rows() -> campaign.Rows:
    """What the campaign is judged with."""
    return campaign.rows_to_judge()


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with everything judged and 4,000 fresh pairs. Copy it before changing it."""
    return campaign.full_folder(tmp_path_factory.getbasetemp())


@pytest.fixture
def copied(full: Path, tmp_path: Path) -> Path:
    """The full project, to be changed."""
    return Path(shutil.copytree(full, tmp_path / "copied"))


SETTINGS = [(25, THINK_S), (100, THINK_S), (1, 0.0), (25, 0.0), (100, 0.0)]


def test_annotators_at_once(full: Path, tmp_path: Path) -> None:
    found = []
    for annotators, think_s in SETTINGS:
        folder = Path(shutil.copytree(full, tmp_path / f"{annotators}-{think_s}"))
        found.append(alone(simulate, folder, annotators, think_s, LASTS_S if think_s else LASTS_S / 3))
        shutil.rmtree(folder)
    megabytes = (full / "reelrank.db").stat().st_size / 1e6
    lines: list[tuple[str, str, Callable[[Load], str]]] = [
        ("grades", "", lambda load: f"{len(load.seconds):,}"),
        ("grades a second", "", lambda load: f"{len(load.seconds) / load.wall_s:.0f}"),
        ("grade + next pair, median", "median", lambda load: milliseconds(statistics.median(load.seconds))),
        ("p95", "p95", lambda load: milliseconds(p95(load.seconds))),
        ("longest", "", lambda load: milliseconds(max(load.seconds))),
        ("CPU a grade", "CPU a grade", lambda load: milliseconds(load.cpu_s / len(load.seconds))),
        ("peak memory", "peak memory", lambda load: f"{load.peak_mb:.0f} MB"),
        ("pairs with too many grades", "pairs with too many seats", lambda load: str(load.over_assigned)),
        ("grades refused", "", lambda load: str(load.refused)),
        ("errors", "errors", lambda load: f"{len(load.errors)} {load.errors[:1] or ''}".strip()),
        ("annotators who ran out of work", "", lambda load: str(load.ran_dry)),
    ]
    think = [
        f"{annotators}, {f'think time {think_s:.0f} s' if think_s else 'full speed'}"
        for annotators, think_s in SETTINGS
    ]
    table(
        f"Annotators at once; 100,483 pairs, 227,808 judgements there already, database {megabytes:.0f} MB",
        [[what, *map(say, found), LABEL_STUDIO.get(peer, "")] for what, peer, say in lines],
        ("sqlite-utils",),
        "|".join(["annotators", *think, "Label Studio, 25, 2 s"]),
    )
    assert not any(load.errors or load.over_assigned or load.refused for load in found)


def looked_for(project: Project, person: Person, batches: int) -> tuple[list[float], list[float]]:
    """Seconds of grade + next pair: (inside a batch, when a new batch had to be found)."""
    inside, across = [], []
    desk = exchange.desk(project, person, now=NOW)
    seen = {item.query for item in desk.items}
    while len(across) < batches and desk.items:
        event = GradeEvent(desk.items[0].pair, 3, f"{person.name}-{desk.items[0].pair}", 3000)
        begun = time.perf_counter()
        _, desk = grade_and_next(project, person, event, NOW)
        took = time.perf_counter() - begun
        queries = {item.query for item in desk.items}
        (inside if queries <= seen else across).append(took)
        seen |= queries
    return inside, across


def first_desks(project: Project, people: list[Person]) -> list[float]:
    """Seconds until each of these people, who come in anew, has a desk; they leave again."""
    took = []
    for person in people:
        begun = time.perf_counter()
        exchange.desk(project, person, now=NOW)
        took.append(time.perf_counter() - begun)
        queue.sign_off(project.store, person, now=NOW)
    return took


def test_next_pair_at_any_size(tmp_path: Path) -> None:
    lines = []
    for pairs in (1_000, 10_000, 100_000):
        project = campaign.open_project(tmp_path / str(pairs), pairs)
        newcomers, (steady,) = (
            campaign.add_annotators(project, 50, "newcomer"),
            campaign.add_annotators(project, 1, "steady"),
        )
        desks = first_desks(project, newcomers)
        inside, across = looked_for(project, steady, 25)
        lines.append([f"{pairs:,}"])
        for seconds in (desks, inside, across):
            lines[-1].append(f"{milliseconds(statistics.median(seconds))} / {milliseconds(p95(seconds))}")
        shutil.rmtree(project.folder)
    table(
        "Finding the next pair, median / p95, one person at a time",
        lines,
        ("sqlite-utils",),
        "open pairs|first desk of a newcomer|grade + next in a batch|grade + first of a new batch",
    )


def test_next_pair_of_one_who_did_everything_alone(tmp_path: Path) -> None:
    done, left = sized((1_000, 250), (4_000, 1_000))
    project, person = campaign.lone_worker_project(tmp_path / "lone", done, left)
    desks = first_desks(project, [person] * 20)
    inside, across = looked_for(project, person, 10)
    finished, nobody = campaign.lone_worker_project(tmp_path / "finished", done, 0)
    nothing = first_desks(finished, [nobody] * 20)
    table(
        f"One person has graded {done:,} batches alone, which now come first for everybody else",
        [
            [what, milliseconds(statistics.median(seconds)), milliseconds(p95(seconds))]
            for what, seconds in (
                (f"a desk, {left:,} batches left", desks),
                ("grade + next in a batch", inside),
                ("grade + first of a new batch", across),
                ("a desk, nothing left", nothing),
            )
        ],
        ("sqlite-utils",),
        "what|median|p95",
    )


def disagreements(project: Project) -> None:
    """What the page Disputes asks for."""
    review_counts(project, OPERATOR)
    first, *_ = review_page(project, OPERATOR, ReviewList.TO_DECIDE).rows
    pair_review(project, OPERATOR, first.pair)


def test_whole_project(copied: Path, rows: campaign.Rows, tmp_path: Path) -> None:
    project = open_project(copied)

    def timed(work: Callable[[], object]) -> str:
        begun = time.perf_counter()
        work()
        return f"{time.perf_counter() - begun:.2f} s"

    lines = [
        ["open the project", timed(lambda: open_project(copied))],
        ["status counts", timed(lambda: status_counts(project, OPERATOR))],
        ["status counts again", timed(lambda: status_counts(project, OPERATOR))],
        ["progress, with forecast", timed(lambda: progress(project, OPERATOR, now=NOW))],
        ["what is stuck", timed(lambda: stuck(project, OPERATOR))],
        ["what waits for a lead", timed(lambda: waits(project, OPERATOR))],
        ["whether anything has changed", timed(lambda: work_version(project, OPERATOR))],
        ["the lead's queries", timed(lambda: list_queries(project, OPERATOR))],
        ["the lead's disagreements", timed(lambda: disagreements(project))],
        ["consensus made anew", timed(lambda: verdicts.rebuild_verdicts(project.store))],
        ["backup", timed(lambda: backup(project, tmp_path / "backup.db"))],
        ["doctor", timed(lambda: doctor(project, now=NOW))],
    ]
    raw, pairs = tmp_path / "raw.csv", tmp_path / "pairs.csv"
    campaign.write_raw(rows, raw)
    campaign.write_pairs(rows, pairs)
    lines.append(
        ["import of 227,808 judgements, pair numbers alone", timed(lambda: campaign.take_in(tmp_path / "a", raw, None))]
    )
    lines.append(["the same with --pairs", timed(lambda: campaign.take_in(tmp_path / "b", raw, pairs))])
    table("100,483 pairs, 227,808 judgements", lines, ("sqlite-utils",), "what|once")


def boards_without_end(project: Project, over: threading.Event) -> None:
    """A lead who opens the agreement board again as soon as it is there, intervals and all."""
    lead = accounts.add(project.store, OPERATOR, "A lead who looks", Role.LEAD, now=NOW)
    compute = job_functions.agreement_intervals
    while not over.is_set():
        agreement_board(project, OPERATOR, resamples=0)
        computed = jobs.begin(project, lead, JobKind.INTERVALS, "", "Intervals", compute, WHOLE, now=time.time())
        if computed is not None:
            computed.result()


def test_the_agreement_board(full: Path, tmp_path: Path) -> None:
    project = open_project(Path(shutil.copytree(full, tmp_path / "board")))

    def timed(work: Callable[[], object]) -> str:
        work()
        begun = time.perf_counter()
        work()
        return f"{time.perf_counter() - begun:.2f} s"

    table(
        "The agreement board over 227,808 judgements",
        [
            ["figures", timed(lambda: agreement_board(project, OPERATOR, resamples=0))],
            ["with intervals", timed(lambda: agreement_board(project, OPERATOR))],
            ["is it still the same", timed(lambda: agreement_version(project, OPERATOR))],
            ["mean, median, Dawid-Skene", timed(lambda: other_relevances(project, OPERATOR))],
        ],
        ("sqlite-utils",),
        "what|once",
    )
    project.store.close()
    found = []
    for beside in (None, boards_without_end):
        folder = Path(shutil.copytree(full, tmp_path / str(len(found))))
        found.append(alone(simulate, folder, 25, THINK_S, LASTS_S, beside))
        shutil.rmtree(folder)
    table(
        "25 annotators with think time 2 s, and a lead who opens the board without a pause",
        [
            ["grades", *(f"{len(load.seconds):,}" for load in found)],
            ["median", *(milliseconds(statistics.median(load.seconds)) for load in found)],
            ["p95", *(milliseconds(p95(load.seconds)) for load in found)],
            ["longest", *(milliseconds(max(load.seconds)) for load in found)],
            ["errors", *(str(len(load.errors)) for load in found)],
        ],
        ("sqlite-utils",),
        "grade + next pair|without|with",
    )
    assert not any(load.errors or load.over_assigned or load.refused for load in found)
