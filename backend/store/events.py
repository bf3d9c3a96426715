"""Write the event log: who did what, when and why. The log is append-only."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from backend.core.days import done_at
from backend.core.errors import AlreadyDone
from backend.core.events import Event
from backend.core.ids import AnnotatorId
from backend.core.messages import as_text
from backend.core.typed_text import has_nul_escape
from backend.store.engine import Database, checked, run_later


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
    run_later(
        db,
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


RECENT_IDS = 1_000


def newest(table: str, number: str) -> str:
    """Return SQL for a text that changes whenever rows are added to a table, whose ids `number` rise.

    Transactions that run at the same time may end in another order than that of their ids. So the highest id is not
    enough: the number of rows among the last 1,000 ids tells when one of these arrives late.

    >>> newest("event", "event_id").startswith("(SELECT coalesce(max(event_id), 0) || '.' || count(*) FROM event WHERE")
    True
    """
    return (
        f"(SELECT coalesce(max({number}), 0) || '.' || count(*) FROM {table} WHERE {number} > "
        f"(SELECT coalesce(max({number}), 0) - {RECENT_IDS} FROM {table}))"
    )


def asked(**arguments: object) -> str:
    """Return a digest of the arguments of an act, with the content of its files, to store as `asked` in its event."""
    return hashlib.sha256(msgspec.json.encode(arguments, enc_hook=_plain, order="deterministic")).hexdigest()[:32]


def _plain(value: object) -> str:
    return str.__str__(str(value))


def done_before(
    db: Database, event: Event, *, now: float, undone_by: Sequence[Event] = (), subject: str = "", **payload: str
) -> str:
    """Say when and by whom an act was done that is asked for again; "" if it was not, or other acts undid it.

    It was done if an event of its kind has all of `payload` (usually `asked`) and, if given, `subject`. The caller
    knows that its result is there. `undone_by` are the kinds of later events after which it may have changed.
    """
    wanted = "".join(f" AND e.payload ->> '{name}' = ?" for name in payload)
    row = db.conn.execute(
        "SELECT e.event_id, e.at, a.name FROM event e LEFT JOIN annotator a ON a.annotator_id = e.actor "
        f"WHERE e.kind = ? AND (? = '' OR e.subject = ?){wanted} ORDER BY e.event_id DESC LIMIT 1",
        [event.kind, subject, subject, *payload.values()],
    ).fetchone()
    if row is None:
        return ""
    for other in undone_by:
        later = db.conn.execute("SELECT 1 FROM event WHERE kind = ? AND event_id > ? LIMIT 1", [other.kind, row[0]])
        if later.fetchone():
            return ""
    return done_at(row[1], row[2], now)


def refuse_if_done(
    db: Database, event: Event, *, now: float, undone_by: Sequence[Event] = (), subject: str = "", **payload: str
) -> None:
    """Raise `AlreadyDone` with what `done_before` says, if it says anything. Arguments are those of `done_before`."""
    if sentence := done_before(db, event, now=now, undone_by=undone_by, subject=subject, **payload):
        raise AlreadyDone(sentence)


def note_once(
    db: Database,
    event: Event,
    by: _Actor,
    subject: str,
    payload: Mapping[str, object],
    *,
    now: float,
    changed: bool,
    asked: str,
) -> str:
    """Write an event as `note` does, unless nothing `changed` and the same was `asked` before.

    Returns what `done_before` says if the event was not written, so that an act that is run again leaves one event.
    """
    done = "" if changed else done_before(db, event, now=now, subject=subject, asked=asked)
    if not done:
        note(db, event, by, subject, now=now, asked=asked, **payload)
    return done
