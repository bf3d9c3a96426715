"""Which words of a text are probably names, and which names are left in it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from backend.campaign.captions.rules.cast import name_of, prepared
from backend.campaign.captions.rules.text import TITLES, nfc, opens_sentence, word_pattern

ENOUGH_TEXTS = 1000
"""From this many texts on, a word that only ever opens sentences and never occurs in lower case is a name too."""
_CAPITALISED_WORDS = """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December Christmas Halloween Thanksgiving Easter Valentine English French German
    Spanish Italian Russian Chinese Japanese Korean Indian American British Canadian Mexican Asian African European
    Latin Caucasian African-American God Internet Xray Xrays X-ray X-rays A An The This That He She It They We You
    His Her Him Their Them One Two Three Someone Somebody Everyone Everybody Nobody And But Then While As When"""
_NO_NAMES = frozenset(_CAPITALISED_WORDS.split())
_SHAPED_LIKE_A_LETTER = re.compile(r"[A-Z]-[a-z]")  # T-shirt, U-turn, X-ray


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
    pattern, _ = prepared(tuple(sorted(cast.items())))
    inside, opening, lower, known = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    count = 0
    for raw in texts:
        count += 1
        text = nfc(raw)
        known.update(name_of(match) for match in pattern.finditer(text))
        for word, start in words_of(text, pattern):
            if not word[0].isupper():
                lower[word] += 1
            elif _may_name(word):
                (opening if opens_sentence(text, start) else inside)[word] += 1
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
    text = nfc(text)
    pattern, phrases = prepared(tuple(sorted(cast.items())))
    places = [(start, word) for word, start in words_of(text, pattern) if word in unknown]
    places += [(match.start(), name) for match in pattern.finditer(text) if phrases[name := name_of(match)] != name]
    return tuple(dict.fromkeys(name for _, name in sorted(places)))


def _may_name(word: str) -> bool:
    return (
        len(word) > 1
        and not word.isupper()
        and word not in TITLES
        and word not in _NO_NAMES
        and not _SHAPED_LIKE_A_LETTER.match(word)
        and word[:2] not in ("I'", "I’")
    )


def words_of(text: str, cast_pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """The words of `text` outside the names of the cast, with their places, possessive endings taken off."""
    named = {place for match in cast_pattern.finditer(text) for place in range(*match.span())}
    for match in word_pattern().finditer(text):
        if match.start() not in named:
            yield re.sub(r"['’]s?\Z", "", match[0]), match.start()
