"""Draw queries from imprecise captions, add own queries, and edit them until candidates are chosen.

*Reads* captions, and a person's own queries. *Writes* query and events. A draw is a seeded random sample for validation
and test; the rest trains. A training query never has the text of a validation or test query, each of which has a text
of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from backend.campaign.corpus.captions import rows as captions_rows
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries import rules
from backend.campaign.selection.queries.model import (
    LONG_QUERY,
    QUERIES_ADDED,
    QUERIES_DRAWN,
    QUERIES_REMOVED,
    QUERY_CHANGED,
    Draw,
    Drawable,
    DrawOptions,
    ListedQuery,
    OwnFile,
    OwnQuery,
    Repeats,
    Stratum,
)
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.core.reading import bytes_of
from backend.core.text_files import control_fault, csv_text
from backend.core.typed_text import is_visible, nfc
from backend.store import events
from backend.store.connection import Database, reading, writing


@dataclass(frozen=True, slots=True)
class QueryReport:
    """How many queries each split got, own ones included, and whether the drawn ones come from rewritten captions.

    `removed` captions may not train, because a validation or test query has their text; `repeats` are training
    queries with the text of an earlier one, `merged` captions that were put together with one instead. `first` are
    the first ones that will be judged, `long` the lengths of those that are longer than `LONG_QUERY`. `dry_run`: all
    of it would be so, and nothing was written.
    """

    val: int
    test: int
    train: int
    own: int
    removed: int
    repeats: int
    merged: int
    rewritten: bool
    first: tuple[tuple[str, Split], ...] = ()
    long: tuple[int, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """What would be written, and the report of it."""

    mine: list[OwnQuery]
    drawn: Draw | None
    report: QueryReport


SHOWN = 10
"""Queries to be judged that a report names."""


@in_charge
def draw_queries(
    project: Project,
    by: Lead | Operator,
    *,
    val: int = 0,
    test: int = 0,
    seed: int = 0,
    own: Path | OwnFile | None = None,
    own_split: Split = Split.TEST,
    stratum: Stratum | None = None,
    show_of: str | None = None,
    repeats: Repeats = Repeats.KEEP,
    dry_run: bool = False,
    now: float,
) -> QueryReport:
    """Draw validation and test queries from captions, add own ones from a file, or both; all other captions train.

    Own queries may also be added later, as long as there are no candidate lists; then nothing is drawn. Without
    captions there are own ones alone.

    Args:
        project: the project.
        by: who draws them; their name goes on record.
        val: how many validation queries to draw.
        test: how many test queries to draw.
        seed: of the draw.
        own: own queries, beside the drawn ones or in their place.
        own_split: of the lines of a text file; a table says it itself.
        stratum: what the draw is spread over, in proportion; evenly over all texts if None.
        show_of: how the show is told from a video's name; see `rules.named_shows`.
        repeats: what becomes of training captions with one text.
        dry_run: check everything and write nothing.
        now: seconds since 1970.

    Raises:
        ProjectError: queries were drawn already, or there are no captions, or fewer distinct texts than asked for.
        InputError: everything that is wrong with the file of own queries; nothing was stored then.
    """
    asked = DrawOptions(val, test, seed, stratum, show_of, repeats)
    file = OwnFile(bytes_of(own), own.name, own_split) if isinstance(own, Path) else own
    named = _named_shows(project, asked)  # outside the transaction: somebody's pattern may take a second
    with reading(project.store) if dry_run else writing(project.store) as db:
        if file and not asked.draws:
            require_no_lists(project)
        if any(queries.split_counts(db).values()):
            if file is None or asked.draws:
                raise ProjectError(
                    said(
                        "this project already has queries, whose splits are fixed. Before the first grade, you "
                        "can take them back on the page Set up or with `{command}`",
                        command=steps.taking_back(project.folder),
                    )
                )
            plan = _only(_own(db, file), dry_run)
        else:
            plan = _plan(project, db, asked, file, named, dry_run)
        if dry_run:
            return plan.report
        if file is not None:
            queries.add_own(db, plan.mine)
            counts = Counter(query.split.value for query in plan.mine)
            payload = {"file": file.name, **{split.value: counts[split.value] for split in Split}}
            events.note(db, QUERIES_ADDED, by, "queries", now=now, **payload)
        if plan.drawn is not None:
            queries.add_drawn(db, plan.drawn.queries)
            trained = sum(query.split is Split.TRAIN for query in plan.drawn.queries)
            payload = {
                **{"seed": asked.seed, "val": asked.val, "test": asked.test, "train": trained},
                **{"removed": plan.drawn.removed, "merged": plan.drawn.merged, "repeats": asked.repeats.value},
                **({"spread_over": asked.stratum.value, "show_of": asked.show_of} if asked.stratum else {}),
            }
            events.note(db, QUERIES_DRAWN, by, "queries", now=now, **payload)
    return plan.report


def _plan(
    project: Project,
    db: Database,
    asked: DrawOptions,
    own: OwnFile | None,
    named: Mapping[str, str | None],
    dry_run: bool,
) -> _Plan:
    """The queries of a project that has none."""
    if own is None and (asked.val < 0 or asked.test < 0 or asked.val + asked.test == 0):
        raise ProjectError(said("ask for at least one query: --val N --test N"))
    rewritten = captions_rows.rewritten_captions(db)
    places = queries.moment_places(db)
    captions = [
        Drawable(caption.caption_id, caption.text.strip(), *places[caption.moment_id])
        for caption in rewritten or corpus.published_captions(db)
    ]
    mine = _own(db, own) if own else []
    if not captions:
        if asked.draws or own is None:
            raise ProjectError(
                said(
                    "there are no captions to draw from: add them on the page Set up or run `{command}`, let "
                    "annotators describe moments, or bring queries of your own",
                    command=steps.importing(project.folder),
                )
            )
        return _only(mine, dry_run)
    drawn = rules.draw(
        captions,
        val=asked.val,
        test=asked.test,
        seed=asked.seed,
        own={query.text: query.split for query in mine},
        stratum=_stratum(captions, asked.stratum, named),
        repeats=asked.repeats,
    )
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
        first=_first(fixed),
        long=_long(fixed),
        dry_run=dry_run,
    )
    return _Plan(mine, drawn, report)


def _only(mine: list[OwnQuery], dry_run: bool) -> _Plan:
    """Own queries, and nothing beside them."""
    fixed = [(query.text, query.split) for query in mine]
    counts = Counter(split for _, split in fixed)
    of_each = (counts[Split.VAL], counts[Split.TEST], counts[Split.TRAIN])
    return _Plan(mine, None, QueryReport(*of_each, len(mine), 0, 0, 0, True, _first(fixed), _long(fixed), dry_run))


def _first(fixed: Iterable[tuple[str, Split]]) -> tuple[tuple[str, Split], ...]:
    return tuple(islice((one for one in fixed if one[1] is not Split.TRAIN), SHOWN))


def _long(fixed: Iterable[tuple[str, Split]]) -> tuple[int, ...]:
    return tuple(len(text) for text, split in fixed if split is not Split.TRAIN and len(text) > LONG_QUERY)


def _own(db: Database, own: OwnFile) -> list[OwnQuery]:
    there = {query.text: query.split for query in queries.query_rows(db)}
    return rules.parse_own(own.data, own.name, own.split, there)


def _named_shows(project: Project, asked: DrawOptions) -> dict[str, str | None]:
    """The show of every video by its name; nothing where the draw is not spread over shows."""
    if asked.stratum is not Stratum.SHOW:
        if asked.show_of is not None:
            raise ProjectError(said("--show-of works only with --stratify show"))
        return {}
    with reading(project.store) as db:
        names = sorted({video for video, _, _ in queries.moment_places(db).values()})
    return rules.named_shows(names, asked.show_of)


def _stratum(
    captions: Sequence[Drawable], stratum: Stratum | None, named: Mapping[str, str | None]
) -> Callable[[Drawable], str] | None:
    if stratum is None:
        return None
    if stratum is Stratum.VIDEO:
        return lambda caption: caption.video
    show = rules.shows(sorted({caption.video for caption in captions}), named)
    return lambda caption: show[caption.video]


def require_no_lists(project: Project) -> None:
    """Refuse to go on once candidate lists are stored, or pairs of an earlier campaign stand in their place.

    Raises:
        ProjectError: there are some; it names what they come from.
    """
    db = project.store.db
    if queries.any_list(db):
        made_with = ", ".join(dict.fromkeys(queries.source_names(db))) or "no encoder"
        raise ProjectError(
            said(
                "candidate lists already exist (made with {encoder}), so queries and lists are fixed", encoder=made_with
            )
        )
    if queries.any_batch(db):
        raise ProjectError(said("the queries came with the pairs of an earlier campaign, so they are fixed"))


@in_charge
def queries_csv(project: Project, by: Lead | Operator) -> str:
    """Return the queries that are judged as CSV, for systems that answer them: number, split, text."""
    found = queries.query_rows(project.store.db, (Split.VAL, Split.TEST))
    return csv_text(("query_id", "split", "query"), ((one.query_id, one.split.value, one.text) for one in found))


@in_charge
def drawn_queries(
    project: Project, by: Lead | Operator, search: str = "", *, first: int = 0, most: int
) -> list[ListedQuery]:
    """Return at most `most` validation and test queries that hold all words of `search`, from number `first` on."""
    return queries.listed(project.store.db, search, first=first, most=most)


@in_charge
def count_drawn_queries(project: Project, by: Lead | Operator, search: str = "") -> int:
    """Count the validation and test queries that hold all words of `search`."""
    return queries.count_listed(project.store.db, search)


@in_charge
def change_query(
    project: Project, by: Lead | Operator, query_id: QueryId, text: str, split: Split, *, seen: str, now: float
) -> bool:
    """Give a query another text or split, as long as there are no candidate lists; whether anything is new.

    Args:
        project: the project.
        by: who changes it; their name goes on record.
        query_id: the query.
        text: its text from now on.
        split: its split from now on.
        seen: the text that they had before them.
        now: seconds since 1970.

    Raises:
        Overtaken: it has another text by now, or is gone.
        ProjectError: there are candidate lists, no text, or that of another query.
    """
    wanted = nfc(text.strip())
    if fault := control_fault(wanted):
        raise ProjectError(fault)
    if not is_visible(wanted):
        raise ProjectError(said("the text is empty: write a query, or remove this one"))
    with writing(project.store) as db:
        require_no_lists(project)
        there = next(iter(queries.find(db, [query_id])), None)
        if there is None:
            raise Overtaken(said("this query is gone: somebody removed it, or took the queries back"))
        if there.text != seen:
            raise Overtaken(
                said("somebody else changed this query to “{given}”: check it, then change it again", given=there.text)
            )
        if other := next((one for one in queries.of_text(db, wanted) if one.query_id != query_id), None):
            raise ProjectError(
                said(
                    "the project already has a {split} query with this text: write another text",
                    split=other.split.value,
                )
            )
        if (there.text, there.split) == (wanted, split):
            return False
        queries.change(db, query_id, wanted, split)
        payload = {"before": there.text, "text": wanted, "split": split.value}
        events.note(db, QUERY_CHANGED, by, "queries", now=now, **payload)
    return True


@in_charge
def remove_queries(project: Project, by: Lead | Operator, query_ids: Sequence[QueryId], *, now: float) -> int:
    """Remove queries, as long as there are no candidate lists; how many were there.

    The captions of drawn ones do not train, as if they had not been there.

    Raises:
        ProjectError: there are candidate lists.
    """
    with writing(project.store) as db:
        require_no_lists(project)
        gone = queries.find(db, query_ids)
        queries.remove(db, [one.query_id for one in gone])
        if gone:
            payload = {"queries": len(gone), "texts": [one.text for one in gone]}
            events.note(db, QUERIES_REMOVED, by, "queries", now=now, **payload)
    return len(gone)
