"""People named in one breath, and people named beside what they are to somebody."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from backend.campaign.corpus.captions.rules.counting import MEN, WOMEN, all_people, together
from backend.campaign.corpus.captions.rules.mentions import Mention
from backend.campaign.corpus.captions.rules.text import split

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
class Together:
    """People named together at `[start, end)`: what they become as one; empty where a noun before says it all."""

    start: int
    end: int
    words: str


def grouped(mentions: Sequence[Mention], text: str, *, alike: bool) -> list[Mention | Together]:
    """The mentions with those made one that can stand as one, in order."""
    found: list[Mention | Together] = []
    place = 0
    while place < len(mentions):
        size = _run(mentions[place:], text)
        members = mentions[place : place + size]
        if size > 1 and (group := _group(members, mentions, text, alike=alike)):
            found.append(group)
        else:
            found += members
        place += size
    return found


def said_before(text: str, mention: Mention) -> bool:
    """Whether a noun before the name says already who it is, so that the name can go: `his daughter Alexis`."""
    bare = not re.match(r"(?:the|an?)\s", text[mention.start : mention.end], re.IGNORECASE)
    return bare and bool(_KIN_BEFORE.search(text[: mention.start]))


def _run(mentions: Sequence[Mention], text: str) -> int:
    """How many of the first mentions stand in one breath: `A, B and C` are three; at least one."""
    size = last_and = 1
    for one, other in pairwise(mentions):
        between = text[one.end : other.start]
        if _AND.fullmatch(between):
            last_and = size + 1
        elif not _COMMA.fullmatch(between):
            break
        size += 1
    return last_and


def _group(members: Sequence[Mention], all_mentions: Sequence[Mention], text: str, *, alike: bool) -> Together | None:
    """The members as one, or None where the sentence needs them one by one."""
    start, end = members[0].start, members[-1].end
    phrases = [split(member.phrase) for member in members]
    nouns = [noun for _, noun in phrases]
    if any(article not in ("a", "an") for article, _ in phrases) or any(m.adjective or m.possessive for m in members):
        return None
    if not all_people(nouns) and (len(set(nouns)) > 1 or nouns[0].endswith("s")):
        return None
    if _named_again(members, all_mentions) or _meant_later(members, all_mentions, text):
        return None
    before = text[:start]
    if _KIN_TOGETHER.search(before):
        return Together(start, end, "")
    if both := _BOTH.search(before):
        start = both.start()
        before = text[:start]
    if _KIN_BEFORE.search(before) or _ALREADY_COUNTED.search(before) or _LISTED_BEFORE.search(before):
        return None
    if not _CLAUSE_START.search(before) and _VERB_AFTER.match(text, end):
        return None  # `Ross hugs Rachel and Joey waves`: the last one does something else
    return Together(start, end, together(nouns, alike=alike))


def _named_again(members: Sequence[Mention], all_mentions: Sequence[Mention]) -> bool:
    """Whether a member is named twice in the text, so that somebody has to be told from the rest."""
    return any(
        one is not other and (one.words <= other.words or other.words <= one.words)
        for one in members
        for other in all_mentions
    )


def _meant_later(members: Sequence[Mention], all_mentions: Sequence[Mention], text: str) -> bool:
    """Whether a later `he` or `she` may be one of the members, because nobody of that kind was named before them."""
    before = [split(other.phrase)[1].split(" ")[-1] for other in all_mentions if other.start < members[0].start]
    kinds = {bool(pronoun[1]) for pronoun in _ONE_PERSON.finditer(text, members[-1].end)}
    return any(all(noun in (WOMEN if he else MEN) for noun in before) for he in kinds)
