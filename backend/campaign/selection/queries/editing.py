"""List the queries that are judged; change or remove single ones, as long as there are no candidate lists.

*Reads* query. *Writes* query and events. A text that people judge is one query, so no other one may have it.
"""

from collections.abc import Sequence

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.queries import rows
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QUERIES_REMOVED, QUERY_CHANGED, ListedQuery
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.core.text_files import control_fault, csv_text
from backend.core.typed_text import is_visible, nfc
from backend.store import events
from backend.store.connection import writing


def require_no_lists(project: Project) -> None:
    """Refuse to go on once candidate lists are stored, or pairs of an earlier campaign stand in their place.

    Raises:
        ProjectError: there are some; it names what they come from.
    """
    db = project.store.db
    if rows.any_list(db):
        made_with = ", ".join(dict.fromkeys(rows.source_names(db))) or "no encoder"
        raise ProjectError(
            said("the candidate lists exist already (made with {encoder}); they are the record", encoder=made_with)
        )
    if rows.any_batch(db):
        raise ProjectError(
            said("the pairs of an earlier campaign were imported with their queries; they are the record")
        )


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
                said("somebody else changed this query to “{given}”: look at it, and change it again", given=there.text)
            )
        if other := next((one for one in queries.of_text(db, wanted) if one.query_id != query_id), None):
            raise ProjectError(
                said(
                    "this text is a {split} query of the project already: a text has one query", split=other.split.value
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
