"""Running a command inside the test process."""

import io
import sys
from collections.abc import Callable

import pytest

from backend import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def reelrank(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command as the console script does: (exit code, standard output, standard error)."""

    def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["reelrank", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        try:
            cli.main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        else:
            code = 0
        out, err = capsys.readouterr()
        return code, out, err

    return run
