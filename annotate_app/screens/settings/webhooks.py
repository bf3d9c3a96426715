"""Webhooks on the page "Settings": add, try and remove them, and send messages again."""

import time
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, trn
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from backend.campaign.monitoring.webhooks.managing import (
    add_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
    resend,
    send_test,
)
from backend.campaign.monitoring.webhooks.model import CHOOSABLE, Delivery, DeliveryState, Topic
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project

_TOPICS = {
    Topic.BATCH_DONE: marked("Batch finished"),
    Topic.RELEASE_MADE: marked("Release made"),
    Topic.FLAG_RAISED: marked("Quality flag raised"),
    Topic.TEST: marked("Test"),
}
_STATES = {
    DeliveryState.WAITING: marked("waiting"),
    DeliveryState.DELIVERED: marked("delivered"),
    DeliveryState.FAILED: marked("failed"),
}
_SHOWN = 20
_EXAMPLE = "https://example.org/hook"
_URL, _EVENTS, _SECRET, _MADE = "webhook_url", "webhook_events", "webhook_secret", "webhook_made"


@look.lead_callback("webhooks_problem")
def add(project: Project, lead: Person) -> None:
    """Add the webhook that was entered in the form, empty the form, and show the webhook's secret once."""
    state = st.session_state
    topics = tuple(state[_EVENTS])
    _, state[_MADE] = add_webhook(project, lead, state[_URL], topics, state[_SECRET], now=time.time())
    state[_URL] = state[_SECRET] = ""


@look.lead_callback("webhooks_problem")
def remove(project: Project, lead: Person, webhook_id: int) -> None:
    """Remove a webhook and its messages."""
    host = remove_webhook(project, lead, webhook_id, now=time.time())
    st.session_state["webhooks_done"] = tr("The webhook to {host} is removed.", host=host)


@look.lead_callback("webhooks_problem")
def test(project: Project, lead: Person, webhook_id: int) -> None:
    """Send a test message to a webhook."""
    send_test(project, lead, webhook_id, now=time.time())
    st.session_state["webhooks_done"] = tr("The test is sent within seconds. Press Refresh to see the answer.")


@look.lead_callback("webhooks_problem")
def again(project: Project, lead: Person, delivery_id: int) -> None:
    """Send a message to its webhook again. `delivery_id` is the number of the message."""
    resend(project, lead, delivery_id, now=time.time())
    st.session_state["webhooks_done"] = tr("The message is sent again within seconds.")


def draw(project: Project, lead: Person) -> None:
    """Draw the webhooks, the last messages to them, and the form that adds one."""
    st.header(tr("Webhooks"), anchor=False)
    st.markdown(tr("Another program can be told what happens here, by a signed request with ids and counts."))
    look.outcome("webhooks")
    if made := st.session_state.pop(_MADE, ""):
        st.success(tr("The webhook is added. Give this secret to its receiver. It is not shown again."))
        st.code(made, language=None)
    webhooks = list_webhooks(project, lead)
    for webhook in webhooks:
        with st.container(horizontal=True, vertical_alignment="center", key=f"webhook-{webhook.webhook_id}"):
            topics = ", ".join(tr(_TOPICS[topic]) for topic in webhook.topics)
            added = tr("since {when}", when=wording.when(webhook.added_at, st.context.timezone))
            facts = f"{topics} · {added}" + (f" · {webhook.added_by}" if webhook.added_by else "")
            st.markdown(f"**{plain(webhook.url)}**  \n{plain(facts)}", width="stretch")
            st.button(
                tr("Send a test"), key=f"webhook-test-{webhook.webhook_id}", on_click=test, args=(webhook.webhook_id,)
            )
            with st.popover(tr("Remove"), key=f"webhook-removing-{webhook.webhook_id}"):
                st.markdown(tr("Messages that wait are not sent any more."))
                st.button(
                    tr("Remove webhook"),
                    key=f"webhook-remove-{webhook.webhook_id}",
                    type="primary",
                    on_click=remove,
                    args=(webhook.webhook_id,),
                )
    if webhooks:
        _deliveries(project, lead, {webhook.webhook_id: webhook.url for webhook in webhooks})
    with st.expander(tr("Add a webhook"), key="webhook-add"), st.form("webhook", border=False):
        st.text_input(tr("Address"), key=_URL, max_chars=500, placeholder=_EXAMPLE)
        st.multiselect(
            tr("Events"), CHOOSABLE, default=CHOOSABLE, format_func=lambda topic: tr(_TOPICS[topic]), key=_EVENTS
        )
        st.text_input(
            tr("Secret (optional)"),
            key=_SECRET,
            type="password",
            autocomplete="off",
            help=tr("It signs the messages: whsec_ and 24 to 64 bytes in base64. Leave it empty to get a new one."),
        )
        st.form_submit_button(tr("Add webhook"), on_click=add)


def _deliveries(project: Project, lead: Person, urls: dict[int, str]) -> None:
    """Draw the last messages to webhooks, each with its state and a button that sends it again.

    `urls` maps the id of each webhook to its URL.
    """
    sent = list_deliveries(project, lead, _SHOWN)
    if not sent:
        return
    with st.expander(trn("The last message", "The last {n} messages", len(sent)), key="webhook-messages"):
        st.button(tr("Refresh"), key="webhook-refresh")
        for delivery in sent:
            with st.container(horizontal=True, vertical_alignment="center", key=f"message-{delivery.delivery_id}"):
                when = wording.when(delivery.tried_at or delivery.made_at, st.context.timezone)
                st.html(
                    f"<b>{tr(_TOPICS[delivery.topic])}</b> · {escape(urls[delivery.webhook_id])}"
                    f"<br><small>{escape(when)} · {escape(standing(delivery))}</small>",
                    width="stretch",
                )
                st.button(
                    tr("Send again"), key=f"resend-{delivery.delivery_id}", on_click=again, args=(delivery.delivery_id,)
                )


def standing(delivery: Delivery) -> str:
    """Return in words how the delivery of a message stands, such as `failed · answer 500 · 8 attempts`."""
    answer = tr("answer {status}", status=delivery.status) if delivery.status else delivery.problem
    attempts = trn("{n} attempt", "{n} attempts", delivery.attempts) if delivery.attempts else ""
    return " · ".join(filter(None, (tr(_STATES[delivery.state]), answer, attempts)))
