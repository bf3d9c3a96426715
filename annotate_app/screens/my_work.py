"""The annotator's page "My work": amount and time of work, spread of grades, and agreement on settled pairs."""

import time
from collections.abc import Sequence
from datetime import date
from html import escape

import streamlit as st

from annotate_app.language import current, tr, trn
from annotate_app.language import month as month_text
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.session.addresses import full_path
from annotate_app.shared import exam_results, look, wording
from annotate_app.shared.day_chart import day_chart
from backend.campaign.judging.model import CORRECTION_S, MyReply
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.monitoring.quality.model import MyAgreement, MyWork
from backend.campaign.nouns import Role, Scale
from backend.campaign.qualification.exam.results import my_exam
from backend.campaign.review.adjudicating import my_replies, read_replies

_EVEN = 0.05
"""A mean difference below this is shown as 0.0, or is too small to be called strict or generous."""


def page() -> None:
    """Draw figures about the signed-in person only. Of single pairs, it shows only notes with replies."""
    person = auth.require(Role.ANNOTATOR)
    found = my_work(auth.project(), person, now=time.time())
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(tr("My work"), anchor=False, width="content")
        # On a narrow screen the menu is folded away; this link keeps the desk one click away.
        st.html(
            f'<a class="rr-back" href="{full_path("/grade?tutorial")}" target="_self">{tr("Tutorial")}</a> '
            f'<a class="rr-back" href="{full_path("/grade")}" target="_self">{tr("Back to grading")}</a>',
            width="content",
        )
    exam = my_exam(auth.project(), person)
    _replies(my_replies(auth.project(), person, now=time.time()))
    read_replies(auth.project(), person, now=time.time())
    if not found.in_all:
        st.info(tr("You have not graded anything yet. Your numbers appear here with the first grade.") + earlier(found))
        exam_results.own_results(exam)
        return
    if found.simulated:
        st.caption(
            tr("{simulated:,} of these grades were made by a program for demonstration.", simulated=found.simulated)
        )
    _numbers(found)
    days, spread = st.columns([3, 2], gap="large")
    with days:
        st.header(tr("Pairs a day"), anchor=False)
        _days(found)
    with spread:
        st.header(tr("How your grades spread"), anchor=False)
        st.html(spread_table(found.grades, auth.project().campaign.grading.in_language(current()).scale))
        st.caption(skips(found.skips))
    _time(found)
    st.header(tr("Agreement, after settlement"), anchor=False)
    _agreement(found)
    exam_results.own_results(exam)


def duration(seconds: float) -> str:
    """Format a duration: `48 s`, `12 min`, `31 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return (
        tr("{hours:,} h {minutes:02d} min", hours=hours, minutes=minutes)
        if hours
        else tr("{minutes} min", minutes=minutes)
    )


def spread_table(grades: Sequence[int], scale: Scale) -> str:
    """Return an HTML table of how often each grade was given, the highest grade first, with bars."""
    most = max(*grades, 1)
    rows = [
        (
            look.grade_mark(grade),
            escape(scale.label(grade).lower()),
            look.bar(grades[grade], most, f" <small>{grades[grade] / max(sum(grades), 1):.0%}</small>"),
        )
        for grade in reversed(scale.grades)
    ]
    return look.table((tr("Grade", _context="noun"), tr("Meaning"), tr("Times")), rows, "rr-spread")


def skips(count: int) -> str:
    """Return a sentence about the number of pairs that the person skipped."""
    if not count:
        return tr("You skipped no pair; a skip is never a grade.")
    return trn(
        "You skipped {n} pair; a skip is never a grade.", "You skipped {n} pairs; a skip is never a grade.", count
    )


def leaning(difference: float) -> str:
    """Return a sentence that explains the mean difference to others' grades."""
    if abs(difference) < _EVEN:
        return tr("You are neither stricter nor more generous than what was agreed.")
    steps = f"{abs(difference):.2f}"
    if difference < 0:
        return tr("On average you grade {steps} below what was agreed: you are stricter.", steps=steps)
    return tr("On average you grade {steps} above what was agreed: you are more generous.", steps=steps)


def settlement(found: MyWork) -> str:
    """Return a sentence about the outcomes of a person's pairs, and about those that are not settled yet."""
    pairs = wording.count_of(found.in_all, "pair")
    said = [
        trn(
            "Of your {pairs}, {n} is settled for good.",
            "Of your {pairs}, {n} are settled for good.",
            found.settled,
            pairs=pairs,
        )
    ]
    if found.recent:
        said.append(
            tr(
                "{n:,} had a grade in the last {minutes:.0f} minutes, which may still be taken back: what they come to "
                "counts here after that.",
                n=found.recent,
                minutes=CORRECTION_S / 60,
            )
        )
    if rest := found.in_all - found.settled - found.recent:
        said.append(
            trn(
                "{n} is waiting for other people's grades, or came to no common relevance.",
                "{n} are waiting for other people's grades, or came to no common relevance.",
                rest,
            )
        )
    return " ".join(said) + earlier(found)


def earlier(found: MyWork) -> str:
    """Return a sentence about the work that this page leaves out, or "" if there is none."""
    if not found.imported:
        return ""
    return " " + trn(
        "{n} grade of an earlier campaign is not counted on this page.",
        "{n} grades of an earlier campaign are not counted on this page.",
        found.imported,
    )


def _replies(replies: Sequence[MyReply]) -> None:
    """Draw the replies of leads to the person's notes, if there are any."""
    if not replies:
        return
    st.header(tr("Replies to your notes"), anchor=False)
    # A reply stays new for the whole visit: a page may run twice before anybody has seen it.
    fresh: set[int] = st.session_state.setdefault("my_replies_new", set())
    fresh |= {one.reply_id for one in replies if one.is_new}
    for one in replies:
        if one.reply_id in fresh:
            _reply(one, f" :green-badge[{tr('new')}]")
    if read := [one for one in replies if one.reply_id not in fresh]:
        with st.expander(trn("{n} reply that you have read", "{n} replies that you have read", len(read))):
            for one in read:
                _reply(one)


def _reply(one: MyReply, badge: str = "") -> None:
    with st.container(border=True, key=f"my-reply-{one.reply_id}"):
        st.markdown(f"**{plain(one.query)}**{badge}")
        st.markdown(
            ":material/edit_note: " + tr("You wrote with {grade}: “{note}”", grade=one.grade, note=plain(one.note))
        )
        when = wording.when(one.at, st.context.timezone)
        st.markdown(
            ":material/reply: " + tr("Your lead annotator replied, {when}: “{text}”", when=when, text=plain(one.text))
        )


def _numbers(found: MyWork) -> None:
    median = tr("not measured") if found.median_s is None else f"{found.median_s:.1f} s"
    values = {
        tr("Today"): (f"{found.today:,}", tr("Pairs you graded since midnight, by the clock of the server.")),
        tr("Last 7 days"): (f"{found.week:,}", tr("Today and the six days before.")),
        tr("In all"): (f"{found.in_all:,}", tr("Pairs with a grade of yours.")),
        tr("Active time"): (
            duration(found.active_s),
            tr("Time at the clips. What passes in a hidden tab, or beyond 30 s without any input, is left out."),
        ),
        tr("Median a grade"): (median, tr("Half of your grades took less active time than this.")),
    }
    with st.container(key="my-numbers"):
        look.metrics(values)


def _time(found: MyWork) -> None:
    if not found.months:
        return
    with st.expander(tr("How my time counts")):
        st.markdown(
            tr(
                "Working time is the time at your clips, from the first frame of each, for grades and for "
                "corrections. What passes in a hidden tab or beyond 30 s without any input is left out, and "
                "so are the guideline, practice and what passes between two clips. Clips of the exam count "
                "too; the table is without them, unless their grades came to count as judgements."
            )
        )
        rows = [(month_text(date.fromisoformat(month)), f"{active_s / 3600:,.2f}") for month, active_s in found.months]
        st.html(look.table((tr("Month"), tr("Active hours")), rows))


def _days(found: MyWork) -> None:
    total = sum(pairs for _, pairs in found.days)
    if not total:
        st.info(tr("You graded nothing in the last 30 days."))
        return
    day_chart(found.days, tr("Pairs"), tr("Bars: {total:,} pairs you graded on each of the last 30 days", total=total))


def _agreement(found: MyWork) -> None:
    agreement = found.agreement
    if agreement is None:
        st.info(settlement(found) + " " + tr("Agreement is shown from ten settled pairs on: fewer say little."))
        return
    look.metrics(_shares(agreement))
    st.markdown(leaning(agreement.difference))
    st.caption(
        tr(
            "Over {pairs} that you graded and that are settled; open and escalated ones are left out. "
            "Your grades are among those that the relevance was made from. Neither high nor low is a "
            "mark: where people differ, pairs are often hard.",
            pairs=wording.count_of(agreement.pairs, "pair"),
        )
    )
    st.caption(settlement(found))


def _shares(agreement: MyAgreement) -> dict[str, str]:
    difference = f"{agreement.difference:+.2f}".replace("-", "\u2212")
    steps = agreement.tolerance
    near = tr("Within one grade") if steps == 1 else tr("Within {number} grades", number=wording.number(steps).lower())
    return {
        tr("Same as the relevance"): f"{agreement.equal:.0%}",
        **({near: f"{agreement.within:.0%}"} if steps else {}),
        tr("Mean difference"): difference,
    }
