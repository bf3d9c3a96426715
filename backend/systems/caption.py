"""Caption: an upper bound that has seen the captions. It ranks moments by how similar their captions are to the query.

No system that searches videos can know what annotators wrote about each moment, and the query may itself have been made
from one of these captions. What this reaches is what text alone reaches where the moments are given.
"""

from collections.abc import Sequence
from pathlib import Path

from backend.core.errors import InputError
from backend.core.progress import Progress, named
from backend.encoders.cache import encode_cached
from backend.encoders.search import top_moments
from backend.encoders.sentence import Encoder
from backend.systems.model import TOP, Answers, KnownMoment, Predicted, SearchTask, require_searchable, require_texts


def answer(
    task: SearchTask, encoder: Encoder, embeddings: Path, *, top: int = TOP, progress: Progress | None = None
) -> Answers:
    """The moments whose captions are most similar to each query; scores are cosines.

    A moment with several captions counts as its most similar one, moments of equal score stand in the order of the
    task, as where candidates are chosen.

    Args:
        task: with captions.
        encoder: of sentences.
        embeddings: where vectors are kept.
        top: answers a query.
        progress: called with (what is done, done, all).

    Raises:
        InputError: no moment has a caption; or see `require_searchable`.
        EncoderUnavailable: the encoder cannot be built.
    """
    require_searchable(task)
    require_texts(task)
    moments, described = _described(task.captions)
    if not described:
        raise InputError.single(task.source, "has no captions, and this baseline ranks moments by theirs")
    vectors = encode_cached(encoder, list(described), embeddings, progress=named(progress, "encoding captions"))
    texts = list(task.queries.values())
    wanted = encode_cached(encoder, texts, embeddings, progress=named(progress, "encoding queries"))
    ranking = top_moments(wanted, vectors, list(described.values()), top, progress=named(progress, "searching"))
    return {
        query: [Predicted(*moments[one.moment_id], float(one.similarity)) for one in found]
        for query, found in zip(task.queries, ranking, strict=True)
    }


def _described(captions: Sequence[KnownMoment]) -> tuple[list[tuple[str, float, float]], dict[str, list[int]]]:
    """The moments, and by each distinct text the numbers of those that it describes."""
    number: dict[tuple[str, float, float], int] = {}
    described: dict[str, list[int]] = {}
    for one in captions:
        if text := one.caption.strip():
            of_text = described.setdefault(text, [])
            moment = number.setdefault(one[:3], len(number))
            if moment not in of_text:
                of_text.append(moment)
    return list(number), described
