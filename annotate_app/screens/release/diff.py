"""Two releases side by side: what changed from one to the other, and why."""

from collections.abc import Sequence

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.shared import address_state, wording
from backend.campaign.nouns import Person
from backend.campaign.release.export.diffing import diff_csv
from backend.campaign.release.export.kept_releases import release_changes
from backend.campaign.release.export.model import KeptRelease
from backend.campaign.release.export.rules.diffing import PairChange, QueryChange, ReleaseDiff
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ReelRankError

_SHOWN = 100
_NONE = " "
"""No release is called this."""


def release_diff(project: Project, lead: Person, found: Sequence[KeptRelease]) -> None:
    """The choice of both, in the address, and what is different; nothing while there are fewer than two."""
    names = {one.name: one.name for one in found if one.megabytes is not None}
    if len(names) < 2:
        return
    st.subheader(tr("What changed"), anchor=False)
    with st.container(horizontal=True):
        # Nothing is compared before somebody asks: of two large releases it takes seconds.
        was = address_state.choice(tr("From"), "from", {_NONE: tr("Choose a release"), **names}, box=True)
        now = address_state.choice(tr("To"), "to", names, box=True)
    if was == _NONE:
        return
    if was == now:
        st.caption(tr("Choose two different ones."))
        return
    hashes = {one.name: one.sha256 for one in found}
    try:
        with st.spinner(tr("Comparing")):
            changes = _compared(project, lead, str(project.folder), was, now, hashes[was], hashes[now])
    except ReelRankError as refusal:
        st.error(plain(retold(refusal)))
        return
    if changes.equal:
        st.info(
            tr(
                "The truth of {was} and {now} is the same: {same:,} graded moments.",
                was=plain(was),
                now=plain(now),
                same=changes.same,
            )
        )
        return
    moved = sum(changes.moved.values())
    st.markdown(
        tr(
            "**{querys}** changed. Of the moments **{same:,}** are as before, **{moved:,}** {moved_2} "
            "another relevance, **{moments_gone:,}** {are} gone, **{moments_new:,}** {are_2} new.",
            querys=wording.count_of(len(changes.queries), "query"),
            same=changes.same,
            moved=moved,
            moved_2=tr("has") if moved == 1 else tr("have"),
            moments_gone=changes.moments_gone,
            are=wording.are(changes.moments_gone),
            moments_new=changes.moments_new,
            are_2=wording.are(changes.moments_new),
        )
    )
    _changes(tr("Queries"), [_query(one) for one in changes.queries])
    _changes(tr("Pairs of queries that both have"), [_pair(one) for one in changes.pairs])
    st.download_button(
        tr("All changes as CSV"),
        data=diff_csv(changes),
        file_name=f"changes-{was}-{now}.csv",
        mime="text/csv",
        key="diff_csv",
        on_click="ignore",
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _compared(
    _project: Project, _lead: Person, folder: str, was: str, now: str, hash_was: str, hash_now: str
) -> ReleaseDiff:
    """Releases never change, nor what leads did between them; reading two large ones takes seconds."""
    return release_changes(_project, _lead, was, now)


def _query(one: QueryChange) -> str:
    before, after = (plain(text) or "–" for text in (one.before, one.after))
    return tr(
        "Query {query_id} · {before} **→** {after}{why}",
        query_id=one.query_id,
        before=before,
        after=after,
        why=_why(one.reason),
    )


def _pair(one: PairChange) -> str:
    before, after = ("–" if value is None else str(value) for value in (one.before, one.after))
    moment = tr("{video}, {start_s:.2f} to {end_s:.2f} s", video=plain(one.video), start_s=one.start_s, end_s=one.end_s)
    return f"**{before} → {after}** · {plain(one.query)} · {moment}{_why(one.reason)}"


def _why(reason: str) -> str:
    return f"  \n:gray[{plain(retold(reason))}]" if reason else ""


def _changes(title: str, lines: Sequence[str]) -> None:
    """Paragraphs, which a phone has room for."""
    if not lines:
        return
    st.markdown(f"**{title}** · {len(lines):,}")
    st.markdown("\n\n".join(lines[:_SHOWN]))
    if len(lines) > _SHOWN:
        st.caption(tr("And {others}; the CSV has all of them.", others=wording.count_of(len(lines) - _SHOWN, "other")))
