"""Search moments by their frames: the similarity of a query and what a moment shows, under CLIP.

*Reads* queries, moments, video files, and what is kept of their frames. *Writes* vectors of frames, which are kept.

The score is the coarse part of EMScore, asked of a moment instead of a whole video: with unit vectors v_1 ... v_N of
its frames, and x that of the query's end token, `x . g / |g|` where g is the mean of the v_i. (Shi et al., EMScore,
CVPR 2022; `backend.encoders.emscore` has the whole measure.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.selection.candidates.merging import Place
from backend.campaign.selection.candidates.rows.lists import CandidateRow
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, VideoUnreadable
from backend.core.ids import MomentId
from backend.core.messages import said
from backend.core.progress import Progress, named
from backend.encoders.clip import Clip
from backend.encoders.search import QUERIES_AT_ONCE, Captions
from backend.encoders.spans import of_span
from backend.media.frame_vectors import keep_frames, vectors_of
from backend.store.connection import reading

FRAMES_PER_S = 2.0
"""Frames of a video that are looked at; a moment of a second has two, a shorter one at least one."""


@dataclass(frozen=True, slots=True)
class SeenMoments:
    """What CLIP found: `rows` by query and rank; `unseen` are videos that nobody could look at, with the reason."""

    identity: str
    rows: list[CandidateRow]
    unseen: tuple[str, ...]


def search(
    project: Project, clip: Clip, asked: Sequence[QueryRow], k: int, *, progress: Progress | None = None
) -> SeenMoments:
    """The k moments of each query whose frames are most similar to it.

    Moments of videos whose file is not known or cannot be shown are left out.

    Raises:
        EncoderUnavailable: the model cannot be built.
        ProjectError: there is no moment, or none that can be looked at.
    """
    with reading(project.store) as db:
        places = queries.moment_places(db)
        names = sorted({place[0] for place in places.values()})
        facts = {name: corpus.video_facts(db, name) for name in names}
    of_video: dict[str, list[tuple[MomentId, Place]]] = {}
    for moment_id, place in places.items():
        of_video.setdefault(place[0], []).append((moment_id, place))
    sources = [project.source(one) for one in facts.values() if one is not None]
    keep_frames(
        clip, sources, project.embeddings, per_s=FRAMES_PER_S, progress=named(progress, said("encoding frames"))
    )
    looking = named(progress, said("looking at videos"))
    unseen = []
    alike: dict[bytes, list[int]] = {}  # moments that show the same frames are as similar to any query
    for done, name in enumerate(names, start=1):
        try:
            if (known := facts[name]) is None:
                raise VideoUnreadable(said("{name}: no file is known", name=name))
            frames = vectors_of(clip, project.source(known), FRAMES_PER_S, project.embeddings)
        except VideoUnreadable as error:
            unseen.append(str(error))
        else:
            for moment_id, (_, start_s, end_s) in of_video[name]:
                alike.setdefault(of_span(frames, start_s, end_s, FRAMES_PER_S).tobytes(), []).append(moment_id)
        if looking:
            looking(done, len(names))
    if not alike:
        none = said("there is no moment that could be looked at")
        raise ProjectError(said("{none}: {why}", none=none, why=unseen[0]) if unseen else none)
    vectors = np.stack([np.frombuffer(one, dtype=np.float32) for one in alike])
    searched = Captions(vectors, list(alike.values()), queries=len(asked))
    sentences = clip.sentences(
        {query.text for query in asked}, progress=named(progress, said("encoding queries by CLIP"))
    )
    rows: list[CandidateRow] = []
    for start in range(0, len(asked), QUERIES_AT_ONCE):
        block = asked[start : start + QUERIES_AT_ONCE]
        wanted = np.stack([sentences[query.text].vectors[-1] for query in block])
        for query, found in zip(block, searched.top(wanted, k), strict=True):
            rows += [CandidateRow(query.query_id, one.rank, MomentId(one.moment_id), one.similarity) for one in found]
    return SeenMoments(f"{clip.identity} frames={FRAMES_PER_S:g}/s", rows, tuple(unseen))
