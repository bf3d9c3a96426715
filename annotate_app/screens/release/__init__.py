"""The lead's page "Release": what a release made now would hold, making it, downloading it."""

import logging
import time
from concurrent.futures import Future
from typing import Any

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.screens.release.diff import release_diff
from annotate_app.screens.release.releases import releases
from annotate_app.screens.release.terms import release_terms
from annotate_app.server import export_worker
from annotate_app.session import auth
from annotate_app.shared import look, wording
from backend import api
from backend.campaign.nouns import Person, Split
from backend.campaign.release.export.model import Adjudicated, ReleaseOptions, ReleaseSelection
from backend.core.errors import ReelRankError

_LOG = logging.getLogger(__name__)
_ADJUDICATED = {marked("In it, marked"): Adjudicated.INCLUDE, marked("Left out"): Adjudicated.LEAVE_OUT}
_SHOWN = 50
"""Queries that are left out, by name."""


def page() -> None:
    """What would be in it and what not, licence, the button, and the releases made so far."""
    project, lead, counts = look.lead_page("Release")
    st.markdown(tr("A release freezes what is agreed so far, with a manifest and a hash of every file."))
    with st.container(key="release_options"):
        options = _options()
    found = _preview(project, lead, str(project.folder), options, api.work_version(project, lead))
    queries = counts["queries"]
    look.metrics(
        {
            tr("Queries for validation"): tr(
                "{count:,} of {queries:,}", count=found.count(Split.VAL), queries=queries["val"]
            ),
            tr("Queries for test"): tr(
                "{count:,} of {queries:,}", count=found.count(Split.TEST), queries=queries["test"]
            ),
            tr("Pairs with a relevance"): f"{found.moments:,}",
            tr("Raw judgements"): f"{counts['judgements']:,}",
        }
    )
    if said := inside(found) + warnings(counts):
        st.warning("  \n".join([tr("**Before you freeze it**"), *said]), icon=":material/pending_actions:")
    _left_out(found)
    look.refusal("release_problem")
    release_terms(project, lead)
    _maker(options)
    made = api.list_releases(project, lead)
    releases(project, lead, made)
    release_diff(project, lead, made)


def inside(found: ReleaseSelection) -> list[str]:
    """Which queries and pairs a release made now would not hold, or hold although a reader may not expect it."""
    said = []
    if queries := found.unfinished:
        said.append(
            tr(
                "{queries_are} left out: pairs of {len} still wait for grades, and would count as not relevant.",
                queries_are=_queries_are(len(queries)),
                len=tr("it") if len(queries) == 1 else tr("them"),
            )
        )
    if queries := found.unfinished_within:
        said.append(
            tr(
                "{queries_are} in it although pairs still wait: whoever finds these is counted 0.",
                queries_are=_queries_are(len(queries)),
            )
        )
    if queries := found.without_relevance:
        said.append(tr("{queries_are} left out: no pair that could be truth.", queries_are=_queries_are(len(queries))))
    if found.adjudicated:
        said.append(
            tr("{pairs_are} decided by a lead, and marked as such.", pairs_are=wording.pairs_are(found.adjudicated))
        )
    if found.adjudicated_left_out:
        said.append(
            tr(
                "{pairs_are} left out because a lead decided on them.",
                pairs_are=wording.pairs_are(found.adjudicated_left_out),
            )
        )
    return said


def warnings(counts: dict[str, Any]) -> list[str]:
    """What a lead should know of the pairs before freezing."""
    pairs = counts["pairs"]
    unsettled = pairs["open"] + pairs["escalated"]
    found = []
    if unsettled:
        found.append(
            tr(
                "{pairs_are} not settled yet ({pairs:,} open, {pairs_2:,} escalated).",
                pairs_are=wording.pairs_are(unsettled),
                pairs=pairs["open"],
                pairs_2=pairs["escalated"],
            )
        )
    if pairs["discarded"]:
        found.append(
            tr(
                "{pairs_are} discarded: no consensus, so no relevance. You can still decide them on the page "
                "Disagreements.",
                pairs_are=wording.pairs_are(pairs["discarded"]),
            )
        )
    if pairs["set_aside"]:
        found.append(
            tr(
                "{pairs_are} set aside for an exam or a trial, and not settled. On the page Exam you can let "
                "an exam's answers count, or end it.",
                pairs_are=wording.pairs_are(pairs["set_aside"]),
            )
        )
    if pairs["blocked"]:
        found.append(
            tr("{pairs_are} blocked, because the clip cannot be shown.", pairs_are=wording.pairs_are(pairs["blocked"]))
        )
    return found


def make(options: ReleaseOptions) -> None:
    """Callback of the button: starts the worker unless one is at it already."""
    if _busy():
        return

    def begin(project: api.Project, lead: Person) -> None:
        st.session_state["release"] = export_worker.start(
            project.folder,
            lead,
            options,
            st.session_state["release_name"],
            st.session_state["release_notes"],
            time.time(),
        )

    st.session_state["release_problem"] = look.as_lead(begin)


@st.cache_data(max_entries=8, show_spinner=False)
def _preview(
    _project: api.Project, _lead: Person, folder: str, options: ReleaseOptions, version: tuple[int, ...]
) -> ReleaseSelection:
    """Counted anew only where something has changed: half a second for a large campaign."""
    return api.release_preview(_project, _lead, options)


def _options() -> ReleaseOptions:
    busy = _busy()
    decided = st.segmented_control(
        tr("Pairs that a lead decided on"),
        list(_ADJUDICATED),
        format_func=tr,
        default=next(iter(_ADJUDICATED)),
        required=True,
        key="release_adjudicated",
        disabled=busy,
    )
    unfinished = st.checkbox(
        tr("Unfinished queries too"),
        key="release_unfinished",
        disabled=busy,
        help=tr(
            "A query is finished once no pair of its batches waits for grades: each is settled, "
            "discarded, or its clip cannot be shown."
        ),
    )
    published = st.checkbox(
        tr("With the published captions"),
        key="with_published",
        disabled=busy,
        help=tr(
            "Captions in a release are the imprecise ones. The published ones, which may name people, "
            "then stand beside them as published_caption."
        ),
    )
    return ReleaseOptions(_ADJUDICATED[decided], unfinished, published)


def _busy() -> bool:
    future: Future[tuple[str, bool]] | None = st.session_state.get("release")
    return future is not None and not future.done()


def _left_out(found: ReleaseSelection) -> None:
    """The queries that are not in it, and why; the manifest names all of them."""
    rows = [
        (
            query,
            tr("{waiting:,} of {pairs:,} pairs wait", waiting=query.waiting, pairs=query.pairs)
            if query.pairs
            else tr("nothing was handed out yet"),
        )
        for query in found.unfinished
    ] + [(query, tr("no pair that could be truth")) for query in found.without_relevance]
    if not rows:
        return
    with st.expander(tr("{querys} left out", querys=wording.count_of(len(rows), "query"))):
        st.table(
            {
                tr("Query"): [plain(query.text) for query, _ in rows[:_SHOWN]],
                tr("Split"): [query.split.value for query, _ in rows[:_SHOWN]],
                tr("Why"): [why for _, why in rows[:_SHOWN]],
            },
            hide_index=True,
        )
        if len(rows) > _SHOWN:
            st.caption(tr("And {len:,} others; the manifest of the release names all of them.", len=len(rows) - _SHOWN))


def _queries_are(count: int) -> str:
    return f"{wording.count_of(count, 'query')} {wording.are(count)}"


def _maker(options: ReleaseOptions) -> None:
    busy = _busy()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(tr("Name"), key="release_name", placeholder="release-N", disabled=busy, max_chars=100)
        st.text_input(
            tr("Notes"), key="release_notes", placeholder=tr("What is new in it"), disabled=busy, max_chars=2000
        )
        st.button(tr("Make release"), type="primary", key="make_release", on_click=make, args=(options,), disabled=busy)
    # Only a release in the making needs to be looked at again every second.
    auth.fragment(_progress, run_every=1.0 if busy else None)()


def _progress() -> None:
    if "release" not in st.session_state:
        return
    future: Future[tuple[str, bool]] = st.session_state["release"]
    if not future.done():
        st.info(tr("The release is being made. You can go on working; it appears here."), icon=":material/sync:")
        return
    if st.session_state.get("release_seen") is not future:
        st.session_state["release_seen"] = future
        st.rerun()
    try:
        name, again = future.result()
    except ReelRankError as error:
        st.error(plain(retold(error)))
        return
    except Exception:
        # The worker is another process: without this its failure would appear nowhere.
        _LOG.exception("Making a release failed")
        st.error(tr("The release could not be made. The server's log says why; nothing was changed."))
        return
    if again:
        st.info(
            tr(
                "Nothing changed since the release {name}: what was made now is the same, byte for byte.",
                name=plain(name),
            )
        )
    else:
        st.success(tr("The release {name} is ready; it stands below.", name=plain(name)))
