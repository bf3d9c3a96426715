"""How deep judging has to go: the relevance of probe pairs against similarity and rank (TVR-Ranking's Figure 4).

*Reads* probes, their pairs and verdicts. *Writes* files in a folder.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.campaign.nouns import Lead, Operator, Scale
from backend.campaign.review import rules
from backend.campaign.review.rows.probes import ProbePair, probe_pairs
from backend.campaign.review.rules import Bin
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import new_files
from backend.core.errors import ProjectError
from backend.core.text_files import csv_text
from backend.store.connection import reading

if TYPE_CHECKING:
    import altair as alt

_SPREAD = 0.32
"""How far a point may stand from its relevance, so that points of one relevance are told apart."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What the probes say so far. Bins hold the pairs that have a relevance."""

    queries: int
    pairs: int
    settled: int
    by_rank: tuple[Bin, ...]
    by_similarity: tuple[Bin, ...]
    files: tuple[Path, ...] = ()


@in_charge
def write_probe_figures(project: Project, by: Lead | Operator, out: Path) -> ProbeReport:
    """Write `probe-pairs.csv`, `probe-bins.csv`, `probe.png` and `probe.svg`; earlier ones are replaced.

    Raises:
        ProjectError: nothing is probed, no probe pair has a relevance, or the folder cannot be written.
    """
    with reading(project.store) as db:
        pairs, scale = probe_pairs(db, top=rules.TOP), facts.scale(db)
    if not pairs:
        raise ProjectError("no query is probed: `reelrank candidates DIR --probe N` says how many shall be")
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
    # Charts take as long to load as everything else together; most commands need none.
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
    """One of the two charts; the axis is a field, its title, and its bins."""
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
    """A number from -1 to 1 that is a pair's own: the same figure at every drawing."""
    return int.from_bytes(blake2b(f"{way} {pair_id}".encode(), digest_size=2).digest()) / 32767.5 - 1
