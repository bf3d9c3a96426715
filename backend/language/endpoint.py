"""Ask a language model to rewrite captions, at any endpoint that speaks OpenAI's chat protocol.

Several requests run at once, each with several captions. The openai package repeats a request after a temporary failure
(429, 5xx, connection, time-out), when the delay that the endpoint asks for is over. After a permanent failure no new
requests are sent, but those under way are awaited. All answers received until then have been passed to the caller, so
the caller can ask again for the other captions. If a request gets no usable answer, its captions are sent again one by
one.

The module `prompts` builds the messages and reads the answers. An answer counts only as a whole.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from backend.core.errors import EndpointUnavailable, ReelRankError
from backend.core.messages import said
from backend.language.prompts import DEFAULT_PROMPT, Prompt

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI

KEY = "OPENAI_API_KEY"
"""The environment variable with the endpoint's key; the key is read from nowhere else."""

OPENAI = "https://api.openai.com/v1"

REFUSALS = 3
"""After this many useless answers without a usable one, the fault lies with the endpoint, not with the captions."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A language model and how to call it.

    Attributes:
        model: its name at the endpoint.
        base_url: the endpoint's address.
        temperatures: the sampling temperature of each attempt to rewrite a caption.
        batch: captions in a request.
        at_once: the most requests at the same time.
        timeout_s: seconds to wait for an answer.
        retries: how often a request is repeated after a temporary failure.
        prompt: what the model is told before the captions.
    """

    model: str
    base_url: str = OPENAI
    temperatures: tuple[float, ...] = (0.0, 0.2)
    batch: int = 10
    at_once: int = 8
    timeout_s: float = 60
    retries: int = 6
    prompt: Prompt = DEFAULT_PROMPT

    @property
    def host(self) -> str:
        """The host name in the endpoint's address. Records store only this, because an address may contain secrets."""
        return urlsplit(self.base_url).hostname or ""


Tokens = tuple[int | None, int | None]
UNTOLD: Tokens = (None, None)


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


def require(endpoint: Endpoint) -> None:
    """Check that the openai package is installed, the address is valid, and OpenAI's own endpoint has an API key.

    Raises:
        EndpointUnavailable: one of these fails, or the address contains a user name or password.
    """
    if find_spec("openai") is None:
        raise EndpointUnavailable.said("the openai package is not installed: run `pip install 'reelrank[openai]'`")
    parts = urlsplit(endpoint.base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointUnavailable.said("the base URL is not an address: give one such as https://host/v1")
    if parts.username or parts.password:
        raise EndpointUnavailable.said(
            "the base URL contains a secret: remove it, and put the key into the environment variable {key}", key=KEY
        )
    if endpoint.base_url == OPENAI and not os.environ.get(KEY):
        raise EndpointUnavailable.said(
            "there is no key for {host}: set the environment variable {key}", host=endpoint.host, key=KEY
        )


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
        from openai import AsyncOpenAI

        size = self.endpoint.batch
        self.waiting.extend([*captions[start : start + size]] for start in range(0, len(captions), size))
        client = AsyncOpenAI(
            # Servers of one's own often ask for no key, but the package wants one.
            api_key=os.environ.get(KEY) or "none",
            base_url=self.endpoint.base_url,
            timeout=self.endpoint.timeout_s,
            max_retries=self.endpoint.retries,
        )
        async with client, asyncio.TaskGroup() as group:
            for _ in range(min(self.endpoint.at_once, len(self.waiting))):
                group.create_task(self._work(client))
        if self.failure is None and self.useless and not self.proven:
            self.failure = self._no_use()
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
        import openai

        messages = self.endpoint.prompt.conversation(captions)
        try:
            completion = await client.chat.completions.create(
                model=self.endpoint.model,
                temperature=self.temperature,
                messages=messages,  # type: ignore[arg-type]  # the package has a type for each role
            )
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            # Some endpoints refuse captions for their content; others refuse every request with an unknown setting.
            return self._take(captions, [], UNTOLD, self._said(error))
        except (openai.APIResponseValidationError, ValueError):
            return self._take(captions, [], UNTOLD, said("an answer that does not follow the chat protocol"))
        except openai.APIError as error:
            raise self._failed(error) from None
        choices = getattr(completion, "choices", None)
        if not choices:
            return self._take(captions, [], UNTOLD, said("an answer that does not follow the chat protocol"))
        text = getattr(choices[0].message, "content", None) or ""
        cut_off = choices[0].finish_reason == "length"
        usage = getattr(completion, "usage", None)
        tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else UNTOLD
        rewrites = [] if cut_off else self.endpoint.prompt.read_answer(text, captions)
        self._take(captions, rewrites, tokens, said("an answer that cannot be read"))

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
                self.failure = self.failure or self._no_use()
        self.keep(Reply(answers, tokens))

    def _no_use(self) -> EndpointUnavailable:
        return EndpointUnavailable.said(
            "{host} gave no usable answer, but {answer}. Check that {model!r} is a chat model and that "
            "the base URL is complete (it often ends in /v1)",
            host=self.endpoint.host,
            answer=self.useless[-1][1],
            model=self.endpoint.model,
        )

    def _failed(self, error: "APIError") -> EndpointUnavailable:
        """Return the error to raise for a request that failed even after retries."""
        import openai

        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
            why = said("it rejects the key in {key}: check the key and its permissions", key=KEY)
        elif isinstance(error, openai.APITimeoutError):
            why = said(
                "no answer within {timeout_s:g} s, {times} times",
                timeout_s=self.endpoint.timeout_s,
                times=self.endpoint.retries + 1,
            )
        elif isinstance(error, openai.APIStatusError):
            why = self._said(error)
        else:
            why = said(
                "it cannot be reached, or closes the connection: check the address, and that the server is running"
            )
        return EndpointUnavailable.said("{host}: {why}", host=self.endpoint.host, why=why)

    def _said(self, error: "APIError") -> str:
        """Return the endpoint's own error message: shortened, in one line, and without the API key."""
        status = getattr(error, "status_code", "")
        words = " ".join(str(error.message).removeprefix(f"Error code: {status} - ").split())
        if key := os.environ.get(KEY):
            words = words.replace(key, "...")
        return said("error {status}: {words}", status=status, words=words[:300])
