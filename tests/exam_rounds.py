"""What the tests of exam rounds share: people who take one, and the tables as they are."""

from dataclasses import dataclass

from backend.campaign.desk.clips import clip_for
from backend.campaign.desk.exchange import desk, exam_act, record_grades
from backend.campaign.judging.model import Desk, GradeEvent, Receipt
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.answer_key import close_exam_round
from backend.campaign.qualification.exam.model import ExamDesk, ExamKey, ExamPhase
from backend.campaign.qualification.exam.setting import ExamReport, set_exam
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey
from support import NOW, Judging


@dataclass
class Round:
    """An exam of open pairs in a campaign in which nobody has graded yet."""

    judging: Judging

    @property
    def project(self) -> Project:
        return self.judging.project

    @property
    def lead(self) -> Person:
        return self.judging.lead

    def hold(
        self, key: str = "median", *, queries: int = 2, pairs: int = 3, seed: int = 1, most_missed: float | None = None
    ) -> ExamReport:
        return set_exam(
            self.project,
            self.lead,
            queries=queries,
            pairs=pairs,
            seed=seed,
            most_missed=most_missed,
            key=ExamKey(key),
            now=NOW,
        )

    def person(self, who: int) -> Person:
        return self.lead if who < 0 else self.judging.annotators[who]

    def desk(self, who: int) -> Desk[ExamDesk]:
        return desk(self.project, self.person(who), now=NOW)

    def phase(self, who: int) -> ExamPhase | None:
        found = self.desk(who).exam
        return found.phase if found else None

    def act(self, who: int, what: str) -> Desk[ExamDesk]:
        return exam_act(self.project, self.person(who), ExamAct(what), now=NOW)

    def answer(self, who: int, name: PairKey, grade: int, key: str = "") -> Receipt:
        event = GradeEvent(name, grade, key or f"{who} {name} {grade}", 100 + who)
        return record_grades(self.project, self.person(who), [event], now=NOW + 5)[0]

    def pair_of(self, who: int, name: PairKey) -> int:
        """The pair behind an item, found by its clip: the moment that is cut for it."""
        job = clip_for(self.project, self.person(who), name)
        found = self.rows(
            "SELECT p.pair_id, q.text FROM pair p JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
            f"JOIN query q USING (query_id) JOIN exam_item i USING (pair_id) WHERE m.start_s = {job.start_s} "
            f"AND v.name = '{job.identity}' ORDER BY i.exam_id DESC"
        )
        query = next(item.query for item in self.desk(who).items if item.pair == name)
        return next(int(str(pair)) for pair, text in found if text == query)

    def grade_all(self, who: int, grades: dict[int, int] | int) -> None:
        """Begin and answer everything: one grade throughout, or one for each pair."""
        self.act(who, "start")
        while items := self.desk(who).items:
            grade = grades if isinstance(grades, int) else grades[self.pair_of(who, items[0].pair)]
            assert self.answer(who, items[0].pair, grade).status == "saved"

    def finish(self, who: int, grades: dict[int, int] | int) -> Desk[ExamDesk]:
        self.grade_all(who, grades)
        return self.act(who, "hand_in")

    def close(self, although: str = "few pairs") -> int:
        return close_exam_round(self.project, self.lead, although=although, now=NOW + 10).finished

    def look_again(self, who: int) -> Desk[ExamDesk]:
        """Go on from the result, and grade what was missed as it is right."""
        found = self.act(who, "go_on")
        while found.exam is not None and found.exam.phase is ExamPhase.AGAIN:
            miss = found.exam.missed[0]
            assert self.answer(who, miss.pair, miss.right, f"again {who} {miss.pair}").status == "saved"
            found = self.desk(who)
        return found

    def items(self) -> list[int]:
        """The pairs that the newest exam or trial asks."""
        return [
            int(str(pair))
            for (pair,) in self.rows(
                "SELECT pair_id FROM exam_item WHERE exam_id = (SELECT max(exam_id) FROM exam) ORDER BY pair_id"
            )
        ]

    def key(self) -> dict[int, int | None]:
        found = self.rows("SELECT pair_id, right_grade FROM exam_item WHERE exam_id = (SELECT max(exam_id) FROM exam)")
        return {int(str(pair)): None if grade is None else int(str(grade)) for pair, grade in found}

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return self.judging.rows(sql)

    def pair_named(self, key: str) -> int:
        return int(str(self.rows(f"SELECT pair_id FROM pair WHERE pair_key = '{key}'")[0][0]))

    def handed_out(self, who: int) -> set[int]:
        """Every pair that this person is ever handed, grading all of them."""
        met: set[int] = set()
        while items := self.desk(who).items:
            for item in items:
                met.add(self.pair_named(item.pair))
                assert self.judging.grade(who, item.pair, 2).status == "saved"
        return met
