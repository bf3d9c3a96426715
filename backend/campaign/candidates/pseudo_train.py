"""Pseudo training sets: for every training query its top N moments by similarity, kept as weight.

*Reads* queries of the split `train`, captions, cached embeddings. *Writes* the files, which are the record: a block of
queries at a time, because a set of TVR-Ranking's size is 700 MB. The lists come from the same encoder as the candidate
lists, or not at all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.candidates.choosing import search_by_block
from backend.campaign.candidates.rows import lists
from backend.campaign.captions.rows import rewrites
from backend.campaign.corpus import rows as corpus
from backend.campaign.nouns import Split
from backend.campaign.project.folder import Project
from backend.campaign.queries import rows as queries
from backend.campaign.queries.model import QueryRow
from backend.encoders.selection import Candidate
from backend.encoders.sentence import Encoder
from backend.ground.errors import ProjectError
from backend.ground.ids import MomentId
from backend.ground.progress import Progress

TOPS = (1, 20, 40)
"""Sizes of the published pseudo training sets (TVR-Ranking)."""


def write(
    project: Project,
    encoder: Encoder,
    folder: Path,
    tops: Sequence[int],
    *,
    with_published: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write a training set of each size into a folder, in query order; how many queries each has.

    Their moments are `moment_documents`.

    Raises:
        ProjectError: the encoder is not the one of the candidate lists.
    """
    db = project.store.db
    recorded = lists.encoder_of_candidates(db)
    if recorded is not None and recorded != encoder.identity:
        raise ProjectError(
            f"the candidate lists were made with {recorded}, but the encoder now is {encoder.identity}: "
            "set `encoder` and `encoder_dtype` in reelrank.toml back"
        )
    asked = queries.query_rows(db, (Split.TRAIN,))
    moments = moment_documents(project, with_published=with_published)
    with ExitStack() as stack:
        files = {top: stack.enter_context(_list_in(folder / file_of(top))) for top in dict.fromkeys(tops)}
        if asked:
            for block, found, _ in search_by_block(project, encoder, asked, max(tops), progress=progress):
                candidates = list(found)
                for top, add in files.items():
                    add(documents(block, candidates, moments, top))
    return len(asked)


def file_of(top: int) -> str:
    """The name of the training set of this size."""
    return f"train_top{top:02d}.json"


def documents(
    asked: Sequence[QueryRow],
    found: Sequence[Sequence[Candidate]],
    moments: Mapping[MomentId, dict[str, Any]],
    top: int,
) -> list[dict[str, Any]]:
    """Queries of the training set of size `top` in the form of the release, cut from longer lists."""
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
    """Every moment in the form of the release.

    Its caption is an imprecise one, empty where there is none: published words may hold names. Where no caption of the
    project was rewritten, it is the published one. `with_published` adds that in any case, in a field of its own.
    """
    db = project.store.db
    imprecise = rewrites.released_captions(db)
    return {
        moment_id: {
            "video_name": moment.video,
            "timestamp": [moment.start_s, moment.end_s],
            "duration": moment.duration_s,
            "caption": moment.caption if imprecise is None else imprecise.get(moment_id, ""),
            **({"published_caption": moment.caption} if with_published else {}),
        }
        for moment_id, moment in corpus.moment_details(db).items()
    }


@contextmanager
def _list_in(file: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """A JSON list in a file, written part by part with what the yielded function is called with."""
    with file.open("wb") as stream:
        between = b"["

        def add(entries: list[dict[str, Any]]) -> None:
            nonlocal between
            whole = msgspec.json.format(msgspec.json.encode(entries), indent=1)
            stream.write(between + whole.removeprefix(b"[").removesuffix(b"\n]"))
            between = b","

        yield add
        stream.write(b"[]\n" if between == b"[" else b"\n]\n")
