"""The candidates of a query under one another: eight frames of each with their times, its grades, and the rule's steps.

The frames are pictures that browsers fetch as they come into view; a click, or Enter, opens a candidate.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from annotate_app.language import browser_texts, retold, tr, trn
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, pair_view, wording
from annotate_app.shared.desk import joined
from backend.campaign.nouns import Verdict
from backend.campaign.review.model import GivenGrade, PairReview
from backend.campaign.setup.project.model import Grading

FRAMES = 8  # as many as the server draws: backend.media.jobs
_HERE = Path(__file__).parent
_SCRIPTS = ("../../../language/browser.js", "candidates.js")
_mount = st.components.v2.component(
    "reelrank_candidates",
    html='<div class="rr-candidates"></div>',
    css=(_HERE / "candidates.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
    isolate_styles=False,  # its grades and tables look as they do everywhere
)


def candidates(pairs: Sequence[PairReview], grading: Grading, *, opens: str) -> None:
    """Draws pairs in the order given.

    Args:
        pairs: of one query.
        grading: the campaign's, which the rule's steps speak of.
        opens: the name in the address under which the rank of the opened one stands.
    """

    def opened() -> None:
        address_state.go(**{opens: st.session_state["candidates"]["opened"]})

    html = "".join(_candidate(pair, grading, opens) for pair in pairs)
    _mount(key="candidates", data={"html": html} | browser_texts(_HERE, _SCRIPTS), on_opened_change=opened)


def frame_times(start_s: float, end_s: float) -> list[float]:
    """Where in the video the frames of a storyboard stand: in the middle of each eighth of the moment, in seconds."""
    return [start_s + (part + 0.5) * (end_s - start_s) / FRAMES for part in range(FRAMES)]


def _candidate(pair: PairReview, grading: Grading, opens: str) -> str:
    address = {name: st.query_params.get_all(name) for name in st.query_params} | {opens: [str(pair.rank)]}
    link = (
        f"<a href='?{escape(urlencode(address, doseq=True))}' target='_self' "
        f"title='{tr('Its clip and everything about it')}'>{tr('Rank {n}', n=pair.rank)}</a>"
    )
    notes = "".join(f"<p>{_note(given)}</p>" for given in pair.grades if given.note is not None)
    skips = f"<p>{trn('{n} skip of it.', '{n} skips of it.', len(pair.skips))}</p>" if pair.skips else ""
    return (
        f"<article data-opens='{pair.rank}' aria-label='{tr('Rank {n}', n=pair.rank)}'>"
        f"<header><h4>{link}</h4>{_relevance(pair)}<span>{wording.verdict(pair.verdict)}</span>"
        f"<span>{escape(wording.found_by(pair))}</span><span>{escape(wording.moment(pair))}</span></header>"
        f"<p class='rr-caption'>{escape(wording.caption(pair.caption))}</p>{_board(pair)}"
        f"<div class='rr-steps'><div><p>{escape(wording.why(pair, grading))}</p>{notes}{skips}</div>"
        f"<div>{pair_view.grades_table(pair)}</div></div></article>"
    )


def _note(given: GivenGrade) -> str:
    text = escape(given.note.text) if given.note else ""
    return tr("<b>{name}</b> wrote with {grade}: “{text}”", name=escape(given.annotator), grade=given.grade, text=text)


def _relevance(pair: PairReview) -> str:
    if pair.relevance is not None:
        told = tr("Relevance {relevance}", relevance=pair.relevance)
        return f"<b class='rr-grade rr-r{pair.relevance}' role='img' aria-label='{told}'>{pair.relevance}</b>"
    sign = "×" if pair.verdict is Verdict.DISCARDED else "–"
    return f"<b class='rr-grade rr-none' role='img' aria-label='{tr('No relevance')}'>{sign}</b>"


def _board(pair: PairReview) -> str:
    if pair.fault:
        return f"<p class='rr-fault'>{tr('Its clip cannot be shown: {fault}', fault=escape(retold(pair.fault)))}</p>"
    src = full_path(f"/clips/{pair.pair}.webp")
    # Each shows its part of the one picture, which browsers fetch once.
    frames = "".join(
        f"<figure><img loading='lazy' src='{src}' alt='' style='object-position:{100 * part / (FRAMES - 1):.3f}% 0'>"
        f"<figcaption>{at:.1f} s</figcaption></figure>"
        for part, at in enumerate(frame_times(pair.start_s, pair.end_s))
    )
    told = tr("Eight frames of {moment}", moment=escape(wording.moment(pair)))
    return f"<div class='rr-board' role='group' aria-label='{told}'>{frames}</div>"
