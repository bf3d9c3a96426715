"""Write the commands that lead from an empty project to its first pairs, for messages and pages.

Readers can copy each command. A word in capitals stands for a value of their own.
"""

import shlex
from pathlib import Path


def importing(folder: Path) -> str:
    """Return the command that imports a corpus."""
    return f"reelrank import {_quoted(folder)} FILE --videos FOLDER"


def rewriting(folder: Path) -> str:
    """Return the command that makes the captions imprecise."""
    return f"reelrank rewrite {_quoted(folder)}"


def drawing(folder: Path) -> str:
    """Return the command that draws queries from the captions."""
    return f"reelrank queries {_quoted(folder)} --val N --test N"


def bringing(folder: Path) -> str:
    """Return the command that takes queries from a file, for a corpus without captions to draw from."""
    return f"reelrank queries {_quoted(folder)} --from FILE"


def taking_back(folder: Path) -> str:
    """Return the command that deletes the queries, with everything that depends on them."""
    return f"reelrank queries {_quoted(folder)} --undo"


def choosing(folder: Path) -> str:
    """Return the command that chooses the candidates of the queries."""
    return f"reelrank candidates {_quoted(folder)}"


def pooling(folder: Path) -> str:
    """Return the command that takes candidates from systems' runs, for a corpus without captions to search in."""
    return f"reelrank candidates {_quoted(folder)} --pool RUN.json"


def adding(folder: Path) -> str:
    """Return the command that adds an annotator."""
    return f"reelrank users add {_quoted(folder)} NAME --role annotator"


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder))
