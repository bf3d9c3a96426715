"""Which words of a text are probably names, and which names are left in it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from backend.campaign.corpus.captions.rules.name_mapping import name_of, prepared
from backend.campaign.corpus.captions.rules.spelling import NOTHING_KNOWN, Known, respelled
from backend.campaign.corpus.captions.rules.text import TITLES, opens_sentence, word_pattern

ENOUGH_TEXTS = 1000
"""From this many texts on, a word that only ever opens sentences and never occurs in lower case is a name too."""
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
    """Probable names of people that the mapping lacks, with how often each occurs.

    A capitalised word inside a sentence counts, unless it is all capitals (TV), a title, a weekday, month, language
    or the like, or twenty times as frequent in lower case. One that only ever opens sentences counts if it is never
    seen in lower case, and is a first name, or in no vocabulary, or there are `ENOUGH_TEXTS` texts or more. With a
    lexicon, a first name that is no word counts also if it is seen in lower case. Without one, a name of the mapping
    typed in lower case counts where that is at most a fiftieth of its uses (`joey`, yet not `house`); with one, see
    `slips`. Places and brands count too: only a person can tell (map them to themselves).

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
        text = respelled(raw, spellings, known)
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
    """The names left in `text`, in order of appearance: people of the mapping, and words of `unknown`.

    A name counts in every spelling that `rewrite` would replace.

    >>> names_in("A woman Greene calls Ross.", {"Ross": "a man"}, {"Greene"})
    ('Greene', 'Ross')
    """
    pattern, phrases, spellings = prepared(mapping)
    text = respelled(text, spellings, known)
    places = [(start, word) for word, start in words_of(text, pattern) if word in unknown]
    places += [(match.start(), name) for match in pattern.finditer(text) if phrases[name := name_of(match)] != name]
    return tuple(dict.fromkeys(name for _, name in sorted(places)))


def _suspicious(word: str, known: Known) -> bool:
    """Whether lists speak for a name where capitals cannot."""
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
    """Whether the word is there, or what it is made of by a common ending (`unplugging`)."""
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
    """The words of `text` outside the names of the mapping, with their places, possessive endings taken off."""
    named = {place for match in cast_pattern.finditer(text) for place in range(*match.span())}
    for match in word_pattern().finditer(text):
        if match.start() not in named:
            yield re.sub(r"['’]s?\Z", "", match[0]), match.start()
