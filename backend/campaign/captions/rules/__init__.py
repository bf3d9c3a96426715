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

from backend.campaign.captions.rules.names import ENOUGH_TEXTS, names_in, unknown_names
from backend.campaign.captions.rules.replacing import rewrite

RULES_VERSION = "rules-1"

__all__ = ["ENOUGH_TEXTS", "RULES_VERSION", "names_in", "rewrite", "unknown_names"]
