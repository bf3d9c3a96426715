"""Draw queries from captions, add a person's own queries, and edit queries until candidates are chosen.

*Reads* captions, and a person's own queries. *Writes* query and events. Rewritten captions are used if there are any,
otherwise published ones. A draw is a seeded random sample for validation and test; the other captions become training
queries. No two validation or test queries have the same text, and no training query has the text of one of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from backend.campaign.corpus.captions import rows as captions_rows
from backend.campaign.corpus.captions.model import CAPTION_CORRECTED
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries import rules
from backend.campaign.selection.queries.model import (
    LONG_QUERY,
    QUERIES_ADDED,
    QUERIES_DRAWN,
    QUERIES_REMOVED,
    QUERIES_TAKEN_BACK,
    QUERY_CHANGED,
    Draw,
    Drawable,
    DrawOptions,
    ListedQuery,
    OwnFile,
    OwnQuery,
    QueryReport,
    Repeats,
    Stratum,
)
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.core.reading import file_bytes
from backend.core.text_files import control_fault, csv_text
from backend.core.typed_text import is_visible, nfc
from backend.store import events
from backend.store.connection import Database, reading, writing


@dataclass(frozen=True, slots=True)
class _Plan:
    """The queries to write into a project, and the report on them.

    `mine` are a person's own queries. `drawn` are those from captions; None if the draw takes none.
    """

    mine: list[OwnQuery]
    drawn: Draw | None
    report: QueryReport


_CHANGES = (QUERY_CHANGED, QUERIES_REMOVED, QUERIES_TAKEN_BACK, CAPTION_CORRECTED)
"""The kinds of events after which the queries may be others than those that were drawn or added."""
SHOWN = 10
"""The most queries to be judged that a report names."""


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
    """Draw validation and test queries from captions, add a person's own queries from a file, or both.

    All other captions become training queries. Own queries may also be added later, as long as there are no candidate
    lists; then nothing is drawn. Without captions, only own queries are possible.

    Args:
        project: the project.
        by: the person who draws them; their name goes on record.
        val: how many validation queries to draw.
        test: how many test queries to draw.
        seed: seeds the draw.
        own: a file of own queries, used beside drawn ones or instead of them.
        own_split: split of own queries from a text file; a table has a column for it.
        stratum: the kind of groups over which the draw is spread in proportion; None draws all texts alike.
        show_of: regular expression that finds the TV show in a video's name; see `rules.named_shows`.
        repeats: whether training captions with the same text become one query each, or one query together.
        dry_run: check everything and write nothing.
        now: seconds since 1970.

    Raises:
        AlreadyDone: exactly these queries were drawn or added before, and nobody changed any since.
        ProjectError: other queries were drawn already, or there are no captions, or fewer distinct texts than queries
            to draw.
        InputError: everything that is wrong with the file of own queries; nothing was stored then.
    """
    options = DrawOptions(val, test, seed, stratum, show_of, repeats)
    file = OwnFile(file_bytes(own), own.name, own_split) if isinstance(own, Path) else own
    named = _named_shows(project, options)  # outside the transaction: somebody's pattern may take a second
    asked = events.asked(options=options, own=file)
    with reading(project.store) if dry_run else writing(project.store) as db:
        any_query = any(queries.split_counts(db).values())
        if any_query:
            kind = QUERIES_DRAWN if options.draws else QUERIES_ADDED
            events.refuse_if_done(db, kind, now=now, undone_by=_CHANGES, asked=asked)
        if file and not options.draws:
            require_no_lists(project)
        if any_query:
            if file is None or options.draws:
                raise ProjectError(
                    said(
                        "this project already has queries, whose splits are fixed. Before the first grade, you "
                        "can take them back on the page Set up or with `{command}`",
                        command=steps.taking_back(project.folder),
                    )
                )
            plan = _only(_own(db, file), dry_run)
        else:
            plan = _plan(project, db, options, file, named, dry_run)
        if dry_run:
            return plan.report
        if file is not None:
            queries.add_own(db, plan.mine)
            counts = Counter(query.split.value for query in plan.mine)
            payload = {"file": file.name, **{split.value: counts[split.value] for split in Split}, "asked": asked}
            events.note(db, QUERIES_ADDED, by, "queries", now=now, **payload)
        if plan.drawn is not None:
            queries.add_drawn(db, plan.drawn.queries)
            trained = sum(query.split is Split.TRAIN for query in plan.drawn.queries)
            payload = {
                **{"seed": options.seed, "val": options.val, "test": options.test, "train": trained},
                **{"removed": plan.drawn.removed, "merged": plan.drawn.merged, "repeats": options.repeats.value},
                **({"spread_over": options.stratum.value, "show_of": options.show_of} if options.stratum else {}),
                "asked": asked,
            }
            events.note(db, QUERIES_DRAWN, by, "queries", now=now, **payload)
    return plan.report


def _plan(
    project: Project,
    db: Database,
    options: DrawOptions,
    own: OwnFile | None,
    named: Mapping[str, str | None],
    dry_run: bool,
) -> _Plan:
    """Decide which queries a project without queries will get: those drawn from captions, and a person's own ones.

    Nothing is written. `named` maps the name of every video to the TV show in it.
    """
    if own is None and (options.val < 0 or options.test < 0 or options.val + options.test == 0):
        raise ProjectError(said("ask for at least one query: --val N --test N"))
    rewritten = captions_rows.rewritten_captions(db)
    places = queries.moment_places(db)
    captions = [
        Drawable(caption.caption_id, caption.text.strip(), *places[caption.moment_id])
        for caption in rewritten or corpus.published_captions(db)
    ]
    mine = _own(db, own) if own else []
    if not captions:
        if options.draws or own is None:
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
        val=options.val,
        test=options.test,
        seed=options.seed,
        own={query.text: query.split for query in mine},
        stratum=_stratum(captions, options.stratum, named),
        repeats=options.repeats,
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
    """Decide which queries a project will get if it takes only a person's own queries, and none from captions."""
    fixed = [(query.text, query.split) for query in mine]
    counts = Counter(split for _, split in fixed)
    of_each = (counts[Split.VAL], counts[Split.TEST], counts[Split.TRAIN])
    return _Plan(mine, None, QueryReport(*of_each, len(mine), 0, 0, 0, True, _first(fixed), _long(fixed), dry_run))


def _first(fixed: Iterable[tuple[str, Split]]) -> tuple[tuple[str, Split], ...]:
    return tuple(islice((one for one in fixed if one[1] is not Split.TRAIN), SHOWN))


def _long(fixed: Iterable[tuple[str, Split]]) -> tuple[int, ...]:
    return tuple(len(text) for text, split in fixed if split is not Split.TRAIN and len(text) > LONG_QUERY)


def _own(db: Database, own: OwnFile) -> list[OwnQuery]:
    split_of = {query.text: query.split for query in queries.query_rows(db)}
    return rules.parse_own(own.data, own.name, own.split, split_of)


def _named_shows(project: Project, options: DrawOptions) -> dict[str, str | None]:
    """Map the name of every video to the TV show in it; empty if the draw is not spread over shows."""
    if options.stratum is not Stratum.SHOW:
        if options.show_of is not None:
            raise ProjectError(said("--show-of works only with --stratify show"))
        return {}
    with reading(project.store) as db:
        names = sorted({video for video, _, _ in queries.moment_places(db).values()})
    return rules.named_shows(names, options.show_of)


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
    """Refuse to go on once candidate lists, or pairs of an earlier campaign, are stored.

    Raises:
        ProjectError: there are some; the message says which encoder or run they come from.
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
    """Return the queries to be judged as CSV (number, split, text), as input for retrieval systems."""
    judged = queries.query_rows(project.store.db, (Split.VAL, Split.TEST))
    return csv_text(
        ("query_id", "split", "query"), ((query.query_id, query.split.value, query.text) for query in judged)
    )


@in_charge
def drawn_queries(
    project: Project, by: Lead | Operator, search: str = "", *, first: int = 0, most: int
) -> list[ListedQuery]:
    """Return the validation and test queries that contain all words of `search`.

    The first `first` of them are skipped, and at most `most` are returned.
    """
    return queries.listed(project.store.db, search, first=first, most=most)


@in_charge
def count_drawn_queries(project: Project, by: Lead | Operator, search: str = "") -> int:
    """Count the validation and test queries that hold all words of `search`."""
    return queries.count_listed(project.store.db, search)


@in_charge
def change_query(
    project: Project, by: Lead | Operator, query_id: QueryId, text: str, split: Split, *, seen: str, now: float
) -> bool:
    """Change the text or split of a query while there are no candidate lists; return whether anything changed.

    Args:
        project: the project.
        by: the person who changes it; their name goes on record.
        query_id: the query.
        text: its text from now on.
        split: its split from now on.
        seen: the text of the query as that person saw it before the change.
        now: seconds since 1970.

    Raises:
        Overtaken: somebody else changed the query's text or removed it.
        ProjectError: there are candidate lists, the text is empty, or another query has the same text.
    """
    new_text = nfc(text.strip())
    if fault := control_fault(new_text):
        raise ProjectError(fault)
    if not is_visible(new_text):
        raise ProjectError(said("the text is empty: write a query, or remove this one"))
    with writing(project.store) as db:
        require_no_lists(project)
        present = next(iter(queries.find(db, [query_id])), None)
        if present is None:
            raise Overtaken(said("this query is gone: somebody removed it, or took the queries back"))
        if present.text != seen:
            raise Overtaken(
                said(
                    "somebody else changed this query to “{given}”: check it, then change it again", given=present.text
                )
            )
        if other := next((query for query in queries.of_text(db, new_text) if query.query_id != query_id), None):
            raise ProjectError(
                said(
                    "the project already has a {split} query with this text: write another text",
                    split=other.split.value,
                )
            )
        if (present.text, present.split) == (new_text, split):
            return False
        queries.change(db, query_id, new_text, split)
        payload = {"before": present.text, "text": new_text, "split": split.value}
        events.note(db, QUERY_CHANGED, by, "queries", now=now, **payload)
    return True


@in_charge
def remove_queries(project: Project, by: Lead | Operator, query_ids: Sequence[QueryId], *, now: float) -> int:
    """Remove queries while there are no candidate lists; return how many were removed.

    The captions of removed queries do not become training queries.

    Raises:
        ProjectError: there are candidate lists.
    """
    with writing(project.store) as db:
        require_no_lists(project)
        gone = queries.find(db, query_ids)
        queries.remove(db, [query.query_id for query in gone])
        if gone:
            payload = {"queries": len(gone), "texts": [query.text for query in gone]}
            events.note(db, QUERIES_REMOVED, by, "queries", now=now, **payload)
    return len(gone)
