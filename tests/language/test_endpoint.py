"""An endpoint that answers, fails, stalls, hangs up and talks nonsense, over real HTTP on this machine."""

import threading
from collections.abc import Callable

import pytest

from backend.core.errors import EndpointUnavailable
from backend.language.chat import KEY
from backend.language.endpoint import Endpoint, Reply, ask
from backend.language.prompts import TVR_RANKING
from chat_server import Act, Answer, Asked, ChatServer, Drop, Raw, Refuse, Stall, lines, serving, well, without_names

CAPTIONS = [f"Anna waves in room {number}." for number in range(1, 8)]
SECRET = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def at(server: ChatServer, **options: object) -> Endpoint:
    """The server as an endpoint that gives up soon."""
    given = {"batch": 3, "at_once": 2, "timeout_s": 5.0, "retries": 2, **options}
    return Endpoint("small", server.url, **given)  # type: ignore[arg-type]


def replies(server: ChatServer, captions: list[str] = CAPTIONS, **options: object) -> list[Reply]:
    """All that was handed over."""
    kept: list[Reply] = []
    ask(at(server, **options), captions, 0.2, kept.append)
    return kept


def answers(kept: list[Reply]) -> dict[str, str]:
    found = [pair for reply in kept for pair in reply.answers.items()]
    assert len(found) == len(dict(found)), "something was answered twice"
    return dict(found)


WELL = {caption: without_names(caption) for caption in CAPTIONS}


def test_captions_go_out_in_batches_and_come_back_by_number() -> None:
    with serving() as server:
        kept = replies(server)
    assert answers(kept) == WELL
    assert sorted(len(asked.captions) for asked in server.asked) == [1, 3, 3]
    assert {(asked.temperature, asked.authorization) for asked in server.asked} == {(0.2, f"Bearer {SECRET}")}
    assert [reply.tokens for reply in kept] == [(100, 10)] * 3


@pytest.mark.parametrize("at_once", [1, 3])
def test_as_many_requests_are_under_way_as_wanted_and_no_more(at_once: int) -> None:
    meeting = threading.Barrier(at_once, timeout=60)
    under_way, most, lock = 0, 0, threading.Lock()

    def act(asked: Asked) -> Act:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        meeting.wait()
        with lock:
            under_way -= 1
        return well(asked)

    with serving(act) as server:
        assert answers(replies(server, CAPTIONS[:6], batch=1, at_once=at_once)) == dict(list(WELL.items())[:6])
    assert most == at_once


def first(act: Act) -> Callable[[Asked], Act]:
    """This on the first request; then all is well."""
    return lambda asked: act if asked.number == 1 else well(asked)


@pytest.mark.parametrize(
    "act",
    [Refuse(429, {"Retry-After": "0.01"}), Refuse(500, {"Retry-After": "0.01"}), Refuse(503), Drop()],
    ids=["429", "500", "503", "drop"],
)
def test_what_fails_for_a_moment_is_asked_again(act: Act) -> None:
    with serving(first(act)) as server:
        assert answers(replies(server, CAPTIONS[:3])) == dict(list(WELL.items())[:3])
    assert [asked.captions for asked in server.asked] == [tuple(CAPTIONS[:3])] * 2


def test_an_answer_that_does_not_come_is_asked_for_again() -> None:
    with serving(first(Stall())) as server:
        assert answers(replies(server, CAPTIONS[:3], timeout_s=0.3)) == dict(list(WELL.items())[:3])
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (Refuse(401, message=f"wrong key {SECRET}"), f"it rejects the key in {KEY}"),
        (
            Refuse(404, message="no model small"),
            "error 404: no model small",
        ),
        (Refuse(429, {"Retry-After": "0.01"}, f"quota of {SECRET} is used up"), "quota of ... is used up"),
        (Stall(), "no answer within 0.3 s, 2 times"),
        (Drop(), "it cannot be reached, or closes the connection"),
    ],
    ids=["401", "404", "429", "stall", "drop"],
)
def test_what_fails_for_good_is_told_without_the_key(act: Act, said: str) -> None:
    with serving(lambda asked: act) as server, pytest.raises(EndpointUnavailable) as refusal:
        replies(server, CAPTIONS[:1], timeout_s=0.3, retries=1)
    assert said in str(refusal.value)
    assert str(refusal.value).startswith("127.0.0.1: ")
    assert SECRET not in str(refusal.value)


def test_what_was_under_way_when_a_request_fails_is_still_kept() -> None:
    def act(asked: Asked) -> Act:
        if asked.captions == tuple(CAPTIONS[:3]):
            server.sent.wait(5)  # the other request was refused by now
            return well(asked)
        return Refuse(404)

    kept: list[Reply] = []
    with serving(act) as server, pytest.raises(EndpointUnavailable):
        ask(at(server), CAPTIONS[:6], 0.0, kept.append)
    assert answers(kept) == dict(list(WELL.items())[:3])


def test_no_request_is_begun_after_one_that_failed_for_good() -> None:
    with serving(lambda asked: Refuse(404)) as server, pytest.raises(EndpointUnavailable):
        replies(server, at_once=1)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "",
        lines(["Somebody waves in room 1.", "Somebody waves in rooms 2 and 3."]),
        lines([*WELL.values()][:3]).replace("3.", "2."),
        lines([*WELL.values()][:4]),
    ],
    ids=["prose", "empty", "too few", "a number twice", "too many"],
)
def test_a_batch_that_does_not_come_back_whole_is_asked_caption_by_caption(text: str) -> None:
    with serving(first(Answer(text))) as server:
        kept = replies(server, CAPTIONS[:3], at_once=1)
    assert answers(kept) == dict(list(WELL.items())[:3])
    assert [asked.captions for asked in server.asked] == [tuple(CAPTIONS[:3]), *((c,) for c in CAPTIONS[:3])]
    assert kept[0] == Reply({}, (100, 10))  # it was paid for all the same


def test_merged_lines_without_numbers_never_move_the_others() -> None:
    """The number of lines is right, because a greeting makes up for the merged line."""
    merged = "Here they are:\nSomebody waves in rooms 1 and 2.\nSomebody waves in room 3."

    def act(asked: Asked) -> Act:
        return Answer(merged if asked.number == 1 else "\n".join(map(without_names, asked.captions)))

    with serving(act) as server:
        kept = replies(server, prompt=TVR_RANKING, at_once=1)
    assert answers(kept) == WELL
    assert [len(asked.captions) for asked in server.asked] == [3, 1, 1, 1, 3, 1]


def test_an_answer_cut_off_is_none() -> None:
    cut = Answer(lines([*[*WELL.values()][:2], "Somebody wa"]), finish="length")
    with serving(first(cut)) as server:
        assert answers(replies(server, CAPTIONS[:3])) == dict(list(WELL.items())[:3])


@pytest.mark.parametrize("act", [Refuse(400, message="content filter"), Answer("")], ids=["refused", "empty"])
def test_a_caption_that_gets_nothing_of_use_is_given_up_and_the_others_are_not(act: Act) -> None:
    bad = CAPTIONS[3]
    with serving(lambda asked: act if bad in asked.captions else well(asked)) as server:
        assert answers(replies(server)) == {**WELL, bad: ""}
    assert server.captions().count(bad) == 2  # in its batch, and alone


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (Refuse(400, message="no temperature here"), "error 400: "),
        (Raw(b"<html>Welcome</html>", "text/html"), "an answer that does not follow the chat protocol"),
        (Raw(b"{nonsense"), "an answer that does not follow the chat protocol"),
        (Raw(b'{"result": "ok"}'), "an answer that does not follow the chat protocol"),
        (Answer(""), "an answer that cannot be read"),
    ],
    ids=["setting", "html", "not json", "other json", "empty"],
)
def test_an_endpoint_that_never_says_anything_of_use_is_not_asked_for_ever(act: Act, said: str) -> None:
    captions = [f"Anna waves in room {number}." for number in range(100)]
    with (
        serving(lambda asked: act) as server,
        pytest.raises(EndpointUnavailable, match="gave no usable answer") as no,
    ):
        replies(server, captions, at_once=1)
    assert said in str(no.value)
    assert len(server.asked) <= 4


def test_tokens_that_are_not_told_are_not_made_up() -> None:
    with serving(lambda asked: Answer(lines(asked.captions), tokens=None)) as server:
        assert [reply.tokens for reply in replies(server, CAPTIONS[:3])] == [(None, None)]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://me:secret@host/v1", "the base URL contains a secret"),
        ("host/v1", "not an address: give one such as"),
        ("file:///etc/passwd", "not an address: give one such as"),
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str, said: str) -> None:
    with pytest.raises(EndpointUnavailable, match=said) as refusal:
        ask(Endpoint("small", url), CAPTIONS, 0.0, lambda reply: None)
    assert "me:secret" not in str(refusal.value)


def test_only_an_endpoint_of_ones_own_is_asked_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY)
    with pytest.raises(EndpointUnavailable, match=f"no key for api.openai.com.*{KEY}"):
        ask(Endpoint("small"), CAPTIONS, 0.0, lambda reply: None)
    with serving() as server:
        assert answers(replies(server)) == WELL
    assert SECRET not in server.asked[0].authorization
