"""Write pseudo training sets: for every training query its top N moments, with their similarity as weight.

*Reads* queries of the split `train`, captions, cached embeddings. *Writes* the files, and nothing in the database. It
writes a block of queries at a time, because a set of TVR-Ranking's size is 700 MB. The encoder has to be the one that
made the candidate lists. In a project that came from a release, the lists are those of the release.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Split
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.choosing import search_by_block
from backend.campaign.selection.candidates.rows import CandidateRow
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import load_encoder
from backend.core.errors import ProjectError
from backend.core.ids import MomentId
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.release_entries import training_file
from backend.core.where import HERE, Where
from backend.encoders.search import QUERIES_AT_ONCE
from backend.encoders.selection import Candidate
from backend.encoders.sentence import Encoder

TOPS = (1, 20, 40)
"""Sizes of the published pseudo training sets (TVR-Ranking)."""


def needs_encoder(project: Project) -> bool:
    """Return whether an encoder is needed to compute the candidate lists of training queries.

    It is needed if there are training queries, unless the project comes from a release, which has these lists already.
    """
    db = project.store.db
    return queries.split_counts(db)[Split.TRAIN.value] > 0 and not candidates_rows.longest_training_list(db)


def training_encoder(project: Project, where: Where = HERE) -> Encoder | None:
    """Load the encoder of the pseudo training sets; return None if no training list has to be computed."""
    return load_encoder(project, where) if needs_encoder(project) else None


def write(
    project: Project,
    encoder: Encoder | None,
    folder: Path,
    tops: Sequence[int],
    *,
    with_published: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write a training set of each size in `tops` into a folder, in query order; return the number of queries.

    `moment_documents` tells the fields of a moment in the files. The encoder may be None if `needs_encoder` returns
    False. `with_published` adds the published captions.

    Raises:
        ProjectError: the encoder is not that of the candidate lists, or the lists of a release are too short.
    """
    db = project.store.db
    training = queries.query_rows(db, (Split.TRAIN,))
    blocks: Iterable[tuple[Sequence[QueryRow], Sequence[Sequence[Candidate | CandidateRow]]]]
    if encoder is None or not needs_encoder(project):
        blocks = _stored(project, training, max(tops), progress)
    else:
        require_same_encoder(project, encoder)
        searched = search_by_block(project, encoder, training, max(tops), progress=progress) if training else ()
        blocks = ((block, list(found)) for block, found, _ in searched)
    moments = moment_documents(project, with_published=with_published)
    with ExitStack() as stack:
        files = {top: stack.enter_context(_list_in(folder / training_file(top))) for top in dict.fromkeys(tops)}
        for block, candidates in blocks:
            for top, add in files.items():
                add(documents(block, candidates, moments, top))
    return len(training)


def require_same_encoder(project: Project, encoder: Encoder) -> None:
    """Refuse an encoder that did not make the candidate lists.

    Raises:
        ProjectError: another encoder made the lists.
    """
    recorded = candidates_rows.encoder_of_candidates(project.store.db)
    if recorded is not None and recorded != encoder.identity:
        raise ProjectError(
            said(
                "the candidate lists were made with {recorded}, but the encoder now is {identity}: set `encoder` and "
                "`encoder_dtype` in reelrank.toml back",
                recorded=recorded,
                identity=encoder.identity,
            )
        )


def _stored(
    project: Project, asked: Sequence[QueryRow], most: int, progress: Progress | None
) -> Iterator[tuple[Sequence[QueryRow], list[list[CandidateRow]]]]:
    """Yield training queries with their stored candidate lists, a block of queries at a time.

    The lists came with the release from which the project was made.
    """
    held = candidates_rows.longest_training_list(project.store.db)
    if asked and most > max(held, TOPS[-1]):
        raise ProjectError(
            said(
                "the training lists of this project came with a release and have only {held} moments "
                "each: ask for no more",
                held=held,
            )
        )
    for start in range(0, len(asked), QUERIES_AT_ONCE):
        block = asked[start : start + QUERIES_AT_ONCE]
        found = candidates_rows.training_lists(project.store.db, [query.query_id for query in block])
        yield block, [found[query.query_id] for query in block]
        if progress:
            progress(said("writing training sets"), start + len(block), len(asked))


def documents(
    asked: Sequence[QueryRow],
    found: Sequence[Sequence[Candidate | CandidateRow]],
    moments: Mapping[MomentId, dict[str, Any]],
    top: int,
) -> list[dict[str, Any]]:
    """Return entries of a training set: each query with the first `top` moments of its list.

    An entry has the keys `query_id`, `query` and `relevant_moment`. `moments` maps a moment's id to its fields in the
    file; its similarity is added.
    """
    return [
        {
            "query_id": query.query_id,
            "query": query.text,
            "relevant_moment": [
                {**moments[MomentId(c.moment_id)], "similarity": round(c.similarity, 6)} for c in candidates[:top]
            ],
        }
        for query, candidates in zip(asked, found, strict=True)
    ]


def moment_documents(project: Project, *, with_published: bool = False) -> dict[MomentId, dict[str, Any]]:
    """Map each moment to its fields in a release: `video_name`, `timestamp`, `duration` and `caption`.

    If captions of the project were rewritten, `caption` is the moment's rewritten caption without names, or empty if it
    has none. Otherwise it is the published caption, which may hold names. `with_published` adds the field
    `published_caption`. Both fields are None for a moment without any caption.
    """
    db = project.store.db
    imprecise = rows.released_captions(db)
    return {
        moment_id: {
            "video_name": moment.video,
            "timestamp": [moment.start_s, moment.end_s],
            "duration": moment.duration_s,
            "caption": moment.caption if imprecise is None or moment.caption is None else imprecise.get(moment_id, ""),
            **({"published_caption": moment.caption} if with_published else {}),
        }
        for moment_id, moment in corpus.moment_details(db).items()
    }


@contextmanager
def _list_in(file: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """Open a JSON file for a list, and yield a function that appends some entries to the list."""
    with file.open("wb") as stream:
        between = b"["

        def add(entries: list[dict[str, Any]]) -> None:
            nonlocal between
            whole = msgspec.json.format(msgspec.json.encode(entries), indent=1)
            stream.write(between + whole.removeprefix(b"[").removesuffix(b"\n]"))
            between = b","

        yield add
        stream.write(b"[]\n" if between == b"[" else b"\n]\n")
