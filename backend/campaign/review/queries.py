"""List queries that have a batch to grade, remove queries nobody has worked on, and draw figures of probes.

A probe is a sample of a query's moments down to low ranks. Annotators grade it to show down to which rank grading is
worthwhile. The figures plot the relevance of probe pairs against similarity and rank (TVR-Ranking's Figure 4).

*Reads* queries, batches, pairs, verdicts, grades, skips, the exam, examples, assignments, seats. *Removes* query,
candidate, batch, pair, seat; *writes* one event, and files in a folder.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.campaign.nouns import Lead, Operator, Scale, Split
from backend.campaign.review import rules
from backend.campaign.review.model import PairReview, QueryFilter, QueryPlace, QueryReview
from backend.campaign.review.rows import queries as query_rows
from backend.campaign.review.rows import reviews
from backend.campaign.review.rows.queries import ProbePair, probe_pairs
from backend.campaign.review.rules import Bin
from backend.campaign.selection.pools import rows as pool_check
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QUERIES_TAKEN_BACK
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import new_files
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import joined, said
from backend.core.text_files import csv_text
from backend.store import events
from backend.store.connection import reading, writing


@in_charge
def list_queries(project: Project, by: Lead | Operator) -> list[QueryReview]:
    """Return every query that has an open batch, in the order in which queries are handed out.

    A batch is a group of a query's candidates that is handed out for grading together.
    """
    return reviews.query_reviews(project.store.db)


@in_charge
def find_queries(
    project: Project, by: Lead | Operator, query_filter: QueryFilter, *, first: int = 0, most: int = 25
) -> list[QueryReview]:
    """Return one page of the queries that match a filter.

    The page has at most `most` queries. It starts at position `first` of the filtered list, counted from 0.
    """
    return query_rows.page(project.store.db, query_filter, first, most)


@in_charge
def count_queries(project: Project, by: Lead | Operator, query_filter: QueryFilter) -> int:
    """Return how many queries match a filter."""
    return query_rows.count(project.store.db, query_filter)


@in_charge
def query_review(project: Project, by: Lead | Operator, query_id: QueryId) -> QueryReview | None:
    """Return one query with the counts that leads review, or None if it has no open batch.

    A batch is a group of a query's candidates that is handed out for grading together.
    """
    return next(iter(reviews.query_reviews(project.store.db, query_id)), None)


@in_charge
def query_place(
    project: Project, by: Lead | Operator, query_filter: QueryFilter, query_id: QueryId
) -> QueryPlace | None:
    """Return the position of a query among those that match a filter; None if it has no open batch.

    A batch is a group of a query's candidates that is handed out for grading together.
    """
    return query_rows.place(project.store.db, query_filter, query_id)


@in_charge
def query_pairs(project: Project, by: Lead | Operator, query_id: QueryId) -> list[PairReview]:
    """Return all pairs of a query's open batches and of its probe, in rank order.

    A probe is a sample of moments down to low ranks, graded to learn down to which rank grading is worthwhile.
    """
    return reviews.pairs_of_query(project.store.db, query_id)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """How many queries, candidates and pairs were removed by `take_back_queries`."""

    queries: int
    candidates: int
    pairs: int


@in_charge
def take_back_queries(project: Project, by: Lead | Operator, *, now: float) -> TakenBack:
    """Remove all queries of a project with their candidates, batches and pairs; captions and videos stay.

    Raises:
        ProjectError: there are no queries, or they were imported from a file of retrieval pools; or somebody has worked
            on a pair, or holds one right now.
    """
    with writing(project.store) as db:
        splits = queries.split_counts(db)
        if not sum(splits.values()):
            raise ProjectError(said("there are no queries to take back"))
        if pool_check.facts(db):
            raise ProjectError(
                said("the queries of this project come from a file of pools, so they cannot be taken back")
            )
        if work := query_rows.work(db):
            there = joined(", ", [said("{n:,} {what}", n=count, what=what) for what, count in work.items()])
            raise ProjectError(
                said(
                    "the queries cannot be taken back, because people have worked on them: {there}. For other "
                    "queries, make a new project",
                    there=there,
                )
            )
        if holding := query_rows.holding(db, project.lease_s, now=now):
            names = ", ".join(name for name, _ in holding)
            minutes = math.ceil((max(until for _, until in holding) - now) / 60)
            raise ProjectError(
                said(
                    "pairs are handed out to {names} right now: ask them to sign out, or try again in {minutes} "
                    "minutes",
                    names=names,
                    minutes=minutes,
                )
            )
        candidates, pairs = query_rows.remove(db)
        events.record(
            db,
            QUERIES_TAKEN_BACK,
            at=now,
            actor=by.annotator_id,
            subject="queries",
            payload={**{split.value: splits[split.value] for split in Split}, "candidates": candidates, "pairs": pairs},
        )
    return TakenBack(sum(splits.values()), candidates, pairs)


if TYPE_CHECKING:
    import altair as alt

_SPREAD = 0.32
"""The largest distance between a point and its relevance. Points are spread so that they do not hide each other."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The results of probes: samples of queries' moments, graded to learn down to which rank grading is worthwhile.

    `pairs` counts all pairs in the probes, and `settled` those that have a relevance. `by_rank` and `by_similarity`
    group the pairs with a relevance. `files` are the figures and tables written.
    """

    queries: int
    pairs: int
    settled: int
    by_rank: tuple[Bin, ...]
    by_similarity: tuple[Bin, ...]
    files: tuple[Path, ...] = ()


@in_charge
def write_probe_figures(project: Project, by: Lead | Operator, out: Path) -> ProbeReport:
    """Write tables and figures of the relevance of probe pairs by rank and similarity into the folder `out`.

    A probe is a sample of a query's moments, graded to learn down to which rank grading is worthwhile. The files are
    `probe-pairs.csv`, `probe-bins.csv`, `probe.png` and `probe.svg`; earlier ones are replaced.

    Raises:
        ProjectError: no query has a probe, no probe pair has a relevance, or the folder cannot be written.
    """
    with reading(project.store) as db:
        pairs, scale = probe_pairs(db, top=rules.TOP), project_rows.scale(db)
    if not pairs:
        raise ProjectError("no query is probed: set how many with `reelrank candidates DIR --probe N`")
    settled = [pair for pair in pairs if pair.relevance is not None]
    if not settled:
        raise ProjectError(f"none of the {len(pairs)} pairs of probed queries has a relevance yet: judge them first")
    report = ProbeReport(
        queries=len({pair.query_id for pair in pairs}),
        pairs=len(pairs),
        settled=len(settled),
        by_rank=tuple(rules.by_rank(settled)),
        by_similarity=tuple(rules.by_similarity(settled)),
        files=tuple(out / name for name in ("probe-pairs.csv", "probe-bins.csv", "probe.png", "probe.svg")),
    )
    # Imported here because charts take as long to load as everything else together, and most commands need none.
    from backend.scoring.drawing import save

    chart = _chart(settled, report, scale).to_dict()
    names = [field.name for field in fields(ProbePair)]
    bins = [("rank", *astuple(part)) for part in report.by_rank]
    bins += [("similarity from", *astuple(part)) for part in report.by_similarity]
    with new_files(out) as part:
        (part / "probe-pairs.csv").write_text(csv_text(names, [astuple(pair) for pair in pairs]), "utf-8", newline="")
        (part / "probe-bins.csv").write_text(csv_text(["by", "bin", "pairs", "mean"], bins), "utf-8", newline="")
        for path in report.files[2:]:
            save(chart, part / path.name)
    return report


def _chart(settled: Sequence[ProbePair], report: ProbeReport, scale: Scale) -> "alt.TopLevelMixin":
    import altair as alt

    points = [
        {
            **dict(zip(("rank", "similarity"), rules.bins_of(pair), strict=True)),
            "relevance": (pair.relevance or 0) + _SPREAD * _scatter(pair.pair_id, "up"),
            "aside": _scatter(pair.pair_id, "aside"),
        }
        for pair in settled
    ]
    chart: alt.TopLevelMixin = alt.hconcat(
        _panel(
            points,
            ("similarity", "Similarity of query and caption, from", rules.all_similarities(settled)),
            report.by_similarity,
            scale,
        ),
        _panel(points, ("rank", "Rank among all moments", rules.all_ranks()), report.by_rank, scale),
        spacing=34,
        title=alt.TitleParams(
            "How relevant are moments further down?",
            subtitle=f"{report.settled:,} of {report.pairs:,} pairs of {report.queries:,} probed queries have a "
            "relevance. A point is a pair, set off a little from its relevance; the line is the mean of each bin, "
            "the number above it how many pairs are in it.",
            anchor="start",
        ),
    )
    return chart


def _panel(
    points: list[dict[str, Any]], axis: tuple[str, str, list[str]], bins: Sequence[Bin], scale: Scale
) -> "alt.LayerChart | alt.FacetChart":
    """Draw the relevance of pairs against their rank or similarity, with the mean of each bin.

    `points` has one dict for each pair. `axis` is (key of the bin's name in these dicts, title of the axis, names of
    all bins in order).
    """
    import altair as alt

    from backend.scoring.drawing import PALETTE

    field, title, order = axis
    across = alt.X(
        f"{field}:N", sort=order, scale=alt.Scale(domain=order), title=title, axis=alt.Axis(labelAngle=-45, grid=False)
    )
    up = alt.Scale(domain=[-0.5, scale.highest + 0.8], nice=False)
    grades = alt.Axis(values=list(scale.grades), format="d")
    means = alt.Chart(alt.InlineData([{field: part.name, "mean": part.mean, "pairs": part.pairs} for part in bins]))
    return alt.layer(
        alt.Chart(alt.InlineData(points))
        .mark_circle(size=14, opacity=0.3, color=PALETTE[0])
        .encode(
            x=across,
            xOffset=alt.XOffset("aside:Q", scale=alt.Scale(domain=[-1.3, 1.3])),
            y=alt.Y("relevance:Q", scale=up, title="Relevance", axis=grades),
        ),
        means.mark_line(
            point=alt.OverlayMarkDef(size=45, filled=True, color=PALETTE[1]), strokeWidth=2, color=PALETTE[1]
        ).encode(x=across, y=alt.Y("mean:Q", scale=up, title="Relevance")),
        means.mark_text(fontSize=10, color="#666666").encode(
            x=across, y=alt.datum(scale.highest + 0.6), text=alt.Text("pairs:Q", format=",d")
        ),
    ).properties(width=alt.Step(34), height=300)


def _scatter(pair_id: int, way: str) -> float:
    """Return a shift for a pair's point in a figure, from -1 to 1, so that points do not hide each other.

    `way` names the direction, such as `up`. The shift depends only on the pair and the direction, so it is the same in
    every drawing.
    """
    return int.from_bytes(blake2b(f"{way} {pair_id}".encode(), digest_size=2).digest()) / 32767.5 - 1
