"""Import the judgements of an earlier campaign, which was graded elsewhere, with its pairs if their file is given.

*Reads* a file of raw annotations (one row per grade), perhaps a file of pairs; pairs, queries, moments, people.
*Writes* video, moment, caption, query, batch, pair, seat (one annotator's place on a pair), annotator, judgement,
consensus, agenda (batches with free seats) and one event: all of it in one transaction, or nothing. Every row becomes
one judgement with its own seat. The report counts irregularities of the files, such as repeated rows.
docs/decisions/015-earlier-campaigns.md explains the choices.
"""

import gc
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from itertools import count, groupby
from pathlib import Path
from typing import TypeVar

from backend.campaign.judging.model import JUDGEMENTS_IMPORTED, ActKind
from backend.campaign.judging.rows import pair_status, seats
from backend.campaign.judging.verdicts import consensus_rule, rebuild_verdicts
from backend.campaign.nouns import FIRST_ROUND_SEATS, RE_OPENED_SEATS, SECOND_ROUND_SEATS, Person, Role, Verdict
from backend.campaign.release.earlier import pairs as earlier_pairs
from backend.campaign.release.earlier import rows as earlier
from backend.campaign.release.earlier.model import EarlierCampaign, JudgementsReport
from backend.campaign.release.earlier.pairs import OPEN, AddedPairs
from backend.campaign.release.earlier.rows import NewJudgement, NewPair, NewSeat
from backend.campaign.release.earlier.rules.campaign_files import read_campaign
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import commands_only
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Problem, ProjectError
from backend.core.ids import AnnotatorId, PairId
from backend.core.progress import Progress
from backend.core.reading import file_bytes
from backend.core.text_files import whole
from backend.core.typed_text import person_name
from backend.store import events
from backend.store.connection import Database, writing

_Row = TypeVar("_Row")


@contextmanager
def _no_collector() -> Iterator[None]:
    """Switch Python's garbage collector off in a block that creates a million rows, which it would scan repeatedly.

    The rows have no reference cycles, so nothing needs to be collected.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@commands_only
def import_judgements(
    project: Project, raw: Path, pairs: Path | None = None, *, now: float, progress: Progress | None = None
) -> JudgementsReport:
    """Import the raw annotations of an earlier campaign into a project, completely or not at all; for the command line.

    Args:
        project: the project to import into.
        raw: CSV with one row per grade.
        pairs: CSV with one row per pair; None if there is none. Then pairs that are not in the project get only a
            number, without query and moment.
        now: seconds since 1970.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        InputError: the files have problems, all of which are listed with their rows; nothing was imported.
        AlreadyDone: the same files were imported before.
        ProjectError: this file was imported before, with other pairs.
    """
    described = (file_bytes(pairs), pairs.name) if pairs else None
    return take(project, (file_bytes(raw), raw.name), described, now=now, progress=progress)


@_no_collector()
def take(
    project: Project,
    raw: tuple[bytes, str],
    pairs: tuple[bytes, str] | None,
    *,
    now: float,
    progress: Progress | None = None,
    may_be_ungraded: bool = False,
) -> JudgementsReport:
    """Import the raw annotations of an earlier campaign from files in memory, completely or not at all.

    Args:
        project: the project to import into.
        raw: (content, name) of the file of raw annotations, a CSV with one row per grade.
        pairs: (content, name) of the file of pairs; None if there is none.
        now: seconds since 1970.
        progress: called with (name of the step, steps done, all steps).
        may_be_ungraded: whether the raw annotations may have no rows, only a header.

    Raises:
        InputError: the files have problems, all of which are listed with their rows; nothing was imported.
        ProjectError: this file was imported before.
    """
    content, file = raw
    campaign = read_campaign(
        *(content, file, *(pairs or (None, ""))),
        highest=project.campaign.scale.highest,
        may_be_ungraded=may_be_ungraded,
    )
    digest = hashlib.sha256(content).hexdigest()
    with writing(project.store) as db:
        asked = events.asked(pairs=pairs and hashlib.sha256(pairs[0]).hexdigest())
        events.refuse_if_done(db, JUDGEMENTS_IMPORTED, now=now, subject=earlier.subject(digest), asked=asked)
        if (at := earlier.imported_at(db, digest)) is not None:
            day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d at %H:%M UTC")
            raise ProjectError(f"{file} was already imported on {day}; its judgements are in the project")
        work = _Import(project, db, campaign, now, progress)
        problems = [*campaign.problems, *work.clashes()]
        if problems:
            raise InputError(sorted(problems, key=lambda p: (p.file != campaign.raw_file, p.row or 0)))
        return work.run(digest, asked)


class _Import:
    """A running import of an earlier campaign's judgements into a project, inside one database transaction."""

    def __init__(
        self, project: Project, db: Database, campaign: EarlierCampaign, now: float, progress: Progress | None
    ) -> None:
        self.project, self.db, self.campaign, self.now, self.progress = project, db, campaign, now, progress
        self.known = earlier.known_pairs(db)
        self.graded = {grade.pair_id for grade in campaign.grades}
        self.described = {pair.pair_id for pair in campaign.pairs}

    def clashes(self) -> Iterator[Problem]:
        """Yield a problem for each contradiction between the files of the earlier campaign and the project."""
        file = self.campaign.raw_file
        judged = earlier.judged_pairs(self.db)
        for grade in self.campaign.grades:
            if grade.pair_id in judged:
                yield Problem(file, grade.row, f"pair {grade.pair_id} already has judgements in the project")
        for worker in self.campaign.workers:
            row = next((grade.row for grade in self.campaign.grades if grade.worker == worker), None)
            try:
                person_name(_name(worker))
            except ProjectError as refusal:
                yield Problem(file, row, f"worker {worker!a}: {refusal}")
                continue
            same_name = people.by_name(self.db, _name(worker))
            if same_name and same_name[0].role is not Role.ANNOTATOR:
                yield Problem(file, row, f"{same_name[0].name} is a {same_name[0].role} here, and leads do not grade")
        yield from earlier_pairs.clashes(self.db, self.campaign, self.known)

    def run(self, digest: str, asked: str) -> JudgementsReport:
        """Store the pairs, annotators and judgements, update the tables derived from them, and return the report.

        `digest` is the SHA-256 of the file of raw annotations, and `asked` is stored in the event.
        """
        batch_size = project_rows.campaign(self.db).batch_size
        added = earlier_pairs.add(self.db, self.campaign, self.known, batch_size=batch_size, now=self.now)
        by_number = sorted(self.graded - self.described - self.known.keys())
        new = [*added.pairs, *map(NewPair, by_number)]
        earlier.add_pairs(self.db, self._counted("storing pairs", new, len(new)))
        person_ids, people_added = self._add_people()
        earlier.remove_seats(self.db, self.graded & self.known.keys())
        for pair_id in sorted(self.campaign.re_opened):
            why = f"re-opened in the campaign of {self.campaign.raw_file}"
            pair_status.add_act(self.db, PairId(pair_id), None, ActKind.RE_OPENED, why, at=self.now)
        total = len(self.campaign.grades)
        earlier.add_seats(self.db, self._counted("storing seats", self._seats(person_ids), total))
        judgements = self._judgements(person_ids, digest[:16])
        earlier.add_judgements(self.db, self._counted("storing judgements", judgements, total))
        rebuild_verdicts(self.project.store)
        seats.close_decided(self.db)
        candidates_rows.rebuild_agenda(self.db)
        report = self._report(added, by_number, person_ids, people_added)
        events.record(
            self.db,
            JUDGEMENTS_IMPORTED,
            at=self.now,
            actor=None,
            subject=earlier.subject(digest),
            payload={
                "file": self.campaign.raw_file,
                "sha256": digest,
                "pairs_file": self.campaign.pairs_file,
                "rows": report.rows,
                "pairs": report.pairs,
                "people": people_added,
                "sent_on": report.sent_on,
                "asked": asked,
            },
        )
        return report

    def _report(
        self, added: AddedPairs, by_number: list[int], person_ids: dict[str, AnnotatorId], people_added: int
    ) -> JudgementsReport:
        verdicts = earlier.verdicts(self.db)
        pairs_by_verdict: defaultdict[str, list[int]] = defaultdict(list)
        for pair_id in sorted(self.graded):
            pairs_by_verdict[verdicts.get(pair_id, OPEN)[0]].append(pair_id)
        judgeable = self._judgeable()
        numbers = self.graded | self.described
        return JudgementsReport(
            rows=len(self.campaign.grades),
            pairs=len(self.graded),
            workers=len(self.campaign.workers),
            people_added=people_added,
            renumbered={worker: number for worker, number in person_ids.items() if str(number) != worker},
            videos=added.videos,
            moments=added.moments,
            queries=added.queries,
            queries_renumbered=added.queries_renumbered,
            batches=added.batches,
            pairs_added=len(added.pairs),
            pairs_known=len(numbers & self.known.keys()),
            pairs_by_number=len(by_number),
            pairs_without_grade=len(self.described - self.graded),
            consensus=len(pairs_by_verdict[Verdict.CONSENSUS]),
            discarded=len(pairs_by_verdict[Verdict.DISCARDED]),
            open=len(pairs_by_verdict[Verdict.OPEN]),
            adjudicated=len(pairs_by_verdict[Verdict.ADJUDICATED]),
            sent_on=tuple(pair_id for pair_id in pairs_by_verdict[Verdict.ESCALATED] if pair_id in judgeable),
            never_sent_on=tuple(pair_id for pair_id in pairs_by_verdict[Verdict.ESCALATED] if pair_id not in judgeable),
            pairs_graded_twice_by_one=self.campaign.graded_twice,
            duplicate_rows=self.campaign.duplicate_rows,
            missing_ids=max(numbers) + 1 - len(numbers),
            verdicts_that_differ=earlier_pairs.count_differing(self.campaign.pairs, verdicts),
        )

    def _add_people(self) -> tuple[dict[str, AnnotatorId], int]:
        """Add an annotator for each worker of the files whose name the project does not have yet.

        A worker with a name that the project has is taken for the same person.

        Returns:
            The annotator id of every worker, and how many annotators were added.
        """
        numbers: dict[str, AnnotatorId] = {}
        lacking = []
        for worker in self.campaign.workers:
            if same_name := people.by_name(self.db, _name(worker)):
                numbers[worker] = same_name[0].annotator_id
            else:
                lacking.append(worker)
        taken = earlier.person_ids(self.db)
        for worker in lacking:
            number = whole(worker)
            if number and number not in taken:
                numbers[worker] = AnnotatorId(number)
                taken.add(number)
        following = count(max(taken, default=0) + 1)
        for worker in lacking:
            if worker not in numbers:
                numbers[worker] = AnnotatorId(next(following))
        by_people = {grade.worker for grade in self.campaign.grades if not grade.simulated}
        new = [(Person(numbers[worker], _name(worker), Role.ANNOTATOR), worker not in by_people) for worker in lacking]
        earlier.add_people(self.db, new, at=self.now)
        return numbers, len(new)

    def _judgeable(self) -> set[int]:
        """Return the ids of pairs that annotators can still grade: those whose moment is known."""
        return self.described | {pair_id for pair_id, query_moment in self.known.items() if query_moment is not None}

    def _seats(self, person_ids: dict[str, AnnotatorId]) -> Iterator[NewSeat]:
        """Yield a seat (an annotator's place on a pair) for each imported grade, and free seats for missing grades.

        Only pairs that annotators can still grade get free seats.
        """
        judgeable = self._judgeable()
        rule = cache(consensus_rule(self.db))
        for pair_id, together in groupby(self.campaign.grades, key=lambda grade: grade.pair_id):
            grades = []
            for grade in together:
                grades.append(grade.grade)
                yield NewSeat(pair_id, grade.seat_no, person_ids[grade.worker], grade.repeat)
            if pair_id in judgeable:
                is_re_opened = pair_id in self.campaign.re_opened
                escalated = rule(tuple(grades), is_re_opened).verdict is Verdict.ESCALATED
                last = max(RE_OPENED_SEATS if is_re_opened else SECOND_ROUND_SEATS if escalated else FIRST_ROUND_SEATS)
                yield from (NewSeat(pair_id, seat_no) for seat_no in range(len(grades) + 1, last + 1))
        for pair_id in sorted(self.described - self.graded - self.known.keys()):
            yield from (NewSeat(pair_id, seat_no) for seat_no in FIRST_ROUND_SEATS)

    def _judgements(self, person_ids: dict[str, AnnotatorId], digest: str) -> Iterator[NewJudgement]:
        for grade in self.campaign.grades:
            yield NewJudgement(
                *(grade.pair_id, grade.seat_no, person_ids[grade.worker], grade.grade),
                *(self.now if grade.graded_at is None else grade.graded_at, grade.active_ms or 0, grade.elapsed_ms),
                *(grade.contexts or 0, f"import:{digest}:{grade.row}", grade.simulated),
            )

    def _counted(self, step: str, rows: Iterable[_Row], total: int) -> Iterator[_Row]:
        """Yield some rows unchanged, and report the progress of the import after every 5000 of them.

        `step` names the step that uses the rows, and `total` is their number.
        """
        for done, row in enumerate(rows):
            if self.progress and done % 5000 == 0:
                self.progress(step, min(done, total), total)
            yield row
        if self.progress:
            self.progress(step, total, total)


def _name(worker: str) -> str:
    return f"worker {worker}"
