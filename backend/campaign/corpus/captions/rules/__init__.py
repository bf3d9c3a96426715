"""Imprecise captions by rule: names of people become generic words, and nothing else changes.

Pure text work for `rewriting`; whether a rewrite is good enough (similarity to its source, no
name left) is decided there. The rules, in force under `RULES_VERSION`:

1.  The name mapping says what each name becomes: `{"Rachel": "a woman"}`. Longer names win (`Rachel Green` over
    `Rachel`), whole words only. Other spellings of a name count too where they can be nothing else (see `spelling`):
    capitals, apostrophes, accents, invisible characters, and lower case if a lexicon says that it is no word. Scripts
    written without spaces match anywhere.
2.  Titles before a name go with it (`Dr. House`, `Dr.House` -> `a man`), and so does an article (`the Castle`).
    After an article and an adjective only the noun is put: `an upset Amy` -> `an upset woman`.
3.  Names that touch and mean the same are one person: `Kate Beckett` is `a woman` also if the mapping has no full name.
4.  Every person is `a woman` where first named, and `the woman` from then on. Two mentions are the same person if all
    words of one are among the words of the other.
5.  A phrase without `a`, `an` or `the` is put as it is, every time: `someone`, `people`.
6.  People named together are one phrase: `two people`, `three people`, from five on `a group of people`. They stay
    apart where the sentence needs them one by one: a later `he` or `she` that nobody named before them is, a name that
    comes again, a possessive (`Ross and Rachel's mother`), a verb that is the last one's (`Ross hugs Rachel and Joey
    waves`).
7.  A name after a noun that says who it is goes without a word: `his daughter Alexis` -> `his daughter`.
8.  `a` or `an` follows the sound of the next word. Sentences start with a capital; possessives stay possessive.
9.  A name that the mapping gives as itself (`Central Perk = Central Perk`) is not a person and stays.

With `people = "joined"` in `[rewrite]`, rule 6 tells their kind where it is one: `two women`. With `"apart"`, rules 6
and 7 are off, and people of one kind are told apart by order: `a woman`, `another woman`, `a third woman`, then `the
woman`, `the other woman`, `the third woman`; if the text itself spoke of `a woman` before, the first name is
`another woman`.

Capitals are how unknown names are noticed, so scripts without capitals show none; where a capital only opens a
sentence, lists of first names, a lexicon and an encoder's vocabulary tell, which callers hand in. `Slips` finds
misspelt names, and names that are words too.
"""

from backend.campaign.corpus.captions.rules.names import ENOUGH_TEXTS, names_in, unknown_names
from backend.campaign.corpus.captions.rules.replacing import rewrite
from backend.campaign.corpus.captions.rules.slips import Slips
from backend.campaign.corpus.captions.rules.spelling import NOTHING_KNOWN, Known

RULES_VERSION = "rules-3"

__all__ = ["ENOUGH_TEXTS", "NOTHING_KNOWN", "RULES_VERSION", "Known", "Slips", "names_in", "rewrite", "unknown_names"]
