"""Webhooks on the page Settings, and the rounds beside a server: when they work, and that nothing waits for them."""

from collections.abc import Callable

import anyio
import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.screens.settings.webhooks import standing
from annotate_app.server import webhooks
from annotate_app.server.webhooks import FLAGS_EVERY_S, LOOK_EVERY_S, Rounds
from backend.campaign.monitoring.webhooks.managing import (
    add_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
    send_test,
)
from backend.campaign.monitoring.webhooks.model import CHOOSABLE, Delivery, DeliveryState, Topic
from backend.campaign.monitoring.webhooks.rounds import work_round
from backend.campaign.nouns import OPERATOR
from reading import words
from small_project import SmallProject
from support import NOW

Open = Callable[..., AppTest]
URL = "https://hooks.example.org/reelrank?room=7"


def test_a_lead_adds_tries_and_removes_one(open_page_of: Open, real_project: SmallProject) -> None:
    project, lead = real_project.project, real_project.lead
    app = open_page_of("settings")
    app.text_input(key="webhook_url").input("http://hooks.example.org/")
    app.button(key="FormSubmitter:webhook-Add webhook").click().run()
    assert "The address has to begin with https://" in words(app) or "the address has to begin" in words(app)
    assert app.text_input(key="webhook_url").value == "http://hooks.example.org/"
    app.text_input(key="webhook_url").input(URL)
    app.multiselect(key="webhook_events").set_value([Topic.BATCH_DONE, Topic.RELEASE_MADE])
    app.button(key="FormSubmitter:webhook-Add webhook").click().run()
    (secret,) = [code.value for code in app.code if code.value.startswith("whsec_")]
    assert app.text_input(key="webhook_url").value == ""
    assert secret not in words(app.run())
    (webhook,) = list_webhooks(project, lead)
    assert (webhook.url, webhook.topics) == (URL, (Topic.BATCH_DONE, Topic.RELEASE_MADE))
    app.button(key=f"webhook-test-{webhook.webhook_id}").click().run()
    (sent,) = list_deliveries(project, lead)
    assert sent.topic is Topic.TEST
    assert "The test is sent within seconds." in words(app)
    app.button(key=f"resend-{sent.delivery_id}").click().run()
    assert "The message is sent again within seconds." in words(app)
    app.button(key=f"webhook-remove-{webhook.webhook_id}").click().run()
    assert "The webhook to hooks.example.org is removed." in words(app)
    assert list_webhooks(project, lead) == []


def test_how_a_message_stands_is_told_in_words() -> None:
    message = Delivery(1, 1, "msg_1", Topic.TEST, "{}", NOW, DeliveryState.WAITING, NOW)
    assert standing(message) == "waiting"
    tried = Delivery(1, 1, "m", Topic.TEST, "{}", NOW, DeliveryState.FAILED, NOW, 8, NOW, 500)
    assert standing(tried) == "failed · answer 500 · 8 attempts"
    unsent = Delivery(1, 1, "m", Topic.TEST, "{}", NOW, DeliveryState.WAITING, NOW, 1, NOW, None, "no answer: x")
    assert standing(unsent) == "waiting · no answer: x · 1 attempt"


class TestRounds:
    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
        """What each round was asked: whether it looks, and with flags. It runs in this process."""
        asked: list[tuple[bool, bool]] = []

        class Here:
            def submit(self, _round: object, _folder: object, looks: bool, with_flags: bool) -> "Here":
                asked.append((looks, with_flags))
                return self

            def result(self) -> int:
                return 0

        monkeypatch.setattr(webhooks.processes, "pool", lambda *_, **__: Here())
        return asked

    def test_it_looks_again_in_time_after_the_clock_jumped(
        self, real_project: SmallProject, asked: list[tuple[bool, bool]], jump: tuple[float, float]
    ) -> None:
        project, (before, after) = real_project.project, jump
        clock = [before]
        rounds = Rounds(lambda: project, lambda: clock[0])
        add_webhook(project, OPERATOR, URL, CHOOSABLE, now=before)
        rounds.step()
        add_webhook(project, OPERATOR, f"{URL}8", CHOOSABLE, now=after)
        clock[0] = after + FLAGS_EVERY_S
        rounds.step()
        assert asked == [(True, True)] * 2

    def test_one_works_when_something_happened_or_is_due(
        self, real_project: SmallProject, asked: list[tuple[bool, bool]]
    ) -> None:
        project, clock = real_project.project, [NOW]
        rounds = Rounds(lambda: project, lambda: clock[0])
        assert rounds.step() is None
        assert asked == [], "without a webhook there is no worker"
        number, _ = add_webhook(project, OPERATOR, URL, CHOOSABLE, now=NOW)
        rounds.step()
        rounds.step()
        assert asked == [(True, True)], "nothing happened since"
        send_test(project, OPERATOR, number, now=clock[0])
        rounds.step()
        assert asked == [(True, True), (False, False)]
        work_round(project, looks=False, with_flags=False, clock=lambda: clock[0])
        asked.clear()
        real_project.note("Ana", 3, 1, "a note")
        other, _ = add_webhook(project, OPERATOR, f"{URL}8", CHOOSABLE, now=NOW)  # an event
        rounds.step()
        assert asked == [], "not so soon"
        clock[0] += LOOK_EVERY_S
        rounds.step()
        assert asked[-1] == (True, False)
        clock[0] += FLAGS_EVERY_S
        rounds.step()
        assert asked[-1] == (True, True), "flags come with the next look that is late enough, though nothing happened"
        asked.clear()
        for webhook in (number, other):
            remove_webhook(project, OPERATOR, webhook, now=NOW)
        clock[0] += FLAGS_EVERY_S
        assert rounds.step() is None
        assert asked == []

    def test_a_round_that_fails_is_logged_and_the_next_one_comes(
        self, real_project: SmallProject, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        steps: list[int] = []
        monkeypatch.setattr(webhooks, "EVERY_S", 0.001)

        def step(_rounds: Rounds) -> None:
            steps.append(1)
            raise RuntimeError("of a library")

        monkeypatch.setattr(Rounds, "step", step)

        async def few() -> None:
            with anyio.move_on_after(10):
                async with anyio.create_task_group() as group:
                    group.start_soon(Rounds(lambda: real_project.project).run)
                    while len(steps) < 3:
                        await anyio.sleep(0.001)
                    group.cancel_scope.cancel()

        anyio.run(few)
        assert len(steps) >= 3
        assert "A round of webhooks failed" in caplog.text
