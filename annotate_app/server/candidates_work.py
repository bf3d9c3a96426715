"""Choosing candidates, as it runs in the worker: the verbs of the api, and what came out in words."""

import time
from typing import NamedTuple

from annotate_app.server.long_work import WorkOutcome
from backend import api
from backend.campaign.nouns import Person
from backend.ground.progress import Progress


class CandidatesAsked(NamedTuple):
    """What candidates are asked for; names of an encoder that are None stay as the project has them."""

    batch_size: int
    probe: int
    seed: int
    encoder: str | None
    kind: str | None
    dtype: str | None


def choose(project: api.Project, lead: Person, asked: CandidatesAsked, *, progress: Progress) -> WorkOutcome:
    """Choose the candidates of every query, and open their first batches."""
    if asked.encoder or asked.kind or asked.dtype:
        project = api.choose_encoder(project, lead, asked.encoder, asked.kind, dtype=asked.dtype)
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
    if report.without_file:
        sentences.append(
            f"{report.without_file:,} videos have no file yet: name the folder with their files in the step Videos."
        )
    if report.split_ties:
        sentences.append(
            f"In {report.split_ties:,} queries the cut leaves out moments with the same text as a chosen one."
        )
    return WorkOutcome(sentences)
