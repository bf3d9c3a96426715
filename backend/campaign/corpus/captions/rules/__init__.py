"""Rewrite captions by rules: generic words replace the names of people, and nothing else changes.

These are pure functions on texts for `rewriting`, which decides whether a rewrite is good enough (similarity to its
source, no name left). The rules, in force under `RULES_VERSION`:

1.  The name mapping says what each name becomes: `{"Rachel": "a woman"}`. Longer names win (`Rachel Green` over
    `Rachel`), and only whole words count. Other spellings of a name count too if they cannot be another word (see
    `spelling`): capitals, apostrophes, accents, invisible characters, and lower case if the lexicon (a dictionary) says
    that it is no word. In scripts written without spaces, names match anywhere.
2.  Titles before a name are replaced with it (`Dr. House`, `Dr.House` -> `a man`), and so is an article (`the Castle`).
    After an article and an adjective, only the noun replaces the name: `an upset Amy` -> `an upset woman`.
3.  Adjacent names that become the same phrase are one person: `Kate Beckett` is `a woman` even if the mapping has no
    full name.
4.  Every person is `a woman` where first named, and `the woman` from then on. Two mentions are the same person if all
    words of one are among the words of the other.
5.  A phrase without `a`, `an` or `the` is used as it is, every time: `someone`, `people`.
6.  People named together become one phrase: `two people`, `three people`, from five on `a group of people`, as in the
    paper's Table 2. A person after them who is described by looks alone joins them: `Javier and the young man wearing a
    polo was` -> `Two people were`. That needs a verb or the end of the sentence behind the description, and no other
    person of the same noun. People stay separate where the sentence refers to one of them: by a later `he` or `she`
    that cannot mean anybody named before them, by a name that is repeated later, by a possessive (`Ross and Rachel's
    mother`), or by a verb that belongs to the last one only (`Ross hugs Rachel and Joey waves`). A group that is a
    subject has `are`, `were` and `have`.
7.  A name after a noun that says who the person is, is removed: `his daughter Alexis` -> `his daughter`.
8.  `a` or `an` follows the sound of the next word. Sentences start with a capital; possessives stay possessive.
9.  A name that the mapping maps to itself (`Central Perk = Central Perk`) is not a person's and stays.

The setting `people` of the section `[rewrite]` changes rule 6. With `"joined"`, people who are all women, or all men,
stay so: `two women`, as in the paper's Figure 3; described people stay separate. With `"apart"`, rules 6 and 7 are off,
and people with the same phrase are told apart by order: `a woman`, `another woman`, `a third woman`, then `the woman`,
`the other woman`, `the third woman`. If the caption itself says `a woman` earlier, the first woman's name becomes
`another woman`.

Names that the mapping lacks are recognised by their capitals. So none are found in scripts without capitals. At the
start of a sentence, where every word has a capital, word lists decide: first names, a lexicon and an encoder's
vocabulary. Callers pass these in. `Slips` finds misspelt names, and names that are also ordinary words.
"""

from backend.campaign.corpus.captions.rules.names import ENOUGH_TEXTS, names_in, unknown_names
from backend.campaign.corpus.captions.rules.replacing import rewrite
from backend.campaign.corpus.captions.rules.slips import Slips
from backend.campaign.corpus.captions.rules.spelling import NOTHING_KNOWN, Known

RULES_VERSION = "rules-4"

__all__ = ["ENOUGH_TEXTS", "NOTHING_KNOWN", "RULES_VERSION", "Known", "Slips", "names_in", "rewrite", "unknown_names"]
