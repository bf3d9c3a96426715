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
    """Write one event, in the same transaction as the action that it records.

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
    """Write one event about an action of a person or of the command line; see `record`. Keywords are its payload."""
    record(db, event, at=now, actor=by.annotator_id, subject=subject, payload=payload)
