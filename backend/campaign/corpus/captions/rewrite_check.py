"""Check that rewritten captions keep their meaning and contain no names, whether rules, a model or a person wrote them.

The module also has the rewriter that uses a language model.
"""

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
from backend.language.endpoint import Endpoint, Reply
from backend.store.connection import Store, writing

MIN_SIMILARITY = 0.4
"""The cosine below which a rewrite has lost the meaning of its original (TVR-Ranking: the same floor, by SimCSE)."""

_WORD = re.compile(r"\w+")

NO_ANSWER = said("there is no usable rewrite")


@dataclass(frozen=True, slots=True)
class RewriteVerdict:
    """The result of checking one rewrite: its similarity to the original, and the reasons why it fails.

    A rewrite without `reasons` passes. `similarity` is the cosine between the vectors of the rewrite and its original;
    None if there is no rewrite. `named` says that the rewrite has a name, or a word that may be one; `tagged`, that the
    tagger found a name in it.
    """

    similarity: float | None
    reasons: tuple[str, ...]
    named: bool = False
    tagged: bool = False

    @property
    def dissimilar(self) -> bool:
        """Whether the similarity is below `MIN_SIMILARITY`."""
        return self.similarity is not None and self.similarity < MIN_SIMILARITY


@dataclass(frozen=True, slots=True)
class RewriteCheck:
    """The automatic check of rewritten captions in one project: similar enough to the original, and no name left.

    Attributes:
        encoder: the sentence encoder that measures similarity.
        embeddings: the folder that caches the encoder's vectors.
        mapping: maps names to the phrases that replace them. A name mapped to itself stays; it is not a person's.
        unknown: probable names in the originals that the mapping lacks.
        tagger: a model that finds names; None if only the mapping, capitals and word lists should find them.
        known: a dictionary and lists that tell names from other words at the start of a sentence, where every word is
            capitalised.
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
        """Check each rewrite against the original at the same position; an empty text counts as no rewrite.

        Returns a verdict for each rewrite, in the same order.
        """
        numbers = [number for number, text in enumerate(rewrites) if text]
        before, after = [originals[number] for number in numbers], [rewrites[number] for number in numbers]
        vectors = encode_cached(
            self.encoder, [*before, *after], self.embeddings, progress=steps_of(progress, said("encoding"))
        )
        similarity = np.einsum("ij,ij->i", vectors[: len(numbers)], vectors[len(numbers) :]).tolist()
        verdicts = [RewriteVerdict(None, (NO_ANSWER,))] * len(rewrites)
        names_left, names_tagged = self._names_left(before, after), self._names_tagged(after, progress)
        slips = Slips(self.mapping, self.known, originals)
        checked = zip(numbers, similarity, after, names_left, names_tagged, strict=True)
        for number, score, text, left, tagged in checked:
            names = [*left, *(name for name in tagged if not any(name in known for known in left))]
            reasons = [said("it still has a name: {names}", names=", ".join(names))] if names else []
            reported = {key_of(name) for name in names}
            if suspects := [word for word in slips(text) if key_of(word) not in reported]:
                reasons.append(said("it may have a name: {names}", names=", ".join(suspects)))
            named = bool(reasons)
            if score < MIN_SIMILARITY:
                down = math.floor(score * 100) / 100  # rounding might show 0.40 for a score below 0.4
                reasons.append(
                    said("similarity {similarity:.2f} is below {least}", similarity=down, least=MIN_SIMILARITY)
                )
            verdicts[number] = RewriteVerdict(score, tuple(reasons), named, bool(tagged))
        return verdicts

    def _names_left(self, originals: Sequence[str], texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the names that the name mapping and capital letters find in each rewritten text."""
        suspects = {*self.unknown, *self._added_names(originals, texts)}
        mapping = NameMapping(self.mapping)
        return [names_in(text, mapping, suspects, self.known) for text in texts]

    def _names_tagged(self, texts: Sequence[str], progress: Progress | None) -> list[tuple[str, ...]]:
        """Return the names that the tagger finds in each rewritten text; none without a tagger."""
        if self.tagger is None:
            return [()] * len(texts)
        nobody = {name for name, phrase in self.mapping.items() if name == phrase}
        tagged = self.tagger.names(texts, progress=steps_of(progress, said("looking for names")))
        return [tuple(name for name in names if name not in nobody) for names in tagged]

    def _added_names(self, originals: Sequence[str], texts: Sequence[str]) -> set[str]:
        """Return probable names in the rewrites that no original has, because a language model may invent names."""
        original_words = {word for text in originals for word in _WORD.findall(text)}
        new_words = {
            word for text in texts for word in _WORD.findall(text) if word not in original_words and not word.islower()
        }
        if not new_words:
            return set()
        probable = unknown_names([*originals, *texts], self.mapping, self.known)
        return {name for name in probable if original_words.isdisjoint(_WORD.findall(name))}


class ByModel:
    """Rewrites captions with a language model at an endpoint; satisfies the protocol `Rewriter`."""

    def __init__(self, store: Store, endpoint: Endpoint, *, now: float) -> None:
        self.store = store
        self.endpoint = endpoint
        self.now = now
        self.usage = Usage()
        """The usage of this object's requests."""

    @property
    def attempts(self) -> int:
        """The largest number of attempts for a caption: one for each sampling temperature set for the endpoint."""
        return len(self.endpoint.temperatures)

    @property
    def usage_ever(self) -> Usage:
        """The requests and tokens that this project has used with this model, this prompt and these temperatures."""
        return captions_rows.endpoint_usage(
            self.store.db, [self.version(attempt) for attempt in range(1, self.attempts + 1)]
        )

    def version(self, attempt: int) -> str:
        """Return model, prompt and temperature of an attempt (from 1), such as `openai:gpt-4o-mini prompt-1 t=0.2`."""
        temperature = self.endpoint.temperatures[attempt - 1]
        return f"openai:{self.endpoint.model} {self.endpoint.prompt.version} t={temperature:g}"

    def rewrite(self, texts: Sequence[str], attempt: int, *, progress: Steps | None = None) -> list[str]:
        """Return a rewrite of each text: the stored answer, or else the model's answer, which is then stored.

        Raises:
            EndpointUnavailable: the endpoint kept failing; the answers received before are stored.
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
