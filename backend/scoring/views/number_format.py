"""Format scores: as shares or in percent, with how many digits, and under which caption.

Reads and writes nothing.
"""

from dataclasses import dataclass

from backend.scoring.measure import Measure


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person asked for; a measure without a bound, such as DCG, is never in percent.

    `digits` are those after the point: 4, in percent 2, where not given. `caption` and `label` are those of a table in
    LaTeX; what has to stand beside the numbers follows the caption. `variant` heads the column of variants.
    `intervals` tells whether a table of a paper has those of a summary that has some.

    >>> Shown().number(0.53942), Shown(percent=True).number(0.53942), Shown(percent=True, digits=1).number(None)
    ('0.5394', '53.94', '-')
    """

    percent: bool = False
    digits: int | None = None
    caption: str = ""
    label: str = ""
    variant: str = ""
    intervals: bool = True

    def number(self, value: float | None, measure: Measure | None = None, sign: str = "") -> str:
        """A value as text, `-` where it is undefined; with `sign` `+` differences have theirs."""
        if value is None:
            return "-"
        percent = self.percent and (measure is None or measure.highest is not None)
        digits = (2 if percent else 4) if self.digits is None else self.digits
        return f"{value * (100 if percent else 1):{sign}.{digits}f}"


PLAIN = Shown()
"""Shares with four digits."""
