"""Add and remove webhooks, list messages to them, and send messages again.

*Reads* annotator. *Reads* and *writes* webhook, webhook_known, webhook_delivery. *Writes* events.
"""

import base64
import secrets
from urllib.parse import urlsplit

from backend.campaign.monitoring.webhooks import rows
from backend.campaign.monitoring.webhooks.model import (
    CHOOSABLE,
    MOST_WEBHOOKS,
    WEBHOOK_ADDED,
    WEBHOOK_REMOVED,
    Delivery,
    Topic,
    Webhook,
)
from backend.campaign.monitoring.webhooks.rounds import look_for_news, new_message
from backend.campaign.monitoring.webhooks.sending import SECRET_PREFIX, proper_secret, target_of
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, writing

_SECRET_BYTES = 32


@in_charge
def add_webhook(
    project: Project, by: Lead | Operator, url: str, topics: tuple[Topic, ...], secret: str = "", *, now: float
) -> tuple[int, str]:
    """Add a webhook, and return (its number, its secret). It gets messages about what happens from now on.

    Args:
        project: the project.
        by: the lead or operator who adds it.
        url: the address to which messages are sent: https, or http to a host in the setting `webhook_hosts`.
        topics: the kinds of events that it gets messages about.
        secret: the secret that signs messages; "" makes a new one.
        now: seconds since 1970.

    Raises:
        ProjectError: the address, the topics or the secret are refused, or there are too many webhooks.
    """
    url, secret = url.strip(), secret.strip()
    host = target_of(url, project.settings.webhook_hosts).host
    chosen = tuple(topic for topic in CHOOSABLE if topic in topics)
    if not chosen:
        raise ProjectError(said("choose at least one event that the webhook is told of"))
    secret = secret or SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    proper_secret(secret)
    look_for_news(project, now=now, with_flags=Topic.FLAG_RAISED in chosen)  # what is true by now is no news for it
    with writing(project.store) as db:
        existing = rows.webhooks(db)
        if len(existing) >= MOST_WEBHOOKS:
            raise ProjectError(said("there are {most} webhooks, which is the most: remove one", most=MOST_WEBHOOKS))
        if any(webhook.url == url for webhook in existing):
            raise ProjectError(said("there is a webhook with this address already: remove it first"))
        number = rows.add(db, url, secret, chosen, by.annotator_id, at=now)
        details = {"webhook": number, "host": host, "topics": [topic.value for topic in chosen]}
        events.note(db, WEBHOOK_ADDED, by, f"webhook:{number}", now=now, **details)
    return number, secret


@in_charge
def remove_webhook(project: Project, by: Lead | Operator, webhook_id: int, *, now: float) -> str:
    """Delete a webhook with all messages to it, and return its host.

    Raises:
        ProjectError: there is no such webhook (any more).
    """
    with writing(project.store) as db:
        host = str(urlsplit(_require(db, webhook_id).url).hostname)
        rows.remove(db, webhook_id)
        events.note(db, WEBHOOK_REMOVED, by, f"webhook:{webhook_id}", now=now, webhook=webhook_id, host=host)
    return host


@in_charge
def list_webhooks(project: Project, by: Lead | Operator) -> list[Webhook]:
    """Return all webhooks, without their secrets."""
    return rows.webhooks(project.store.db)


@in_charge
def list_deliveries(project: Project, by: Lead | Operator, most: int = 20) -> list[Delivery]:
    """Return the newest messages to webhooks, at most `most`, newest first."""
    return rows.deliveries(project.store.db, most)


@in_charge
def send_test(project: Project, by: Lead | Operator, webhook_id: int, *, now: float) -> int:
    """Store a test message to a webhook, to be sent within seconds, and return the number of the message.

    Raises:
        ProjectError: there is no such webhook (any more).
    """
    with writing(project.store) as db:
        _require(db, webhook_id)
        return new_message(db, webhook_id, Topic.TEST, {"webhook": webhook_id}, now=now)


@in_charge
def resend(project: Project, by: Lead | Operator, delivery_id: int, *, now: float) -> None:
    """Send a message again within seconds, whether or not it was delivered before.

    It keeps its identifying key, so a receiver can tell that it is the same message.

    Raises:
        ProjectError: there is no such message (any more).
    """
    with writing(project.store) as db:
        if not rows.send_again(db, delivery_id, at=now):
            raise ProjectError(said("there is no such message (any more): reload the page"))


def _require(db: Database, webhook_id: int) -> Webhook:
    for webhook in rows.webhooks(db):
        if webhook.webhook_id == webhook_id:
            return webhook
    raise ProjectError(said("there is no such webhook (any more): reload the page"))
