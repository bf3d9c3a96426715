"""Draw the candidates of a query as a figure (TVR-Ranking, Figure 6) and as a list.

The figure has the candidates' relevances by rank as bars, and their similarity as a line. For each candidate, the list
has eight frames with their times, the grades, and how the grades led to the relevance. Browsers fetch the frames as
they come into view. A click or Enter opens a candidate.
"""

import json
from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from annotate_app.language import browser_texts, marked, tr, translate_message, trn
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, joined, pair_view, wording
from backend.campaign.nouns import Scale, Verdict
from backend.campaign.review.model import GivenGrade, PairReview
from backend.campaign.setup.project.model import Grading

EARLIER, LAST, NONE = "#6063f1", "#f59e0b", "#71717a"
_STUB = -0.03
"""The foot of the bars, as a share of the highest grade. It makes bars of relevance 0 visible."""
FRAMES = 8  # must equal the number that the server draws, see backend.media.jobs
_HERE = Path(__file__).parent
_SCRIPTS = ("../../language/browser.js", "candidates.js")
_mount = st.components.v2.component(
    "reelrank_candidates",
    html='<div class="rr-candidates"></div>',
    css=(_HERE / "candidates.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
    isolate_styles=False,  # so that its grades and tables have the app's styles
)


def query_figure(pairs: Sequence[PairReview], last: int, scale: Scale) -> None:
    """Draw the candidates of a query as bars and a line, with a legend and the number of pairs of each relevance.

    Args:
        pairs: the candidates that have been given to annotators.
        last: how many candidates, from the end of the first candidate list, decide whether annotators should get more
            candidates. Their bars have another colour.
        scale: the campaign's relevance scale.
    """
    pairs = sorted(pairs, key=lambda pair: (pair.batch, pair.rank))
    told = tr("Bars: relevance {words} by rank; line: similarity", words=scale.words)
    # A line of numbers below says the same; the picture alone is what Streamlit's theme colours.
    st.vega_lite_chart(_chart(pairs, last, scale), height=280, alt=told)
    st.html(_legend(pairs, last, scale))


def columns(pairs: Sequence[PairReview], last: int, scale: Scale) -> list[dict[str, Any]]:
    """Return the data of the chart of a query's candidates: for each, the values of its bar by field name.

    The field `sign` is the relevance as text, or `×` for a discarded pair and `–` for one that is not settled. The last
    `last` candidates of the first candidate list get another colour.
    """
    speaking = {pair.pair_id for pair in _speaking(pairs, last)}
    return [
        {
            "Rank": pair.rank,
            "relevance": pair.relevance,
            "Relevance": wording.grade(pair.relevance, scale) if pair.relevance is not None else _why_none(pair),
            "sign": str(pair.relevance) if pair.relevance is not None else _sign(pair),
            "Similarity": pair.similarity,
            "Caption": pair.caption or tr(wording.NO_CAPTION),
            "colour": LAST if pair.pair_id in speaking else EARLIER,
            "place": place,
            "from": place - 0.42,
            "to": place + 0.42,
        }
        for place, pair in enumerate(pairs, start=1)
    ]


def _speaking(pairs: Sequence[PairReview], last: int) -> Sequence[PairReview]:
    """Return the last candidates of the first candidate list, as many as `last`.

    Their relevance decides whether annotators should get more candidates. Candidates that were added later do not count
    for this.
    """
    return [pair for pair in pairs if pair.part == 1][-last:] if last else []


def _chart(pairs: Sequence[PairReview], last: int, scale: Scale) -> dict[str, Any]:
    """Return the chart of a query's candidates (relevance and similarity by rank) as a Vega-Lite specification.

    It is written by hand, because Altair would check it against the whole schema, which took most of the page's time.
    """
    values = columns(pairs, last, scale)
    begins = [place for place, (value, other) in enumerate(pairwise(pairs), start=2) if value.batch != other.batch]
    foot, top = scale.highest * _STUB, 1.2 if begins else 1.09  # leaves room for the batch numbers above the bars
    ink = "#f4f4f5" if st.context.theme.type == "dark" else "#18181b"  # has to be visible on the bars and between them
    # Bars are placed by position, not by rank: batches of later pooling skip ranks.
    rank = f"{json.dumps([pair.rank for pair in pairs])}[datum.value - 1]"
    ranks = {"values": [*range(1, len(pairs) + 1)], "grid": False, "labelExpr": rank, "labelOverlap": True}
    across: dict[str, Any] = {
        "type": "quantitative",
        "title": tr("rank"),
        "scale": {"domain": [0.4, len(pairs) + 0.6], "nice": False, "zero": False},
        "axis": ranks,
    }
    height: dict[str, Any] = {
        "type": "quantitative",
        "title": tr("relevance"),
        "scale": {"domain": [foot, scale.highest * top], "nice": False, "zero": False},
        "axis": {"values": list(scale.grades), "format": "d"},
    }
    similarity: dict[str, Any] = {
        "field": "Similarity",
        "type": "quantitative",
        "title": tr("similarity"),
        "scale": {"zero": False, "padding": 8},
        "axis": {"orient": "right", "format": ".2f", "grid": False},
    }
    told: list[dict[str, str]] = [
        {"field": name, "title": tr(name)} for name in (marked("Rank"), marked("Relevance"), marked("Caption"))
    ]
    tooltip = [*told, {"field": "Similarity", "title": tr("Similarity"), "format": ".3f"}]
    column: dict[str, Any] = {
        "x": {**across, "field": "from"},
        "x2": {"field": "to"},
        "y2": {"datum": foot},
        "tooltip": tooltip,
    }
    colour = {"field": "colour", "type": "nominal", "scale": None}
    bars: dict[str, Any] = {
        "data": {"values": [value for value in values if value["relevance"] is not None]},
        "mark": {"type": "bar", "cornerRadiusEnd": 3},
        "encoding": {**column, "y": {**height, "field": "relevance"}, "color": colour},
    }
    boxes: dict[str, Any] = {
        "data": {"values": [value for value in values if value["relevance"] is None]},
        "mark": {"type": "bar", "fill": NONE, "fillOpacity": 0.05, "strokeDash": [3, 3], "strokeWidth": 1},
        "encoding": {**column, "y": {**height, "datum": scale.highest}, "stroke": colour},
    }
    at: dict[str, Any] = {"x": {**across, "field": "place"}, "tooltip": tooltip}
    signs = {
        "data": {"values": [value | {"relevance": value["relevance"] or 0} for value in values]},
        "mark": {"type": "text", "dy": -7, "fontSize": 11, "color": ink, "opacity": 0.8},
        "encoding": {**at, "y": {**height, "field": "relevance"}, "text": {"field": "sign", "type": "nominal"}},
    }
    borders: list[dict[str, Any]] = []
    for place in begins:
        begun = pairs[place - 1]
        text = tr("batch {n}, pooled", n=begun.batch) if begun.part > 1 else tr("batch {n}", n=begun.batch)
        where: dict[str, Any] = {"x": {**across, "datum": place - 0.5}}
        rule = {"type": "rule", "strokeDash": [2, 3], "color": NONE, "aria": False}  # the text beside it says the same
        name = {"type": "text", "text": text, "align": "left", "dx": 4, "fontSize": 11, "color": NONE}
        borders += [{"mark": rule, "encoding": where}, {"mark": name, "encoding": {**where, "y": {"value": 5}}}]
    similar = [value for value in values if value["Similarity"] is not None]
    line = {
        "data": {"values": similar},
        "mark": {"type": "line", "color": ink, "strokeWidth": 1.5, "point": {"color": ink, "size": 22}},
        "encoding": {**at, "y": similarity},
    }
    # Leave out empty layers: screen readers would announce a picture without a text.
    drawn = [value for value in (boxes, bars) if value["data"]["values"]]
    layers = [{"layer": [*drawn, signs]}, *([{"data": {"values": [{}]}, "layer": borders}] if borders else [])]
    layers += [line] if similar else []
    return {"layer": layers, "resolve": {"scale": {"y": "independent"}}}


def _legend(pairs: Sequence[PairReview], last: int, scale: Scale) -> str:
    counts = Counter(pair.relevance for pair in pairs)
    numbers = "".join(
        f"<span><i class='rr-r{grade}'></i>{escape(wording.grade(grade, scale))}: <b>{counts[grade]}</b></span>"
        for grade in reversed(scale.grades)
    )
    none = f"<span><i class='rr-none'></i>{tr('no relevance yet')}: <b>{counts[None]}</b></span>"
    signs = f"<span><i style='background:{EARLIER}'></i>{tr('relevance')}</span>"
    if speaking := _speaking(pairs, last):
        first = speaking[0].rank
        ranks = (
            tr("rank {first}", first=first)
            if last == 1
            else tr("ranks {first}–{rank}", first=first, rank=speaking[-1].rank)
        )
        signs += f"<span><i style='background:{LAST}'></i>{wording.the_last(last)}, {ranks}</span>"
    signs += f"<span><i class='rr-none'></i>{tr('no relevance: – not settled, × discarded')}</span>"
    if any(pair.similarity is not None for pair in pairs):
        signs += f"<span><i class='rr-line' style='background:currentColor'></i>{tr('similarity')}</span>"
    return f"<div class='rr-legend'>{signs}</div><div class='rr-legend rr-numbers'>{numbers}{none}</div>"


def _sign(pair: PairReview) -> str:
    return "×" if pair.verdict is Verdict.DISCARDED else "–"


def _why_none(pair: PairReview) -> str:
    return tr("none: discarded") if pair.verdict is Verdict.DISCARDED else tr("none yet: not settled")


def candidates(pairs: Sequence[PairReview], grading: Grading, *, opens: str) -> None:
    """Draw the list of a query's candidates, in the given order.

    Args:
        pairs: the candidates of one query.
        grading: the campaign's grading, with which the list explains how grades led to a relevance.
        opens: the query parameter of the page's URL that holds the rank of the opened candidate.
    """

    def opened() -> None:
        address_state.go(**{opens: st.session_state["candidates"]["opened"]})

    html = "".join(_candidate(pair, grading, opens) for pair in pairs)
    _mount(key="candidates", data={"html": html} | browser_texts(_HERE, _SCRIPTS), on_opened_change=opened)


def frame_times(start_s: float, end_s: float) -> list[float]:
    """Return the times of a moment's frames in the video, in seconds: the middle of each eighth of the moment."""
    return [start_s + (part + 0.5) * (end_s - start_s) / FRAMES for part in range(FRAMES)]


def _candidate(pair: PairReview, grading: Grading, opens: str) -> str:
    address = {name: st.query_params.get_all(name) for name in st.query_params} | {opens: [str(pair.rank)]}
    link = (
        f"<a href='?{escape(urlencode(address, doseq=True))}' target='_self' "
        f"title='{tr('Open its clip and grades')}'>{tr('Rank {n}', n=pair.rank)}</a>"
    )
    notes = "".join(f"<p>{_note(given)}</p>" for given in pair.grades if given.note is not None)
    skips = f"<p>{trn('{n} skip.', '{n} skips.', len(pair.skips))}</p>" if pair.skips else ""
    return (
        f"<article data-opens='{pair.rank}' aria-label='{tr('Rank {n}', n=pair.rank)}'>"
        f"<header><h3>{link}</h3>{_relevance(pair)}<span>{wording.verdict(pair.verdict)}</span>"
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
    return f"<b class='rr-grade rr-none' role='img' aria-label='{tr('No relevance')}'>{_sign(pair)}</b>"


def _board(pair: PairReview) -> str:
    if pair.fault:
        fault = escape(translate_message(pair.fault))
        return f"<p class='rr-fault'>{tr('Its clip cannot be shown: {fault}', fault=fault)}</p>"
    src = full_path(f"/clips/{pair.pair}.webp")
    # All frames are parts of one picture, which browsers fetch once.
    frames = "".join(
        f"<figure><img loading='lazy' src='{src}' alt='' style='object-position:{100 * part / (FRAMES - 1):.3f}% 0'>"
        f"<figcaption>{at:.1f} s</figcaption></figure>"
        for part, at in enumerate(frame_times(pair.start_s, pair.end_s))
    )
    told = tr("Eight frames of {moment}", moment=escape(wording.moment(pair)))
    return f"<div class='rr-board' role='group' aria-label='{told}'>{frames}</div>"
