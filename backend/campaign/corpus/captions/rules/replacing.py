"""Replace names of people in a text by generic phrases such as `a woman`."""

import re
from collections.abc import Mapping, Sequence

from backend.campaign.corpus.captions.rules.grouping import PeopleGroup, group_people, noun_names_person
from backend.campaign.corpus.captions.rules.names import ORDINALS, Mention, mentions_in, prepared
from backend.campaign.corpus.captions.rules.spelling import (
    NOTHING_KNOWN,
    Known,
    article_of,
    opens_sentence,
    respell,
    split,
)
from backend.campaign.setup.project.model import People
from backend.core.typed_text import nfc

Met = dict[str, list[frozenset[str]]]
"""People named so far in a text, by noun: the words of each person's names."""


def rewrite(text: str, mapping: Mapping[str, str], people: People = "counted", known: Known = NOTHING_KNOWN) -> str:
    """Replace names of people in a text by generic phrases, following the rules in the package's docstring.

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
        mapping: maps each name to the phrase that replaces it.
        people: how several people are written: `counted` (`two people`, as in the paper's Table 2), `joined` (`two
            women` if all are women, as in its Figure 3) or `apart` (separately: `a woman and another woman`).
        known: word lists. With a lexicon (a dictionary), names in lower case are replaced too, unless they are words.

    Raises:
        InputError: The mapping contradicts itself, for example a phrase contains a name.
    """
    ready = prepared(mapping)
    original, text = nfc(text), respell(text, ready.spellings, known)
    mentions = list(mentions_in(text, ready))
    if not mentions:
        return original
    units: Sequence[Mention | PeopleGroup] = mentions
    if people != "apart":
        units = group_people(mentions, text, alike=people == "counted")
    met: Met = {}
    pieces: list[str] = []
    position = 0
    for unit in units:
        before = text[position : unit.start]
        if isinstance(unit, PeopleGroup):
            new = unit.words
        elif people == "apart":
            new = unit.adjective + _ordinal_phrase(unit, text, met)
        else:
            new = unit.adjective + _generic_phrase(unit, met)
            new = "" if noun_names_person(text, unit) else new
        if new and opens_sentence(text, unit.start) and not text[unit.start].islower():
            new = new[0].upper() + new[1:]
        pieces += [
            before if new else before.rstrip(),
            new + ("" if isinstance(unit, PeopleGroup) else _possessive(unit)),
        ]
        position = unit.end
    return "".join([*pieces, text[position:]])


def _generic_phrase(mention: Mention, met: Met) -> str:
    """Return the phrase that replaces one mention: `a woman` at first, `the woman` when the person is mentioned again.

    The person is added to `met`, the people mentioned before in the text.
    """
    article, noun = split(mention.phrase)
    if not article:
        return mention.phrase
    again = _place(mention, met.setdefault(noun, [])) < len(met[noun])
    _remember(mention, met[noun])
    if mention.adjective:
        return noun
    return f"the {noun}" if again or article == "the" else f"{article_of(noun)} {noun}"


def _ordinal_phrase(mention: Mention, text: str, met: Met) -> str:
    """Return the phrase that replaces one mention, told apart by order: `a woman`, `another woman`, `the third woman`.

    The person is added to `met`, the people mentioned before in the text.
    """
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
    """Return the index in `people` of the person mentioned; the length of `people` if the person is new.

    Each element of `people` is the set of words of one person's names. Two mentions are the same person if all words of
    one are among the words of the other.
    """
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
