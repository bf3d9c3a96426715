"""Recognise words, sentences, and the different spellings of a name; write several people as one phrase.

Spellings differ in capitals, apostrophes, accents, invisible characters, and titles without a space. `respell` writes
each name as the name mapping has it, so that one pattern finds all spellings. It does not change ordinary words
(`house`, `HOUSE`), because they may not be names. The module `slips` checks those.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby, pairwise

from backend.core.typed_text import name_key, nfc

_TITLE_WORDS = """
    Mr Mrs Ms Mx Miss Dr Doctor Prof Professor Detective Det Agent Captain Capt Officer Lieutenant Lt Sergeant Sgt
    Colonel Nurse Sir Madam Uncle Aunt Sr Jr"""
TITLES = frozenset(_TITLE_WORDS.split())
_VOWEL_SOUND = re.compile(
    r"hour|hono|hones|heir|(?!uni(?:que|form|corn|cyc|ver|on|ted)|use|usu|euro|ewe|one\b|once)[aeiou]", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"""(?:\A\W*|[.!?…]["'”’)\]]*\s+["'“‘«„(\[]*|\n\W*|["“«„])\Z""")
_ABBREVIATION = re.compile(rf"(?:\A|\W)(?:[A-Z]|St|vs|{'|'.join(sorted(TITLES))})\.\s+\Z")


def opens_sentence(text: str, position: int) -> bool:
    """Return whether a sentence, or speech in quotation marks, begins at `position`."""
    before = text[:position]
    return bool(_SENTENCE_START.search(before)) and not _ABBREVIATION.search(before)


def article_of(noun: str) -> str:
    """Return the article for a noun, `a` or `an`, by the sound with which the noun begins, guessed from its spelling.

    >>> [article_of(word) for word in ("woman", "old man", "unicyclist", "hour", "one-eyed man")]
    ['a', 'an', 'a', 'an', 'a']
    """
    return "an" if _VOWEL_SOUND.match(noun) else "a"


def split(phrase: str) -> tuple[str, str]:
    """Return the article (empty if there is none) and the noun of a phrase: `an old man` -> (`an`, `old man`)."""
    match = re.fullmatch(r"(a|an|the)\s+(\S.*)", phrase, re.IGNORECASE)
    return (match[1].lower(), match[2]) if match else ("", phrase)


@cache
def word_pattern() -> re.Pattern[str]:
    """Return a regular expression that matches one word, including hyphens and apostrophes inside it."""
    letter = rf"[^\W\d_][\w{marks()}]*"
    return re.compile(rf"{letter}(?:['’-]{letter})*")


@cache
def marks() -> str:
    """Return all combining marks (accents stored as separate characters) as ranges for a regular expression's `[...]`.

    A pattern for words has to include them, because the class for word characters does not.
    """
    codes = [code for code in range(0x300, 0x1E950) if unicodedata.category(chr(code)).startswith("M")]
    runs = groupby(enumerate(codes), key=lambda numbered: numbered[1] - numbered[0])
    ranges = [[code for _, code in run] for _, run in runs]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ranges)


def tidy(words: str) -> str:
    """Return a name or a phrase with composed letters (NFC) and single spaces."""
    return " ".join(nfc(words).split())


_PEOPLE_WORDS = """
    man woman person boy girl child kid baby teenager guy lady gentleman actor actress doctor nurse patient detective
    officer policeman policewoman agent lawyer teacher student waiter waitress soldier friend neighbour neighbor adult
    stranger host guest"""
PEOPLE = frozenset(_PEOPLE_WORDS.split())
"""Nouns for human beings: only these become `people` when named together."""
WOMEN = frozenset({"woman", "girl", "lady", "actress", "policewoman", "waitress"})
MEN = frozenset({"man", "boy", "guy", "gentleman", "actor", "policeman", "waiter"})
NUMBERS = ("two", "three", "four")
"""Number words from two on; larger groups become `a group of`."""

_IRREGULAR = {"man": "men", "woman": "women", "person": "people", "child": "children"}


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> [plural(noun) for noun in ("old man", "actress", "lady", "boy", "person")]
    ['old men', 'actresses', 'ladies', 'boys', 'people']
    """
    *before, last = noun.split()
    if last in _IRREGULAR:
        more = _IRREGULAR[last]
    elif last.endswith(("men", "people")):
        more = last
    elif last.endswith("man"):
        more = f"{last[:-3]}men"
    elif re.search(r"[^aeiou]y\Z", last):
        more = f"{last[:-1]}ies"
    else:
        more = f"{last}es" if last.endswith(("s", "x", "z", "ch", "sh")) else f"{last}s"
    return " ".join([*before, more])


def group_phrase(nouns: Sequence[str], *, alike: bool) -> str:
    """Return one phrase for several people, given a noun for each. With `alike`, two women become `two people`.

    Without `alike`, they become `two women`. People with different nouns are always `people`.

    >>> group_phrase(["woman", "woman"], alike=False), group_phrase(["woman", "man", "old man"], alike=False)
    ('two women', 'three people')
    >>> group_phrase(["man"] * 5, alike=False), group_phrase(["man"] * 2, alike=True)
    ('a group of men', 'two people')
    """
    kind = plural(nouns[0]) if len(set(nouns)) == 1 and not (alike and all_people(nouns)) else "people"
    count = len(nouns) - 2
    return f"{NUMBERS[count]} {kind}" if count < len(NUMBERS) else f"a group of {kind}"


def all_people(nouns: Sequence[str]) -> bool:
    """Return whether every noun is a word for a human being."""
    return all(noun.split()[-1] in PEOPLE for noun in nouns)


_APOSTROPHES = str.maketrans(dict.fromkeys("‘‛ʼʹʻˈ′`´＇ꞌ", "’") | dict.fromkeys("‐‑", "-"))
"""Characters that people type in place of an apostrophe or a hyphen."""
_NEVER_NEEDED = frozenset("\u00ad\u200b\u2060\ufeff")
_ABBREVIATED = frozenset({"Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Det", "Capt", "Lt", "Sgt", "Sr", "Jr"})
_TITLE_BEFORE = re.compile(rf"(?<!\w)({'|'.join(sorted(TITLES))})(?:\.\s*|\s+)\Z", re.IGNORECASE)
_TITLE_INSIDE = re.compile(rf"({'|'.join(sorted(TITLES))})(?=[A-Z])")
_LONGEST_TITLE = max(map(len, TITLES)) + 4
_BETWEEN = re.compile(r"\.?\s+")
_SHORT = 2
"""Names with at most this many letters are not replaced in capitals: `ED` may be an emergency department."""


@dataclass(frozen=True, slots=True)
class Known:
    """Word lists that help the rules to tell names from ordinary words.

    `first_names` maps capitalised first names to the phrase that replaces them (`a woman`). `ordinary` are lower-case
    words that are no names although lists of first names have them (`will`). `vocabulary` are the lower-case words that
    a sentence encoder knows, empty if unknown. `parts_of_speech` is the lexicon, a dictionary of the captions'
    language. It maps a lower-case word to its parts of speech with their base forms, or to an empty mapping if it is no
    word. It is None if there is no lexicon.
    """

    first_names: Mapping[str, str]
    ordinary: frozenset[str]
    vocabulary: frozenset[str]
    parts_of_speech: Callable[[str], Mapping[str, tuple[str, ...]]] | None = None

    def is_word(self, small: str) -> bool:
        """Return whether a lower-case word is in the lexicon (the dictionary); always True without a lexicon."""
        return self.parts_of_speech is None or bool(self.parts_of_speech(small))


NOTHING_KNOWN = Known({}, frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Spellings:
    """All spellings of the names in a name mapping that the rules recognise.

    Attributes:
        exact: every name of one word, as written in the mapping.
        written: maps a normalised name (see `key_of`) to the name as the mapping writes it. Names that only count when
            spelt exactly are left out; see `spellings_of`.
        longest: maps a normalised first word to the number of words of the longest name that starts with it.
    """

    exact: frozenset[str]
    written: Mapping[str, str]
    longest: Mapping[str, int]


@lru_cache(maxsize=1 << 16)
def key(word: str) -> str:
    """Return a normalised form of a word (NFKC, without case, Latin accents and invisible characters).

    It is equal for all spellings of the word.

    >>> key("JOSE\u0301") == key("josé") == key("Jose") == key("J\u200bosé"), key("O`Brien") == key("o’brien")
    (True, True)
    """
    if word.isascii():
        return word.lower().replace("`", "'")
    # Twice: NFKC turns some of these characters into spaces, and turns ″ and ŉ into some of them.
    folded = name_key(nfc(word).translate(_APOSTROPHES)).translate(_APOSTROPHES).replace("’", "'")
    letters: list[str] = []
    for sign in unicodedata.normalize("NFKD", folded):
        if unicodedata.category(sign) != "Mn" or not letters or not _is_latin(letters[-1]):
            letters.append(sign)
    return unicodedata.normalize("NFC", "".join(letters))


def key_of(name: str) -> str:
    """Return the normalised form of a name (one or more words), which is the same for all spellings of the name."""
    return " ".join(key(word) for word in word_pattern().findall(straight(plain(name))))


def plain(text: str) -> str:
    """Return the text in Unicode NFC without invisible characters, except any that non-Latin scripts or emoji need."""
    composed = nfc(text)
    if composed.isascii() or all(map(_is_seen, composed)):
        return composed
    signs = [
        sign
        for before, sign, after in zip(f" {composed[:-1]}", composed, f"{composed[1:]} ", strict=True)
        if _is_seen(sign) or not (sign in _NEVER_NEEDED or _is_latin(before) or _is_latin(after))
    ]
    return nfc("".join(signs))


def straight(text: str) -> str:
    """Return the text with all kinds of apostrophes changed to ’ and of hyphens to -; its length stays the same."""
    return text if text.isascii() and "`" not in text else text.translate(_APOSTROPHES)


def split_possessive(word: str) -> tuple[str, str]:
    """Split a word into the word itself and its possessive ending, which may be empty.

    >>> split_possessive("MONICA'S"), split_possessive("Ross")
    (('MONICA', "'s"), ('Ross', ''))
    """
    return (word[:-2], f"{word[-2]}s") if word[-2:] in ("'s", "’s", "'S", "’S") else (word, "")


def spellings_of(phrases: Mapping[str, str], clashes_with: Callable[[str, str], bool]) -> Spellings:
    """Return all spellings of the names in `phrases`, which maps each name to the phrase that replaces it.

    A name has only the spelling in `phrases` if one of these holds:

    - it is mapped to itself, because it is not a person's;
    - another spelling of it could occur in a phrase that the rules write: `clashes_with(name, phrase)` returns True;
    - another name has the same normalised form and a different phrase.
    """
    names_of: dict[str, list[str]] = defaultdict(list)
    for name in sorted(phrases):
        names_of[key_of(name)].append(name)
    put = sorted({phrase for name, phrase in phrases.items() if phrase != name})
    written = {
        spelling: names[0]
        for spelling, names in names_of.items()
        if spelling
        and len({phrases[name] for name in names}) == 1
        and phrases[names[0]] != names[0]
        and not any(clashes_with(other, phrase) for phrase in put for other in (spelling, spelling.capitalize()))
    }
    longest: dict[str, int] = {}
    for spelling in written:
        first, *more = spelling.split()
        longest[first] = max(longest.get(first, 0), len(more) + 1)
    return Spellings(frozenset(name for name in phrases if " " not in name), written, longest)


def respell(text: str, spellings: Spellings, known: Known) -> str:
    """Return the text with every name spelt as in the name mapping, except where it may be an ordinary word.

    A title in other capitals or without its space is corrected too: `DR.HOUSE` becomes `Dr. House`.
    """
    text = plain(text)
    if not spellings.written:
        return text
    words = list(word_pattern().finditer(straight(text)))
    pieces: list[str] = []
    position = 0
    place = 0
    while place < len(words):
        word = words[place]
        small = key(split_possessive(word[0])[0])
        match: tuple[int, str, int] | None = None
        for count in range(spellings.longest.get(small, 0), 0, -1):
            if match := _match_name(words[place : place + count], text, position, spellings, known):
                break
        if match is None and (glued := _TITLE_INSIDE.match(word[0])):
            base, own = split_possessive(word[0][glued.end() :])
            if key(base) in spellings.written:
                match = (word.start(), f"{glued[1]}. {spellings.written[key(base)]}{own}", 1)
        if match is None:
            place += 1
            continue
        start, name, count = match
        pieces += [text[position:start], name]
        position = words[place + count - 1].end()
        place += count
    return "".join([*pieces, text[position:]])


def _match_name(
    words: list[re.Match[str]], text: str, position: int, spellings: Spellings, known: Known
) -> tuple[int, str, int] | None:
    """Return (start, correct spelling, number of words) of the name that `words` form; None if they form no name.

    A title before the name is included, unless it starts before `position`; the text up to there is already respelt.
    """
    last, own = split_possessive(words[-1][0])
    bases = [*(word[0] for word in words[:-1]), last]
    name = spellings.written.get(" ".join(map(key, bases)))
    if name is None or any(not _BETWEEN.fullmatch(text, left.end(), right.start()) for left, right in pairwise(words)):
        return None
    start = words[0].start()
    title = _TITLE_BEFORE.search(text, max(position, start - _LONGEST_TITLE), start)
    if title and title[1].islower() and title[1].capitalize() not in _ABBREVIATED:
        title = None
    if len(words) == 1 and last in spellings.exact:
        name = last
    elif not title and not _no_other_word(bases, known):
        return None
    if title:
        return title.start(), f"{title[1].capitalize()}. {name}{own}", len(words)
    return start, name + own, len(words)


def _no_other_word(bases: list[str], known: Known) -> bool:
    """Return whether the words `bases`, as spelt here, can only be a name and not ordinary words."""
    small = [base.islower() for base in bases]
    sure = [not known.is_word(key(base)) or (known.parts_of_speech is None and not base.islower()) for base in bases]
    if len(bases) == 1:
        return sure[0] and (small[0] or len(bases[0]) > _SHORT)
    # `walks past Howard` does not contain the name `Past Howard`.
    return any(sure) and (all(small) or not any(a and not b for a, b in zip(small, sure, strict=True)))


@lru_cache(maxsize=4096)
def _is_seen(sign: str) -> bool:
    """Return whether a character is visible; also True for a space, a control character and an unassigned one."""
    return sign.isspace() or unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs") or bool(name_key(sign))


def _is_latin(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith("LATIN")
