"""Replace names of people in a text by generic phrases such as `a woman`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from backend.campaign.corpus.captions.rules.names import ORDINALS, Mention, mentions_in, prepared
from backend.campaign.corpus.captions.rules.spelling import (
    MEN,
    NOTHING_KNOWN,
    WOMEN,
    Known,
    all_people,
    article_of,
    group_phrase,
    opens_sentence,
    respell,
    split,
)
from backend.campaign.setup.project.model import People
from backend.core.typed_text import nfc

_KIN = (
    "friend|girlfriend|boyfriend|wife|husband|fiancée?|mother|mom|mum|father|dad|parent|daughter|son|child|sister|"
    "brother|twin|cousin|aunt|uncle|niece|nephew|grandmother|grandfather|boss|colleague|co-?worker|teammate|classmate|partner|roommate|neighbou?r|"
    "assistant|patient|doctor|nurse|detective|agent|officer|captain|professor|teacher|student"
)
_KIN_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:his|her|their|my|our|your|the|an?)|\w['’]s?)\s+(?:[a-z-]+\s+)?(?:{_KIN})\s+\Z", re.IGNORECASE
)
_KIN_TOGETHER = re.compile(rf"(?<!\w)(?:{_KIN}|dr)s\.?\s+\Z", re.IGNORECASE)
_ALREADY_COUNTED = re.compile(r"(?<!\w)(?:two|three|four|five|both)\s+(?:\w+\s+)?\Z", re.IGNORECASE)
_BOTH = re.compile(r"(?<!\w)both\s+\Z", re.IGNORECASE)
_COMMA, _AND = re.compile(r"\s*,\s*"), re.compile(r"(?:\s*,\s*|\s+)(?:and|&)\s+")
_ONE_PERSON = re.compile(r"(?<!\w)(?:(he|him|his|himself)|she|her|hers|herself)(?!\w)", re.IGNORECASE)
_CLAUSE_START = re.compile(
    r"(?:\A|[.!?…;:,(\"“”—–-]\s*|(?<!\w)(?:while|whilst|as|when|where|and|but|then|that|because|since|after|before|"
    r"until|if|so|how|what|both)\s+)\Z",
    re.IGNORECASE,
)
_LISTED_BEFORE = re.compile(
    r"(?:\A|(?<!\w)(?:and|with|to|at|for|of)\s+|[.;:,]\s*)(?:an?|the|his|her|their|another|some|two|three|four)\s+"
    r"(?:[a-z-]+\s+){0,5}[a-z-]+\s*,\s+\Z",
    re.IGNORECASE,
)
_VERB_AFTER = re.compile(
    r"\s+(?:(?:then|also|just|both|quickly|slowly)\s+)?(?:[a-z]+(?:[^s\W]s|sses|shes|ches|ed)|is|was|has|had|does|did|"
    r"are|were|have|do|can|will|would|could|sat|stood|went|came|took|gave|said|got|ran|left|made|put|held|told|saw|"
    r"began|fell|threw|walk|sit|stand|look|leave|talk|come|go|start|try)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class PeopleGroup:
    """Several people who are named together at `[start, end)` of a text, such as `Ross and Rachel`.

    `words` is the phrase that replaces their names. It is empty if a noun before the names already says who they are.
    """

    start: int
    end: int
    words: str


def group_people(mentions: Sequence[Mention], text: str, *, alike: bool) -> list[Mention | PeopleGroup]:
    """Return the mentions of people in order; a list of people such as `A, B and C` becomes one group if possible.

    With `alike`, groups become `two people` even if all are women or all are men; otherwise `two women`.
    """
    units: list[Mention | PeopleGroup] = []
    place = 0
    while place < len(mentions):
        size = _run_length(mentions[place:], text)
        members = mentions[place : place + size]
        if size > 1 and (group := _group(members, mentions, text, alike=alike)):
            units.append(group)
        else:
            units += members
        place += size
    return units


def noun_names_person(text: str, mention: Mention) -> bool:
    """Return whether a noun before a name already says who the person is: `his daughter Alexis` needs no name."""
    bare = not re.match(r"(?:the|an?)\s", text[mention.start : mention.end], re.IGNORECASE)
    return bare and bool(_KIN_BEFORE.search(text[: mention.start]))


def _run_length(mentions: Sequence[Mention], text: str) -> int:
    """Return how many mentions at the beginning form a list, such as three in `A, B and C`; 1 if there is no list."""
    size = last_and = 1
    for one, other in pairwise(mentions):
        between = text[one.end : other.start]
        if _AND.fullmatch(between):
            last_and = size + 1
        elif not _COMMA.fullmatch(between):
            break
        size += 1
    return last_and


def _group(
    members: Sequence[Mention], all_mentions: Sequence[Mention], text: str, *, alike: bool
) -> PeopleGroup | None:
    """Return people named together as one group; None if the sentence also refers to one of them alone.

    With `alike`, the group becomes `two people` even if all are women or all are men.
    """
    start, end = members[0].start, members[-1].end
    phrases = [split(member.phrase) for member in members]
    nouns = [noun for _, noun in phrases]
    if any(article not in ("a", "an") for article, _ in phrases) or any(m.adjective or m.possessive for m in members):
        return None
    if not all_people(nouns) and (len(set(nouns)) > 1 or nouns[0].endswith("s")):
        return None
    if _named_again(members, all_mentions) or _pronoun_may_mean(members, all_mentions, text):
        return None
    before = text[:start]
    if _KIN_TOGETHER.search(before):
        return PeopleGroup(start, end, "")
    if both := _BOTH.search(before):
        start = both.start()
        before = text[:start]
    if _KIN_BEFORE.search(before) or _ALREADY_COUNTED.search(before) or _LISTED_BEFORE.search(before):
        return None
    if not _CLAUSE_START.search(before) and _VERB_AFTER.match(text, end):
        return None  # `Ross hugs Rachel and Joey waves`: the last one has a verb of their own
    return PeopleGroup(start, end, group_phrase(nouns, alike=alike))


def _named_again(members: Sequence[Mention], all_mentions: Sequence[Mention]) -> bool:
    """Return whether one of `members` is named again in the text. A group phrase would hide who is meant there."""
    return any(
        one is not other and (one.words <= other.words or other.words <= one.words)
        for one in members
        for other in all_mentions
    )


def _pronoun_may_mean(members: Sequence[Mention], all_mentions: Sequence[Mention], text: str) -> bool:
    """Return whether a `he` or `she` after the group `members` may mean one of them.

    That is so if the pronoun fits nobody who is named before the group.
    """
    before = [split(other.phrase)[1].split(" ")[-1] for other in all_mentions if other.start < members[0].start]
    kinds = {bool(pronoun[1]) for pronoun in _ONE_PERSON.finditer(text, members[-1].end)}
    return any(all(noun in (WOMEN if he else MEN) for noun in before) for he in kinds)


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
        people: how several people are written: `counted` (`two people`), `joined` (`two women` if all are women) or
            `apart` (separately: `a woman and another woman`).
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
