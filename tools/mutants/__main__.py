"""Tries the mutants of rooms: `python -m tools.mutants [ROOM...]`; see docs/quality.md."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.mutants.judging import Results, compare, table
from tools.mutants.loop import PLAN
from tools.mutants.making import mutate, only_words
from tools.mutants.rooms import ROOMS, ROOT, Room

PLACE = ROOT / "build" / "mutants"


def main() -> int:
    """Try what has not been tried since its module or tests changed; 1 if a mutant survives that nobody judged."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description="Mutation tests of rules and measures."
    )
    parser.add_argument(
        "rooms", nargs="*", metavar="ROOM", help="rooms that begin so, below backend/; all if none is named"
    )
    parser.add_argument("--processes", type=int, default=2, help="mutants tried side by side (2)")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--list", action="store_true", help="only say the tests and modules of the rooms")
    wanted = parser.parse_args()
    rooms = [room for room in ROOMS if room.code.startswith(tuple(wanted.rooms) or "")]
    if not rooms:
        parser.error(f"no such room; there are {', '.join(room.code for room in ROOMS)}")
    if wanted.list:
        places = {f"tests/{test}" for room in rooms for test in room.tests}
        sys.stdout.write("\n".join([*sorted(places), *(module for room in rooms for module in room.modules())]) + "\n")
        return 0
    if wanted.anew:
        shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    results = Results()
    for room in rooms:
        try_room(room, wanted.processes, results)
    sys.stdout.write(table(results))
    return compare(results)


def try_room(room: Room, processes: int, results: Results) -> None:
    """Try the mutants of a room in a copy of the tree.

    What an earlier run found stands as long as the room's modules are the same; survivors, as long as its tests are.
    """
    place = PLACE / room.code.replace("/", ".")
    tree = _copy(place / "tree")
    mutants = []
    for module in room.modules():
        code, made = mutate(module, (ROOT / module).read_text(encoding="utf-8"))
        (tree / module).write_text(code, encoding="utf-8")
        mutants += [(module, mutant) for mutant in made]
    found = place / f"{_digest(ROOT / module for module in room.modules())}.tsv"
    tests = _digest(file for test in room.tests for file in _files(ROOT / "tests" / test))
    done = _found(found, tests)
    left = [mutant.name for _, mutant in mutants if mutant.name not in done and not only_words(mutant)]
    if left:
        sys.stderr.write(f"{room.code}: {len(left)} mutants\n")
        plan = {"mutants": left, "results": str(found), "tests": tests, "processes": processes}
        _run(tree, room, place / "plan.json", plan)
        done = _found(found, tests)
    for module, mutant in mutants:
        results.add(module, mutant, "words" if only_words(mutant) else done[mutant.name])


def _found(found: Path, tests: str) -> dict[str, str]:
    """What is known of mutants by name; who survived other tests is not known."""
    rows = [line.split("\t") for line in found.read_text().splitlines()] if found.exists() else []
    return {name: fate for name, fate, held, _ in rows if held == tests or fate in ("killed", "timeout")}


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _digest(files: Iterable[Path]) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _copy(tree: Path) -> Path:
    """The tree as it is now, for mutated modules to stand in."""
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("assets", "backend", "reelrank", "tests", "tools"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def _run(tree: Path, room: Room, file: Path, plan: dict[str, object]) -> None:
    file.write_text(json.dumps(plan))
    tests = [f"tests/{test}" for test in room.tests]
    # Real data beside the project may not be there for the next one who looks.
    env = {
        **os.environ,
        PLAN: str(file),
        "PYTHONPATH": str(tree),
        "OMP_NUM_THREADS": "1",
        "REELRANK_SHARED": "/nowhere",
    }
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tools.mutants.loop", "--no-header", "--tb=short"]
    # No test is counted, so pytest ends as it does where it finds none.
    ended = subprocess.run([sys.executable, "-m", "pytest", *options, *tests, *room.modules()], cwd=tree, env=env)
    if ended.returncode not in (0, 5):
        raise SystemExit(ended.returncode)


if __name__ == "__main__":
    sys.exit(main())
