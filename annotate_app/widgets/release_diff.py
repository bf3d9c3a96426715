"""Two releases side by side: what changed from one to the other, and why."""

from collections.abc import Sequence

import streamlit as st

from annotate_app.plain import plain
from annotate_app.widgets import address_state, look, wording
from backend import api
from backend.campaign.nouns import Person
from backend.ground.errors import ReelRankError

_SHOWN = 100


def release_diff(project: api.Project, lead: Person, found: Sequence[api.KeptRelease]) -> None:
    """The choice of both, in the address, and what is different; nothing while there are fewer than two."""
    names = {one.name: one.name for one in found if one.megabytes is not None}
    if len(names) < 2:
        return
    st.subheader("What changed", anchor=False)
    newest, before = list(names)[:2]
    with st.container(horizontal=True):
        was = address_state.choice("From", "from", names, default=before, box=True)
        now = address_state.choice("To", "to", names, default=newest, box=True)
    if was == now:
        st.caption("Choose two different ones.")
        return
    hashes = {one.name: one.sha256 for one in found}
    try:
        changes = _compared(project, lead, str(project.folder), was, now, hashes[was], hashes[now])
    except ReelRankError as refusal:
        st.error(plain(str(refusal)))
        return
    if changes.equal:
        st.info(f"The truth of {plain(was)} and {plain(now)} is the same: {changes.same:,} graded moments.")
        return
    look.metrics(
        {
            "Queries that changed": f"{len(changes.queries):,}",
            "Moments as before": f"{changes.same:,}",
            "With another relevance": f"{sum(changes.moved.values()):,}",
            "Gone": f"{changes.moments_gone:,}",
            "New": f"{changes.moments_new:,}",
        }
    )
    if changes.queries:
        _table(
            "Queries",
            [(one.query_id, one.before or "–", one.after or "–", one.reason) for one in changes.queries],
            ("Query", f"In {was}", f"In {now}", "Why"),
        )
    if changes.pairs:
        _table(
            "Pairs of queries that both have",
            [
                (
                    *(f"{one.query_id}: {one.query}", f"{one.video}, {one.start_s:.2f} to {one.end_s:.2f} s"),
                    *("–" if value is None else str(value) for value in (one.before, one.after)),
                    one.reason,
                )
                for one in changes.pairs
            ],
            ("Query", "Moment", f"In {was}", f"In {now}", "Why"),
        )
    st.download_button(
        "All changes as CSV",
        data=api.diff_csv(changes),
        file_name=f"changes-{was}-{now}.csv",
        mime="text/csv",
        key="diff_csv",
        on_click="ignore",
    )


@st.cache_data(max_entries=8, show_spinner="Comparing")
def _compared(
    _project: api.Project, _lead: Person, folder: str, was: str, now: str, hash_was: str, hash_now: str
) -> api.ReleaseDiff:
    """Releases never change, nor what leads did between them; reading two large ones takes seconds."""
    return api.release_changes(_project, _lead, was, now)


def _table(title: str, rows: Sequence[Sequence[str]], head: Sequence[str]) -> None:
    st.markdown(f"**{title}** · {len(rows):,}")
    shown = [[plain(cell) for cell in row] for row in rows[:_SHOWN]]
    st.table({plain(name): [row[at] for row in shown] for at, name in enumerate(head)}, hide_index=True)
    if len(rows) > _SHOWN:
        st.caption(f"And {wording.count_of(len(rows) - _SHOWN, 'other')}; the CSV has all of them.")
