"""Strips of frames for a report's cases, from the videos of a project.

*Reads* the corpus and its video files. Writes nothing.
"""

from functools import cache

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, VideoUnreadable
from backend.media.facts import VideoFacts
from backend.media.probe import require_unchanged
from backend.media.strip import film_strip
from backend.scoring.report.film import Film
from backend.store.connection import reading


def film_of(project: Project) -> Film:
    """Strips from the project's videos; one that is unknown, lost or damaged has none."""

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
