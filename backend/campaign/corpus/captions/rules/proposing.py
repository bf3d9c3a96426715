"""Find the names of people in captions, and propose a generic phrase to replace each of them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise

from backend.campaign.corpus.captions.rules.names import clashes_with, unknown_names
from backend.campaign.corpus.captions.rules.spelling import PEOPLE, TITLES, Known, plain, word_pattern
from backend.core.progress import Steps

WOMAN, MAN, PERSON, UNDECIDED = "a woman", "a man", "a person", ""
ENOUGH_SIGNS = 4
"""From this many pronouns and titles on, these overrule the lists of first names."""
CLEAR = 0.7
"""The share of pronouns and titles that must agree."""
FULL_SHARE = 0.8
"""Two words are one name of a place if they are adjacent in this share of their captions."""
LIKE_A_NAME = 10
"""A word counts as another one misspelt, or with an `s`, if it is at least this many times as rare."""

RARELY_SMALL = 50
"""A name must occur capitalised at least this many times as often as in lower case."""

_READINGS = 3  # how many times every caption is read, for progress
_TITLE_SIGNS = {**dict.fromkeys(("Mrs", "Ms", "Miss", "Madam", "Aunt"), WOMAN), **dict.fromkeys(("Mr", "Sir"), MAN)}
_PRONOUN = re.compile(r"(?<!\w)(?:(she|hers?|herself)|(?:he|him|his|himself))(?!\w)", re.IGNORECASE)
_TITLE = re.compile(rf"(?<!\w)({'|'.join(sorted(TITLES))})(?:\.\s*|\s+)\Z")
_OPENING = re.compile(rf"(?:{'|'.join(sorted(TITLES))})(?:\.\s*|\s+)|\W+")
_NO_PERSON_AFTER = re.compile(
    r"(?:\A|\W)(?:an?|the|some|this|that|these|his|her|their|its|my|your|in|into|like|play(?:s|ing)?|eat(?:s|ing)?|"
    r"drink(?:s|ing)?|wear(?:s|ing)?)\s+\Z",
    re.IGNORECASE,
)
_ACTS = re.compile(r"['’]s?(?!\w)|,?\s+(?:and|is|was|are|has|had|[a-z]+(?:[^s\W]s|sses|shes|ches))(?!\w)")
_BESIDE = re.compile(
    r"(?:\A|(?:\A|\W)(?:and|or|to|with|for|by|at|from|of|than|near|behind|beside|besides|towards?|past|as|while|when|"
    r"then|but|that|before|after|where))\s*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Proposed:
    """A probable name in the captions, with the phrase proposed to replace it, such as `a woman`.

    `becomes` is this phrase; empty if the name may not be a person's. `count` is the number of captions that contain
    the name, and `example` is one of them.
    """

    name: str
    becomes: str
    count: int
    example: str


@dataclass(slots=True)
class _Word:
    """The evidence about one word: the captions that contain it, and how it is used there.

    `uses` counts its capitalised uses. Of these, `acts` counts uses like a person's name, and `things` uses like a
    thing's name. `small` counts its uses in lower case. `signs` counts the titles and pronouns that show a woman (key
    `a woman`) or a man (key `a man`).
    """

    captions: list[str] = field(default_factory=list)
    uses: int = 0
    acts: int = 0
    things: int = 0
    small: int = 0
    signs: Counter[str] = field(default_factory=Counter)


def propose(texts: Sequence[str], known: Known, progress: Steps | None = None) -> list[Proposed]:
    """Return the probable names in `texts`, each with a phrase to replace it, such as `a woman`.

    Names of people come first, then words that may not be a person's name. In both groups the most frequent come first.
    Titles before a name and pronouns after it decide between woman and man, if there are enough and they agree.
    Otherwise the lists of first names decide. If these do not, two titles or pronouns are enough. Without any of these,
    the name becomes `a person`. A surname without any evidence becomes what its first names become. A rare word that is
    spelt much like a frequent name counts as a misspelling of it.
    """
    report = progress or (lambda done, total: None)
    texts = [plain(text) for text in texts]
    names = {
        name
        for name in unknown_names(texts, {}, known)
        if name.lower() not in PEOPLE and not any(clashes_with(name, phrase) for phrase in (WOMAN, MAN, PERSON))
    }
    report(1, _READINGS)
    words, pairs = _read_captions(texts, names)
    report(2, _READINGS)
    replacements = _replacements(words, pairs, known)
    for (first, last), becomes in _full_names(words, pairs, replacements, known).items():
        replacements[f"{first} {last}"] = becomes
        words[f"{first} {last}"] = _Word(pairs[first, last])
        if becomes == UNDECIDED:
            replacements.pop(first, None)
            replacements.pop(last, None)
    for small, (becomes, captions) in _in_lower_case(texts, words, replacements, known).items():
        replacements[small], words[small] = becomes, _Word(captions)
    report(_READINGS, _READINGS)
    lines = [
        Proposed(name, replacements[name], len(words[name].captions), words[name].captions[0]) for name in replacements
    ]
    return sorted(lines, key=lambda line: (line.becomes == UNDECIDED, -line.count, line.name))


def _read_captions(texts: Sequence[str], names: set[str]) -> tuple[dict[str, _Word], dict[tuple[str, str], list[str]]]:
    """Return the evidence about each name, and the captions in which two names stand next to each other.

    The second mapping has the two names as its key.
    """
    words: dict[str, _Word] = {name: _Word() for name in sorted(names)}
    pairs: dict[tuple[str, str], list[str]] = defaultdict(list)
    small = {name.lower(): name for name in words}
    for text in texts:
        runs: list[list[str]] = []
        places: list[tuple[int, int]] = []
        for word, start, stop in _tokens(text):
            if word in small:
                words[small[word]].small += 1
            if word not in words:
                continue
            if runs and text[places[-1][1] : start].isspace():
                runs[-1].append(word)
                places[-1] = (places[-1][0], stop)
            else:
                runs.append([word])
                places.append((start, stop))
            _count_use(words[word], text, start, stop)
        for word in {word for run in runs for word in run}:
            words[word].captions.append(text)
        for pair in dict.fromkeys(pair for run in runs for pair in pairwise(run)):
            pairs[pair].append(text)
        for word in runs[0] if runs else ():
            words[word].signs.update(_pronoun_kinds(text, places))
    return {name: word for name, word in words.items() if word.captions}, pairs


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (word, start, end) of each word in a text, without its possessive ending."""
    for match in word_pattern().finditer(text):
        word = re.sub(r"['’]s?\Z", "", match[0])
        yield word, match.start(), match.start() + len(word)


def _count_use(word: _Word, text: str, start: int, end: int) -> None:
    """Add one use of a word, at `[start, end)` of a text, to the counts in `word`; the words around it decide which."""
    word.uses += 1
    title = _TITLE.search(text, 0, start)
    if title and (kind := _TITLE_SIGNS.get(title[1])):
        word.signs[kind] += 1
    word.acts += bool(title) or _acts(text, start, end)
    word.things += not title and bool(_NO_PERSON_AFTER.search(text, 0, start))


def _acts(text: str, start: int, end: int) -> bool:
    """Return whether the word at `[start, end)` is used like the name of a person.

    That is so if a verb or a possessive ending follows it, or if a word such as `to` or `with` comes before it.
    """
    return bool(_ACTS.match(text, end) or _BESIDE.search(text, 0, start))


def _pronoun_kinds(text: str, places: Sequence[tuple[int, int]]) -> list[str]:
    """Return whom a caption's opening name means: `["a woman"]` or `["a man"]`, by the first pronoun after the name.

    The result is empty if the caption does not begin with a name, or if no pronoun comes before the next name.

    Args:
        text: a caption.
        places: the spans `[start, end)` of all names in it, in order.
    """
    (start, end), *others = places
    pronoun = _PRONOUN.search(text, end, others[0][0] if others else len(text))
    opens = not _OPENING.sub("", text[:start])
    return [WOMAN if pronoun[1] else MAN] if opens and pronoun else []


def _replacements(
    words: Mapping[str, _Word], pairs: Mapping[tuple[str, str], Sequence[str]], known: Known
) -> dict[str, str]:
    """Return the phrase that replaces each name, such as `a woman`; empty if it may not be a person's name.

    `pairs` maps every two names that stand next to each other in a caption to the captions in which they do.
    """
    kinds = {name: _kind(name, word, known) for name, word in words.items()}
    first_of: dict[str, set[str]] = defaultdict(set)
    for first, last in pairs:
        first_of[last].add(kinds[first])
    frequent = sorted(words, key=lambda name: -len(words[name].captions))
    replacements: dict[str, str] = {}
    for name in frequent:
        kind, count = kinds[name], len(words[name].captions)
        models = [other for other in frequent if len(words[other].captions) >= LIKE_A_NAME * count]
        if name[-1] == "s" and name[:-1] in models:
            kind = f"{replacements[name[:-1]]}'s" if replacements[name[:-1]] else UNDECIDED
        elif kind == PERSON and first_of[name] in ({WOMAN}, {MAN}):
            [kind] = first_of[name]
        elif kind in (PERSON, UNDECIDED) and (like := get_close_matches(name, models, 1, 0.8)):
            kind = replacements[like[0]]
        replacements[name] = kind
    return replacements


def _kind(name: str, word: _Word, known: Known) -> str:
    """Return the phrase that replaces one name, such as `a woman`; empty if it may not be a person's name.

    The titles and pronouns in the captions and the lists of first names decide.
    """
    listed = known.first_names.get(name)
    signs, ranked = sum(word.signs.values()), word.signs.most_common(1)
    clear = ranked[0][0] if ranked and ranked[0][1] >= CLEAR * signs else ""
    common = name.lower() in known.ordinary or word.small > word.uses
    if not listed and (not word.acts or word.things * 2 >= word.uses or (common and word.acts * 4 < word.uses)):
        return UNDECIDED
    if clear and signs >= ENOUGH_SIGNS:
        return clear
    if listed and listed != PERSON:
        return listed
    return clear if clear and signs > 1 else PERSON


def _full_names(
    words: Mapping[str, _Word],
    pairs: Mapping[tuple[str, str], Sequence[str]],
    replacements: Mapping[str, str],
    known: Known,
) -> dict[tuple[str, str], str]:
    """Return the two-word names that need a replacement of their own, each with this replacement.

    That is so if replacing each of the two words would give something else: `Alexis Castle` becomes a woman, although
    `Castle` alone becomes a man. `Trapper John` becomes a man, and `Central Perk` is a place. Two adjacent words are
    not always one name. If a first name is next to a frequent name in only one caption, they are mostly two people
    (`gives Joey Rachel's bag`).
    """
    full = {}
    for (first, last), captions in pairs.items():
        count, firsts, lasts = len(captions), len(words[first].captions), len(words[last].captions)
        inseparable = count >= FULL_SHARE * max(firsts, lasts)
        if replacements[first] in (WOMAN, MAN) and first in known.first_names:
            if replacements[last] != replacements[first] and (count > 1 or lasts < LIKE_A_NAME):
                full[first, last] = replacements[first]
        elif replacements[first] == PERSON and replacements[last] in (WOMAN, MAN) and count >= FULL_SHARE * firsts:
            full[first, last] = replacements[last]
        elif (
            count > 1 and inseparable and replacements[first] == UNDECIDED and replacements[last] in (UNDECIDED, PERSON)
        ):
            full[first, last] = UNDECIDED
    return full


def _in_lower_case(
    texts: Sequence[str], words: Mapping[str, _Word], replacements: Mapping[str, str], known: Known
) -> dict[str, tuple[str, list[str]]]:
    """Map each name that is also typed in lower case to its replacement and the captions with the lower-case spelling.

    Names that are also ordinary words are left out.
    """
    rare = {
        name.lower(): name
        for name, word in words.items()
        if replacements.get(name) and 0 < RARELY_SMALL * word.small <= word.uses and name.lower() not in known.ordinary
    }
    captions_of: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for word, start, end in _tokens(text) if any(name in text for name in rare) else ():
            if word not in rare:
                continue
            if _acts(text, start, end) and not _NO_PERSON_AFTER.search(text, 0, start):
                captions_of[word].append(text)
            else:  # `a car chase` is not a person called Chase
                del rare[word]
    return {small: (replacements[name], list(dict.fromkeys(captions_of[small]))) for small, name in rare.items()}
