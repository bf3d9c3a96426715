"""The sentences of a project: the imprecise caption of a moment, where it has an accepted one, else as published.

*Reads* captions, moments and videos. *Writes* nothing.
"""

from backend.campaign.corpus.captions.rows import rewrites
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.selection.pools.from_file import PUBLISHED
from backend.campaign.selection.pools.model import Captioned
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.media.sources import Source
from backend.scoring.pools.checking import PAST_END_S
from backend.scoring.pools.model import PoolMoment
from backend.store.connection import reading


def read(project: Project) -> Captioned:
    """Every caption that candidates are searched in, as a sentence of its video; in the order of their ids.

    Raises:
        ProjectError: it has no captions.
    """
    with reading(project.store) as db:
        captions = rewrites.searchable_captions(db)
        imprecise = {caption.caption_id for caption in rewrites.rewritten_captions(db)}
        details = corpus.moment_details(db)
        durations = corpus.video_durations(db)
    if not captions:
        raise ProjectError(f"there are no captions yet: run `{steps.importing(project.folder)}` first")
    moments: dict[str, list[PoolMoment]] = {}
    for caption in captions:
        moment = details[caption.moment_id]
        end_s = min(moment.end_s, moment.duration_s + PAST_END_S)
        moments.setdefault(moment.video, []).append(
            PoolMoment(moment.video, moment.start_s, end_s, caption.text.strip())
        )
    count = len(imprecise & {caption.caption_id for caption in captions})
    which = f"{count:,} imprecise, {len(captions) - count:,} {PUBLISHED}" if count else PUBLISHED
    return Captioned(project.name, which, moments, {name: durations[name] for name in moments})


def video_files(project: Project, names: list[str]) -> dict[str, Source]:
    """Where the files of videos lie.

    Raises:
        ProjectError: the files of some are not known.
    """
    with reading(project.store) as db:
        facts = {name: corpus.video_facts(db, name) for name in names}
    if missing := [name for name, found in facts.items() if found is None]:
        raise ProjectError(
            f"the files of {len(missing):,} videos are not known, such as {missing[0]}: import again with --videos, "
            "or build by text alone (--visual none)"
        )
    return {name: project.source(found) for name, found in facts.items() if found is not None}
