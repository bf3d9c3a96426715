"""Commands for webhooks: `reelrank webhooks add|list|remove|test|resend`."""

from typing import Annotated

from backend.api import open_project
from backend.campaign.monitoring.webhooks.model import CHOOSABLE, Topic
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_group
from backend.cli.options import Dir, Json, argument, option
from backend.cli.output import end_with_json, fail, minute, now, say, table

_Webhook = Annotated[int, argument("WEBHOOK", "Number of the webhook, as `list` shows it.")]


def add(
    folder: Dir,
    url: Annotated[str, argument("URL", "Where to send messages: an https address.")],
    events: Annotated[
        str | None, option("--events LIST", f"What to tell: {', '.join(CHOOSABLE)}. Default: all of them.")
    ] = None,
    secret: Annotated[
        str, option("--secret", "The secret that signs messages, whsec_ and base64. Default: a new one.")
    ] = "",
) -> None:
    """Add a webhook, which tells a program of batches, releases and flags.

    The secret is printed once. Messages are signed as Standard Webhooks says, and sent while the project is served.

    Example: reelrank webhooks add my-project https://example.org/hook --events batch.done,release.made
    """
    from backend.campaign.monitoring.webhooks import managing

    names = [name.strip() for name in events.split(",")] if events is not None else list(CHOOSABLE)
    if unknown := [name for name in names if name not in {*CHOOSABLE}]:
        fail(f"{unknown[0]!r} is no event: choose from {', '.join(CHOOSABLE)}")
    topics = tuple(map(Topic, names))
    number, made = managing.add_webhook(open_project(folder), OPERATOR, url, topics, secret, now=now())
    say(f"Webhook {number} is added. Give its secret to the receiver; it is not shown again:")
    say(made)


def list_webhooks(folder: Dir, json: Json = False) -> None:
    """List webhooks, and the last messages to them.

    Example: reelrank webhooks list my-project
    """
    from backend.campaign.monitoring.webhooks import managing

    project = open_project(folder)
    webhooks = managing.list_webhooks(project, OPERATOR)
    deliveries = managing.list_deliveries(project, OPERATOR)
    if json:
        end_with_json({"webhooks": webhooks, "deliveries": deliveries})
    if not webhooks:
        say("There is no webhook.")
        return
    table(
        ("webhook", "address", "events"),
        [(webhook.webhook_id, webhook.url, ", ".join(webhook.topics)) for webhook in webhooks],
        left=(True,) * 3,
    )
    if deliveries:
        say("")
        rows = [
            (
                *(sent.delivery_id, sent.webhook_id, sent.topic.value, minute(sent.made_at), sent.state.value),
                *(sent.attempts, sent.status or sent.problem or "-"),
            )
            for sent in deliveries
        ]
        table(("message", "webhook", "event", "made", "state", "attempts", "answer"), rows, left=(True,) * 7)


def remove(folder: Dir, webhook: _Webhook) -> None:
    """Remove a webhook, and all messages to it.

    Example: reelrank webhooks remove my-project 1
    """
    from backend.campaign.monitoring.webhooks import managing

    host = managing.remove_webhook(open_project(folder), OPERATOR, webhook, now=now())
    say(f"The webhook to {host} is removed.")


def test(folder: Dir, webhook: _Webhook) -> None:
    """Send an empty message to a webhook, while the project is served.

    Example: reelrank webhooks test my-project 1
    """
    from backend.campaign.monitoring.webhooks import managing

    number = managing.send_test(open_project(folder), OPERATOR, webhook, now=now())
    say(f"Message {number} is sent within seconds if the project is served. See: reelrank webhooks list {folder}")


def resend(folder: Dir, message: Annotated[int, argument("MESSAGE", "Number of the message.")]) -> None:
    """Send a message again.

    Example: reelrank webhooks resend my-project 12
    """
    from backend.campaign.monitoring.webhooks import managing

    managing.resend(open_project(folder), OPERATOR, message, now=now())
    say(f"Message {message} is sent again within seconds if the project is served.")


add_group(
    "webhooks",
    "Tell other programs of finished batches, releases, flags.",
    "add my-project https://example.org/hook",
    {"add": add, "list": list_webhooks, "remove": remove, "test": test, "resend": resend},
)
