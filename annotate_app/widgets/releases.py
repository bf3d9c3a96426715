"""The releases that the project keeps: what each holds, and its download."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from annotate_app.plain import plain
from annotate_app.widgets import wording
from backend import api
from backend.campaign.nouns import Person


def releases(project: api.Project, lead: Person, found: Sequence[api.KeptRelease]) -> None:
    """A line for each, the newest first."""
    st.subheader("Releases", anchor=False)
    if not found:
        st.caption("None was made yet. What you make is kept here for ever, and can be downloaded at any time.")
    for number, one in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept-release-{number}"):
            st.markdown(told(one, st.context.timezone), width="stretch")
            if one.megabytes is not None:
                file = api.release_file(project, lead, one.name)
                st.download_button(
                    "Download",
                    data=_reader(file),
                    file_name=file.name,
                    mime="application/zip",
                    key=f"download-release-{number}",
                    # A run that ended between the click and the browser's fetch would take the file away.
                    on_click="ignore",
                )


def told(one: api.KeptRelease, timezone: str | None) -> str:
    """What a release is, as Markdown: its name, what it holds, where it comes from."""
    who = f" by {plain(one.made_by)}" if one.made_by else ""
    held = "counts in its manifest"
    if one.val_queries is not None and one.test_queries is not None and one.moments is not None:
        held = (
            f"{one.val_queries:,} validation and {wording.count_of(one.test_queries, 'test query')}, "
            f"{wording.count_of(one.moments, 'graded moment')}"
        )
    size = f"{one.megabytes:,.1f} MB" if one.megabytes is not None else ""
    lost = "" if size else " · :red[**its file is gone**]" if one.file else " · only its manifest was kept"
    settings = f" · {'; '.join(one.settings)}" if one.settings else ""
    notes = f"  \n{plain(one.notes)}" if one.notes else ""
    return (
        f"**{plain(one.name)}** · {held}{settings}{notes}  \n"
        f":gray[Made {wording.when(one.made_at, timezone)}{who} · SHA-256 of its manifest `{one.sha256[:16]}`"
        f"{f' · {size}' if size else ''}]{lost}"
    )


def _reader(path: Path) -> Callable[[], bytes]:
    """Read on the click only: a release can be large, and most runs of the page do not need it."""
    return path.read_bytes
