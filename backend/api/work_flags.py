"""What a lead may want to look at in people's work, and the pairs behind it."""

from backend.campaign.monitoring.quality import flags as stage
from backend.campaign.monitoring.quality.model import BehindFlag, FlagKind, PersonFlags
from backend.campaign.nouns import Operator, Person
from backend.campaign.review.model import PairReview
from backend.campaign.review.rows import reviews
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId, PairId


def flags(project: Project, by: Person | Operator, only: AnnotatorId | None = None) -> list[PersonFlags]:
    """The flags of every annotator, or of one, raised or not, by name."""
    permissions.require_in_charge(project.store, by)
    return stage.report(project.store, only)


def behind_flag(project: Project, by: Person | Operator, annotator_id: AnnotatorId, kind: FlagKind) -> BehindFlag:
    """How one figure of a person went over time, and which pairs speak for a flag, those to look at first."""
    permissions.require_in_charge(project.store, by)
    return stage.behind(project.store, annotator_id, kind)


def pairs_behind(project: Project, by: Person | Operator, pairs: tuple[PairId, ...]) -> list[PairReview]:
    """A page of the pairs of `behind_flag` with everything a lead may see of them, in the same order."""
    permissions.require_in_charge(project.store, by)
    return reviews.by_id(project.store.db, pairs)
