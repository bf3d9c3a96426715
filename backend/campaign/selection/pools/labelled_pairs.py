"""Read pairs that people, or a published file of pools, call alike or different.

*Reads* an STS file: `sentence1`, `sentence2`, `score` (0 to 5) between tabs, with these words as header or without one;
or a file of pools, whose positives are alike with the query and whose negatives are different.
"""

from dataclasses import dataclass
from math import floor
from pathlib import Path

from backend.core.errors import InputError, Problem
from backend.core.reading import unpack, unpacked
from backend.core.text_files import decode_text, number
from backend.scoring.pools.files import pools_of
from backend.scoring.pools.model import Pools

ALIKE, DIFFERENT = 4.0, 2.0
"""Scores from here up are alike ("mostly equivalent, but some unimportant details differ"), down from here different
("not equivalent, but share some details"); Cer et al., SemEval-2017 Task 1, Table 1."""
HIGHEST = 5.0
_COLUMNS = ("sentence1", "sentence2", "score")


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two sentences and how alike people find them, from 0 to 5."""

    one: str
    other: str
    score: float

    @property
    def alike(self) -> bool | None:
        """Whether they are alike; None for those between."""
        return True if self.score >= ALIKE else False if self.score <= DIFFERENT else None

    @property
    def label(self) -> str:
        """The half point it is drawn at: `3.5` holds scores from 3.5 to below 4; 5 is alone."""
        return f"{floor(self.score * 2) / 2:.1f}"


def read_labelled(path: Path) -> list[ScoredPair] | Pools:
    """The pairs of an STS file, or the pools of a file of pools.

    Raises:
        InputError: with every problem of the file.
    """
    content = unpacked(path)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return pools_of(content, str(path))
    return read_sts(content, path.name)


def read_sts(content: bytes, file: str) -> list[ScoredPair]:
    r"""The pairs of an STS file.

    Raises:
        InputError: every line that holds no pair; or none is alike, or none different.

    >>> found = read_sts(b"A dog runs.\tA dog is running.\t4.8\nA dog runs.\tTwo cats sleep.\t0.2\n", "sts.tsv")
    >>> [(pair.other, pair.alike, pair.label) for pair in found]
    [('A dog is running.', True, '4.5'), ('Two cats sleep.', False, '0.0')]
    """
    lines = decode_text(unpack(content, file), file).splitlines()
    head = [cell.strip().lower() for cell in lines[0].split("\t")]
    named = set(_COLUMNS) <= set(head)
    places = [head.index(name) for name in _COLUMNS] if named else [0, 1, 2]
    pairs: list[ScoredPair] = []
    problems: list[Problem] = []
    for row, line in enumerate(lines[named:], start=1 + named):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) <= max(places):
            message = f"has {len(cells)} columns: sentence1, sentence2 and score are needed, with tabs between"
            problems.append(Problem(file, row, message))
            continue
        one, other, said = (cells[place].strip() for place in places)
        score = number(said)
        if score is None or not 0 <= score <= HIGHEST:
            problems.append(Problem(file, row, f"score {said!r} is not a number from 0 to {HIGHEST:g}"))
        elif not one or not other:
            problems.append(Problem(file, row, "a sentence is empty"))
        else:
            pairs.append(ScoredPair(one, other, score))
    if not problems:
        labels = {pair.alike for pair in pairs}
        problems += [
            Problem(file, None, f"has no pair with a score of {which}")
            for which, there in ((f"{ALIKE:g} or more", True in labels), (f"{DIFFERENT:g} or less", False in labels))
            if not there
        ]
    if problems:
        raise InputError(problems)
    return pairs
