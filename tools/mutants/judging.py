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


def short(name: str) -> str:
    """A mutant's name as the list has it.

    >>> short("backend.campaign.judging.rules.x_decide__mutmut_5")
    'campaign.judging.rules.decide 5'
    """
    place, _, number = name.removeprefix("backend.").rpartition("__mutmut_")
    module, _, function = place.rpartition(".")
    return f"{module}.{function.removeprefix('x_').removeprefix('xǁ').replace('ǁ', '.')} {number}"


def judged(path: Path = SURVIVORS) -> dict[str, str]:
    """The group of reasons of each survivor that somebody judged."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line.split("\t")[0]: line.split("\t")[1] for line in lines if line and not line.startswith("#")}


def compare(results: Results) -> int:
    """Tell survivors that nobody judged, and judged ones that are found by now; 1 if there is any of the former."""
    known = judged()
    alive = {short(mutant.name): mutant for mutant in results.alive}
    modules = {module.removeprefix("backend/").removesuffix(".py").replace("/", ".") for module in results.fates}
    new = [f"{name}\t?\t{mutant.old}\t{mutant.new}\n" for name, mutant in alive.items() if name not in known]
    gone = [name for name in known if name not in alive and any(name.startswith(f"{module}.") for module in modules)]
    sys.stdout.write(f"\n{len(alive) - len(new)} judged survivors, {len(new)} that nobody judged\n{''.join(new)}")
    if gone:
        sys.stdout.write("no longer alive, to be taken from the list: " + ", ".join(gone) + "\n")
    return int(bool(new))
