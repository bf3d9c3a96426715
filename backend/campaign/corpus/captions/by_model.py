"""Rewrite by a language model: one attempt a temperature, every answer stored as it arrives.

*Writes* requests and answers. A stored answer is never asked for again, so a run that was
stopped or failed goes on where it was.
"""

from collections.abc import Sequence

from backend.campaign.corpus.captions.model import Usage
from backend.campaign.corpus.captions.rows import rewrites as rows
from backend.core.progress import Steps
from backend.language import endpoint as language
from backend.language.endpoint import Endpoint, Reply
from backend.language.prompt import PROMPT_VERSION
from backend.store.connection import Store, writing


class ByModel:
    """Rewrites through an endpoint; satisfies `Rewriter`."""

    def __init__(self, store: Store, endpoint: Endpoint, *, now: float) -> None:
        self.store = store
        self.endpoint = endpoint
        self.now = now
        self.usage = Usage()
        """What this object's requests took."""

    @property
    def attempts(self) -> int:
        """One a temperature."""
        return len(self.endpoint.temperatures)

    @property
    def usage_ever(self) -> Usage:
        """What the requests of all runs of these versions took."""
        return rows.endpoint_usage(self.store.db, [self.version(attempt) for attempt in range(1, self.attempts + 1)])

    def version(self, attempt: int) -> str:
        """Model, prompt and temperature, such as `openai:gpt-4o-mini prompt-1 t=0.2`."""
        return f"openai:{self.endpoint.model} {PROMPT_VERSION} t={self.endpoint.temperatures[attempt - 1]:g}"

    def rewrite(self, texts: Sequence[str], attempt: int, *, progress: Steps | None = None) -> list[str]:
        """Return the stored answers, and those of the endpoint to all other texts.

        Raises:
            EndpointUnavailable: the endpoint failed for good; what it answered before is kept.
        """
        version = self.version(attempt)
        answers = rows.kept_answers(self.store.db, version)
        done = {text for text in texts if text in answers}

        def keep(reply: Reply) -> None:
            with writing(self.store) as db:
                rows.keep_answers(db, version, self.endpoint.host, reply.answers, reply.tokens, at=self.now)
            self.usage += Usage.of_request(*reply.tokens)
            answers.update(reply.answers)
            done.update(reply.answers)
            if progress:
                progress(len(done), len(texts))

        if progress:
            progress(len(done), len(texts))
        if left := [text for text in texts if text not in done]:
            language.ask(self.endpoint, left, self.endpoint.temperatures[attempt - 1], keep)
        return [answers[text] for text in texts]
