"""Choose candidates in a background job, and put the outcome in words."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from backend.campaign.nouns import Person
from backend.campaign.selection.candidates.choosing import CandidateReport, choose_candidates, choose_encoder
from backend.campaign.selection.candidates.model import PoolingReport
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.selection.candidates.submitted_runs import CandidatePooling as PoolingOptions
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import JobOutcome, OutcomeTable
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.progress import Progress


class CandidatesAsked(NamedTuple):
    """What candidates are asked for; what is None stays as the project has it."""

    batch_size: int | None = None
    captions: bool = True
    visual: str | None = None
    """A CLIP model that looks at the frames of moments, or its folder."""
    runs: tuple[str, ...] = ()
    """Files on the server."""
    depth: int = PoolingOptions().depth
    iou: float = PoolingOptions().iou
    videos: str | None = None
    """A file that names the videos which runs give by number."""
    probe: int = 0
    seed: int = 0
    encoder: str | None = None
    kind: str | None = None
    dtype: str | None = None


def choose(project: Project, lead: Person, asked: CandidatesAsked, *, progress: Progress) -> JobOutcome:
    """Choose the candidates of every query by captions, and open their first batches."""
    project = _with_encoder(project, lead, asked)
    report = choose_candidates(
        project,
        lead,
        batch_size=asked.batch_size,
        probe=asked.probe,
        seed=asked.seed,
        now=time.time(),
        progress=progress,
    )
    sentences = [
        said(
            "Queries: {queries:,}. Candidates: {candidates:,}. Pairs open for grading: {pairs:,}.",
            queries=report.queries,
            candidates=report.candidates,
            pairs=report.pairs,
        ),
        said("Encoder: {encoder}", encoder=report.encoder),
    ]
    if report.probed:
        sentences.append(
            said(
                "{queries:,} of the queries are probed: {pairs:,} further pairs, not for releases.",
                queries=report.probed,
                pairs=report.probe_pairs,
            )
        )
    return JobOutcome([*sentences, *_notes(report)])


def pool(
    project: Project, lead: Person, asked: CandidatesAsked, again: bool, dry_run: bool, *, progress: Progress
) -> JobOutcome:
    """Make candidates of what runs found, beside what captions find; or `again`, of what further runs found."""
    if not again and not dry_run and asked.captions:
        project = _with_encoder(project, lead, asked)
    try:
        report = pool_candidates(
            project,
            lead,
            [Path(run) for run in asked.runs],
            PoolingOptions(asked.depth, asked.iou, Path(asked.videos) if asked.videos else None),
            captions=asked.captions,
            visual=asked.visual,
            again=again,
            batch_size=None if again else asked.batch_size,
            dry_run=dry_run,
            now=time.time(),
            progress=progress,
        )
    except InputError as error:  # whoever sent a file knows it by its name
        raise InputError([replace(one, file=Path(one.file).name) for one in error.problems]) from error
    counts: dict[str, Any] = {"queries": report.queries, "candidates": report.candidates, "pairs": report.pairs}
    if dry_run:
        told = said(
            "Queries: {queries:,}. New candidates: {candidates:,}. Pairs that would be handed out: {pairs:,}.", **counts
        )
    else:
        told = said("Queries: {queries:,}. New candidates: {candidates:,}. Pairs handed out: {pairs:,}.", **counts)
    sentences = [told]
    if report.moments:
        sentences.append(said("New moments, which are near none of the project: {n:,}.", n=report.moments))
    if report.without:
        sentences.append(said("Queries without anything that was found: {n:,}.", n=report.without))
    if report.encoder:
        sentences.append(said("Encoder of the captions: {encoder}", encoder=report.encoder))
    if report.visual:
        sentences.append(said("Frames: {encoder}", encoder=report.visual))
    sentences += _notes(report)
    if dry_run:
        sentences.append(said("Nothing is written yet."))
    rows = [[run.name, *(f"{n:,}" for n in (run.spans, run.candidates, run.alone, run.new))] for run in report.runs]
    head = (
        *(said("Run"), said("Spans taken"), said("Candidates of them"), said("Found by it alone")),
        said("Not handed out before"),
    )
    return JobOutcome([*sentences], [OutcomeTable([*head], rows)])


def _with_encoder(project: Project, lead: Person, asked: CandidatesAsked) -> Project:
    if asked.encoder or asked.kind or asked.dtype:
        return choose_encoder(project, lead, asked.encoder, asked.kind, dtype=asked.dtype)
    return project


def _notes(report: CandidateReport | PoolingReport) -> list[str]:
    notes = list(report.unread)
    if report.without_file:
        notes.append(
            said(
                "{n:,} videos have no file yet: name the folder with their files in the step Videos.",
                n=report.without_file,
            )
        )
    if report.split_ties:
        notes.append(
            said("In {n:,} queries the cut leaves out moments with the same text as a chosen one.", n=report.split_ties)
        )
    return notes
