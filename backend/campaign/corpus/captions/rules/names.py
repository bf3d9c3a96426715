"""Find names in a text: those in the name mapping (names and their replacements), and words that are probably names."""

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
    """A name mapping (names and the phrases that replace them), compiled into a regular expression and look-up tables.

    Attributes:
        pattern: matches every name, and the longer of two names that begin alike. Its groups: `name` is the name in a
            script with spaces between words, `anywhere` a name in any other script. `adjective` is an adjective before
            the name, with its article. `own` is the possessive ending.
        phrases: maps each name to the phrase that replaces it.
        spellings: the other spellings of the names.
    """

    pattern: re.Pattern[str]
    phrases: dict[str, str]
    spellings: Spellings


class NameMapping(dict[str, str]):
    """A mapping from names to the phrases that replace them, compiled once for use on many texts.

    Do not change it after creation, because its compiled form `prepared` would stay as it was.
    """

    def __init__(self, mapping: Mapping[str, str]) -> None:
        super().__init__(mapping)
        self.prepared = _prepared(tuple(sorted(mapping.items())))


def prepared(mapping: Mapping[str, str]) -> Prepared:
    """Return the compiled form of a name mapping: a regular expression and look-up tables.

    It is computed anew unless `mapping` is a `NameMapping`, which stores it, or was compiled recently.
    """
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
    """Return the problems that make a name mapping unusable, as (name, message).

    Examples are a name without a replacement, and a replacement that contains another name.
    """
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
    """Return whether `phrase`, the replacement of some name, may contain `name`, which would then be replaced again.

    All forms that the rules may write count, such as the plural of `phrase`.
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
    """Return the name that a regular expression matched, with single spaces for any white space inside it."""
    return " ".join((match["name"] or match["anywhere"]).split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A person's name in a text: its position `[start, end)`, its words, and the phrase that replaces it.

    `adjective` is an adjective before the name, with its article, and `possessive` the ending after it; each may be
    empty.
    """

    start: int
    end: int
    words: frozenset[str]
    phrase: str
    adjective: str
    possessive: str


def mentions_in(text: str, prepared: Prepared) -> Iterator[Mention]:
    """Yield the people named in `text`, in order. Adjacent names with the same replacement are one person."""
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
    """Count the probable names of people that occur in `texts` and that the name mapping lacks.

    A capitalised word inside a sentence counts as a name. Exceptions are words in all capitals (TV), titles, weekdays,
    months, and languages. Words that are at least twenty times as frequent in lower case are no names either.

    A capitalised word that occurs only at the start of sentences needs more evidence. It counts if it never occurs in
    lower case, and one of the following holds. It is a first name, it is missing from the known words, or there are at
    least `ENOUGH_TEXTS` texts. If there is a lexicon (an English dictionary) and it lacks a first name, that name
    counts even if it also occurs in lower case.

    Names of the mapping that are typed in lower case are counted only without a lexicon; otherwise the class `Slips`
    finds them. Such a name counts if at most a fiftieth of its uses are in lower case (`joey`, but not `house`).

    Places and brands count too, because only a person can tell them from people; add them to the mapping with
    themselves as replacement.

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
    """Return the names that `text` still contains, in order of appearance and each once.

    These are the names of people in `mapping`, in every spelling that `rewrite` would replace, and the words of
    `unknown`.

    >>> names_in("A woman Greene calls Ross.", {"Ross": "a man"}, {"Greene"})
    ('Greene', 'Ross')
    """
    pattern, phrases, spellings = prepared(mapping)
    text = respell(text, spellings, known)
    places = [(start, word) for word, start in words_of(text, pattern) if word in unknown]
    places += [(match.start(), name) for match in pattern.finditer(text) if phrases[name := name_of(match)] != name]
    return tuple(dict.fromkeys(name for _, name in sorted(places)))


def _suspicious(word: str, known: Known) -> bool:
    """Return whether the word lists suggest that a capitalised word is a name.

    This is asked only about words that occur only at the start of sentences, where every word has a capital.
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
    """Return whether a vocabulary has the word, or the word without a common ending (`unplug` for `unplugging`)."""
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
    """Yield (word, start position) of each word in `text`, except words of names in the name mapping.

    `cast_pattern` matches these names. A possessive ending of a word is cut off.
    """
    name_places = {place for match in cast_pattern.finditer(text) for place in range(*match.span())}
    for match in word_pattern().finditer(text):
        if match.start() not in name_places:
            yield re.sub(r"['’]s?\Z", "", match[0]), match.start()
