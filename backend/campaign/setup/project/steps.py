"""Name the commands from an empty project to its first pairs, as every message and page advises them.

Each can be followed as it is written; a word in capitals stands for something of the reader's own.
"""

import shlex
from pathlib import Path


def importing(folder: Path) -> str:
    """Take in a corpus."""
    return f"reelrank import {_quoted(folder)} FILE --videos FOLDER"


def rewriting(folder: Path) -> str:
    """Make the captions imprecise."""
    return f"reelrank rewrite {_quoted(folder)}"


def drawing(folder: Path) -> str:
    """Draw queries from the captions."""
    return f"reelrank queries {_quoted(folder)} --val N --test N"


def bringing(folder: Path) -> str:
    """Bring queries of one's own, where there are no captions to draw from."""
    return f"reelrank queries {_quoted(folder)} --from FILE"


def taking_back(folder: Path) -> str:
    """Take the queries back, with all that hangs on them."""
    return f"reelrank queries {_quoted(folder)} --undo"


def choosing(folder: Path) -> str:
    """Choose the candidates of the queries."""
    return f"reelrank candidates {_quoted(folder)}"


def pooling(folder: Path) -> str:
    """Take what systems found as candidates, where there are no captions to search in."""
    return f"reelrank candidates {_quoted(folder)} --pool RUN.json"


def adding(folder: Path) -> str:
    """Add somebody who grades."""
    return f"reelrank users add {_quoted(folder)} NAME --role annotator"


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder))
