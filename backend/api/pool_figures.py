"""Figures of a file of pools; no project needed."""

from pathlib import Path

from backend.campaign.selection.pools import figures
from backend.campaign.selection.pools.figures import FigureReport
from backend.core.progress import Progress
from backend.encoders import cache, sentence


def write_pool_figures(
    file: Path,
    out: Path,
    *,
    videos: Path | None = None,
    query: str | None = None,
    encoder: str | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    progress: Progress | None = None,
) -> FigureReport:
    """Draw a query with its pool, the map of all queries, and how similar positives and negatives are.

    Args:
        file: of pools.
        out: the folder, which is made; earlier figures in it are replaced.
        videos: folder of video files, for film strips.
        query: its id; that with the most positives unless another is named.
        encoder: as for a project; SimCSE from the model hub unless another is named.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder unless another is named.
        progress: called with (what is done, done, all).

    Raises:
        InputError: the file has problems, or no such query.
        EncoderUnavailable: the encoder cannot be found or built.
        ProjectError: the folder cannot be written, or there is no such folder of videos.
    """
    return figures.write(
        file,
        sentence.load(sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)),
        embeddings or cache.shared_folder(),
        out,
        videos=videos,
        query=query,
        progress=progress,
    )
