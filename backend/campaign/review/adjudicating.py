"""Record leads' decisions on pairs: a relevance, a confirmed discard, a re-opening, or a withdrawal of one of these.

A re-opened pair is graded by two more annotators. A decision counts until a lead takes it back. It stays on record even
then, and no annotator's judgement changes.

Leads also reply here to the notes that annotators wrote with their grades. Only the author of a note sees the reply,
and only once the pair is settled and its grades can no longer be corrected.

*Reads* the tables of all earlier stages. *Writes* adjudications, rulings, replies, reply_read, seats, consensus,
agenda, events.
"""

from backend.campaign.judging.model import CORRECTION_S, ActKind, MyReply
from backend.campaign.judging.rows import judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.judging.rows.pair_status import LeadAct
from backend.campaign.judging.verdicts import settle
from backend.campaign.nouns import Annotator, Lead, Operator, Verdict
from backend.campaign.review.model import ADJUDICATED, DISCARD_CONFIRMED, NOTE_ANSWERED, RE_OPENED, TAKEN_BACK
from backend.campaign.review.rows import pair_lists, reviews
from backend.campaign.setup.people.permissions import annotator_only, in_charge, lead_only
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, ProjectError
from backend.core.events import Event
from backend.core.ids import PairKey
from backend.core.messages import said
from backend.core.text_files import csv_text
from backend.core.typed_text import is_visible, tidy
from backend.store import events
from backend.store.connection import Database, reading, writing

GONE = said("this pair no longer exists: reload the page")


@lead_only
def adjudicate(
    project: Project, lead: Lead, key: PairKey, relevance: int, reason: str, *, seen: int = 0, now: float
) -> None:
    """Record a lead's relevance for a pair.

    It overrides the relevance computed from annotators' grades and any earlier decision, but erases nothing. The event
    says whether this lead had opened what a model said about the pair.

    Args:
        project: the project.
        lead: the lead who decides.
        key: the pair.
        relevance: the relevance that the pair gets, a grade of the project's scale.
        reason: why, in the lead's words.
        seen: how many lead decisions on this pair the lead's page showed. If there are more by now, nothing is
            recorded.
        now: seconds since 1970.

    Raises:
        Overtaken: the lead had not seen the newest decision. Sending the same decision twice is no error; the second
            one has no effect.
        ProjectError: no such pair, no reason, or not a relevance; or `seen` is greater than the number of decisions.
    """
    reason = reason.strip()
    if not is_visible(reason):
        raise ProjectError(said("a decision needs a reason: write one sentence about why"))
    with writing(project.store) as db:
        scale = project_rows.scale(db)
        if relevance not in scale:
            raise ProjectError(
                said("{relevance} is not a relevance: choose {words}", relevance=relevance, words=scale.words)
            )
        pair = _pair_of(db, key)
        if _is_done(db, pair, lead, ActKind.DECIDED, reason, seen=seen, now=now, relevance=relevance):
            return
        pair_status.add_decision(db, pair.pair_id, lead.annotator_id, relevance, reason, at=now)
        settle(db, pair.pair_id, lead, now=now)
        _record(db, pair, lead, ADJUDICATED, now=now, relevance=relevance, reason=reason)


@lead_only
def confirm_discard(project: Project, lead: Lead, key: PairKey, reason: str = "", *, seen: int = 0, now: float) -> None:
    """Confirm that a pair is rightly discarded, so that it no longer waits for a lead. The reason is optional.

    A pair is discarded if four or six annotators could not agree on its relevance. The arguments are those of
    `adjudicate`.

    Raises:
        Overtaken: the lead had not seen the newest decision. Sending the same confirmation twice is no error; the
            second one has no effect.
        ProjectError: no such pair, or it is not discarded; or `seen` is greater than the number of decisions.
    """
    with writing(project.store) as db:
        pair = _pair_of(db, key)
        if _is_done(db, pair, lead, ActKind.DISCARD_CONFIRMED, reason.strip(), seen=seen, now=now):
            return
        if pair_status.verdict(db, pair.pair_id) is not Verdict.DISCARDED:
            raise ProjectError(said("this pair is not discarded, so it cannot be confirmed: reload the page"))
        _add(db, pair, lead, ActKind.DISCARD_CONFIRMED, DISCARD_CONFIRMED, reason.strip(), now=now)


@lead_only
def re_open(project: Project, lead: Lead, key: PairKey, reason: str, *, seen: int = 0, now: float) -> None:
    """Re-open a discarded pair, so that two more annotators grade it.

    A pair is discarded if its four grades differ too much. The middle two of the six grades then decide about its
    relevance. The arguments are those of `adjudicate`.

    Raises:
        Overtaken: the lead had not seen the newest decision. Sending the same re-opening twice is no error; the second
            one has no effect.
        ProjectError: no such pair, or no reason. Or the pair is not discarded, or was re-opened before. Or its clip
            cannot be shown, or annotators were shown its right grade.
    """
    reason = reason.strip()
    if not is_visible(reason):
        raise ProjectError(said("re-opening needs a reason: two more people will work on this pair"))
    with writing(project.store) as db:
        pair = _pair_of(db, key)
        if _is_done(db, pair, lead, ActKind.RE_OPENED, reason, seen=seen, now=now):
            return
        if pair_status.is_re_opened(db, pair.pair_id):
            raise ProjectError(said("six people have already graded this pair: confirm its discard, or decide it"))
        if pair_status.verdict(db, pair.pair_id) is not Verdict.DISCARDED:
            raise ProjectError(said("this pair is not discarded, so it cannot be re-opened: reload the page"))
        if pair_status.is_faulty(db, pair.moment_id):
            raise ProjectError(
                said("its clip cannot be shown, so nobody could grade it: hand the clip out again first")
            )
        _require_unknown(db, pair)
        seats.re_open(db, pair.pair_id)
        _add(db, pair, lead, ActKind.RE_OPENED, RE_OPENED, reason, now=now)
        settle(db, pair.pair_id, lead, now=now)


@lead_only
def take_back(project: Project, lead: Lead, key: PairKey, reason: str, *, seen: int, now: float) -> None:
    """Take back the newest lead decision on a pair that is still in force.

    The pair then has the result of the decision before it. If there is none, its result follows from the annotators'
    grades. The arguments are those of `adjudicate`.

    Raises:
        Overtaken: the lead had not seen the newest decision. Sending the same withdrawal twice is no error; the second
            one has no effect.
        ProjectError: no such pair, no reason, or nothing to take back. Or an annotator has already started on the
            re-opened pair. Or the pair would be handed out again, although annotators were shown its right grade.
    """
    reason = reason.strip()
    if not is_visible(reason):
        raise ProjectError(said("taking something back needs a reason: it stays on record"))
    with writing(project.store) as db:
        pair = _pair_of(db, key)
        if _is_done(db, pair, lead, ActKind.TAKEN_BACK, reason, seen=seen, now=now):
            return
        last = next((act for act in reversed(pair_status.acts(db, pair.pair_id)) if act.stands), None)
        if last is None:
            raise ProjectError(said("there is no lead's decision about this pair to take back: reload the page"))
        if last.kind is ActKind.RE_OPENED:
            if last.lead_id is None:
                raise ProjectError(said("a re-opening in an earlier campaign cannot be taken back"))
            if who := seats.re_opened_in_use(db, pair.pair_id, project.lease_s, now=now):
                raise ProjectError(
                    said("{who} has already started on this pair, so it stays open: decide it instead", who=who)
                )
            seats.close_re_opened(db, pair.pair_id)
        if last.kind is ActKind.DECIDED:
            seats.open_again(db, pair.pair_id)  # `settle` closes them again if an older decision stands
        pair_status.add_act(
            db, pair.pair_id, lead.annotator_id, ActKind.TAKEN_BACK, reason, at=now, takes_back=last.revision
        )
        settle(db, pair.pair_id, lead, now=now)
        if not pair_status.verdict(db, pair.pair_id).is_settled:
            _require_unknown(db, pair)
        _record(db, pair, lead, TAKEN_BACK, now=now, what=last.kind, reason=last.reason, why=reason)


def _pair_of(db: Database, key: PairKey) -> PairRow:
    """Return the pair with this key.

    Raises:
        ProjectError: no pair has this key.
    """
    pair = judgements.pair_by_key(db, key)
    if pair is None:
        raise ProjectError(GONE)
    return pair


def _is_done(
    db: Database,
    pair: PairRow,
    lead: Lead,
    kind: ActKind,
    reason: str,
    *,
    seen: int,
    now: float,
    relevance: int | None = None,
) -> bool:
    """Return whether a pair's newest decision already is the given one, so that a form sent twice counts once.

    Lead, kind, reason and relevance are compared. `seen` is how many lead decisions on the pair the lead's page showed.

    Raises:
        Overtaken: the lead had not seen the newest decision, and it differs from the given one.
        ProjectError: `seen` is greater than the number of decisions, so the page is out of date.
    """
    acts = pair_status.acts(db, pair.pair_id)
    if len(acts) < seen:
        raise ProjectError(said("this page is out of date: reload the page"))
    if len(acts) == seen:
        return False
    newest = acts[-1]
    if len(acts) == seen + 1 and (newest.lead_id, newest.kind, newest.relevance, newest.reason) == (
        *(lead.annotator_id, kind, relevance, reason),
    ):
        return True
    raise Overtaken(_act_words(newest, lead, now))


def _act_words(act: LeadAct, lead: Lead, now: float) -> str:
    who: str = act.lead or said("An earlier campaign", _context="by")
    if act.lead_id == lead.annotator_id:
        who = said("You", _context="by")
    when, why = ago(now - act.at), said(" (“{reason}”)", reason=act.reason) if act.reason else ""
    again = said("To make yours count, do it again; both stay on record")
    match act.kind:
        case ActKind.DECIDED:
            return said(
                "{who} decided this pair {when}: relevance {relevance}{why}. To replace that, decide again; "
                "both stay on record",
                who=who,
                when=when,
                relevance=act.relevance,
                why=why,
            )
        case ActKind.DISCARD_CONFIRMED:
            return said(
                "{who} confirmed the discard of this pair {when}{why}. {again}",
                who=who,
                when=when,
                why=why,
                again=again,
            )
        case ActKind.RE_OPENED:
            return said(
                "{who} re-opened this pair for two more people {when}{why}. {again}",
                who=who,
                when=when,
                why=why,
                again=again,
            )
        case ActKind.TAKEN_BACK:
            return said(
                "{who} took back a lead's decision about this pair {when}{why}. {again}",
                who=who,
                when=when,
                why=why,
                again=again,
            )


def _add(db: Database, pair: PairRow, lead: Lead, kind: ActKind, event: Event, reason: str, *, now: float) -> None:
    pair_status.add_act(db, pair.pair_id, lead.annotator_id, kind, reason, at=now)
    _record(db, pair, lead, event, now=now, reason=reason)


def _record(db: Database, pair: PairRow, lead: Lead, event: Event, *, now: float, **payload: object) -> None:
    if event is ADJUDICATED and reviews.saw_model(db, pair.pair_id, lead.annotator_id):
        payload["model_seen"] = True
    events.record(db, event, at=now, actor=lead.annotator_id, subject=f"pair:{pair.pair_id}", payload=payload)


def _require_unknown(db: Database, pair: PairRow) -> None:
    """Raise ProjectError if annotators were shown the right grade of a pair, so that nobody can grade it unbiased."""
    if where := pair_lists.shown_as_right(db, pair.pair_id):
        raise ProjectError(
            said("annotators were shown this pair {where}, so nobody can grade it blind: decide it", where=where)
        )


LONGEST_REPLY = 600
_NOTES_HEADER = (
    *("query", "video", "start_s", "end_s", "rank", "verdict", "annotator", "grade", "note"),
    *("reply", "replied_by"),
)


@lead_only
def reply_to_note(project: Project, lead: Lead, note: int, text: str, *, seen: int = 0, now: float) -> None:
    """Store a lead's reply to an annotator's note, or a new wording of the reply.

    The newest reply replaces earlier ones. The annotator can read it once the pair is settled and its grades can no
    longer be corrected.

    Args:
        project: the project.
        lead: the lead who replies.
        note: the id of the judgement with which the note was written.
        text: the reply, in the lead's words.
        seen: the id of the newest reply that the lead had seen; 0 where there was none.
        now: seconds since 1970.

    Raises:
        Overtaken: there is a reply that the lead had not seen. Sending the same reply twice is no error; the second one
            has no effect.
        ProjectError: no such note, no text, or a text that is too long.
    """
    text = tidy(text)
    if not text:
        raise ProjectError(said("the reply is empty: write a sentence"))
    if len(text) > LONGEST_REPLY:
        raise ProjectError(
            said(
                "a reply can have at most {longest} characters; this one has {length}",
                longest=LONGEST_REPLY,
                length=len(text),
            )
        )
    with writing(project.store) as db:
        pair_and_note = judgements.note_by_id(db, note)
        if pair_and_note is None or not pair_and_note[1]:
            raise ProjectError(said("this note no longer exists: reload the page"))
        newest = judgements.newest_reply(db, note)
        if newest is not None and newest[0] != seen:
            if newest[1:3] == (lead.name, text):
                return
            who = said("You", _context="by") if newest[1] == lead.name else newest[1]
            raise Overtaken(
                said(
                    "{who} replied {when}: “{newest}”. To replace that, reply again",
                    who=who,
                    when=ago(now - newest[3]),
                    newest=newest[2],
                )
            )
        judgements.add_reply(db, note, lead.annotator_id, text, at=now)
        events.record(
            db,
            NOTE_ANSWERED,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{pair_and_note[0]}",
            payload={"judgement": note},
        )


@in_charge
def notes_csv(project: Project, by: Lead | Operator) -> str:
    """Return annotators' current notes as CSV: one row per note, with the pair, the grade and the reply.

    Releases contain no notes.
    """
    rows = []
    with reading(project.store) as db:
        for pair in reviews.noted(db):
            pair_cells = (pair.query, pair.video, pair.start_s, pair.end_s, pair.rank, pair.verdict.value)
            for grade in pair.grades:
                if (note := grade.note) is not None:
                    reply_cells = (note.reply.text, note.reply.lead) if note.reply else ("", "")
                    rows.append((*pair_cells, grade.annotator, grade.grade, note.text, *reply_cells))
    return csv_text(_NOTES_HEADER, rows, for_people=True)


@annotator_only
def my_replies(project: Project, annotator: Annotator, *, now: float) -> list[MyReply]:
    """Return the leads' replies to this annotator's notes that the annotator may read now, unread ones first.

    A reply may be read once its pair is settled and the time for correcting the pair's grades is over.
    """
    with reading(project.store) as db:
        return judgements.replies_to(db, annotator.annotator_id, final_before=now - CORRECTION_S)


@annotator_only
def read_replies(project: Project, annotator: Annotator, *, now: float) -> None:
    """Mark as read all replies that `my_replies` returns for this annotator."""
    with writing(project.store) as db:
        judgements.mark_replies_read(db, annotator.annotator_id, final_before=now - CORRECTION_S, at=now)
