"""Build the rows of the lists on the page "Explore": pairs, videos, shows and queries."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, TypeVar

from annotate_app.language import marked, tr
from annotate_app.shared import look, wording
from annotate_app.shared.long_list import ListColumn, ListRow
from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    FoundPair,
    ShowCoverage,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.selection.candidates.model import SourceKind

_Row = TypeVar("_Row")
_KINDS = {
    SourceKind.CAPTIONS: marked("by captions"),
    SourceKind.VISUAL: marked("by visual"),
    SourceKind.RUN: marked("pooled run"),
}


def show_name(show: str | None) -> str:
    """Return the name of a show.

    None means that the video's name contains no show; "" means a show without a name, whose videos' names begin with
    the season.
    """
    return tr("show not in the name") if show is None else show or tr("unnamed show")


PAIR_COLUMNS = (
    ListColumn(marked("Query")),
    ListColumn(marked("Moment"), phone=False),
    ListColumn(marked("Rank"), number=True),
    ListColumn(marked("Similarity"), number=True),
    ListColumn(marked("Relevance"), number=True),
)


def pair_row(pair: FoundPair) -> ListRow:
    """Return the row of a pair, which opens its query."""
    relevance = (
        f"<small>{wording.verdict(pair.verdict)}</small>" if pair.relevance is None else look.grade_mark(pair.relevance)
    )
    where = tr(
        "{video}, {start_s:.1f} to {end_s:.1f} s", video=escape(pair.video), start_s=pair.start_s, end_s=pair.end_s
    )
    similarity = "–" if pair.similarity is None else f"{pair.similarity:.3f}"
    return ListRow(
        pair.query_id,
        (escape(pair.query), where, str(pair.rank), similarity, relevance),
        look.thumbnail_address(pair.video, pair.start_s, pair.end_s),
    )


SOURCE_HEADS = (
    marked("Source"),
    marked("Candidates"),
    marked("Handed out"),
    marked("Relevant"),
    marked("Mean relevance"),
)


def source_row(one: SourceStanding) -> tuple[str, ...]:
    """Return the cells for a source: the outcomes of its candidates, and of those that it alone found."""
    source = one.source
    kind = tr(_KINDS[source.kind])
    later = tr(", added later") if source.part > 1 else ""
    # A table does not need the files of an encoder.
    name = source.name if source.kind is SourceKind.RUN else source.name.partition(" ")[0]
    return (
        f"{escape(name)}<br><small>{tr('{kind}, depth {n:,}', kind=kind, n=source.depth)}{later}</small>",
        f"{one.candidates:,}<br><small>{tr('{n:,} only from it', n=one.alone)}</small>",
        f"{one.pairs:,}<br><small>{tr('{n:,} with a relevance', n=one.decided)}</small>",
        f"{one.relevant:,}<br><small>{tr('{n:,} only from it', n=one.relevant_alone)}</small>",
        "–" if one.mean is None else f"{one.mean:.2f}",
    )


VIDEO_COLUMNS = (
    ListColumn(marked("Video"), sort="video"),
    ListColumn(marked("Seconds"), sort="seconds", number=True, phone=False),
    ListColumn(
        marked("Moments"),
        sort="moments",
        number=True,
        phone=False,
        meaning=marked("Moments handed out with any query, of all moments in the corpus."),
    ),
    ListColumn(marked("Queries"), sort="queries", number=True, phone=False),
    ListColumn(marked("Pairs"), sort="pairs", number=True),
    ListColumn(marked("Mean relevance"), sort="mean", number=True),
)
VIDEO_KEYS: dict[str, Callable[[VideoCoverage], Any]] = {
    "video": lambda one: one.video,
    "seconds": lambda one: one.duration_s,
    "moments": lambda one: one.judged_moments,
    "queries": lambda one: one.queries,
    "pairs": lambda one: one.pairs,
    "mean": lambda one: one.mean,
}


def video_row(one: VideoCoverage) -> ListRow:
    """Return the row of a video, which opens its pairs."""
    moments = tr("{judged_moments:,} of {moments:,}", judged_moments=one.judged_moments, moments=one.moments)
    cells = (
        escape(one.video),
        f"{one.duration_s:,.1f}",
        moments,
        f"{one.queries:,}",
        f"{one.pairs:,}",
        _number(one.mean),
    )
    return ListRow(one.video_id, cells, look.thumbnail_address(one.video, 0, one.duration_s))


def show_heads() -> tuple[str, ...]:
    """Return the heads of the table of shows."""
    return (
        tr("Show", _context="series"),
        tr("Videos"),
        tr("Moments handed out"),
        tr("Pairs"),
        tr("Relevance 1 or more"),
        tr("Mean relevance"),
    )


def show_row(one: ShowCoverage) -> tuple[str, ...]:
    """Return the cells of a show."""
    return (
        escape(show_name(one.show)),
        tr("{covered:,} of {videos:,}", covered=one.covered, videos=one.videos),
        tr("{judged_moments:,} of {moments:,}", judged_moments=one.judged_moments, moments=one.moments),
        f"{one.pairs:,}",
        wording.percent(100 * one.relevant / one.decided) if one.decided else "",
        _number(one.mean),
    )


QUERY_COLUMNS = (
    ListColumn(marked("Query")),
    ListColumn(marked("Split"), phone=False),
    ListColumn(marked("Pairs"), sort="pairs", number=True),
    ListColumn(marked("Within the tolerance"), sort="within", number=True),
    ListColumn(marked("Equal"), sort="equal", number=True, phone=False),
    ListColumn(marked("Settled by two"), sort="two", number=True, phone=False),
    ListColumn(marked("Mean grade"), sort="mean", number=True, phone=False),
)
QUERY_KEYS: dict[str, Callable[[AgreedQuery], Any]] = {
    "pairs": lambda one: one.agreement.pairs,
    "within": lambda one: one.agreement.within,
    "equal": lambda one: one.agreement.exact,
    "two": lambda one: one.agreement.settled.by_two / one.agreement.pairs,
    "mean": lambda one: one.agreement.mean,
}


def query_row(one: AgreedQuery) -> ListRow:
    """Return the row of a query, which opens the page Queries."""
    found = one.agreement
    return ListRow(
        one.query_id,
        (
            escape(found.name),
            found.split,
            f"{found.pairs:,}",
            _share(found.within),
            _share(found.exact),
            _share(found.settled.by_two / found.pairs),
            f"{found.mean:.2f}",
        ),
    )


def _share(value: float | None) -> str:
    return "" if value is None else wording.percent(100 * value)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def in_order(rows: Sequence[_Row], by: str, keys: dict[str, Callable[[_Row], Any]], usual: str) -> list[_Row]:
    """Return rows sorted by the column `by`, or else by `usual`; rows without a value come last."""
    by = by or usual
    if not by:
        return list(rows)
    key = keys[by.removeprefix("-")]
    known = [row for row in rows if key(row) is not None]
    return [
        *sorted(known, key=key, reverse=by.startswith("-")),
        *(row for row in rows if key(row) is None),
    ]
