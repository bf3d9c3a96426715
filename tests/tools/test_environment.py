"""What `make` says while it sets up: on an old Python, without the venv module, without a network, after a kill."""

import ast
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment

ROOT = Path(__file__).parents[2]
RETRY = (
    "WARNING: Retrying (Retry(total={n}, connect=None, read=None, redirect=None, status=None)) after connection "
    "broken by 'NewConnectionError(\"HTTPConnection(host='127.0.0.1', port=9): Failed to establish a new connection: "
    "[Errno 111] Connection refused\")': /simple/torch/\n"
)
"""As pip 26.3 writes it."""
NOTHING_FOUND = (
    "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
    "ERROR: No matching distribution found for torch==2.13.0\n"
)


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a Python that, whatever it is asked, writes `said` to standard error and leaves with `code`."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncat {tmp_path}/said >&2\nexit "$(cat {tmp_path}/code)"\n')
    python.chmod(stat.S_IRWXU)
    monkeypatch.setattr(sys, "executable", str(python))
    return tmp_path


def installing(pip: Path, said: str, code: int, capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Standard error of an installation, and the sentence it ends with."""
    (pip / "said").write_text(said)
    (pip / "code").write_text(str(code))
    last = ""
    try:
        environment.install(["torch==2.13.0"])
    except SystemExit as leaving:
        last = str(leaving.code)
    return capfd.readouterr().err, last


def retries(*numbers: int) -> str:
    return "".join(RETRY.format(n=n) for n in numbers)


def test_an_old_python_and_one_without_venv_are_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", (3, 10, 13))
        with pytest.raises(SystemExit, match=r"^ReelRank needs Python 3\.11 or newer, and this is 3\.10: .* PYTHON="):
            environment.create(tmp_path / "venv")
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"`sudo apt install python3\.12-venv`"):
        environment.create(tmp_path / "venv")
    assert list(tmp_path.iterdir()) == []


def test_an_old_python_can_read_the_program() -> None:
    ast.parse(Path(environment.__file__).read_text(), feature_version=(3, 6))


def test_without_a_network_one_sentence_stands_for_all_that_pip_says(
    pip: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    err, last = installing(pip, retries(4, 3, 2, 1, 0) + NOTHING_FOUND, 1, capfd)
    assert err == "The package index does not answer; pip tries again.\n"
    assert last.startswith("pip cannot reach its package index (Connection refused): ")
    assert "demo` serves with the packages that are there" not in last
    (pip / "reelrank").touch()
    assert "demo` serves with the packages that are there" in installing(pip, retries(0), 1, capfd)[1]
    named = (
        "Retrying (Retry(total=0, x)) after connection broken by 'ReadTimeoutError(\"read timed out.\")': /simple/\n"
    )
    assert "(no answer)" in installing(pip, named, 1, capfd)[1]


def test_a_network_that_is_back_in_time_is_no_failure_and_other_failures_are_told_by_pip(
    pip: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    err, last = installing(pip, retries(4) + "WARNING: beware\n", 0, capfd)
    assert (err.splitlines()[1:], last) == (["WARNING: beware"], "")
    err, last = installing(pip, retries(4) + "ERROR: No space left on device\n", 1, capfd)
    assert "ERROR: No space left on device\n" in err
    assert last.startswith("pip failed: mend what it says")


def test_uv_installs_from_the_indexes_of_pip_and_pip_installs_where_uv_cannot(
    pip: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (pip / "python").write_text(
        '#!/bin/sh\n[ "$4" = list ] && echo "global.index-url=\'https://a\'" || echo pip installs\n'
    )
    uv = pip / "uv"
    uv.write_text('#!/bin/sh\necho "$@"\necho trouble >&2\n')
    uv.chmod(stat.S_IRWXU)
    environment.install(["--editable", "."])
    arguments = f"pip install --quiet --python {pip / 'python'} --index-strategy unsafe-best-match "
    assert capfd.readouterr() == (f"{arguments}--default-index https://a --editable .\n", "")
    uv.write_text("#!/bin/sh\necho trouble >&2\nexit 2\n")
    environment.install(["--editable", "."])
    assert capfd.readouterr() == ("pip installs\n", "")


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_demo_goes_straight_to_the_demo_once_set_up_and_names_a_port_only_if_asked(tmp_path: Path) -> None:
    for stamp in (".torch", ".app"):
        (tmp_path / stamp).touch()

    def commands(*variables: str) -> list[str]:
        line = ["make", "-n", "demo", f"VENV={tmp_path}", *variables]
        done = subprocess.run(
            line, cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True
        )
        return [command.strip() for command in done.stdout.splitlines()]

    assert commands() == [f"{tmp_path}/bin/reelrank demo demo-project"]
    assert commands("PORT=8600", "DEMO=mine") == [f"{tmp_path}/bin/reelrank demo mine --port 8600"]
