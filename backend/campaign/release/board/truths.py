"""Read the ground truths that a project provides by itself: its own splits, and the truths of its releases.

*Reads* pairs with a final grade; releases and their files. *Writes* nothing.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.export.freezing import release_preview
from backend.campaign.release.export.kept_releases import list_releases, release_file
from backend.campaign.release.export.model import QueryCounts
from backend.campaign.release.export.opening import open_release
from backend.campaign.review.rows import reviews
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.scoring.files.entries import parse_truth_mapping
from backend.scoring.files.formats import truth_file
from backend.scoring.matching.columns import Truth
from backend.store.connection import reading

OWN_TRUTHS = {"settled val": Split.VAL, "settled test": Split.TEST}
"""Names of the project's own truths, which consist of its settled pairs at the time of reading."""


@dataclass(frozen=True, slots=True)
class ReleasedTruth:
    """The ground truth of one split of a release.

    `file` is its name within the release, such as `val.json`; `sha256` is the hash of the release's manifest.
    """

    release: str
    file: str
    sha256: str


@in_charge
def truth_of_project(project: Project, by: Lead | Operator, split: str) -> Truth:
    """Return the ground truth of the split `val` or `test`, as a release made now would contain it.

    Queries that have pairs without a final grade are left out, because a run that finds such a pair would be scored as
    wrong.

    Raises:
        ProjectError: `split` is neither val nor test, or the truth would have no query.
    """
    if split not in (Split.VAL, Split.TEST):
        raise ProjectError(said("{split!r} is not val or test: only these are judged", split=split))
    split = Split(split)
    moments_by_query: dict[int, list[dict[str, object]]] = {}
    with reading(project.store) as db:
        finished = {query.query_id for query in own_queries(project, by)[0] if query.split is split}
        for query, video, start_s, end_s, relevance in reviews.settled_moments(db, split) if finished else ():
            moment = {"video": video, "start": start_s, "end": end_s, "relevance": relevance}
            if query in finished:
                moments_by_query.setdefault(query, []).append(moment)
    if not moments_by_query:
        raise ProjectError(
            said(
                "there is nothing to score against yet: no {split} query is finished and has a settled pair",
                split=split.value,
            )
        )
    return parse_truth_mapping(moments_by_query, f"{split.value} of {project.name}")


def own_queries(project: Project, by: Lead | Operator) -> tuple[list[QueryCounts], list[QueryCounts]]:
    """Return two lists: the queries in the project's own truths, and those that will be added once they are finished.

    A query in the second list has pairs with a final grade, but some of its other pairs still wait for grades.
    """
    preview = release_preview(project, by)
    return list(preview.queries), [query for query in preview.unfinished if query.settled]


def released_truths(project: Project, by: Lead | Operator) -> dict[str, ReleasedTruth]:
    """Return the ground truths of releases whose zip still exists, the newest release first.

    The keys are the names under which users choose them, such as `release release-1, val`.
    """
    return {
        f"release {release.name}, {split}": ReleasedTruth(release.name, f"{split}.json", release.sha256)
        for release in list_releases(project, by)
        if release.megabytes is not None
        for split, queries in (("val", release.val_queries), ("test", release.test_queries))
        if queries
    }


def load_released(project: Project, by: Lead | Operator, name: str, truth: ReleasedTruth) -> Truth:
    """Return the ground truth of a release. Error messages use `name` in place of a file name.

    Raises:
        ProjectError: the release no longer exists.
        InputError: its zip is damaged.
    """
    return truth_file(_bytes(project, by, truth), name)


def released_texts(project: Project, by: Lead | Operator, truth: ReleasedTruth) -> dict[str, str]:
    """Return the query texts of a release's split, by query id."""
    queries: list[dict[str, Any]] = msgspec.json.decode(_bytes(project, by, truth))
    return {str(query["query_id"]): query["query"] for query in queries}


def _bytes(project: Project, by: Lead | Operator, truth: ReleasedTruth) -> bytes:
    with open_release(release_file(project, by, truth.release)) as files:
        return files.read(truth.file)
