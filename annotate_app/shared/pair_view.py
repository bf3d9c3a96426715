"""Draw a pair for leads: its clip, grades, notes with replies, skips and verdict, and its use as an example."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import look, practice, results, wording
from annotate_app.shared.review_clip import review_clip
from annotate_app.shared.unsaved import warn_unsaved
from backend.campaign.judging.model import ActKind
from backend.campaign.nouns import Person
from backend.campaign.qualification.guideline import versions
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.review.adjudicating import reply_to_note
from backend.campaign.review.model import GivenAct, GivenGrade, GivenNote, GivenSkip, PairReview
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Grading
from backend.core.ids import PairKey

_ROUNDS = {1: marked("first two"), 2: marked("further two"), 3: marked("re-opened")}
_ACTS = {
    ActKind.DISCARD_CONFIRMED: marked("discard confirmed"),
    ActKind.RE_OPENED: marked("re-opened for two more"),
    ActKind.TAKEN_BACK: marked("last decision taken back"),
}
NOTE_LENGTH = 200
REPLY_LENGTH = 600


def clip(pair: PairReview) -> None:
    """Draw the clip of a pair, with its moment, rank and caption. A page may call this only once for each pair."""
    review_clip(pair)
    st.caption(
        tr(
            "{moment} · rank {rank}  \n{caption}",
            moment=plain(wording.moment(pair)),
            rank=pair.rank,
            caption=plain(wording.caption(pair.caption)),
        )
    )


def heading(pair: PairReview) -> None:
    """Draw the query of a pair as a heading, with the pair's verdict as a badge."""
    more = tr(", re-opened") if pair.re_opened else tr(", confirmed") if pair.confirmed else ""
    badge = f":{wording.VERDICT_COLOURS[pair.verdict]}-badge[{wording.verdict(pair.verdict)}{more}]"
    look.text_heading(pair.query, badge)


def pair_record(pair: PairReview, grading: Grading, chosen: Sequence[Example] | None = None) -> None:
    """Draw the clip of a pair beside its query, verdict, grades, notes and skips.

    If `chosen` is given (the current guideline examples), also draw the controls to make the pair an example.
    """
    picture, words = st.columns([2, 3], gap="medium")
    with picture:
        clip(pair)
    with words:
        heading(pair)
        rule(pair, grading)
        record(pair, hidden=False)
        if chosen is not None:
            example(pair, chosen)


def rule(pair: PairReview, grading: Grading) -> None:
    """Draw the sentence that explains how a pair got its verdict."""
    st.markdown(plain(wording.why(pair, grading)))


def record(pair: PairReview, *, hidden: bool, with_notes: bool = True) -> None:
    """Draw the grades, notes, decisions of leads and skips of a pair.

    Args:
        pair: the pair.
        hidden: whether to hide the names of annotators and leads.
        with_notes: whether to draw the notes.
    """
    if pair.grades:
        st.html(_grades(pair.grades, hidden))
    if with_notes:
        notes(pair, hidden=hidden)
    if pair.acts:
        st.html(_acts(pair.acts, hidden))
    if pair.skips:
        st.html(_skips(pair.skips, hidden))


def notes(pair: PairReview, *, hidden: bool) -> None:
    """Draw the notes that annotators wrote on a pair, each with a lead's reply or the form to write one.

    `hidden` hides the names of annotators and leads.
    """
    for seat, grade in enumerate(pair.grades, 1):
        if grade.note is not None:
            _note(
                grade.note, tr("Annotator {seat}", seat=seat) if hidden else grade.annotator, grade.grade, hidden=hidden
            )


def grades_table(pair: PairReview) -> str:
    """Return the grades of a pair with names and times as an HTML table, or "" if there are none."""
    return _grades(pair.grades, hidden=False) if pair.grades else ""


def example(pair: PairReview, chosen: Sequence[Example]) -> None:
    """Draw the controls that show a pair as an example in the guideline, remove it from there, or use it for practice.

    Args:
        pair: the pair.
        chosen: the current examples of all grades, from `examples_chosen`.
    """
    for own in (candidate for candidate in chosen if candidate.pair == pair.pair):
        _withdrawal(pair, own)
    settled = pair.relevance is not None and not pair.fault
    if settled and (pair.pair, pair.relevance) not in {(candidate.pair, candidate.grade) for candidate in chosen}:
        _choice(pair, next((candidate for candidate in chosen if candidate.grade == pair.relevance), None))
    if settled and pair.relevance is not None:
        practice.practice_button(pair.pair, pair.relevance, pair.reason)
    look.outcome(f"example-{pair.pair}")


def reply(note: int, seen: int) -> None:
    """Save a lead's reply to a note, as the callback of its form. The note's author reads it once the pair is settled.

    Args:
        note: id of the judgement (a stored grade) with which the note was written.
        seen: id of the newest reply that the page showed; 0 if there was none.
    """
    key = f"reply-text-{note}"
    act = partial(reply_to_note, note=note, text=st.session_state[key], seen=seen, now=time.time())
    if look.done_as_lead(act, f"reply-{note}_problem"):
        st.session_state[key] = ""
        results.leave(f"reply-{note}", tr("Reply saved. The annotator sees it once the pair is settled for good."))


def choose_example(pair: PairKey, grade: int) -> None:
    """Make a pair the example of a grade in the guideline, with the note typed in the form.

    This is the callback of that form.
    """
    note = st.session_state[f"example-note-{pair}"]
    act = partial(versions.choose_example, pair=pair, grade=grade, note=note, now=time.time())
    _change_example(pair, act, tr("Annotators now see this pair as the example of grade {grade}.", grade=grade))


def withdraw_example(pair: PairKey, grade: int) -> None:
    """Remove the example clip of a grade from the guideline, which then shows the grade's example in words again.

    This is the callback of the button "Withdraw".
    """
    act = partial(versions.withdraw_example, grade=grade, now=time.time())
    _change_example(pair, act, tr("The example of grade {grade} is withdrawn.", grade=grade))


def _change_example(pair: PairKey, act: Callable[[Project, Person], object], done: str) -> None:
    if look.done_as_lead(act, f"example-{pair}_problem"):
        results.leave(f"example-{pair}", done)


def _withdrawal(pair: PairReview, own: Example) -> None:
    reason = (
        tr("its clip cannot be shown")
        if pair.fault
        else tr("its relevance is {relevance} now", relevance=pair.relevance)
    )
    sentence = (
        tr("The guideline shows this as the example of grade {grade}", grade=own.grade)
        if own.showing
        else tr("Chosen as the example of grade {grade}, but not shown: {hidden}", grade=own.grade, hidden=reason)
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/menu_book: {sentence}. “{plain(own.note)}”", width="stretch")
        st.button(
            tr("Withdraw"),
            key=f"example-withdraw-{own.grade}-{pair.pair}",
            on_click=withdraw_example,
            args=(pair.pair, own.grade),
        )


def _choice(pair: PairReview, standing: Example | None) -> None:
    grade = pair.relevance
    with st.popover(tr("Show as example of grade {grade}", grade=grade), icon=":material/menu_book:"):
        st.markdown(tr("Every annotator sees this query and clip in the guideline (key G), with your note."))
        if standing is not None:
            st.caption(tr("It replaces “{query}”.", query=plain(wording.short(standing.query))))
        with st.form(f"example-{pair.pair}", border=False):
            st.text_input(
                tr("Why is this a {grade}?", grade=grade),
                pair.reason[:NOTE_LENGTH],
                max_chars=NOTE_LENGTH,
                key=f"example-note-{pair.pair}",
                placeholder=tr("One sentence for annotators"),
            )
            st.form_submit_button(tr("Show to annotators"), on_click=choose_example, args=(pair.pair, grade))


def _note(note: GivenNote, who: str, grade: int, *, hidden: bool) -> None:
    with st.container(border=True, key=f"note-{note.note}"):
        st.markdown(
            ":material/edit_note: "
            + tr("**{name}** wrote with {grade}: “{text}”", name=plain(who), grade=grade, text=plain(note.text))
        )
        if note.reply is None:
            _reply_form(note, tr("Your reply"), tr("Reply"))
        else:
            name = tr("A lead") if hidden else plain(note.reply.lead)
            when = wording.when(note.reply.at, st.context.timezone)
            st.markdown(
                ":material/reply: "
                + tr("{by} replied, {when}: “{text}”", by=name, when=when, text=plain(note.reply.text))
            )
            with st.popover(tr("Change the reply")):
                _reply_form(note, tr("Your new reply"), tr("Replace the reply"))
        look.outcome(f"reply-{note.note}")
    warn_unsaved(f"note-{note.note}", saved=str(note.reply.reply_id if note.reply else 0))


def _reply_form(note: GivenNote, label: str, button: str) -> None:
    seen = note.reply.reply_id if note.reply else 0
    with st.form(f"reply-{note.note}", border=False):
        box, send = st.columns([4, 1], vertical_alignment="bottom")
        box.text_input(
            label,
            key=f"reply-text-{note.note}",
            max_chars=REPLY_LENGTH,
            placeholder=tr("Only this annotator reads it, once the pair is settled. Name no other grades"),
        )
        send.form_submit_button(button, on_click=reply, args=(note.note, seen), width="stretch")


def _grades(grades: Sequence[GivenGrade], hidden: bool) -> str:
    zone = st.context.timezone
    rows = [
        (
            tr("Annotator {seat}", seat=seat) if hidden else escape(grade.annotator),
            look.grade_mark(grade.grade),
            tr(_ROUNDS[grade.round]),
            _active(grade),
            wording.when(grade.at, zone),
        )
        for seat, grade in enumerate(grades, 1)
    ]
    return look.table(
        (tr("Annotator"), tr("Grade", _context="noun"), tr("Round"), tr("Active"), tr("Graded")), rows, "rr-given"
    )


def _active(grade: GivenGrade) -> str:
    if not grade.active_ms:
        return tr("not measured")
    too_fast = (
        f" <span class='rr-fast' title='{tr('Given faster than the clip can be judged')}'>{tr('too fast')}</span>"
        if grade.too_fast
        else ""
    )
    return f"{grade.active_ms / 1000:.1f} s{too_fast}"


def _acts(acts: Sequence[GivenAct], hidden: bool) -> str:
    """Return an HTML table of leads' decisions on a pair, the oldest first, marking those replaced or taken back."""
    zone = st.context.timezone
    decided = [index for index, act in enumerate(acts) if act.kind is ActKind.DECIDED and act.stands]
    rows = []
    for index, act in enumerate(acts):
        suffix = "" if act.stands or act.kind is ActKind.TAKEN_BACK else tr(" · taken back")
        suffix = tr(" · replaced") if index in decided[:-1] else suffix
        decision = look.grade_mark(act.relevance) if act.relevance is not None else tr(_ACTS[act.kind])
        when = f"{wording.when(act.at, zone)}{suffix}"
        rows.append((tr("hidden") if hidden else escape(act.lead), decision, escape(act.reason), when))
    return look.table((tr("Lead"), tr("Decision"), tr("Reason"), tr("When")), rows, "rr-decided")


def _skips(skips: Sequence[GivenSkip], hidden: bool) -> str:
    zone = st.context.timezone
    rows = [
        (
            tr("hidden") if hidden else escape(skip.annotator),
            tr(wording.SKIP_WORDS[skip.kind]),
            escape(skip.reason),
            wording.when(skip.at, zone),
        )
        for skip in skips
    ]
    return look.table((tr("Skipped by"), tr("Why"), tr("Reason"), tr("When")), rows)
