"""Background jobs that choose the candidates of queries, by similar captions or from submitted runs.

A candidate is a moment that may be relevant to a query. The jobs return their outcome in words for a lead's page.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from backend.campaign.nouns import Person
from backend.campaign.selection.candidates.choosing import choose_candidates, choose_encoder
from backend.campaign.selection.candidates.model import CandidateReport, PoolingReport
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.selection.candidates.submitted_runs import CandidatePooling as PoolingOptions
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import JobOutcome, OutcomeTable
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.progress import Progress


class CandidateOptions(NamedTuple):
    """Options for choosing candidates, the moments that may be relevant to a query.

    A field that is None keeps the project's setting, unless its entry says otherwise.

    Attributes:
        batch_size: the number of a query's candidates that are given to annotators together.
        captions: whether moments with similar captions become candidates, besides those from runs.
        visual: name or folder of a CLIP model that also compares queries with the frames of moments; None for no
            frames.
        runs: run files (predictions of search systems) on the server, from which candidates are taken.
        depth: how many predictions of each query are taken from a run.
        iou: the IoU from which two overlapping predictions become one candidate.
        videos: a file that maps the video numbers in runs to video names; None if runs have video names.
        probe: the number of queries for which more moments are graded, to learn whether the candidates suffice.
        seed: the random seed for drawing these queries and moments.
        encoder: the name of the sentence encoder.
        kind: "sup" or "unsup" (supervised or unsupervised SimCSE) or "minilm".
        dtype: the precision of the sentence encoder: "fp32" or "bf16".
    """

    batch_size: int | None = None
    captions: bool = True
    visual: str | None = None
    runs: tuple[str, ...] = ()
    depth: int = PoolingOptions().depth
    iou: float = PoolingOptions().iou
    videos: str | None = None
    probe: int = 0
    seed: int = 0
    encoder: str | None = None
    kind: str | None = None
    dtype: str | None = None


def choose(project: Project, lead: Person, options: CandidateOptions, *, progress: Progress) -> JobOutcome:
    """Choose candidates for every query by similar captions, and open the first batch of each query for grading.

    A batch is the candidates of a query that are handed out together.
    """
    project = _with_encoder(project, lead, options)
    report = choose_candidates(
        project,
        lead,
        batch_size=options.batch_size,
        probe=options.probe,
        seed=options.seed,
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
    project: Project, lead: Person, options: CandidateOptions, again: bool, dry_run: bool, *, progress: Progress
) -> JobOutcome:
    """Take candidates from the best predictions of submitted runs (pooling), and optionally from similar captions.

    With `again`, candidates from further runs are added to those of an earlier pooling. With `dry_run`, candidates are
    only counted, and nothing is written.
    """
    if not again and not dry_run and options.captions:
        project = _with_encoder(project, lead, options)
    try:
        report = pool_candidates(
            project,
            lead,
            [Path(run) for run in options.runs],
            PoolingOptions(options.depth, options.iou, Path(options.videos) if options.videos else None),
            captions=options.captions,
            visual=options.visual,
            again=again,
            batch_size=None if again else options.batch_size,
            dry_run=dry_run,
            now=time.time(),
            progress=progress,
        )
    except InputError as error:  # the lead who uploaded a file knows its name, not its path
        raise InputError([replace(problem, file=Path(problem.file).name) for problem in error.problems]) from error
    counts: dict[str, Any] = {"queries": report.queries, "candidates": report.candidates, "pairs": report.pairs}
    if dry_run:
        summary = said(
            "Queries: {queries:,}. New candidates: {candidates:,}. Pairs that would be handed out: {pairs:,}.", **counts
        )
    else:
        summary = said("Queries: {queries:,}. New candidates: {candidates:,}. Pairs handed out: {pairs:,}.", **counts)
    sentences = [summary]
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
    rows = [
        [run.name, *(f"{count:,}" for count in (run.spans, run.candidates, run.alone, run.new))] for run in report.runs
    ]
    head = (
        *(said("Run"), said("Spans taken"), said("Candidates of them"), said("Found by it alone")),
        said("Not handed out before"),
    )
    return JobOutcome([*sentences], [OutcomeTable([*head], rows)])


def _with_encoder(project: Project, lead: Person, options: CandidateOptions) -> Project:
    if options.encoder or options.kind or options.dtype:
        return choose_encoder(project, lead, options.encoder, options.kind, dtype=options.dtype)
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
