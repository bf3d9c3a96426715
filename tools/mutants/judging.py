"""What became of the mutants: a row of a table for each module, and the survivors beside those that were judged."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tools.mutants.making import Mutant
from tools.mutants.rooms import ROOT

FATES = ("killed", "timeout", "survived", "no tests", "words")
SURVIVORS = ROOT / "tests" / "quality" / "survivors.tsv"
"""Each mutant that survives, with the group of reasons that docs/quality.md explains."""


@dataclass(slots=True)
class Results:
    """The fates of the mutants of some modules."""

    fates: dict[str, Counter[str]] = field(default_factory=dict)
    alive: list[Mutant] = field(default_factory=list)

    def add(self, module: str, mutant: Mutant, fate: str) -> None:
        """One more mutant of a module."""
        self.fates.setdefault(module, Counter())[fate] += 1
        if fate in ("survived", "no tests"):
            self.alive.append(mutant)


def table(results: Results) -> str:
    """Rows for the table of docs/quality.md."""
    rows = []
    for module, fates in sorted(results.fates.items()):
        counts = [fates.total() - fates["words"], *(fates[fate] for fate in FATES)]
        rows.append(f"| `{module.removeprefix('backend/')}` | {' | '.join(map(str, counts))} |\n")
    return "".join(rows)


def function(name: str) -> str:
    """The function that a mutant is of, as the list has it.

    >>> function("backend.campaign.judging.rules.x_decide__mutmut_5")
    'campaign.judging.rules.decide'
    """
    module, _, changed = name.removeprefix("backend.").partition("__mutmut_")[0].rpartition(".")
    return f"{module}.{changed.removeprefix('x_').removeprefix('xǁ').replace('ǁ', '.')}"


def judged(path: Path = SURVIVORS) -> dict[tuple[str, str], str]:
    """The group of reasons of each survivor that somebody judged, by its function and what its line becomes.

    Numbers of mutants are not in the list: those after a line that is changed would be others.
    """
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {(function, new): group for function, group, new in rows}


def compare(results: Results) -> int:
    """Tell survivors that nobody judged, and judged ones that are found by now; 1 if there is any of the former."""
    known = judged()
    alive = {(function(mutant.name), mutant.new): mutant.old for mutant in results.alive}
    modules = {module.removeprefix("backend/").removesuffix(".py").replace("/", ".") for module in results.fates}
    fresh = [
        f"{name}\t?\t{new}\n    instead of {old}\n" for (name, new), old in alive.items() if (name, new) not in known
    ]
    gone = [
        f"{name}\t{new}\n"
        for name, new in known
        if (name, new) not in alive and any(name.startswith(f"{module}.") for module in modules)
    ]
    sys.stdout.write(f"\n{len(alive) - len(fresh)} judged survivors, {len(fresh)} that nobody judged\n{''.join(fresh)}")
    if gone:
        sys.stdout.write(f"\nno longer alive, to be taken from the list:\n{''.join(gone)}")
    return int(bool(fresh))
