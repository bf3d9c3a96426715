"""Detect passwords that are easily guessed, and explain why."""

import re
import unicodedata

from backend.core.messages import said
from backend.core.typed_text import name_key, normalised_password

PASSWORD_LENGTH = 8
"""The fewest characters of a password."""
FEWEST_DIFFERENT = 4
SHORTEST_RUN = 3
FEWEST_OWN = 6
"""The fewest characters of a password beside its user's name and runs of the keyboard."""
_ROWS = (
    *("01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop", "qwertzuiopü", "azertyuiop"),
    *("asdfghjklöä", "qsdfghjklm", "zxcvbnm", "yxcvbnm", "1qaz2wsx3edc4rfv5tgb6yhn7ujm"),
)
_RUNS = {
    row[start : start + SHORTEST_RUN]
    for forwards in _ROWS
    for row in (forwards, forwards[::-1])
    for start in range(len(row) - SHORTEST_RUN + 1)
}
_BEFORE, _AFTER = re.compile(r"^[\W\d_]+"), re.compile(r"[\W\d_]+$")
_AS_LETTERS = str.maketrans("0134578@$!|", "oieastbasil")
_WORDS = """
abc access account admin administrator angel annotation annotator autumn baby banana baseball basketball batman berlin
blink bonjour butterfly changeme charlie cheese chocolate computer cookie daniel default deutschland dragon einstein
football freedom freiheit frühling fussball fußball geheim germany ginger google guest hallo hello herbst hockey hunter
iloveyou ichliebedich internet jennifer jessica jordan kennwort killer letmein liebe login lovely lucky maggie master
matrix merlin michael michelle minecraft monkey mustang newyork nicole ninja passphrase passwd password passwort pepper
pokemon princess prinzessin purple qwerty qwertz ranger samsung schalke schatz secret shadow snoopy soccer
sommer sonne sonnenschein spring starwars steelers summer sunshine superman test tester testing thomas thunder tigger
trustno user video welcome whatever willkommen winter yankees yellow reelrank
"""
_COMMON = frozenset(_WORDS.split())


def password_weakness(password: str, name: str) -> str:
    """Return why a password is easily guessed, as a sentence for its user; an empty text if it is not.

    `name` is the name of its user, which the password must not repeat.
    """
    plain = normalised_password(password)
    folded = unicodedata.normalize("NFC", plain.casefold())
    if len(plain) < PASSWORD_LENGTH:
        return said("Choose a password of at least {n} characters.", n=PASSWORD_LENGTH)
    if len(set(folded)) < FEWEST_DIFFERENT or re.fullmatch(r"(.{1,4})\1+.?", folded, re.DOTALL):
        return said("This password repeats a few characters. Choose several words that do not belong together.")
    if len(_without_runs(folded)) < SHORTEST_RUN:
        return said("This password follows the keyboard or the alphabet. Choose several words instead.")
    if _is_common(folded):
        return said("This is a very common password. Choose several words that do not belong together.")
    user_name = _unaccented(name_key(name))
    parts = [part for part in {user_name, *user_name.split()} if len(part) >= SHORTEST_RUN]
    own = before = _unaccented(folded)
    for part in sorted(parts, key=len, reverse=True):
        own = own.replace(part, "")
    if own != before and len(_without_runs(own)) < FEWEST_OWN:
        return said("This password is hardly more than your name. Choose several words that do not belong together.")
    return ""


def _is_common(text: str) -> bool:
    """Return whether a text is a common word, even if digits and symbols surround it or replace its letters.

    >>> _is_common("passw0rd!2024"), _is_common("$ecret99"), _is_common("grey tram at noon")
    (True, True, False)
    """
    word = _AFTER.sub("", text)
    forms = (text, word.translate(_AS_LETTERS), _BEFORE.sub("", word).translate(_AS_LETTERS))
    return any(_letters(form) in _COMMON for form in forms)


def _unaccented(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalpha())


def _without_runs(text: str) -> str:
    """Return a text without sequences of characters that follow a keyboard row, the alphabet or the digits.

    >>> _without_runs("qwertz-12345"), _without_runs("bluegate")
    ('-', 'bluegate')
    """
    in_run = [False] * len(text)
    for start in range(len(text) - SHORTEST_RUN + 1):
        if text[start : start + SHORTEST_RUN] in _RUNS:
            in_run[start : start + SHORTEST_RUN] = [True] * SHORTEST_RUN
    return "".join(char for char, runs in zip(text, in_run, strict=True) if not runs)
