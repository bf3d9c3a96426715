"""Ask a language model to rewrite captions, at any endpoint that speaks OpenAI's chat protocol.

Several requests run at once, each with several captions; the module `chat` sends them. After a permanent failure no new
requests are sent, but those under way are awaited. All answers received until then have been passed to the caller, so
the caller can ask again for the other captions. If a request gets no usable answer, its captions are sent again one by
one.

The module `prompts` builds the messages and reads the answers. An answer counts only as a whole.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backend.core.errors import ReelRankError
from backend.core.messages import said
from backend.language.chat import REFUSALS, ChatModel, Tokens, client_of, complete, no_use, require
from backend.language.prompts import DEFAULT_PROMPT, Prompt

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True, slots=True)
class Endpoint(ChatModel):
    """A language model that rewrites captions, and how to call it.

    Attributes:
        temperatures: the sampling temperature of each attempt to rewrite a caption.
        batch: captions in a request.
        prompt: what the model is told before the captions.
    """

    temperatures: tuple[float, ...] = (0.0, 0.2)
    batch: int = 10
    prompt: Prompt = DEFAULT_PROMPT


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of one request.

    Attributes:
        answers: maps captions to rewrites. A rewrite is empty if even a request for its caption alone got no usable
            answer.
        tokens: numbers of tokens of the request and of the answer; None where the endpoint does not tell.
    """

    answers: dict[str, str]
    tokens: Tokens


def ask(endpoint: Endpoint, captions: Sequence[str], temperature: float, keep: Callable[[Reply], None]) -> None:
    """Have captions rewritten; `keep` is called with the reply to every request as it arrives.

    Args:
        endpoint: the language model.
        captions: distinct captions.
        temperature: the sampling temperature, 0 for the most likely answer.
        keep: called in the calling thread. A request whose answer was unusable gives a reply without rewrites.

    Raises:
        EndpointUnavailable: a request failed even after retries, or none of the first answers was usable.
        KeyboardInterrupt: somebody pressed Ctrl-C; requests under way are abandoned at once.
    """
    require(endpoint)
    asyncio.run(_Work(endpoint, temperature, keep).all_of(captions))


@dataclass
class _Work:
    """The state of one call of `ask`, which has captions rewritten by a language model.

    Attributes:
        endpoint: the language model.
        temperature: the sampling temperature.
        keep: called with the reply to each request.
        waiting: the captions still to be sent, as one list for each request.
        proven: whether any answer was usable. If so, a useless answer is due to its caption.
        useless: (caption, fault) of each request for a single caption whose answer was not usable, while `proven` was
            False.
        failure: the error that ends the call; None while there is none.
    """

    endpoint: Endpoint
    temperature: float
    keep: Callable[[Reply], None]
    waiting: deque[list[str]] = field(default_factory=deque)
    proven: bool = False
    useless: list[tuple[str, str]] = field(default_factory=list)
    failure: ReelRankError | None = None

    async def all_of(self, captions: Sequence[str]) -> None:
        """Send all captions, several requests at a time."""
        size = self.endpoint.batch
        self.waiting.extend([*captions[start : start + size]] for start in range(0, len(captions), size))
        async with client_of(self.endpoint) as client, asyncio.TaskGroup() as group:
            for _ in range(min(self.endpoint.at_once, len(self.waiting))):
                group.create_task(self._work(client))
        if self.failure is None and self.useless and not self.proven:
            self.failure = no_use(self.endpoint, self.useless[-1][1])
        if self.failure is not None:
            raise self.failure

    async def _work(self, client: "AsyncOpenAI") -> None:
        while self.waiting and self.failure is None:
            captions = self.waiting.popleft()
            try:
                await self._request(client, captions)
            except ReelRankError as error:
                # Requests under way are paid for, so they are awaited and kept.
                self.failure = self.failure or error

    async def _request(self, client: "AsyncOpenAI", captions: list[str]) -> None:
        """Send one request, and pass on its rewrites; without a usable answer, queue its captions again one by one."""
        messages = self.endpoint.prompt.conversation(captions)
        completion = await complete(client, self.endpoint, messages, temperature=self.temperature)
        if completion.outage:
            raise completion.outage
        rewrites = [] if completion.fault else self.endpoint.prompt.read_answer(completion.text, captions)
        self._take(captions, rewrites, completion.tokens, completion.fault or said("an answer that cannot be read"))

    def _take(self, captions: list[str], rewrites: list[str], tokens: Tokens, fault: str) -> None:
        """Pass the rewrites of a request to `keep`; without rewrites, queue its captions again one by one.

        If a request had a single caption, the caption is not queued again. It gets an empty rewrite once another answer
        has shown that the endpoint works. `fault` says why an answer was not usable.
        """
        answers = dict(zip(captions, rewrites, strict=True)) if rewrites else {}
        if rewrites:
            answers |= {caption: "" for caption, _ in self.useless}
            self.proven, self.useless = True, []
        elif len(captions) > 1:
            # Before the first usable answer, single captions go first, to show whether the endpoint works at all.
            alone = [[caption] for caption in captions]
            self.waiting = deque([*self.waiting, *alone] if self.proven else [*alone, *self.waiting])
        elif self.proven:
            answers = {captions[0]: ""}
        else:
            self.useless.append((captions[0], fault))
            if len(self.useless) >= REFUSALS:
                self.failure = self.failure or no_use(self.endpoint, fault)
        self.keep(Reply(answers, tokens))
