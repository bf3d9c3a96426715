"""Choosing candidates, as it runs in the worker: the verbs of the api, and what came out in words."""

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from backend import api
from backend.campaign.nouns import Person
from backend.campaign.serving.model import OutcomeTable, WorkOutcome
from backend.ground.errors import InputError
from backend.ground.progress import Progress


class CandidatesAsked(NamedTuple):
    """What candidates are asked for; what is None stays as the project has it."""

    batch_size: int | None = None
    captions: bool = True
    visual: str | None = None
    """A CLIP model that looks at the frames of moments, or its folder."""
    runs: tuple[str, ...] = ()
    """Files on the server."""
    depth: int = api.PoolingOptions().depth
    iou: float = api.PoolingOptions().iou
    videos: str | None = None
    """A file that names the videos which runs give by number."""
    probe: int = 0
    seed: int = 0
    encoder: str | None = None
    kind: str | None = None
    dtype: str | None = None


def choose(project: api.Project, lead: Person, asked: CandidatesAsked, *, progress: Progress) -> WorkOutcome:
    """Choose the candidates of every query by captions, and open their first batches."""
    project = _with_encoder(project, lead, asked)
    report = api.choose_candidates(
        project,
        lead,
        batch_size=asked.batch_size,
        probe=asked.probe,
        seed=asked.seed,
        now=time.time(),
        progress=progress,
    )
    sentences = [
        f"Queries: {report.queries:,}. Candidates: {report.candidates:,}. Pairs open for grading: {report.pairs:,}.",
        f"Encoder: {report.encoder}",
    ]
    if report.probed:
        sentences.append(
            f"{report.probed:,} of the queries are probed: {report.probe_pairs:,} further pairs, not for releases."
        )
    return WorkOutcome([*sentences, *_notes(report.without_file, report.split_ties)])


def pool(
    project: api.Project, lead: Person, asked: CandidatesAsked, again: bool, dry_run: bool, *, progress: Progress
) -> WorkOutcome:
    """Make candidates of what runs found, beside what captions find; or `again`, of what further runs found."""
    if not again and not dry_run and asked.captions:
        project = _with_encoder(project, lead, asked)
    try:
        report = api.pool_candidates(
            project,
            lead,
            [Path(run) for run in asked.runs],
            api.PoolingOptions(asked.depth, asked.iou, Path(asked.videos) if asked.videos else None),
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
    handed_out = "Pairs that would be handed out" if dry_run else "Pairs handed out"
    sentences = [
        f"Queries: {report.queries:,}. New candidates: {report.candidates:,}. {handed_out}: {report.pairs:,}.",
        *([f"New moments, which are near none of the project: {report.moments:,}."] if report.moments else []),
        *([f"Queries without anything that was found: {report.without:,}."] if report.without else []),
        *([f"Encoder of the captions: {report.encoder}"] if report.encoder else []),
        *([f"Frames: {report.visual}"] if report.visual else []),
        *_notes(report.without_file, report.split_ties),
        *(["Nothing is written yet."] if dry_run else []),
    ]
    rows = [[run.name, *(f"{n:,}" for n in (run.spans, run.candidates, run.alone, run.new))] for run in report.runs]
    head = ["Run", "Spans taken", "Candidates of them", "Found by it alone", "Not handed out before"]
    return WorkOutcome(sentences, [OutcomeTable(head, rows)])


def _with_encoder(project: api.Project, lead: Person, asked: CandidatesAsked) -> api.Project:
    if asked.encoder or asked.kind or asked.dtype:
        return api.choose_encoder(project, lead, asked.encoder, asked.kind, dtype=asked.dtype)
    return project


def _notes(without_file: int, split_ties: int) -> list[str]:
    return [
        *(
            [f"{without_file:,} videos have no file yet: name the folder with their files in the step Videos."]
            if without_file
            else []
        ),
        *(
            [f"In {split_ties:,} queries the cut leaves out moments with the same text as a chosen one."]
            if split_ties
            else []
        ),
    ]
