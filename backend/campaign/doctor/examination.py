"""Check every invariant of a project, and repair what is derived or disposable.

*Reads* everything. *Writes* only what `inspections` repairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.doctor.checks import CHECKS, Check
from backend.campaign.doctor.inspections import clip_files, predicted
from backend.campaign.setup.people.permissions import public
from backend.campaign.setup.project.folder import Project
from backend.store.connection import reading

EXAMPLES = 5
"""So many of what was found are named."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant that does not hold."""

    check: str
    count: int
    examples: tuple[str, ...]
    meaning: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What was looked at, and what was found. `well` when nothing is left to do.

    `predicted_clips` in the cache show what runs predicted, not a moment of the project.
    """

    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    predicted_clips: int

    @property
    def well(self) -> bool:
        """Whether nothing was found, or all of it was repaired."""
        return all(finding.repaired for finding in self.findings)


@public
def doctor(project: Project, *, now: float, repair: bool = False) -> DoctorReport:
    """Check every invariant of a project, all of one instant of the database.

    Repairs mend what is derived or disposable, never what people did.

    Args:
        project: the project; its server may be running.
        now: seconds since 1970.
        repair: make consensus and agenda anew, find moved videos again, and remove orphaned clips and what was left
            behind, where something was found there.
    """
    found = _look(project, CHECKS, now)
    predicted_clips = len(predicted(clip_files(project)))
    if not repair:
        return DoctorReport(_names(CHECKS), tuple(found.values()), predicted_clips)
    mended = [check for check in CHECKS if check.name in found and check.repair]
    for check in mended:
        if check.repair:
            check.repair(project, now)
    left = _look(project, mended, now)
    findings = tuple(
        Finding(f.check, f.count, f.examples, f.meaning, repaired=f.check not in left and f.check in _names(mended))
        for f in found.values()
    )
    return DoctorReport(_names(CHECKS), findings, predicted_clips)


def _look(project: Project, checks: Sequence[Check], now: float) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    with reading(project.store) as db:
        for check in checks:
            if broken := list(check.look(project, db, now)):
                found[check.name] = Finding(check.name, len(broken), tuple(broken[:EXAMPLES]), check.meaning)
                if check is CHECKS[0]:
                    break  # on damaged pages nothing else can be believed
    return found


def _names(checks: Sequence[Check]) -> tuple[str, ...]:
    return tuple(check.name for check in checks)
