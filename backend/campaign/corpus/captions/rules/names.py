"""Find names in a text: people of the name mapping, and words that are probably names."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from backend.campaign.corpus.captions.rules.spelling import (
    NOTHING_KNOWN,
    NUMBERS,
    TITLES,
    Known,
    Spellings,
    marks,
    opens_sentence,
    plural,
    respell,
    spellings_of,
    split,
    tidy,
    word_pattern,
)
from backend.core.errors import InputError, Problem
from backend.core.messages import said

ADJECTIVE = r"(?:[a-z]+(?:ed|ing|less|ful|ous)|upset|drunk|young|old|little|sad|happy|angry|sleepy|naked|pregnant)"
ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
JOINING = frozenset({"a", "an", "the", "another", "A", "An", "The", "Another", "other", *ORDINALS})
_COUNTED = frozenset({"a", "A", "group", "of", "people", *NUMBERS, *(word.capitalize() for word in NUMBERS)})
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")


class Prepared(NamedTuple):
    """A name mapping in the form that the rules use.

    Attributes:
        pattern: matches every name; of two names that begin alike it prefers the longer. Its groups: `adjective` is an
            adjective before the name, with its article. `name` is the name in a script with spaces between words,
            `anywhere` a name in any other script. `own` is the possessive ending.
        phrases: the phrase that replaces each name.
        spellings: the other spellings of the names.
    """

    pattern: re.Pattern[str]
    phrases: dict[str, str]
    spellings: Spellings


class NameMapping(dict[str, str]):
    """A name mapping that is prepared once, for many texts. Do not change it afterwards."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        super().__init__(mapping)
        self.prepared = _prepared(tuple(sorted(mapping.items())))


def prepared(mapping: Mapping[str, str]) -> Prepared:
    """Prepare a mapping for the rules; a `NameMapping` is prepared already."""
    return mapping.prepared if isinstance(mapping, NameMapping) else _prepared(tuple(sorted(mapping.items())))


@lru_cache(maxsize=32)
def _prepared(mapping: tuple[tuple[str, str], ...]) -> Prepared:
    phrases = {tidy(name): tidy(phrase) for name, phrase in mapping}
    if problems := contradictions(phrases):
        raise InputError([Problem("cast", None, message) for _, message in problems])
    longest_first = sorted(phrases, key=lambda name: (-len(name), name))
    spaced, unspaced = (
        "|".join(
            r"\s+".join(re.escape(word) for word in name.split())
            for name in longest_first
            if unicodedata.name(name[-1], "").startswith(_UNSPACED) == anywhere
        )
        or r"(?!)"
        for anywhere in (False, True)
    )
    letter = rf"[\w{marks()}]"
    titles = rf"(?:(?:{'|'.join(sorted(TITLES))})\.?\s+)*"
    before = rf"(?P<adjective>[Aa]n?\s+{ADJECTIVE}\s+)|(?:[Tt]he|[Aa]n?)\s+"
    # A name does not match inside `Mary-Ann` or `O'Brien`, but before `'s` and `-like`.
    # The lookahead skips most words by their first letter, which is faster.
    first = "".join(re.escape(initial) for initial in sorted({word[0] for word in [*phrases, *TITLES, *"AaTt"]}))
    left, right = rf"(?=[{first}])(?<!{letter})(?<!\w[-'’])", rf"(?!{letter})(?!-[A-ZÀ-ÖØ-ÞΑ-ΩА-Я])"
    pattern = re.compile(
        rf"(?:{left}(?:{before})?{titles}(?P<name>{spaced}){right}|(?P<anywhere>{unspaced}))"
        rf"(?P<own>['’]s(?!{letter})|(?<=[sxz])['’](?=\s))?"
    )
    return Prepared(pattern, phrases, spellings_of(phrases, clashes_with))


def contradictions(phrases: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names that make a mapping ambiguous or unusable, each with the problem."""
    problems = [
        (name, said("the name {name!r} has no letter: correct or remove it", name=name))
        for name in phrases
        if not any(c.isalpha() for c in name)
    ]
    problems += [
        (name, said('the name {name!r} has no replacement: write one, such as "a woman"', name=name))
        for name, phrase in phrases.items()
        if not phrase
    ]
    names_of: dict[str, list[str]] = defaultdict(list)
    for name, phrase in phrases.items():
        if phrase and phrase != name:
            names_of[phrase].append(name)
    for phrase, names in names_of.items():
        changed = [other for other in phrases if other.strip() and clashes_with(other, phrase)]
        problems += [
            (
                name,
                said(
                    "{name!r} becomes {phrase!r}, where the name {other!r} would be replaced again: choose other words",
                    name=name,
                    phrase=phrase,
                    other=other,
                ),
            )
            for name in names
            for other in changed
        ]
    return problems


def clashes_with(name: str, phrase: str) -> bool:
    """Return whether the words that replace some name may look like the name `name` and be replaced again.

    The rules may write `phrase` in other forms, such as a plural; these are compared with `name` too.
    """
    article, noun = split(phrase)
    words, nouns, plural_words = name.split(), noun.split(), plural(noun).split()
    possible_words = {*nouns, *(JOINING if article else {nouns[0][0].upper() + nouns[0][1:]})}
    if possible_words.issuperset(words) or words[0] == nouns[-1]:
        return True
    return bool(article) and (
        words[0] in (plural_words[-1], "people") or ({*plural_words} | _COUNTED).issuperset(words)
    )


def name_of(match: re.Match[str]) -> str:
    """Return the matched name with single spaces, as the mapping has it. The text may have a line break inside it."""
    return " ".join((match["name"] or match["anywhere"]).split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found in a text at `[start, end)`: its words, its replacement, its adjective and its possessive ending."""

    start: int
    end: int
    words: frozenset[str]
    phrase: str
    adjective: str
    possessive: str


def mentions_in(text: str, prepared: Prepared) -> Iterator[Mention]:
    """Yield the people named in `text`. Adjacent names that become the same phrase are one mention (rule 3)."""
    pattern, phrases, _ = prepared
    waiting: Mention | None = None
    for match in pattern.finditer(text):
        name = name_of(match)
        if phrases[name] == name:
            continue
        words = frozenset(name.split())
        mention = Mention(
            match.start(), match.end(), words, phrases[name], match["adjective"] or "", match["own"] or ""
        )
        if waiting is not None:
            touching = text[waiting.end : mention.start].isspace() and match.start() == _name_start(match)
            if touching and not waiting.possessive and waiting.phrase == mention.phrase:
                waiting = Mention(
                    waiting.start,
                    mention.end,
                    waiting.words | words,
                    mention.phrase,
                    waiting.adjective,
                    mention.possessive,
                )
                continue
            yield waiting
        waiting = mention
    if waiting is not None:
        yield waiting


def _name_start(match: re.Match[str]) -> int:
    return max(match.start("name"), match.start("anywhere"))


ENOUGH_TEXTS = 1000
"""From this many texts on, a word that only starts sentences and never occurs in lower case counts as a name too."""
_CAPITALISED_WORDS = """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December Christmas Halloween Thanksgiving Easter Valentine English French German
    Spanish Italian Russian Chinese Japanese Korean Indian American British Canadian Mexican Asian African European
    Latin Caucasian African-American God Internet Xray Xrays X-ray X-rays A An The This That He She It They We You
    His Her Him Their Them One Two Three Someone Somebody Everyone Everybody Nobody And But Then While As When"""
NO_NAMES = frozenset(_CAPITALISED_WORDS.split())
_SHAPED_LIKE_A_LETTER = re.compile(r"[A-Z]-[a-z]")  # T-shirt, U-turn, X-ray
_ENDINGS = (("", ""), ("s", ""), ("es", ""), ("ed", ""), ("d", ""), ("ing", ""), ("ing", "e"), ("ly", ""), ("ies", "y"))


def unknown_names(texts: Iterable[str], mapping: Mapping[str, str], known: Known = NOTHING_KNOWN) -> Counter[str]:
    """Return probable names of people that the mapping lacks, with how often each occurs.

    A capitalised word inside a sentence counts as a name. Exceptions are words in all capitals (TV), titles, weekdays,
    months, languages and the like, and words that are twenty times as frequent in lower case.

    A capitalised word that only starts sentences counts if it never occurs in lower case. It must also be a first name
    or in no vocabulary, or there must be `ENOUGH_TEXTS` texts or more. With a lexicon, a first name that is no word
    counts even if it occurs in lower case.

    Without a lexicon, a name of the mapping typed in lower case counts if that is at most a fiftieth of its uses
    (`joey`, but not `house`). With a lexicon, see `slips`. Places and brands count too, because only a person can tell:
    map them to themselves.

    >>> unknown_names(["Ross sees Mona on TV.", "Mona laughs."], {"Ross": "a man"})
    Counter({'Mona': 2})
    >>> unknown_names(["Mia throws a ball.", "Balls roll."], {}, Known({"Mia": "a woman"}, frozenset(), frozenset()))
    Counter({'Mia': 1})
    """
    pattern, _, spellings = prepared(mapping)
    inside, opening, lower, uses = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    count = 0
    for raw in texts:
        count += 1
        text = respell(raw, spellings, known)
        uses.update(name_of(match) for match in pattern.finditer(text))
        for word, start in words_of(text, pattern):
            if not word[0].isupper():
                lower[word] += 1
            elif _may_name(word):
                (opening if opens_sentence(text, start) else inside)[word] += 1
    names = Counter({word: n + opening[word] for word, n in inside.items() if lower[word.lower()] < 20 * n})
    if known.parts_of_speech is None:
        small = {name.lower(): n for name, n in uses.items() if name != name.lower()}
        names.update({word: lower[word] for word, n in small.items() if 0 < 50 * lower[word] <= n})
    only_opening = {
        word: n
        for word, n in opening.items()
        if word not in inside
        and (not lower[word.lower()] or (word in known.first_names and not known.is_word(word.lower())))
    }
    enough = count >= ENOUGH_TEXTS
    names.update({word: n for word, n in only_opening.items() if enough or _suspicious(word, known)})
    return names


def names_in(
    text: str, mapping: Mapping[str, str], unknown: Collection[str], known: Known = NOTHING_KNOWN
) -> tuple[str, ...]:
    """Return the names left in `text`, in order of appearance: people of the mapping, and words of `unknown`.

    Every spelling that `rewrite` would replace counts as the name.

    >>> names_in("A woman Greene calls Ross.", {"Ross": "a man"}, {"Greene"})
    ('Greene', 'Ross')
    """
    pattern, phrases, spellings = prepared(mapping)
    text = respell(text, spellings, known)
    places = [(start, word) for word, start in words_of(text, pattern) if word in unknown]
    places += [(match.start(), name) for match in pattern.finditer(text) if phrases[name := name_of(match)] != name]
    return tuple(dict.fromkeys(name for _, name in sorted(places)))


def _suspicious(word: str, known: Known) -> bool:
    """Return whether word lists suggest that a word is a name.

    The question arises only for words that never occur inside a sentence.
    """
    small = word.lower()
    if small in known.ordinary:
        return False
    if word in known.first_names:
        return True
    parts = re.split(r"['’-]", small)
    if not all(map(known.is_word, parts)):
        return True
    return bool(known.vocabulary) and not all(_in_vocabulary(part, known.vocabulary) for part in parts)


def _in_vocabulary(word: str, vocabulary: Collection[str]) -> bool:
    """Return whether a vocabulary has the word, or its stem without a common ending (`unplugging`)."""
    stems = (word.removesuffix(ending) + put for ending, put in _ENDINGS if word.endswith(ending))
    return any(stem in vocabulary or (stem[-1:] == stem[-2:-1] and stem[:-1] in vocabulary) for stem in stems)


def _may_name(word: str) -> bool:
    return (
        not word.isupper()
        and word not in TITLES
        and word not in NO_NAMES
        and not _SHAPED_LIKE_A_LETTER.match(word)
        and word[:2] not in ("I'", "I’")
    )


def words_of(text: str, cast_pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Yield each word of `text` outside the names of the mapping, without possessive ending, and its position."""
    name_places = {place for match in cast_pattern.finditer(text) for place in range(*match.span())}
    for match in word_pattern().finditer(text):
        if match.start() not in name_places:
            yield re.sub(r"['’]s?\Z", "", match[0]), match.start()
