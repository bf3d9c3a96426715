"""Imprecise captions by rule: names of people become generic words, and nothing else changes.

Pure text work for `rewriting`; whether a rewrite is good enough (similarity to its source, no
name left) is decided there. The rules, in force under `RULES_VERSION`:

1.  The cast says what each name becomes: `{"Rachel": "a woman"}`. Longer names win (`Rachel Green` over `Rachel`),
    whole words only, upper and lower case as written in the cast. Scripts written without spaces match anywhere.
2.  Titles before a name go with it (`Dr. House` -> `a man`), and so does an article (`the Castle` -> `a man`).
    After an article and an adjective only the noun is put: `an upset Amy` -> `an upset woman`.
3.  Names that touch and mean the same are one person: `Kate Beckett` is `a woman` also if the cast has no full name.
4.  Two people of one kind are told apart by order: `a woman`, `another woman`, `a third woman`. If the text itself
    spoke of `a woman` before, the first name is `another woman`.
5.  The same person again is `the woman`, `the other woman`, `the third woman`. Two mentions are the same person if
    all words of one are among the words of the other.
6.  A phrase without `a`, `an` or `the` is put as it is, every time: `someone`, `people`.
7.  `a` or `an` follows the sound of the next word. Sentences start with a capital; possessives stay possessive.
8.  A name that the cast gives as itself (`Central Perk = Central Perk`) is not a person and stays.

Capitals are how unknown names are noticed, so scripts without capitals show none.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby

from backend.ground.errors import InputError, Problem

RULES_VERSION = "rules-1"

ENOUGH_TEXTS = 1000
"""From this many texts on, a word that only ever opens sentences and never occurs in lower case is a name too."""

_TITLE_WORDS = """
    Mr Mrs Ms Mx Miss Dr Doctor Prof Professor Detective Det Agent Captain Capt Officer Lieutenant Lt Sergeant Sgt
    Colonel Nurse Sir Madam Uncle Aunt Sr Jr"""
_TITLES = frozenset(_TITLE_WORDS.split())
_ADJECTIVE = r"(?:[a-z]+(?:ed|ing|less|ful|ous)|upset|drunk|young|old|little|sad|happy|angry|sleepy|naked|pregnant)"
_CAPITALISED_WORDS = """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December Christmas Halloween Thanksgiving Easter Valentine English French German
    Spanish Italian Russian Chinese Japanese Korean Indian American British Canadian Mexican Asian African European
    Latin Caucasian African-American God Internet Xray Xrays X-ray X-rays A An The This That He She It They We You
    His Her Him Their Them One Two Three Someone Somebody Everyone Everybody Nobody And But Then While As When"""
_NO_NAMES = frozenset(_CAPITALISED_WORDS.split())
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_JOINING = frozenset({"a", "an", "the", "another", "A", "An", "The", "Another", "other", *_ORDINALS})
_VOWEL_SOUND = re.compile(
    r"hour|hono|hones|heir|(?!uni(?:que|form|corn|cyc|ver|on|ted)|use|usu|euro|ewe|one\b|once)[aeiou]", re.IGNORECASE
)
_SHAPED_LIKE_A_LETTER = re.compile(r"[A-Z]-[a-z]")  # T-shirt, U-turn, X-ray
_SENTENCE_START = re.compile(r"""(?:\A\W*|[.!?…]["'”’)\]]*\s+["'“‘«„(\[]*|\n\W*|["“«„])\Z""")
_ABBREVIATION = re.compile(rf"(?:\A|\W)(?:[A-Z]|St|vs|{'|'.join(sorted(_TITLES))})\.\s+\Z")
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True, slots=True)
class _Mention:
    """A name found at `[start, end)`: its words, what it becomes, and what stands around it."""

    start: int
    end: int
    words: frozenset[str]
    phrase: str
    adjective: str
    possessive: str


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
    text = _nfc(text)
    people: dict[str, list[frozenset[str]]] = {}
    pieces: list[str] = []
    position = 0
    for mention in _mentions(text, _prepared(tuple(sorted(cast.items())))):
        new = mention.adjective + _generic(mention, text, people)
        if _opens_sentence(text, mention.start) and not text[mention.start].islower():
            new = new[0].upper() + new[1:]
        pieces += [text[position : mention.start], new + _possessive(mention)]
        position = mention.end
    return "".join([*pieces, text[position:]])


def unknown_names(texts: Iterable[str], cast: Mapping[str, str]) -> Counter[str]:
    """Probable names of people that the cast lacks, with how often each occurs.

    A capitalised word inside a sentence counts, unless it is all capitals (TV), a title, a weekday, month, language
    or the like, or twenty times as frequent in lower case. With `ENOUGH_TEXTS` texts or more, so does a capitalised
    word at the start of a sentence that is never seen in lower case. A name of the cast typed in lower case counts
    where that is at most a fiftieth of its uses (`joey`, yet not `house`). Places and brands count too: only a person
    can tell (give them to the cast as themselves).

    >>> unknown_names(["Ross sees Mona on TV.", "Mona laughs."], {"Ross": "a man"})
    Counter({'Mona': 2})
    """
    pattern, _ = _prepared(tuple(sorted(cast.items())))
    inside, opening, lower, known = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    count = 0
    for raw in texts:
        count += 1
        text = _nfc(raw)
        known.update(_name_of(match) for match in pattern.finditer(text))
        for word, start in _words(text, pattern):
            if not word[0].isupper():
                lower[word] += 1
            elif _may_name(word):
                (opening if _opens_sentence(text, start) else inside)[word] += 1
    names = Counter({word: n + opening[word] for word, n in inside.items() if lower[word.lower()] < 20 * n})
    small = {name.lower(): n for name, n in known.items() if name != name.lower()}
    names.update({word: lower[word] for word, n in small.items() if 0 < 50 * lower[word] <= n})
    if count >= ENOUGH_TEXTS:
        names.update({word: n for word, n in opening.items() if word not in inside and not lower[word.lower()]})
    return names


def names_in(text: str, cast: Mapping[str, str], unknown: Collection[str]) -> tuple[str, ...]:
    """The names left in `text`, in order of appearance: people of the cast, and words of `unknown`.

    >>> names_in("A woman Greene calls Ross.", {"Ross": "a man"}, {"Greene"})
    ('Greene', 'Ross')
    """
    text = _nfc(text)
    pattern, phrases = _prepared(tuple(sorted(cast.items())))
    places = [(start, word) for word, start in _words(text, pattern) if word in unknown]
    places += [(match.start(), name) for match in pattern.finditer(text) if phrases[name := _name_of(match)] != name]
    return tuple(dict.fromkeys(name for _, name in sorted(places)))


def _generic(mention: _Mention, text: str, people: dict[str, list[frozenset[str]]]) -> str:
    """Rules 4 to 7 for one mention; `people` remembers who was met, per noun."""
    article, noun = _split(mention.phrase)
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
    return f"the {described}" if article == "the" and index == 0 else f"{_article(described)} {described}"


def _ordinal(index: int, second: str) -> list[str]:
    if index < 2:
        return [second] if index else []
    return [_ORDINALS[min(index - 2, len(_ORDINALS) - 1)]]


def _possessive(mention: _Mention) -> str:
    if not mention.possessive:
        return ""
    return mention.possessive[0] + ("" if mention.phrase.endswith("s") else "s")


def _article(noun: str) -> str:
    """`a` or `an` by the sound of the next word, as far as spelling tells.

    >>> [_article(word) for word in ("woman", "old man", "unicyclist", "hour", "one-eyed man")]
    ['a', 'an', 'a', 'an', 'a']
    """
    return "an" if _VOWEL_SOUND.match(noun) else "a"


def _split(phrase: str) -> tuple[str, str]:
    """`an old man` -> (`an`, `old man`); without an article the first part is empty."""
    match = re.fullmatch(r"(a|an|the)\s+(\S.*)", phrase, re.IGNORECASE)
    return (match[1].lower(), match[2]) if match else ("", phrase)


@lru_cache(maxsize=32)
def _prepared(cast: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """One pattern for all names, longest first, and what each becomes.

    Groups: `adjective` (with its article), `name` (spaced scripts) or `anywhere` (others), `own` (possessive).
    """
    phrases = {" ".join(_nfc(name).split()): " ".join(_nfc(phrase).split()) for name, phrase in cast}
    if problems := _problems(phrases):
        raise InputError([Problem("cast", None, message) for message in problems])
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
    letter = rf"[\w{_marks()}]"
    titles = rf"(?:(?:{'|'.join(sorted(_TITLES))})\.?\s+)*"
    before = rf"(?P<adjective>[Aa]n?\s+{_ADJECTIVE}\s+)|(?:[Tt]he|[Aa]n?)\s+"
    # Not inside `Mary-Ann` or `O'Brien`, yet before `'s` and before `-like`.
    # Most words are passed over by their first letter.
    first = "".join(re.escape(one) for one in sorted({word[0] for word in [*phrases, *_TITLES, *"AaTt"]}))
    left, right = rf"(?=[{first}])(?<!{letter})(?<!\w[-'’])", rf"(?!{letter})(?!-[A-ZÀ-ÖØ-ÞΑ-ΩА-Я])"
    return (
        re.compile(
            rf"(?:{left}(?:{before})?{titles}(?P<name>{spaced}){right}|(?P<anywhere>{unspaced}))"
            rf"(?P<own>['’]s(?!{letter})|(?<=[sxz])['’](?=\s))?"
        ),
        phrases,
    )


def _problems(phrases: Mapping[str, str]) -> list[str]:
    """What keeps a cast from meaning one thing."""
    problems = [f"the name {name!r} has no letter" for name in phrases if not any(c.isalpha() for c in name)]
    problems += [f"the name {name!r} has nothing to become" for name, phrase in phrases.items() if not phrase]
    for name, phrase in phrases.items():
        if not phrase or phrase == name:
            continue
        article, noun = _split(phrase)
        nouns = noun.split()
        said = {*nouns, *(_JOINING if article else {nouns[0][0].upper() + nouns[0][1:]})}
        problems += [
            f"{name!r} becomes {phrase!r}, which the name {other!r} would change again"
            for other in phrases
            if other and (said.issuperset(other.split()) or other.split()[0] == nouns[-1])
        ]
    return problems


def _mentions(text: str, prepared: tuple[re.Pattern[str], dict[str, str]]) -> Iterator[_Mention]:
    """The people named in `text`, touching names that mean the same made one (rule 3)."""
    pattern, phrases = prepared
    waiting: _Mention | None = None
    for match in pattern.finditer(text):
        name = _name_of(match)
        if phrases[name] == name:
            continue
        words = frozenset(name.split())
        found = _Mention(match.start(), match.end(), words, phrases[name], match["adjective"] or "", match["own"] or "")
        if waiting is not None:
            touching = text[waiting.end : found.start].isspace() and match.start() == _name_start(match)
            if touching and not waiting.possessive and waiting.phrase == found.phrase:
                waiting = _Mention(
                    waiting.start,
                    found.end,
                    waiting.words | words,
                    found.phrase,
                    waiting.adjective,
                    found.possessive,
                )
                continue
            yield waiting
        waiting = found
    if waiting is not None:
        yield waiting


def _name_of(match: re.Match[str]) -> str:
    """The matched name as the cast has it: in the text, a line may break inside it."""
    return " ".join((match["name"] or match["anywhere"]).split())


def _name_start(match: re.Match[str]) -> int:
    return max(match.start("name"), match.start("anywhere"))


def _opens_sentence(text: str, position: int) -> bool:
    before = text[:position]
    return bool(_SENTENCE_START.search(before)) and not _ABBREVIATION.search(before)


def _may_name(word: str) -> bool:
    return (
        len(word) > 1
        and not word.isupper()
        and word not in _TITLES
        and word not in _NO_NAMES
        and not _SHAPED_LIKE_A_LETTER.match(word)
        and word[:2] not in ("I'", "I’")
    )


def _words(text: str, cast_pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """The words of `text` outside the names of the cast, with their places, possessive endings taken off."""
    named = {place for match in cast_pattern.finditer(text) for place in range(*match.span())}
    for match in _word_pattern().finditer(text):
        if match.start() not in named:
            yield re.sub(r"['’]s?\Z", "", match[0]), match.start()


@cache
def _word_pattern() -> re.Pattern[str]:
    letter = rf"[^\W\d_][\w{_marks()}]*"
    return re.compile(rf"{letter}(?:['’-]{letter})*")


@cache
def _marks() -> str:
    """The combining marks, which a regular expression takes for gaps between words, as ranges for a class."""
    codes = [code for code in range(0x300, 0x1E950) if unicodedata.category(chr(code)).startswith("M")]
    runs = groupby(enumerate(codes), key=lambda numbered: numbered[1] - numbered[0])
    ranges = [[code for _, code in run] for _, run in runs]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ranges)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
