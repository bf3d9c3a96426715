"""Operations on the grading of a campaign: progress, pairs, judgements, agreement and quality flags."""

import time
from typing import TYPE_CHECKING

from backend.api.model import Caller, person_of
from backend.campaign.judging.model import Judgement
from backend.campaign.monitoring.explore.model import FoundPair, PairPart
from backend.campaign.monitoring.progress.model import Wait, WorkProgress
from backend.campaign.monitoring.quality.model import AgreementBoard, BoardPart, FlagKind, MyWork, PersonFlags
from backend.campaign.review.model import QueryReview, StatusCounts

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def status(project: "Project", by: Caller) -> StatusCounts:
    """Return the counts of the project: videos, moments, captions, queries, batches, pairs and judgements."""
    from backend.campaign.review.status import status_counts

    return status_counts(project, by)


def progress(project: "Project", by: Caller) -> WorkProgress:
    """Return how many grades are given per day, by whom, how many are still needed, and when they may be complete."""
    from backend.campaign.monitoring.progress import progress as monitoring

    return monitoring.progress(project, by, now=time.time())


def inbox(project: "Project", by: Caller) -> list[Wait]:
    """Return the kinds of tasks that wait for a lead, each with the number of tasks."""
    from backend.campaign.monitoring.progress.inbox import waits

    return list(waits(project, by))


def queries(project: "Project", by: Caller) -> list[QueryReview]:
    """Return each query that annotators grade, with counts of its pairs by state, in the order of grading."""
    from backend.campaign.review.queries import list_queries

    return list_queries(project, by)


def pairs(project: "Project", by: Caller, *, first: int = 0, most: int = -1) -> list[FoundPair]:
    """Return the pairs that annotators grade, each with its state and its relevance, sorted by query and rank.

    A pair is a query with a candidate moment. Its state, `verdict`, says for example whether grades are missing.

    Args:
        first: how many pairs to skip.
        most: how many pairs to return at most; below 0, all.
    """
    from backend.campaign.monitoring.explore.tables import found_pairs

    return found_pairs(project, by, PairPart(), first=first, most=most)


def judgements(
    project: "Project", by: Caller, *, revisions: bool = False, names: bool = False, first: int = 0, most: int = -1
) -> list[Judgement]:
    """Return the judgements, which are stored grades, sorted by query and by the rank of the moment.

    Those of one pair are sorted by round: the first two annotators, then any two who were added later.

    Args:
        revisions: also return grades that their annotator corrected later.
        names: also return annotators' names. Otherwise they are known by their numbers, as in a release.
        first: how many judgements to skip.
        most: how many judgements to return at most; below 0, all.
    """
    from backend.campaign.monitoring.explore.tables import list_judgements

    return list_judgements(project, by, revisions=revisions, names=names, first=first, most=most)


def agreement(
    project: "Project",
    by: Caller,
    *,
    split: str = "",
    query: str = "",
    first_day: str = "",
    last_day: str = "",
    intervals: bool = True,
) -> AgreementBoard:
    """Return how well the annotators agree: the figures of the page Agreement, with 95 % intervals.

    Args:
        split: only pairs of this split; empty for all.
        query: only pairs of the query with this text; empty for all.
        first_day: only pairs whose first grade was given on this day (`2026-03-14`) or later; empty for all.
        last_day: only pairs whose first grade was given on this day or earlier; empty for all.
        intervals: whether to compute the intervals, which takes nine tenths of the time.

    Raises:
        ProjectError: there is no such split or query.
    """
    from backend.campaign.monitoring.quality.agreement_board import agreement_board
    from backend.scoring.statistics.bootstrap import RESAMPLES

    part = BoardPart(split, query, first_day, last_day)
    return agreement_board(project, by, part, resamples=RESAMPLES if intervals else 0)


def flags(project: "Project", by: Caller) -> list[PersonFlags]:
    """Return all quality flags of each annotator, raised or not, sorted by the annotator's name.

    A quality flag is a check of one annotator's work, such as `too_fast`. A raised flag is a warning for leads.
    """
    from backend.campaign.monitoring.quality import flags as quality

    return quality.flags(project, by)


def dismiss_flags(project: "Project", by: Caller, name: str, kinds: list[FlagKind], *, reason: str = "") -> None:
    """Dismiss raised quality flags (warnings about an annotator's work). Later work can raise them again.

    Args:
        name: the annotator's name.
        kinds: the kinds of the flags, such as `too_fast`.
        reason: why nothing has to be done; may be empty.

    Raises:
        Overtaken: one of the flags is not raised any more, or somebody dismissed it.
        ProjectError: there is no such person.
    """
    from backend.campaign.monitoring.quality import flags as quality
    from backend.campaign.setup.people.accounts import person_named

    lead = person_of(by)
    person = person_named(project, lead, name)
    quality.dismiss_flags(
        project, lead, person.annotator_id, [FlagKind(kind) for kind in kinds], reason, now=time.time()
    )


def my_work(project: "Project", by: Caller) -> MyWork:
    """Return the caller's own statistics as an annotator: graded pairs by day, active time, and agreement.

    The agreement compares their grades with the final relevance of the pairs.
    """
    from backend.campaign.monitoring.quality import flags as quality

    return quality.my_work(project, person_of(by), now=time.time())
