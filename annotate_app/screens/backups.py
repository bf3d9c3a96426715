"""The lead's page "Backups": copies of the database, to make and to download."""

import time

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from backend.campaign.doctor.database import backup_now, list_backups
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project

_SHOWN = 10


def page() -> None:
    """Draw the button, and a line for each of the newest copies."""
    project, lead, _ = look.lead_page("Backups")
    st.markdown(
        tr(
            "A backup is a copy of the database, made while people work, in the folder backups/ of the project. It "
            "has no release files: copy the folder releases/ too."
        )
    )
    look.refusal("backup_problem")
    st.button(tr("Back up now"), key="back_up", on_click=_back_up, icon=":material/shield:")
    found = list_backups(project, lead)
    if not found:
        st.caption(tr("No backups yet."))
    for number, one in enumerate(found[:_SHOWN]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"backup-{number}"):
            made = wording.when(one.made_at, st.context.timezone)
            st.markdown(
                tr(
                    "{name} · {megabytes:,.1f} MB · made {made}",
                    name=plain(one.file.name),
                    megabytes=one.megabytes,
                    made=made,
                ),
                width="stretch",
            )
            # Read on a click only: the copy may be large.
            st.download_button(
                tr("Download"),
                data=one.file.read_bytes,
                file_name=one.file.name,
                mime="application/vnd.sqlite3",
                key=f"download-backup-{number}",
                on_click="ignore",
            )
    if len(found) > _SHOWN:
        older = wording.count_of(len(found) - _SHOWN, "older one")
        st.caption(tr("{backups} in the folder backups/.", backups=older))


@look.lead_callback("backup_problem")
def _back_up(project: Project, lead: Person) -> None:
    """Copy the database, or show why that failed, as the callback of the button."""
    backup_now(project, lead, now=time.time())
