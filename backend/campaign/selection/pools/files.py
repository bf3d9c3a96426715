"""Read the files that go with pools: labelled pairs, thresholds, and the manifest and pairs of a build.

*Reads* labelled pairs, the thresholds from `calibrate_thresholds`, and `manifest.json` and `pairs.csv` in the folder of
a build. Labelled pairs come from an STS file (semantic textual similarity) or a file of pools. An STS file has the
columns `sentence1`, `sentence2` and `score` (0 to 5), separated by tabs, with or without a header of these names. In a
file of pools, a query and its positives count as alike, and a query and its negatives as different.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import msgspec

from backend.campaign.selection.pools.building import MANIFEST, PAIRS
from backend.campaign.selection.pools.model import VisualBounds
from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE, file_bytes, unpack, unpacked_bytes
from backend.core.text_files import decode_text, number, read_csv
from backend.core.typed_text import nfc
from backend.scoring.pools.files import parse_pools
from backend.scoring.pools.model import Pools

ALIKE_ABOVE = 3.0
"""Pairs with a higher score are alike, all others are different (Yang et al. 2024, MVMR, section 5.1)."""
HIGHEST = 5.0
_COLUMNS = ("sentence1", "sentence2", "score")


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two sentences and a score, from 0 to 5, of how alike people find them. `alike` says whether that is enough."""

    one: str
    other: str
    score: float
    alike: bool

    @property
    def label(self) -> str:
        """The score rounded up to half points, as a label: `3` for scores above 2.5 and up to 3."""
        return f"{ceil(self.score * 2) / 2:g}"


def read_labelled(path: Path, alike_above: float | None = None) -> list[ScoredPair] | Pools:
    """Return the pairs of an STS file (semantic textual similarity), or the pools of a file of pools.

    Pairs with a score above `alike_above` are alike; None is `ALIKE_ABOVE`.

    Raises:
        InputError: every problem of the file, or that `alike_above` is given for a file of pools.
    """
    content = unpacked_bytes(path)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        if alike_above is not None:
            raise InputError.single(path, "is a file of pools, which has no scores: leave out --alike-above")
        return parse_pools(content, str(path))
    return read_sts(content, path.name, ALIKE_ABOVE if alike_above is None else alike_above)


def read_sts(content: bytes, file: str, alike_above: float = ALIKE_ABOVE) -> list[ScoredPair]:
    r"""Return the pairs of sentences in an STS file (semantic textual similarity), with their scores.

    Pairs with a score above `alike_above` are alike, all others are different.

    Raises:
        InputError: names every invalid line; or says that no pair is alike, or that none is different.

    >>> found = read_sts(b"A dog runs.\tA dog is running.\t4.8\nA dog runs.\tThe cat and the dog run.\t3\n", "sts.tsv")
    >>> [(pair.other, pair.alike, pair.label) for pair in found]
    [('A dog is running.', True, '5'), ('The cat and the dog run.', False, '3')]
    """
    lines = decode_text(unpack(content, file), file).splitlines()
    head = [cell.strip().lower() for cell in lines[0].split("\t")]
    has_header = set(_COLUMNS) <= set(head)
    places = [head.index(name) for name in _COLUMNS] if has_header else [0, 1, 2]
    pairs: list[ScoredPair] = []
    problems: list[Problem] = []
    for row, line in enumerate(lines[has_header:], start=1 + has_header):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) <= max(places):
            message = f"has {len(cells)} columns: sentence1, sentence2 and score are needed, with tabs between"
            problems.append(Problem(file, row, message))
            continue
        first, second, score_text = (cells[place].strip() for place in places)
        score = number(score_text)
        if score is None or not 0 <= score <= HIGHEST:
            problems.append(Problem(file, row, f"score {score_text!r} is not a number from 0 to {HIGHEST:g}"))
        elif not first or not second:
            problems.append(Problem(file, row, "a sentence is empty"))
        else:
            pairs.append(ScoredPair(first, second, score, score > alike_above))
    if not problems:
        labels = {pair.alike for pair in pairs}
        problems += [
            Problem(file, None, f"has no pair with a score {bound}")
            for bound, exists in (
                (f"above {alike_above:g}", True in labels),
                (f"of {alike_above:g} or less", False in labels),
            )
            if not exists
        ]
    if problems:
        raise InputError(problems)
    return pairs


RULE = "the highest and the lowest threshold whose Youden's J is within 0.03 of the best"


class StoredThresholds(msgspec.Struct, frozen=True):
    """The thresholds of an encoder as their file stores them, with the labelled pairs from which they were found.

    `t_pos` is the least similarity of a positive pair, and `t_neg` the greatest of a negative one. `encoder` is the
    encoder's identity, `labels` the name of the file of pairs, and `rule` the rule by which the thresholds were found.
    `best` is the threshold with the highest Youden's J, `youden`. `alike` and `different` count the pairs by label.
    `kept_alike` is the share of alike pairs with a similarity of `t_pos` or more; `kept_different` is the share
    of different pairs with `t_neg` or less. `alike_below` and `different_above` count pairs on the wrong side.
    `held_out` has the same two shares for thresholds that were found from other pairs; see
    `calibrating.held_out_shares`. `alike_above` is the score above which pairs are alike; None for a file of pools,
    which has labels. Files from before it may count pairs that were neither, which is ignored.
    """

    t_pos: float
    t_neg: float
    encoder: str
    labels: str
    rule: str
    best: float
    youden: float
    alike: int
    different: int
    kept_alike: float
    kept_different: float
    alike_below: int
    different_above: int
    held_out: tuple[float, float] | None
    alike_above: float | None = None


def read_thresholds(path: Path) -> StoredThresholds:
    """Return the thresholds of an encoder that are stored in a file.

    Raises:
        InputError: the file cannot be read, or was not written by `reelrank mvmr calibrate`.
    """
    data = file_bytes(path)
    try:
        return msgspec.json.decode(data, type=StoredThresholds)
    except UNDECODABLE as error:
        message = f"is not a file of thresholds from `reelrank mvmr calibrate`: {error}"
        raise InputError.single(path, message) from None


class _Manifest(msgspec.Struct, frozen=True):
    """The fields of a build's manifest that this module reads.

    `t_pos`, `t_neg` and `bounds` are the thresholds of the build. `files` maps the names of its files to their hashes.
    """

    t_pos: float
    t_neg: float
    encoder: str
    files: dict[str, str]
    bounds: VisualBounds | None = None


@dataclass(frozen=True, slots=True)
class BuildOutput:
    """What a build of pools wrote beside its file: the thresholds that it used, and the EMScores of its pairs.

    `encoder` is the identity of the encoder. `t_pos` and `t_neg` are thresholds for the similarity of query and
    sentences. `bounds` are those for EMScore, the similarity of query and video frames; None if it was not used. `s_tv`
    maps (query id, video) to the EMScore of that pair.
    """

    encoder: str
    t_pos: float
    t_neg: float
    bounds: VisualBounds | None
    s_tv: Mapping[tuple[str, str], float]


def read_build(file: Path) -> BuildOutput | None:
    """Return what a build wrote beside its file of pools; None if there is nothing, or if it belongs to another file.

    Raises:
        InputError: the table of pairs cannot be read.
    """
    try:
        manifest = msgspec.json.decode((file.parent / MANIFEST).read_bytes(), type=_Manifest)
    except (OSError, *UNDECODABLE):
        return None
    if manifest.files.get(file.name) != hashlib.sha256(file_bytes(file)).hexdigest():
        return None
    s_tv = _read_pairs(file.parent / PAIRS) if manifest.bounds else {}
    return BuildOutput(manifest.encoder, manifest.t_pos, manifest.t_neg, manifest.bounds, s_tv)


def _read_pairs(path: Path) -> dict[tuple[str, str], float]:
    table = read_csv(file_bytes(path), path.name, ["query_id", "video", "s_tv"], numbers=["s_tv"])
    values, wrong = table.values("s_tv", number)
    if table.problems or wrong:
        row, text = wrong[0] if wrong else (table.problems[0].row, "")
        raise InputError.single(path.name, f"{text!r} is not a value of s_tv: build the pools again", row)
    pairs = zip(table.columns["query_id"], table.columns["video"], values, strict=True)
    return {(nfc(query), nfc(video)): value for query, video, value in pairs if value is not None}
