"""A real small project for tests of pages: seven people who are signed in, three queries in three situations."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.desk.exchange import record_grades, record_skips
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.judging.queue import block_clip
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.model import PairReview
from backend.campaign.review.queries import query_pairs
from backend.campaign.review.status import pair_review
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import person_for, sign_in
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey, QueryId
from backend.encoders import sentence
from backend.store.connection import writing
from support import NOW, Judging, WordEncoder, have_read, sit

PASSWORD = "correct horse"
NAMES = ("Lea", "Ana", "Ben", "Cem", "Dee", "Eli", "Max")
"""Their ids are 1 to 7. Lea and Max lead; the others annotate, and Cem is suspended."""
TEXTS = (
    "A woman puts a cup on the table and leaves",
    "Two people argue in a kitchen",
    "A man opens a door and laughs",
)
"""The queries 1 to 3, in this order."""
SETTLED = ((4, 4, 3, 4, 2, 3, 3, 1, 4, 3) * 2, (4, 3, 2, 2, 1, 0, 0, 1, 0, 0) * 2)
"""The relevances of queries 1 and 2, by rank. Ana gives the same grade, Ben one less at odd ranks."""
AGREED = {1: 4, 3: 3, 5: 2, 6: 1, 8: 0, 9: 0, 11: 4, 13: 3, 15: 2, 16: 1}
"""The relevances of settled pairs of query 3, by rank."""
ESCALATED, DISCARDED, SKIPPED, BLOCKED = (2, 4, 7, 10), 12, 14, 17
"""Ranks of query 3: graded 0 and 4; 0, 4, 0 and 3; skipped by Ana and Eli; with a clip that a lead blocked."""
OPEN = (18, 19, 20)
"""Ranks of query 3 that nobody has graded."""
GRADED_AT = NOW - 86_400
FAULT = "v1.mp4 is incomplete (its index is missing): copy it again"


@dataclass
class SmallProject(Judging):
    """A project that a test may do to as it likes, and the session tokens of its people by name."""

    other_lead: Person
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.project.folder

    def person(self, name: str) -> Person:
        """Somebody by name, as they were when the project was made."""
        return next(person for person in (self.lead, *self.annotators, self.other_lead) if person.name == name)

    def join(self, name: str, role: Role = Role.ANNOTATOR) -> Person:
        """Somebody more, who is signed in; if an annotator, they have read the guideline."""
        person = add_person_with_password(self.project, OPERATOR, name, role, PASSWORD, now=NOW)
        have_read(self.project)
        self.tokens = {**self.tokens, name: sign_in(self.project, name, PASSWORD, now=NOW)}
        return person

    def pair(self, query: int, rank: int) -> PairReview:
        """A pair as it stands now."""
        key: PairKey = self._one("SELECT pair_key FROM pair WHERE query_id = ? AND rank = ?", query, rank)
        found = pair_review(self.project, OPERATOR, key)
        assert found is not None
        return found

    def signed_in(self, token: str) -> str | None:
        """Whose session a token is."""
        person = person_for(self.project, token, now=NOW)
        return person.name if person else None

    def note(self, name: str, query: int, rank: int, text: str) -> int:
        """Put a note beside somebody's grade of a pair; its id."""
        judgement: int = self._one(
            "SELECT max(judgement_id) FROM judgement JOIN pair USING (pair_id)"
            " WHERE annotator_id = ? AND query_id = ? AND rank = ?",
            *(self.person(name).annotator_id, query, rank),
        )
        self.sql("INSERT INTO note (judgement_id, text) VALUES (?, ?)", judgement, text)
        return judgement

    def _one(self, query: str, *values: object) -> Any:
        return self.project.store.db.conn.execute(query, values).fetchone()[0]

    def sql(self, statement: str, *values: object) -> None:
        """Change the database past all rules."""
        with writing(self.project.store) as db:
            db.conn.execute(statement, values)

    def unlock(self, *tables: str) -> None:
        """Let `sql` change what is append-only."""
        every = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
        for table in tables:
            for (trigger,) in self.project.store.db.conn.execute(every, [table]).fetchall():
                self.sql(f"DROP TRIGGER {trigger}")


def make(corpus: Path, place: Path) -> SmallProject:
    """Make the project in a folder, from that of `corpus_folder`, and close it."""
    project = open_project(Path(shutil.copytree(corpus / "project", place / "project")))
    draw_queries(project, OPERATOR, val=1, test=2, seed=5, now=GRADED_AT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        choose_candidates(project, OPERATOR, now=GRADED_AT)
    people = [
        add_person_with_password(
            project,
            OPERATOR,
            name,
            Role.LEAD if name in ("Lea", "Max") else Role.ANNOTATOR,
            PASSWORD,
            now=GRADED_AT,
        )
        for name in NAMES
    ]
    have_read(project)
    made = SmallProject(project, people[0], people[1:-1], people[-1])
    with writing(project.store) as db:
        for number, text in enumerate(TEXTS, 1):
            db.conn.execute("UPDATE query SET text = ? WHERE query_id = ?", [text, number])
        db.conn.execute(
            "UPDATE video SET path = name || '.mp4', fps_num = 25, fps_den = 1, width_px = 64, height_px = 48,"
            " has_audio = 1, sha256 = name"
        )
        # A moment of its own, so that blocking its clip blocks no other pair.
        db.conn.execute(
            "INSERT INTO moment (moment_id, video_id, start_s, end_s)"
            " SELECT 100, video_id, 50.0, 52.5 FROM video WHERE name = 'v1'"
        )
        db.conn.execute(
            "INSERT INTO caption (moment_id, text, kind) VALUES (100, 'Phoebe puts her cup down.', 'published')"
        )
        db.conn.execute("UPDATE pair SET moment_id = 100 WHERE query_id = 3 AND rank = ?", [BLOCKED])
    with writing(project.store):
        _judge(made)
    made.tokens = {name: sign_in(project, name, PASSWORD, now=NOW) for name in NAMES}
    suspend(project, made.lead, made.person("Cem").annotator_id, True, now=NOW)
    project.store.close()
    return made


def _judge(made: SmallProject) -> None:
    pairs = [query_pairs(made.project, OPERATOR, QueryId(number)) for number in (1, 2, 3)]
    seats: dict[str, dict[str, int]] = {name: {} for name in ("Ana", "Ben", "Dee", "Eli")}
    for of_query, grades in zip(pairs, (*map(_by_rank, SETTLED), AGREED), strict=True):
        for rank, grade in grades.items():
            seats["Ana"][of_query[rank - 1].pair] = grade
            seats["Ben"][of_query[rank - 1].pair] = max(grade - rank % 2, 0)
    third = pairs[2]
    for rank in (*ESCALATED, DISCARDED):
        seats["Ana"][third[rank - 1].pair], seats["Ben"][third[rank - 1].pair] = 0, 4
    seats["Dee"][third[DISCARDED - 1].pair], seats["Eli"][third[DISCARDED - 1].pair] = 0, 3
    for name, given in seats.items():
        person = made.person(name)
        sit(made.project, person, given, now=GRADED_AT)
        for number, (pair, grade) in enumerate(given.items(), 1):
            took_ms = 4200 + 900 * grade
            event = GradeEvent(PairKey(pair), grade, f"{name} {pair}", took_ms, took_ms)
            (receipt,) = record_grades(made.project, person, [event], now=GRADED_AT + 10 * number)
            assert receipt.status == "saved"
    skipped = third[SKIPPED - 1].pair
    for name, kind, reason in (
        ("Ana", SkipKind.CANNOT_JUDGE, "too <b>dark</b>"),
        ("Eli", SkipKind.SKIP, "would rather not judge it"),
    ):
        sit(made.project, made.person(name), [skipped], now=GRADED_AT)
        record_skips(
            made.project, made.person(name), [SkipEvent(skipped, kind, reason, f"{name} skips")], now=GRADED_AT
        )
    block_clip(made.project, made.lead, third[BLOCKED - 1].pair, FAULT, now=GRADED_AT)


def _by_rank(relevances: tuple[int, ...]) -> dict[int, int]:
    return dict(enumerate(relevances, 1))
