"""Find people who are named together in a text, and the phrase that replaces them, such as `two people`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from backend.campaign.corpus.captions.rules.names import Mention
from backend.campaign.corpus.captions.rules.spelling import MEN, WOMEN, all_people, group_phrase, split

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
_SINGULAR_VERBS = {"is": "are", "was": "were", "has": "have"}
_SINGULAR_VERB_AFTER = re.compile(rf"(\s+)({'|'.join(_SINGULAR_VERBS)})(?!\w)")
_BASE_VERB_AFTER = re.compile(
    r"\s+(?:argue|chat|dance|drink|eat|enter|exit|fight|hold|hug|hurry|kiss|laugh|play|put|run|shake|smile|speak|wait|"
    r"watch|wave)(?!\w)"
)
_SENTENCE_END = re.compile(r"\s*(?:[.!?;]|\Z)")
_WORD_BEFORE_NOUN = r"(?!(?:and|or|of|in|on|at|to|for|from|with|by|near|who|that|as|is|are|was|were)\b)[a-z-]+\s+"
_CLOTHES = (
    "beard|blouse|boots|cap|clothes|coat|dress|glasses|gown|hair|hat|hoodie|jacket|jeans|outfit|pants|polo|robe|scarf|"
    "scrubs|shirt|skirt|suit|sunglasses|suspenders?|sweater|tie|top|trousers|t-shirt|uniform|vest"
)
_GARMENT = rf"(?:(?:an?|the|his|her)\s+)?(?:{_WORD_BEFORE_NOUN}){{0,3}}(?:{_CLOTHES})(?![\w-])"
_LOOKS = (
    "[a-z]+-(?:aged|dressed|eyed|haired|skinned)|attractive|bald|bearded|beautiful|big|black|blonde?|brown|brunette|cute|"
    "dark|elderly|fat|gr[ae]y|handsome|large|little|old|older|other|pretty|red|same|sexy|short|skinny|slim|small|"
    "strange|tall|thin|unknown|white|young|younger"
)
_DESCRIBED = re.compile(
    rf"(?:an?|the|another)\s+(?:(?:{_LOOKS})\s+){{0,3}}(man|woman|person|guy|lady|gentleman|boy|girl)(?![\w'’-])"
    rf"(?:\s+(?:wearing|dressed\s+in|in|with)\s+{_GARMENT}(?:\s+and\s+{_GARMENT})*)*"
)


@dataclass(frozen=True, slots=True)
class PeopleGroup:
    """Several people who are named together at `[start, end)` of a text, such as `Ross and Rachel`.

    `words` is the phrase that replaces their names. It is empty if a noun before the names already says who they are.
    The span includes a verb in the singular that follows, as in `Ross and Rachel was`: `words` has its plural.
    """

    start: int
    end: int
    words: str


def group_people(mentions: Sequence[Mention], text: str, *, alike: bool) -> list[Mention | PeopleGroup]:
    """Return the mentions of people in order; a list of people such as `A, B and C` becomes one group if possible.

    With `alike`, groups become `two people` even if all are women or all are men; otherwise `two women`. With `alike`,
    a group also takes in a person who is described and not named: `Ross and the young man in a black coat`.
    """
    units: list[Mention | PeopleGroup] = []
    place = 0
    while place < len(mentions):
        listed, size = _run_lengths(mentions[place:], text)
        members = mentions[place : place + listed]
        if alike and (group := _group_with_described(members, mentions, text)):
            units.append(group)
            place += listed
            continue
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


def _run_lengths(mentions: Sequence[Mention], text: str) -> tuple[int, int]:
    """Return how many mentions at the beginning commas or `and` join, and how many form a list that ends with `and`.

    Both numbers are 3 in `A, B and C`; in `A, B`, they are 2 and 1.
    """
    size = last_and = 1
    for one, other in pairwise(mentions):
        between = text[one.end : other.start]
        if _AND.fullmatch(between):
            last_and = size + 1
        elif not _COMMA.fullmatch(between):
            break
        size += 1
    return size, last_and


def _group(
    members: Sequence[Mention], all_mentions: Sequence[Mention], text: str, *, alike: bool
) -> PeopleGroup | None:
    """Return people named together as one group; None if the sentence also refers to one of them alone.

    With `alike`, the group becomes `two people` even if all are women or all are men.
    """
    nouns = _nouns(members)
    if nouns is None or (not all_people(nouns) and (len(set(nouns)) > 1 or nouns[0].endswith("s"))):
        return None
    end = members[-1].end
    if _named_again(members, all_mentions) or _pronoun_may_mean(members, all_mentions, text, end):
        return None
    if _KIN_TOGETHER.search(text[: members[0].start]):
        return PeopleGroup(members[0].start, end, "")
    start = _free_start(members[0].start, text)
    if start is None:
        return None
    if not _CLAUSE_START.search(text[:start]) and _VERB_AFTER.match(text, end):
        return None  # `Ross hugs Rachel and Joey waves`: the last one has a verb of their own
    return _in_plural(start, end, group_phrase(nouns, alike=alike), text)


def _group_with_described(members: Sequence[Mention], all_mentions: Sequence[Mention], text: str) -> PeopleGroup | None:
    """Return named people and the described person after them as one group (the paper's Table 2, row 3).

    Return None if there is no such person, or if it is not clear where the description ends, or if the sentence also
    refers to one of these people alone. Only looks are dropped: a person with a role, such as a waiter, stays.
    """
    joining = _AND.match(text, members[-1].end)
    described = joining and _DESCRIBED.match(text, joining.end())
    nouns = _nouns(members)
    if not described or nouns is None or not all_people(nouns):
        return None
    end, noun = described.end(), described[1]
    elsewhere = text[: described.start()] + text[end:]
    if (
        re.search(rf"(?<!\w){noun}(?!\w)", elsewhere, re.IGNORECASE)
        or _named_again(members, all_mentions)
        or _pronoun_may_mean(members, all_mentions, text, end)
        or _KIN_TOGETHER.search(text[: members[0].start])
    ):
        return None
    start = _free_start(members[0].start, text)
    if start is None:
        return None
    is_subject = _CLAUSE_START.search(text[:start]) and (
        _VERB_AFTER.match(text, end) or _BASE_VERB_AFTER.match(text, end)
    )
    if not is_subject and not _SENTENCE_END.match(text, end):
        return None
    return _in_plural(start, end, group_phrase([*nouns, noun], alike=True), text)


def _nouns(members: Sequence[Mention]) -> list[str] | None:
    """Return the noun of each person's phrase; None if one of them cannot be part of a group."""
    phrases = [split(member.phrase) for member in members]
    if any(article not in ("a", "an") for article, _ in phrases) or any(m.adjective or m.possessive for m in members):
        return None
    return [noun for _, noun in phrases]


def _free_start(start: int, text: str) -> int | None:
    """Return where a group of people begins who are named from `start` on, with a `both` before them.

    Return None if words before them belong to the group: `his friend Joey and Amy`, `two friends Ross and Joey`.
    """
    if both := _BOTH.search(text[:start]):
        start = both.start()
    before = text[:start]
    listed = _KIN_BEFORE.search(before) or _ALREADY_COUNTED.search(before) or _LISTED_BEFORE.search(before)
    return None if listed else start


def _in_plural(start: int, end: int, words: str, text: str) -> PeopleGroup:
    """Return the group; a verb in the singular that follows a subject becomes plural: `two people were`."""
    verb = _SINGULAR_VERB_AFTER.match(text, end)
    if verb is None:
        return PeopleGroup(start, end, words)
    return PeopleGroup(start, verb.end(), f"{words}{verb[1]}{_SINGULAR_VERBS[verb[2]]}")


def _named_again(members: Sequence[Mention], all_mentions: Sequence[Mention]) -> bool:
    """Return whether one of `members` is named again in the text. A group phrase would hide who is meant there."""
    return any(
        one is not other and (one.words <= other.words or other.words <= one.words)
        for one in members
        for other in all_mentions
    )


def _pronoun_may_mean(members: Sequence[Mention], all_mentions: Sequence[Mention], text: str, end: int) -> bool:
    """Return whether a `he` or `she` after the group `members`, which ends at `end`, may mean one of them.

    That is so if the pronoun fits nobody who is named before the group.
    """
    before = [split(other.phrase)[1].split(" ")[-1] for other in all_mentions if other.start < members[0].start]
    kinds = {bool(pronoun[1]) for pronoun in _ONE_PERSON.finditer(text, end)}
    return any(all(noun in (WOMEN if he else MEN) for noun in before) for he in kinds)
