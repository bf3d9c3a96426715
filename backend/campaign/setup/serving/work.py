"""Long work as every front end sees it: begun, told of while it lasts, ended, put away.

The front end that begins an act runs it in a process of its own. Each act is all or nothing in the database, so that
one which is cut short leaves nothing half-done.
"""

import secrets
from collections.abc import Mapping

from backend.campaign.nouns import Lead
from backend.campaign.setup.serving import rows, rules
from backend.campaign.setup.serving.model import LongWork, WorkOutcome, WorkState
from backend.core.errors import ProjectError
from backend.core.saying import said
from backend.store.connection import Store, writing


def begin(store: Store, lead: Lead, step: str, title: str, asked: Mapping[str, str], *, now: float) -> str:
    """Note that an act begins, in the place of the last one; the key with which it is told of.

    Args:
        store: the database.
        lead: who asks.
        step: whose act it is.
        title: what people read: `Importing moments.jsonl`.
        asked: kept with the act.
        now: seconds since 1970.

    Raises:
        ProjectError: another one is under way, at whichever front end.
    """
    key = secrets.token_urlsafe(12)
    with writing(store) as db:
        going = look(store, now=now)
        if going is not None and going.state is WorkState.UNDER_WAY:
            raise ProjectError(
                said(
                    "{title} is under way, begun by {by}: wait until it is done, then try again",
                    title=going.title,
                    by=going.by,
                )
            )
        rows.begin_work(db, key, lead.annotator_id, step, title, asked, at=now)
    return key


def look(store: Store, *, now: float) -> LongWork | None:
    """The last act, as it stands; None if there was none, or somebody has put its outcome away."""
    found = rows.long_work(store.db)
    return rules.as_it_stands(found[0], heard_at=found[1], now=now) if found else None


def tell(store: Store, key: str, what: str, done: int, total: int, *, now: float) -> None:
    """How far it has come, and that it is still there."""
    with writing(store) as db:
        rows.tell_work(db, key, what, done, total, at=now)


def end(store: Store, key: str, state: WorkState, outcome: WorkOutcome, refusal: str, *, now: float) -> None:
    """How it ended. One that everybody took for dead may still say so."""
    with writing(store) as db:
        rows.end_work(db, key, state, outcome, refusal, at=now)


def put_away(store: Store, *, now: float) -> None:
    """Show the last act no more; one that is under way stays."""
    with writing(store) as db:
        going = look(store, now=now)
        if going is not None and going.state is not WorkState.UNDER_WAY:
            rows.remove_work(db)
