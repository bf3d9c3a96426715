"""Draw queries from the imprecise captions: a seeded random sample for validation and test, the rest to train.

*Reads* captions. *Writes* query and one event. Identical texts are one query; a training query never has the
text of a validation or test query, because every text has exactly one split.
"""

import random
from dataclasses import dataclass

from backend.campaign.captions import rows as caption_rows
from backend.campaign.corpus import rows as corpus
from backend.campaign.nouns import Split
from backend.campaign.project import steps
from backend.campaign.project.folder import Project
from backend.campaign.queries import rows as queries
from backend.ground.errors import ProjectError
from backend.store import events
from backend.store.connection import writing
from backend.store.events import EventKind


@dataclass(frozen=True, slots=True)
class QueryReport:
    """How many queries each split got, and whether they come from rewritten captions."""

    val: int
    test: int
    train: int
    rewritten: bool


def draw(project: Project, *, val: int, test: int, seed: int, now: float) -> QueryReport:
    """Draw validation and test queries once and for all.

    Texts are sorted before the draw, so that the same corpus and seed give the same queries on any machine.

    Raises:
        ProjectError: there are queries already, or no captions, or fewer distinct texts than asked for.
    """
    store = project.store
    if sum(queries.split_counts(store.db).values()):
        raise ProjectError("this project has its queries already; splits are fixed once drawn")
    rewritten = caption_rows.rewritten_captions(store.db)
    captions = rewritten or corpus.published_captions(store.db)
    first: dict[str, int] = {}
    for caption in captions:
        first.setdefault(caption.text.strip(), caption.caption_id)
    if not first:
        raise ProjectError(f"there are no captions to draw from: run `{steps.importing(project.folder)}` first")
    if val + test > len(first):
        raise ProjectError(
            f"{val} + {test} queries asked for, but there are only {len(first)} distinct caption texts: ask for fewer"
        )
    if val < 0 or test < 0 or val + test == 0:
        raise ProjectError("ask for at least one query: --val N --test N")
    texts = sorted(first)
    random.Random(seed).shuffle(texts)
    splits = [Split.VAL] * val + [Split.TEST] * test + [Split.TRAIN] * (len(texts) - val - test)
    with writing(store) as db:
        queries.add_queries(db, ((text, first[text], split) for text, split in zip(texts, splits, strict=True)))
        report = QueryReport(val, test, len(texts) - val - test, bool(rewritten))
        events.record(
            db,
            EventKind.QUERIES_DRAWN,
            at=now,
            actor=None,
            subject="queries",
            payload={"seed": seed, "val": val, "test": test, "train": report.train},
        )
    return report
