"""What leads do about the qualification exam: set it, explain it, end it, grant another attempt, exempt.

*Reads* pairs, consensus, attempts. *Writes* exam, exam_item, exam_ruling, seats that nobody came back to,
agenda, events. How an exam of open pairs gets its key is the business of `keys`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.candidates.rows import agenda
from backend.campaign.exam.model import ExamKey, ExamPhase, ExamPurpose
from backend.campaign.exam.rows import attempts, drawing, exams
from backend.campaign.exam.rows.exams import Exam
from backend.campaign.exam.rules.drawing import draw, draw_top
from backend.campaign.exam.standing import standing
from backend.campaign.judging.model import CORRECTION_S
from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Lead, Operator, Person, Role
from backend.campaign.people import rows as people
from backend.campaign.project import rows as facts
from backend.ground.errors import InputError, Problem, ProjectError
from backend.ground.ids import AnnotatorId, PairId
from backend.ground.reading import bytes_of
from backend.ground.text_files import read_csv, whole
from backend.store import events
from backend.store.connection import Database, Store, writing
from backend.store.events import EventKind

SEED = 1
LONGEST_TEXT = 400
SETTLED = "settled pairs"
OPEN = "open pairs"
HAD_GRADED = "had graded before the exam was set"
Item = tuple[PairId, int | None, str]
"""(pair, right grade if it is known, explanation)"""


@dataclass(frozen=True, slots=True)
class ExamReport:
    """What was set.

    `asked` is how many (queries, pairs of each) were wanted, None of a file; `grades` how many items have each right
    grade of the scale, nothing while there is no key; `exempted` people had graded before.
    """

    items: int
    queries: int
    asked: tuple[int, int] | None
    grades: tuple[int, ...]
    most_missed: float
    exempted: int

    @property
    def short(self) -> str:
        """What was asked for and is not there, in a sentence; an empty text where all of it is."""
        if self.asked is None or self.items >= self.asked[0] * self.asked[1]:
            return ""
        queries, pairs = self.asked
        return (
            f"Asked for {_count(queries, 'query', 'queries')} with {_count(pairs, 'pair', 'pairs')} each; there "
            f"{'was' if self.items == 1 else 'were'} only {_count(self.items, 'pair', 'pairs')} of "
            f"{_count(self.queries, 'query', 'queries')} to be had."
        )


def set_from_settled(
    store: Store,
    lead: Lead | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Hold an exam of settled pairs, in the place of the one that is held; the key is their relevance now.

    What is None is as the campaign's settings say.

    Args:
        store: the project's store.
        lead: who sets it.
        queries: of how many queries.
        pairs: of how many pairs of each, at most.
        seed: of the draw.
        most_missed: percent of the answers that may miss the key.
        newcomers_only: exempt everybody who has graded here.
        now: seconds since 1970.

    Raises:
        ProjectError: there is no settled pair to ask, or a number makes no sense.
    """
    with writing(store) as db:
        asked, most_missed = _usual(db, queries, pairs, most_missed)
        there = drawing.settled(db, now=now, final_before=now - CORRECTION_S)
        drawn = draw(there, queries=asked[0], pairs=asked[1], seed=seed)
        if not drawn:
            raise ProjectError(
                "there is no settled pair to ask yet (with a clip, on nobody's desk, not corrected any more): hold an "
                "exam of open pairs, settle some pairs first, or bring the key in a file"
            )
        items = [(one.pair_id, one.relevance, "") for one in drawn]
        return _set(db, lead, items, ExamKey.SETTLED, asked, SETTLED, seed, most_missed, newcomers_only, now)


def set_from_open(
    store: Store,
    lead: Lead | Operator,
    key: ExamKey,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Hold an exam of open pairs, in the place of the one that is held; or, with `ExamKey.NONE`, a trial.

    Its items are the top candidates of some queries. While it is held nobody is handed them as work; the key comes
    from `key`, later. Arguments as in `set_from_settled`.

    Raises:
        ProjectError: there is no open pair to ask, or a number makes no sense.
    """
    with writing(store) as db:
        asked, most_missed = _usual(db, queries, pairs, most_missed)
        _end(db, lead, _purpose(key), now, replaced=True)  # what it asked may be asked again
        drawn = draw_top(drawing.open_pairs(db, now=now), queries=asked[0], pairs=asked[1], seed=seed)
        if not drawn:
            raise ProjectError(
                "there is no open pair to ask (with a clip, graded by nobody, on nobody's desk): "
                "an exam of settled pairs may be what you want"
            )
        items = [(one.pair_id, None, "") for one in drawn]
        return _set(db, lead, items, key, asked, OPEN, seed, most_missed, newcomers_only, now)


def set_from_file(
    store: Store,
    lead: Lead | Operator,
    file: Path,
    *,
    most_missed: float | None = None,
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Hold an exam with the key of a CSV file `pair_id,grade` and perhaps `query_id,explanation`.

    The pairs must be settled (a discarded one will do), so that nobody has to judge what the exam explains.

    Raises:
        InputError: with every problem of the file, also if it cannot be read; nothing of it was taken.
        ProjectError: a number makes no sense.
    """
    data = bytes_of(file)
    with writing(store) as db:
        most_missed = facts.campaign(db).exam.most_missed if most_missed is None else most_missed
        _require_share(most_missed)
        items = _read_items(db, data, file.name, now=now)
        return _set(db, lead, items, ExamKey.SETTLED, None, file.name, None, most_missed, newcomers_only, now)


def end(store: Store, lead: Lead | Operator, *, now: float, purpose: ExamPurpose = ExamPurpose.EXAM) -> bool:
    """Hold no exam (or trial) any more, so that everybody may judge; whether one was held.

    Attempts stay in the record. Its open pairs go back to work, for people who have not answered them.
    """
    with writing(store) as db:
        return _end(db, lead, purpose, now, replaced=False)


def grant_retake(store: Store, lead: Lead | Operator, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let somebody take the exam that is held once more; it also takes an exemption back.

    Raises:
        ProjectError: no such annotator, or they can take it as it is.
    """
    with writing(store) as db:
        held, person = _person(db, annotator_id)
        found = standing(db, person, held)
        if found.phase in (ExamPhase.FIRST, ExamPhase.ANSWERING, ExamPhase.ANSWERED):
            raise ProjectError(f"{person.name} may take the exam already")
        if found.phase is ExamPhase.WAITING:
            raise ProjectError(f"{person.name} has handed in and waits for the key: close the round first")
        after = found.attempt.number if found.attempt else 0
        attempts.rule(db, annotator_id, "retake", "", by=lead.annotator_id, after_attempt=after, at=now)
        _tell(db, EventKind.EXAM_RETAKE, lead, f"annotator:{annotator_id}", {"after_attempt": after}, now)


def exempt(store: Store, lead: Lead | Operator, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Let somebody judge without having passed, for a reason.

    Raises:
        ProjectError: no such annotator, or no reason.
    """
    reason = _text(reason)
    if not reason:
        raise ProjectError("an exemption needs a reason: write one sentence about why")
    with writing(store) as db:
        _, person = _person(db, annotator_id)
        _exempt(db, lead, person.annotator_id, reason, now)


def explain(store: Store, lead: Lead, item_id: int, explanation: str, *, now: float) -> None:
    """Write, for who missed an item, why its grade is right; an empty text takes the explanation back.

    Raises:
        ProjectError: no such item.
    """
    explanation = _text(explanation)
    with writing(store) as db:
        pair_id = exams.explain(db, item_id, explanation)
        if pair_id is None:
            raise ProjectError("there is no such item of the exam (any more): reload the page")
        payload = {"pair": pair_id, "explanation": explanation}
        _tell(db, EventKind.EXAM_EXPLAINED, lead, f"exam_item:{item_id}", payload, now)


def _set(
    db: Database,
    lead: Lead | Operator,
    items: Sequence[Item],
    key: ExamKey,
    asked: tuple[int, int] | None,
    source: str,
    seed: int | None,
    most_missed: float,
    newcomers_only: bool,
    now: float,
) -> ExamReport:
    _end(db, lead, _purpose(key), now, replaced=True)
    for pair_id, _, _ in items:
        seats.free_lapsed(db, pair_id)  # nobody grades what the exam explains
    exam_id = exams.add(
        db, items, at=now, by=lead.annotator_id, source=source, seed=seed, most_missed=most_missed, key_from=key
    )
    _refresh_agenda(db, exam_id)
    veterans = attempts.graded_before(db) if newcomers_only else []
    for annotator_id in veterans:
        _exempt(db, lead, annotator_id, HAD_GRADED, now)
    held = exams.by_id(db, exam_id)
    queries = held.queries if held else 0
    payload: dict[str, object] = {"source": source, "seed": seed, "items": len(items), "queries": queries}
    payload |= {"most_missed": most_missed, "exempted": len(veterans), "key": key}
    _tell(db, EventKind.EXAM_SET, lead, f"exam:{exam_id}", payload, now)
    grades = Counter(right for _, right, _ in items if right is not None)
    by_grade = tuple(grades[grade] for grade in facts.scale(db).grades) if grades else ()
    return ExamReport(len(items), queries, asked, by_grade, most_missed, len(veterans))


def _end(db: Database, lead: Lead | Operator, purpose: ExamPurpose, now: float, *, replaced: bool) -> bool:
    """End what is held; whether anything was."""
    exam_id = exams.end(db, at=now, purpose=purpose)
    if exam_id is not None:
        _refresh_agenda(db, exam_id)
        _tell(db, EventKind.EXAM_ENDED, lead, f"exam:{exam_id}", {"replaced": replaced}, now)
    return exam_id is not None


def _refresh_agenda(db: Database, exam_id: int) -> None:
    for batch_id in exams.batches(db, exam_id):
        agenda.refresh(db, batch_id)


def _purpose(key: ExamKey) -> ExamPurpose:
    return ExamPurpose.TRIAL if key is ExamKey.NONE else ExamPurpose.EXAM


def _usual(
    db: Database, queries: int | None, pairs: int | None, most_missed: float | None
) -> tuple[tuple[int, int], float]:
    """((queries, pairs of each), share that may miss): what is None is as the campaign's settings say."""
    usual = facts.campaign(db).exam
    queries = usual.queries if queries is None else queries
    pairs = usual.pairs if pairs is None else pairs
    most_missed = usual.most_missed if most_missed is None else most_missed
    _require_share(most_missed)
    if queries < 1 or pairs < 1:
        raise ProjectError("an exam needs at least one query and one pair of each")
    return (queries, pairs), most_missed


def _read_items(db: Database, data: bytes, file: str, *, now: float) -> list[Item]:
    table = read_csv(data, file, ("pair_id", "grade"), ("query_id", "explanation"))
    problems = list(table.problems)
    pairs, bad_pairs = table.values("pair_id", whole, needed=True)
    grade_of = {str(grade): grade for grade in facts.scale(db).grades}
    grades, bad_grades = table.values("grade", grade_of.get, needed=True)
    queries, bad_queries = table.values("query_id", whole)
    problems += [Problem(file, row, f"pair_id is {text!r}, not a whole number") for row, text in bad_pairs]
    problems += [Problem(file, row, f"grade is {text!r}, not one of {', '.join(grade_of)}") for row, text in bad_grades]
    problems += [Problem(file, row, f"query_id is {text!r}, not a whole number") for row, text in bad_queries]
    explanations = table.columns.get("explanation", [""] * len(table.rows))
    items: dict[PairId, Item] = {}
    for row, pair, grade, query, text in zip(table.rows, pairs, grades, queries, explanations, strict=True):
        if pair is None or grade is None:
            continue
        pair_id = PairId(pair)
        if pair_id in items:
            problems.append(Problem(file, row, f"pair {pair} stands in the file twice"))
        elif why := drawing.why_unfit(db, pair_id, now=now):
            problems.append(Problem(file, row, f"pair {pair} {why}"))
        elif query is not None and drawing.query_of(db, pair_id) != query:
            problems.append(Problem(file, row, f"pair {pair} does not belong to query {query}"))
        elif len(_joined(text)) > LONGEST_TEXT:
            problems.append(Problem(file, row, f"the explanation is longer than {LONGEST_TEXT} characters"))
        items.setdefault(pair_id, (pair_id, grade, _joined(text)))
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return list(items.values())


def _person(db: Database, annotator_id: AnnotatorId) -> tuple[Exam, Person]:
    held, person = exams.held(db), people.by_id(db, annotator_id)
    if held is None:
        raise ProjectError("this project has no exam just now")
    if person is None or person.role is not Role.ANNOTATOR:
        raise ProjectError("only annotators take the exam: reload the page")
    return held, person


def _exempt(db: Database, lead: Lead | Operator, annotator_id: AnnotatorId, reason: str, now: float) -> None:
    attempt = attempts.newest(db, annotator_id)
    after = attempt.number if attempt else 0
    attempts.rule(db, annotator_id, "exempt", reason, by=lead.annotator_id, after_attempt=after, at=now)
    _tell(db, EventKind.EXAM_EXEMPTED, lead, f"annotator:{annotator_id}", {"reason": reason}, now)


def _require_share(most_missed: float) -> None:
    if not 0 <= most_missed <= 100:
        raise ProjectError(f"{most_missed:g} is not a share of answers: give 0 to 100 percent")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _joined(text: str) -> str:
    return " ".join(text.split())


def _text(text: str) -> str:
    text = _joined(text)
    if len(text) > LONGEST_TEXT:
        raise ProjectError(f"the text has {len(text)} characters: say it in {LONGEST_TEXT}")
    return text


def _tell(
    db: Database, kind: EventKind, lead: Lead | Operator, subject: str, payload: Mapping[str, object], now: float
) -> None:
    events.record(db, kind, at=now, actor=lead.annotator_id, subject=subject, payload=payload)
