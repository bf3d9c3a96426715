"""A query's figure (TVR-Ranking's Figure 6): the relevances of its candidates by rank, their similarity over them."""

import json
from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.shared import wording
from backend.campaign.nouns import Scale, Verdict
from backend.campaign.review.model import PairReview

EARLIER, LAST, NONE = "#6063f1", "#f59e0b", "#71717a"
_STUB = -0.03
"""Of the highest grade. A bar of relevance 0 has a height too: nobody shall take it for nothing."""


def query_figure(pairs: Sequence[PairReview], last: int, scale: Scale) -> None:
    """Bars and line with what they mean, and how often each relevance occurs.

    Args:
        pairs: the open candidates.
        last: how many of the first list's, at its end, speak for or against a further batch.
        scale: the campaign's.
    """
    pairs = sorted(pairs, key=lambda pair: (pair.batch, pair.rank))
    told = tr("Bars: relevance {words} by rank; line: similarity", words=scale.words)
    # A line of numbers below says the same; the picture alone is what Streamlit's theme colours.
    st.vega_lite_chart(_chart(pairs, last, scale), height=280, alt=told)
    st.html(_legend(pairs, last, scale))


def columns(pairs: Sequence[PairReview], last: int, scale: Scale) -> list[dict[str, Any]]:
    """What is drawn of each candidate, side by side; `relevance` is None where there is none, and `sign` says why."""
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
    """Those that speak for or against a further batch; what a later pooling found says nothing about it."""
    return [pair for pair in pairs if pair.part == 1][-last:] if last else []


def _chart(pairs: Sequence[PairReview], last: int, scale: Scale) -> dict[str, Any]:
    """As Vega-Lite has it: to check a chart against its whole schema, as Altair does, took most of the page's time."""
    values = columns(pairs, last, scale)
    begins = [place for place, (one, other) in enumerate(pairwise(pairs), start=2) if one.batch != other.batch]
    foot, top = scale.highest * _STUB, 1.2 if begins else 1.09  # above the bars stands which batch it is
    ink = "#f4f4f5" if st.context.theme.type == "dark" else "#18181b"  # to be seen on bars and between them
    # Batches stand side by side, and those of a later pooling leave ranks out.
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
        "data": {"values": [one for one in values if one["relevance"] is not None]},
        "mark": {"type": "bar", "cornerRadiusEnd": 3},
        "encoding": {**column, "y": {**height, "field": "relevance"}, "color": colour},
    }
    boxes: dict[str, Any] = {
        "data": {"values": [one for one in values if one["relevance"] is None]},
        "mark": {"type": "bar", "fill": NONE, "fillOpacity": 0.05, "strokeDash": [3, 3], "strokeWidth": 1},
        "encoding": {**column, "y": {**height, "datum": scale.highest}, "stroke": colour},
    }
    at: dict[str, Any] = {"x": {**across, "field": "place"}, "tooltip": tooltip}
    signs = {
        "data": {"values": [one | {"relevance": one["relevance"] or 0} for one in values]},
        "mark": {"type": "text", "dy": -7, "fontSize": 11, "color": ink, "opacity": 0.8},
        "encoding": {**at, "y": {**height, "field": "relevance"}, "text": {"field": "sign", "type": "nominal"}},
    }
    borders: list[dict[str, Any]] = []
    for place in begins:
        begun = pairs[place - 1]
        text = tr("batch {n}, pooled", n=begun.batch) if begun.part > 1 else tr("batch {n}", n=begun.batch)
        where: dict[str, Any] = {"x": {**across, "datum": place - 0.5}}
        rule = {"type": "rule", "strokeDash": [2, 3], "color": NONE, "aria": False}  # the words beside it say it
        name = {"type": "text", "text": text, "align": "left", "dx": 4, "fontSize": 11, "color": NONE}
        borders += [{"mark": rule, "encoding": where}, {"mark": name, "encoding": {**where, "y": {"value": 5}}}]
    similar = [one for one in values if one["Similarity"] is not None]
    line = {
        "data": {"values": similar},
        "mark": {"type": "line", "color": ink, "strokeWidth": 1.5, "point": {"color": ink, "size": 22}},
        "encoding": {**at, "y": similarity},
    }
    # What has nothing to draw is left out: an empty layer is a picture without a word to screen readers.
    drawn = [one for one in (boxes, bars) if one["data"]["values"]]
    layers = [{"layer": [*drawn, signs]}, *([{"data": {"values": [{}]}, "layer": borders}] if borders else [])]
    layers += [line] if similar else []
    return {"layer": layers, "resolve": {"scale": {"y": "independent"}}}


def _legend(pairs: Sequence[PairReview], last: int, scale: Scale) -> str:
    counts = Counter(pair.relevance for pair in pairs)
    numbers = "".join(
        f"<span><i class='rr-r{grade}'></i>{escape(wording.grade(grade, scale))}: <b>{counts[grade]}</b></span>"
        for grade in reversed(scale.grades)
    )
    none = f"<span><i class='rr-none'></i>{tr('no relevance (yet)')}: <b>{counts[None]}</b></span>"
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
