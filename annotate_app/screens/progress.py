"""The lead's page "Progress": how far the work is, what waits or is stuck, and when it may be done."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from html import escape
from typing import NamedTuple

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.server import job_functions, jobs
from annotate_app.session import auth
from annotate_app.shared import look, waiting, wording
from annotate_app.shared.day_chart import day_chart
from annotate_app.shared.job_view import job_view
from annotate_app.shared.review_clip import reported_clips, video_troubles
from backend.campaign.monitoring.explore import tables as explore_tables
from backend.campaign.monitoring.explore.model import Funnel
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import Ahead, PersonPace, Wait, WorkProgress
from backend.campaign.monitoring.progress.progress import bucket_troubles, little_room
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.nouns import Person
from backend.campaign.review.status import next_step, status_counts
from backend.campaign.selection.pools.checking import pool_check_report
from backend.campaign.selection.pools.model import CheckReport, PutInAs, Share
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import Job, JobKind, JobState

_BAR = {
    "consensus": marked("consensus"),
    "adjudicated": marked("decided by a lead"),
    "discarded": marked("discarded"),
    "escalated": marked("escalated"),
    "open": marked("open"),
    "blocked": marked("blocked"),
    "set_aside": marked("set aside for an exam or trial"),
}
"""Verdicts in the order of the bar, settled ones first, as people call them."""
_AT_LEAST_S = 300.0
"""The pace changes with the clock alone."""
_SETTLED_BY = {4: marked("settled by four"), 6: marked("settled by six")}
_WRONG = {PutInAs.POSITIVE: marked("positive, does not match"), PutInAs.NEGATIVE: marked("negative, matches")}


def page() -> None:
    """Verdicts as one bar, what waits and what is stuck, the pace, the days, the people."""
    project, lead, _ = look.lead_page("Progress")
    if trouble := little_room(project, lead):
        st.error(plain(retold(trouble)), icon=":material/hard_drive:")
    for trouble in bucket_troubles(project, lead):
        st.warning(plain(retold(trouble)), icon=":material/cloud_off:")
    look.refusal("clips_problem")
    job_view(project, lead, {JobKind.CLIPS}, "clips_problem", _cut_again)
    _live(project, lead)
    if wrong := video_states(project, lead, wrong=True):
        st.header(tr("Videos with something wrong"), anchor=False)
        st.caption(tr("As they were when somebody looked last. Look at them again on the page Videos."))
        video_troubles(wrong)
    reported_clips(project, lead)


def _cut_again(job: Job) -> None:
    """Offer to start cutting clips again that did not come to its end."""
    if job.state in (JobState.INTERRUPTED, JobState.FAILED, JobState.REFUSED):
        st.button(tr("Start again"), key="clips_again", on_click=_cut, args=(job,))


@look.lead_callback("clips_problem")
def _cut(project: Project, lead: Person, job: Job) -> None:
    """Callback of the button: the clips that a job before was to cut."""
    wanted = (bool(job.asked[progress.NEXT_BATCHES]), bool(job.asked[progress.EVERYTHING]))
    cut = job_functions.cut_clips
    jobs.begin(project, lead, JobKind.CLIPS, "", job.title, cut, *wanted, asked=job.asked, now=time.time())


@partial(auth.fragment, run_every=waiting.REFRESH_S)
def _live(project: Project, lead: Person) -> None:
    """All that changes while people work. It is counted anew only where something has changed."""
    version, now = progress.work_version(project, lead), time.time()
    kept = st.session_state.get("progress_kept")
    if kept is None or kept[0] != version or now - kept[1] > _AT_LEAST_S:
        began = time.perf_counter()
        waits, found = progress.waits(project, lead), progress.progress(project, lead, now=now)
        took_s, pairs = time.perf_counter() - began, status_counts(project, lead)["pairs"]
        kept = (version, now, found, pairs, waits, explore_tables.funnel(project, lead))
        st.session_state["progress_kept"] = kept
        # The menu tells the same.
        waiting.keep(project, waiting.Counted(version, now, waits, found.ahead.stuck, took_s))
    _, _, found, pairs, waits, passed = kept
    if any(pairs.values()):
        st.html(verdict_bar(pairs))
        st.html(funnel(passed))
    else:
        st.markdown(tr("No pair has been handed out yet. Next: {next_step}", next_step=plain(next_step(project, lead))))
    _metrics(found)
    if any(pairs.values()):
        _steering(waits, found.ahead)
    if check := pool_check_report(project, lead):
        pool_check(check)
    days, people = st.columns([3, 2], gap="large")
    with days:
        st.header(tr("Judgements a day"), anchor=False)
        _days(found)
    with people:
        st.header(tr("People"), anchor=False)
        _people(found.people)


def _steering(waits: Sequence[Wait], ahead: Ahead) -> None:
    """What waits for the lead beside what is stuck."""
    yours, others = st.columns(2, gap="large")
    with yours:
        st.header(tr("Waits for you"), anchor=False)
        if waits:
            st.html(waiting.list_of(waiting.wait_lines(waits)))
        else:
            st.caption(tr("Nothing just now."))
    with others:
        st.header(tr("Stuck"), anchor=False)
        if lines := waiting.stuck_lines(ahead):
            st.html(waiting.list_of(lines))
        else:
            st.caption(tr("Nothing: those who may work can grade all that is handed out."))


def verdict_bar(pairs: dict[str, int]) -> str:
    """The counts by verdict as one bar whose legend holds every number."""
    total = sum(pairs.values())
    spoken = escape(", ".join(f"{pairs[name]:,} {tr(word)}" for name, word in _BAR.items()))
    parts = "".join(f"<i class='rr-v-{name}' style='flex-grow:{pairs[name]}'></i>" for name in _BAR if pairs[name])
    legend = "".join(
        f"<span><i class='rr-v-{name}'></i><b>{count:,}</b> {tr(word)} <small>{count / total:.1%}</small></span>"
        for name, word in _BAR.items()
        for count in [pairs[name]]
    )
    label = tr("{total:,} pairs: {spoken}", total=total, spoken=spoken)
    return (
        f"<div class='rr-bar' role='img' aria-label='{label}'>{parts}</div>"
        f"<div class='rr-legend rr-numbers'>{legend}</div>"
    )


def _metrics(found: WorkProgress) -> None:
    values = {
        tr("Grades still needed"): (
            f"{found.ahead.needed:,}",
            tr("Until every open or escalated pair has all its seats judged."),
        ),
        tr("Forecast"): (
            waiting.forecast(found.ahead),
            tr(
                "Until those who may work have given all that is needed, each at their pace of the last "
                "seven days, with what disputes will ask on top, if as many pairs are disputed as so far."
            ),
        ),
        tr("Judgements a day"): (f"{found.a_day:,.0f}", tr("Over the last seven days.")),
        tr("Pairs in people's hands"): (f"{found.held:,}", tr("On somebody's desk just now, and not graded yet.")),
    }
    look.metrics(values, [3, 4, 3, 3])
    if found.ahead.further:
        further = wording.count_of(found.ahead.further, "grade")
        st.caption(tr("About {further} on top, if as many pairs are disputed as so far.", further=further))
    if reasons := waiting.why_not(found.ahead):
        st.warning(plain(reasons), icon=":material/block:")


def _judged(found: WorkProgress) -> tuple[int, int]:
    """Judgements of people and simulated ones, on all the days."""
    return sum(day.judgements for day in found.days), sum(day.simulated for day in found.days)


def _days(found: WorkProgress) -> None:
    by_people, simulated = _judged(found)
    if by_people:
        days = [(day.day, day.judgements) for day in found.days]
        told = tr("Bars: {value:,} judgements on each of the last 30 days", value=by_people)
        day_chart(days, tr("Judgements"), told)
    elif simulated:
        days = [(day.day, day.simulated) for day in found.days]
        told = tr("Bars: {value:,} simulated on each of the last 30 days", value=simulated)
        day_chart(days, tr("Judgements"), told, "#a1a1aa")
    else:
        st.info(tr("Nobody has judged anything in the last 30 days. Bars appear here with the first grade."))
    for text in left_out(found):
        st.caption(text)


def left_out(found: WorkProgress) -> list[str]:
    """Which judgements the bars do not hold, or hold although no person made them."""
    by_people, simulated = _judged(found)
    texts = []
    if simulated and by_people:
        texts.append(tr("Without {simulated_ones}.", simulated_ones=wording.count_of(simulated, "simulated one")))
    elif simulated:
        texts.append(
            tr(
                "All {simulated:,} of them are simulated; people have judged nothing in these 30 days.",
                simulated=simulated,
            )
        )
    if found.imported:
        texts.append(tr("Without {imported:,} imported from earlier campaigns.", imported=found.imported))
    return texts


def _people(people: Sequence[PersonPace]) -> None:
    busy = [person for person in people if person.week]
    if busy:
        st.html(pace_table(busy))
    idle = len(people) - len(busy)
    if not people:
        st.info(tr("There is no annotator yet. Invite people on the page People."))
    elif not busy:
        st.info(tr("Nobody has judged anything in the last 7 days."))
    elif idle:
        who = tr("One other") if idle == 1 else tr("{idle:,} others", idle=idle)
        st.caption(tr("{who} judged nothing in the last 7 days.", who=who))


def pace_table(people: Sequence[PersonPace]) -> str:
    """Today and the last 7 days of each person, the latter as a bar against the busiest."""
    most = max(person.week for person in people)
    rows = [(escape(person.name), f"{person.today:,}", look.bar(person.week, most)) for person in people]
    return look.table((tr("Annotator"), tr("Today"), tr("Last 7 days")), rows, "rr-paces")


class Step(NamedTuple):
    """A part of the pairs; its bar begins at `start`, in pairs, where those of the part before it end."""

    words: str
    pairs: int
    start: int
    depth: int
    style: str


def steps(found: Funnel) -> Iterator[Step]:
    """Every step that has a pair, those that it falls into after it; the main ones always."""
    yield Step(tr("handed out"), found.pairs, 0, 0, "all")
    yield Step(tr("graded by two"), found.graded_by_two, 0, 1, "all")
    yield Step(tr("settled by two"), found.settled_by_two, 0, 2, "consensus")
    at = found.settled_by_two
    if found.decided_at_once:
        yield Step(tr("decided by a lead at once"), found.decided_at_once, at, 2, "adjudicated")
    at += found.decided_at_once
    yield Step(tr("went on to two more people"), found.escalated, at, 2, "escalated")
    ends = [
        *(
            (tr(_SETTLED_BY.get(asked, marked("settled by {people}")), people=asked), count, "consensus")
            for asked, count in found.settled_by.items()
        ),
        (tr("discarded: no consensus"), found.discarded, "discarded"),
        (tr("discard confirmed by a lead"), found.confirmed, "discarded"),
        (tr("decided by a lead"), found.decided, "adjudicated"),
        (tr("wait for further grades"), found.waiting_further, "escalated"),
    ]
    for words, count, style in ends:
        if count:
            yield Step(words, count, at, 3, style)
        at += count
    if found.waiting_first:
        yield Step(tr("wait for their first two grades"), found.waiting_first, found.graded_by_two, 1, "open")


def funnel(found: Funnel) -> str:
    """The steps as a list; a bar is as long as its share of all pairs. Nothing where no pair was handed out."""
    rows = "".join(
        f"<li style='--depth:{step.depth}'><span>{step.words}</span><i aria-hidden='true'><i class='rr-v-{step.style}' "
        f"style='margin-left:{step.start / found.pairs:.3%};width:{step.pairs / found.pairs:.3%}'></i></i>"
        f"<b>{step.pairs:,}</b> <small>{wording.percent(100 * step.pairs / found.pairs)}</small></li>"
        for step in steps(found)
        if found.pairs
    )
    return f"<ol class='rr-funnel' aria-label='{tr('How the pairs came to what they are')}'>{rows}</ol>"


def pool_check(found: CheckReport) -> None:
    """The shares with their intervals, and which videos are wrong."""
    st.header(tr("Wrong videos in the pools"), anchor=False)
    st.html(share_table(found))
    st.caption(
        tr(
            "Of {file}: {querys} of {queries:,}. Intervals are Wilson's, of 95 %. Undecided are videos "
            "on which two people stood against two.",
            file=plain(found.facts.file),
            querys=wording.count_of(found.facts.drawn, "query"),
            queries=found.facts.queries,
        )
    )
    if found.wrong:
        with st.expander(wording.count_of(len(found.wrong), "wrong video")):
            rows = [(escape(one.query), escape(one.video), tr(_WRONG[one.put_in_as])) for one in found.wrong]
            st.html(look.table((tr("Query"), tr("Video"), tr("In the pool as")), rows))


def share_table(found: CheckReport) -> str:
    """Positives that do not match, negatives that do, and both together."""
    rows = {
        tr("positives that do not match"): found.positives,
        tr("negatives that match"): found.negatives,
        "together": found.together,
    }
    head = ("", tr("Wrong"), tr("Share"), tr("95 % interval"), tr("Not settled"))
    return look.table(head, [(name, *_cells(share)) for name, share in rows.items()], "rr-shares")


def _cells(share: Share) -> tuple[str, ...]:
    counts = ((share.waiting, "waiting"), (share.undecided, "undecided"))
    left = ", ".join(f"{count:,} {what}" for count, what in counts if count) or tr("none")
    if share.share is None or share.low is None or share.high is None:
        return tr("none settled yet"), "", "", left
    percent = (f"<b>{share.share:.1%}</b>", tr("{low:.1%} to {high:.1%}", low=share.low, high=share.high))
    return tr("{wrong:,} of {settled:,}", wrong=share.wrong, settled=share.settled), *percent, left
