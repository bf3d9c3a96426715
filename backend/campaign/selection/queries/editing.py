"""Change or remove single queries, as long as nothing hangs on them: the api lets nobody in once there are candidates.

*Writes* query and events. A text that people judge is one query, so no other one may have it.
"""

from collections.abc import Sequence

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.queries import rows as queries
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import QueryId
from backend.core.saying import said
from backend.core.text_files import control_fault
from backend.core.typed_text import is_visible, nfc
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind


def change(
    store: Store, by: Lead | Operator, query_id: QueryId, text: str, split: Split, *, seen: str, now: float
) -> bool:
    """Give a query another text or split; whether anything is new.

    Args:
        store: the store.
        by: who does it.
        query_id: the query.
        text: its text from now on.
        split: its split from now on.
        seen: the text that they had before them.
        now: seconds since 1970.

    Raises:
        Overtaken: it has another text by now, or is gone.
        ProjectError: no text, or that of another query.
    """
    wanted = nfc(text.strip())
    with writing(store) as db:
        there = next(iter(queries.find(db, [query_id])), None)
        if there is None:
            raise Overtaken(said("this query is gone: somebody removed it, or took the queries back"))
        if there.text != seen:
            raise Overtaken(
                said("somebody else changed this query to “{given}”: look at it, and change it again", given=there.text)
            )
        if fault := control_fault(wanted):
            raise ProjectError(fault)
        if not is_visible(wanted):
            raise ProjectError(said("the text is empty: write a query, or remove this one"))
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
        events.record(db, EventKind.QUERY_CHANGED, at=now, actor=by.annotator_id, subject="queries", payload=payload)
    return True


def remove(store: Store, by: Lead | Operator, query_ids: Sequence[QueryId], *, now: float) -> int:
    """Remove queries; how many. The captions of drawn ones do not train, as if they had not been there."""
    with writing(store) as db:
        gone = queries.find(db, query_ids)
        queries.remove(db, [one.query_id for one in gone])
        if gone:
            payload = {"queries": len(gone), "texts": [one.text for one in gone]}
            events.record(
                db, EventKind.QUERIES_REMOVED, at=now, actor=by.annotator_id, subject="queries", payload=payload
            )
    return len(gone)
