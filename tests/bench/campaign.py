"""Projects of the size of real campaigns, written by bulk SQL: what the load bench runs against.

The words are made up, the sizes are those of TVR-Ranking, and so are the judgements where the published file is there.
"""

import csv
import os
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from backend.campaign.judging.verdicts import rebuild_verdicts
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.release.earlier.model import JudgementsReport
from backend.campaign.release.earlier.rules.raw_annotation import read_raw
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.store.connection import writing
from backend.store.engine import Database
from support import have_read

BATCH = 20
QUERIES, PAIRS, ROWS, WORKERS = 3281, 96_483, 227_808, 21
"""TVR-Ranking."""
FRESH_QUERIES = 200
"""Further queries with one open batch each, so that there is work to do."""
MOMENTS, MOMENTS_A_VIDEO = 20_000, 4
STARTED = 1_790_000_000.0

Rows = list[tuple[int, int, int]]
"""Judgements as (pair, worker, grade), in the order of giving."""


def open_project(folder: Path, pairs: int, moments: int = MOMENTS) -> Project:
    """A campaign on its first day: nothing graded, every batch open."""
    project = init_project(folder, encoder="minilm")
    with writing(project.store) as db:
        _corpus(db, moments)
        _hand_out(db, range(1, pairs + 1), [BATCH] * (pairs // BATCH))
        _seats(db, {})
        candidates_rows.rebuild_agenda(db)
    return project


def full_project(folder: Path, rows: Rows) -> Project:
    """A campaign with all its judgements, and `FRESH_QUERIES` more queries that nobody has begun."""
    project = init_project(folder, encoder="minilm")
    with writing(project.store) as db:
        _corpus(db)
        workers = {
            number: people.add(project.store, OPERATOR, f"worker {number}", Role.ANNOTATOR, now=STARTED).annotator_id
            for number in sorted({worker for _, worker, _ in rows})
        }
        known = sorted({pair for pair, _, _ in rows})
        fresh = range(known[-1] + 1, known[-1] + 1 + FRESH_QUERIES * BATCH)
        _hand_out(db, [*known, *fresh], [*_two_batches_where_needed(len(known)), *[BATCH] * FRESH_QUERIES])
        _judge(db, [(pair, workers[worker], grade) for pair, worker, grade in rows])
    rebuild_verdicts(project.store)
    with writing(project.store) as db:
        candidates_rows.rebuild_agenda(db)
    have_read(project)
    return project


def settled_project(folder: Path, times: int = 1) -> Project:
    """A first batch of `QUERIES` queries settled with relevance 3, and `FRESH_QUERIES` more that nobody has begun.

    `times` as many of both, and of moments, where it is given.
    """
    project = init_project(folder, encoder="minilm")
    settled, fresh = times * QUERIES, times * FRESH_QUERIES
    with writing(project.store) as db:
        _corpus(db, times * MOMENTS)
        two = [
            people.add(project.store, OPERATOR, name, Role.ANNOTATOR, now=STARTED).annotator_id
            for name in ("first", "second")
        ]
        _hand_out(db, range(1, (settled + fresh) * BATCH + 1), [BATCH] * (settled + fresh))
        _judge(db, [(pair, person, 3) for pair in range(1, settled * BATCH + 1) for person in two])
    rebuild_verdicts(project.store)
    with writing(project.store) as db:
        candidates_rows.rebuild_agenda(db)
    have_read(project)
    return project


def full_folder(run: Path) -> Path:
    """The full project with `rows_to_judge`, to be copied; built once in a run of benches, whose folder is `run`."""
    return _once(run / "full-campaign", lambda folder: full_project(folder, rows_to_judge()))


def settled_folder(run: Path) -> Path:
    """The settled project, in the same way."""
    return _once(run / "settled-campaign", settled_project)


def _once(folder: Path, build: Callable[[Path], Project]) -> Path:
    if not folder.exists():
        build(folder).store.close()
    return folder


def lone_worker_project(folder: Path, done: int, left: int) -> tuple[Project, Person]:
    """The worst case for looking for work: one person has graded `done` batches alone, nobody else any.

    Those batches are nearest to completion, so they come first for everybody, and none has anything for this person.
    """
    project = init_project(folder, encoder="minilm")
    with writing(project.store) as db:
        _corpus(db)
        person = people.add(project.store, OPERATOR, "the tireless", Role.ANNOTATOR, now=STARTED)
        _hand_out(db, range(1, (done + left) * BATCH + 1), [BATCH] * (done + left))
        _judge(db, [(pair, person.annotator_id, 3) for pair in range(1, done * BATCH + 1)])
        candidates_rows.rebuild_agenda(db)
    have_read(project)
    return project, person


def rows_to_judge() -> Rows:
    """The published judgements where they are, else as many made-up ones."""
    folder = Path(os.environ.get("REELRANK_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    published = folder / "data" / "tvr_ranking" / "raw_annotation.csv"
    return real_rows(published) if published.is_file() else made_up_rows()


def real_rows(raw_csv: Path) -> Rows:
    """The judgements of a published campaign."""
    raw = read_raw(raw_csv.read_bytes(), raw_csv.name)
    pairs, workers = [int(pair) for pair in raw.pairs], [int(worker) for worker in raw.annotators]
    columns = zip(raw.pair.tolist(), raw.annotator.tolist(), raw.grade.tolist(), strict=True)
    return [(pairs[pair], workers[worker], grade) for pair, worker, grade in columns]


def made_up_rows() -> Rows:
    """As many judgements of as many pairs by as many people as the published campaign has: two or four a pair."""
    chance = random.Random(7)
    rows: Rows = []
    four = (ROWS - 2 * PAIRS) // 2
    for pair in range(PAIRS):
        first = chance.randrange(5)
        grades = [first, min(first + 2, 4) - 2 * (first > 2), 2, 2] if pair < four else [first, first]
        rows += zip([pair] * 4, chance.sample(range(1, WORKERS + 1), len(grades)), grades, strict=False)
    return rows


def write_raw(rows: Rows, path: Path) -> None:
    """The judgements as a file for `import-judgements`."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pair_id", "worker", "relevance"])
        writer.writerows(rows)


def write_pairs(rows: Rows, path: Path) -> None:
    """What the pairs of `write_raw` are, as a file for `import-judgements --pairs`."""
    known = sorted({pair for pair, _, _ in rows})
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        columns = ("pair_id", "query", "video_name", "start", "end", "duration", "caption", "similarity")
        writer.writerow(columns)
        upcoming = iter(known)
        for query, size in enumerate(_two_batches_where_needed(len(known))):
            for rank, pair in zip(range(size), upcoming, strict=False):
                video, start = divmod(query * 31 + rank * 7, 1000)
                writer.writerow(
                    (
                        *(pair, f"a person walks to the sofa with mug {query}", f"show_{video:03}", start, start + 8.5),
                        *(1100, f"Somebody sits down with mug {video}-{start}.", 0.9 - rank / 100),
                    )
                )


def take_in(folder: Path, raw: Path, pairs: Path | None) -> JudgementsReport:
    """Import files into a new project."""
    project = init_project(folder, encoder="minilm")
    return import_judgements(project, raw, pairs, now=STARTED)


def add_annotators(project: Project, count: int, name: str = "annotator") -> list[Person]:
    """People to simulate."""
    with writing(project.store):
        added = [people.add(project.store, OPERATOR, f"{name} {n}", Role.ANNOTATOR, now=STARTED) for n in range(count)]
    have_read(project)
    return added


def _corpus(db: Database, moments: int = MOMENTS) -> None:
    numbers = range(1, moments + 1)
    db.conn.executemany(
        "INSERT INTO video (video_id, name, duration_s) VALUES (?, ?, 90.0)",
        ((n, f"show_s{n // 100:02}e{n % 100:02}_clip") for n in range(1, -(-moments // MOMENTS_A_VIDEO) + 1)),
    )
    db.conn.executemany(
        "INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (?, ?, ?, ?)",
        (
            (n, 1 + (n - 1) // MOMENTS_A_VIDEO, n % MOMENTS_A_VIDEO * 20, n % MOMENTS_A_VIDEO * 20 + 8.5)
            for n in numbers
        ),
    )
    db.conn.executemany(
        "INSERT INTO caption (caption_id, moment_id, text, kind) VALUES (?, ?, ?, 'published')",
        ((n, n, f"Somebody walks to the sofa with mug {n} and sits down beside another person.") for n in numbers),
    )


def _two_batches_where_needed(pairs: int) -> list[int]:
    """How many pairs each of `QUERIES` queries has, 20 or 40 (the last one fewer), so that they are `pairs`."""
    longer = -(-(pairs - QUERIES * BATCH) // BATCH)
    sizes = [2 * BATCH] * longer + [BATCH] * (QUERIES - longer)
    sizes[-1] -= sum(sizes) - pairs
    return sizes


def _hand_out(db: Database, pairs: Sequence[int], sizes: Sequence[int]) -> None:
    """Queries with their candidates, batches and pairs; `sizes` says how many pairs each query has."""
    chance = random.Random(11)
    moments = [row[0] for row in db.conn.execute("SELECT moment_id FROM moment ORDER BY moment_id")]
    queries, candidates, batches, rows = [], [], [], []
    upcoming = iter(pairs)
    for query, size in enumerate(sizes, 1):
        queries.append((query, f"a person walks to the sofa with mug {query}", moments[query % len(moments)], query))
        for rank, moment in enumerate(chance.sample(moments, 2 * BATCH), 1):
            candidates.append((query, rank, moment, 0.9 - rank / 100))
            if rank <= size:
                if rank % BATCH == 1:
                    batches.append((len(batches) + 1, query, 1 + rank // BATCH, STARTED))
                rows.append(
                    (pair := next(upcoming), f"key-{pair:08}", len(batches), query, moment, rank, 0.9 - rank / 100)
                )
    db.conn.executemany(
        "INSERT INTO query (query_id, text, caption_id, split, position) VALUES (?, ?, ?, 'test', ?)", queries
    )
    db.conn.executemany(
        "INSERT INTO candidate (query_id, rank, moment_id, similarity, encoder) VALUES (?, ?, ?, ?, 'made up')",
        candidates,
    )
    db.conn.executemany("INSERT INTO batch (batch_id, query_id, number, opened_at) VALUES (?, ?, ?, ?)", batches)
    db.conn.executemany(
        "INSERT INTO pair (pair_id, pair_key, batch_id, query_id, moment_id, rank, similarity, encoder) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 'made up')",
        rows,
    )


def _judge(db: Database, rows: Rows) -> None:
    """Store judgements by (pair, annotator, grade): each in a seat, and free seats where grades are missing."""
    given: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, annotator, grade in rows:
        given[pair].append((annotator, grade))
    _seats(db, given)
    db.conn.executemany(
        "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, active_ms, event_key) "
        "VALUES (?, ?, ?, 1, ?, ?, 4000, ?)",
        (
            (pair, seat_no, annotator, grade, STARTED + pair, f"made-{pair}-{seat_no}")
            for pair, found in sorted(given.items())
            for seat_no, (annotator, grade) in enumerate(found, 1)
        ),
    )


def _seats(db: Database, given: dict[int, list[tuple[int, int]]]) -> None:
    """The seats of every pair: a judged one a grade, and free ones up to two, or four after a disagreement."""
    seats = []
    for (pair,) in db.conn.execute("SELECT pair_id FROM pair ORDER BY pair_id").fetchall():
        found = given.get(pair, [])
        needed = 4 if len(found) > 2 or (len(found) == 2 and abs(found[0][1] - found[1][1]) > 1) else 2
        people_here: set[int] = set()
        for seat_no in range(1, needed + 1):
            annotator = found[seat_no - 1][0] if seat_no <= len(found) else None
            seats.append((pair, seat_no, annotator, int(annotator in people_here)))
            people_here |= {annotator} if annotator is not None else set()
    db.conn.executemany("INSERT INTO seat (pair_id, seat_no, annotator_id, repeat) VALUES (?, ?, ?, ?)", seats)
    db.conn.execute("UPDATE seat SET claim_no = pair_id WHERE annotator_id IS NOT NULL")
