"""The guideline as annotators see it, on a lead's page: the player's own panel, standing still."""

from typing import Any

import streamlit as st

from annotate_app.language import browser_texts, tr
from annotate_app.shared.desk import joined
from annotate_app.shared.player import player

_SCRIPTS = ("../../language/browser.js", "../../shared/desk/frame.js", "guide.js")
_PANEL = """<section class="player shown"><dialog class="panel" open><div class="body" tabindex="0"></div></dialog>
</section>"""
_STYLE = """
.player.shown { min-height: 0; max-height: none; container-type: inline-size; }
.player.shown .panel { position: static; width: 100%; max-height: 70svh; margin: 0; padding-top: 16px; overflow-y: auto;
  box-shadow: none; }
.player.shown .questions { grid-template-columns: 1fr; }
.player.shown .meanings li { grid-template: "digit meant" auto "digit shown" auto / 30px 1fr; gap: 2px 14px; }
.player.shown .meanings li.filmed {
  grid-template: "digit meant" auto "digit shown" auto "digit clip" auto / 30px 1fr; gap: 2px 14px;
}
"""
_MOUNT = """
export default function ({ parentElement, data }) {
  const dialog = parentElement.querySelector("dialog");
  const words = JSON.stringify(data.guideline);
  if (dialog.dataset.words === words) return;
  dialog.dataset.words = words;
  dialog.setAttribute("aria-label", data.label);
  speak(parentElement, data);
  new Guide(dialog, data.guideline).turned();
}
"""
_mount = st.components.v2.component(
    "reelrank_guideline_preview",
    html=_PANEL,
    css=player.style() + _STYLE,
    js="\n".join([joined(player.FOLDER, _SCRIPTS), _MOUNT]),
)


def preview(words: dict[str, Any]) -> None:
    """Shows the guideline's words, as `shared.guideline` has them."""
    data = {"guideline": words, "label": tr("The guideline as annotators see it")}
    _mount(data=data | browser_texts(player.FOLDER, _SCRIPTS), key="guideline-preview")
