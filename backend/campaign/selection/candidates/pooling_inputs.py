"""Read and check what a pooling rests on, at one instant: runs, moments, lists and batches.

*Reads* run files, queries, videos, moments, candidates, pairs. *Writes* nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.selection.candidates import submitted_runs
from backend.campaign.selection.candidates.merging import Place
from backend.campaign.selection.candidates.rows import lists, sources
from backend.campaign.selection.candidates.submitted_runs import CandidatePooling, Submitted
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import MomentId, QueryId
from backend.core.messages import said
from backend.scoring.run_files import RunFile
from backend.store.connection import Database, reading

Given = Sequence[str | Path | RunFile]
"""Runs, as texts `NAME=FILE` or `FILE`, as files, or with what is known of each."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a pooling rests on, read at one instant; `state` tells whether it still is so."""

    runs: list[Submitted]
    places: dict[MomentId, Place]
    listed: dict[QueryId, list[MomentId]]
    handed_out: dict[QueryId, set[MomentId]]
    state: tuple[int, ...]


def read(project: Project, given: Given, options: CandidatePooling, *, without_runs: bool = False) -> Material:
    """Read and check everything, the runs last; there may be none of them where it is said so.

    Raises:
        InputError: with everything that is wrong with the runs.
        ProjectError: no run, or no such depth or overlap.
    """
    if not given and not without_runs:
        raise ProjectError(said("no run is named: give files of runs, such as --pool mine.json theirs.json"))
    if options.depth < 1:
        raise ProjectError(
            said("of each run 1 or more predictions of a query are taken, not {depth}", depth=options.depth)
        )
    if not 0 < options.iou <= 1:
        raise ProjectError(
            said("spans are one candidate from an overlap above 0 and at most 1, not {iou:g}", iou=options.iou)
        )
    with reading(project.store) as db:
        listed, handed_out = lists.listed(db), lists.handed_out(db)
        for query_id, moments in handed_out.items():
            listed.setdefault(query_id, list(moments))  # pairs of an earlier campaign come from no list
        places, state = queries.moment_places(db), sources.state(db)
        runs = submitted_runs.read(
            given,
            queries=queries.query_rows(db),
            durations=corpus.video_durations(db),
            pooled=sources.all_sources(db),
            options=options,
        )
    return Material(runs, places, listed, handed_out, state)


def require_unchanged(db: Database, material: Material) -> None:
    """Refuse to go on, in the transaction that writes, where what was read is not so any more.

    Raises:
        Overtaken: it is not.
    """
    if sources.state(db) != material.state:
        raise Overtaken(said("moments or candidates have changed meanwhile, so nothing was pooled: run the same again"))
