"""Write the event log: who did what, when and why. The log is append-only."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from backend.core.events import Event
from backend.core.ids import AnnotatorId
from backend.core.messages import as_text
from backend.core.typed_text import has_nul_escape
from backend.store.engine import Database, checked


def record(
    db: Database,
    event: Event,
    *,
    at: float,
    actor: AnnotatorId | None,
    subject: str,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Write one event into the log, in the transaction of the action that it records.

    Args:
        db: the database.
        event: the kind of event.
        at: seconds since 1970.
        actor: the person who acted; None for a command.
        subject: what the event is about, such as `pair:12`.
        payload: details of the event.

    Raises:
        TextRefused: the payload has NUL, which PostgreSQL cannot read from JSON.
    """
    text = msgspec.json.encode(payload or {}, enc_hook=as_text).decode()
    if has_nul_escape(text):
        checked(["\0"])
    db.conn.execute(
        "INSERT INTO event (at, actor, kind, subject, payload) VALUES (?, ?, ?, ?, ?)",
        [at, actor, event.kind, subject, text],
    )


class _Actor(Protocol):
    @property
    def annotator_id(self) -> AnnotatorId | None: ...


def note(db: Database, event: Event, by: _Actor, subject: str, /, *, now: float, **payload: object) -> None:
    """Write one event into the log: who did what; further keyword arguments are stored as its details.

    `by` is a person or the operator, and `subject` what the event is about, such as `pair:12`. See `record` for errors.
    """
    record(db, event, at=now, actor=by.annotator_id, subject=subject, payload=payload)
