"""List descriptions for leads: counts, pages, neighbours, figures, CSV.

*Reads* descriptions, moments, choices. *Writes* nothing.
"""

from datetime import UTC, datetime

from backend.campaign.corpus.describing.model import (
    DescribingFigures,
    DescriptionFilter,
    DescriptionLine,
    DescriptionStatus,
)
from backend.campaign.corpus.describing.rows import choices, descriptions, reviewed
from backend.campaign.corpus.describing.rules import wanted as wanted_number
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.text_files import csv_text
from backend.store.connection import reading

HEADER = (
    *("video", "start_s", "end_s", "sentence", "caption", "author", "status", "written_at", "moment_start_s"),
    *("moment_end_s", "lead_wrote"),
)


@permissions.in_charge
def description_counts(project: Project, by: Lead | Operator) -> dict[DescriptionStatus, int]:
    """Return how many descriptions have each status."""
    return reviewed.counts(project.store.db)


@permissions.in_charge
def count_descriptions(project: Project, by: Lead | Operator, wanted: DescriptionFilter) -> int:
    """Return how many descriptions a filter matches."""
    return reviewed.count(project.store.db, wanted)


@permissions.in_charge
def find_descriptions(
    project: Project, by: Lead | Operator, wanted: DescriptionFilter, *, first: int = 0, most: int = 25
) -> list[DescriptionLine]:
    """Return a page of the descriptions that a filter matches: at most `most` from the given one on, counted from 0."""
    return reviewed.page(project.store.db, wanted, first, most)


@permissions.in_charge
def description_keys(project: Project, by: Lead | Operator, wanted: DescriptionFilter) -> list[str]:
    """Return the keys of all descriptions that a filter matches, in its order: what comes before and after one."""
    return reviewed.keys(project.store.db, wanted)


@permissions.in_charge
def describing_figures(project: Project, by: Lead | Operator) -> DescribingFigures:
    """Return how far describing is, and by whom."""
    with reading(project.store) as db:
        chosen, videos = choices.standing(db), reviewed.per_video(db)
        asked = [(wanted_number(seconds, chosen.per_video, chosen.per_minute), written) for seconds, written in videos]
        limited = chosen.per_video is not None or chosen.per_minute is not None
        return DescribingFigures(
            videos=len(videos),
            described=sum(written > 0 for _, written in videos),
            enough=sum(most is not None and written >= most for most, written in asked) if limited else None,
            people=reviewed.figures(db),
        )


@permissions.in_charge
def descriptions_csv(project: Project, by: Lead | Operator) -> str:
    """Return all descriptions that were not withdrawn as CSV, by video and time; instants in UTC."""
    with reading(project.store) as db:
        rows = descriptions.where(db, "d.status <> 'withdrawn'", [], "ORDER BY v.name, d.start_s, d.description_id")
        lines = []
        for row in rows:
            moment = reviewed.moment_of(db, row.moment_id) if row.moment_id is not None else None
            lines.append(
                (
                    *(row.video, row.start_s, row.end_s, row.sentence),
                    "" if row.caption_id is None else reviewed.caption_text(db, row.caption_id),
                    *(row.author, row.status.value, _utc(reviewed.written_at(db, row.description_id))),
                    *(moment[1:] if moment else ("", "")),
                    row.words,
                )
            )
    return csv_text(HEADER, lines, for_people=True)


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
