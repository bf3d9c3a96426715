"""Environments that hold the wheel and chosen packages of this one; nothing reaches a network."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
ELSEWHERE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""The environment without what leads Python to the checkout."""
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def plain(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(extra: str = "") -> list[Requirement]:
    """What ReelRank or one of its extras requires in this environment, without its own other extras."""
    texts = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    found = map(Requirement, texts)
    return [one for one in found if plain(one.name) != "reelrank" and (not one.marker or one.marker.evaluate())]


def closure(wanted: Iterable[Requirement]) -> dict[str, metadata.Distribution]:
    """The distributions of this environment that pip would install for these requirements, by plain name."""
    found: dict[str, metadata.Distribution] = {}
    todo = [(plain(one.name), frozenset(one.extras)) for one in wanted]
    seen = set(todo)
    while todo:
        name, extras = todo.pop()
        found[name] = metadata.distribution(name)
        for text in found[name].requires or ():
            one = Requirement(text)
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                following = (plain(one.name), frozenset(one.extras))
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
    return found


def recorded_bytes(distribution: metadata.Distribution) -> int:
    """The size of a distribution's files, as its RECORD states them."""
    return sum(file.size or 0 for file in distribution.files or ())


def run(*command: str | Path, cwd: Path) -> str:
    """What a program prints; where it fails, an assertion with all it said."""
    done = subprocess.run(command, cwd=cwd, env=ELSEWHERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Installed:
    """The wheel's environment, and the folder outside the checkout in which its user works."""

    environment: Path
    home: Path

    @property
    def reelrank(self) -> Path:
        return self.environment / "bin" / "reelrank"

    @property
    def packages(self) -> Path:
        """Where the environment's packages lie."""
        base = {"base": str(self.environment), "platbase": str(self.environment)}
        return Path(sysconfig.get_path("purelib", "venv", base))

    def python(self, code: str) -> str:
        return run(self.environment / "bin" / "python", "-c", code, cwd=self.home)

    def refused(self, *arguments: str | Path) -> str:
        """What a command says that is refused, in a shell that has activated the environment."""
        activated = ELSEWHERE | {"PATH": f"{self.reelrank.parent}{os.pathsep}{os.environ['PATH']}"}
        command = ["reelrank", *arguments]
        done = subprocess.run(command, cwd=self.home, env=activated, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        return done.stderr


def install(wheel: Path, environment: Path, home: Path) -> Installed:
    """Install the wheel into a new environment, without what it requires."""
    venv.create(environment, symlinks=True)
    options = ["--quiet", "--no-compile", "--no-deps", "--no-index", "--disable-pip-version-check"]
    there = environment / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", there, "install", *options, wheel, cwd=home)
    return Installed(environment, home)


def lend(installed: Installed, distributions: Iterable[metadata.Distribution]) -> None:
    """Link what these distributions hold into an environment."""
    for source in {place for one in distributions for place in _tops(one)}:
        target = installed.packages / source.name
        if not target.exists():
            target.symlink_to(source)


def _tops(distribution: metadata.Distribution) -> Iterator[Path]:
    """The files and folders of a distribution that lie directly among the packages."""
    for name in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
        yield Path(str(distribution.locate_file(name)))
