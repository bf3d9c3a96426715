"""Rewrite captions by rules: generic words replace the names of people, and nothing else changes.

These are pure functions on texts for `rewriting`, which decides whether a rewrite is good enough (similarity to its
source, no name left). The rules, in force under `RULES_VERSION`:

1.  The name mapping says what each name becomes: `{"Rachel": "a woman"}`. Longer names win (`Rachel Green` over
    `Rachel`), and only whole words count. Other spellings of a name count too if they can be nothing else (see
    `spelling`): capitals, apostrophes, accents, invisible characters, and lower case if a lexicon says that it is no
    word. In scripts written without spaces, names match anywhere.
2.  Titles before a name are replaced with it (`Dr. House`, `Dr.House` -> `a man`), and so is an article (`the Castle`).
    After an article and an adjective, only the noun is put: `an upset Amy` -> `an upset woman`.
3.  Adjacent names that become the same phrase are one person: `Kate Beckett` is `a woman` even if the mapping has no
    full name.
4.  Every person is `a woman` where first named, and `the woman` from then on. Two mentions are the same person if all
    words of one are among the words of the other.
5.  A phrase without `a`, `an` or `the` is used as it is, every time: `someone`, `people`.
6.  People named together become one phrase: `two people`, `three people`, from five on `a group of people`. They stay
    separate where the sentence refers to one of them: by a later `he` or `she` that can mean nobody named before them,
    by a name that comes again, by a possessive (`Ross and Rachel's mother`), or by a verb of the last one only
    (`Ross hugs Rachel and Joey waves`).
7.  A name after a noun that says who the person is, is removed: `his daughter Alexis` -> `his daughter`.
8.  `a` or `an` follows the sound of the next word. Sentences start with a capital; possessives stay possessive.
9.  A name that the mapping gives as itself (`Central Perk = Central Perk`) is not a person and stays.

With `people = "joined"` in `[rewrite]`, rule 6 names the kind of people who are of one kind: `two women`. With
`"apart"`, rules 6 and 7 are off, and people of one kind are distinguished by order: `a woman`, `another woman`,
`a third woman`, then `the woman`, `the other woman`, `the third woman`. If the text itself says `a woman` before, the
first name becomes `another woman`.

Unknown names are recognised by their capitals, so none are found in scripts without capitals. Where a capital may only
start a sentence, lists of first names, a lexicon and an encoder's vocabulary decide; callers pass these in. `Slips`
finds misspelt names, and names that are also words.
"""

from backend.campaign.corpus.captions.rules.names import ENOUGH_TEXTS, names_in, unknown_names
from backend.campaign.corpus.captions.rules.replacing import rewrite
from backend.campaign.corpus.captions.rules.slips import Slips
from backend.campaign.corpus.captions.rules.spelling import NOTHING_KNOWN, Known

RULES_VERSION = "rules-3"

__all__ = ["ENOUGH_TEXTS", "NOTHING_KNOWN", "RULES_VERSION", "Known", "Slips", "names_in", "rewrite", "unknown_names"]
