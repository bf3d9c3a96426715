"""A model that grades clips: the form of a request, and an endpoint that fails, refuses and talks nonsense."""

import base64
import json
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from backend.core.errors import EndpointUnavailable
from backend.language.chat import KEY, ChatModel
from backend.language.judge import ClipAnswer, ClipQuestion, grade_clips
from chat_server import Act, Answer, Asked, ChatServer, Drop, Raw, Refuse, Stall, serving

SECRET = "sk-very-secret-0123456789"
NUMBERS = range(1, 9)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def question(number: int) -> ClipQuestion[int]:
    return ClipQuestion(number, "Grade 0 to 4.", f"clip {number}", [b"\xff\xd8 one", b"\xff\xd8 two"], 4)


def number_of(asked: Asked) -> int:
    """About which clip a request is."""
    return int(asked.body["messages"][1]["content"][0]["text"].removeprefix("clip "))


def told(grade: object, reason: str = "A man sits.") -> Answer:
    return Answer(json.dumps({"grade": grade, "reason": reason}))


def well(asked: Asked) -> Act:
    """A grade that tells the clip."""
    return told(number_of(asked) % 5)


def graded(server: ChatServer, numbers: "range | list[int]" = NUMBERS, **options: object) -> dict[int, ClipAnswer]:
    """The answer to each question."""
    kept: dict[int, ClipAnswer] = {}

    def keep(number: int, answer: ClipAnswer) -> None:
        assert number not in kept
        kept[number] = answer

    given = {"at_once": 3, "timeout_s": 5.0, "retries": 2, **options}
    model = ChatModel("eye", server.url, **given)  # type: ignore[arg-type]
    try:
        grade_clips(model, map(question, numbers), keep)
    finally:
        server.kept = kept  # type: ignore[attr-defined]
    return kept


def test_a_request_has_the_text_the_pictures_and_the_form_and_nothing_else() -> None:
    with serving(well) as server:
        kept = graded(server, [3])
    assert kept == {3: ClipAnswer(3, "A man sits.", False, (100, 10), 1)}
    (asked,) = server.asked
    url = "data:image/jpeg;base64,"
    schema = {
        "type": "object",
        "properties": {"grade": {"type": "integer", "enum": [0, 1, 2, 3, 4]}, "reason": {"type": "string"}},
        "required": ["grade", "reason"],
        "additionalProperties": False,
    }
    assert asked.body == {
        "model": "eye",
        "temperature": 0,
        "messages": [
            {"role": "system", "content": "Grade 0 to 4."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "clip 3"},
                    {"type": "image_url", "image_url": {"url": url + base64.b64encode(b"\xff\xd8 one").decode()}},
                    {"type": "image_url", "image_url": {"url": url + base64.b64encode(b"\xff\xd8 two").decode()}},
                ],
            },
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "grade", "strict": True, "schema": schema}},
    }


def test_every_clip_is_asked_about_once_and_requests_know_nothing_of_one_another() -> None:
    with serving(well) as server:
        kept = graded(server)
    assert {number: answer.grade for number, answer in kept.items()} == {n: n % 5 for n in NUMBERS}
    assert Counter(map(number_of, server.asked)) == dict.fromkeys(NUMBERS, 1)
    assert {len(asked.body["messages"]) for asked in server.asked} == {2}


def test_one_request_goes_ahead_and_then_as_many_as_wanted_are_under_way() -> None:
    meeting = threading.Barrier(3, timeout=60)
    under_way, most, lock = 0, 0, threading.Lock()

    def act(asked: Asked) -> Act:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
            alone = under_way == 1
        if asked.number == 1:
            assert alone
        else:
            meeting.wait()
        with lock:
            under_way -= 1
        return well(asked)

    with serving(act) as server:
        assert len(graded(server, range(1, 8))) == 7
    assert most == 3


@pytest.mark.parametrize(
    "act",
    [Refuse(429, {"Retry-After": "0.01"}), Refuse(500, {"Retry-After": "0.01"}), Refuse(503), Drop()],
    ids=["429", "500", "503", "drop"],
)
def test_what_fails_for_a_moment_is_sent_again_and_counted(act: Act) -> None:
    with serving(lambda asked: act if asked.number == 1 else well(asked)) as server:
        kept = graded(server, [2])
    assert kept == {2: ClipAnswer(2, "A man sits.", False, (100, 10), 2)}


@pytest.mark.parametrize(
    "text",
    [
        "I would say 3.",
        "",
        '{"grade": 3, "rea',
        '{"grade": 7, "reason": "The best."}',
        '{"grade": -1, "reason": "The worst."}',
        '{"grade": "3", "reason": "A text."}',
        '{"grade": 2.5, "reason": "Between."}',
        '{"reason": "No grade."}',
        "[3]",
    ],
)
def test_an_answer_that_is_not_in_the_form_is_asked_for_once_more(text: str) -> None:
    with serving(lambda asked: Answer(text) if asked.number == 1 else told(2)) as server:
        kept = graded(server, [1])
    assert kept == {1: ClipAnswer(2, "A man sits.", False, (200, 20), 2)}
    first, second = (asked.body["messages"] for asked in server.asked)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": text}
    assert second[3]["role"] == "user"
    assert 'whole number "grade" from 0 to 4' in second[3]["content"]

    with serving(lambda asked: Answer(text) if number_of(asked) == 1 else well(asked)) as server:
        kept = graded(server, [1, 2])
    assert (kept[1].grade, kept[1].refused, kept[1].requests, kept[1].tokens) == (None, False, 2, (200, 20))
    assert kept[1].reason.startswith("not in the form asked for: ")
    assert kept[2].grade == 2


def test_an_answer_cut_off_is_no_grade() -> None:
    cut = Answer('{"grade": 3, "reason": "A"}', finish="length")
    with serving(lambda asked: cut if number_of(asked) == 1 else well(asked)) as server:
        kept = graded(server, [1, 2])
    assert kept[1] == ClipAnswer(None, "an answer that was cut off", False, (100, 10), 1)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (Answer("", refusal="I cannot look\nat people."), "I cannot look at people."),
        (Answer("", finish="content_filter"), "the endpoint's content filter stopped the answer"),
        (Refuse(400, message="violence", code="content_filter"), "error 400: violence"),
    ],
    ids=["model", "filter", "endpoint"],
)
def test_a_refusal_is_kept_with_its_words_and_not_asked_again(act: Act, reason: str) -> None:
    with serving(lambda asked: act if number_of(asked) == 1 else well(asked)) as server:
        kept = graded(server, [1, 2])
    assert (kept[1].grade, kept[1].refused) == (None, True)
    assert reason in kept[1].reason
    assert Counter(map(number_of, server.asked))[1] == 1


def test_a_refusal_is_an_answer_of_an_endpoint_that_works() -> None:
    with serving(lambda asked: Answer("", refusal="No.")) as server:
        assert all(answer.refused for answer in graded(server).values())
    assert len(server.asked) == len(NUMBERS)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (Refuse(401, message=f"wrong key {SECRET}"), f"it rejects the key in {KEY}"),
        (Refuse(404, message="no model eye"), "error 404: no model eye"),
        (Refuse(429, {"Retry-After": "0.01"}, f"quota of {SECRET} is used up"), "quota of ... is used up"),
        (Refuse(500, {"Retry-After": "0.01"}, "out of memory"), "error 500: out of memory"),
        (Stall(), "no answer within 0.3 s, 2 times"),
        (Drop(), "it cannot be reached, or closes the connection"),
    ],
    ids=["401", "404", "429", "500", "stall", "drop"],
)
def test_what_fails_for_good_ends_the_run_without_an_answer_and_without_the_key(act: Act, said: str) -> None:
    with serving(lambda asked: act) as server, pytest.raises(EndpointUnavailable) as refusal:
        graded(server, timeout_s=0.3, retries=1)
    assert said in str(refusal.value)
    assert SECRET not in str(refusal.value)
    assert server.kept == {}  # type: ignore[attr-defined]
    assert len(server.asked) <= 6


@pytest.mark.parametrize("act", [Refuse(500, {"Retry-After": "0.01"}, "bad picture"), Stall()], ids=["500", "stall"])
def test_a_clip_that_breaks_the_endpoint_fails_and_the_others_do_not(act: Act) -> None:
    with serving(lambda asked: act if number_of(asked) == 4 else well(asked)) as server:
        kept = graded(server, timeout_s=0.5, retries=1)
    assert {n: answer.grade for n, answer in kept.items()} == {n: None if n == 4 else n % 5 for n in NUMBERS}
    assert (kept[4].requests, kept[4].tokens) == (2, (None, None))


def test_what_was_answered_before_the_endpoint_fails_is_kept() -> None:
    with (
        serving(lambda asked: well(asked) if asked.number <= 3 else Refuse(401)) as server,
        pytest.raises(EndpointUnavailable),
    ):
        graded(server, at_once=1)
    assert [*server.kept] == [1, 2, 3]  # type: ignore[attr-defined]
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (Refuse(400, message="no json_schema here"), "error 400: no json_schema here"),
        (Raw(b"<html>Welcome</html>", "text/html"), "an answer that does not follow the chat protocol"),
        (Raw(b'{"result": "ok"}'), "an answer that does not follow the chat protocol"),
        (Answer("Four!"), "not in the form asked for: Four!"),
    ],
    ids=["setting", "html", "other json", "prose"],
)
def test_an_endpoint_that_never_says_anything_of_use_is_not_asked_for_ever(act: Act, said: str) -> None:
    with (
        serving(lambda asked: act) as server,
        pytest.raises(EndpointUnavailable, match="gave no usable answer") as no,
    ):
        graded(server, range(100), at_once=1)
    assert said in str(no.value)
    assert len(server.asked) <= 6


def test_a_reason_is_one_line_without_control_characters_and_not_endless() -> None:
    with serving(lambda asked: told(1, "A man\n\n sits.\x00\x1b " + "x" * 900)) as server:
        reason = graded(server, [1])[1].reason
    assert reason.startswith("A man sits. xxx")
    assert len(reason) <= 300


def test_a_question_is_taken_when_its_request_can_be_sent() -> None:
    """So a caller may end them by what was answered so far."""
    kept: list[int] = []

    def questions() -> Iterator[ClipQuestion[int]]:
        for number in range(100):
            if len(kept) >= 5:
                return
            yield question(number)

    with serving(well) as server:
        grade_clips(ChatModel("eye", server.url, at_once=1), questions(), lambda key, answer: kept.append(key))
    assert kept == [0, 1, 2, 3, 4]
