"""Ask a model that sees pictures to grade clips, at any endpoint that speaks OpenAI's chat protocol.

Each request is about one clip and knows nothing of the others. Until the endpoint has answered once, one request is
sent at a time; then several run at once. An answer that is not in the form asked for is asked for once more.
"""

import asyncio
import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from backend.core.errors import EndpointUnavailable
from backend.core.messages import said
from backend.core.reading import UNDECODABLE
from backend.core.typed_text import unwanted_control
from backend.language.chat import REFUSALS, ChatModel, Completion, Tokens, client_of, complete, no_use, require

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LONGEST_REASON = 300
"""The most characters of a model's reason that are kept; it was asked for one sentence."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class ClipQuestion(Generic[Key]):
    """One clip to grade.

    Attributes:
        key: names the question for the caller; it is not sent.
        instruction: what the model is told.
        material: what it is to judge, as text.
        pictures: frames of the clip in order, as JPEG.
        highest: the best grade; grades are the whole numbers from 0 to it.
    """

    key: Key
    instruction: str = field(repr=False)
    material: str = field(repr=False)
    pictures: Sequence[bytes] = field(repr=False)
    highest: int

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages of the chat protocol. Pictures are embedded as data, without names."""
        pictures = [
            {
                "type": "image_url",
                "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(picture).decode()},
            }
            for picture in self.pictures
        ]
        return [
            {"role": "system", "content": self.instruction},
            {"role": "user", "content": [{"type": "text", "text": self.material}, *pictures]},
        ]

    def answer_form(self) -> dict[str, Any]:
        """Return the field `response_format` of a request: the JSON schema of an answer, a grade and a reason."""
        schema = {
            "type": "object",
            "properties": {
                "grade": {"type": "integer", "enum": [*range(self.highest + 1)]},
                "reason": {"type": "string"},
            },
            "required": ["grade", "reason"],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "grade", "strict": True, "schema": schema}}


@dataclass(frozen=True, slots=True)
class ClipAnswer:
    """What a model answered about one clip.

    Attributes:
        grade: the grade; None if the model refused or gave no usable answer.
        reason: the model's reason, on one line; without a grade, what went wrong.
        refused: whether the model or the endpoint's filter declined to answer.
        tokens: numbers of tokens sent and received in all requests; None where the endpoint does not tell.
        requests: how many requests were sent, with retries.
    """

    grade: int | None
    reason: str
    refused: bool
    tokens: Tokens
    requests: int


class _Answer(msgspec.Struct):
    grade: int
    reason: str


def read_answer(text: str, highest: int) -> tuple[int, str] | None:
    """Return (grade, reason) from a model's answer in JSON; None if its form is wrong, or the grade not on the scale.

    >>> read_answer('{"grade": 3, "reason": "A man sits down, but not on a sofa."}', 4)
    (3, 'A man sits down, but not on a sofa.')
    >>> read_answer('{"grade": 5, "reason": "The best."}', 4), read_answer('{"grade": "4", "reason": ""}', 4)
    (None, None)
    """
    try:
        answer = msgspec.json.decode(text, type=_Answer)
    except UNDECODABLE:
        return None
    if not 0 <= answer.grade <= highest:
        return None
    return answer.grade, _one_line(answer.reason)


def _one_line(text: str) -> str:
    line = " ".join(text.split())[:LONGEST_REASON]
    return "".join(character for character in line if not unwanted_control(character))


_AGAIN = (
    "That is not an answer in the form that was asked for. Answer with one JSON object that has a whole number "
    '"grade" from 0 to {highest} and a text "reason", and with nothing else.'
)


def grade_clips(
    model: ChatModel, questions: Iterator[ClipQuestion[Key]], keep: Callable[[Key, ClipAnswer], None]
) -> None:
    """Have clips graded; `keep` is called with the key of each question and its answer, as the answer arrives.

    Args:
        model: the model.
        questions: the clips. A question is taken when its request can be sent, so the iterator may look at the answers
            kept so far, and end.
        keep: called in the calling thread.

    Raises:
        EndpointUnavailable: a request failed even after retries, or none of the first answers was usable. Requests
            under way are awaited and kept.
        KeyboardInterrupt: somebody pressed Ctrl-C; requests under way are abandoned at once.
    """
    require(model)
    asyncio.run(_Grading(model, questions, keep).all())


@dataclass
class _Grading(Generic[Key]):
    """The state of one call of `grade_clips`.

    Attributes:
        model: the model.
        questions: the clips that are still to be graded.
        keep: called with each answer.
        answered: whether the endpoint has answered a request so that its answer can be kept.
        broken: how many answers in a row were in no usable form, before the first that was.
        proven: whether there was a grade or a refusal, so a useless answer is due to its question.
        down: answers about questions for which the endpoint failed, since it last answered. If it answers others, they
            are to blame; if not, the endpoint is.
        outage: the last such failure.
        failure: the error that ends the call; None while there is none.
    """

    model: ChatModel
    questions: Iterator[ClipQuestion[Key]]
    keep: Callable[[Key, ClipAnswer], None]
    answered: bool = False
    broken: int = 0
    proven: bool = False
    down: list[tuple[Key, ClipAnswer]] = field(default_factory=list)
    outage: EndpointUnavailable | None = None
    failure: EndpointUnavailable | None = None

    async def all(self) -> None:
        async with client_of(self.model) as client:
            while not self.answered and await self._next(client):
                pass
            async with asyncio.TaskGroup() as group:
                for _ in range(self.model.at_once):
                    group.create_task(self._work(client))
        if self.failure is None and self.down and not self.answered:
            self.failure = self.outage
        if self.failure is not None:
            raise self.failure
        self._keep_down()

    async def _work(self, client: "AsyncOpenAI") -> None:
        while await self._next(client):
            pass

    async def _next(self, client: "AsyncOpenAI") -> bool:
        """Ask the next question; return False if there is none, or no further one shall be asked."""
        question = None if self.failure else next(self.questions, None)
        if question is None:
            return False
        try:
            answer, outage = await self._ask(client, question)
        except EndpointUnavailable as error:
            # Requests under way are paid for, so they are awaited and kept.
            self.failure = self.failure or error
            return False
        if outage is not None:
            self.outage = outage
            self.down.append((question.key, answer))
            if len(self.down) >= REFUSALS:
                self.failure = self.failure or outage
        else:
            self._take(question.key, answer)
        return self.failure is None

    def _take(self, key: Key, answer: ClipAnswer) -> None:
        self._keep_down()
        self.keep(key, answer)
        self.answered = True
        if answer.grade is not None or answer.refused:
            self.proven = True
            return
        self.broken += 1
        if not self.proven and self.broken >= REFUSALS:
            self.failure = self.failure or no_use(self.model, answer.reason)

    def _keep_down(self) -> None:
        for key, answer in self.down:
            self.keep(key, answer)
        self.down = []

    async def _ask(
        self, client: "AsyncOpenAI", question: ClipQuestion[Key]
    ) -> tuple[ClipAnswer, EndpointUnavailable | None]:
        """Return the answer to a question, and the endpoint's failure if it never answered."""
        messages = question.messages()
        first = await self._complete(client, question, messages)
        answer = _read(first, question.highest)
        if answer.grade is not None or first.fault:
            return answer, first.outage
        again = [
            *messages,
            {"role": "assistant", "content": first.text},
            {"role": "user", "content": _AGAIN.format(highest=question.highest)},
        ]
        second = await self._complete(client, question, again)
        answer = _read(second, question.highest)
        tokens = _sum(first.tokens[0], second.tokens[0]), _sum(first.tokens[1], second.tokens[1])
        both = ClipAnswer(answer.grade, answer.reason, answer.refused, tokens, first.sent + second.sent)
        return both, None  # the endpoint did answer, and its first answer was paid for

    async def _complete(
        self, client: "AsyncOpenAI", question: ClipQuestion[Key], messages: list[dict[str, Any]]
    ) -> Completion:
        return await complete(client, self.model, messages, temperature=0, response_format=question.answer_form())


def _read(completion: Completion, highest: int) -> ClipAnswer:
    grade, reason = None, _one_line(completion.fault)
    if not completion.fault:
        grade, reason = read_answer(completion.text, highest) or (
            None,
            said("not in the form asked for: {text}", text=_one_line(completion.text)[:100] or "–"),
        )
    return ClipAnswer(grade, reason, completion.refused, completion.tokens, completion.sent)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
