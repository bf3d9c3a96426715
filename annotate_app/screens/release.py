"""The lead's page "Release": what a release made now would hold, making it, downloading it."""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.plain import plain
from annotate_app.server import export_worker
from annotate_app.widgets import look, wording
from backend import api
from backend.campaign.nouns import Person
from backend.ground.errors import ReelRankError

_LOG = logging.getLogger(__name__)


def page() -> None:
    """Counts and warnings, then the button, the wait and the download."""
    project, lead, counts = look.lead_page("Release")
    pairs, queries = counts["pairs"], counts["queries"]
    held = pairs["consensus"] + pairs["adjudicated"]
    st.markdown("A release freezes what is agreed so far, with a manifest and a hash of every file.")
    labels = {
        "Queries for validation": queries["val"],
        "Queries for test": queries["test"],
        "Pairs with a relevance": held,
        "Raw judgements": counts["judgements"],
    }
    look.metrics({label: f"{value:,}" for label, value in labels.items()})
    found = warnings(counts)
    if found:
        st.warning("  \n".join(["**Before you freeze it**", *found]), icon=":material/pending_actions:")
    look.refusal("release_problem")
    _maker()
    _earlier(api.list_releases(project, lead))


def warnings(counts: dict[str, Any]) -> list[str]:
    """What a lead should know before freezing."""
    pairs = counts["pairs"]
    unsettled = pairs["open"] + pairs["escalated"]
    found = []
    if unsettled:
        found.append(
            f"{wording.pairs_are(unsettled)} not settled yet ({pairs['open']:,} open, "
            f"{pairs['escalated']:,} escalated). A release made now leaves them out."
        )
    if pairs["discarded"]:
        found.append(
            f"{wording.pairs_are(pairs['discarded'])} discarded: no consensus, "
            "so no relevance. You can still decide them on the page Disagreements."
        )
    if pairs["set_aside"]:
        found.append(
            f"{wording.pairs_are(pairs['set_aside'])} set aside for an exam or a trial, and not settled. On the "
            "page Exam you can let an exam's answers count, or end it."
        )
    if pairs["blocked"]:
        found.append(f"{wording.pairs_are(pairs['blocked'])} blocked, because the clip cannot be shown.")
    return found


def make() -> None:
    """Callback of the button: starts the worker unless one is at it already."""
    running: Future[Path] | None = st.session_state.get("release")
    if running and not running.done():
        return

    def begin(project: api.Project, lead: Person) -> None:
        st.session_state["release"] = export_worker.start(
            project.folder, lead, bool(st.session_state.get("with_published")), time.time()
        )

    st.session_state["release_problem"] = look.as_lead(begin)


def _maker() -> None:
    future: Future[Path] | None = st.session_state.get("release")
    busy = future is not None and not future.done()
    st.checkbox(
        "With the published captions",
        key="with_published",
        disabled=busy,
        help="Captions in a release are the imprecise ones. The published ones, which may name people, then stand "
        "beside them as published_caption.",
    )
    st.button("Make release", type="primary", key="make_release", on_click=make, disabled=busy)
    # Only a release in the making needs to be looked at again every second.
    st.fragment(_progress, run_every=1.0 if busy else None)()


def _progress() -> None:
    if "release" not in st.session_state:
        return
    future: Future[Path] = st.session_state["release"]
    if not future.done():
        st.info("The release is being made. You can go on working; it appears here.", icon=":material/sync:")
        return
    if st.session_state.get("release_seen") is not future:
        st.session_state["release_seen"] = future
        st.rerun()
    try:
        path = future.result()
    except ReelRankError as error:
        st.error(plain(str(error)))
        return
    except Exception:
        # The worker is another process: without this its failure would appear nowhere.
        _LOG.exception("Making a release failed")
        st.error("The release could not be made. The server's log says why; nothing was changed.")
        return
    st.success(f"The release is ready: {plain(path.name)}, {path.stat().st_size / 1e6:,.1f} MB.")
    # A run that ended between the click and the browser's fetch would take the file away: the click starts none.
    st.download_button(
        "Download",
        data=_reader(path),
        file_name=path.name,
        mime="application/zip",
        key="download",
        on_click="ignore",
    )


def _earlier(releases: Sequence[api.ReleaseRow]) -> None:
    """What was frozen before, by the hash that names it."""
    if not releases:
        return
    st.subheader("Earlier releases", anchor=False)
    st.table(
        {
            "Made": [wording.when(release.created_at, st.context.timezone) for release in releases],
            "SHA-256 of its manifest": [release.sha256 for release in releases],
        },
        hide_index=True,
    )


def _reader(path: Path) -> Callable[[], bytes]:
    """Read on the click only: a release can be large, and most runs of this page do not need it."""
    return path.read_bytes
