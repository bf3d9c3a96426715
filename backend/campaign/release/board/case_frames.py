"""Show the videos of a project beside scores: which have a file, and strips of frames for a report.

*Reads* the corpus and its video files. *Writes* nothing.
"""

from functools import cache

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, VideoUnreadable
from backend.media.probe import require_unchanged
from backend.media.sources import VideoFacts
from backend.media.strip import film_strip
from backend.scoring.report.cases import Film
from backend.store.connection import reading


@in_charge
def videos_with_file(project: Project, by: Lead | Operator) -> dict[str, float]:
    """Return the durations (s) of the videos whose file the project knows, by name."""
    with reading(project.store) as db:
        without = set(corpus.videos_without_file(db))
        return {name: length for name, length in corpus.video_durations(db).items() if name not in without}


@in_charge
def report_frames(project: Project, by: Lead | Operator) -> Film:
    """Return what draws strips of frames for `report_page`; a video that is unknown, lost or damaged has none."""

    @cache
    def known(video: str) -> VideoFacts | None:
        with reading(project.store) as db:
            return corpus.video_facts(db, video)

    def film(video: str, start_s: float, end_s: float) -> bytes | None:
        facts = known(video)
        if facts is None or start_s >= facts.duration_s:
            return None
        try:
            # A stranger's database may name any file of this machine as a video.
            require_unchanged(project.source(facts), facts.sha256)
            return film_strip(project.source(facts), max(start_s, 0.0), min(end_s, facts.duration_s))
        except (InputError, VideoUnreadable):
            return None

    return film
