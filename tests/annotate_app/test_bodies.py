"""What arrives at the door: sizes, depths, numbers, slowness, and how much of it one person may send."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

from annotate_app.server import answers
from annotate_app.server.answers import Turns
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import own_routes
from annotate_app.session import request_limits
from annotate_app.session.request_limits import BodyRefused, RequestLimits, TooMuch, parsed
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.core.ids import AnnotatorId
from backend.media.clips import ensure as cut_clip
from served import browsing
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
    monkeypatch.setattr(request_limits, "BODY_S", 0.05)
    with pytest.raises(HTTPException) as refused:
        asyncio.run(request_limits.body(request_of(slowly(1000, 0.01)), 10_000))
    assert refused.value.status_code == 408


def test_a_file_may_take_long_but_not_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "SILENT_S", 0.2)

    async def received(pieces: int, each_s: float) -> bytes:
        return b"".join([piece async for piece in request_limits.chunks(request_of(slowly(pieces, each_s)))])

    assert asyncio.run(received(30, 0.01)) == b"x" * 30
    with pytest.raises(HTTPException) as refused:
        asyncio.run(received(1, 5.0))
    assert refused.value.status_code == 408


# Turns


def test_a_persons_requests_wait_for_each_other_and_for_nobody_elses() -> None:
    order: list[str] = []

    async def one(mine: Turns, who: int, name: str) -> None:
        async with mine.of(AnnotatorId(who), 1):
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


def test_a_person_has_so_many_requests_under_way() -> None:
    mine, me, other = RequestLimits(), AnnotatorId(1), AnnotatorId(2)
    with ExitStack() as stack:
        for _ in range(request_limits.MOST_AT_ONCE):
            stack.enter_context(mine.under_way(me))
        with pytest.raises(TooMuch), mine.under_way(me):
            pass
        with mine.under_way(other):
            pass
    with mine.under_way(me):
        pass


def test_a_storm_of_refusals_is_told_slowly_and_a_pause_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(request_limits, "REFUSALS_AT_ONCE", 5)
    monkeypatch.setattr(request_limits, "REFUSALS_A_SECOND", 50.0)

    async def refusals(mine: RequestLimits, people: list[int]) -> float:
        """In how many seconds all of these are told that come at once."""
        began = time.monotonic()
        await asyncio.gather(*[mine.delay_refusal(AnnotatorId(person)) for person in people])
        return time.monotonic() - began

    async def storms() -> None:
        mine = RequestLimits(lambda: now[0])
        held: list[float] = []
        monkeypatch.setattr(asyncio.get_running_loop(), "call_later", wraps(held))
        await refusals(mine, [1, 1, 2, 3, 4])
        assert held == [], "few are told at once, whoever they are"
        assert await refusals(mine, [1, 2, 3, 4]) >= 4 / 50
        assert held == [1 / 50] * 4
        now[0] = 0.04
        await refusals(mine, [1, 2])
        assert held == [1 / 50] * 4, "in 0.04 s two more may be told"
        now[0] = 1000.0
        await refusals(mine, [1] * 5)
        assert held == [1 / 50] * 4, "after a pause as many as at first"
        await refusals(mine, [1])
        assert held == [1 / 50] * 5, "and no more"

    asyncio.run(storms())


def wraps(held: list[float]) -> Callable[..., object]:
    """The loop's own `call_later`, which notes how long it was asked to wait."""
    later = asyncio.get_running_loop().call_later

    def noted(delay_s: float, work: Callable[[], object]) -> object:
        held.append(delay_s)
        return later(delay_s, work)

    return noted


def test_who_was_refused_least_is_told_first_and_the_most_refused_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "REFUSALS_AT_ONCE", 0)
    monkeypatch.setattr(request_limits, "REFUSALS_A_SECOND", 100.0)
    told: list[str] = []

    async def one(mine: RequestLimits, who: int, name: str) -> None:
        await mine.delay_refusal(AnnotatorId(who))
        told.append(name)

    async def in_order() -> None:
        mine = RequestLimits(lambda: 0.0)
        await asyncio.gather(*[one(mine, 1, f"a{n}") for n in range(4)], one(mine, 2, "b0"), one(mine, 2, "b1"))

    asyncio.run(in_order())
    assert told == ["a0", "b0", "a1", "b1", "a2", "a3"]
    monkeypatch.setattr(request_limits, "REFUSALS_A_SECOND", 1e-6)
    monkeypatch.setattr(request_limits, "MOST_DELAYED_REFUSALS", 3)
    told.clear()

    async def full() -> None:
        mine = RequestLimits(lambda: 0.0)
        waiting = [asyncio.create_task(one(mine, who, name)) for who, name in [(1, "a0"), (1, "a1"), (1, "a2")]]
        await anyio.sleep(0)
        waiting.append(asyncio.create_task(one(mine, 2, "b0")))
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        assert told == ["a2"]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert mine._held == [], "nothing is kept of who is gone"

    asyncio.run(full())


def test_many_events_wait_for_many_events_and_for_nothing_else() -> None:
    begun, done, most = set[int](), set[int](), 0

    async def one(mine: Turns, who: int, events: int) -> None:
        nonlocal most
        many = events > answers.FEW_EVENTS
        async with mine.of(AnnotatorId(who), events):
            for some in answers.parts(range(events)):
                async with mine.part(AnnotatorId(who), len(some), of_many=many):
                    begun.add(who)
                    most = max(most, len(begun - done))
                    await anyio.sleep(0.001)
            done.add(who)

    async def all_at_once() -> None:
        mine = Turns()
        heavy = asyncio.gather(*[one(mine, n, 50) for n in range(10)])
        await anyio.sleep(0)
        await asyncio.wait_for(one(mine, 99, 1), 60)
        assert not heavy.done()
        await heavy

    asyncio.run(asyncio.wait_for(all_at_once(), 60))
    assert most == 2, "one after the other, and the one with few beside"


@pytest.mark.parametrize("many", [False, True])
def test_somebody_at_work_waits_for_nobody_who_floods(many: bool) -> None:
    """45 people ask again and again with as much as goes beside others, or with more; one has a grade now and then."""
    begun, over = 0, False

    async def flooding(mine: Turns, who: int) -> None:
        nonlocal begun
        while not over:
            async with mine.of(AnnotatorId(who), 0), mine.part(AnnotatorId(who), 5, of_many=many):
                begun += 1
                await anyio.sleep(0)

    async def beside() -> None:
        nonlocal over
        mine, now = Turns(lambda: now[0]), [0.0]
        flood = [asyncio.create_task(flooding(mine, who)) for who in range(45)]
        while begun < 3 * 45:
            await anyio.sleep(0)
        for _ in range(20):
            before = begun
            async with mine.part(AnnotatorId(99), 1, of_many=False):
                assert begun == before, "whoever came before"
                for _ in range(10):
                    await anyio.sleep(0)
                assert begun == before or not many, "no part of many begins beside it"
            while begun < before + 45:
                await anyio.sleep(0)
        over = True
        await asyncio.gather(*flood)

    asyncio.run(asyncio.wait_for(beside(), 60))


def test_who_hands_in_many_comes_to_an_end_however_busy_others_are() -> None:
    begun = 0
    between = list[int]()

    async def busy(mine: Turns, who: int) -> None:
        nonlocal begun
        while True:
            async with mine.part(AnnotatorId(who), 1, of_many=False):
                begun += 1
                await anyio.sleep(0)

    async def beside() -> None:
        mine = Turns(lambda: 0.0)
        others = [asyncio.create_task(busy(mine, who)) for who in range(10)]
        await anyio.sleep(0)
        async with mine.of(AnnotatorId(99), 50):
            for _ in answers.parts(range(50)):
                before = begun
                async with mine.part(AnnotatorId(99), answers.PART_EVENTS, of_many=True):
                    between.append(begun - before)
                await anyio.sleep(0.001)  # the rest
        for task in others:
            task.cancel()

    asyncio.run(asyncio.wait_for(beside(), 60))
    assert len(between) == 25
    assert max(between) <= answers.MANY_AFTER + answers.AT_WORK


def test_fifty_people_who_hand_in_at_once_are_all_served_as_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tenth comes back after an outage, with fifty grades; the others wait for none of these."""
    monkeypatch.setattr(answers, "RESTS", 0.0)
    done = list[int]()

    async def one(mine: Turns, who: int) -> None:
        events = 1 + 49 * (who % 10 == 0)
        async with mine.of(AnnotatorId(who), events):
            for some in answers.parts(range(events)):
                async with mine.part(AnnotatorId(who), len(some), of_many=events > 1):
                    await anyio.sleep(0)
            done.append(who)

    async def all_at_once() -> None:
        mine = Turns(lambda: 0.0)
        await asyncio.gather(*[one(mine, who) for who in range(50)])

    asyncio.run(asyncio.wait_for(all_at_once(), 60))
    assert done == [who for who in range(50) if who % 10] + [0, 10, 20, 30, 40]


@example([*((1, 0, 0, 0),) * 4, (2, 0, 0, 0), (2, 0, 2, 0), (2, 0, 0, 0), (2, 1, 1, 0)])  # who gave up let others in
@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 12), st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_everybody_has_their_turn_and_never_too_many_do(asked: list[tuple[int, int, int, int]]) -> None:
    """Of requests with a person, events, when they come and how long a part takes; some are given up on the way."""
    at_work: list[tuple[int, bool]] = []
    served: dict[int, list[int]] = {}

    async def one(mine: Turns, number: int, who: int, events: int, comes: int, takes: int) -> None:
        for _ in range(comes):
            await anyio.sleep(0)
        many = events > answers.FEW_EVENTS
        async with mine.of(AnnotatorId(who), events):
            for some in answers.parts(range(events)):
                async with mine.part(AnnotatorId(who), len(some), of_many=many):
                    assert not (many and at_work), "many wait until nobody is at work"
                    at_work.append((who, many))
                    assert len(at_work) <= answers.AT_WORK
                    assert len({person for person, _ in at_work}) == len(at_work)
                    try:
                        for _ in range(takes):
                            await anyio.sleep(0)
                    finally:
                        at_work.remove((who, many))
            served.setdefault(who, []).append(number)

    async def all_of_them() -> None:
        mine = Turns(lambda: 0.0)
        tasks = [asyncio.create_task(one(mine, number, *what)) for number, what in enumerate(asked)]
        await anyio.sleep(0)
        given_up = [task for number, task in enumerate(tasks) if number % 7 == 6]
        for task in given_up:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
        assert all(task.cancelled() or task.exception() is None for task in tasks)
        assert all(not task.cancelled() for task in tasks if task not in given_up)
        assert (mine._waiting, mine._at_work, mine._one) == ([], [], {})

    asyncio.run(all_of_them())
    for who, numbers in served.items():
        assert numbers == sorted(numbers, key=lambda number: (asked[number][2], number)), f"as {who} sent them"


def test_nobody_hands_in_more_in_an_hour_than_people_can_do() -> None:
    async def hand_in(mine: Turns, at: float, events: int) -> int:
        try:
            clock[0] = at
            async with mine.of(AnnotatorId(1), events):
                return 0
        except TooMuch as refusal:
            return refusal.wait_s

    clock = [0.0]

    async def an_hour() -> None:
        mine = Turns(lambda: clock[0])
        taken = [await hand_in(mine, float(n), answers.MOST_EVENTS) for n in range(answers.MOST_AN_HOUR // 100)]
        assert set(taken) == {0}
        assert await hand_in(mine, 100.0, 1) == 3501
        assert await hand_in(mine, 100.0, 0) == 0, "the desk is still told"
        assert await hand_in(mine, 3600.0, 100) == 0, "the first hundred are an hour old"
        assert await hand_in(mine, 3600.0, 1) == 2

    asyncio.run(an_hour())


# Every route


@pytest.fixture
def ana(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr("annotate_app.server.routes.report_clip", lambda *_, **__: None)  # no video here has a file
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setattr(request_limits, "REFUSALS_AT_ONCE", 1_000_000)  # these tests are the storm
    add_person_with_password(judging.project, OPERATOR, "Ada", Role.ANNOTATOR, PASSWORD, now=NOW)
    have_read(judging.project)
    routes = own_routes(lambda: judging.project, ClipWorker(cut_clip), lambda project, lead: {})
    with browsing(judging.project, routes, sign_in(judging.project, "Ada", PASSWORD, now=NOW)) as client:
        yield client


def test_no_route_that_takes_json_ends_in_an_error_of_the_server(ana: TestClient, judging: Judging) -> None:
    posts = [
        route.path
        for route in own_routes(lambda: judging.project, ClipWorker(cut_clip), lambda *_: {})
        if "POST" in getattr(route, "methods", ()) and not route.path.startswith(("/session/", "/api/"))
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
    grades = [{"pair": pair, "grade": 9, "key": f"k{n}"} for n in range(answers.MOST_EVENTS + 1)]
    assert ana.post("/desk/exchange", json={"grades": grades}, headers=OURS).status_code == 400
    assert kept() == before
    answer = ana.post("/desk/exchange", json={"grades": grades[:3]}, headers=OURS)
    assert [one["status"] for one in answer.json()["receipts"]] == ["refused"] * 3
    assert kept() == before + 3


def test_many_events_have_all_their_receipts_in_the_order_of_giving(ana: TestClient, judging: Judging) -> None:
    """As of somebody who was cut off for a while; they are handed in in parts, which nobody sees."""
    first, second, *_ = [
        item["pair"] for item in ana.post("/desk/exchange", json={}, headers=OURS).json()["desk"]["items"]
    ]
    grades = [{"pair": first, "grade": grade, "key": f"g{n}"} for n, grade in enumerate([0, 1, 9, 2, 3])]
    skips = [{"pair": pair, "kind": "skip", "reason": "later", "key": f"s{n}"} for n, pair in enumerate([second, "no"])]
    answer = ana.post("/desk/exchange", json={"grades": grades, "skips": skips}, headers=OURS).json()
    assert [(one["key"], one["status"]) for one in answer["receipts"]] == [
        *(("g0", "saved"), ("g1", "saved"), ("g2", "refused"), ("g3", "saved"), ("g4", "saved")),
        *(("s0", "saved"), ("s1", "refused")),
    ]
    assert not {first, second} & {item["pair"] for item in answer["desk"]["items"]}
    kept = judging.project.store.db.conn.execute("SELECT grade FROM judgement ORDER BY revision").fetchall()
    assert [row[0] for row in kept] == [0, 1, 2, 3]


def test_who_sends_too_much_is_told_to_wait(ana: TestClient, judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_AN_HOUR", 2)
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
    assert row[2] == 2**31 - 1
    assert 0 <= row[0] <= row[1] < 60_000, "times are those that passed on the server"


def test_only_what_changes_something_is_told_late(ana: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "REFUSALS_AT_ONCE", 2)
    later: list[AnnotatorId] = []
    refused = RequestLimits.delay_refusal

    async def noted(mine: RequestLimits, person: AnnotatorId) -> None:
        later.append(person)
        await refused(mine, person)

    monkeypatch.setattr(RequestLimits, "delay_refusal", noted)
    for _ in range(4):
        assert ana.get("/clips/gone.mp4").status_code == 403
    assert later == []
    began = time.monotonic()
    for _ in range(4):
        assert ana.post("/desk/exchange", content=b"no json", headers=OURS).status_code == 400
    assert len(later) == 4
    assert time.monotonic() - began >= 2 / request_limits.REFUSALS_A_SECOND
