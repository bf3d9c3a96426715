"""Tell leads what holds in the campaign: each line of `settings.listing` with its value, since when, and by whom.

*Reads* the campaign's facts, its events and `reelrank.toml`. *Writes* nothing.
"""

from backend.campaign.corpus.describing.rows import choices
from backend.campaign.judging.rows import assignments
from backend.campaign.monitoring.activity import rows
from backend.campaign.monitoring.activity.model import CampaignSetting
from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.exam.model import ExamPurpose
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.setting_lines import BEGINNING, LINES, CurrentSettings
from backend.store.connection import reading


@in_charge
def campaign_settings(project: Project, by: Lead | Operator) -> list[CampaignSetting]:
    """Return every setting in words, by what it belongs to: its value, what it changes, since when, by whom, where."""
    with reading(project.store) as db:
        rule, guideline = batches_rows.versions(db)[-1], facts.versions(db)
        exam, describing = exams.held(db, ExamPurpose.EXAM), choices.standing(db)
        worded = next((one for one in reversed(guideline) if one.since is not None), guideline[0])
        now = CurrentSettings(
            file=project.settings,
            campaign=facts.campaign(db),
            guideline=guideline[-1],
            worded=(worded.since, worded.by),
            next_batch=rule.rule.words,
            next_batch_since=(rule.since, rule.by),
            describing=describing.open,
            describers=None if describing.people is None else len(describing.people),
            described=None if describing.videos is None else len(describing.videos),
            assigned=len(assignments.all_standing(db)),
            exam_most_missed=exam.most_missed if exam else None,
            terms=facts.terms(db),
        )
        return [
            CampaignSetting(
                *(line.part, line.name, line.value(now), line.about(now)),
                *((rows.newest(db, line.events) or BEGINNING) if line.events else line.since(now)),
                *(line.page, line.how),
            )
            for line in LINES
        ]
