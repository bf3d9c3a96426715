"""Turn captions into imprecise captions by rules: character names become generic words.

*Reads* published captions. *Writes* rewritten captions and one event. A rewrite is accepted if its similarity to
the original is at least `MIN_SIMILARITY` and no person's name is left in it; otherwise it waits for a person
(who usually adds the missing name to `[cast]` in reelrank.toml and runs the stage again).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from backend.core.errors import ProjectError
from backend.core.rewrite import RULES_VERSION, names_in, rewrite, unknown_names
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder
from backend.store import corpus, events, queries
from backend.store.connection import writing
from backend.store.corpus import Rewrite
from backend.store.events import EventKind
from backend.store.project import Project

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
    progress: Callable[[int, int], None] | None = None,
) -> RewriteReport:
    """Rewrite every published caption with the project's cast list, replacing earlier rewrites.

    Raises:
        ProjectError: there are no captions, or queries were drawn from the earlier rewrites already.
    """
    store = project.store
    captions = corpus.published_captions(store.db)
    if not captions:
        raise ProjectError("there are no captions to rewrite: run `reelrank import` first")
    if sum(queries.split_counts(store.db).values()):
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
        corpus.replace_rewrites(db, rewrites, rule_version(cast))
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


def rule_version(cast: dict[str, str]) -> str:
    """Name of the rules together with the cast list they were used with."""
    digest = blake2b(repr(sorted(cast.items())).encode(), digest_size=4).hexdigest()
    return f"{RULES_VERSION}+cast-{digest}"
