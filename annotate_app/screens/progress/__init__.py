"""The lead's page "Progress": tasks for leads, the progress of the work, and when it may be finished."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message, trn
from annotate_app.plain import plain
from annotate_app.screens.progress.figures import funnel, pool_check, verdict_bar
from annotate_app.screens.progress.inbox import clips_job, inbox
from annotate_app.session import auth
from annotate_app.shared import look, waiting, wording
from annotate_app.shared.day_chart import day_chart
from annotate_app.shared.review_clip import video_troubles
from annotate_app.shared.waiting import Line
from annotate_app.shared.ways import WayThere
from backend.campaign.monitoring.explore import tables as explore_tables
from backend.campaign.monitoring.explore.model import Funnel
from backend.campaign.monitoring.progress import inbox as waits_of
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import FlaggedPerson, PersonPace, Wait, WorkProgress
from backend.campaign.monitoring.progress.progress import bucket_troubles, disk_space_warning
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.nouns import Person
from backend.campaign.review.status import status_counts
from backend.campaign.selection.pools.checking import pool_check_report
from backend.campaign.setup.project.folder import Project
from backend.core.days import lasts

_AT_LEAST_S = 300.0
"""Seconds after which the page counts again even without new work, because the pace changes with time."""
_SET_UP = WayThere("Set up", "", marked("Continue the setup"))


def page() -> None:
    """Draw the tasks for leads, the progress of grading with a forecast, and videos with a problem."""
    project, lead, _ = look.lead_page("Progress")
    if trouble := disk_space_warning(project, lead):
        st.error(plain(translate_message(trouble)), icon=":material/hard_drive:")
    for trouble in bucket_troubles(project, lead):
        st.warning(plain(translate_message(trouble)), icon=":material/cloud_off:")
    clips_job(project, lead)
    _live(project, lead)
    if wrong := video_states(project, lead, wrong=True):
        st.header(tr("Videos with a problem"), anchor=False)
        st.caption(tr("As of the last check. To check again, open the page Videos."))
        video_troubles(wrong)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counts that the page "Progress" shows, as kept in the session.

    Attributes:
        version: numbers that change whenever the work changes.
        at: when the counts were made, in seconds since 1970.
        found: the pace of the work, and the work that is left.
        pairs: the number of pairs with each verdict, by the verdict's name.
        waits: the tasks that wait for a lead.
        funnel: how many pairs reached which stage.
        flagged: the annotators with quality flags.
    """

    version: tuple[str, ...]
    at: float
    found: WorkProgress
    pairs: dict[str, int]
    waits: tuple[Wait, ...]
    funnel: Funnel
    flagged: list[FlaggedPerson]


def _count(project: Project, lead: Person) -> _Counted:
    """Return the counts that the page shows, from the session if nothing has changed and they are recent.

    They are counted again after `_AT_LEAST_S` seconds even if nothing has changed.
    """
    version, now = progress.work_version(project, lead), time.time()
    cached: _Counted | None = st.session_state.get("progress_kept")
    if cached is not None and cached.version == version and lasts(cached.at, _AT_LEAST_S, now=now):
        return cached
    began = time.perf_counter()
    waits, work = waits_of.waits(project, lead), progress.progress(project, lead, now=now)
    took_s = time.perf_counter() - began
    pairs, passed = status_counts(project, lead)["pairs"], explore_tables.funnel(project, lead)
    counted = _Counted(version, now, work, pairs, waits, passed, waits_of.flagged(project, lead))
    st.session_state["progress_kept"] = counted
    waiting.keep(project, waiting.Counted(version, now, waits, work.ahead.stuck, took_s))  # for the menu
    return counted


@partial(auth.fragment, run_every=waiting.REFRESH_S)
def _live(project: Project, lead: Person) -> None:
    """Draw the tasks for leads, the progress and the annotators' pace. This part redraws itself every few seconds."""
    counted = _count(project, lead)
    work, pairs = counted.found, counted.pairs
    inbox(project, lead, counted.waits, work.ahead, counted.flagged)
    if not any(pairs.values()):
        st.html(waiting.list_of([Line(tr("No pairs have been handed out yet."), _SET_UP)]))
        return
    st.html(verdict_bar(pairs))
    st.html(funnel(counted.funnel))
    _metrics(work)
    if check := pool_check_report(project, lead):
        pool_check(check)
    days, people = st.columns([3, 2], gap="large")
    with days:
        st.header(tr("Judgements a day"), anchor=False)
        _days(work)
    with people:
        st.header(tr("Annotators"), anchor=False)
        _people(work.people)


def _metrics(work: WorkProgress) -> None:
    values = {
        tr("Grades still needed"): (
            f"{work.ahead.needed:,}",
            tr("Until every open or disputed pair has all its grades."),
        ),
        tr("Forecast"): (
            waiting.forecast(work.ahead),
            tr(
                "Until the team has given all grades, each at their pace of the last seven days. Includes the grades "
                "that disputes will need, if as many pairs are disputed as so far."
            ),
        ),
        tr("Judgements a day"): (f"{work.a_day:,.0f}", tr("Mean of the last seven days.")),
        tr("Pairs on desks"): (f"{work.held:,}", tr("Shown or loaded at annotators' desks now, and not graded yet.")),
    }
    look.metrics(values, [3, 4, 3, 3])
    for text in _about_grades(work):
        st.caption(text)
    if reasons := waiting.unfinished_reason(work.ahead):
        st.warning(plain(reasons), icon=":material/block:")


def _about_grades(work: WorkProgress) -> Iterator[str]:
    """Yield sentences about the number of grades still needed, such as how many reserved pairs it leaves out.

    Reserved pairs are kept for an exam or a calibration round.
    """
    ahead = work.ahead
    if ahead.further:
        grades = wording.count_of(ahead.further, "grade")
        yield tr("Plus about {grades}, if as many pairs are disputed as so far.", grades=grades)
    if ahead.forecast.exam:
        yield trn(
            "{n} of them can only come from annotators who must pass the exam first.",
            "{n} of them can only come from annotators who must pass the exam first.",
            ahead.forecast.exam,
        )
    if ahead.set_aside:
        yield trn(
            "Not counted: {n} pair that an exam or a calibration round reserves.",
            "Not counted: {n} pairs that an exam or a calibration round reserves.",
            ahead.set_aside,
        )


def _judged(work: WorkProgress) -> tuple[int, int]:
    """Return two numbers of judgements in the last 30 days: those by people, and simulated ones."""
    return sum(day.judgements for day in work.days), sum(day.simulated for day in work.days)


def _days(work: WorkProgress) -> None:
    by_people, simulated = _judged(work)
    if by_people:
        days = [(day.day, day.judgements) for day in work.days]
        told = tr("Bar chart of judgements over the last 30 days: {number:,}", number=by_people)
        day_chart(days, tr("Judgements"), told)
    elif simulated:
        days = [(day.day, day.simulated) for day in work.days]
        told = tr("Bar chart of simulated judgements over the last 30 days: {number:,}", number=simulated)
        day_chart(days, tr("Judgements"), told, "#a1a1aa")
    else:
        st.info(tr("No judgements in the last 30 days."))
    for text in left_out(work):
        st.caption(text)


def left_out(work: WorkProgress) -> list[str]:
    """Return sentences about the chart of daily judgements: what it leaves out, and whether it shows simulated ones."""
    by_people, simulated = _judged(work)
    texts = []
    if simulated and by_people:
        texts.append(tr("Not shown: {simulated}.", simulated=wording.count_of(simulated, "simulated judgement")))
    elif simulated:
        texts.append(tr("All judgements of the last 30 days are simulated ({simulated:,}).", simulated=simulated))
    if work.imported:
        texts.append(tr("Not shown: {imported:,} imported from earlier campaigns.", imported=work.imported))
    return texts


def _people(people: Sequence[PersonPace]) -> None:
    busy = [person for person in people if person.week]
    if busy:
        st.html(pace_table(busy))
    idle = len(people) - len(busy)
    if not people:
        st.info(tr("No annotators yet. Invite them on the page People."))
    elif not busy:
        st.info(tr("No judgements in the last 7 days."))
    elif idle:
        st.caption(
            trn(
                "{n} other annotator gave no judgement in the last 7 days.",
                "{n} other annotators gave no judgement in the last 7 days.",
                idle,
            )
        )


def pace_table(people: Sequence[PersonPace]) -> str:
    """Return an HTML table of each annotator's judgements today and in the last 7 days, the latter with bars."""
    most = max(person.week for person in people)
    rows = [(escape(person.name), f"{person.today:,}", look.bar(person.week, most)) for person in people]
    return look.table((tr("Annotator"), tr("Today"), tr("Last 7 days")), rows, "rr-paces")
