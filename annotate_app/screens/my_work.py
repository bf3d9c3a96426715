"""The annotator's page "My work": pairs graded, time spent, spread of grades, and agreement on settled pairs."""

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
"""A mean difference below this, in grades, is too small to call an annotator strict or generous."""


def page() -> None:
    """Draw the signed-in annotator's own figures. Other annotators cannot see them.

    The page shows no single pairs, except those where the annotator wrote a note that a lead has answered.
    """
    person = auth.require(Role.ANNOTATOR)
    work = my_work(auth.project(), person, now=time.time())
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(tr("My work"), anchor=False, width="content")
        # On a narrow screen the menu is folded. This link still opens the desk with one click.
        st.html(
            f'<a class="rr-back" href="{full_path("/grade?tutorial")}" target="_self">{tr("Tutorial")}</a> '
            f'<a class="rr-back" href="{full_path("/grade")}" target="_self">{tr("Back to grading")}</a>',
            width="content",
        )
    exam = my_exam(auth.project(), person)
    _replies(my_replies(auth.project(), person, now=time.time()))
    read_replies(auth.project(), person, now=time.time())
    if not work.in_all:
        st.info(tr("You have not graded anything yet. Your numbers appear here with the first grade.") + earlier(work))
        exam_results.own_results(exam)
        return
    if work.simulated:
        st.caption(
            tr("{simulated:,} of these grades were made by a program for demonstration.", simulated=work.simulated)
        )
    _numbers(work)
    days, spread = st.columns([3, 2], gap="large")
    with days:
        st.header(tr("Pairs a day"), anchor=False)
        _days(work)
    with spread:
        st.header(tr("How your grades spread"), anchor=False)
        st.html(spread_table(work.grades, auth.project().campaign.grading.in_language(current()).scale))
        st.caption(skips(work.skips))
    _time(work)
    st.header(tr("Agreement, after settlement"), anchor=False)
    _agreement(work)
    exam_results.own_results(exam)


def duration(seconds: float) -> str:
    """Return seconds as a short text: `48 s`, `12 min`, `31 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return (
        tr("{hours:,} h {minutes:02d} min", hours=hours, minutes=minutes)
        if hours
        else tr("{minutes} min", minutes=minutes)
    )


def spread_table(grades: Sequence[int], scale: Scale) -> str:
    """Return an HTML table of how often each grade was given, highest grade first, with bars.

    The most frequent grade has the longest bar.
    """
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
    """Return a sentence with the number of pairs that the annotator skipped."""
    if not count:
        return tr("You skipped no pair; a skip is never a grade.")
    return trn(
        "You skipped {n} pair; a skip is never a grade.", "You skipped {n} pairs; a skip is never a grade.", count
    )


def leaning(difference: float) -> str:
    """Return a sentence that tells an annotator how strictly they grade, compared with the final relevances.

    Args:
        difference: the mean of their grade minus the pair's relevance, over their settled pairs.
    """
    if abs(difference) < _EVEN:
        return tr("You are neither stricter nor more generous than what was agreed.")
    steps = f"{abs(difference):.2f}"
    if difference < 0:
        return tr("On average you grade {steps} below what was agreed: you are stricter.", steps=steps)
    return tr("On average you grade {steps} above what was agreed: you are more generous.", steps=steps)


def settlement(work: MyWork) -> str:
    """Return sentences that say how many of the annotator's pairs have a final relevance, and why others have none."""
    pairs = wording.count_of(work.in_all, "pair")
    sentences = [
        trn(
            "Of your {pairs}, {n} is settled for good.",
            "Of your {pairs}, {n} are settled for good.",
            work.settled,
            pairs=pairs,
        )
    ]
    if work.recent:
        sentences.append(
            tr(
                "{n:,} had a grade in the last {minutes:.0f} minutes, which may still be taken back: what they come to "
                "counts here after that.",
                n=work.recent,
                minutes=CORRECTION_S / 60,
            )
        )
    if rest := work.in_all - work.settled - work.recent:
        sentences.append(
            trn(
                "{n} is waiting for other people's grades, or came to no common relevance.",
                "{n} are waiting for other people's grades, or came to no common relevance.",
                rest,
            )
        )
    return " ".join(sentences) + earlier(work)


def earlier(work: MyWork) -> str:
    """Return a sentence with the number of imported grades, which this page leaves out; empty if there are none."""
    if not work.imported:
        return ""
    return " " + trn(
        "{n} grade of an earlier campaign is not counted on this page.",
        "{n} grades of an earlier campaign are not counted on this page.",
        work.imported,
    )


def _replies(replies: Sequence[MyReply]) -> None:
    """Draw the replies of leads to the annotator's notes; draw nothing if there are none."""
    if not replies:
        return
    st.header(tr("Replies to your notes"), anchor=False)
    # A reply that was new once stays new for this visit: the page may run twice before the annotator sees it.
    fresh: set[int] = st.session_state.setdefault("my_replies_new", set())
    fresh |= {reply.reply_id for reply in replies if reply.is_new}
    for reply in replies:
        if reply.reply_id in fresh:
            _reply(reply, f" :green-badge[{tr('new')}]")
    if read := [reply for reply in replies if reply.reply_id not in fresh]:
        with st.expander(trn("{n} reply that you have read", "{n} replies that you have read", len(read))):
            for reply in read:
                _reply(reply)


def _reply(reply: MyReply, badge: str = "") -> None:
    with st.container(border=True, key=f"my-reply-{reply.reply_id}"):
        st.markdown(f"**{plain(reply.query)}**{badge}")
        st.markdown(
            ":material/edit_note: " + tr("You wrote with {grade}: “{note}”", grade=reply.grade, note=plain(reply.note))
        )
        when = wording.when(reply.at, st.context.timezone)
        st.markdown(
            ":material/reply: " + tr("Your lead annotator replied, {when}: “{text}”", when=when, text=plain(reply.text))
        )


def _numbers(work: MyWork) -> None:
    median = tr("not measured") if work.median_s is None else f"{work.median_s:.1f} s"
    values = {
        tr("Today"): (f"{work.today:,}", tr("Pairs you graded since midnight, by the clock of the server.")),
        tr("Last 7 days"): (f"{work.week:,}", tr("Today and the six days before.")),
        tr("In all"): (f"{work.in_all:,}", tr("Pairs with a grade of yours.")),
        tr("Active time"): (
            duration(work.active_s),
            tr("Time at the clips. What passes in a hidden tab, or beyond 30 s without any input, is left out."),
        ),
        tr("Median a grade"): (median, tr("Half of your grades took less active time than this.")),
    }
    with st.container(key="my-numbers"):
        look.metrics(values)


def _time(work: MyWork) -> None:
    if not work.months:
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
        rows = [(month_text(date.fromisoformat(month)), f"{active_s / 3600:,.2f}") for month, active_s in work.months]
        st.html(look.table((tr("Month"), tr("Active hours")), rows))


def _days(work: MyWork) -> None:
    total = sum(pairs for _, pairs in work.days)
    if not total:
        st.info(tr("You graded nothing in the last 30 days."))
        return
    day_chart(work.days, tr("Pairs"), tr("Bars: {total:,} pairs you graded on each of the last 30 days", total=total))


def _agreement(work: MyWork) -> None:
    agreement = work.agreement
    if agreement is None:
        st.info(settlement(work) + " " + tr("Agreement is shown from ten settled pairs on: fewer say little."))
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
    st.caption(settlement(work))


def _shares(agreement: MyAgreement) -> dict[str, str]:
    difference = f"{agreement.difference:+.2f}".replace("-", "\u2212")
    steps = agreement.tolerance
    near = tr("Within one grade") if steps == 1 else tr("Within {number} grades", number=wording.number(steps).lower())
    return {
        tr("Same as the relevance"): f"{agreement.equal:.0%}",
        **({near: f"{agreement.within:.0%}"} if steps else {}),
        tr("Mean difference"): difference,
    }
