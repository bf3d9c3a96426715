"""Summarise the outcomes of mutants (small faults in code), and report those that no test noticed.

Mutants in a list, which a developer has judged acceptable with reasons, are not reported again.
"""

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
    """The outcomes of the mutants (small faults) of some modules.

    Attributes:
        fates: for each module, the number of mutants with each outcome, such as "killed" (noticed) or "survived".
        alive: the mutants that no test noticed.
    """

    fates: dict[str, Counter[str]] = field(default_factory=dict)
    alive: list[Mutant] = field(default_factory=list)

    def add(self, module: str, mutant: Mutant, fate: str) -> None:
        """Add the outcome of one mutant of a module; `fate` is one of `FATES`, such as "killed" or "survived"."""
        self.fates.setdefault(module, Counter())[fate] += 1
        if fate in ("survived", "no tests"):
            self.alive.append(mutant)


def table(results: Results) -> str:
    """Return the rows of a table in docs/quality.md: how many mutants (small faults) had each outcome, by module."""
    rows = []
    for module, fates in sorted(results.fates.items()):
        counts = [fates.total() - fates["words"], *(fates[fate] for fate in FATES)]
        rows.append(f"| `{module.removeprefix('backend/')}` | {' | '.join(map(str, counts))} |\n")
    return "".join(rows)


def function(name: str) -> str:
    """Return the name of the function that a mutant changes, from the mutant's name.

    >>> function("backend.campaign.judging.rules.x_decide__mutmut_5")
    'campaign.judging.rules.decide'
    """
    module, _, changed = name.removeprefix("backend.").partition("__mutmut_")[0].rpartition(".")
    return f"{module}.{changed.removeprefix('x_').removeprefix('xǁ').replace('ǁ', '.')}"


def judged(path: Path = SURVIVORS) -> dict[tuple[str, str], str]:
    """Return the mutants (small faults) that a developer accepts although no test notices them.

    The value is the name of a group of reasons why the mutant is accepted. The key is the name of the function and the
    changed line. The mutant's number would not do: editing a line changes the numbers of all mutants after it.
    docs/quality.md explains the groups of reasons.
    """
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {(function, new): group for function, group, new in rows}


def compare(results: Results) -> int:
    """Print the mutants (small faults) that no test noticed, unless they are in a developer's list of accepted ones.

    Also print listed mutants that a test notices now. Return 1 if no test noticed some mutant that is not in the list,
    otherwise 0.
    """
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
