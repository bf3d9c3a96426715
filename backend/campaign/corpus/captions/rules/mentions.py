"""The people named in a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backend.campaign.corpus.captions.rules.name_mapping import Prepared, name_of


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found at `[start, end)`: its words, what it becomes, and what stands around it."""

    start: int
    end: int
    words: frozenset[str]
    phrase: str
    adjective: str
    possessive: str


def mentions_in(text: str, prepared: Prepared) -> Iterator[Mention]:
    """The people named in `text`, touching names that mean the same made one (rule 3)."""
    pattern, phrases, _ = prepared
    waiting: Mention | None = None
    for match in pattern.finditer(text):
        name = name_of(match)
        if phrases[name] == name:
            continue
        words = frozenset(name.split())
        found = Mention(match.start(), match.end(), words, phrases[name], match["adjective"] or "", match["own"] or "")
        if waiting is not None:
            touching = text[waiting.end : found.start].isspace() and match.start() == _name_start(match)
            if touching and not waiting.possessive and waiting.phrase == found.phrase:
                waiting = Mention(
                    waiting.start,
                    found.end,
                    waiting.words | words,
                    found.phrase,
                    waiting.adjective,
                    found.possessive,
                )
                continue
            yield waiting
        waiting = found
    if waiting is not None:
        yield waiting


def _name_start(match: re.Match[str]) -> int:
    return max(match.start("name"), match.start("anywhere"))
