"""The script that Streamlit runs whenever a browser page is drawn: it finds the signed-in user and runs their page."""

import streamlit as st

from annotate_app import navigation
from annotate_app.language import translate_message
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import look
from backend.core.errors import StoreUnavailable, TextRefused

st.set_page_config(page_title="ReelRank", page_icon=look.MARK, layout="wide")
try:
    person = auth.current()
    with auth.turn_of(person):
        if person is not None:
            look.header(auth.project(), person)
        page = navigation.page_for(person)
        if person is None:
            look.style()
            navigation.signed_out(page.url_path)
        else:
            navigation.welcome_back(person, page.url_path)
            page.run()
except TextRefused as error:
    st.error(plain(translate_message(error)))
except StoreUnavailable as error:
    st.error(plain(translate_message(error)), icon=":material/database_off:")
