"""Webhooks: what is told, to whom, how often, and where no message ever goes. On both engines."""

import base64
import hashlib
import hmac
import http.server
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.doctor.database import backup
from backend.campaign.monitoring.quality.model import Flag, FlagKind, PersonFlags
from backend.campaign.monitoring.webhooks import rounds, sending
from backend.campaign.monitoring.webhooks.managing import (
    add_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
    resend,
    send_test,
)
from backend.campaign.monitoring.webhooks.model import (
    BACKOFF_S,
    CHOOSABLE,
    KEPT_DELIVERIES,
    LEASE_S,
    MOST_ATTEMPTS,
    MOST_WEBHOOKS,
    Delivery,
    Topic,
)
from backend.campaign.monitoring.webhooks.rounds import is_due, last_change, look_for_news, work_round
from backend.campaign.monitoring.webhooks.sending import NotSent, is_public, proper_secret, send, target_of
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import NotAllowed, ProjectError
from postgres import SQLITE_FIRST
from support import NOW, PARTLY, Judging

OUTSIDE = "https://hooks.example.org/reelrank?room=7"


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


@pytest.fixture
def project(judging: Judging) -> Project:
    return judging.project


@dataclass
class Clock:
    at: float = NOW

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@dataclass
class Receiver:
    """A program that is told; it answers with these statuses, the last one for ever."""

    statuses: list[int] = field(default_factory=lambda: [204])
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?room=7"


@pytest.fixture
def receiver(project: Project) -> Iterator[Receiver]:
    """One on this machine, to which the operator lets webhooks go."""
    receiver = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            statuses = receiver.statuses
            self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver.port = server.server_port
    allow(project, "127.0.0.1")
    yield receiver
    server.shutdown()
    server.server_close()


def allow(project: Project, *hosts: str) -> None:
    """What the operator writes into reelrank.toml."""
    file = project.folder / "reelrank.toml"
    file.write_text(f"webhook_hosts = {json.dumps(hosts)}\n{file.read_text()}")


def add(project: Project, url: str, topics: tuple[Topic, ...] = CHOOSABLE, secret: str = "") -> tuple[int, str]:
    return add_webhook(project, OPERATOR, url, topics, secret, now=NOW)


def run(project: Project, clock: Clock, *, with_flags: bool = False) -> int:
    return work_round(project, looks=True, with_flags=with_flags, clock=clock)


def bodies(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(body) for _, _, body in receiver.got]


def finish_a_batch(judging: Judging) -> int:
    """Grade every pair of one batch; the id of its query."""
    pairs = judging.pairs()
    query = pairs[0].query_id
    for n, pair in enumerate(pair for pair in pairs if pair.query_id == query):
        for who in (0, 1):
            judging.grade(who, pair.pair, 3, key=f"{who} {n}")
    return int(query)


def raised(*kinds: FlagKind, who: int = 2) -> list[PersonFlags]:
    """The flags of one annotator."""
    flags = tuple(Flag(kind, 0.5, 40, 0.4, True, "told") for kind in kinds)
    return [PersonFlags(who, "Anna", 40, 2.0, flags)]  # type: ignore[arg-type]


class TestNews:
    def test_a_finished_batch_and_a_release_are_told_once(
        self, project: Project, judging: Judging, receiver: Receiver, clock: Clock
    ) -> None:
        _, secret = add(project, receiver.url)
        assert run(project, clock) == 0
        query = finish_a_batch(judging)
        export_release(project, OPERATOR, None, PARTLY, name="v1", now=NOW)
        clock.at += 60
        assert run(project, clock) == 2
        assert run(project, clock) == 0
        receiver.got.sort(key=lambda one: json.loads(one[2])["type"])  # they are sent at once
        batch, release = bodies(receiver)
        assert (batch["type"], datetime.fromisoformat(batch["timestamp"]).timestamp()) == ("batch.done", NOW + 60)
        pairs = batch["data"]["pairs"]
        assert batch["data"] == {
            **{"query_id": query, "batch": 1, "pairs": pairs, "consensus": pairs, "discarded": 0, "adjudicated": 0}
        }
        assert release["data"] == {"release_id": 1, "sha256": release["data"]["sha256"]}
        path, headers, body = receiver.got[0]
        assert path == "/hook?room=7"
        assert headers["content-type"] == "application/json"
        assert headers["webhook-timestamp"] == str(int(NOW + 60))
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{expected}"

    def test_what_was_true_before_is_no_news(
        self, project: Project, judging: Judging, receiver: Receiver, clock: Clock
    ) -> None:
        finish_a_batch(judging)
        number, _ = add(project, receiver.url)
        assert run(project, clock) == 0
        remove_webhook(project, OPERATOR, number, now=NOW)
        export_release(project, OPERATOR, None, PARTLY, name="v1", now=NOW)
        add(project, receiver.url)
        assert run(project, clock) == 0

    def test_another_webhook_keeps_nothing_from_the_first(
        self, project: Project, judging: Judging, receiver: Receiver, clock: Clock
    ) -> None:
        add(project, receiver.url)
        finish_a_batch(judging)
        add(project, f"{receiver.url}8")
        assert run(project, clock) == 1
        assert [path for path, _, _ in receiver.got] == ["/hook?room=7"]

    def test_each_is_told_of_what_was_chosen(
        self, project: Project, judging: Judging, receiver: Receiver, clock: Clock
    ) -> None:
        add(project, receiver.url, (Topic.RELEASE_MADE,))
        add(project, f"{receiver.url}8", (Topic.BATCH_DONE,))
        finish_a_batch(judging)
        assert run(project, clock) == 1
        assert [path for path, _, _ in receiver.got] == ["/hook?room=78"]

    def test_a_flag_is_told_when_it_is_raised_and_when_it_is_raised_anew(
        self, project: Project, receiver: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now: list[PersonFlags] = raised(FlagKind.BIAS)
        monkeypatch.setattr(rounds, "flags", lambda *_: now)
        add(project, receiver.url)
        assert run(project, clock, with_flags=True) == 0
        now[:] = raised(FlagKind.BIAS, FlagKind.DRIFT)
        assert run(project, clock) == 0, "flags are not looked at each time"
        assert run(project, clock, with_flags=True) == 1
        assert bodies(receiver)[0]["data"] == {"annotator_id": 2, "flag": "drift", "grades": 40}
        now[:] = raised(FlagKind.BIAS)
        run(project, clock, with_flags=True)
        now[:] = raised(FlagKind.BIAS, FlagKind.DRIFT)
        assert run(project, clock, with_flags=True) == 1

    def test_flags_are_computed_only_for_who_is_told_of_them(
        self, project: Project, receiver: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rounds, "flags", lambda *_: pytest.fail("all grades are read"))
        add(project, receiver.url, (Topic.BATCH_DONE,))
        run(project, clock, with_flags=True)

    def test_a_message_has_ids_and_counts_and_no_text_of_the_campaign(
        self, project: Project, judging: Judging, receiver: Receiver, clock: Clock
    ) -> None:
        add(project, receiver.url)
        finish_a_batch(judging)
        export_release(project, OPERATOR, None, PARTLY, name="v1", now=NOW)
        run(project, clock)
        sent = b"".join(body for _, _, body in receiver.got).decode()
        for table, column in (("query", "text"), ("caption", "text"), ("video", "name"), ("annotator", "name")):
            for (text,) in project.store.db.conn.execute(f"SELECT {column} FROM {table}").fetchall():
                assert not re.search(rf"\b{re.escape(text)}\b", sent), text

    def test_without_a_webhook_there_is_nothing_to_do(self, project: Project, clock: Clock) -> None:
        assert last_change(project) is None
        assert not is_due(project, now=NOW)
        assert run(project, clock) == 0


class TestDelivery:
    def test_a_failure_is_tried_again_later_and_later_with_the_same_key(
        self, project: Project, receiver: Receiver, clock: Clock
    ) -> None:
        receiver.statuses = [500]
        number, _ = add(project, receiver.url)
        send_test(project, OPERATOR, number, now=NOW)
        for attempt, wait in enumerate((0, *BACKOFF_S), 1):
            if wait:
                clock.at += wait - 1
                assert run(project, clock) == 0
                assert len(receiver.got) == attempt - 1
                clock.at += 1
            run(project, clock)
            (sent,) = list_deliveries(project, OPERATOR)
            assert (sent.attempts, sent.status, len(receiver.got)) == (attempt, 500, attempt)
        assert (sent.state, sent.attempts) == ("failed", MOST_ATTEMPTS)
        clock.at += 10**6
        run(project, clock)
        assert len(receiver.got) == MOST_ATTEMPTS
        assert len({headers["webhook-id"] for _, headers, _ in receiver.got}) == 1
        assert len({headers["webhook-timestamp"] for _, headers, _ in receiver.got}) == MOST_ATTEMPTS
        assert len({headers["webhook-signature"] for _, headers, _ in receiver.got}) == MOST_ATTEMPTS

    def test_a_lead_sends_it_again(self, project: Project, judging: Judging, receiver: Receiver, clock: Clock) -> None:
        receiver.statuses = [410, 200]
        number, _ = add(project, receiver.url)
        message = send_test(project, judging.lead, number, now=NOW)
        run(project, clock)
        assert list_deliveries(project, judging.lead)[0].state == "failed", "the address is gone: no more attempts"
        resend(project, judging.lead, message, now=NOW)
        assert run(project, clock) == 1
        (sent,) = list_deliveries(project, judging.lead)
        assert (sent.state, sent.attempts, sent.status) == ("delivered", 1, 200)
        first, second = (headers["webhook-id"] for _, headers, _ in receiver.got)
        assert first == second
        with pytest.raises(ProjectError, match="no such message"):
            resend(project, OPERATOR, message + 1, now=NOW)

    def test_whose_sender_was_killed_is_sent_again(
        self, project: Project, receiver: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        number, _ = add(project, receiver.url)
        send_test(project, OPERATOR, number, now=NOW)
        with monkeypatch.context() as patch:

            def killed(*_: object) -> bool:
                raise KeyboardInterrupt

            patch.setattr(rounds, "_deliver", killed)
            with pytest.raises(KeyboardInterrupt):
                run(project, clock)
        assert run(project, clock) == 0, "somebody may still be sending it"
        clock.at += LEASE_S
        assert run(project, clock) == 1
        assert list_deliveries(project, OPERATOR)[0].attempts == 2

    def test_of_several_front_ends_one_sends(self, project: Project, receiver: Receiver, clock: Clock) -> None:
        number, _ = add(project, receiver.url)
        for _ in range(12):
            send_test(project, OPERATOR, number, now=NOW)
        others = [open_project(project.folder) for _ in range(4)]
        threads = [threading.Thread(target=run, args=(other, clock)) for other in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(receiver.got) == 12
        assert len({headers["webhook-id"] for _, headers, _ in receiver.got}) == 12
        for other in others:
            other.store.close()

    def test_few_old_messages_are_kept(self, project: Project, receiver: Receiver, clock: Clock) -> None:
        number, _ = add(project, receiver.url)
        for _ in range(KEPT_DELIVERIES // 10 + 2):
            for _ in range(10):
                send_test(project, OPERATOR, number, now=NOW)
            run(project, clock)
        kept = list_deliveries(project, OPERATOR, 1000)
        assert KEPT_DELIVERIES <= len(kept) <= KEPT_DELIVERIES + 10
        assert len(receiver.got) == KEPT_DELIVERIES + 20

    @pytest.mark.parametrize("scheme", ["http", "https"])
    @pytest.mark.parametrize("silent_s", [0.0, 0.8], ids=["", "after an address that was silent until the time was up"])
    def test_an_address_that_drips_holds_nobody_up(
        self, project: Project, clock: Clock, monkeypatch: pytest.MonkeyPatch, scheme: str, silent_s: float
    ) -> None:
        """Also one whose name has several addresses, of which the first takes all the time."""
        monkeypatch.setattr(sending, "TOTAL_S", 0.5)
        places, connect = ["127.0.0.1"], socket.create_connection
        if silent_s:
            places.insert(0, "127.0.0.2")

        def connected(place: tuple[str, int], **more: Any) -> socket.socket:
            if place[0] == "127.0.0.2":
                time.sleep(silent_s)
                raise TimeoutError("timed out")
            return connect(place, **more)

        def resolve(host: str, port: int, *_: object, **__: object) -> list[Any]:
            found = places if host == "hooks.internal" else [host]
            return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (place, port)) for place in found]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        monkeypatch.setattr(socket, "create_connection", connected)
        with closing(socket.create_server(("127.0.0.1", 0))) as server:
            server.settimeout(3)
            allow(project, "hooks.internal")
            stop = threading.Event()

            def drip() -> None:
                with suppress(OSError), server.accept()[0] as connection:
                    # of TLS, the beginning of a message of the server that is 16 KiB long
                    connection.sendall(b"HTTP/1.1 " if scheme == "http" else b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
                    while not stop.wait(0.05):
                        connection.sendall(b"x")

            thread = threading.Thread(target=drip)
            thread.start()
            last = threading.Timer(8, stop.set)
            last.start()
            number, _ = add(project, f"{scheme}://hooks.internal:{server.getsockname()[1]}/")
            send_test(project, OPERATOR, number, now=NOW)
            began = time.monotonic()
            assert run(project, clock) == 0
            assert time.monotonic() - began < 5
            stop.set()
            last.cancel()
            thread.join()
        assert "no answer" in list_deliveries(project, OPERATOR)[0].problem

    def test_an_answer_that_is_none_is_told_in_a_few_visible_characters(self, project: Project, clock: Clock) -> None:
        """A receiver chooses them: no database keeps NUL, and no terminal is to obey them."""
        with closing(socket.create_server(("127.0.0.1", 0))) as server:
            allow(project, "127.0.0.1")

            def answer() -> None:
                with server.accept()[0] as connection:
                    connection.recv(10_000)
                    connection.sendall(b"a\x00b\x1b[31m\x9b1m\r" + b"x" * 60_000 + b"\r\n\r\n")

            thread = threading.Thread(target=answer)
            thread.start()
            number, _ = add(project, f"http://127.0.0.1:{server.getsockname()[1]}/")
            send_test(project, OPERATOR, number, now=NOW)
            assert run(project, clock) == 0
            thread.join()
        (sent,) = list_deliveries(project, OPERATOR)
        assert sent.problem.startswith("no answer: a")
        assert sent.problem.isprintable()
        assert len(sent.problem) < 300


class TestAddresses:
    """Where no message goes, whatever a lead types."""

    def tried(self, project: Project, url: str, clock: Clock) -> Delivery:
        number, _ = add(project, url)
        send_test(project, OPERATOR, number, now=clock.at)
        assert run(project, clock) == 0
        return list_deliveries(project, OPERATOR)[0]

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("http://hooks.example.org/", "has to begin with https://"),
            ("ftp://hooks.example.org/", "write an address such as"),
            ("file:///etc/passwd", "write an address such as"),
            ("gopher://127.0.0.1:6379/_FLUSHALL", "write an address such as"),
            ("//hooks.example.org/", "write an address such as"),
            ("hooks.example.org", "write an address such as"),
            ("", "write an address such as"),
            ("https:///x", "write an address such as"),
            ("https://me:pw@hooks.example.org/", "may not have a user name"),
            ("https://127.0.0.1@hooks.example.org/", "may not have a user name"),
            ("https://hooks.example.org:99999/", "not the address of a webhook"),
            ("https://hooks.example.org/a b", "plain ASCII"),
            ("https://hooks.example.org/\r\nX-Other: y", "plain ASCII"),
            ("https://hooks.example.org/\u0000", "plain ASCII"),
            ("https://hooks.example.org/ü", "plain ASCII"),
            ("https://[::1", "not the address of a webhook"),
            ("https://hooks.example.org/" + "x" * 600, "plain ASCII"),
        ],
    )
    def test_what_is_no_address_is_refused(self, project: Project, url: str, why: str) -> None:
        with pytest.raises(ProjectError, match=re.escape(why)):
            add(project, url)
        assert list_webhooks(project, OPERATOR) == []

    @pytest.mark.parametrize(
        "host",
        [
            *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "0.0.0.0", "0"),
            *("169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "224.0.0.1", "255.255.255.255"),
            *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[fe80::1]", "[fc00::1]", "[64:ff9b::7f00:1]"),
            *("[2002:7f00:1::]", "[::127.0.0.1]", "[64:ff9b:1::1]", "[fec0::1]"),
            *("192.0.0.192", "168.63.129.16"),  # of Oracle and Azure
        ],
    )
    def test_no_message_goes_to_this_machine_or_its_network(
        self, project: Project, host: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        connected: list[object] = []
        monkeypatch.setattr(socket, "create_connection", lambda place, **_: connected.append(place))
        sent = self.tried(project, f"https://{host}/", clock)
        assert (sent.state, sent.status, connected) == ("waiting", None, [])
        assert "is in the server's own network" in sent.problem

    def test_a_name_that_leads_into_the_network_is_refused_at_each_attempt(
        self, project: Project, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As a name that led elsewhere when the webhook was added, or one of whose addresses does."""
        asked: list[str] = []
        answers = [["10.1.2.3"], ["93.184.216.34", "10.1.2.3"], ["::ffff:169.254.169.254"]]

        def resolve(host: str, port: int, **_: object) -> list[Any]:
            asked.append(host)
            return [(0, 0, 0, "", (place, port)) for place in answers[len(asked) - 1]]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
        number, _ = add(project, OUTSIDE)
        assert asked == []
        send_test(project, OPERATOR, number, now=NOW)
        for wait in (0, *BACKOFF_S[:2]):
            clock.at += wait
            run(project, clock)
            assert "is in the server's own network" in list_deliveries(project, OPERATOR)[0].problem
        assert asked == ["hooks.example.org"] * 3

    def test_the_connection_goes_to_the_address_that_was_checked(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A name that leads elsewhere a moment later changes nothing."""
        connected: list[object] = []

        def connect(place: object, **_: object) -> socket.socket:
            connected.append(place)
            raise ConnectionRefusedError("refused")

        monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: [(0, 0, 0, "", ("93.184.216.34", port))])
        monkeypatch.setattr(socket, "create_connection", connect)
        with pytest.raises(NotSent, match="refused"):
            send(OUTSIDE, f"whsec_{'A' * 32}", "msg_1", "{}", timestamp=1)
        assert connected == [("93.184.216.34", 443)]

    def test_an_own_public_address_of_this_machine_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whichever number it has: this machine can bind it."""
        monkeypatch.setattr(sending, "is_public", lambda _: True)
        with pytest.raises(NotSent, match="own network"):
            send("https://127.0.0.1/", f"whsec_{'A' * 32}", "msg_1", "{}", timestamp=1)

    def test_a_redirect_is_not_followed(self, project: Project, receiver: Receiver, clock: Clock) -> None:
        for status in (301, 302, 303, 307, 308):
            receiver.statuses = [status]
            receiver.headers = {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}
            sent = self.tried(project, f"{receiver.url}{status}", clock)
            assert (sent.state, sent.status) == ("waiting", status)
        assert {path for path, _, _ in receiver.got} == {
            f"/hook?room=7{status}" for status in (301, 302, 303, 307, 308)
        }

    def test_no_proxy_of_the_environment_is_used(
        self, project: Project, receiver: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9/")
        number, _ = add(project, receiver.url)
        send_test(project, OPERATOR, number, now=NOW)
        assert run(project, clock) == 1

    def test_a_host_that_the_operator_no_longer_allows_gets_nothing_more(
        self, project: Project, receiver: Receiver, clock: Clock
    ) -> None:
        number, _ = add(project, receiver.url)
        file = project.folder / "reelrank.toml"
        file.write_text(file.read_text().replace('"127.0.0.1"', '"10.0.0.1"'))
        send_test(project, OPERATOR, number, now=NOW)
        assert run(project, clock) == 0
        assert receiver.got == []
        assert remove_webhook(project, OPERATOR, number, now=NOW) == "127.0.0.1"

    def test_a_certificate_of_another_is_refused(self, project: Project, receiver: Receiver, clock: Clock) -> None:
        """The receiver speaks no TLS at all; what says it is another does not get that far either."""
        sent = self.tried(project, receiver.url.replace("http://", "https://"), clock)
        assert "no answer" in sent.problem
        assert receiver.got == []

    def test_the_host_is_named_as_it_was_typed(self) -> None:
        inside = ("127.0.0.1", "::1")
        assert target_of("https://example.org:443/").named == "example.org"
        assert target_of("https://example.org:8443/").named == "example.org:8443"
        assert target_of("http://[::1]:80/", inside).named == "[::1]"
        assert target_of("https://xn--exmple-cua.org/").host == "xn--exmple-cua.org"

    @pytest.mark.parametrize("place", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"])
    def test_public_addresses_are_public(self, place: str) -> None:
        assert is_public(ip_address(place))


class TestManaging:
    def test_only_leads_and_the_operator(self, project: Project, judging: Judging) -> None:
        number, _ = add_webhook(project, judging.lead, OUTSIDE, CHOOSABLE, now=NOW)
        (webhook,) = list_webhooks(project, judging.lead)
        assert (webhook.url, webhook.topics, webhook.added_by) == (OUTSIDE, CHOOSABLE, judging.lead.name)
        who = judging.annotators[0]
        for act in (
            lambda: list_webhooks(project, who),
            lambda: list_deliveries(project, who),
            lambda: add_webhook(project, who, f"{OUTSIDE}8", CHOOSABLE, now=NOW),
            lambda: remove_webhook(project, who, number, now=NOW),
            lambda: send_test(project, who, number, now=NOW),
            lambda: resend(project, who, 1, now=NOW),
        ):
            with pytest.raises(NotAllowed):
                act()

    def test_the_secret_is_told_once_and_nowhere_else(self, project: Project, judging: Judging, tmp_path: Path) -> None:
        _, secret = add(project, OUTSIDE)
        assert len(proper_secret(secret)) == 32
        send_test(project, OPERATOR, 1, now=NOW)
        shown = repr((list_webhooks(project, OPERATOR), list_deliveries(project, OPERATOR)))
        noted = [row[0] for row in project.store.db.conn.execute("SELECT payload FROM event").fetchall()]
        assert secret not in shown
        assert [text for text in noted if secret in text or "room=7" in text] == []
        assert any("hooks.example.org" in text for text in noted)
        backup(project, tmp_path / "monday.db")
        for private in (secret, OUTSIDE):
            assert private.encode() not in (tmp_path / "monday.db").read_bytes()

    def test_a_secret_of_ones_own(self, project: Project) -> None:
        own = "whsec_" + base64.b64encode(b"s" * 24).decode()
        assert add(project, OUTSIDE, secret=f" {own} ")[1] == own
        for wrong in ("whsec_", "secret", own.removeprefix("whsec_"), own[:-5], f"{own}A", "whsec_" + "A" * 200):
            with pytest.raises(ProjectError, match="a secret is whsec_"):
                add(project, f"{OUTSIDE}8", secret=wrong)

    def test_what_else_is_refused(self, project: Project) -> None:
        add(project, OUTSIDE)
        with pytest.raises(ProjectError, match="with this address already"):
            add(project, OUTSIDE)
        for topics in ((), (Topic.TEST,)):
            with pytest.raises(ProjectError, match="choose at least one event"):
                add(project, f"{OUTSIDE}8", topics)
        for act in (remove_webhook, send_test):
            with pytest.raises(ProjectError, match="no such webhook"):
                act(project, OPERATOR, 99, now=NOW)
        for n in range(MOST_WEBHOOKS - 1):
            add(project, f"{OUTSIDE}{n}")
        with pytest.raises(ProjectError, match="20 webhooks, which is the most"):
            add(project, f"{OUTSIDE}99")

    def test_removing_one_removes_its_messages(self, project: Project, receiver: Receiver, clock: Clock) -> None:
        number, _ = add(project, receiver.url)
        send_test(project, OPERATOR, number, now=NOW)
        remove_webhook(project, OPERATOR, number, now=NOW)
        look_for_news(project, now=NOW, with_flags=False)
        assert run(project, clock) == 0
        assert (receiver.got, list_deliveries(project, OPERATOR)) == ([], [])
