"""Search the activity log, and list the campaign's settings with the time and author of their last change.

*Reads* events, judgements, the pairs and people that they mention, the campaign's settings and `reelrank.toml`.
*Writes* nothing.
"""

from collections.abc import Iterator

from backend.campaign.corpus.describing.rows import descriptions
from backend.campaign.judging.rows import assignments
from backend.campaign.monitoring.activity import rows
from backend.campaign.monitoring.activity.model import ActivityEntry, ActivityFilter, CampaignSetting
from backend.campaign.monitoring.activity.setting_lines import BEGINNING, LINES, CurrentSettings, SettingLine, Since
from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.exam.model import ExamPurpose
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.days import instant
from backend.core.text_files import csv_text
from backend.store.connection import Database, Store, reading

HEADER = ("at", "by", "kind", "words", "about", "query_id")
_AT_ONCE = 5_000


@in_charge
def find_activity(
    project: Project, by: Lead | Operator, activity_filter: ActivityFilter, *, first: int, most: int
) -> list[ActivityEntry]:
    """Return at most `most` entries of the activity log that match a filter, the newest first.

    The first `first` of the matching entries are skipped.
    """
    with reading(project.store) as db:
        return rows.entries(db, activity_filter, first=first, most=most)


@in_charge
def count_activity(project: Project, by: Lead | Operator, activity_filter: ActivityFilter) -> int:
    """Count the entries of the activity log that match a filter."""
    with reading(project.store) as db:
        return rows.count(db, activity_filter)


@in_charge
def activity_csv(project: Project, by: Lead | Operator, activity_filter: ActivityFilter) -> str:
    """Return all entries of the activity log that match a filter as CSV, the newest first. Times are in UTC."""
    return csv_text(HEADER, _lines(project.store, activity_filter), for_people=True)


@in_charge
def activity_people(project: Project, by: Lead | Operator) -> list[str]:
    """Return the names of all people who may appear in the activity log, leads first."""
    return rows.people(project.store.db)


def _lines(store: Store, activity_filter: ActivityFilter) -> Iterator[tuple[object, ...]]:
    with reading(store) as db:
        first = 0
        while entries := rows.entries(db, activity_filter, first=first, most=_AT_ONCE):
            for entry in entries:
                yield (instant(entry.at), entry.by or "", entry.kind, entry.words, entry.about, entry.query_id)
            first += len(entries)


def _since(db: Database, line: SettingLine, now: CurrentSettings) -> Since:
    if line.events:
        return rows.newest(db, line.events) or BEGINNING
    return rows.newest_change(db, line.keys) or line.since(now)


@in_charge
def campaign_settings(project: Project, by: Lead | Operator) -> list[CampaignSetting]:
    """Return every setting of the campaign in words, grouped by topic.

    Each comes with its value, its effect, when and by whom it was last set, and where it can be changed.
    """
    with reading(project.store) as db:
        rule, guideline = batches_rows.versions(db)[-1], project_rows.versions(db)
        exam, describing = exams.open_exam(db, ExamPurpose.EXAM), descriptions.current_choice(db)
        worded = next((version for version in reversed(guideline) if version.since is not None), guideline[0])
        now = CurrentSettings(
            file=project.settings,
            campaign=project_rows.campaign(db),
            guideline=guideline[-1],
            worded=(worded.since, worded.by),
            next_batch=rule.rule.words,
            next_batch_since=(rule.since, rule.by),
            describing=describing.open,
            describers=None if describing.people is None else len(describing.people),
            described=None if describing.videos is None else len(describing.videos),
            assigned=len(assignments.all_current_assignments(db)),
            exam_most_missed=exam.most_missed if exam else None,
            terms=project_rows.terms(db),
        )
        return [
            CampaignSetting(
                *(line.part, line.name, line.value(now), line.about(now)),
                *_since(db, line, now),
                *(line.page, line.how),
            )
            for line in LINES
        ]
