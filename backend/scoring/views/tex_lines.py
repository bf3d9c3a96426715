"""Measure and wrap texts in LaTeX, so that a table fits a column of a page. Reads and writes nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backend.scoring.views.words import tex_text

_WIDTHS = {
    letter: width
    for letters, width in (
        (" !'(),-./;I[]fijlrt|`", 3.4),
        ("0123456789acegoskvxyz", 4.3),
        ('bdhnpqu?"_', 4.8),
        ("BCEFJLPSTZw", 6.2),
        ("ADGHKNOQRUVXY=+:#@&", 6.7),
        ("mM%", 7.8),
    )
    for letter in letters
}
"""Widths of letters in points, in Computer Modern of 8 points, the footnote size. Times is narrower."""
WIDEST, BOLD, SMALL = 8.8, 1.15, 0.94
"""Width of any other letter, and widths of bold and small text relative to normal text."""


@dataclass(frozen=True, slots=True)
class TexText:
    """A text in one line of a cell, with its width in points. A head can span several columns."""

    tex: str = ""
    width: float = 0.0
    span: int = 1


def name_lines(name: str, longest: float) -> list[TexText]:
    r"""Return a name broken into lines, each at most `longest` points wide.

    Lines break after spaces and signs such as `_`. A part without these that is too long for a line breaks anywhere.
    All lines but the first are indented.

    >>> [line.tex for line in name_lines("best_of_run 12", 40)]
    ['best\\_of\\_', '\\enspace run 12']
    """
    parts = re.split(r"(?<=[\s_/.,:+=-])", name)
    pieces = [piece for part in parts for piece in (part if width_of(tex_text(part)) > longest else [part])]
    first, *others = wrapped([tex_text(piece) for piece in pieces], longest)
    return [first, *(TexText(rf"\enspace {line.tex}", line.width + _WIDTHS["0"]) for line in others)]


def wrapped(pieces: Sequence[str], room: float) -> list[TexText]:
    """Join pieces of LaTeX to lines, with as many pieces in each as fit `room` points.

    A piece that is wider than `room` has a line of its own.
    """
    lines = [""]
    for piece in pieces:
        if lines[-1] and width_of(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return [TexText(line.strip().replace("--", "-{}-"), width_of(line.strip())) for line in lines]


def words_of(tex: str) -> list[str]:
    """Split the LaTeX of a column head into the words after which a line can break."""
    return re.split(r"(?<=\s)|(?<=-)(?=[^\W\d])", tex)


def width_of(tex: str) -> float:
    """Estimate the width of a LaTeX text in points; if in doubt, the estimate is too large.

    The only commands allowed in the text are those that print a single sign.
    """
    text = re.sub(r"[\\{}$]", "", re.sub(r"\\[A-Za-z]+(\{\})?|\\[^_]", "@", tex))
    return sum(_WIDTHS.get(sign, WIDEST) for sign in text)
