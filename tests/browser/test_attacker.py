"""One annotator attacks the campaign, over real HTTP and a real websocket.

Mallory is signed in, has read the source code, owns the public corpus (every video, time and caption), keeps all the
traffic and has been told the pair keys on a colleague's desk. What Mallory guesses is no better than chance, and
nothing that Mallory sends grades, blocks or is paid for a pair without a seat.
"""

import hashlib
import json
import platform
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr
from starlette.routing import Route
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import backend
from annotate_app.server.api import Programs
from app_server import AppServer
from backend.api.campaign import OPERATIONS
from backend.api.model import Needs
from backend.campaign.judging.model import Assignment
from backend.campaign.judging.staffing import assign, pause_person, suspend, unassign
from backend.campaign.monitoring.hours.report import hours
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people.accounts import add_person_with_password, list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.media.jobs import ClipForm, Profile
from support import have_read
from visitor import PASSWORD, Visitor, ask

pytestmark = pytest.mark.long

FINISHED_S = 60.0
EVERY_PAGE = ("", "annotate", "my_work", "my-work", "people", "progress", "release", "settings", "agreement", "queries")
REASON = "I would rather not"


@dataclass
class Attack:
    """A served campaign, and what Mallory has collected."""

    server: AppServer
    project: Project
    mallory: Visitor
    desks: list[dict[str, Any]] = field(default_factory=list)
    traffic: list[bytes] = field(default_factory=list)
    """Bodies, header lines and websocket messages, as they came."""
    token: str = ""
    """A personal token of Mallory's, which may act."""

    def sql(self, query: str, *values: object) -> list[Any]:
        """Rows of the database, which only the test may read."""
        return self.project.store.db.conn.execute(query, values).fetchall()

    def post(self, visitor: Visitor, path: str, **sent: Any) -> tuple[int, dict[str, Any]]:
        """Send JSON as the player does, without expecting success."""
        answer = visitor.client.post(f"{self.server.url}{path}", json=sent, headers={"X-ReelRank": "1"})
        return answer.status_code, answer.json() if answer.content else {}

    def get(self, path: str) -> tuple[int, bytes]:
        """Fetch as Mallory, and keep what came; in compressed pictures any short word may stand by chance."""
        answer = self.mallory.client.get(f"{self.server.url}{path}")
        is_picture = answer.headers["content-type"].startswith(("video/", "image/"))
        self.traffic += [str(answer.headers.multi_items()).encode(), b"" if is_picture else answer.content]
        return answer.status_code, answer.content

    def enter(self, name: str, role: Role = Role.ANNOTATOR) -> tuple[Person, Visitor]:
        """Add a person who has read the guideline, and sign in as them."""
        person = add_person_with_password(self.project, OPERATOR, name, role, PASSWORD, now=time.time())
        have_read(self.project)
        visitor = Visitor()
        assert visitor.sign_in(self.server.url, name) == 303
        return person, visitor


def grade_event(pair: str, grade: int = 3, active_ms: int = 1000) -> dict[str, Any]:
    """Return one key press as the player sends it."""
    return {"pair": pair, "grade": grade, "key": secrets.token_hex(8), "active_ms": active_ms}


def skip_event(pair: str, kind: str = "skip") -> dict[str, Any]:
    """Return one skip as the player sends it."""
    return {"pair": pair, "kind": kind, "reason": REASON, "key": secrets.token_hex(8)}


def make_token(attack: Attack, visitor: Visitor, scope: str) -> str:
    """Make a personal token on the account page."""
    page = visitor.client.get(f"{attack.server.url}/session/account").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)
    assert csrf
    fields = {"name": secrets.token_hex(4), "scope": scope, "days": "1", "old": PASSWORD, "csrf": csrf[1]}
    made = visitor.client.post(f"{attack.server.url}/session/tokens", data=fields).text
    return re.findall(r"<output>(rr_\w+)</output>", made)[0]


def interface_for_programs(keys: list[str]) -> list[str]:
    """Every address of the interface for programs, with what Mallory knows in its parts, and some that sound good."""
    paths = {
        re.sub(r"\{[^}]*\}", part, route.path)
        for route in Programs(lambda: pytest.fail("nothing is asked")).routes()
        if isinstance(route, Route)
        for part in ("1", "Mallory", "val", "test", *OPERATIONS, *keys)
    }
    nouns = ("candidates", "captions", "similarity", "judgements", "people", "queries", "pairs", "release", "events")
    return sorted(paths) + [f"/api/{noun}" for noun in nouns]


def spoken(server: AppServer, *lines: bytes) -> bytes:
    """What the server says to a request whose bytes are these lines, until it closes the connection."""
    request = b"\r\n".join((b"GET /api/me HTTP/1.1", b"Host: x", b"Connection: close", *lines, b"", b""))
    with suppress(ConnectionError), socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            return answer.read()
    return b""


def run_pages(server: AppServer, visitor: Visitor, pages: tuple[str, ...], session: str = "") -> list[bytes]:
    """Run these pages over one websocket, resuming a Streamlit session if one is named; return every message."""
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items())
    received: list[bytes] = []
    with connect(
        f"{server.url.replace('http', 'ws', 1)}/_stcore/stream",
        additional_headers={"Cookie": cookies, "Origin": server.url},
        subprotocols=["streamlit", "unused", session] if session else ["streamlit"],  # type: ignore[list-item]
        max_size=None,
    ) as socket:
        for page in pages:
            ask = BackMsg()
            ask.rerun_script.page_name = page
            socket.send(ask.SerializeToString())
            while True:
                message = socket.recv(timeout=FINISHED_S, decode=False)
                received.append(message)
                if ForwardMsg.FromString(message).WhichOneof("type") == "script_finished":
                    break
    return received


@pytest.fixture(scope="module")
def attack(
    demo: Callable[..., Path], serve: Callable[[Path], AppServer], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Attack]:
    """Mallory grades all there is to grade, opens every clip and every page, and keeps what comes."""
    folder = demo(tmp_path_factory.mktemp("attack") / "project")
    project = open_project(folder)
    attack = Attack(serve(folder), project, Visitor())
    _, attack.mallory = attack.enter("Mallory")
    _, desk = attack.post(attack.mallory, "/desk/exchange")
    fetched: set[str] = set()
    while items := desk["desk"]["items"]:
        attack.desks.append(desk["desk"])
        attack.traffic.append(json.dumps(desk).encode())
        if len(fetched) < 4:  # every clip is made in the same way
            key = items[0]["pair"]
            fetched.add(key)
            for more in (".mp4", ".mp4?context=1", ".webp"):
                assert attack.get(f"/clips/{key}{more}")[0] == 200
        status, desk = attack.post(attack.mallory, "/desk/exchange", grades=[grade_event(items[0]["pair"])])
        assert status == 200
        assert desk["receipts"][0]["status"] == "saved"
    for path in ("/", "/my-work", "/people", "/_stcore/health", "/_stcore/host-config", "/practice/1.mp4"):
        attack.get(path)
    attack.token = make_token(attack, attack.mallory, "act")
    keys = [item["pair"] for desk in attack.desks for item in desk["items"]][:3]
    for path in interface_for_programs(keys):
        answer = ask("GET", f"{attack.server.url}{path}", headers={"Authorization": f"Bearer {attack.token}"})
        attack.traffic += [str(answer.headers.multi_items()).encode(), answer.content]
    attack.traffic += run_pages(attack.server, attack.mallory, EVERY_PAGE)
    yield attack
    project.store.close()


def test_no_header_or_address_names_a_moment(attack: Attack) -> None:
    """Compute every digest that the code and the public corpus allow, and search the traffic for them."""
    moments = attack.sql("SELECT sha256, start_s, end_s, duration_s FROM moment JOIN video USING (video_id)")
    spans = {
        span
        for video, start, end, length in moments
        for span in (
            (video, start, end),
            (video, round(max(0.0, start - 2.0), 6), round(min(length, end + 2.0), 6)),
        )
    }
    profiles = [Profile(form, height).name for form in ClipForm for height in (240, 360, 480, 720, 1080)]
    keys = ["\n".join([profile, video, repr(start), repr(end)]) for profile in profiles for video, start, end in spans]
    guesses = {hashlib.sha256(key.encode()).hexdigest()[:16].encode() for key in keys}
    tokens = {found[:16] for part in attack.traffic for found in re.findall(rb"[0-9a-f]{16,}", part)}
    assert tokens, "clips have no ETag: this test looks at nothing"
    assert not guesses & tokens


def test_no_number_on_the_desk_is_exact(attack: Attack) -> None:
    durations = {item["duration_s"] for desk in attack.desks for item in desk["items"]}
    assert len(durations) > 10
    assert all(duration == round(duration, 1) for duration in durations)


def test_the_order_of_the_desk_and_of_the_keys_tells_no_rank(attack: Attack) -> None:
    """Spearman's correlation with the rank, over the batches: its mean is 0, with a deviation of 1/sqrt(n - 1) each."""
    facts = {row[0]: tuple(row[1:]) for row in attack.sql("SELECT pair_key, batch_id, rank, pair_id FROM pair")}
    met = [desk["items"][0]["pair"] for desk in attack.desks]
    assert len(met) == len(set(met)) >= 100
    by_batch: dict[int, list[str]] = {}
    for key in met:
        by_batch.setdefault(facts[key][0], []).append(key)
    batches = [keys for keys in by_batch.values() if len(keys) >= 10]
    assert len(batches) >= 5
    (me,) = attack.sql("SELECT annotator_id FROM annotator WHERE name = 'Mallory'")[0]

    def unkeyed(key: str) -> bytes:
        return hashlib.blake2b(f"{me}:{facts[key][2]}".encode(), digest_size=8).digest()

    guesses: dict[str, Callable[[list[str]], list[float]]] = {
        "as they came": lambda keys: list(range(len(keys))),
        "by key": lambda keys: [sorted(keys).index(key) for key in keys],
        "by number of the pair": lambda keys: [facts[key][2] for key in keys],
        "by the hash without a secret": lambda keys: [sorted(keys, key=unkeyed).index(key) for key in keys],
    }
    for name, guess in guesses.items():
        found = [spearmanr(guess(keys), [facts[key][1] for key in keys]).statistic for keys in batches]
        deviation = (sum(1 / (len(keys) - 1) for keys in batches) ** 0.5) / len(batches)
        assert abs(sum(found) / len(found)) < 5 * deviation, name  # once in 1.7 million runs by chance
    # The former order is not the one in which the pairs came: a known secret would show here.
    order = [sorted(keys, key=unkeyed) for keys in batches]
    assert order != batches


def test_the_traffic_names_nobody_and_nothing(attack: Attack) -> None:
    """No caption, video, colleague, rank, similarity, path of the server or version of Python."""
    queries = {row[0] for row in attack.sql("SELECT text FROM query")}
    forbidden = {row[0] for row in attack.sql("SELECT text FROM caption WHERE text <> ''")} - queries
    forbidden |= {row[0] for row in attack.sql("SELECT name FROM video")}
    forbidden |= {row[0] for row in attack.sql("SELECT name FROM annotator WHERE name <> 'Mallory'")}
    similarities = attack.sql("SELECT DISTINCT similarity FROM pair WHERE similarity IS NOT NULL")
    forbidden |= {repr(similarity) for (similarity,) in similarities if len(repr(similarity)) > 6}
    forbidden |= {
        str(attack.server.project),
        str(Path(backend.__file__).parents[1]),
        sys.prefix,
        platform.python_version(),
    }
    everything = b"\n".join(attack.traffic)
    assert b"Mallory" in everything
    found = [text for text in forbidden if text.encode() in everything]
    assert [text for text in found if re.search(rb"\b" + re.escape(text.encode()) + rb"\b", everything)] == []


def test_a_colleagues_keys_open_and_grade_nothing(attack: Attack) -> None:
    _, colleague = attack.enter("Colleague")
    mallory, visitor = attack.enter("Mallory 2")
    _, told = attack.post(colleague, "/desk/exchange")
    _, own = attack.post(visitor, "/desk/exchange")
    mine = {item["pair"] for item in own["desk"]["items"]}
    theirs = [item["pair"] for item in told["desk"]["items"] if item["pair"] not in mine]
    others = [row[0] for row in attack.sql("SELECT pair_key FROM pair")]
    keys = [*theirs, *(key for key in others if key not in mine)]
    for key in keys[:20]:
        for more in (".mp4", ".mp4?context=1", ".webp"):
            assert visitor.client.get(f"{attack.server.url}/clips/{key}{more}").status_code == 403
    _, answer = attack.post(visitor, "/desk/exchange", grades=[grade_event(key) for key in keys[:90]])
    assert {receipt["status"] for receipt in answer["receipts"]} == {"refused"}
    assert attack.sql("SELECT 1 FROM judgement WHERE annotator_id = ?", mallory.annotator_id) == []


def test_keys_collected_earlier_do_not_outlive_a_skip_a_pause_or_a_quota(attack: Attack) -> None:
    mallory, visitor = attack.enter("Mallory 3")
    lead = next(row.person for row in list_people(attack.project, OPERATOR) if row.person.role is Role.LEAD)
    _, told = attack.post(visitor, "/desk/exchange")
    keys = [item["pair"] for item in told["desk"]["items"]]
    skipped, graded, *rest = keys
    _, told = attack.post(visitor, "/desk/exchange", skips=[skip_event(skipped)])
    assert told["receipts"][0]["status"] == "saved"
    _, told = attack.post(visitor, "/desk/exchange", grades=[grade_event(skipped)])
    assert told["receipts"][0]["status"] == "refused"
    assert visitor.client.get(f"{attack.server.url}/clips/{skipped}.mp4").status_code == 403

    assign(attack.project, lead, [mallory.annotator_id], Assignment(a_day=1), now=time.time())
    events = [grade_event(key) for key in (graded, *rest)]
    _, told = attack.post(visitor, "/desk/exchange", grades=events)
    assert [receipt["status"] for receipt in told["receipts"]].count("saved") <= 1
    unassign(attack.project, lead, mallory.annotator_id, now=time.time())

    _, told = attack.post(visitor, "/desk/exchange")
    keys = [item["pair"] for item in told["desk"]["items"]]
    assert keys
    pause_person(attack.project, lead, mallory.annotator_id, "for the test", now=time.time())
    _, told = attack.post(visitor, "/desk/exchange", grades=[grade_event(key) for key in (*keys, *rest)])
    assert {receipt["status"] for receipt in told["receipts"]} == {"refused"}
    for key in keys:
        assert visitor.client.get(f"{attack.server.url}/clips/{key}.mp4").status_code == 403


def test_nobody_is_blocked_by_one_person(attack: Attack) -> None:
    """Mallory skips and reports whatever comes, as fast as the server answers, until it takes no more."""
    mallory, visitor = attack.enter("Mallory 4")
    others = [row[0] for row in attack.sql("SELECT pair_key FROM pair")]
    _, told = attack.post(visitor, "/desk/exchange")
    for kind in ("skip", "broken_clip", "cannot_judge") * 10:
        held = [item["pair"] for item in told["desk"]["items"]]
        for key in (*held[:1], *others[:2]):
            attack.post(visitor, "/desk/broken", pair=key, what="it does not play")
        status, told = attack.post(visitor, "/desk/exchange", skips=[skip_event(key, kind) for key in held])
        if status == 429 or any("minute" in receipt["message"] for receipt in told["receipts"]):
            break
    else:
        pytest.fail("nothing slowed these skips down")
    assert attack.sql("SELECT count(*) FROM clip_fault")[0][0] == 0
    (taken,) = attack.sql("SELECT count(*) FROM skip WHERE annotator_id = ?", mallory.annotator_id)[0]
    assert 7 < taken <= 37
    _, honest = attack.enter("Honest")
    _, told = attack.post(honest, "/desk/exchange")
    assert told["desk"]["state"] == "ready"


def test_no_more_time_is_paid_than_passed(attack: Attack) -> None:
    began = time.time()
    _, visitor = attack.enter("Mallory 5")
    _, told = attack.post(visitor, "/desk/exchange")
    for _ in range(3):
        key = told["desk"]["items"][0]["pair"]
        attack.post(visitor, "/desk/shown", pair=key)
        long = grade_event(key, active_ms=2**31 - 1) | {"elapsed_ms": 2**31 - 1}
        again = grade_event(key, 2, active_ms=2**31 - 1) | {"elapsed_ms": 2**31 - 1}
        _, told = attack.post(visitor, "/desk/exchange", grades=[long, again])
        assert told["receipts"][0]["status"] == "saved"
    passed_s = time.time() - began
    report = hours(attack.project, OPERATOR)
    paid_s = sum(day.active_ms for day in report.days if day.name == "Mallory 5") / 1000
    assert 0 <= paid_s <= passed_s


def test_a_leads_websocket_session_is_not_taken_up(attack: Attack) -> None:
    lead, visitor = attack.enter("Lead 2", Role.LEAD)
    opened = run_pages(attack.server, visitor, ("people",))
    new = next(
        ForwardMsg.FromString(message).new_session
        for message in opened
        if ForwardMsg.FromString(message).WhichOneof("type") == "new_session"
    )
    with closing(attack.mallory.client):
        received = b"".join(run_pages(attack.server, attack.mallory, ("people", ""), new.initialize.session_id))
    assert b"Mallory" in received
    assert lead.name.encode() not in received


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_opens_no_page_and_no_route_of_the_pages(attack: Attack) -> None:
    """What its owner reads in the browser it does not read, and nothing more: see what the traffic names, above."""
    url, token = attack.server.url, bearing(attack.token)
    assert ask("GET", f"{url}/api/me", headers=token).json()["name"] == "Mallory"
    for path in ("/", "/queries", "/people", "/my-work"):
        assert ask("GET", f"{url}{path}", headers=token).headers["location"].startswith("/session/sign-in")
    for path in ("/lead/waiting", "/desk/recent", f"/clips/{attack.desks[0]['items'][0]['pair']}.mp4"):
        assert ask("GET", f"{url}{path}", headers=token).status_code == 401
    assert ask("POST", f"{url}/desk/exchange", json={}, headers=token | {"X-ReelRank": "1"}).status_code == 401
    stream = url.replace("http", "ws", 1) + "/_stcore/stream"
    with pytest.raises(InvalidStatus) as refused, connect(stream, additional_headers=token | {"Origin": url}):
        pass
    assert refused.value.response.status_code == 403
    _, visitor = attack.enter("Mallory 7")
    assert visitor.client.get(f"{url}/api/me").status_code == 401, "nor does a session open the other side"


def test_a_token_that_reads_changes_nothing_and_one_of_a_suspended_person_is_none(attack: Attack) -> None:
    url = attack.server.url
    mallory, visitor = attack.enter("Mallory 6")
    reads, acts = (bearing(make_token(attack, visitor, scope)) for scope in ("read", "act"))
    for path in interface_for_programs([]):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert ask(method, f"{url}{path}", headers=reads, json={}).status_code == 403
    assert ask("GET", f"{url}/api/me", headers=acts).json()["scope"] == "act"
    lead = next(row.person for row in list_people(attack.project, OPERATOR) if row.person.role is Role.LEAD)
    suspend(attack.project, lead, mallory.annotator_id, True, now=time.time())
    for token in (reads, acts):
        assert ask("GET", f"{url}/api/me", headers=token).status_code == 401


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.needs is not Needs.ANNOTATOR])
def test_no_operation_of_leads_answers_an_annotator(attack: Attack, name: str) -> None:
    """Whatever the arguments are, and however they come."""
    before = attack.sql("SELECT count(*) FROM event")
    url = f"{attack.server.url}/api/operations/{name}"
    for arguments in ({}, {"name": "Mallory"}, {"query_id": 1}, {"file": "../../reelrank.db"}, {"unknown": []}):
        for method in ("GET", "POST"):
            sent = {"params": arguments} if method == "GET" else {"json": arguments}
            answer = ask(method, url, headers=bearing(attack.token), **sent)  # type: ignore[arg-type]
            expected = 403 if (method == "POST") == OPERATIONS[name].acts else 405
            assert answer.status_code == expected
            assert set(answer.json()) == {"message"}
            assert "Traceback" not in answer.text
    assert attack.sql("SELECT count(*) FROM event") == before


def test_what_an_annotator_may_ask_for_is_their_own_work_alone(attack: Attack) -> None:
    token = bearing(attack.token)
    work = ask("GET", f"{attack.server.url}/api/operations/my_work", headers=token)
    assert work.status_code == 200
    assert sum(work.json()["grades"]) == work.json()["in_all"] > 100
    sent = ask("POST", f"{attack.server.url}/api/files/a.json", headers=token, content=b"{}")
    assert sent.status_code == 403
    assert not (attack.server.project / "cache" / "sent").exists()


def test_no_header_smuggles_a_token_or_stops_the_server(attack: Attack) -> None:
    """Lines within a header, headers twice, and headers as large as a film: refused, and the next request is served."""
    right = b"Authorization: Bearer " + attack.token.encode()
    assert spoken(attack.server, right).startswith(b"HTTP/1.1 200")
    wrong = [
        [right, right],
        [right + b", Bearer x"],
        [b"Authorization : Bearer " + attack.token.encode()],
        [b"Authorization: Bearer x\nX-Other: y\rAuthorization: Bearer " + attack.token.encode()],
        [b"Authorization: Bearer " + attack.token.encode() + b"\x00"],
        [b"Authorization: Bearer " + b"rr_" + b"x" * 30_000],
        [b"Authorization: Bearer " + b"x" * 5_000_000],
        [b"X: " + b"x" * 5_000_000, right],
    ]
    for lines in wrong:
        answer = spoken(attack.server, *lines)
        assert not answer.startswith(b"HTTP/1.1 200"), lines[0][:80]
        assert attack.token.encode() not in answer
    assert spoken(attack.server, right).startswith(b"HTTP/1.1 200")


def test_the_servers_log_tells_no_token(attack: Attack) -> None:
    ask("GET", f"{attack.server.url}/api/me?access_token={attack.token}")
    ask("GET", f"{attack.server.url}/api/{attack.token}", headers=bearing(attack.token))
    log = attack.server.log.read_text()
    assert attack.token not in log
    assert attack.token.split("_")[2] not in log
