"""Check that rewrites keep the meaning of their captions and contain no names, whoever or whatever wrote them."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.campaign.corpus.captions import rows as captions_rows
from backend.campaign.corpus.captions.model import Tagger, Usage
from backend.campaign.corpus.captions.rules import NOTHING_KNOWN, Known, Slips, names_in, unknown_names
from backend.campaign.corpus.captions.rules.names import NameMapping
from backend.campaign.corpus.captions.rules.spelling import key_of
from backend.core.messages import said
from backend.core.progress import Progress, Steps, steps_of
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder
from backend.language import endpoint as language
from backend.language.endpoint import PROMPT_VERSION, Endpoint, Reply
from backend.store.connection import Store, writing

MIN_SIMILARITY = 0.4
"""The cosine below which a rewrite has lost the meaning of its original (TVR-Ranking: the same floor, by SimCSE)."""

_WORD = re.compile(r"\w+")

NO_ANSWER = said("there is no usable rewrite")


@dataclass(frozen=True, slots=True)
class RewriteVerdict:
    """The check's result for one rewrite: it is accepted if there is no reason against it.

    `similarity` is the cosine of rewrite and original, None if there is no rewrite.
    """

    similarity: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RewriteCheck:
    """The rewrite check of one project.

    Attributes:
        encoder: the sentence encoder that measures similarity.
        embeddings: the folder that caches the encoder's vectors.
        mapping: names and what they become; a name that becomes itself is not a person.
        unknown: probable names in the originals that the mapping lacks.
        tagger: finds names with a model; without one, the mapping, capitals and lists decide.
        known: the lexicon, and lists that recognise names at the start of a sentence, where every word is capitalised.
    """

    encoder: Encoder
    embeddings: Path
    mapping: Mapping[str, str]
    unknown: Collection[str]
    tagger: Tagger | None = None
    known: Known = NOTHING_KNOWN

    def examine(
        self, originals: Sequence[str], rewrites: Sequence[str], *, progress: Progress | None = None
    ) -> list[RewriteVerdict]:
        """Check each rewrite against the original at the same position; an empty text counts as no rewrite."""
        numbers = [number for number, text in enumerate(rewrites) if text]
        before, after = [originals[number] for number in numbers], [rewrites[number] for number in numbers]
        vectors = encode_cached(
            self.encoder, [*before, *after], self.embeddings, progress=steps_of(progress, said("encoding"))
        )
        similarity = np.einsum("ij,ij->i", vectors[: len(numbers)], vectors[len(numbers) :]).tolist()
        verdicts = [RewriteVerdict(None, (NO_ANSWER,))] * len(rewrites)
        names_left = self._names_left(before, after, progress)
        slips = Slips(self.mapping, self.known, originals)
        for number, score, text, names in zip(numbers, similarity, after, names_left, strict=True):
            reasons = [said("it still has a name: {names}", names=", ".join(names))] if names else []
            reported = {key_of(name) for name in names}
            if suspects := [word for word in slips(text) if key_of(word) not in reported]:
                reasons.append(said("it may have a name: {names}", names=", ".join(suspects)))
            if score < MIN_SIMILARITY:
                down = math.floor(score * 100) / 100  # rounding might show 0.40 for a score below 0.4
                reasons.append(
                    said("similarity {similarity:.2f} is below {least}", similarity=down, least=MIN_SIMILARITY)
                )
            verdicts[number] = RewriteVerdict(score, tuple(reasons))
        return verdicts

    def _names_left(
        self, originals: Sequence[str], texts: Sequence[str], progress: Progress | None
    ) -> list[tuple[str, ...]]:
        """Return the names left in each text, found by the mapping, by capitals, and by the tagger if there is one."""
        suspects = {*self.unknown, *self._added_names(originals, texts)}
        mapping = NameMapping(self.mapping)
        names_left = [names_in(text, mapping, suspects, self.known) for text in texts]
        if self.tagger is None:
            return names_left
        nobody = {name for name, phrase in self.mapping.items() if name == phrase}
        tagged = self.tagger.names(texts, progress=steps_of(progress, said("looking for names")))
        return [
            (
                *names,
                *(name for name in tagged_names if name not in nobody and not any(name in known for known in names)),
            )
            for names, tagged_names in zip(names_left, tagged, strict=True)
        ]

    def _added_names(self, originals: Sequence[str], texts: Sequence[str]) -> set[str]:
        """Return probable names that no original has: a language model may add names of its own."""
        original_words = {word for text in originals for word in _WORD.findall(text)}
        new_words = {
            word for text in texts for word in _WORD.findall(text) if word not in original_words and not word.islower()
        }
        if not new_words:
            return set()
        probable = unknown_names([*originals, *texts], self.mapping, self.known)
        return {name for name in probable if original_words.isdisjoint(_WORD.findall(name))}


class ByModel:
    """Rewrites with a language model at an endpoint; satisfies `Rewriter`."""

    def __init__(self, store: Store, endpoint: Endpoint, *, now: float) -> None:
        self.store = store
        self.endpoint = endpoint
        self.now = now
        self.usage = Usage()
        """The usage of this object's requests."""

    @property
    def attempts(self) -> int:
        """The number of temperatures: there is one attempt for each."""
        return len(self.endpoint.temperatures)

    @property
    def usage_ever(self) -> Usage:
        """The requests and tokens of all runs so far with this model, this prompt and these temperatures."""
        return captions_rows.endpoint_usage(
            self.store.db, [self.version(attempt) for attempt in range(1, self.attempts + 1)]
        )

    def version(self, attempt: int) -> str:
        """Return model, prompt and temperature, such as `openai:gpt-4o-mini prompt-1 t=0.2`."""
        return f"openai:{self.endpoint.model} {PROMPT_VERSION} t={self.endpoint.temperatures[attempt - 1]:g}"

    def rewrite(self, texts: Sequence[str], attempt: int, *, progress: Steps | None = None) -> list[str]:
        """Return the stored answer for each text, or ask the endpoint if there is none.

        Raises:
            EndpointUnavailable: the endpoint failed for good; answers received before are kept.
        """
        version = self.version(attempt)
        answers = captions_rows.kept_answers(self.store.db, version)
        done = {text for text in texts if text in answers}

        def keep(reply: Reply) -> None:
            with writing(self.store) as db:
                captions_rows.keep_answers(db, version, self.endpoint.host, reply.answers, reply.tokens, at=self.now)
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
