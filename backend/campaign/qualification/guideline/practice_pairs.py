"""Choose practice pairs (query text, moment, right grade and explanation), and store newcomers' answers.

*Reads* pairs, consensus, candidates, exams, videos. *Writes* practice, practice_answer, campaign, events; frees seats
(annotators' places on a pair) whose reservation has expired.

The tutorial reveals the right grade of a practice pair. So no annotator may still have to grade the same query and
moment in ordinary work. If a later batch or exam asks for this query and moment, the practice pair is hidden from then
on. Answers to practice pairs never become judgements. Annotators learn the right grade only after their answer; leads
see it at once.
"""

from collections.abc import Sequence
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Annotator, Lead, Operator, Split
from backend.campaign.qualification.answers.key_file import LONGEST_TEXT, grade_column, require_none
from backend.campaign.qualification.answers.rows import fitness
from backend.campaign.qualification.answers.rules import count_misses, misses
from backend.campaign.qualification.guideline import rows as guideline_rows
from backend.campaign.qualification.guideline.rules import Offer, PracticeFigures, PracticeItem, PracticeTold
from backend.campaign.selection.candidates import choosing as candidates
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, Problem, ProjectError, VideoUnreadable
from backend.core.events import Event, EventGroup, Payload
from backend.core.ids import MomentId, PairId, PairKey, QueryId
from backend.core.messages import said
from backend.core.reading import file_bytes
from backend.core.text_files import number, read_csv, stripped
from backend.encoders import sentence
from backend.media.jobs import ClipJob, clip_job
from backend.store import events
from backend.store.connection import Database, reading, writing

MOST = 30
"""The most practice pairs: a longer tutorial would be an exam."""
COLUMNS = ("query", "video", "start", "end", "grade", "explanation")
Item = tuple[str, MomentId, int, str]
"""(query, moment, right grade, explanation)"""


def _switch_words(payload: Payload) -> str:
    return said("switched the tutorial on") if payload.get("on") else said("switched the tutorial off")


TUTORIAL_SWITCHED = Event("tutorial_switched", EventGroup.TRAINING, _switch_words)
"""on: whether newcomers are shown the tutorial"""
PRACTICE_CHOSEN = Event("practice_chosen", EventGroup.TRAINING, said("chose a practice pair for grade {grade}"))
"""query, moment, grade, explanation"""
PRACTICE_WITHDRAWN = Event("practice_withdrawn", EventGroup.TRAINING, said("withdrew a practice pair of grade {grade}"))
"""query, moment, grade"""


@permissions.in_charge
def practice_figures(project: Project, by: Lead | Operator, *, now: float) -> list[PracticeFigures]:
    """Return the practice pairs, each with how many annotators answered it and how many first answers were wrong."""
    with reading(project.store) as db:
        first, tolerance = guideline_rows.first_answers(db), project_rows.campaign(db).tolerance
        return [
            PracticeFigures(
                *(pair.practice_id, pair.key, pair.query, pair.video, pair.start_s, pair.end_s),
                *(pair.grade, pair.explanation, hidden(db, pair, lease_s=project.lease_s, now=now)),
                people=len(first.get(pair.practice_id, [])),
                missed=count_misses(((grade, pair.grade) for grade in first.get(pair.practice_id, [])), tolerance),
            )
            for pair in guideline_rows.practice_pairs(db)
        ]


@permissions.lead_only
def choose_practice(
    project: Project, lead: Lead, query: str, moment_id: MomentId, grade: int, explanation: str, *, now: float
) -> None:
    """Add a practice pair: a query text and a moment that newcomers grade to practise.

    Raises:
        ProjectError: there are `MOST` practice pairs already; this is one of them; the text or the explanation is
            missing or too long; the clip cannot be shown; or annotators may still have to grade this query and moment.
    """
    item = (_joined(query), moment_id, grade, _joined(explanation))
    with writing(project.store) as db:
        if len(guideline_rows.practice_pairs(db)) >= MOST:
            raise ProjectError(said("there are already {most} practice pairs: remove one first", most=MOST))
        if why := _item_problem(db, item, lease_s=project.lease_s, now=now):
            raise ProjectError(why)
        if any((pair.query, pair.moment_id) == item[:2] for pair in guideline_rows.practice_pairs(db)):
            raise ProjectError(said("this is already a practice pair"))
        _add(db, lead, item, now=now)


@permissions.lead_only
def choose_practice_pair(
    project: Project, lead: Lead, pair: PairKey, grade: int, explanation: str, *, now: float
) -> None:
    """Add a practice pair from a pair of the project whose grading has ended.

    If the pair has a final grade, `grade` must be the same. If it was discarded without one, any grade is accepted.

    Raises:
        ProjectError: the pair no longer exists, or `choose_practice` refuses it.
    """
    with writing(project.store) as db:
        made_of = guideline_rows.pair_made_of(db, pair)
        if made_of is None:
            raise ProjectError(said("this pair no longer exists: reload the page"))
        choose_practice(project, lead, *made_of, grade, explanation, now=now)


@permissions.lead_only
def withdraw_practice(project: Project, lead: Lead, practice_id: int, *, now: float) -> None:
    """Take a practice pair out of the tutorial. Answers to it stay in the record."""
    with writing(project.store) as db:
        current = {pair.practice_id: pair for pair in guideline_rows.practice_pairs(db)}.get(practice_id)
        if current is not None:
            _withdraw(db, lead, current, now=now)


@permissions.in_charge
def set_practice_from_file(project: Project, by: Lead | Operator, file: Path, *, now: float) -> int:
    """Replace all practice pairs by those of a CSV file, in its order, and return how many there are.

    Its columns are `query,video,start,end,grade,explanation`. Each span from start to end, in seconds, must be a moment
    of the project.

    Raises:
        InputError: the file has problems, all of which are listed; nothing was changed.
    """
    data = file_bytes(file)
    with writing(project.store) as db:
        items = _read_items(db, data, file.name, lease_s=project.lease_s, now=now)
        current = guideline_rows.practice_pairs(db)
        current_items = {(pair.query, pair.moment_id, pair.grade, pair.explanation): pair for pair in current}
        if list(current_items) != items:
            for pair in current:
                _withdraw(db, by, pair, now=now)
            for item in items:
                _add(db, by, item, now=now)
    return len(items)


@permissions.in_charge
def switch_tutorial(project: Project, by: Lead | Operator, on: bool, *, now: float) -> None:
    """Switch the tutorial on or off. If it is on, newcomers get it before their first clip."""
    with writing(project.store) as db:
        if project_rows.campaign(db).tutorial != on:
            project_rows.set_tutorial(db, on)
            payload = {"on": on}
            events.record(db, TUTORIAL_SWITCHED, at=now, actor=by.annotator_id, subject="tutorial", payload=payload)


def hidden(db: Database, pair: guideline_rows.PracticePair, *, lease_s: float, now: float) -> str:
    """Return why a practice pair cannot be shown to annotators at present; an empty text if it can."""
    return _why_unfit(db, pair.query, pair.moment_id, pair.grade, lease_s=lease_s, now=now)


def _item_problem(db: Database, item: Item, *, lease_s: float, now: float) -> str:
    query, moment_id, grade, explanation = item
    if not query:
        return said("a practice pair needs the text of a query")
    if not explanation:
        return said("a practice pair needs an explanation: say in one or two sentences why this grade is right")
    for name, text in ((said("query"), query), (said("explanation"), explanation)):
        if len(text) > LONGEST_TEXT:
            return said(
                "the {name} has {length} characters: use at most {longest}",
                name=name,
                length=len(text),
                longest=LONGEST_TEXT,
            )
    return _why_unfit(db, query, moment_id, grade, lease_s=lease_s, now=now)


def _why_unfit(db: Database, query: str, moment_id: MomentId, grade: int, *, lease_s: float, now: float) -> str:
    scale = project_rows.scale(db)
    if grade not in scale:
        return said("{grade} is not a grade: grades are {words}", grade=grade, words=scale.words)
    if fault := guideline_rows.fault(db, moment_id):
        return said("its clip cannot be shown: {fault}", fault=fault)
    for pair in guideline_rows.same_pairs(db, query, moment_id):
        if why := _why_open(db, pair, grade, lease_s=lease_s, now=now):
            return why
    if guideline_rows.may_become_pair(db, query, moment_id):
        return said("it is on the candidate list of this query, so a later batch may hand it out")
    return ""


def _why_open(db: Database, pair: guideline_rows.SamePair, grade: int, *, lease_s: float, now: float) -> str:
    if not pair.settled:
        return said("it is an open pair, so somebody may still have to grade it")
    if seats.is_set_aside(db, pair.pair_id):
        return said("it is in the exam, and practice would reveal its grade")
    pair_fitness = fitness(db, pair.pair_id)
    if pair_fitness.correctable_s(now) > 0:
        return said("its last grade can still be corrected: choose it in a quarter of an hour")
    if pair_fitness.held_s(now, lease_s) >= 0:
        return said("somebody is grading this pair: choose it once they have finished")
    if pair.relevance not in (None, grade):
        return said("the relevance of this pair is {relevance}, not {grade}", relevance=pair.relevance, grade=grade)
    return ""


def _add(db: Database, lead: Lead | Operator, item: Item, *, now: float) -> None:
    query, moment_id, grade, explanation = item
    for pair in guideline_rows.same_pairs(db, query, moment_id):
        seats.free_held(db, PairId(pair.pair_id))  # nobody grades what practice explains
    guideline_rows.add_practice(db, *item, lead.annotator_id, at=now)
    payload = {"query": query, "moment": moment_id, "grade": grade, "explanation": explanation}
    _tell(db, PRACTICE_CHOSEN, lead, payload, now)


def _withdraw(db: Database, lead: Lead | Operator, pair: guideline_rows.PracticePair, *, now: float) -> None:
    guideline_rows.withdraw_practice(db, pair.practice_id, at=now)
    payload = {"query": pair.query, "moment": pair.moment_id, "grade": pair.grade}
    _tell(db, PRACTICE_WITHDRAWN, lead, payload, now)


def _read_items(db: Database, data: bytes, file: str, *, lease_s: float, now: float) -> list[Item]:
    table = read_csv(data, file, COLUMNS, numbers=("start", "end"))
    problems = list(table.problems)
    texts, _ = table.values("query", stripped)
    videos, _ = table.values("video", stripped)
    starts, bad_starts = table.values("start", number, needed=True)
    ends, bad_ends = table.values("end", number, needed=True)
    grades, bad_grades = grade_column(db, table, file)
    problems += [
        Problem(file, row, said("start is {given!r}, not a number of seconds", given=text)) for row, text in bad_starts
    ]
    problems += [
        Problem(file, row, said("end is {given!r}, not a number of seconds", given=text)) for row, text in bad_ends
    ]
    problems += bad_grades
    items: dict[tuple[str, MomentId], Item] = {}
    cells = zip(table.rows, texts, videos, starts, ends, grades, table.columns["explanation"], strict=True)
    for row, text, video, start_s, end_s, grade, why in cells:
        if start_s is None or end_s is None or grade is None:
            continue
        moment_id = guideline_rows.moment_at(db, video or "", start_s, end_s)
        if moment_id is None:
            problems.append(
                Problem(
                    file,
                    row,
                    said(
                        "{video} has no moment from {start_s:g} to {end_s:g} s",
                        video=video,
                        start_s=start_s,
                        end_s=end_s,
                    ),
                )
            )
            continue
        item = (_joined(text or ""), moment_id, grade, _joined(why))
        if item[:2] in items:
            problems.append(Problem(file, row, said("this text and moment are in the file twice")))
        elif problem := _item_problem(db, item, lease_s=lease_s, now=now):
            problems.append(Problem(file, row, problem))
        items.setdefault(item[:2], item)
    if len(items) > MOST:
        problems.append(
            Problem(file, None, said("has {n} practice pairs: a tutorial has at most {most}", n=len(items), most=MOST))
        )
    require_none(problems)
    return list(items.values())


def _joined(text: str) -> str:
    return " ".join(text.split())


def _tell(db: Database, event: Event, by: Lead | Operator, payload: dict[str, object], now: float) -> None:
    events.record(db, event, at=now, actor=by.annotator_id, subject="tutorial", payload=payload)


GONE = said("this is no longer a practice pair: reload the page")


@permissions.annotator_only
def practice_items(project: Project, person: Annotator, *, now: float) -> list[PracticeItem]:
    """Return the practice pairs that an annotator is shown, without the right grades."""
    with reading(project.store) as db:
        own = guideline_rows.last_answers(db, person.annotator_id)
        visible = (
            pair for pair in guideline_rows.practice_pairs(db) if not hidden(db, pair, lease_s=project.lease_s, now=now)
        )
        return [PracticeItem(pair.key, pair.query, pair.whole, own.get(pair.practice_id)) for pair in visible]


@permissions.signed_in
def practice_clip(project: Project, person: Lead | Annotator, key: str) -> ClipJob:
    """Return the description of a practice pair's clip, from which it can be cut and shown.

    Raises:
        NotAllowed: there is no such practice pair.
        VideoUnreadable: the project does not know the video's file.
    """
    with reading(project.store) as db:
        pair = _by_key(guideline_rows.practice_pairs(db), key)
        if pair is None:
            raise NotAllowed(GONE)
        video = corpus.video_facts(db, pair.video)
    if video is None:
        raise VideoUnreadable(
            said(
                "{name}: {why}",
                name=pair.video,
                why=said("the place of the video file is not known: import the corpus again with --videos FOLDER"),
            )
        )
    return clip_job(project.clips, project.source(video), pair.start_s, pair.end_s, video.sha256)


@permissions.annotator_only
def answer_practice(
    project: Project, person: Annotator, key: str, grade: int, event_key: str, *, now: float
) -> PracticeTold:
    """Store an annotator's answer to a practice pair, and return the right grade and the explanation.

    Sending the same key press (`event_key`) again changes nothing.

    Raises:
        ProjectError: there is no such practice pair, `grade` is not a grade, or the key press belongs to another
            answer.
    """
    with writing(project.store) as db:
        pair = _by_key(guideline_rows.practice_pairs(db), key)
        if pair is None or hidden(db, pair, lease_s=project.lease_s, now=now):
            raise ProjectError(GONE)
        campaign = project_rows.campaign(db)
        if grade not in campaign.scale:
            raise ProjectError(
                said("{grade} is not a grade: grades are {words}", grade=grade, words=campaign.scale.words)
            )
        owner = guideline_rows.answer_owner(db, event_key)
        if owner is None:
            guideline_rows.add_answer(db, pair.practice_id, person.annotator_id, grade, event_key, at=now)
        elif owner != (pair.practice_id, person.annotator_id, grade):
            raise ProjectError(said("this key press was already stored for another answer: press the grade again"))
    return PracticeTold(grade, pair.grade, not misses(grade, pair.grade, campaign.tolerance), pair.explanation)


def _by_key(pairs: list[guideline_rows.PracticePair], key: str) -> guideline_rows.PracticePair | None:
    return next((pair for pair in pairs if pair.key == key), None)


MOST_TEXTS = 2000


@permissions.lead_only
def practice_offers(project: Project, lead: Lead, text: str, *, most: int = 6) -> list[Offer]:
    """Return the moments whose captions are most similar to a practice text, at most `most`, the most similar first.

    A lead chooses the moment of a practice pair from them. This loads the project's encoder.

    Raises:
        ProjectError: the candidate lists were made with another encoder.
    """
    settings, db = project.settings, project.store.db
    encoder = sentence.load(sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype))
    recorded = candidates_rows.encoder_of_candidates(db)
    if recorded is not None and recorded != encoder.identity:
        raise ProjectError(
            said(
                "the candidate lists were made with {recorded}, but the encoder is now {identity}",
                recorded=recorded,
                identity=encoder.identity,
            )
        )
    query_rows = [QueryRow(QueryId(0), " ".join(text.split()), Split.TRAIN)]
    rows, _ = candidates.search(project, encoder, query_rows, most)
    details = corpus.moment_details(db)
    return [
        Offer(row.moment_id, moment.video, moment.start_s, moment.end_s, moment.caption, row.similarity)
        for row in rows
        for moment in (details[row.moment_id],)
    ]


@permissions.lead_only
def practice_texts(project: Project, lead: Lead) -> Sequence[str]:
    """Return texts that a lead may choose for practice pairs: the first `MOST_TEXTS` distinct training queries.

    Annotators never grade training queries.
    """
    with reading(project.store) as db:
        return list(dict.fromkeys(query.text for query in queries.query_rows(db, (Split.TRAIN,))))[:MOST_TEXTS]
