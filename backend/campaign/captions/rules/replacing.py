"""Names become generic words."""

import re
from collections.abc import Mapping

from backend.campaign.captions.rules.cast import ORDINALS, prepared
from backend.campaign.captions.rules.mentions import Mention, mentions_in
from backend.campaign.captions.rules.text import article_of, nfc, opens_sentence, split


def rewrite(text: str, cast: Mapping[str, str]) -> str:
    """`text` with the names of `cast` replaced by its generic words; the rules are those of the module.

    The result is in Unicode NFC. Rewriting it again changes nothing.

    >>> rewrite("Phoebe and Rachel hug.", {"Phoebe": "a woman", "Rachel": "a woman"})
    'A woman and another woman hug.'
    >>> rewrite("Dr. House takes Wilson's lunch, then House leaves.", {"House": "a man", "Wilson": "a man"})
    "A man takes another man's lunch, then the man leaves."

    Raises:
        InputError: The cast contradicts itself, for example a phrase contains a name.
    """
    text = nfc(text)
    people: dict[str, list[frozenset[str]]] = {}
    pieces: list[str] = []
    position = 0
    for mention in mentions_in(text, prepared(tuple(sorted(cast.items())))):
        new = mention.adjective + _generic(mention, text, people)
        if opens_sentence(text, mention.start) and not text[mention.start].islower():
            new = new[0].upper() + new[1:]
        pieces += [text[position : mention.start], new + _possessive(mention)]
        position = mention.end
    return "".join([*pieces, text[position:]])


def _generic(mention: Mention, text: str, people: dict[str, list[frozenset[str]]]) -> str:
    """Rules 4 to 7 for one mention; `people` remembers who was met, per noun."""
    article, noun = split(mention.phrase)
    if not article:
        return mention.phrase
    if noun not in people:
        before = re.search(rf"(?<!\w)an?\s+{re.escape(noun)}(?!\w)", text[: mention.start], re.IGNORECASE)
        people[noun] = [frozenset({""})] if before else []
    met = people[noun]
    for index, words in enumerate(met):
        if words <= mention.words or mention.words <= words:
            met[index] = words | mention.words
            return noun if mention.adjective else " ".join(["the", *_ordinal(index, "other"), noun])
    met.append(mention.words)
    index = len(met) - 1
    if mention.adjective:
        return noun
    if index == 1:
        return f"another {noun}"
    described = " ".join([*_ordinal(index, ""), noun])
    return f"the {described}" if article == "the" and index == 0 else f"{article_of(described)} {described}"


def _ordinal(index: int, second: str) -> list[str]:
    if index < 2:
        return [second] if index else []
    return [ORDINALS[min(index - 2, len(ORDINALS) - 1)]]


def _possessive(mention: Mention) -> str:
    if not mention.possessive:
        return ""
    return mention.possessive[0] + ("" if mention.phrase.endswith("s") else "s")
