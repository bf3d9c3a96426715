"""Draw queries from the imprecise captions: a seeded random sample for validation and test, the rest to train.

*Reads* captions, and a person's own queries. *Writes* query and events. A training query never has the text of a
validation or test query, each of which has a text of its own.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.campaign.captions.rows import rewrites as caption_rows
from backend.campaign.corpus import rows as corpus
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.project import steps
from backend.campaign.project.folder import Project
from backend.campaign.queries import rows as queries
from backend.campaign.queries.model import Drawable, OwnQuery, Repeats, Stratum
from backend.campaign.queries.rules import drawing as rules
from backend.campaign.queries.rules import own as own_rules
from backend.ground.errors import ProjectError
from backend.store import events
from backend.store.connection import Database, writing
from backend.store.events import EventKind


@dataclass(frozen=True, slots=True)
class QueryReport:
    """How many queries each split got, own ones included, and whether the drawn ones come from rewritten captions.

    `removed` captions may not train, because a validation or test query has their text; `repeats` are training
    queries with the text of an earlier one, `merged` captions that were put together with one instead.
    """

    val: int
    test: int
    train: int
    own: int
    removed: int
    repeats: int
    merged: int
    rewritten: bool


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A person's own queries as they came; `split` is that of a text file's lines."""

    data: bytes
    name: str
    split: Split


def draw(
    project: Project,
    by: Lead | Operator,
    *,
    val: int = 0,
    test: int = 0,
    seed: int = 0,
    own: OwnFile | None = None,
    stratum: Stratum | None = None,
    show_of: str | None = None,
    repeats: Repeats = Repeats.KEEP,
    now: float,
) -> QueryReport:
    """Fix the queries: a person's own, those drawn from captions, and all other captions to train.

    With queries there already, own ones may still be added, and nothing is drawn.

    Args:
        project: the project.
        by: who does.
        val: validation queries to draw.
        test: test queries to draw.
        seed: of the draw.
        own: own queries, beside the drawn ones or in their place.
        stratum: what the draw is spread over, in proportion; None draws evenly from all texts.
        show_of: how the show is told from a video's name; see `rules.shows`.
        repeats: what becomes of training captions with one text.
        now: seconds since 1970.

    Raises:
        ProjectError: queries were drawn already, or there are no captions, or fewer distinct texts than asked for.
        InputError: everything that is wrong with the file of own queries; nothing was stored then.
    """
    with writing(project.store) as db:
        if sum(queries.split_counts(db).values()):
            if own is None or val or test:
                raise ProjectError(
                    "this project has its queries already; splits are fixed once drawn. Until the first grade, "
                    f"`{steps.taking_back(project.folder)}` takes them back"
                )
            return _add(db, by, _own(db, own), own.name, now=now)
        if own is None and (val < 0 or test < 0 or val + test == 0):
            raise ProjectError("ask for at least one query: --val N --test N")
        rewritten = caption_rows.rewritten_captions(db)
        places = queries.moment_places(db)
        captions = [
            Drawable(caption.caption_id, caption.text.strip(), *places[caption.moment_id])
            for caption in rewritten or corpus.published_captions(db)
        ]
        if not captions:
            raise ProjectError(f"there are no captions to draw from: run `{steps.importing(project.folder)}` first")
        mine = _own(db, own) if own else []
        drawn = rules.draw(
            captions,
            val=val,
            test=test,
            seed=seed,
            own={query.text: query.split for query in mine},
            stratum=_stratum(captions, stratum, show_of),
            repeats=repeats,
        )
        if own:
            _add(db, by, mine, own.name, now=now)
        queries.add_drawn(db, drawn.queries)
        fixed = [(query.text, query.split) for query in mine] + [(query.text, query.split) for query in drawn.queries]
        counts = Counter(split for _, split in fixed)
        training = [text for text, split in fixed if split is Split.TRAIN]
        report = QueryReport(
            val=counts[Split.VAL],
            test=counts[Split.TEST],
            train=counts[Split.TRAIN],
            own=len(mine),
            removed=drawn.removed,
            repeats=len(training) - len(set(training)),
            merged=drawn.merged,
            rewritten=bool(rewritten),
        )
        events.record(
            db,
            EventKind.QUERIES_DRAWN,
            at=now,
            actor=by.annotator_id,
            subject="queries",
            payload={
                **{"seed": seed, "val": val, "test": test, "train": sum(q.split is Split.TRAIN for q in drawn.queries)},
                **{"removed": drawn.removed, "merged": drawn.merged, "repeats": repeats.value},
                **({"spread_over": stratum.value, "show_of": show_of} if stratum else {}),
            },
        )
    return report


def _own(db: Database, own: OwnFile) -> list[OwnQuery]:
    there = {query.text: query.split for query in queries.query_rows(db)}
    return own_rules.parse(own.data, own.name, own.split, there)


def _add(db: Database, by: Lead | Operator, mine: Sequence[OwnQuery], file: str, *, now: float) -> QueryReport:
    """Store own queries, behind those that are there."""
    queries.add_own(db, mine)
    counts = Counter(query.split.value for query in mine)
    payload = {"file": file, **{split.value: counts[split.value] for split in Split}}
    events.record(db, EventKind.QUERIES_ADDED, at=now, actor=by.annotator_id, subject="queries", payload=payload)
    return QueryReport(counts["val"], counts["test"], counts["train"], len(mine), 0, 0, 0, rewritten=True)


def _stratum(
    captions: Sequence[Drawable], stratum: Stratum | None, show_of: str | None
) -> Callable[[Drawable], str] | None:
    if show_of is not None and stratum is not Stratum.SHOW:
        raise ProjectError("--show-of says what a show is: use it with --stratify show")
    if stratum is None:
        return None
    if stratum is Stratum.VIDEO:
        return lambda caption: caption.video
    show = rules.shows(sorted({caption.video for caption in captions}), show_of)
    return lambda caption: show[caption.video]
