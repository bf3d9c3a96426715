"""Negatives to train on, from an annotation file; no project needed."""

from collections.abc import Mapping
from pathlib import Path

from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.selection.pools import negatives
from backend.campaign.selection.pools.negatives import NegativesReport
from backend.core.arriving import require_new_folder
from backend.core.progress import Progress
from backend.core.where import HERE, Where, placed
from backend.encoders import cache, sentence


def write_negatives(
    file: Path,
    out: Path,
    *,
    threshold: float = 0.9,
    temperature: float = 0.1,
    encoder: str | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    where: Where = HERE,
    progress: Progress | None = None,
) -> NegativesReport:
    """Write how likely each video is drawn as a negative of each sentence, and the other way round, into a new folder.

    Args:
        file: an annotation file; each of its sentences is a query.
        out: the folder to make.
        threshold: t_tr: what is as similar as that or more is no negative.
        temperature: the smaller, the more the most similar ones are drawn.
        encoder: as for a project; SimCSE from the model hub unless another is named.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder unless another is named.
        format: of the file; like `types` and `columns` as in `import_corpus`.
        types: see there.
        columns: see there.
        where: where sentences are encoded.
        progress: called with (what is done, done, all).

    Raises:
        InputError: the file has problems, or holds no second video.
        ProjectError: the folder is not new, or threshold or temperature means nothing.
        EncoderUnavailable: the encoder cannot be found or built.
    """
    require_new_folder(out)  # these before the encoder is loaded
    negatives.require_sensible(threshold, temperature)
    return negatives.write(
        file,
        placed(sentence.load(sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)), where),
        embeddings or cache.shared_folder(),
        out,
        format=format,
        options=ImportOptions(types, columns or {}),
        threshold=threshold,
        temperature=temperature,
        progress=progress,
    )
