"""Find out what happened in the project, and send messages about it to webhooks.

A server calls `work_round` in a worker process every few seconds if there is something to do. No request waits for it.

What is finished, released or flagged now is compared with the table `webhook_known`, which has what was found before.
So no other feature has to know of webhooks. Changes that a command made while no server ran are found too.

Several servers may do this at once: each message is sent by one of them at a time. If a server is killed while it sends
a message, the message is sent again with the same key. So a receiver gets it at least once.

*Reads* batches, verdicts, releases, grades. *Reads* and *writes* webhook_known, webhook_delivery.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import msgspec

from backend.campaign.monitoring.quality.flags import flags
from backend.campaign.monitoring.webhooks import rows, sending
from backend.campaign.monitoring.webhooks.model import (
    AT_A_TIME,
    BACKOFF_S,
    GONE,
    LEASE_S,
    MOST_ATTEMPTS,
    Delivery,
    DeliveryState,
    Message,
    Occurrence,
    Topic,
)
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.people.permissions import public
from backend.campaign.setup.project.folder import Project
from backend.store.connection import Database, reading, writing

MOST_A_ROUND = 10 * AT_A_TIME
"""The most messages that one round sends."""


@public
def last_change(project: Project) -> tuple[str, str] | None:
    """Return two texts that change when anything happens in the project; None if it has no webhook."""
    with reading(project.store) as db:
        return rows.last_change(db) if rows.webhooks(db) else None


@public
def is_due(project: Project, *, now: float) -> bool:
    """Return whether a message to a webhook waits to be sent now."""
    return rows.is_due(project.store.db, now=now)


@public
def work_round(
    project: Project, *, looks: bool, with_flags: bool, clock: Callable[[], float] = lambda: time.time()
) -> int:
    """Look for new events, send the messages that are due, and return how many were delivered.

    Args:
        project: the project.
        looks: whether to look for new events. Otherwise messages are only sent.
        with_flags: whether to look for new quality flags too, if a webhook gets messages about them. This reads all
            grades.
        clock: returns seconds since 1970.
    """
    if looks:
        wanted = any(Topic.FLAG_RAISED in webhook.topics for webhook in rows.webhooks(project.store.db))
        look_for_news(project, now=clock(), with_flags=with_flags and wanted)
    delivered = 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for _ in range(0, MOST_A_ROUND, AT_A_TIME):
            with writing(project.store) as db:
                taken = rows.take_due(db, AT_A_TIME, now=clock(), until=clock() + LEASE_S)
            if not taken:
                break
            delivered += sum(pool.map(lambda delivery: _deliver(project, delivery, clock), taken))
    return delivered


def look_for_news(project: Project, *, now: float, with_flags: bool) -> None:
    """Find what became true since the last call, and store a message about it for each webhook that wants it.

    This covers finished batches, releases and, with `with_flags`, raised quality flags. What was found is stored, so
    that it is reported only once. This also happens if there is no webhook; then no message is stored.
    """
    raised = _raised_flags(project) if with_flags else []
    with writing(project.store) as db:
        true_now = {Topic.BATCH_DONE: rows.finished_batches(db), Topic.RELEASE_MADE: rows.releases(db)}
        if with_flags:
            true_now[Topic.FLAG_RAISED] = raised
        webhooks = rows.webhooks(db)
        for topic, occurrences in true_now.items():
            known = rows.known(db, topic)
            news = [occurrence for occurrence in occurrences if occurrence.subject not in known]
            for occurrence in news:
                for webhook in webhooks:
                    if topic in webhook.topics:
                        new_message(db, webhook.webhook_id, topic, occurrence.data, now=now)
            rows.add_known(db, topic, [occurrence.subject for occurrence in news])
            rows.forget_known(db, topic, known - {occurrence.subject for occurrence in occurrences})


def new_message(db: Database, webhook_id: int, topic: Topic, data: Mapping[str, int | str], *, now: float) -> int:
    """Store a message to a webhook, and return its number."""
    timestamp = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    body = msgspec.json.encode(Message(topic.value, timestamp, dict(data))).decode()
    return rows.add_delivery(db, webhook_id, f"msg_{secrets.token_hex(12)}", topic, body, at=now)


def _raised_flags(project: Project) -> list[Occurrence]:
    return [
        Occurrence(
            Topic.FLAG_RAISED,
            f"{person.annotator_id}:{flag.kind.value}",
            {"annotator_id": person.annotator_id, "flag": flag.kind.value, "grades": flag.n},
        )
        for person in flags(project, OPERATOR)
        for flag in person.raised
    ]


def _deliver(project: Project, delivery: Delivery, clock: Callable[[], float]) -> bool:
    """Try to deliver a message, store the result, and return whether it was delivered.

    The attempt must be counted in `delivery.attempts` already.
    """
    try:
        to = rows.secret_and_url(project.store.db, delivery.webhook_id)
        if to is None:
            return False
        status, problem = None, ""
        try:
            status = sending.send(
                to[1],
                to[0],
                delivery.message_key,
                delivery.body,
                inside=project.settings.webhook_hosts,
                timestamp=int(clock()),
            )
        except sending.NotSent as error:
            problem = str(error)
        arrived = status is not None and 200 <= status < 300
        is_last = delivery.attempts >= MOST_ATTEMPTS or status == GONE
        state = DeliveryState.DELIVERED if arrived else DeliveryState.FAILED if is_last else DeliveryState.WAITING
        due_at = clock() + (0 if arrived or is_last else BACKOFF_S[delivery.attempts - 1])
        with writing(project.store) as db:
            rows.note_attempt(db, delivery.delivery_id, state, status, problem, due_at=due_at)
        return arrived
    finally:
        project.store.close()  # this thread's own connection
