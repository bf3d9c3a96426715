"""Data types and limits of webhooks."""

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from backend.core.events import Event, EventGroup
from backend.core.messages import said

MOST_WEBHOOKS = 20
LONGEST_URL = 500
KEPT_DELIVERIES = 100
"""The most messages of a webhook that are kept, the newest ones; those that wait are kept as well."""
BACKOFF_S = (5, 60, 300, 1_800, 7_200, 18_000, 36_000)
"""Seconds from a failed attempt to the next one. After the last, the message counts as failed: 17.6 hours in all."""
MOST_ATTEMPTS = len(BACKOFF_S) + 1
LEASE_S = 60.0
"""For so long the process that took a message has it to itself. Then another one may try it."""
AT_A_TIME = 4
"""The most messages that one process takes and sends at once."""
GONE = 410
"""The HTTP status with which an address says that it wants no more messages."""


class Topic(StrEnum):
    """The kinds of events about which webhooks get messages. The value is the field `type` of the message."""

    BATCH_DONE = "batch.done"
    """All pairs of a batch are settled."""
    RELEASE_MADE = "release.made"
    FLAG_RAISED = "flag.raised"
    """A quality flag of an annotator is raised."""
    TEST = "test"
    """A lead asked for a message, to try the webhook."""


CHOOSABLE = (Topic.BATCH_DONE, Topic.RELEASE_MADE, Topic.FLAG_RAISED)
"""The topics that leads choose for a webhook; every webhook takes tests."""


class DeliveryState(StrEnum):
    """Whether a message was delivered."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    """No attempt is left, or the address is gone."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address to which messages about the chosen kinds of events (`topics`) are sent.

    Its secret is not included: it is shown only once, when the webhook is added.

    `added_by` is the name of a lead; None if a command added the webhook. `added_at` is in seconds since 1970.
    """

    webhook_id: int
    url: str
    topics: tuple[Topic, ...]
    added_by: str | None
    added_at: float


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message to one webhook, and the state of its delivery. Times are in seconds since 1970.

    `message_key` is the same in all attempts, so a receiver can ignore a message that it has already. `status` is the
    HTTP status of the last answer; None if there was no answer, and `problem` then says why. `due_at` is when the next
    attempt is made, and `tried_at` when the last one was.
    """

    delivery_id: int
    webhook_id: int
    message_key: str
    topic: Topic
    body: str
    made_at: float
    state: DeliveryState
    due_at: float
    attempts: int = 0
    tried_at: float | None = None
    status: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event or state of the project, such as a finished batch, about which each webhook gets one message.

    `subject` identifies it among those of the same topic. `data` is the content of the message: ids and counts, and
    nobody's name.
    """

    topic: Topic
    subject: str
    data: dict[str, int | str]


class Message(msgspec.Struct, frozen=True):
    """The body of a message, as the specification Standard Webhooks has it; `timestamp` is in ISO 8601."""

    type: str
    timestamp: str
    data: dict[str, int | str]


WEBHOOK_ADDED = Event("webhook_added", EventGroup.MATERIAL, said("added a webhook to {host}: {topics}"))
"""webhook, host, topics: neither the whole address nor the secret"""
WEBHOOK_REMOVED = Event("webhook_removed", EventGroup.MATERIAL, said("removed the webhook to {host}"))
"""webhook, host"""
