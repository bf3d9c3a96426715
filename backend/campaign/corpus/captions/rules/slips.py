"""Find words of a rewritten caption that may still be names: misspelt names, names that are also words, unknown words.

Such words are only reported, so that a lead decides; nothing is replaced. The rules are for English, and need a lexicon
(a dictionary) in `Known`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from backend.campaign.corpus.captions.rules.names import NO_NAMES, prepared
from backend.campaign.corpus.captions.rules.spelling import (
    TITLES,
    Known,
    key,
    key_of,
    opens_sentence,
    plain,
    split_possessive,
    straight,
    word_pattern,
)

LONG_ENOUGH = 5
"""Names with at least this many letters are also found if one letter differs."""
USUAL = 2
"""A word that captions use this often in lower case, not as their first word, counts as a word without a lexicon."""

_PARTS = re.compile(r"['’_\d-]+|(?<=[^\W\d_A-Z])(?=[A-Z])")
_TITLES = frozenset(title.lower() for title in TITLES)
_WORDS_TOO = _TITLES - {"mr", "mrs", "ms", "mx", "dr", "prof", "det", "capt", "lt", "sgt"}
_BEFORE_SUBJECT = frozenset({"and", "or", "but", "as", "when", "while", "whilst", "then", "that", "before", "after"})
_BEFORE_PERSON = frozenset({"to", "with", "for", "by", "at", "from", "than", "near", "behind", "beside", "besides"})
_BEFORE_PERSON |= {"toward", "towards", "and", "or"}
_NEXT = frozenset(
    {"and", "as", "while", "when", "who", "he", "she", "him", "her", "in", "on", "with", "to", "by", "at"}
)
_NEXT |= {"are", "were"}
_OBJECTS = frozenset({"him", "her"})
_UNCOUNTED = """
    art ash autumn cash charity clay dawn faith grace harmony hope honor honour joy justice love mercy patience peace
    serenity spring summer winter wood"""
_WITHOUT_ARTICLE = frozenset(_UNCOUNTED.split())
"""Names that are also uncountable nouns, which can stand without an article."""
_CLAUSE_ENDS = frozenset(".,;:!?")
_THIRD_PERSON = frozenset({"is", "was", "has", "does"})


class Slips:
    """Finds words in rewritten captions that may still be names of people, such as misspelt names."""

    def __init__(self, mapping: Mapping[str, str], known: Known, texts: Iterable[str] = ()) -> None:
        """Prepare the search for names that may be left in rewritten captions.

        Args:
            mapping: maps each name to the phrase that replaces it. A name mapped to itself is not a person's, and is
                not searched for.
            known: a dictionary and lists of words and first names; without a dictionary, only capitals show a name.
            texts: the original captions. Words that they repeat in lower case, such as `cellphone`, count as words even
                if the dictionary lacks them.
        """
        phrases = prepared(mapping).phrases
        self.known = known
        self._people = {key_of(name): name for name, phrase in phrases.items() if phrase != name}
        self._nobody = {word for name, phrase in phrases.items() if phrase == name for word in key_of(name).split()}
        self._near: dict[str, set[str]] = defaultdict(set)
        for name in self._people:
            if len(name) >= LONG_ENOUGH and " " not in name:
                for short in _shortened(name):
                    self._near[short].add(name)
        self._usual = Counter[str]()
        for text in texts if known.parts_of_speech else ():
            self._usual.update(word for word in word_pattern().findall(text)[1:] if word.islower())
        self._is_near: dict[str, bool] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        """Return the words of a rewritten caption that may be names, as written, each once.

        >>> from backend.core.lexicon import english
        >>> slips = Slips({"Rachel": "a woman", "House": "a man"}, Known({}, frozenset(), frozenset(), english))
        >>> slips("achel waves to house, who sits in the house."), slips("House music plays.")
        (('achel', 'house'), ('House',))
        """
        text = straight(plain(text))
        words = list(word_pattern().finditer(text))
        suspects = [word for place, match in enumerate(words) for word in self._suspects(place, match, words, text)]
        return tuple(dict.fromkeys(suspects))

    def _suspects(self, place: int, match: re.Match[str], words: list[re.Match[str]], text: str) -> Iterator[str]:
        base = split_possessive(match[0])[0]
        small = key(base)
        if small in self._nobody or small in _TITLES:
            return
        if small in self._people:
            if not (base.islower() and self.known.is_word(small)) or self._stands_like_a_name(place, words, text):
                yield base
        elif self._misspelt(base, small, place, words, text) or self._unknown(base, small, place, match.start(), text):
            yield base
        elif not base.isalpha() or not (base.islower() or base.istitle()):
            for part in _PARTS.split(base):
                part_key = key(part)
                if part_key in self._people and not (part.islower() and self.known.is_word(part_key)):
                    yield base

    def _misspelt(self, base: str, small: str, place: int, words: list[re.Match[str]], text: str) -> bool:
        """Return whether a word is probably a misspelt name: it is one letter away from a name.

        If it is also an English word, it must be rare in the captions and used like a name.

        Args:
            base: the word as written, without its possessive ending.
            small: the word in lower case and without accents.
            place: its index in `words`.
            words: the matches of all words of the text.
            text: the rewritten caption.
        """
        if small not in self._is_near:
            near = (name for short in _shortened(small) for name in self._near.get(short, ()))
            self._is_near[small] = any(_one_apart(small, name) for name in near)
        if not self._is_near[small] or not self._is_word(small):
            return self._is_near[small]
        rare = self._usual[small] <= USUAL
        return rare and base.islower() and self._stands_like_a_name(place, words, text)

    def _unknown(self, base: str, small: str, place: int, start: int, text: str) -> bool:
        """Return whether a word is in no dictionary, and either is a first name or starts a sentence.

        Args:
            base: the word as written, without its possessive ending.
            small: the word in lower case and without accents.
            place: its index among the words of the text.
            start: its position in the text.
            text: the rewritten caption.
        """
        if self.known.parts_of_speech is None or self._is_word(small):
            return False
        if self._usual[small] >= USUAL or small.capitalize() in NO_NAMES:
            return False
        if small.capitalize() in self.known.first_names:
            return True
        opens = place == 0 or (base[0].isupper() and opens_sentence(text, start))
        return opens and not base.isupper() and base.isalpha()

    def _is_word(self, small: str) -> bool:
        return all(self.known.is_word(part) for part in re.split(r"['-]", small) if part)

    def _stands_like_a_name(self, place: int, words: list[re.Match[str]], text: str) -> bool:
        """Return whether a lower-case word is used like a person's name; a thing would need an article there.

        That is so in three cases. The word follows a title. It starts a clause, and a verb follows (`house pulls`). It
        follows a verb or a word like `with`, and the next word is no noun (`talks to house and`). `place` is the index
        of the word in `words`, the matches of all words.
        """
        speech = self.known.parts_of_speech
        if speech is None:
            return False
        match = words[place]
        base = split_possessive(match[0])[0]
        before = words[place - 1] if place else None
        gap = text[before.end() if before else 0 : match.start()]
        previous = before[0].lower() if before else ""
        readings = speech(base)
        if previous in _TITLES and gap.strip() in ("", "."):
            return previous not in _WORDS_TOO or (base in readings.get("NOUN", ()) and "AUX" not in readings)
        if not _CLAUSE_ENDS.isdisjoint(gap):
            previous = ""
        if gap.endswith("-") or text[match.end() : match.end() + 1] == "-":
            return False
        after = words[place + 1] if place + 1 < len(words) else None
        gap_after = text[match.end() : after.start() if after else len(text)]
        follows = "" if after is None or not _CLAUSE_ENDS.isdisjoint(gap_after) else after[0].lower()
        if (not previous or previous in _BEFORE_SUBJECT) and _is_third_person(follows, speech(follows)):
            return base in readings.get("NOUN", (base,))  # a plural is no name: `bags hang`
        if base not in readings.get("NOUN", ()) or base not in readings.get("VERB", (base,)):
            return False
        if base in _WITHOUT_ARTICLE or not readings.keys().isdisjoint({"ADV", "AUX"}):
            return False
        if previous in _BEFORE_PERSON:
            infinitive = previous == "to" and "VERB" in readings
            return not follows or match[0] != base or follows in (_NEXT - _OBJECTS if infinitive else _NEXT)
        verb = speech(previous)
        return follows in _NEXT and "VERB" in verb and "ADJ" not in verb and previous not in verb.get("NOUN", ())


def _is_third_person(word: str, readings: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a word may be a verb in the third person (`pulls`, `is`).

    `readings` maps its possible parts of speech to base forms.
    """
    return word in _THIRD_PERSON or (word.endswith("s") and word not in readings.get("VERB", (word,)))


def _shortened(word: str) -> set[str]:
    """Return the word, and every form of it with one letter left out."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def _one_apart(one: str, other: str) -> bool:
    """Return whether two words differ by one inserted, removed or replaced letter, or by two swapped neighbours.

    >>> [_one_apart("rachel", other) for other in ("achel", "raachel", "rachal", "rahcel", "rahcl")]
    [True, True, True, True, False]
    """
    if len(one) > len(other):
        one, other = other, one
    start = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return len(one) + 1 == len(other) and one[start:] == other[start + 1 :]
    swapped = one[start : start + 2] == other[start : start + 2][::-1] and one[start + 2 :] == other[start + 2 :]
    return one[start + 1 :] == other[start + 1 :] or swapped
