"""The lead's page "Release": preview, make, download and compare releases."""

import time
from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.release.sections import release_diff, release_terms, releases
from annotate_app.server import job_functions, jobs
from annotate_app.shared import look, wording
from annotate_app.shared.job_view import job_view
from backend.campaign.monitoring.progress.progress import work_version
from backend.campaign.nouns import Person, Split
from backend.campaign.release.export.freezing import release_preview
from backend.campaign.release.export.kept_releases import check_new_release, list_releases, next_release_name
from backend.campaign.release.export.model import (
    LONGEST_NAME,
    LONGEST_NOTES,
    Adjudicated,
    ReleaseOptions,
    ReleaseSelection,
)
from backend.campaign.review.model import StatusCounts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import Job, JobKind, JobState
from backend.core.messages import said

_ADJUDICATED = {marked("Include, marked"): Adjudicated.INCLUDE, marked("Leave out"): Adjudicated.LEAVE_OUT}
_SHOWN = 50
"""The most left-out queries that the page names."""


def page() -> None:
    """Draw the preview of a release, its licence, the form that makes it, and the releases made so far.

    A release is a frozen export of the ground truth, with hashes of all files.
    """
    project, lead, counts = look.lead_page("Release")
    st.markdown(tr("A release freezes the pairs settled so far, with a manifest and a hash of every file."))
    job = job_view(project, lead, {JobKind.RELEASE}, "release_problem", _start_again_button)
    busy = job is not None and job.is_running
    with st.container(key="release_options"):
        options = _options(busy)
    selection = _preview(project, lead, str(project.folder), options, work_version(project, lead))
    queries = counts["queries"]
    look.metrics(
        {
            tr("Queries for validation"): tr(
                "{count:,} of {queries:,}", count=selection.count(Split.VAL), queries=queries["val"]
            ),
            tr("Queries for test"): tr(
                "{count:,} of {queries:,}", count=selection.count(Split.TEST), queries=queries["test"]
            ),
            tr("Pairs with a relevance"): f"{selection.moments:,}",
            tr("Raw judgements"): f"{counts['judgements']:,}",
        }
    )
    if sentences := inside(selection) + warnings(counts):
        st.warning("  \n".join([tr("**Before you make the release**"), *sentences]), icon=":material/pending_actions:")
    _left_out(selection)
    release_terms(project, lead)
    look.refusal("release_problem")
    _maker(options, busy, next_release_name(project, lead))
    made = list_releases(project, lead)
    releases(project, lead, made)
    release_diff(project, lead, made)


def inside(selection: ReleaseSelection) -> list[str]:
    """Return sentences about queries and pairs that a release leaves out, and about unusual ones that it includes.

    Unusual are queries with pairs that still need grades, and pairs whose relevance was set by a lead.
    """
    return _sentences(
        (
            len(selection.unfinished),
            marked("{queries_are} left out: some pairs still wait for grades, and would count as not relevant."),
        ),
        (
            len(selection.unfinished_within),
            marked(
                "{queries_are} included although some pairs still wait for grades. A system that finds those pairs "
                "scores 0 for them."
            ),
        ),
        (len(selection.without_relevance), marked("{queries_are} left out: no pair has a relevance.")),
        (selection.adjudicated, marked("{pairs_are} adjudicated by a lead, and marked as such.")),
        (selection.adjudicated_left_out, marked("{pairs_are} left out, because a lead adjudicated.")),
    )


def warnings(counts: StatusCounts) -> list[str]:
    """Return warnings that a lead should read before a release, such as how many pairs are not settled yet.

    `counts` are the project's counts from `status_counts`, such as the number of pairs by verdict.
    """
    pairs = counts["pairs"]
    return _sentences(
        (
            pairs["open"] + pairs["escalated"],
            marked("{pairs_are} not settled yet ({pairs:,} open, {pairs_2:,} escalated)."),
        ),
        (
            pairs["discarded"],
            marked(
                "{pairs_are} discarded: no consensus, so no relevance. You can still adjudicate on the page Disputes."
            ),
        ),
        (
            pairs["set_aside"],
            marked(
                "{pairs_are} reserved for an exam or a calibration round, and not settled. To use them, count the "
                "answers on the page Exam, or end the exam or round."
            ),
        ),
        (pairs["blocked"], marked("{pairs_are} blocked, because the clip cannot be shown.")),
        pairs=pairs,
    )


def _sentences(*counted: tuple[int, str], pairs: Mapping[str, int] = MappingProxyType({})) -> list[str]:
    """Return a sentence for each template whose count is not zero.

    Args:
        counted: tuples of (count, template of a sentence with this count).
        pairs: the number of pairs with each verdict, by the verdict's name. Templates may use these numbers too.
    """
    return [
        tr(
            text,
            queries_are=f"{wording.count_of(count, 'query')} {wording.are(count)}",
            pairs_are=wording.pairs_are(count),
            pairs=pairs.get("open", 0),
            pairs_2=pairs.get("escalated", 0),
        )
        for count, text in counted
        if count
    ]


@look.lead_callback("release_problem")
def _make(project: Project, lead: Person, options: ReleaseOptions, name: str | None = None, notes: str = "") -> None:
    """Begin the job that makes a release. If `name` is None, use the name and notes typed in the form."""
    if name is None:
        name, notes = st.session_state["release_name"], st.session_state["release_notes"]
    check_new_release(project, lead, name, notes)
    asked = {
        "adjudicated": options.adjudicated.value,
        "unfinished": "yes" if options.unfinished else "",
        "with_published": "yes" if options.with_published else "",
        "name": name,
        "notes": notes,
    }
    make, title = job_functions.make_release, said("Making a release")
    jobs.begin(project, lead, JobKind.RELEASE, "", title, make, options, name, notes, asked=asked, now=time.time())


def _start_again_button(job: Job) -> None:
    """Draw the button that starts a release again if its job did not finish."""
    if job.state in (JobState.INTERRUPTED, JobState.FAILED, JobState.CANCELLED):
        asked = job.asked
        options = ReleaseOptions(
            Adjudicated(asked["adjudicated"]), bool(asked["unfinished"]), bool(asked["with_published"])
        )
        st.button(tr("Start again"), key="release_again", on_click=_make, args=(options, asked["name"], asked["notes"]))


@st.cache_data(max_entries=8, show_spinner=False)
def _preview(
    _project: Project, _lead: Person, folder: str, options: ReleaseOptions, version: tuple[str, ...]
) -> ReleaseSelection:
    """Return which queries and pairs a release would contain, cached until the work changes.

    The result is cached because choosing them takes half a second in a large campaign.
    """
    return release_preview(_project, _lead, options)


def _options(busy: bool) -> ReleaseOptions:
    decided = st.segmented_control(
        tr("Pairs adjudicated by a lead"),
        list(_ADJUDICATED),
        format_func=tr,
        default=next(iter(_ADJUDICATED)),
        required=True,
        key="release_adjudicated",
        disabled=busy,
    )
    unfinished = st.checkbox(
        tr("Include unfinished queries"),
        key="release_unfinished",
        disabled=busy,
        help=tr("A query is finished once each pair of its batches is settled, discarded or blocked."),
    )
    published = st.checkbox(
        tr("Include the published captions"),
        key="with_published",
        disabled=busy,
        help=tr(
            "A release has the imprecise captions. Published captions may name people; this adds them as "
            "published_caption."
        ),
    )
    return ReleaseOptions(_ADJUDICATED[decided], unfinished, published)


def _left_out(selection: ReleaseSelection) -> None:
    """Draw the first queries that the release leaves out, each with the reason.

    The manifest, a file in the release, names all of them.
    """
    rows = [
        (
            query,
            tr("{waiting:,} of {pairs} waiting", waiting=query.waiting, pairs=wording.count_of(query.pairs, "pair"))
            if query.pairs
            else tr("no batch is open yet"),
        )
        for query in selection.unfinished
    ] + [(query, tr("no pair has a relevance")) for query in selection.without_relevance]
    if not rows:
        return
    with st.expander(tr("{queries} left out", queries=wording.count_of(len(rows), "query"))):
        st.table(
            {
                tr("Query"): [plain(query.text) for query, _ in rows[:_SHOWN]],
                tr("Split"): [query.split.value for query, _ in rows[:_SHOWN]],
                tr("Why"): [why for _, why in rows[:_SHOWN]],
            },
            hide_index=True,
        )
        if len(rows) > _SHOWN:
            others = wording.count_of(len(rows) - _SHOWN, "other")
            st.caption(tr("And {others}. The manifest of the release names all of them.", others=others))


def _maker(options: ReleaseOptions, busy: bool, usual: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            tr("Name"),
            key="release_name",
            placeholder=usual,
            disabled=busy,
            max_chars=LONGEST_NAME,
            help=tr("Letters, digits, spaces, . - and _. No name is used twice, not even that of a removed release."),
        )
        st.text_input(
            tr("Notes"),
            key="release_notes",
            placeholder=tr("What is new in it"),
            disabled=busy,
            max_chars=LONGEST_NOTES,
        )
        st.button(
            tr("Make release"), type="primary", key="make_release", on_click=_make, args=(options,), disabled=busy
        )
