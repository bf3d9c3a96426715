"""SQL for webhooks: their addresses, the events that were found for them, and the messages to them."""

import sqlite3
from collections.abc import Iterable

import msgspec

from backend.campaign.monitoring.webhooks.model import (
    BACKOFF_S,
    KEPT_DELIVERIES,
    Delivery,
    DeliveryState,
    Occurrence,
    Topic,
    Webhook,
)
from backend.core.ids import AnnotatorId
from backend.store.engine import Database, insert_returning_id
from backend.store.events import newest


def add(db: Database, url: str, secret: str, topics: Iterable[Topic], by: AnnotatorId | None, *, at: float) -> int:
    """Store a webhook, and return its id."""
    encoded = msgspec.json.encode([topic.value for topic in topics]).decode()
    return insert_returning_id(
        db,
        "INSERT INTO webhook (url, secret, topics, added_by, added_at) VALUES (?, ?, ?, ?, ?) RETURNING webhook_id",
        [url, secret, encoded, by, at],
    )


def webhooks(db: Database) -> list[Webhook]:
    """Return all webhooks, in the order in which they were added."""
    rows = db.conn.execute(
        "SELECT w.*, a.name FROM webhook w LEFT JOIN annotator a ON a.annotator_id = w.added_by ORDER BY w.webhook_id"
    )
    return [
        Webhook(
            row["webhook_id"],
            row["url"],
            tuple(msgspec.json.decode(row["topics"], type=list[Topic])),
            row["name"],
            row["added_at"],
        )
        for row in rows
    ]


def secret_and_url(db: Database, webhook_id: int) -> tuple[str, str] | None:
    """Return (secret, address) of a webhook; None if it was removed."""
    row = db.conn.execute("SELECT secret, url FROM webhook WHERE webhook_id = ?", [webhook_id]).fetchone()
    return (row[0], row[1]) if row else None


def remove(db: Database, webhook_id: int) -> None:
    """Delete a webhook and all messages to it."""
    for table in ("webhook_delivery", "webhook"):
        db.conn.execute(f"DELETE FROM {table} WHERE webhook_id = ?", [webhook_id])


def known(db: Database, topic: Topic) -> set[str]:
    """Return which subjects of a topic, such as the ids of finished batches, were already found and stored.

    No further messages are made about them.
    """
    return {row[0] for row in db.conn.execute("SELECT subject FROM webhook_known WHERE topic = ?", [topic.value])}


def add_known(db: Database, topic: Topic, subjects: Iterable[str]) -> None:
    """Store that these subjects of a topic, such as the ids of finished batches, were found."""
    db.conn.executemany(
        "INSERT INTO webhook_known (topic, subject) VALUES (?, ?)", [[topic.value, subject] for subject in subjects]
    )


def forget_known(db: Database, topic: Topic, subjects: Iterable[str]) -> None:
    """Delete stored subjects of a topic, for example quality flags that are not raised any more.

    If such a flag is raised again, webhooks get a new message.
    """
    db.conn.executemany(
        "DELETE FROM webhook_known WHERE topic = ? AND subject = ?", [[topic.value, subject] for subject in subjects]
    )


def finished_batches(db: Database) -> list[Occurrence]:
    """Return the batches that are finished: each of their pairs has a relevance or was discarded.

    The counts say how many pairs got a relevance from grades, were discarded, or were decided by a lead. Probes, which
    are graded only to learn how deep judging must go, are left out.
    """
    rows = db.conn.execute(
        "SELECT b.batch_id, b.query_id, b.number, count(*) AS pairs, sum(c.verdict = 'consensus') AS consensus, "
        "sum(c.verdict = 'discarded') AS discarded, sum(c.verdict = 'adjudicated') AS adjudicated "
        "FROM batch b JOIN pair p USING (batch_id) LEFT JOIN consensus c USING (pair_id) WHERE b.number IS NOT NULL "
        "GROUP BY b.batch_id, b.query_id, b.number "
        "HAVING count(*) = sum(coalesce(c.verdict IN ('consensus', 'discarded', 'adjudicated'), FALSE)) ORDER BY 1"
    )
    return [
        Occurrence(
            Topic.BATCH_DONE,
            str(row["batch_id"]),
            {
                **{"query_id": row["query_id"], "batch": row["number"], "pairs": row["pairs"]},
                **{name: int(row[name]) for name in ("consensus", "discarded", "adjudicated")},
            },
        )
        for row in rows
    ]


def releases(db: Database) -> list[Occurrence]:
    """Return all releases that were not removed."""
    rows = db.conn.execute(
        'SELECT release_id, sha256 FROM "release" '
        "WHERE release_id NOT IN (SELECT release_id FROM release_removal) ORDER BY release_id"
    )
    return [
        Occurrence(
            Topic.RELEASE_MADE, str(row["release_id"]), {"release_id": row["release_id"], "sha256": row["sha256"]}
        )
        for row in rows
    ]


def last_change(db: Database) -> tuple[str, str]:
    """Return texts that change with each grade and with each recorded event."""
    row = db.conn.execute(f"SELECT {newest('judgement', 'judgement_id')}, {newest('event', 'event_id')}").fetchone()
    return row[0], row[1]


def add_delivery(db: Database, webhook_id: int, key: str, topic: Topic, body: str, *, at: float) -> int:
    """Store a message to be sent at once, and return its number.

    Of the webhook's delivered and failed messages, only the newest `KEPT_DELIVERIES` are kept.
    """
    db.conn.execute(
        "DELETE FROM webhook_delivery WHERE webhook_id = :hook AND state <> 'waiting' AND delivery_id <= ("
        "SELECT coalesce(min(delivery_id), 0) FROM (SELECT delivery_id FROM webhook_delivery WHERE webhook_id = :hook "
        "AND state <> 'waiting' ORDER BY delivery_id DESC LIMIT :kept) AS newest) AND (SELECT count(*) FROM "
        "webhook_delivery WHERE webhook_id = :hook AND state <> 'waiting') >= :kept",
        {"hook": webhook_id, "kept": KEPT_DELIVERIES},
    )
    return insert_returning_id(
        db,
        "INSERT INTO webhook_delivery (webhook_id, message_key, topic, body, made_at, due_at) "
        "VALUES (?, ?, ?, ?, ?, ?) RETURNING delivery_id",
        [webhook_id, key, topic.value, body, at, at],
    )


def deliveries(db: Database, most: int) -> list[Delivery]:
    """Return the newest messages of all webhooks, at most `most`, newest first."""
    rows = db.conn.execute("SELECT * FROM webhook_delivery ORDER BY delivery_id DESC LIMIT ?", [most])
    return [_delivery(row) for row in rows]


# What is due later than the longest wait from now was made before the clock was set back.
_DUE = f"state = 'waiting' AND (due_at <= :now OR due_at > :now + {BACKOFF_S[-1]})"


def is_due(db: Database, *, now: float) -> bool:
    """Return whether a message waits to be tried now."""
    cursor = db.conn.execute(f"SELECT 1 FROM webhook_delivery WHERE {_DUE} LIMIT 1", {"now": now})
    return cursor.fetchone() is not None


def take_due(db: Database, most: int, *, now: float, until: float) -> list[Delivery]:
    """Return up to `most` messages to be sent now, and count an attempt for each.

    Until the time `until`, no other process gets them. Times are in seconds since 1970.
    """
    rows = db.conn.execute(
        f"SELECT delivery_id FROM webhook_delivery WHERE {_DUE} ORDER BY due_at LIMIT :most",
        {"now": now, "most": most},
    ).fetchall()
    taken = []
    for (number,) in rows:
        db.conn.execute(
            "UPDATE webhook_delivery SET due_at = ?, attempts = attempts + 1, tried_at = ? WHERE delivery_id = ?",
            [until, now, number],
        )
        row = db.conn.execute("SELECT * FROM webhook_delivery WHERE delivery_id = ?", [number]).fetchone()
        taken.append(_delivery(row))
    return taken


def note_attempt(
    db: Database, number: int, state: DeliveryState, status: int | None, problem: str, *, due_at: float
) -> None:
    """Store how an attempt to send a message ended, and when the next attempt is due.

    `number` is the message's number. `status` is the HTTP status of the answer; None without an answer, and `problem`
    then says why. If the webhook was removed meanwhile, nothing happens.
    """
    db.conn.execute(
        "UPDATE webhook_delivery SET state = ?, status = ?, problem = ?, due_at = ? WHERE delivery_id = ?",
        [state.value, status, problem, due_at, number],
    )


def send_again(db: Database, number: int, *, at: float) -> bool:
    """Mark a message to be sent again at time `at`, and set its number of attempts to 0.

    Return False if there is no such message.
    """
    statement = "UPDATE webhook_delivery SET state = 'waiting', attempts = 0, due_at = ? WHERE delivery_id = ?"
    return db.conn.execute(statement, [at, number]).rowcount > 0


def _delivery(row: sqlite3.Row) -> Delivery:
    return Delivery(
        delivery_id=row["delivery_id"],
        webhook_id=row["webhook_id"],
        message_key=row["message_key"],
        topic=Topic(row["topic"]),
        body=row["body"],
        made_at=row["made_at"],
        state=DeliveryState(row["state"]),
        due_at=row["due_at"],
        attempts=row["attempts"],
        tried_at=row["tried_at"],
        status=row["status"],
        problem=row["problem"],
    )
