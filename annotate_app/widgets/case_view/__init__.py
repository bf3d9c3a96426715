"""The case view: a query's truth moments and the predictions of one or two runs side by side, as clips."""

from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_case_view",
    html='<div class="case"></div>',
    css=(_HERE / "case_view.css").read_text(encoding="utf-8"),
    js=(_HERE / "case_view.js").read_text(encoding="utf-8"),
)


def case_view(case: dict[str, Any], key: str) -> None:
    """Shows one case.

    Args:
        case: `{"measure", "moments": [{"number", "video", "start_s", "end_s", "relevance", "src"}], "runs": [{"name",
            "value", "predictions": [{"rank", "video", "start_s", "end_s", "takes", "relevance", "iou", "verdict",
            "src"}], "found": [{"rank", "fate"}]}]}`; `found` in the order of the moments; `src` None where the
            project has no such video.
        key: one for each case view on a page.
    """
    _mount(key=key, data=case)
