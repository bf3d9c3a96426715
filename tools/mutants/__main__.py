"""Make small faults in the code, and check that tests notice them: `python -m tools.mutants [ROOM...]`.

A room is a group of modules with the tests that have to notice faults in them. See docs/quality.md.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tools.mutants.judging import Results, compare, table
from tools.mutants.loop import PLAN
from tools.mutants.making import mutate, only_words
from tools.mutants.rooms import ROOMS, ROOT, Room

PLACE = ROOT / "build" / "mutants"


def main() -> int:
    """Try mutants (modules with one small fault) with the tests that have to notice them, and print a table of results.

    A mutant is tried only if its module or the tests have changed since the last time. Return the exit code: 1 if no
    test notices some mutant and no developer has judged that this is acceptable, otherwise 0.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description="Mutation tests of rules and measures."
    )
    parser.add_argument(
        "rooms", nargs="*", metavar="ROOM", help="rooms that begin so, below backend/; all if none is named"
    )
    parser.add_argument("--processes", type=int, default=2, help="mutants tried side by side (2)")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--list", action="store_true", help="only say the tests and modules of the rooms")
    options = parser.parse_args()
    rooms = [room for room in ROOMS if room.code.startswith(tuple(options.rooms) or "")]
    if not rooms:
        parser.error(f"no such room; there are {', '.join(room.code for room in ROOMS)}")
    if options.list:
        places = {file for room in rooms for file in room.test_files()}
        sys.stdout.write("\n".join([*sorted(places), *(module for room in rooms for module in room.modules())]) + "\n")
        return 0
    if options.anew:
        shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    results = Results()
    for room in rooms:
        try_room(room, options.processes, results)
    sys.stdout.write(table(results))
    return compare(results)


def try_room(room: Room, processes: int, results: Results) -> None:
    """Try the mutants (small faults) of one room, and add the outcomes to `results`.

    A room is a group of modules with their tests. The mutants are tried in a copy of the repository. Earlier outcomes
    are reused while the room's modules are unchanged. A mutant that no test noticed before is tried only with test
    files that have changed since.
    """
    place = PLACE / room.code.replace("/", ".")
    tree = _copy(place / "tree")
    mutants = []
    for module in room.modules():
        code, made = mutate(module, (ROOT / module).read_text(encoding="utf-8"))
        (tree / module).write_text(code, encoding="utf-8")
        mutants += [(module, mutant) for mutant in made]
    results_file = place / f"{_digest(*(ROOT / module for module in room.modules()))}.tsv"
    tests = {file: _digest(ROOT / file) for file in room.test_files()}
    met, fates = _read_results(results_file)
    left: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for _, mutant in mutants:
        if not only_words(mutant) and fates.get(mutant.name) not in ("killed", "timeout"):
            unmet = tuple(file for file, digest in tests.items() if digest not in met[mutant.name])
            left[unmet].append(mutant.name)
    for unmet, names in left.items():
        if unmet:
            sys.stderr.write(f"{room.code}: {len(names)} mutants, {len(unmet)} files of tests\n")
            digests = ",".join(tests[file] for file in unmet)
            plan = {"mutants": names, "results": str(results_file), "tests": digests, "processes": processes}
            _run(tree, [*unmet, *room.modules()], place / "plan.json", plan)
    fates = _read_results(results_file)[1]
    for module, mutant in mutants:
        results.add(module, mutant, "words" if only_words(mutant) else fates[mutant.name])


def _read_results(file: Path) -> tuple[defaultdict[str, set[str]], dict[str, str]]:
    """Return what earlier runs found, as two dictionaries with the names of mutants (small faults) as keys.

    The first has the digests of the test files that the mutant was tried with, the second its outcome.
    """
    met: defaultdict[str, set[str]] = defaultdict(set)
    fates: dict[str, str] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        name, fate, tests, _ = line.split("\t")
        met[name].update(tests.split(","))
        # Whom further tests do not reach has survived those before.
        fates[name] = fates.get(name, fate) if fate == "no tests" else fate
    return met, fates


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _copy(tree: Path) -> Path:
    """Copy the repository's code and tests to the folder `tree`, where faults can be put into them; return `tree`."""
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("assets", "backend", "reelrank", "tests", "tools"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def _run(tree: Path, tests: list[str], file: Path, plan: dict[str, object]) -> None:
    file.write_text(json.dumps(plan))
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
    ended = subprocess.run([sys.executable, "-m", "pytest", *options, *tests], cwd=tree, env=env)
    if ended.returncode not in (0, 5):
        raise SystemExit(ended.returncode)


if __name__ == "__main__":
    sys.exit(main())
