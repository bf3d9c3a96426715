"""The case view: a query's truth moments and the predictions of one or two runs side by side, as clips."""

from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.language import browser_texts
from annotate_app.plain import component_key
from annotate_app.shared.desk import joined

_HERE = Path(__file__).parent
_SCRIPTS = ("../../../language/browser.js", "case_view.js")
_mount = st.components.v2.component(
    "reelrank_case_view",
    html='<div class="case"></div>',
    css=(_HERE / "case_view.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
)


def case_view(case: dict[str, Any], key: str) -> None:
    """Shows one case.

    Args:
        case: `{"counted", "moments": [...], "runs": [{"name", "counted", "predictions": [...], "told": [...]}]}`:
            moments and predictions are the cards of `backend.scoring.views.case` with the address `src` of their clip,
            None where the project has no such video; `counted` says how many there are and are shown; `told` is what a
            run made of each moment, None for nothing.
        key: one for each case view on a page.
    """
    _mount(key=component_key(key), data=case | browser_texts(_HERE, _SCRIPTS))
