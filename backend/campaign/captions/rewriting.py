"""Turn captions into imprecise captions by rules: character names become generic words.

*Reads* published captions. *Writes* rewritten captions and one event. A rewrite is accepted if its similarity to
the original is at least `MIN_SIMILARITY` and no person's name is left in it; otherwise it waits for a person,
who adds the missing name to `[cast]` in reelrank.toml and runs the command again, or decides by hand.
"""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from backend.campaign.captions import rows as caption_rows
from backend.campaign.captions.rows import Rewrite
from backend.campaign.captions.rules import RULES_VERSION, names_in, rewrite, unknown_names
from backend.campaign.corpus import rows as corpus
from backend.campaign.project import steps
from backend.campaign.project.folder import Project
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder
from backend.ground.errors import InputError, Problem, ProjectError
from backend.ground.progress import Steps
from backend.ground.text_files import read_csv
from backend.store import events
from backend.store.connection import writing
from backend.store.events import EventKind

MIN_SIMILARITY = 0.4
"""Cosine below which a rewrite has lost its original (TVR-Ranking: the same floor, by SimCSE)."""


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """What the rules did. `unknown` are probable names that the cast list lacks, the most frequent first."""

    captions: int
    changed: int
    accepted: int
    waiting: int
    unknown: tuple[tuple[str, int], ...]


def rewrite_captions(
    project: Project,
    encoder: Encoder,
    *,
    now: float,
    progress: Steps | None = None,
) -> RewriteReport:
    """Rewrite every published caption with the project's cast list, replacing earlier rewrites.

    Raises:
        ProjectError: there are no captions, or queries were drawn from the earlier rewrites already.
    """
    store = project.store
    captions = corpus.published_captions(store.db)
    if not captions:
        raise ProjectError(f"there are no captions to rewrite: run `{steps.importing(project.folder)}` first")
    if caption_rows.any_query(store.db):
        raise ProjectError("queries were drawn from the captions already; their texts are fixed from then on")
    cast = project.settings.cast
    originals = [caption.text.strip() for caption in captions]  # published texts keep stray spaces
    unknown = unknown_names(originals, cast)
    texts = [rewrite(text, cast) for text in originals]
    vectors = encode_cached(encoder, [*originals, *texts], project.embeddings, progress=progress)
    similarity = np.einsum("ij,ij->i", vectors[: len(texts)], vectors[len(texts) :])
    rewrites = []
    for caption, text, score in zip(captions, texts, similarity.tolist(), strict=True):
        names = names_in(text, cast, unknown)
        reason = (
            f"a name is left: {', '.join(names)}"
            if names
            else f"similarity {score:.2f} is below {MIN_SIMILARITY}"
            if score < MIN_SIMILARITY
            else ""
        )
        rewrites.append(Rewrite(caption, text, score, not reason, reason))
    with writing(store) as db:
        caption_rows.replace_rewrites(db, rewrites, rule_version(cast))
        accepted = sum(r.accepted for r in rewrites)
        events.record(
            db,
            EventKind.CAPTIONS_REWRITTEN,
            at=now,
            actor=None,
            subject="captions",
            payload={
                "rule_version": rule_version(cast),
                "accepted": accepted,
                "waiting": len(rewrites) - accepted,
            },
        )
    return RewriteReport(
        captions=len(captions),
        changed=sum(before != after for before, after in zip(originals, texts, strict=True)),
        accepted=accepted,
        waiting=len(rewrites) - accepted,
        unknown=tuple(Counter(unknown).most_common()),
    )


def accept_by_hand(project: Project, data: bytes, file: str, *, now: float) -> int:
    """Take a person's decisions on waiting rewrites: a CSV file with the columns `caption` and `rewrite`.

    The person's words count, whatever the rules say of them, except that no name of the cast may be left. Later
    runs of the rules leave them alone.

    Returns:
        How many waiting rewrites were decided.

    Raises:
        InputError: every row that cannot be taken; nothing was taken then.
        ProjectError: queries were drawn already.
    """
    if caption_rows.any_query(project.store.db):
        raise ProjectError("queries were drawn from the captions already; their texts are fixed from then on")
    table = read_csv(data, file, ["caption", "rewrite"])
    problems = list(table.problems)
    decided = 0
    with writing(project.store) as db:
        for row, caption, text in zip(table.rows, table.columns["caption"], table.columns["rewrite"], strict=True):
            if names := names_in(text, project.settings.cast, {}):
                problems.append(Problem(file, row, f"a name of the cast is left: {', '.join(names)}"))
            elif not text.strip():
                problems.append(Problem(file, row, "the rewrite is empty"))
            elif not (found := caption_rows.accept_by_hand(db, caption.strip(), text.strip())):
                problems.append(Problem(file, row, "no rewrite of this caption waits for a person"))
            else:
                decided += found
        if problems:
            raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
        events.record(
            db,
            EventKind.CAPTIONS_REWRITTEN,
            at=now,
            actor=None,
            subject="captions",
            payload={
                "rule_version": caption_rows.BY_HAND,
                "accepted": decided,
                "waiting": len(caption_rows.waiting_rewrites(db)),
            },
        )
    return decided


def rule_version(cast: dict[str, str]) -> str:
    """Name of the rules together with the cast list they were used with."""
    digest = blake2b(repr(sorted(cast.items())).encode(), digest_size=4).hexdigest()
    return f"{RULES_VERSION}+cast-{digest}"
