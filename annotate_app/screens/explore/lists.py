"""Make the rows of the lists on the page "Explore": pairs, sources of candidates, videos, TV shows and queries."""

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
    """Return the text with which the page names a TV show, also if its name is not known.

    Args:
        show: the show's name, as found in the names of its videos. It is empty if these names begin with the season. It
            is None if no show can be found in them.
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
    """Return the list row of a pair. A click on it opens the pair's query."""
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


def source_row(standing: SourceStanding) -> tuple[str, ...]:
    """Return one row of the table on where candidates come from, as HTML cells in the order of `SOURCE_HEADS`.

    A source is captions, frames or a system's run. The cells are its name, its number of candidates, how many of them
    annotators were given, how many are relevant, and the mean relevance.
    """
    source = standing.source
    kind = tr(_KINDS[source.kind])
    later = tr(", added later") if source.part > 1 else ""
    # The table shows an encoder's name without its files.
    name = source.name if source.kind is SourceKind.RUN else source.name.partition(" ")[0]
    return (
        f"{escape(name)}<br><small>{tr('{kind}, depth {n:,}', kind=kind, n=source.depth)}{later}</small>",
        f"{standing.candidates:,}<br><small>{tr('{n:,} only from it', n=standing.alone)}</small>",
        f"{standing.pairs:,}<br><small>{tr('{n:,} with a relevance', n=standing.decided)}</small>",
        f"{standing.relevant:,}<br><small>{tr('{n:,} only from it', n=standing.relevant_alone)}</small>",
        "–" if standing.mean is None else f"{standing.mean:.2f}",
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


def video_row(video: VideoCoverage) -> ListRow:
    """Return the list row of a video. A click on it opens the video's pairs."""
    moments = tr("{judged_moments:,} of {moments:,}", judged_moments=video.judged_moments, moments=video.moments)
    cells = (
        escape(video.video),
        f"{video.duration_s:,.1f}",
        moments,
        f"{video.queries:,}",
        f"{video.pairs:,}",
        _number(video.mean),
    )
    return ListRow(video.video_id, cells, look.thumbnail_address(video.video, 0, video.duration_s))


def show_heads() -> tuple[str, ...]:
    """Return the translated column heads of the table of TV shows, such as "Videos" and "Mean relevance"."""
    return (
        tr("Show", _context="series"),
        tr("Videos"),
        tr("Moments handed out"),
        tr("Pairs"),
        tr("Relevance 1 or more"),
        tr("Mean relevance"),
    )


def show_row(show: ShowCoverage) -> tuple[str, ...]:
    """Return the table cells of a TV show as HTML, in the order of `show_heads`."""
    return (
        escape(show_name(show.show)),
        tr("{covered:,} of {videos:,}", covered=show.covered, videos=show.videos),
        tr("{judged_moments:,} of {moments:,}", judged_moments=show.judged_moments, moments=show.moments),
        f"{show.pairs:,}",
        wording.percent(100 * show.relevant / show.decided) if show.decided else "",
        _number(show.mean),
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


def query_row(query: AgreedQuery) -> ListRow:
    """Return the list row of a query. A click on it opens the query on the page "Queries"."""
    agreement = query.agreement
    return ListRow(
        query.query_id,
        (
            escape(agreement.name),
            agreement.split,
            f"{agreement.pairs:,}",
            _share(agreement.within),
            _share(agreement.exact),
            _share(agreement.settled.by_two / agreement.pairs),
            f"{agreement.mean:.2f}",
        ),
    )


def _share(value: float | None) -> str:
    return "" if value is None else wording.percent(100 * value)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def in_order(rows: Sequence[_Row], by: str, keys: dict[str, Callable[[_Row], Any]], usual: str) -> list[_Row]:
    """Return rows sorted by one column. Rows without a value in this column (None) come last.

    Args:
        rows: the rows.
        by: the name of the column, with `-` before it for descending order; empty for the order `usual`.
        keys: maps each column's name to the function that returns a row's value.
        usual: the default order, written like `by`; empty to leave the rows as they are.
    """
    by = by or usual
    if not by:
        return list(rows)
    key = keys[by.removeprefix("-")]
    known = [row for row in rows if key(row) is not None]
    return [
        *sorted(known, key=key, reverse=by.startswith("-")),
        *(row for row in rows if key(row) is None),
    ]
