"""The lead's page "Explore": charts and tables of the judged pairs, and the pairs behind each figure."""

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any, TypeVar

import streamlit as st

from annotate_app.language import marked, tr, translated, trn
from annotate_app.plain import plain
from annotate_app.screens.explore import charts as explore_charts
from annotate_app.screens.explore import lists as explore_lists
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.long_list import long_list, rows_of, sorted_by
from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    BinnedBy,
    PairPart,
    RelevanceBin,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.monitoring.explore.rules import by_show as coverage_by_show
from backend.campaign.monitoring.explore.tables import (
    agreed_queries,
    coverage,
    durations,
    explored_csv,
    explored_version,
    found_pair_count,
    found_pairs,
    relevances_along,
    same_words,
    source_standings,
)
from backend.campaign.nouns import Person, Scale
from backend.campaign.setup.project.folder import Project

_PARTS = {
    "similarity": marked("Similarity"),
    "rank": marked("Rank"),
    "same": marked("Similarity 1"),
    "sources": marked("Sources"),
    "coverage": marked("Coverage"),
    "durations": marked("Durations"),
    "agreement": marked("Agreement"),
}
_OF_A_PART = ("page", "sort", "bin", "relevance", "video", "show")
"""The address parameters that belong to a single part. Choosing another part clears them."""
_Found = TypeVar("_Found")


def page() -> None:
    """Draw the choice of a part, such as Similarity, Rank or Sources, and below it the chosen part."""
    project, lead, counts = look.lead_page("Explore")
    if not any(counts["pairs"].values()):
        st.info(tr("No pairs have been handed out yet. Continue on [Set up]({path}).", path=full_path("/set-up")))
        return
    part = address_state.choice(tr("Part"), "part", translated(_PARTS), clears=_OF_A_PART, label_visibility="collapsed")
    _SHOWN[part](project, lead)


def _along(project: Project, lead: Person, along: BinnedBy) -> None:
    """Draw how relevance depends on a quantity: the similarity, the rank or the duration of the moment.

    Pairs are grouped into bins of this quantity. Charts show the share of each relevance, the mean relevance and the
    number of pairs in each bin. A list below has the pairs of all bins or of a chosen one.
    """
    bins = _cached_count(project, lead, along.value, lambda: relevances_along(project, lead, along))
    scale, quantity = project.campaign.scale, explore_charts.WORDS[along].of
    if not bins:
        st.info(
            tr("Only candidates that captions found have a similarity, and this project has none. Choose another part.")
        )
        return
    _nothing_counts(bins)
    st.header(tr("Relevance by {of}", of=tr(quantity)), anchor=False)
    explore_charts.shares(bins, along, scale, lambda place: address_state.go(bin=place, page=None))
    left, right = st.columns(2, gap="large")
    with left:
        explore_charts.means(bins, along, scale)
    with right:
        explore_charts.counts(bins, along)
    _take(f"relevance-by-{quantity}", lambda: explored_csv(bins))
    words = explore_charts.WORDS[along].bin
    options = {"": tr("All pairs"), **{str(one.place): wording.first_large(words(one)) for one in bins}}
    st.header(tr("Pairs"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = address_state.choice(tr("Which pairs"), "bin", options, clears=("page",), box=True, width=300)
        relevance = _relevance(scale)
    _pairs(project, lead, PairPart(along, int(chosen) if chosen else None, relevance))


def _nothing_counts(bins: Sequence[RelevanceBin]) -> None:
    decided, without = (
        sum(relevance_bin.decided for relevance_bin in bins),
        sum(relevance_bin.without for relevance_bin in bins),
    )
    waits = (
        trn(
            " {n} pair without one (open, escalated or discarded) is not counted.",
            " {n} pairs without one (open, escalated or discarded) are not counted.",
            without,
        )
        if without
        else ""
    )
    st.caption(tr("{pairs} with a relevance.{without}", pairs=wording.count_of(decided, "pair"), without=waits))


def _same_words(project: Project, lead: Person) -> None:
    """Draw the pairs whose caption equals the query, and how many of them have less than the best relevance.

    The TVR-Ranking paper reports the same number in appendix B.5.
    """
    counts, without = _cached_count(project, lead, "same", lambda: same_words(project, lead))
    scale, decided = project.campaign.scale, sum(counts)
    st.markdown(
        tr(
            "A similarity of 1 means that the caption of a moment equals the query. The clip can still be "
            "less than perfect, because captions leave things out. In TVR-Ranking, 312 of 2,635 such pairs "
            "are below the best relevance."
        )
    )
    imperfect = decided - counts[scale.highest]
    look.metrics(
        {
            tr("Similarity 1, with a relevance"): f"{decided:,}",
            tr("Of relevance {highest}", highest=scale.highest): f"{counts[scale.highest]:,}",
            tr("Below {highest}", highest=scale.highest): f"{imperfect:,}"
            + (f" ({wording.percent(100 * imperfect / decided)})" if decided else ""),
            tr("Without a relevance"): f"{without:,}",
        }
    )
    if not decided:
        st.info(tr("No pair of similarity 1 has a relevance yet."))
        return
    rows = [
        (look.grade_mark(value), escape(scale.label(value)), look.bar(pairs, max(counts)), f"{pairs / decided:.1%}")
        for value, pairs in enumerate(counts)
    ]
    st.html(look.table((tr("Relevance"), "", tr("Pairs"), tr("Share")), rows, "rr-figures"))
    st.header(tr("Similarity 1, but below {highest}", highest=scale.highest), anchor=False)
    relevance = _relevance(scale, most=scale.highest - 1)
    _pairs(project, lead, PairPart(relevance=relevance, same_words=True), tr("No pairs: all have the best relevance."))


def _sources(project: Project, lead: Person) -> None:
    """Draw a table of where candidates come from, such as captions or systems' runs, with their number and relevance.

    It also counts, for each source, the candidates and relevant pairs that no other source found.
    """
    standings: list[SourceStanding] = _cached_count(project, lead, "sources", lambda: source_standings(project, lead))
    st.caption(
        tr(
            "Candidates come from captions (with an encoder), from frames, and from pooled runs. “Only from "
            "it” counts what no other source found. Annotators see none of this."
        )
    )
    if not standings:
        st.info(tr("These pairs come from an earlier campaign, and their sources are not known."))
        return
    rows = [explore_lists.source_row(standing) for standing in standings]
    st.html(look.table(map(tr, explore_lists.SOURCE_HEADS), rows, "rr-figures rr-sources"))
    _take("sources", lambda: explored_csv(standings))


def _coverage(project: Project, lead: Person) -> None:
    """Draw how much of the corpus annotators were given to grade, by TV show and by video.

    If the page's URL names a video, draw its pairs instead.
    """
    videos: list[VideoCoverage] = _cached_count(project, lead, "coverage", lambda: coverage(project, lead))
    opened = address_state.read_number("video")
    if opened_video := next((video for video in videos if video.video_id == opened), None):
        st.button(
            tr("All videos"),
            on_click=address_state.go,
            kwargs={"video": None, "page": None},
            icon=":material/arrow_back:",
        )
        st.header(plain(opened_video.video), anchor=False)
        told = tr(
            "{moments} of {all_moments:,} handed out",
            moments=wording.count_of(opened_video.judged_moments, "moment"),
            all_moments=opened_video.moments,
        )
        mean = "" if opened_video.mean is None else tr(", mean relevance {mean:.2f}", mean=opened_video.mean)
        st.caption(
            tr(
                "{duration_s:,.1f} s, {moments} with {queries}{mean}.",
                duration_s=opened_video.duration_s,
                moments=told,
                queries=wording.count_of(opened_video.queries, "query"),
                mean=mean,
            )
        )
        _pairs(project, lead, PairPart(video=opened_video.video_id), tr("No pair of this video was handed out."))
        return
    shows = coverage_by_show(videos)
    covered = sum(show.covered for show in shows)
    moments, judged = sum(show.moments for show in shows), sum(show.judged_moments for show in shows)
    look.metrics(
        {
            tr("Videos with a candidate"): tr("{covered:,} of {videos:,}", covered=covered, videos=len(videos)),
            tr("Moments handed out"): tr("{judged:,} of {moments:,}", judged=judged, moments=moments),
            tr("Pairs"): f"{sum(show.pairs for show in shows):,}",
        }
    )
    if len(shows) > 1:
        st.header(tr("Shows"), anchor=False)
        rows = [explore_lists.show_row(show) for show in shows]
        st.html(look.table(explore_lists.show_heads(), rows, "rr-figures rr-shows"))
    st.header(tr("Videos"), anchor=False)
    listed, chosen = videos, ""
    if len(shows) > 1:
        names = {f"{place}": explore_lists.show_name(show.show) for place, show in enumerate(shows)}
        chosen = address_state.choice(
            tr("Show", _context="series"), "show", {"": tr("All shows"), **names}, clears=("page",), box=True, width=300
        )
        if chosen:
            listed = [video for video in videos if video.show == shows[int(chosen)].show]
    by = sorted_by(explore_lists.VIDEO_COLUMNS)
    listed = explore_lists.in_order(listed, by, explore_lists.VIDEO_KEYS, "-pairs")
    long_list(
        tr("Videos"),
        explore_lists.VIDEO_COLUMNS,
        len(listed),
        rows_of(listed, explore_lists.video_row),
        opens="video",
        noun="video",
    )
    _take("coverage", lambda: explored_csv(listed))


def _durations(project: Project, lead: Person) -> None:
    """Draw the durations of moments and videos, and how relevance depends on a moment's duration."""
    moments, videos = _cached_count(project, lead, "durations", lambda: durations(project, lead))
    for lengths, noun in ((moments, "moment"), (videos, "video")):
        if lengths is None:
            continue
        st.header(tr("Duration of {noun}", noun=wording.several(noun)), anchor=False)
        st.caption(
            tr(
                "{number}: {least:,.2f} to {most:,.2f} s, mean {mean:,.2f} s.",
                number=wording.count_of(lengths.count, noun),
                least=lengths.least,
                mean=lengths.mean,
                most=lengths.most,
            )
        )
        explore_charts.lasting(lengths, noun)
        _take(f"durations-of-{noun}s", lambda lengths=lengths: explored_csv(lengths))  # type: ignore[misc]  # a default binds it
    _along(project, lead, BinnedBy.DURATION)


def _agreement(project: Project, lead: Person) -> None:
    """Draw a list of queries with how often two grades of a pair agree, the least agreement first."""
    queries: list[AgreedQuery] = _cached_count(project, lead, "agreement", lambda: agreed_queries(project, lead))
    st.caption(
        tr(
            "How often two grades of a pair agree within the tolerance. Queries with the least agreement come "
            "first. With few pairs, a figure is uncertain. Alpha and kappa are on the page Agreement."
        )
    )
    by = sorted_by(explore_lists.QUERY_COLUMNS)
    listed = explore_lists.in_order(queries, by, explore_lists.QUERY_KEYS, "")
    long_list(
        tr("Queries by agreement"),
        explore_lists.QUERY_COLUMNS,
        len(listed),
        rows_of(listed, explore_lists.query_row),
        opens="query",
        noun="query",
        nothing=tr("No pair has two grades yet."),
        page="/queries",
    )
    _take("agreement-of-queries", lambda: explored_csv(listed))


def _pairs(project: Project, lead: Person, part: PairPart, nothing: str = "") -> None:
    """Draw a list of the pairs selected by `part`, fetched a page at a time. A click on a pair opens its query.

    If there are no pairs, draw the sentence `nothing`.
    """
    count = _cached_count(project, lead, f"count-{part}", lambda: found_pair_count(project, lead, part))
    long_list(
        tr("Pairs"),
        explore_lists.PAIR_COLUMNS,
        count,
        lambda first, most: [
            explore_lists.pair_row(pair) for pair in found_pairs(project, lead, part, first=first, most=most)
        ],
        opens="query",
        noun="pair",
        nothing=nothing,
        page="/queries",
    )
    if count:
        _take("pairs", lambda: explored_csv(found_pairs(project, lead, part)))


def _relevance(scale: Scale, most: int | None = None) -> int | None:
    grades = range((scale.highest if most is None else most) + 1)
    options = {"": tr("Any relevance"), **{str(value): str(value) for value in grades}}
    chosen = address_state.choice(tr("Relevance"), "relevance", options, clears=("page",))
    return int(chosen) if chosen else None


def _cached_count(project: Project, lead: Person, name: str, count: Callable[[], _Found]) -> _Found:
    """Return the result of `count()`, cached for all leads until the project's data change.

    Args:
        project: the project.
        lead: the lead who is signed in.
        name: a name for the result in the cache.
        count: computes the result; called only if the cache has no current one.
    """
    cached: _Found = _cached(str(project.folder), explored_version(project, lead), name, count)
    return cached


@st.cache_resource(max_entries=60, show_spinner=False)
def _cached(folder: str, version: str, name: str, _count: Callable[[], Any]) -> Any:
    return _count()


def _take(name: str, make: Callable[[], str]) -> None:
    """Draw a button that downloads the file `explore-NAME.csv`.

    `make` returns the file's text, and is called only on a click.
    """
    file = f"explore-{name}.csv"
    look.csv_download("CSV", make, file, f"take-{file}")


_SHOWN: dict[str, Callable[[Project, Person], None]] = {
    "similarity": partial(_along, along=BinnedBy.SIMILARITY),
    "rank": partial(_along, along=BinnedBy.RANK),
    "same": _same_words,
    "sources": _sources,
    "coverage": _coverage,
    "durations": _durations,
    "agreement": _agreement,
}
"""Maps each part to the function that draws it."""
