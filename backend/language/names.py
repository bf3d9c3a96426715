"""Find names of people with flair's named-entity taggers, in a separate process.

flair 0.15 needs an older version of transformers than ReelRank, so flair may be installed in another Python.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from backend.core.errors import TaggerUnavailable
from backend.core.messages import said
from backend.core.progress import Steps

SCRIPT = Path(__file__).parent / "apart" / "flair_names.py"


class FlairTagger:
    """Finds names of people in sentences with one of flair's models; implements the protocol `Tagger`."""

    def __init__(self, model: str, python: str = "") -> None:
        """Choose the model and the Python that runs it.

        Args:
            model: a name that flair knows (`ner`, `flair/ner-english-large`), or a file.
            python: path of the Python that has flair; empty for the Python that runs ReelRank.
        """
        self.model = model
        self.python = python or sys.executable

    @property
    def identity(self) -> str:
        """The model's identity, such as `flair:ner`."""
        return f"flair:{self.model}"

    def names(self, texts: Sequence[str], *, progress: Steps | None = None) -> list[tuple[str, ...]]:
        """Return for each text the names of people that the model finds with confidence, in order of appearance.

        `progress` is called with (texts done, all texts).

        Raises:
            TaggerUnavailable: the Python, flair or the model is missing.
        """
        if not texts:
            return []
        names_by_text: list[tuple[str, ...]] = []
        with tempfile.TemporaryFile() as input_file, tempfile.TemporaryFile() as error_file:
            input_file.write(json.dumps(list(texts)).encode())
            input_file.seek(0)
            command = [self.python, str(SCRIPT), self.model]
            try:
                child = subprocess.Popen(command, stdin=input_file, stdout=subprocess.PIPE, stderr=error_file)
            except OSError as error:
                raise self._unavailable(
                    said("{python} cannot be run: {fault}", python=self.python, fault=error.strerror)
                ) from error
            with child:
                try:
                    for line in child.stdout or ():
                        names_by_text.append(tuple(json.loads(line)))
                        if progress:
                            progress(len(names_by_text), len(texts))
                except BaseException:
                    child.kill()
                    raise
            if child.returncode != 0 or len(names_by_text) != len(texts):
                error_file.seek(0)
                lines = [line for line in error_file.read().decode(errors="replace").splitlines() if line.strip()]
                raise self._unavailable(
                    lines[-1].strip() if lines else said("it ended with code {code}", code=child.returncode)
                )
        return names_by_text

    def _unavailable(self, why: str) -> TaggerUnavailable:
        return TaggerUnavailable.said(
            "{identity} cannot search for names ({why}). Install flair (see docs/captions.md), or leave "
            "`ner` empty in reelrank.toml",
            identity=self.identity,
            why=why,
        )
