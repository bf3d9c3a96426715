"""The releases that the project keeps: what each holds, and its download."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.shared import wording
from backend.campaign.nouns import Person
from backend.campaign.release.export.kept_releases import release_file
from backend.campaign.release.export.model import KeptRelease
from backend.campaign.setup.project.folder import Project


def releases(project: Project, lead: Person, found: Sequence[KeptRelease]) -> None:
    """A line for each, the newest first."""
    st.subheader(tr("Releases"), anchor=False)
    if not found:
        st.caption(tr("None was made yet. What you make is kept here for ever, and can be downloaded at any time."))
    for number, one in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept-release-{number}"):
            st.markdown(told(one, st.context.timezone), width="stretch")
            if one.megabytes is not None:
                st.download_button(
                    tr("Download"),
                    data=_reader(project, lead, one.name),
                    file_name=Path(one.file or "").name,
                    mime="application/zip",
                    key=f"download-release-{number}",
                    # A run that ended between the click and the browser's fetch would take the file away.
                    on_click="ignore",
                )


def told(one: KeptRelease, timezone: str | None) -> str:
    """What a release is, as Markdown: its name, what it holds, where it comes from."""
    who = tr(" by {made_by}", made_by=plain(one.made_by)) if one.made_by else ""
    held = tr("counts in its manifest")
    if one.val_queries is not None and one.test_queries is not None and one.moments is not None:
        held = tr(
            "{val_queries:,} validation and {test_querys}, {graded_moments}",
            val_queries=one.val_queries,
            test_querys=wording.count_of(one.test_queries, "test query"),
            graded_moments=wording.count_of(one.moments, "graded moment"),
        )
    size = f"{one.megabytes:,.1f} MB" if one.megabytes is not None else ""
    lost = "" if size else tr(" · :red[**its file is gone**]") if one.file else tr(" · only its manifest was kept")
    settings = f" · {'; '.join(map(retold, one.settings))}" if one.settings else ""
    notes = f"  \n{plain(one.notes)}" if one.notes else ""
    return tr(
        "**{name}** · {held}{settings}{notes}  \n:gray[Made {when}{who} · SHA-256 of its manifest "
        "`{sha256}`{size}]{lost}",
        name=plain(one.name),
        held=held,
        settings=settings,
        notes=notes,
        when=wording.when(one.made_at, timezone),
        who=who,
        sha256=one.sha256[:16],
        size=f" · {size}" if size else "",
        lost=lost,
    )


def _reader(project: Project, lead: Person, name: str) -> Callable[[], bytes]:
    """Check and read the zip on the click only: it can be large, and most runs of the page do not need it."""
    return lambda: release_file(project, lead, name).read_bytes()
