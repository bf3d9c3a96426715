"""What arrives at the door: sizes, depths, numbers, slowness, and how much of it one person may send."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.testclient import TestClient

from annotate_app.server import turns
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import own_routes
from annotate_app.server.turns import Turns
from annotate_app.session import bodies, patience
from annotate_app.session.bodies import BodyRefused, TooMuch, parsed
from annotate_app.session.guard import Guard
from annotate_app.session.patience import Patience
from backend import api
from backend.campaign.nouns import Role
from backend.ground.ids import AnnotatorId
from support import NOW, Judging, have_read

PASSWORD = "a long password"
OURS = {"X-ReelRank": "1"}
HOSTILE = {
    "beyond 64 bits": b"99999999999999999999",
    "beyond 64 bits, below nothing": b"-99999999999999999999",
    "no number a browser has": b"9007199254740992",
    "a large fraction": b"1e300",
    "beyond all numbers": b"1e400",
    "no number": b"NaN",
    "infinity": b"Infinity",
    "half a surrogate pair": b'"\\ud800"',
    "half a surrogate pair, as bytes": b'"\xed\xa0\x80"',
    "the sign 0": b'"a\\u0000b"',
    "a long text": b'"%s"' % (b"x" * 10_001),
    "a little too deep": b"[" * 9 + b"]" * 9,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 40_000 + b"1" + b"}" * 40_000,
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_what_no_page_means_is_refused_in_words(value: bytes) -> None:
    with pytest.raises(BodyRefused, match=r"^The request could not be read: "):
        parsed(b'{"anything":' + value + b"}", dict)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60)
@given(json_values)
def test_a_body_is_taken_as_it_is_or_refused(value: Any) -> None:
    text = json.dumps(value)  # with NaN and Infinity, as careless programs write them
    try:
        found = parsed(text.encode(), object)  # type: ignore[arg-type]
    except BodyRefused:
        return
    assert json.dumps(found) == text


def request_of(pieces: AsyncIterator[bytes]) -> Request:
    async def receive() -> dict[str, Any]:
        piece = await anext(pieces, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    return Request({"type": "http", "method": "POST", "headers": [], "path": "/"}, receive)


async def slowly(pieces: int, each_s: float) -> AsyncIterator[bytes]:
    for _ in range(pieces):
        await anyio.sleep(each_s)
        yield b"x"


def test_a_body_that_comes_byte_by_byte_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_S", 0.05)
    with pytest.raises(HTTPException) as refused:
        asyncio.run(bodies.body(request_of(slowly(1000, 0.01)), 10_000))
    assert refused.value.status_code == 408


def test_a_file_may_take_long_but_not_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SILENT_S", 0.2)

    async def received(pieces: int, each_s: float) -> bytes:
        return b"".join([piece async for piece in bodies.chunks(request_of(slowly(pieces, each_s)))])

    assert asyncio.run(received(30, 0.01)) == b"x" * 30
    with pytest.raises(HTTPException) as refused:
        asyncio.run(received(1, 5.0))
    assert refused.value.status_code == 408


# Turns


def test_a_persons_requests_wait_for_each_other_and_for_nobody_elses() -> None:
    order: list[str] = []

    async def one(mine: Turns, who: int, name: str) -> None:
        async with mine.of(AnnotatorId(who), 1, now=0.0):
            order.append(f"{name} begins")
            await anyio.sleep(0.01)
            order.append(f"{name} ends")

    async def all_at_once() -> None:
        mine = Turns()
        await asyncio.gather(*[one(mine, 1, f"a{n}") for n in range(4)], one(mine, 2, "b"))
        assert mine._one == {}, "nothing is kept of who is gone"

    asyncio.run(all_at_once())
    assert [said for said in order if said[0] == "a"] == [
        f"a{n} {what}" for n in range(4) for what in ("begins", "ends")
    ]
    assert order.index("b begins") < order.index("a0 ends")


def test_a_person_has_so_many_requests_under_way_and_a_storm_of_refusals_is_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, slept = [0.0], [0.0]

    async def sleep(seconds: float) -> None:
        slept[0] += seconds

    monkeypatch.setattr("anyio.sleep", sleep)
    mine, me, other = Patience(lambda: now[0]), AnnotatorId(1), AnnotatorId(2)
    with ExitStack() as stack:
        for _ in range(patience.MOST_AT_ONCE):
            stack.enter_context(mine.under_way(me))
        with pytest.raises(TooMuch), mine.under_way(me):
            pass
        with mine.under_way(other):
            pass
    with mine.under_way(me):
        pass

    async def refusals(count: int, who: AnnotatorId) -> float:
        slept[0] = 0.0
        for _ in range(count):
            await mine.refused(who)
        return slept[0]

    assert asyncio.run(refusals(patience.FREE_REFUSALS, me)) == 0
    assert asyncio.run(refusals(3, me)) == 3 * patience.HELD_S
    assert asyncio.run(refusals(1, other)) == 0
    now[0] = 61.0
    assert asyncio.run(refusals(1, me)) == 0


def test_many_events_wait_for_many_events_and_for_nothing_else() -> None:
    at_work, most = 0, 0

    async def one(mine: Turns, who: int, events: int) -> None:
        nonlocal at_work, most
        async with mine.of(AnnotatorId(who), events, now=0.0):
            if events > turns.FEW_EVENTS:
                at_work += 1
                most = max(most, at_work)
            await anyio.sleep(0.01)
            at_work -= events > turns.FEW_EVENTS

    async def all_at_once() -> None:
        mine = Turns()
        heavy = asyncio.gather(*[one(mine, n, 50) for n in range(10)])
        await anyio.sleep(0)
        await asyncio.wait_for(one(mine, 99, 1), 0.05)
        assert not heavy.done()
        await heavy

    asyncio.run(all_at_once())
    assert most == 1


def test_nobody_hands_in_more_in_an_hour_than_people_can_do() -> None:
    async def hand_in(mine: Turns, at: float, events: int) -> int:
        try:
            async with mine.of(AnnotatorId(1), events, now=at):
                return 0
        except TooMuch as refusal:
            return refusal.wait_s

    async def an_hour() -> None:
        mine = Turns()
        taken = [await hand_in(mine, float(n), turns.MOST_EVENTS) for n in range(turns.MOST_AN_HOUR // 100)]
        assert set(taken) == {0}
        assert await hand_in(mine, 100.0, 1) == 3501
        assert await hand_in(mine, 100.0, 0) == 0, "the desk is still told"
        assert await hand_in(mine, 3600.0, 100) == 0, "the first hundred are an hour old"
        assert await hand_in(mine, 3600.0, 1) == 2

    asyncio.run(an_hour())


# Every route


@pytest.fixture
def ana(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setattr(patience, "HELD_S", 0.0)  # these tests are the storm
    api.add_person_with_password(judging.project, api.OPERATOR, "Ada", Role.ANNOTATOR, PASSWORD, now=NOW)
    have_read(judging.project)
    app = Starlette(
        routes=own_routes(lambda: judging.project, ClipWorker(api.cut_clip), lambda project, lead: {}),
        middleware=[Middleware(Guard, project=lambda: judging.project)],
    )
    with TestClient(app, follow_redirects=False) as client:
        client.cookies.set("reelrank_session", api.sign_in(judging.project, "Ada", PASSWORD, now=NOW))
        yield client


def test_no_route_that_takes_json_ends_in_an_error_of_the_server(ana: TestClient, judging: Judging) -> None:
    posts = [
        route.path
        for route in own_routes(lambda: judging.project, ClipWorker(api.cut_clip), lambda *_: {})
        if "POST" in getattr(route, "methods", ()) and not route.path.startswith("/session/")
    ]
    assert {"/desk/exchange", "/describe/exchange", "/practice/{name}", "/rewriting/decision"} <= {*posts}
    for path in posts:
        for why, value in HOSTILE.items():
            answer = ana.post(path.replace("{name}", "x"), content=b'{"unknown":%s}' % value, headers=OURS)
            assert (answer.status_code, answer.json()["message"][:29]) == (400, "The request could not be read"), why
    grade = b'{"grades": [{"pair": "p", "key": "k", "grade": %s, "active_ms": %s}]}'
    for number in (b"99999999999999999999", b"1e300", b"-9007199254740993"):
        assert ana.post("/desk/exchange", content=grade % (number, b"1"), headers=OURS).status_code == 400
        assert ana.post("/desk/exchange", content=grade % (b"1", number), headers=OURS).status_code == 400


@pytest.mark.parametrize(
    "number", ["9" * 5000, "9" * 20, "1e3", "-1", "٣"], ids=["long", "64 bits", "e", "-1", "arabic"]
)
def test_numbers_in_addresses_are_bounded_too(ana: TestClient, number: str) -> None:
    assert ana.get(f"/examples/{number}.mp4").status_code == 404
    assert ana.get(f"/examples/1.mp4?v={number}").status_code == 404
    assert ana.get(f"/describe/videos/{number}.json").status_code == 404


def test_a_body_of_too_many_events_is_refused_and_none_of_it_kept(ana: TestClient, judging: Judging) -> None:
    def kept() -> int:
        count: int = judging.project.store.db.conn.execute(
            "SELECT count(*) FROM event WHERE kind = 'grade_refused'"
        ).fetchone()[0]
        return count

    pair = judging.pairs()[0].pair
    before = kept()
    grades = [{"pair": pair, "grade": 9, "key": f"k{n}"} for n in range(turns.MOST_EVENTS + 1)]
    assert ana.post("/desk/exchange", json={"grades": grades}, headers=OURS).status_code == 400
    assert kept() == before
    answer = ana.post("/desk/exchange", json={"grades": grades[:3]}, headers=OURS)
    assert [one["status"] for one in answer.json()["receipts"]] == ["refused"] * 3
    assert kept() == before + 3


def test_who_sends_too_much_is_told_to_wait(ana: TestClient, judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_AN_HOUR", 2)
    grades = [{"pair": "gone", "grade": 1, "key": f"k{n}"} for n in range(3)]
    answer = ana.post("/desk/exchange", json={"grades": grades}, headers=OURS)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3600")
    assert "Please wait" in answer.json()["message"]


def test_no_time_that_a_browser_counts_makes_sums_overflow(ana: TestClient, judging: Judging) -> None:
    desk = ana.post("/desk/exchange", json={}, headers=OURS).json()["desk"]
    largest = 2**53 - 1
    grade = {"pair": desk["items"][0]["pair"], "grade": 1, "key": "k", "active_ms": largest, "contexts": largest}
    answer = ana.post("/desk/exchange", json={"grades": [grade | {"elapsed_ms": largest}]}, headers=OURS)
    assert answer.json()["receipts"][0]["status"] == "saved"
    row = judging.project.store.db.conn.execute("SELECT active_ms, elapsed_ms, contexts FROM judgement").fetchone()
    assert tuple(row) == (2**31 - 1,) * 3


def test_only_what_changes_something_is_told_late(ana: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[float] = []

    async def sleep(seconds: float) -> None:
        held.append(seconds)

    monkeypatch.setattr(patience, "FREE_REFUSALS", 2)
    monkeypatch.setattr("anyio.sleep", sleep)
    for _ in range(4):
        assert ana.get("/clips/gone.mp4").status_code == 403
    assert held == []
    for _ in range(4):
        assert ana.post("/desk/exchange", content=b"no json", headers=OURS).status_code == 400
    assert held == [patience.HELD_S] * 2
