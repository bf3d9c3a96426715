"""What tests share besides fixtures: a small made-up project and an encoder that needs no model."""

import random
import secrets
import socket
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.campaign.desk.exchange import record_grades
from backend.campaign.judging.model import GradeEvent, Receipt
from backend.campaign.judging.rows import pair_status, seats
from backend.campaign.nouns import OPERATOR, Operator, Person, Role
from backend.campaign.qualification.guideline.versions import guideline_versions, note_guideline_seen
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.review.model import PairReview, ReviewList
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.review.status import pair_review, review_page
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import StoredSettings
from backend.core.ids import PairKey
from backend.store import connection


class WordEncoder:
    """A sentence encoder for tests: a unit vector of hashed words. No model, same vectors everywhere."""

    identity = "words-64"
    dim = 64

    def encode(self, texts: Sequence[str], *, progress: object = None) -> np.ndarray:
        vectors = np.full((len(texts), self.dim), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().strip(" .").split():
                vectors[row, blake2b(word.encode(), digest_size=2).digest()[0] % self.dim] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def encode_tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [self.encode([word for word in text.split(" ") if word]) for text in texts]

    def vocabulary(self) -> frozenset[str]:
        return frozenset()


PEOPLE = ("Anna", "Boris", "Carla", "Dev")
VERBS = ("walks to a sofa", "sits down", "pours tea", "waves", "opens a door", "throws a ball", "reads", "dances")
MOMENTS = [
    CaptionedMoment(f"v{n % 6}", float(n), n + 2.5, f"{PEOPLE[n % 4]} {VERBS[n % 8]} in room {n}.", n + 1, 60.0)
    for n in range(48)
]
NOW = 1_790_000_000.0
PAST_2038 = 2.0**31 + 60
"""After 2038-01-19, when seconds since 1970 no longer fit into 32 bits."""
JUMPS = {
    "an hour back": (NOW, NOW - 3600),
    "an hour on": (NOW, NOW + 3600),
    "a day back": (NOW, NOW - 86_400),
    "a day on": (NOW, NOW + 86_400),
    "from past 2038": (PAST_2038, NOW),
    "past 2038": (NOW, PAST_2038),
}
"""By how the system clock jumps: what it says before and after."""
PARTLY = ReleaseOptions(unfinished=True)
"""A release of the few pairs that a test settles."""


def free_port() -> int:
    """A port of this machine that nothing holds, and that no connection made meanwhile is given by itself."""
    while True:
        port = random.randrange(20_000, 32_000)  # systems give higher ones to outgoing connections
        if is_free(port):
            return port


def is_free(port: int) -> bool:
    """Whether nobody of this machine listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False


def person_of(project: Project, name: str) -> Person:
    """Whoever is called so."""
    return next(row.person for row in list_people(project, OPERATOR) if row.person.name == name)


def sit(project: Project, person: Person, pairs: Iterable[str], *, now: float, lease_s: float = 15 * 60.0) -> None:
    """Give a person a seat at each of these pairs, as the desk does, where one is free and the pair is not settled.

    Tests choose pairs; a desk hands them out in an order of its own.
    """
    with connection.writing(project.store) as db:
        for key in pairs:
            row = db.conn.execute("SELECT pair_id FROM pair WHERE pair_key = ?", [key]).fetchone()
            if row and not pair_status.verdict(db, row[0]).is_settled:
                seats.claim(db, person.annotator_id, row[0], now=now, until=now + lease_s)


def grade_all(project: Project, name: str, grades: Mapping[PairKey, int], *, now: float) -> None:
    """Somebody gives these grades, as with a player of their own."""
    sit(project, person_of(project, name), grades, now=now)
    events = [GradeEvent(pair, grade, f"{name} {pair}", 2000, 2000) for pair, grade in grades.items()]
    receipts = record_grades(project, person_of(project, name), events, now=now)
    assert {receipt.status for receipt in receipts} == {"saved"}


def have_read(project: Project) -> None:
    """All annotators know the guideline as it stands: the desk lets them begin at once."""
    version = guideline_versions(project, OPERATOR)[-1].version
    for row in list_people(project, OPERATOR):
        if row.person.role is Role.ANNOTATOR and not row.person.suspended:
            note_guideline_seen(project, row.person, version, now=NOW)


def small_clips(folder: Path) -> None:
    """Clips of a third of the usual height: a walk sees the same of them, and they cost less to make and to show."""
    settings = folder / "reelrank.toml"
    usual = "\nheight = 720\n"
    text = settings.read_text()
    assert usual in text
    settings.write_text(text.replace(usual, "\nheight = 240\n"))


DISPUTED = (ReviewList.ESCALATED, ReviewList.DISCARDED, ReviewList.CONFIRMED, ReviewList.DECIDED)


def cases(project: Project, by: Person | Operator, *which: ReviewList) -> list[PairReview]:
    """All pairs of these lists of a lead's page."""
    rows = [row for one in which for row in review_page(project, by, one, size=1_000_000).rows]
    return [pair for row in rows if (pair := pair_review(project, by, row.pair)) is not None]


@cache
def new_campaign() -> StoredSettings:
    """What a new project is."""
    with tempfile.TemporaryDirectory() as folder:
        store = connection.create(Path(folder) / "reelrank.db")
        try:
            return project_rows.campaign(store.db)
        finally:
            store.close()


@dataclass
class Judging:
    """A project whose batches are open, with its people."""

    project: Project
    lead: Person
    annotators: list[Person]

    def pairs(self) -> list[PairReview]:
        """Every pair, by query and rank."""
        return [
            pair
            for query in list_queries(self.project, OPERATOR)
            for pair in query_pairs(self.project, OPERATOR, query.query_id)
        ]

    def grade(self, who: int, pair: str, grade: int, *, at: float = NOW, key: str | None = None) -> Receipt:
        """One grade by annotator number `who`, who sits down at the pair for it."""
        sit(self.project, self.annotators[who], [pair], now=at)
        return grade_by_key(self, who, pair, grade, at=at, key=key)

    def rows(self, sql: str, *values: object) -> list[Any]:
        """Read the database as another program would, or change it past all rules."""
        with closing(sqlite3.connect(self.project.folder / "reelrank.db")) as db, db:
            return db.execute(sql, values).fetchall()

    def give_videos_files(self) -> "Judging":
        """Let every video have a file, as far as the database knows: what is shown to people needs one."""
        with connection.writing(self.project.store) as db:
            db.conn.execute(
                "UPDATE video SET path = 'videos/' || name || '.mp4', duration_s = 60, fps_num = 25, fps_den = 1, "
                "width_px = 640, height_px = 360, has_audio = 0, sha256 = name"
            )
        return self

    def state(self, pair: str) -> PairReview:
        """How a pair stands."""
        return next(found for found in self.pairs() if found.pair == pair)


def grade_by_key(
    judging: Judging, who: int, pair: str, grade: int = 3, *, at: float = NOW, key: str | None = None
) -> Receipt:
    """One grade by annotator number `who`, who knows the pair's key and may sit at the pair or not."""
    event = GradeEvent(PairKey(pair), grade, key or secrets.token_hex(8), 1000)
    return record_grades(judging.project, judging.annotators[who], [event], now=at)[0]
