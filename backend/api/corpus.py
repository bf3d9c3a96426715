"""Operations on the corpus and the queries: import, rewrite captions, draw queries, choose candidates, open batches."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backend.api.model import AddedVideos, Caller, SentFile, person_of
from backend.campaign.corpus.captions.model import AcceptedCaption, RewriteReport
from backend.campaign.corpus.importing.model import ImportReport
from backend.campaign.nouns import Split
from backend.campaign.selection.batches.model import AcceptedReport, Suggestions
from backend.campaign.selection.candidates.model import CandidateReport
from backend.campaign.selection.queries.model import QueryReport
from backend.core.addresses import place_of
from backend.core.ids import QueryId

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def import_corpus(
    project: "Project",
    by: Caller,
    file: SentFile,
    *,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    videos: str | None = None,
    types: list[str] | None = None,
    columns: dict[str, str] | None = None,
    decode: bool | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Import videos, moments and captions from an annotation file: all of it, or nothing.

    Args:
        file: the annotation file.
        format: its format, such as `tvr` or `csv`; recognised from its content if None.
        videos: the folder of the video files, or its address in object storage. If a lead calls this, it and `file`
            must be in a folder that `media_roots` in `reelrank.toml` lists.
        types: for a file of the data set TVR, import only lines whose field `type` has one of these values. None
            imports type `v`, descriptions of what is seen, as the TVR-Ranking paper does.
        columns: maps ReelRank's field names to the file's columns, such as `{"start": "begin"}`.
        decode: decode every frame to find damage; None does so where that is fast.
        dry_run: check everything, and write nothing.

    Raises:
        InputError: every problem of the file, with its row.
        ProjectError: the lead may not read the file or the folder.
    """
    from backend.campaign.monitoring.videos import check

    return check.import_corpus(
        project,
        by,
        Path(file),
        format,
        videos=place_of(videos) if videos else None,
        types=frozenset(types) if types else None,
        columns=columns,
        decode=decode,
        dry_run=dry_run,
        now=time.time(),
    )


def import_videos(project: "Project", by: Caller, folder: str, *, decode: bool | None = None) -> AddedVideos:
    """Add the videos of a folder, without any annotation file. Files that cannot be read are left out.

    Args:
        folder: the folder. Videos in folders below it are added too. A lead may only name folders that `media_roots`
            in `reelrank.toml` allows.
        decode: decode every frame to find damage; None does so where that is fast.

    Raises:
        InputError: there is no such folder, or it has no video that can be read.
        ProjectError: the lead may not read the folder.
    """
    from backend.campaign.monitoring.videos.check import register_videos

    report = register_videos(project, by, Path(folder), decode=decode, now=time.time())
    return AddedVideos([video.name for video in report.videos], report.new, list(report.problems))


def rewrite_captions(project: "Project", by: Caller) -> RewriteReport:
    """Replace the names in captions with generic phrases, by rules and the project's name mapping.

    A rewrite must stay similar to its caption, and may contain no name. If it fails this check, a lead decides about it
    on the page Captions.

    Raises:
        ProjectError: there are no captions, or queries were drawn already.
    """
    from backend.campaign.corpus.captions import rewriting

    return rewriting.rewrite_captions(project, by, now=time.time())


def captions(
    project: "Project", by: Caller, *, search: str = "", first: int = 0, most: int = 1_000_000
) -> list[AcceptedCaption]:
    """Return the captions in use: queries are drawn from them, and candidate moments are searched by them.

    Args:
        search: words of a caption, or the name of a video; empty for all captions.
        first: how many captions to skip.
        most: how many captions to return at most.
    """
    from backend.campaign.corpus.captions.correcting import accepted_captions

    return accepted_captions(project, by, search, first=first, most=most)


def draw_queries(
    project: "Project",
    by: Caller,
    *,
    val: int = 0,
    test: int = 0,
    seed: int = 0,
    own: SentFile | None = None,
    own_split: Literal["val", "test", "train"] = "test",
    dry_run: bool = False,
) -> QueryReport:
    """Draw validation and test queries from the captions, or add queries from a file.

    The other captions become training queries.

    Args:
        val: how many validation queries to draw.
        test: how many test queries to draw.
        seed: the seed of the random draw; the same seed draws the same queries.
        own: a file of queries, as text with one query a line, or as CSV with the columns `text` and `split`.
        own_split: the split of the queries in `own` if it is a text file.
        dry_run: check everything, and write nothing.

    Raises:
        ProjectError: there are queries already, no captions, or fewer distinct captions than asked for.
        InputError: every problem of the file.
    """
    from backend.campaign.selection.queries import drawing

    return drawing.draw_queries(
        project,
        by,
        val=val,
        test=test,
        seed=seed,
        own=Path(own) if own is not None else None,
        own_split=Split(own_split),
        dry_run=dry_run,
        now=time.time(),
    )


def choose_candidates(
    project: "Project", by: Caller, *, batch_size: int | None = None, probe: int = 0, seed: int = 0
) -> CandidateReport:
    """Find each query's candidates, the moments with the most similar captions, and give the first ones to annotators.

    The candidates of a query are handed out in batches. This opens the first batch of each query.

    Args:
        batch_size: how many candidates a batch has; 20 if None.
        probe: the number of queries, drawn at random, that get a probe. For these, the 60 most similar moments and 60
            random others are graded, to learn how many candidates of a query have to be graded.
        seed: the seed of this random draw.

    Raises:
        ProjectError: there are no queries, or there are candidates already.
        EncoderUnavailable: the sentence encoder cannot be found.
    """
    from backend.campaign.selection.candidates import choosing

    return choosing.choose_candidates(project, by, batch_size=batch_size, probe=probe, seed=seed, now=time.time())


def next_batches(project: "Project", by: Caller) -> Suggestions:
    """Return, for each query that can get another batch of candidates, whether opening it is recommended.

    The recommendation comes from the project's batch rule, which looks at the grades of the batches opened before.
    """
    from backend.campaign.selection.batches.suggestions import batch_suggestions

    return batch_suggestions(project, by)


def open_batch(project: "Project", by: Caller, query_id: int, *, number: int = 2, reason: str = "") -> int:
    """Give the next batch of a query's candidates to annotators, and return how many pairs to grade it has.

    Args:
        query_id: the number of the query.
        number: the number of the batch, 2 or more. It must be the query's next one.
        reason: your reason, for the activity log; may be empty.

    Raises:
        Overtaken: somebody opened or declined this batch.
        ProjectError: it is not the query's next batch, or pairs of earlier batches still need grades.
    """
    from backend.campaign.selection.batches import next_batch

    return next_batch.open_batch(
        project, person_of(by), QueryId(query_id), number=number, reason=reason, now=time.time()
    )


def open_recommended_batches(project: "Project", by: Caller, *, decline: bool = False) -> AcceptedReport:
    """Open the next batch of candidates of every query for which the project's batch rule recommends it.

    Args:
        decline: also record, for every query where the rule advises against the next batch, that it is not wanted.

    Raises:
        ProjectError: there is nothing to open or decline.
    """
    from backend.campaign.selection.batches.suggestions import accept_suggestions, batch_suggestions

    return accept_suggestions(project, by, batch_suggestions(project, by), decline=decline, now=time.time())
