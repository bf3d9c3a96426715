"""Report how people did with gold questions: answers, accuracy, and what followed from them.

*Reads* gold answers, findings, pauses. *Writes* nothing.
"""

from dataclasses import dataclass

from backend.campaign.nouns import Lead, Operator, Person
from backend.campaign.qualification.answers.rows import takers
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.qualification.gold.offering import within_tolerance
from backend.campaign.qualification.gold.rows import GoldFinding, GoldGrade
from backend.campaign.qualification.gold.rules import accuracy
from backend.campaign.qualification.gold.setting import GoldReport, report
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.model import Pause
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.store.connection import Database, reading


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """One answer, and whether it is within the campaign's tolerance of the right grade."""

    answer: GoldGrade
    within: bool
    counts: bool
    """Whether it is among the answers that accuracy is reckoned from now."""


@dataclass(frozen=True, slots=True)
class GoldPerson:
    """How one annotator stands.

    `accuracy` is the percentage of the last answers since the last finding that are within the tolerance; None while
    there are too few. `left` is how many gold pairs they can still meet.
    """

    person: Person
    answers: tuple[GoldAnswer, ...]
    """The oldest first."""
    within: int
    counted: int
    accuracy: float | None
    findings: tuple[GoldFinding, ...]
    """The newest first."""
    pause: Pause | None
    left: int


@permissions.in_charge
def gold_results(project: Project, by: Lead | Operator) -> tuple[GoldReport, list[GoldPerson]]:
    """Return what gold is chosen from, and how everybody did who takes pairs or ever answered, by name."""
    with reading(project.store) as db:
        return report(db), [_stands(db, person) for person in takers(db)]


def _stands(db: Database, person: Person) -> GoldPerson:
    me = person.annotator_id
    campaign = facts.campaign(db)
    findings = gold.findings(db, me)
    answers = gold.answers(db, me)
    within = within_tolerance(answers, campaign.tolerance)
    since = findings[0].last_answer if findings else 0
    fresh = [ok for answer, ok in zip(answers, within, strict=True) if answer.gold_answer_id > since]
    counted = fresh[-campaign.gold.window :]
    first = len(answers) - len(counted)
    return GoldPerson(
        person,
        tuple(GoldAnswer(one, ok, nth >= first) for nth, (one, ok) in enumerate(zip(answers, within, strict=True))),
        within=sum(counted),
        counted=len(counted),
        accuracy=accuracy(fresh, campaign.gold),
        findings=tuple(findings),
        pause=people.standing_pause(db, me),
        left=len(gold.fit_for(db, me)),
    )
