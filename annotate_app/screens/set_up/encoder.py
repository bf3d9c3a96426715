"""The choice of the sentence encoder, which several steps of Set up need."""

import streamlit as st

from annotate_app.language import tr
from backend.campaign.nouns import Person
from backend.campaign.selection.candidates.choosing import encoder_name
from backend.campaign.setup.project.folder import Project

_OFFLINE = "minilm"


def encoder_box(project: Project, lead: Person, key: str) -> None:
    """A box with the project's encoder and what else there is; any other may be typed."""
    now = encoder_name(project, lead)
    st.selectbox(
        tr("Encoder"),
        list(dict.fromkeys([now, _OFFLINE])),
        key=key,
        accept_new_options=True,
        format_func=lambda one: tr("{one} (works offline)", one=one) if one == _OFFLINE else one,
        help=tr("Sentence encoder: a name on the model hub, or a folder on the server."),
    )
