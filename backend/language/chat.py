"""Send requests to a model at any endpoint that speaks OpenAI's chat protocol, and say what came of each.

The openai package repeats a request after a temporary failure (429, 5xx, connection, time-out), when the delay that the
endpoint asks for is over.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from backend.core.errors import EndpointUnavailable
from backend.core.messages import said

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI

KEY = "OPENAI_API_KEY"
"""The environment variable with the endpoint's key; the key is read from nowhere else."""

OPENAI = "https://api.openai.com/v1"

REFUSALS = 3
"""After this many useless answers without a usable one, the fault lies with the endpoint, not with what was sent."""

Tokens = tuple[int | None, int | None]
UNTOLD: Tokens = (None, None)


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model and how to call it.

    Attributes:
        model: its name at the endpoint.
        base_url: the endpoint's address.
        at_once: the most requests at the same time.
        timeout_s: seconds to wait for an answer.
        retries: how often a request is repeated after a temporary failure.
    """

    model: str
    base_url: str = OPENAI
    at_once: int = 8
    timeout_s: float = 60
    retries: int = 6

    @property
    def host(self) -> str:
        """The host name in the endpoint's address. Records store only this, because an address may contain secrets."""
        return urlsplit(self.base_url).hostname or ""


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer to one request, or why there is none.

    Attributes:
        text: what the model wrote; empty if it wrote nothing.
        fault: why the answer is of no use; empty if it was received whole.
        refused: whether the model or the endpoint's filter declined to answer; `fault` has its words.
        outage: set if the endpoint failed even after retries with an error of its own (5xx) or no answer in time.
        tokens: numbers of tokens of the request and of the answer; None where the endpoint does not tell.
        sent: how often the request was sent, with retries.
    """

    text: str = ""
    fault: str = ""
    refused: bool = False
    outage: EndpointUnavailable | None = None
    tokens: Tokens = UNTOLD
    sent: int = 1


def require(model: ChatModel) -> None:
    """Check that the openai package is installed, the address is valid, and OpenAI's own endpoint has an API key.

    Raises:
        EndpointUnavailable: one of these fails, or the address contains a user name or password.
    """
    if find_spec("openai") is None:
        raise EndpointUnavailable.said("the openai package is not installed: run `pip install 'reelrank[openai]'`")
    parts = urlsplit(model.base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointUnavailable.said("the base URL is not an address: give one such as https://host/v1")
    if parts.username or parts.password:
        raise EndpointUnavailable.said(
            "the base URL contains a secret: remove it, and put the key into the environment variable {key}", key=KEY
        )
    if model.base_url == OPENAI and not os.environ.get(KEY):
        raise EndpointUnavailable.said(
            "there is no key for {host}: set the environment variable {key}", host=model.host, key=KEY
        )


def client_of(model: ChatModel) -> "AsyncOpenAI":
    """Return a client for the endpoint, to be closed by the caller."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        # Servers of one's own often ask for no key, but the package wants one.
        api_key=os.environ.get(KEY) or "none",
        base_url=model.base_url,
        timeout=model.timeout_s,
        max_retries=model.retries,
    )


async def complete(
    client: "AsyncOpenAI", model: ChatModel, messages: Sequence[Mapping[str, object]], **options: Any
) -> Completion:
    """Send one request, and return the answer or why there is none.

    Args:
        client: a client from `client_of`.
        model: the model.
        messages: the messages of the chat protocol.
        options: further fields of the request, such as `temperature`.

    Raises:
        EndpointUnavailable: the endpoint rejects every such request: the key, the model's name, the quota. Or it cannot
            be reached.
    """
    import openai

    sent = 1
    try:
        response = await client.chat.completions.with_raw_response.create(
            model=model.model,
            messages=messages,  # type: ignore[arg-type]  # the package has a type for each role
            **options,
        )
        sent += response.retries_taken
        completion = response.parse()
    except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
        # Some endpoints refuse a text for its content; others refuse every request with an unknown setting.
        return Completion(fault=_said(error), refused="content" in f"{error.code} {error.type}")
    except (openai.APIResponseValidationError, ValueError):
        return Completion(fault=said("an answer that does not follow the chat protocol"), sent=sent)
    except (openai.APITimeoutError, openai.InternalServerError) as error:
        failure = _failed(model, error)
        return Completion(fault=str(failure), outage=failure, sent=model.retries + 1)
    except openai.APIError as error:
        raise _failed(model, error) from None
    choices = getattr(completion, "choices", None)
    if not choices:
        return Completion(fault=said("an answer that does not follow the chat protocol"), sent=sent)
    usage = getattr(completion, "usage", None)
    tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else UNTOLD
    message, finish = choices[0].message, choices[0].finish_reason
    refusal = " ".join(str(getattr(message, "refusal", None) or "").split())[:300]
    if refusal or finish == "content_filter":
        fault = refusal or said("the endpoint's content filter stopped the answer")
        return Completion(fault=fault, refused=True, tokens=tokens, sent=sent)
    text = getattr(message, "content", None) or ""
    fault = said("an answer that was cut off") if finish == "length" else ""
    return Completion(text, fault, tokens=tokens, sent=sent)


def no_use(model: ChatModel, fault: str) -> EndpointUnavailable:
    """Return the error to raise if an endpoint gave no usable answer; `fault` says what was wrong with the last one."""
    return EndpointUnavailable.said(
        "{host} gave no usable answer, but {answer}. Check that {model!r} is a chat model and that "
        "the base URL is complete (it often ends in /v1)",
        host=model.host,
        answer=fault,
        model=model.model,
    )


def _failed(model: ChatModel, error: "APIError") -> EndpointUnavailable:
    """Return the error to raise for a request that failed even after retries."""
    import openai

    if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
        why = said("it rejects the key in {key}: check the key and its permissions", key=KEY)
    elif isinstance(error, openai.APITimeoutError):
        why = said(
            "no answer within {timeout_s:g} s, {times} times", timeout_s=model.timeout_s, times=model.retries + 1
        )
    elif isinstance(error, openai.APIStatusError):
        why = _said(error)
    else:
        why = said("it cannot be reached, or closes the connection: check the address, and that the server is running")
    return EndpointUnavailable.said("{host}: {why}", host=model.host, why=why)


def _said(error: "APIError") -> str:
    """Return the endpoint's own error message: shortened, in one line, and without the API key."""
    status = getattr(error, "status_code", "")
    words = " ".join(str(error.message).removeprefix(f"Error code: {status} - ").split())
    if key := os.environ.get(KEY):
        words = words.replace(key, "...")
    return said("error {status}: {words}", status=status, words=words[:300])
