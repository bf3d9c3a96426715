"""The rewrite queue: what waits for a lead, their decisions, and what rewriting did to the captions."""

from backend.campaign.corpus.captions import deciding
from backend.campaign.corpus.captions.model import RewriteQueue, TakenDecision
from backend.campaign.corpus.captions.rows import rewrites
from backend.campaign.corpus.captions.rules.differences import RewriteSummary, summary
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project


def rewrite_queue(project: Project, lead: Person) -> RewriteQueue:
    """What waits for a lead, the first of it, and what became of the rest."""
    return deciding.queue(project, permissions.require_lead(project.store, lead))


def decide_rewrite(project: Project, lead: Person, caption_id: int, text: str | None, *, now: float) -> None:
    """Accept a waiting rewrite in these words, or reject it (None).

    Raises:
        Overtaken: another lead decided since.
    """
    deciding.decide(project, permissions.require_lead(project.store, lead), caption_id, text, now=now)


def take_back_rewrite(project: Project, lead: Person, *, now: float) -> TakenDecision:
    """Take back what this lead decided last; what that was."""
    return deciding.take_back(project, permissions.require_lead(project.store, lead), now=now)


def rewrite_summary(project: Project, by: Person | Operator) -> RewriteSummary:
    """The paper's Table 3 for this project: replacement words with counts, words a caption before and after."""
    permissions.require_in_charge(project.store, by)
    return summary(rewrites.accepted_texts(project.store.db))
