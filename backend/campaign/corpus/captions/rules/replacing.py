"""Names become generic words."""

import re
from collections.abc import Mapping, Sequence

from backend.campaign.corpus.captions.rules.joining import Together, grouped, said_before
from backend.campaign.corpus.captions.rules.mentions import Mention, mentions_in
from backend.campaign.corpus.captions.rules.name_mapping import ORDINALS, prepared
from backend.campaign.corpus.captions.rules.spelling import NOTHING_KNOWN, Known, respelled
from backend.campaign.corpus.captions.rules.text import article_of, opens_sentence, split
from backend.campaign.setup.project.model import People
from backend.core.typed_text import nfc

Met = dict[str, list[frozenset[str]]]
"""Who was met in a text, by noun: the words of their names."""


def rewrite(text: str, mapping: Mapping[str, str], people: People = "counted", known: Known = NOTHING_KNOWN) -> str:
    """Replace the names of `mapping` in a text by its generic words; the rules are those of the package.

    The result is in Unicode NFC. Rewriting it again changes nothing. A text without names stays as it is.

    >>> rewrite("Phoebe and Rachel hug.", {"Phoebe": "a woman", "Rachel": "a woman"})
    'Two people hug.'
    >>> rewrite("Phoebe and Rachel hug.", {"Phoebe": "a woman", "Rachel": "a woman"}, "joined")
    'Two women hug.'
    >>> rewrite("Phoebe and Rachel hug.", {"Phoebe": "a woman", "Rachel": "a woman"}, "apart")
    'A woman and another woman hug.'
    >>> rewrite("Dr. House takes Wilson's lunch, then House leaves.", {"House": "a man", "Wilson": "a man"})
    "A man takes a man's lunch, then the man leaves."

    Args:
        text: a caption.
        mapping: what each name becomes.
        people: `counted` (`two people`), `joined` (`two women` where they are of one kind) or `apart` (each by
            themselves, told apart by order).
        known: with a lexicon, names in lower case are replaced too, unless they are words.

    Raises:
        InputError: The mapping contradicts itself, for example a phrase contains a name.
    """
    ready = prepared(mapping)
    original, text = nfc(text), respelled(text, ready.spellings, known)
    found = list(mentions_in(text, ready))
    if not found:
        return original
    units: Sequence[Mention | Together] = found
    if people != "apart":
        units = grouped(found, text, alike=people == "counted")
    met: Met = {}
    pieces: list[str] = []
    position = 0
    for unit in units:
        before = text[position : unit.start]
        if isinstance(unit, Together):
            new = unit.words
        elif people == "apart":
            new = unit.adjective + _told_apart(unit, text, met)
        else:
            new = unit.adjective + _generic(unit, met)
            new = "" if said_before(text, unit) else new
        if new and opens_sentence(text, unit.start) and not text[unit.start].islower():
            new = new[0].upper() + new[1:]
        pieces += [before if new else before.rstrip(), new + ("" if isinstance(unit, Together) else _possessive(unit))]
        position = unit.end
    return "".join([*pieces, text[position:]])


def _generic(mention: Mention, met: Met) -> str:
    """Rules 4, 5 and 8 for one mention; `met` remembers who was there before."""
    article, noun = split(mention.phrase)
    if not article:
        return mention.phrase
    again = _place(mention, met.setdefault(noun, [])) < len(met[noun])
    _remember(mention, met[noun])
    if mention.adjective:
        return noun
    return f"the {noun}" if again or article == "the" else f"{article_of(noun)} {noun}"


def _told_apart(mention: Mention, text: str, met: Met) -> str:
    """One mention of people who are told apart by order."""
    article, noun = split(mention.phrase)
    if not article:
        return mention.phrase
    if noun not in met:
        before = re.search(rf"(?<!\w)an?\s+{re.escape(noun)}(?!\w)", text[: mention.start], re.IGNORECASE)
        met[noun] = [frozenset({""})] if before else []
    index, known = _place(mention, met[noun]), len(met[noun])
    _remember(mention, met[noun])
    if mention.adjective:
        return noun
    if index < known:
        return " ".join(["the", *_ordinal(index), noun])
    if index == 1:
        return f"another {noun}"
    described = " ".join([*_ordinal(index), noun])
    return f"the {described}" if article == "the" and index == 0 else f"{article_of(described)} {described}"


def _place(mention: Mention, people: Sequence[frozenset[str]]) -> int:
    """Which of the people met this is; one more than there are if nobody."""
    same = (n for n, words in enumerate(people) if words <= mention.words or mention.words <= words)
    return next(same, len(people))


def _remember(mention: Mention, people: list[frozenset[str]]) -> None:
    place = _place(mention, people)
    people[place:] = [(people[place] if place < len(people) else frozenset()) | mention.words, *people[place + 1 :]]


def _ordinal(index: int) -> list[str]:
    if index < 2:
        return ["other"] if index else []
    return [ORDINALS[min(index - 2, len(ORDINALS) - 1)]]


def _possessive(mention: Mention) -> str:
    if not mention.possessive or mention.phrase.endswith(("'s", "’s")):
        return ""
    return mention.possessive[0] + ("" if mention.phrase.endswith("s") else "s")
