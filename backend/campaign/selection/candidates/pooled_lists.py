"""Steps of pooling: read the submitted runs, merge what runs, captions and frames found, store it, and report it.

*Reads* run files, queries, videos, pairs. *Writes* moment, candidate, source, candidate_source, one event.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.candidates import rows, submitted_runs
from backend.campaign.selection.candidates.model import (
    CandidateSource,
    FoundSpan,
    MergedSpan,
    PooledRun,
    PoolingReport,
    SourceKind,
)
from backend.campaign.selection.candidates.submitted_runs import CandidatePooling, Listed, Merging, Place, Submitted
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.events import Event
from backend.core.ids import MomentId, QueryId
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.core.timespan import decimal_fraction
from backend.scoring.run_files import RunFile
from backend.store import events
from backend.store.connection import Database, reading

Given = Sequence[str | Path | RunFile]
"""Runs: texts `NAME=FILE` or `FILE`, paths, or `RunFile`s."""


@dataclass(frozen=True, slots=True)
class Material:
    """The input of a pooling (making candidates of what submitted runs found), read at one instant.

    `runs` are the checked runs, and `places` the video and times of every moment. `listed` has the moments on each
    query's candidate list, and `handed_out` those that annotators were given. If the input changes later, so does
    `state`.
    """

    runs: list[Submitted]
    places: dict[MomentId, Place]
    listed: dict[QueryId, list[MomentId]]
    handed_out: dict[QueryId, set[MomentId]]
    state: tuple[int, ...]


def read(project: Project, given: Given, options: CandidatePooling, *, without_runs: bool = False) -> Material:
    """Read and check the input of a pooling: submitted runs, moments and candidate lists.

    `without_runs` allows a pooling without any run.

    Raises:
        InputError: with everything that is wrong with the runs.
        ProjectError: no run is named, or the depth or the overlap is out of range.
    """
    if not given and not without_runs:
        raise ProjectError(said("no run is named: give files of runs, such as --pool mine.json theirs.json"))
    if options.depth < 1:
        raise ProjectError(
            said("the depth is {depth}: take 1 or more predictions of each query from a run", depth=options.depth)
        )
    if not 0 < options.iou <= 1:
        raise ProjectError(
            said(
                "the overlap from which spans become one candidate is {iou:g}: write a number above 0 and at most 1",
                iou=options.iou,
            )
        )
    with reading(project.store) as db:
        listed, handed_out = rows.listed(db), rows.handed_out(db)
        for query_id, moments in handed_out.items():
            listed.setdefault(query_id, list(moments))  # pairs of an earlier campaign come from no list
        places, state = queries.moment_places(db), rows.pooling_state(db)
        runs = submitted_runs.read(
            given,
            queries=queries.query_rows(db),
            durations=corpus.video_durations(db),
            pooled=rows.all_sources(db),
            options=options,
        )
    return Material(runs, places, listed, handed_out, state)


def require_unchanged(db: Database, material: Material) -> None:
    """Refuse to go on if the input of the pooling has changed since it was read.

    Call it in the transaction that writes.

    Raises:
        Overtaken: it has changed.
    """
    if rows.pooling_state(db) != material.state:
        raise Overtaken(said("moments or candidates changed meanwhile, so nothing was pooled: run the command again"))


Found = dict[QueryId, list[MergedSpan]]
_ORIGIN = "pooled"


def merging_of(material: Material, options: CandidatePooling) -> Merging:
    """Return the object that merges the runs' spans with the project's moments into candidates."""
    return Merging(material.runs, material.places, depth=options.depth, iou=decimal_fraction(options.iou))


def merge_found(
    merging: Merging, asked: Sequence[QueryRow], listed: Mapping[QueryId, Sequence[Listed]], progress: Progress | None
) -> Found:
    """Merge the spans that sources found, and return the candidates of every query that has any, in judging order.

    `asked` are the queries to be judged. `listed` has the candidates that are already on a query's list.
    """
    report = steps_of(progress, said("merging what was found"))
    found: Found = {}
    for done, query in enumerate(asked, start=1):
        if candidates := merging.candidates(query.query_id, listed.get(query.query_id, ())):
            found[query.query_id] = candidates
        if report:
            report(done, len(asked))
    return found


def report_on(
    project: Project, material: Material, merging: Merging, found: Found, asked: Sequence[QueryRow]
) -> PoolingReport:
    """Return a report on a pooling (making candidates of what runs found): the result of each run, and the whole.

    The report counts all candidates as new on the lists, and no pairs as given to annotators. The caller has to correct
    these numbers where they are wrong.
    """
    runs = []
    for number, run in enumerate(material.runs):
        its = [
            (query_id, one)
            for query_id, some in found.items()
            for one in some
            if any(s.source == number for s in one.seen)
        ]
        runs.append(
            PooledRun(
                run.name,
                run.sha256,
                spans=sum(seen.source == number for _, one in its for seen in one.seen),
                candidates=len(its),
                alone=sum(len({seen.source for seen in one.seen}) == 1 for _, one in its),
                new=sum(one.moment_id not in material.handed_out.get(query_id, ()) for query_id, one in its),
            )
        )
    return PoolingReport(
        part=1,
        runs=tuple(runs),
        queries=len(found),
        without=len(asked) - len(found),
        candidates=sum(map(len, found.values())),
        moments=len(merging.new),
        pairs=0,
        encoder=None,
        split_ties=0,
        without_file=len(corpus.videos_without_file(project.store.db)),
    )


def store_moments(db: Database, merging: Merging) -> dict[MomentId, MomentId]:
    """Store the moments that pooling added; map their temporary (negative) numbers to the stored ones."""
    stored = corpus.add_spans(db, merging.new, _ORIGIN)
    return {MomentId(-number): stored[place] for number, place in enumerate(merging.new, start=1)}


def append_to_list(
    db: Database,
    query_id: QueryId,
    candidates: Sequence[MergedSpan],
    ids: Mapping[MomentId, MomentId],
    similarity: Mapping[tuple[QueryId, MomentId], float],
    encoder: str | None,
) -> None:
    """Append candidates to a query's list, after its last rank.

    `ids` maps temporary numbers of new moments to stored ones. `similarity` has the similarity of each candidate that
    captions found; the others are stored without one.
    """
    moments = [ids.get(candidate.moment_id, candidate.moment_id) for candidate in candidates]
    alike = [similarity.get((query_id, moment_id)) for moment_id in moments]
    first = rows.last_rank(db, query_id) + 1
    rows.add_listed(
        db,
        (
            (query_id, rank, moment_id, value, None if value is None else encoder)
            for rank, (moment_id, value) in enumerate(zip(moments, alike, strict=True), start=first)
        ),
    )


def add_runs(
    db: Database,
    by: Lead | Operator,
    material: Material,
    options: CandidatePooling,
    spans: Mapping[int, Sequence[FoundSpan]],
    *,
    part: int,
    now: float,
) -> None:
    """Store each run as a source of candidates, with the spans that it found.

    `spans` maps the position of a run in `material.runs` to its spans. `part` is 1 for the pooling that made the
    candidate lists, and higher for later ones.
    """
    for number, run in enumerate(material.runs):
        source = CandidateSource(SourceKind.RUN, run.name, run.sha256, options.depth, part)
        rows.add_source(db, source, spans.get(number, ()), at=now, by=by.annotator_id)


def record_pooling(
    db: Database,
    event: Event,
    by: Lead | Operator,
    report: PoolingReport,
    options: CandidatePooling,
    what: Mapping[str, object],
    *,
    now: float,
) -> None:
    """Record a pooling in the event log, with its runs and the overlap. `what` holds further facts to record."""
    pooled = [{"name": run.name, "sha256": run.sha256, "depth": options.depth} for run in report.runs]
    payload = {**what, "pooled": pooled, "iou": options.iou, "moments": report.moments}
    events.note(db, event, by, "candidates", now=now, **payload)
