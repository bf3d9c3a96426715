"""Return the `reelrank` commands that lead from an empty project to its first pairs, as texts to show.

Readers can copy each command. They replace a word in capitals, such as FILE, by a value of their own.
"""

import shlex
from pathlib import Path


def importing(folder: Path) -> str:
    """Return the command that imports videos with their moments and captions."""
    return f"reelrank import {_quoted(folder)} FILE --videos FOLDER"


def rewriting(folder: Path) -> str:
    """Return the command that rewrites captions so that they leave out specifics such as names."""
    return f"reelrank rewrite {_quoted(folder)}"


def drawing(folder: Path) -> str:
    """Return the command that chooses captions at random as queries."""
    return f"reelrank queries {_quoted(folder)} --val N --test N"


def bringing(folder: Path) -> str:
    """Return the command that reads queries from a file, for a project whose moments have no captions."""
    return f"reelrank queries {_quoted(folder)} --from FILE"


def taking_back(folder: Path) -> str:
    """Return the command that deletes all queries of a project, with everything that depends on them."""
    return f"reelrank queries {_quoted(folder)} --undo"


def choosing(folder: Path) -> str:
    """Return the command that finds each query's candidates: the moments with the most similar captions."""
    return f"reelrank candidates {_quoted(folder)}"


def pooling(folder: Path) -> str:
    """Return the command that takes candidates from runs, which are the ranked results of search systems.

    It is for projects whose moments have no captions to search in.
    """
    return f"reelrank candidates {_quoted(folder)} --pool RUN.json"


def adding(folder: Path) -> str:
    """Return the command that adds an annotator."""
    return f"reelrank users add {_quoted(folder)} NAME --role annotator"


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder))
