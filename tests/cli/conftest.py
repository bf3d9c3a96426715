"""Running a command inside the test process."""

import io
import sys

import pytest

from backend import cli
from backend.core.leftovers import freed


class Run:
    """Runs a command as the console script does: (exit code, standard output, standard error)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        freed.number = freed.size = 0  # by tests before, in this process

    def __call__(self, *arguments: object, stdin: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["reelrank", *map(str, arguments)])
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        try:
            cli.main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        else:
            code = 0
        return code, *self._capsys.readouterr()

    def out(self, *arguments: object, stdin: str = "") -> str:
        """What a command prints that ends well, and has nothing to say on standard error."""
        code, out, err = self(*arguments, stdin=stdin)
        assert (code, err) == (0, "")
        return out

    def refusal(self, *arguments: object, stdin: str = "") -> str:
        """Why a command is refused, which has nothing to say on standard output."""
        code, out, err = self(*arguments, stdin=stdin)
        assert (code, out) == (1, "")
        return err


@pytest.fixture
def reelrank(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)
