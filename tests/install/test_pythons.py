"""The wheel in empty environments of the oldest and newest Python here, with the newest and oldest packages allowed.

pip takes the packages from its index. REELRANK_PYTHONS names interpreters, separated as in PATH; otherwise those on
PATH and of pyenv are found.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from installing import ELSEWHERE, PROJECT, ROOT, run

pytestmark = pytest.mark.long
SUPPORTED = [(3, minor) for minor in range(11, 15)]
MEGABYTES = 200
EXAMPLE = ROOT / "assets" / "example"
NDCG = 2 / math.log2(4) / (4 + 2 / math.log2(3) + 2 / math.log2(4) + 2 / math.log2(5))
"""Of the example by hand, at IoU >= 0.5: only the run's third moment takes one of the truth, of relevance 2."""
SIZE = """
from importlib.metadata import distributions
left_out = {"pip", "setuptools"}
files = (file for one in distributions() if one.name not in left_out for file in one.files or ())
print(sum(file.locate().stat().st_size for file in files))
"""


def candidates() -> Iterator[Path]:
    named = os.environ.get("REELRANK_PYTHONS")
    if named:
        yield from map(Path, named.split(os.pathsep))
        return
    for major, minor in SUPPORTED:
        if found := shutil.which(f"python{major}.{minor}"):
            yield Path(found)
        yield from Path.home().glob(f".pyenv/versions/{major}.{minor}.*/bin/python")


@cache
def pythons() -> dict[tuple[int, int], Path]:
    """An interpreter of each supported version that is here."""
    found: dict[tuple[int, int], Path] = {}
    for python in candidates():
        code = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False, env=ELSEWHERE)
        if done.returncode == 0:  # one of pyenv's shims may stand for nothing
            major, minor = map(int, done.stdout.split())
            found.setdefault((major, minor), python)
    return {version: found[version] for version in SUPPORTED if version in found}


def oldest() -> str:
    """Constraints that allow of each requirement the oldest version alone."""
    return "\n".join(one.replace(">=", "==", 1) for one in PROJECT["dependencies"])


@pytest.mark.parametrize(
    ("end", "packages"),
    [pytest.param(0, "oldest", id="oldest-python-oldest"), pytest.param(-1, "newest", id="newest-python-newest")],
)
def test_pip_installs_a_core_that_scores(wheel: Path, tmp_path: Path, end: int, packages: str) -> None:
    version = list(pythons())[end]
    there = tmp_path / "environment"
    run(pythons()[version], "-m", "venv", "--without-pip", there, cwd=tmp_path)
    python = there / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    reached = subprocess.run(
        [*pip, "download", "--quiet", "--no-deps", "--dest", tmp_path / "one", "msgspec"],
        env=ELSEWHERE,
        capture_output=True,
        text=True,
        check=False,
    )
    if reached.returncode:
        pytest.skip(f"pip reaches no package index: {reached.stderr.splitlines()[-1:]}")
    (tmp_path / "constraints.txt").write_text(oldest() if packages == "oldest" else "", encoding="utf-8")
    start = time.monotonic()
    how = ["--quiet", "--no-compile", "--only-binary", ":all:", "--constraint", "constraints.txt"]
    run(*pip, "install", *how, wheel, cwd=tmp_path)
    took_s = time.monotonic() - start
    run(*pip, "check", cwd=tmp_path)
    megabytes = int(run(python, "-c", SIZE, cwd=tmp_path)) / 1e6
    print(f"Python {version[0]}.{version[1]}, {packages} packages: {megabytes:.0f} MB in {took_s:.1f} s")
    files = ["--truth", EXAMPLE / "val.json", "--run", f"json={EXAMPLE / 'run.json'}", f"csv={EXAMPLE / 'run.csv'}"]
    how = ["--jobs", "2", "--baseline", "csv", "--report", "report.html", "--json", "-"]
    command = [there / "bin" / "reelrank", "evaluate", *files, *how]
    scored, _ = json.loads(run(*command, cwd=tmp_path))["runs"]
    assert scored["measures"]["ndcg@20,0.5"] == pytest.approx(NDCG, abs=1e-12)
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert megabytes <= MEGABYTES
