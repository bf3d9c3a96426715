"""Draw Figures 3, 4 and 7 of the MVMR paper as Altair charts, from values that are computed elsewhere."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import altair as alt

OWN, POSITIVE, NEGATIVE = "own video", "positive", "negative"
BIN, VISUAL_BIN = 0.02, 0.005
"""Width of a bar of a histogram, of s_te and of s_tv: EMScores under CLIP differ by hundredths."""

_STRIP_PX = 720, 67.5
"""Width and height of a film strip: half its real pixels, so that it is sharp at the scale of the PNG."""
_ROW_PX, _BARE_ROW_PX = 142, 66
"""Height of a card with a film strip, and of one without."""
_GREY = "#888888"

Shares = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Card:
    """One video of a pool, as the figure of a query shows it.

    Attributes:
        kind: the video's role: the query's own video, another positive, or a negative.
        video: name of the video.
        sentence: of a positive, the sentence at `span`; of a negative, its sentence nearest to the query. Empty if the
            video has no sentence.
        duration_s: duration of the video, in seconds.
        similarity: the highest similarity of the query to a sentence of the video (s_te).
        span: start and end of the positive moment, in seconds; None for a negative.
        strip: WebP picture of the span, or of the whole video; None without a video file.
    """

    kind: str
    video: str
    sentence: str
    duration_s: float
    similarity: float
    span: tuple[float, float] | None
    strip: bytes | None


@dataclass(frozen=True, slots=True)
class PairScores:
    """The similarities of positive and of negative videos to their queries, for a histogram.

    `name` is `s_te` (similarity of query and sentences of the video) or `s_tv` (of query and frames of the video).
    `thresholds` maps names to thresholds of this similarity. `bin` is the width of a bar.
    """

    name: str
    positives: npt.NDArray[np.float64]
    negatives: npt.NDArray[np.float64]
    thresholds: dict[str, float]
    bin: float = BIN


def shares(scores: PairScores) -> Shares:
    """Return the bars of two histograms of similarity: of the positive and of the negative videos.

    A row is one bar with the keys `score`, `kind`, `low`, `high`, `pairs` and `share`. The share is that among all
    videos of its kind.

    >>> found = shares(PairScores("s_te", np.array([0.91, 0.9, 0.95]), np.array([0.1]), {}))
    >>> [(row["kind"], row["low"], row["pairs"], round(row["share"], 2)) for row in found]
    [('positive', 0.9, 2, 0.67), ('positive', 0.94, 1, 0.33), ('negative', 0.1, 1, 1.0)]
    """
    rows: Shares = []
    for kind, values in ((POSITIVE, scores.positives), (NEGATIVE, scores.negatives)):
        # The addend lifts a value that rounding left just below a bound of bins; 1 itself goes into the last bin.
        bins = np.minimum(np.floor(values / scores.bin + 1e-6).astype(int), round(1 / scores.bin) - 1)
        places, counts = np.unique(bins, return_counts=True)
        for place, pairs in zip(places.tolist(), counts.tolist(), strict=True):
            row = {
                "score": scores.name,
                "kind": kind,
                "low": round(place * scores.bin, 3),
                "high": round((place + 1) * scores.bin, 3),
            }
            rows.append(row | {"pairs": pairs, "share": pairs / len(values)})
    return rows


def query_chart(text: str, cards: Sequence[Card], subtitle: list[str]) -> "alt.TopLevelMixin":
    """Draw Figure 3 of the MVMR paper: a query, and videos of its pool one below the other.

    Each video has its name, a sentence, a film strip, and a bar that shows where the moment is in the video.
    """
    import altair as alt

    from backend.scoring.drawing import PALETTE

    colours = alt.Scale(domain=[OWN, POSITIVE, NEGATIVE], range=[PALETTE[0], PALETTE[2], PALETTE[1]])
    colour = alt.Color("kind:N", scale=colours, legend=None)
    rows = list(_card_rows(cards))
    height = rows[-1]["bottom"] + 4
    data = alt.Chart(alt.InlineData(rows))
    x, y = alt.Scale(domain=[0, _STRIP_PX[0]], nice=False), alt.Scale(domain=[height, 0], nice=False)

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=x, axis=None)

    def down(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=y, axis=None)

    left = alt.X(datum=0, scale=x, axis=None)
    chart: alt.TopLevelMixin = alt.layer(
        data.mark_text(align="left", baseline="top", fontWeight="bold", fontSize=12, limit=_STRIP_PX[0]).encode(
            x=left, y=down("top"), text="head:N", color=colour
        ),
        data.mark_text(align="left", baseline="top", fontSize=12, limit=_STRIP_PX[0]).encode(
            x=left, y=down("words"), text="sentence:N"
        ),
        data.transform_filter("isValid(datum.strip)")
        .mark_image(width=_STRIP_PX[0], height=_STRIP_PX[1], align="left", baseline="top")
        .encode(x=left, y=down("picture"), url="strip:N"),
        data.mark_rect(color="#dddddd").encode(x=left, x2=alt.X2Datum(_STRIP_PX[0]), y=down("line"), y2="bottom:Q"),
        data.transform_filter("isValid(datum.start)")
        .mark_rect()
        .encode(x=across("start"), x2="end:Q", y=down("line"), y2="bottom:Q", color=colour),
    ).properties(
        width=_STRIP_PX[0],
        height=height,
        title=alt.TitleParams(f"“{text}”", subtitle=subtitle, anchor="start", offset=14, limit=_STRIP_PX[0]),
    )
    chart = chart.configure_view(stroke=None)
    return chart


def _card_rows(cards: Sequence[Card]) -> Iterator[dict[str, Any]]:
    """Yield a chart row for each card: its texts, its picture, and where to draw them.

    Positions are in pixels from the upper left corner.
    """
    top = 0.0
    for card in cards:
        last = top + (_BARE_ROW_PX if card.strip is None else _ROW_PX)
        seconds = f"lasts {card.duration_s:.1f} s"
        if card.span:
            seconds = f"{card.span[0]:.1f} to {card.span[1]:.1f} s of {card.duration_s:.1f}"
        sentence = card.sentence if card.span or not card.sentence else f"nearest sentence: {card.sentence}"
        similar = f", s_te {card.similarity:.2f}" if card.sentence else ""
        yield {
            "kind": card.kind,
            "head": f"{card.kind}: {card.video}, {seconds}{similar}",
            "sentence": sentence or "nothing is said of this video",
            "strip": card.strip and "data:image/webp;base64," + base64.b64encode(card.strip).decode(),
            "start": card.span and card.span[0] / card.duration_s * _STRIP_PX[0],
            "end": card.span and min(card.span[1] / card.duration_s, 1) * _STRIP_PX[0],
            **{"top": top, "words": top + 17, "picture": top + 36, "line": last - 24, "bottom": last - 18},
        }
        top = last


def map_chart(points: Sequence[dict[str, Any]], text: str, subtitle: str) -> "alt.TopLevelMixin":
    """Draw Figure 4 of the MVMR paper: queries as points in the plane, coloured by similarity to one of them.

    Args:
        points: `x`, `y`, `similarity` and `role` (`this query`, `positive`, `other`) of each query.
        text: text of the query to which all others are compared.
        subtitle: the line below the title.
    """
    import altair as alt

    from backend.scoring.drawing import PALETTE

    ordered = sorted(points, key=lambda point: float(point["similarity"]))  # the similar ones on top
    base = alt.Chart(alt.InlineData(ordered)).encode(
        x=alt.X("x:Q", axis=None, scale=alt.Scale(zero=False)), y=alt.Y("y:Q", axis=None, scale=alt.Scale(zero=False))
    )
    similarity = alt.Color(
        "similarity:Q",
        scale=alt.Scale(scheme="viridis", domain=[min(0.0, float(ordered[0]["similarity"])), 1]),
        title="similarity",
    )
    roles = alt.Scale(domain=["this query", "positive"], range=[PALETTE[1], "#000000"])
    chart: alt.TopLevelMixin = (
        alt.layer(
            base.mark_circle(size=22, opacity=0.75).encode(color=similarity),
            base.transform_filter("datum.role != 'other'")
            .mark_point(size=110, strokeWidth=1.8, filled=False)
            .encode(
                shape=alt.Shape(
                    "role:N", scale=alt.Scale(domain=roles.domain, range=["diamond", "circle"]), title=None
                ),
                stroke=alt.Stroke("role:N", scale=roles, title=None),
            ),
        )
        .resolve_scale(color="independent", shape="shared", stroke="shared")
        .properties(
            width=620,
            height=520,
            title=alt.TitleParams(f"Queries like “{text}”", subtitle=subtitle, anchor="start", limit=620),
        )
    )
    return chart


def query_pairs_chart(bars: Shares, subtitle: str) -> "alt.TopLevelMixin":
    """Draw Figure 4 (b) of the MVMR paper: how similar all queries are to each other.

    `bars` has `low`, `high` and `share` of each bar. `subtitle` is the line below the title.
    """
    import altair as alt

    from backend.scoring.drawing import PALETTE

    chart: alt.TopLevelMixin = (
        alt.Chart(alt.InlineData(bars))
        .mark_rect(color=PALETTE[0], stroke="white", strokeWidth=0.3)
        .encode(
            x=alt.X("low:Q", title="similarity (cosine)", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False)),
            x2="high:Q",
            y=alt.Y("share:Q", title="share of all pairs", scale=alt.Scale(zero=True), axis=alt.Axis(format="%")),
            y2=alt.Y2Datum(0),
        )
        .properties(
            width=520,
            height=280,
            title=alt.TitleParams("How similar are two queries?", subtitle=subtitle, anchor="start"),
        )
    )
    return chart


def histogram_chart(panels: Sequence[PairScores], subtitle: str) -> "alt.TopLevelMixin":
    """Draw Figure 7 of the MVMR paper: how similar positive and negative videos are to their queries.

    Each of `panels` is one kind of similarity, and is drawn beside the others.
    """
    import altair as alt

    drawn = [_histogram(scores) for scores in panels]
    title = alt.TitleParams(
        "How similar are positives and negatives to their query?", subtitle=subtitle, anchor="start"
    )
    chart: alt.TopLevelMixin = alt.hconcat(*drawn, spacing=34, title=title)
    return chart


def _histogram(scores: PairScores) -> "alt.LayerChart | alt.FacetChart":
    import altair as alt

    from backend.scoring.drawing import PALETTE

    kinds = alt.Scale(domain=[POSITIVE, NEGATIVE], range=[PALETTE[2], PALETTE[1]])
    x = alt.X("low:Q", title=scores.name, scale=alt.Scale(nice=False, zero=False), axis=alt.Axis(grid=False))
    percent = alt.Axis(format="%")
    bars = (
        alt.Chart(alt.InlineData(shares(scores)))
        .mark_rect(opacity=0.65)
        .encode(
            x=x,
            x2="high:Q",
            y=alt.Y("share:Q", title="share of the pairs of a kind", scale=alt.Scale(zero=True), axis=percent),
            y2=alt.Y2Datum(0),
            color=alt.Color("kind:N", scale=kinds, title=None),
        )
    )
    marks: list[alt.Chart] = []
    for number, (name, value) in enumerate(scores.thresholds.items()):
        line = alt.Chart(alt.InlineData([{"at": value, "name": f"{name} {value:.3g}"}])).encode(x=alt.X("at:Q"))
        marks.append(line.mark_rule(strokeDash=[4, 3], color=_GREY))
        name_y = 2 + 15 * number  # bounds may be close, so that their names would cover each other
        text = line.mark_text(align="right", dx=-4, baseline="top", color=_GREY)
        marks.append(text.encode(y=alt.value(name_y), text="name:N"))
    return alt.layer(bars, *marks).properties(width=420, height=280)
