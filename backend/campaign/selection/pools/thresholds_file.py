"""Read the file of thresholds that `calibrate` writes and `build` takes."""

from pathlib import Path

import msgspec

from backend.core.errors import InputError
from backend.core.reading import UNDECODABLE, bytes_of

RULE = "the highest and the lowest threshold whose Youden's J is within 0.03 of the best"


class StoredThresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds, the encoder they belong to (its identity), and from what pairs they come.

    The rest is what `rules.Thresholds` says, on the pairs themselves, and `held_out` what thresholds of one
    half of the pairs keep of the other half: the share of alike and of different ones.
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
    neither: int
    kept_alike: float
    kept_different: float
    alike_below: int
    different_above: int
    held_out: tuple[float, float] | None


def read_thresholds(path: Path) -> StoredThresholds:
    """The thresholds of a file.

    Raises:
        InputError: it cannot be read, or is none that `reelrank mvmr calibrate` wrote.
    """
    data = bytes_of(path)
    try:
        return msgspec.json.decode(data, type=StoredThresholds)
    except UNDECODABLE as error:
        message = f"is no file of thresholds as `reelrank mvmr calibrate` writes it: {error}"
        raise InputError.single(path, message) from None
