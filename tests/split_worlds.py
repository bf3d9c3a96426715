"""One campaign and the parts of the same campaign, in which the same things happen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from backend.campaign.judging.queue import block_clip
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.parts.joining import JoinReport, join
from backend.campaign.qualification.guideline.versions import reword_guideline
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate, confirm_discard, re_open, take_back
from backend.campaign.review.model import PairReview
from backend.campaign.review.status import pair_review
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.setup.people.accounts import add_person, list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import ReelRankError
from support import NOW, PARTLY, PEOPLE, Judging, grade_by_key, have_read, person_of, sit

Where = tuple[str, str, float]
"""A pair as people see it: its query, its video and its start in seconds."""


@dataclass
class World:
    """A campaign as one project, and split into parts."""

    folder: Path
    one: Project
    parts: list[Project]
    now: float = NOW

    def pairs(self, project: Project) -> dict[Where, PairReview]:
        """All pairs of a project."""
        return {(p.query, p.video, p.start_s): p for p in Judging(project, person_of(project, "Lea"), []).pairs()}

    def pair(self, project: Project, where: Where) -> PairReview:
        """One pair of a project."""
        row = project.store.db.conn.execute(
            "SELECT pair_key FROM pair JOIN query q USING (query_id) JOIN moment m USING (moment_id) "
            "JOIN video v USING (video_id) WHERE q.text = ? AND v.name = ? AND m.start_s = ?",
            where,
        ).fetchone()
        found = pair_review(project, OPERATOR, row[0])
        assert found is not None
        return found

    def owner(self, where: Where) -> Project:
        """The part that has a pair's query."""
        sql = "SELECT 1 FROM query WHERE split <> 'train' AND text = ?"
        return next(part for part in self.parts if part.store.db.conn.execute(sql, where[:1]).fetchone())

    def in_both(self, where: Where, act: Callable[[Project, PairReview], object]) -> bool:
        """Let the same happen to a pair of the campaign and of its part; the same is refused. Whether it happened."""
        self.now += 7
        refusals = []
        for project in (self.one, self.owner(where)):
            try:
                act(project, self.pair(project, where))
                refusals.append("")
            except ReelRankError as error:
                refusals.append(type(error).__name__)
        assert refusals[0] == refusals[1]
        return not refusals[0]

    def grade(self, where: Where, name: str, grade: int) -> None:
        def act(project: Project, pair: PairReview) -> None:
            person = self.sure(project, name)
            sit(project, person, [pair.pair], now=self.now)
            key = f"{where} {name} {self.now}"
            grade_by_key(Judging(project, person, [person]), 0, pair.pair, grade, at=self.now, key=key)

        self.in_both(where, act)

    def sure(self, project: Project, name: str) -> Person:
        """Somebody new is added where they first work, by the name that they say there."""
        if name.lower() not in {row.person.name.lower() for row in list_people(project, OPERATOR)}:
            add_person(project, OPERATOR, name, Role.ANNOTATOR, now=self.now)
            have_read(project)
        return next(row.person for row in list_people(project, OPERATOR) if row.person.name.lower() == name.lower())

    def lead_acts(self, where: Where, what: str, grade: int) -> None:
        def act(project: Project, pair: PairReview) -> None:
            lead, now = person_of(project, "Lea"), self.now
            match what:
                case "adjudicate":
                    adjudicate(project, lead, pair.pair, grade, "seen again", now=now)
                case "re-open":
                    re_open(project, lead, pair.pair, "once more", now=now)
                case "confirm":
                    confirm_discard(project, lead, pair.pair, now=now)
                case "take back":
                    take_back(project, lead, pair.pair, "a slip", seen=len(pair.acts), now=now)

        self.in_both(where, act)

    def block(self, where: Where) -> None:
        """A clip is blocked wherever its moment is a candidate."""
        self.now += 7
        for project in (self.one, *self.parts):
            same = [p for (_, video, start_s), p in self.pairs(project).items() if (video, start_s) == where[1:]]
            if same:
                block_clip(project, person_of(project, "Lea"), same[0].pair, "it is black", now=self.now)

    def reword(self) -> None:
        """A lead rewords the guideline everywhere."""
        self.now += 7
        for project in (self.one, *self.parts):
            new = replace(project.campaign.grading, example_query=f"Somebody waves at {self.now}.")
            reword_guideline(project, OPERATOR, new, "clearer", now=self.now)

    def open_next(self, query: str) -> bool:
        """Settle all pairs of a query, and hand out its next batch. Whether there was one."""
        first = next(where for where in self.pairs(self.one) if where[0] == query)
        for where, pair in self.pairs(self.one).items():
            if where[0] == query and not pair.verdict.is_settled:
                self.lead_acts(where, "adjudicate", 1)

        def act(project: Project, pair: PairReview) -> None:
            number = 1 + max(
                row[0]
                for row in Judging(project, person_of(project, "Lea"), []).rows(
                    "SELECT number FROM batch WHERE query_id = ?", pair.query_id
                )
            )
            open_batch(project, person_of(project, "Lea"), pair.query_id, number=number, now=self.now)

        return self.in_both(first, act)

    def joined(self, name: str = "joined") -> tuple[Project, JoinReport]:
        """The parts as one project."""
        folders = [part.folder for part in self.parts]
        report = join(folders[::-1], self.folder / name, now=self.now + 100)
        return open_project(self.folder / name), report


def released(project: Project, out: Path) -> dict[str, bytes]:
    """The files of a release by name."""
    export_release(project, OPERATOR, out, PARTLY, keep=False, now=NOW + 99_999)
    return {file.name: file.read_bytes() for file in out.iterdir()}


EVERYBODY = (*PEOPLE, "Eve", "Fay")
"""The annotators; the last two come only after the split."""


def lead_of(project: Project) -> Person:
    """The lead."""
    return person_of(project, "Lea")
