"""The lead's page "Agreement": inter-annotator agreement by annotator, by time and by query."""

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TypeVar

import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import plain
from annotate_app.screens.agreement import model_view
from annotate_app.screens.agreement import view as agreement_view
from annotate_app.server import job_functions, jobs
from annotate_app.session import auth
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.job_view import job_outcome
from backend.campaign.monitoring.model_judge.asking import list_judges
from backend.campaign.monitoring.model_judge.model import Judge
from backend.campaign.monitoring.quality.agreement_board import agreement_board, agreement_version, other_relevances
from backend.campaign.monitoring.quality.model import WHOLE, AggregatorReport, AgreementBoard, BoardPart
from backend.campaign.nouns import Person
from backend.campaign.release.judge_report.model import JudgeReport
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import job_result, list_jobs
from backend.campaign.setup.serving.model import Job, JobKind, JobState
from backend.core.days import lasts
from backend.core.messages import said

_EVERY_S = 1.0
"""Seconds between two checks whether a running job has finished."""
_HELD_S = 60.0
"""Seconds for which a visit keeps a board. Otherwise it would change at every click while people grade."""
_PARTS = {
    marked("Figures"): agreement_view.figures,
    marked("Grades"): agreement_view.grades,
    marked("Annotators"): agreement_view.people,
    marked("Over time"): agreement_view.over_time,
    marked("Queries"): agreement_view.queries,
}
_OTHERS = marked("Other rules")
_MODEL = marked("Model")
_Result = TypeVar("_Result")


@dataclass(slots=True)
class _CachedBoard:
    """Agreement figures as cached for the page, with the time and the grades that they were computed from.

    Attributes:
        board: the figures, without confidence intervals.
        version: a text that identifies the grades from which the figures were computed.
        at: when the figures were computed, in seconds since 1970.
        with_intervals: the figures with confidence intervals; None until a background job has computed them.
    """

    board: AgreementBoard
    version: str
    at: float
    with_intervals: AgreementBoard | None = None


def page() -> None:
    """Draw the agreement figures: which grades they cover, and the chosen section, such as annotators or queries."""
    project, lead, _ = look.lead_page("Agreement")
    whole = _current_board(project, lead, WHOLE).board
    if not whole.summary["rows"]:
        st.info(tr("No grades yet. Figures appear here after the first grades."), icon=":material/balance:")
        return
    cached = _current_board(project, lead, _chosen(whole))
    if not cached.board.summary["rows"]:
        st.info(tr("No graded pair matches this choice. Choose other pairs."), icon=":material/filter_alt:")
        return
    job = _intervals_job(project, lead, cached)
    board = cached.with_intervals or cached.board
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_coverage(board, cached), width="stretch")
        if agreement_version(project, lead) != cached.version:
            st.button(tr("Refresh"), key="agreement_anew", on_click=bring_up_to_date, icon=":material/refresh:")
    if job is not None and not job.is_running:
        _missing_intervals(cached, job)
    judges = [summary.judge for summary in list_judges(project, lead)]
    names = {name: tr(name) for name in (*_PARTS, _OTHERS, *([_MODEL] if judges else []))}
    part = address_state.choice(tr("Part"), "part", names, label_visibility="collapsed")
    if part == _OTHERS:
        agreement_view.what_others_are()
        _comparison(project, lead, "", AggregatorReport, agreement_view.others, compare)
    elif part == _MODEL:
        _model(project, lead, judges)
    else:
        _PARTS[part](board)
    if job is not None and job.is_running:
        auth.fragment(_wait_for_intervals, run_every=_EVERY_S)(project, lead, job.subject)


def bring_up_to_date() -> None:
    """Discard the figures kept in the lead's session, so that the page shows figures of the current grades."""
    st.session_state.pop("agreement", None)


@look.lead_callback("others_problem")
def compare(project: Project, lead: Person) -> None:
    """Begin the job that compares the consensus rule (how grades become a relevance) with other aggregation methods.

    If this job is already running, do nothing.
    """
    title = said("Comparing the rule with others")
    jobs.begin(project, lead, JobKind.COMPARISON, "", title, other_relevances, now=time.time())


@look.lead_callback("others_problem")
def measure_model(project: Project, lead: Person, judge: Judge) -> None:
    """Begin the job that measures the grades of a model against people's. If it is already running, do nothing."""
    title, measure = said("Measuring {model}", model=judge.model), job_functions.measure_model
    jobs.begin(project, lead, JobKind.COMPARISON, _judge_name(judge), title, measure, judge, now=time.time())


def _judge_name(judge: Judge) -> str:
    return f"{judge.model} {judge.prompt_version}"


def _model(project: Project, lead: Person, judges: list[Judge]) -> None:
    """Draw the choice of a model that graded pairs, and how its grades compare with people's."""
    model_view.what_it_is()
    by_name = {_judge_name(judge): judge for judge in judges}
    name = next(iter(by_name))
    if len(by_name) > 1:
        name = address_state.choice(tr("Model and prompt"), "judge", {name: name for name in by_name}, box=True)
    _comparison(project, lead, name, JudgeReport, model_view.report, measure_model, by_name[name])


def _comparison(
    project: Project,
    lead: Person,
    subject: str,
    kind: type[_Result],
    draw: Callable[[_Result], None],
    begin: Callable[..., None],
    *arguments: object,
) -> None:
    """Draw the button that starts a comparison, and its last result.

    Args:
        project: the project.
        lead: the lead who is signed in.
        subject: tells the comparison from others.
        kind: the type of the result.
        draw: draws the result.
        begin: starts the job, as the callback of the button.
        arguments: the arguments of `begin`.
    """
    look.refusal("others_problem")
    job = _newest_job(project, lead, JobKind.COMPARISON, subject)
    busy = job is not None and job.is_running
    st.button(tr("Compare"), key="compare_others", on_click=begin, args=arguments, disabled=busy, type="primary")
    if job is not None:
        auth.fragment(_compared, run_every=_EVERY_S if busy else None)(project, lead, job, kind, draw)


def _compared(
    project: Project, lead: Person, shown_job: Job, kind: type[_Result], draw: Callable[[_Result], None]
) -> None:
    job = _newest_job(project, lead, JobKind.COMPARISON, shown_job.subject)
    if job is not None and job.is_running:
        st.info(tr("Comparing. This takes a few seconds; you can keep working."))
        return
    if shown_job.is_running or job is None:
        st.rerun()
    elif job.state is JobState.FAILED:
        st.error(tr("The comparison failed. Nothing was changed. See the server's log."))
    elif job.state is not JobState.DONE:
        job_outcome(job)
    elif (report := _result(project, lead, kind, job.key)) is not None:
        st.caption(plain(tr("As of {when}, started by {by}.", when=_when(job.began_at), by=translate_message(job.by))))
        draw(report)


@st.cache_resource(max_entries=4, show_spinner=False)
def _result(_project: Project, _lead: Person, _kind: type[_Result], key: str) -> _Result | None:
    return job_result(_project, _lead, key, _kind)


def _newest_job(project: Project, lead: Person, kind: JobKind, subject: str = "") -> Job | None:
    jobs_now = list_jobs(project, lead, now=time.time())
    return next((job for job in jobs_now if job.kind is kind and job.subject == subject), None)


def _chosen(whole: AgreementBoard) -> BoardPart:
    """Draw the filters by split, query and date, and return the chosen filters. By default, all pairs are included.

    `whole` has the figures of all pairs; the filters offer its splits, queries and days.
    """
    names = [part.part for part in whole.settled[1:]]
    with st.popover(tr("Which pairs"), icon=":material/filter_alt:"):
        split = address_state.choice(tr("Split"), "split", {"": tr("All"), **{name: name for name in names}}, box=True)
        texts = sorted({query_figures.name for query_figures in whole.queries})
        query = address_state.choice(tr("Query"), "of", {"": tr("All"), **{text: text for text in texts}}, box=True)
        first = last = ""
        if whole.days:
            graded = {"first": whole.days[0].name, "last": whole.days[-1].name}
            first = address_state.day(tr("First graded on or after"), "from", **graded)
            last = address_state.day(tr("First graded on or before"), "to", **graded)
    return BoardPart(split, query, first, last)


def _current_board(project: Project, lead: Person, part: BoardPart) -> _CachedBoard:
    """Return the agreement figures for a selection of pairs, from the lead's session if they are recent.

    Compute them again if they are older than a minute and the grades have changed since.
    """
    boards: dict[BoardPart, _CachedBoard] = st.session_state.setdefault("agreement", {})
    cached, version = boards.get(part), agreement_version(project, lead)
    if cached is None or (cached.version != version and not lasts(cached.at, _HELD_S, now=time.time())):
        with st.spinner(tr("Computing the figures")):
            cached = boards[part] = _board(project, lead, part, str(project.folder), version, astuple(part))
    return cached


@st.cache_resource(max_entries=9, show_spinner=False)
def _board(
    _project: Project, _lead: Person, _part: BoardPart, folder: str, version: str, part: tuple[str, ...]
) -> _CachedBoard:
    """Compute the agreement figures without confidence intervals, cached for all leads.

    The cache key is `folder` (the project's), `version` (of the grades) and `part` (the fields of `_part`, which
    selects the pairs). A background job computes the intervals later, because they take longer.
    """
    return _CachedBoard(agreement_board(_project, _lead, _part, resamples=0), version, time.time())


def _intervals_job(project: Project, lead: Person, cached: _CachedBoard) -> Job | None:
    """Return the background job that computes the figures' confidence intervals, and begin it if there is none.

    Return None if `cached` already has the intervals, or gets them from a job that has ended. The intervals also cover
    grades stored after the figures were computed.
    """
    if cached.with_intervals is not None:
        return None
    job = _newest_job(project, lead, JobKind.INTERVALS, _subject(cached))
    if job is not None and job.state is JobState.DONE:
        cached.with_intervals = job_result(project, lead, job.key, AgreementBoard)
        if cached.with_intervals is not None:
            return None
    elif job is not None:
        return job
    _begin_intervals(project, lead, cached)
    return _newest_job(project, lead, JobKind.INTERVALS, _subject(cached))


def _subject(cached: _CachedBoard) -> str:
    """Return a text that identifies the background job that computes the confidence intervals of agreement figures.

    The text joins the version of the grades and the filters that select the pairs.
    """
    return " ".join((cached.version, *map(repr, astuple(cached.board.part))))


def _begin_intervals(project: Project, lead: Person, cached: _CachedBoard) -> None:
    title, compute, part = said("Computing the intervals"), job_functions.agreement_intervals, cached.board.part
    jobs.begin(project, lead, JobKind.INTERVALS, _subject(cached), title, compute, part, now=time.time())


@look.lead_callback("agreement_problem")
def _compute_again(project: Project, lead: Person, cached: _CachedBoard) -> None:
    _begin_intervals(project, lead, cached)


def _missing_intervals(cached: _CachedBoard, job: Job) -> None:
    """Draw why the job that computes confidence intervals did not finish, and a button that starts it again."""
    if job.state is JobState.FAILED:
        st.error(tr("The intervals could not be computed. The figures are right. See the server's log."))
    else:
        job_outcome(job)
    look.refusal("agreement_problem")
    st.button(tr("Start again"), key="intervals_again", on_click=_compute_again, args=(cached,))


def _wait_for_intervals(project: Project, lead: Person, subject: str) -> None:
    """Tell the lead that intervals are being computed, and rerun the page once this background job has ended.

    `subject` identifies the job among the jobs that compute intervals.
    """
    job = _newest_job(project, lead, JobKind.INTERVALS, subject)
    if job is None or not job.is_running:
        st.rerun()
    st.caption(tr("Computing intervals. They will appear here."))


def _when(at: float) -> str:
    return wording.when(at, st.context.timezone)


def _coverage(board: AgreementBoard, cached: _CachedBoard) -> str:
    """Return a text with the number of grades, annotators and pairs behind the figures, their time, and the filters."""
    counted = {"grade": board.summary["rows"], "annotator": board.summary["annotators"], "pair": board.summary["pairs"]}
    grades, people, pairs = (wording.count_of(count, noun) for noun, count in counted.items())
    sentence = tr(
        "{grades} by {people} on {pairs}, as of {when}.",
        grades=grades,
        people=people,
        pairs=pairs,
        when=_when(cached.at),
    )
    if board.imported:
        sentence += tr(
            " Imported from earlier campaigns: {imported:,}. Days and weeks leave these out.",
            imported=board.imported,
        )
    part = board.part
    narrowed = (
        *([part.split] if part.split else ()),
        *([f"“{part.query}”"] if part.query else ()),
        *(
            [
                tr(
                    "first graded from {first} to {last}",
                    first=part.first or tr("the beginning"),
                    last=part.last or tr("now"),
                )
            ]
            * bool(part.first or part.last)
        ),
    )
    return plain(tr("Only {choice}: {facts}", choice=", ".join(narrowed), facts=sentence) if narrowed else sentence)
