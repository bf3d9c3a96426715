"""Read the ground truths that the project has without keeping a file: its own splits, and those of its releases.

*Reads* settled pairs; release, its files. *Writes* nothing.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.export.freezing import release_preview
from backend.campaign.release.export.kept_releases import list_releases, release_file
from backend.campaign.release.export.model import QueryCounts
from backend.campaign.release.export.opening import opened
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
"""Names of the project's own truths: what its settled pairs say at this moment."""


@dataclass(frozen=True, slots=True)
class ReleasedTruth:
    """One split of a release; `sha256` is that of the release."""

    release: str
    file: str
    sha256: str


@in_charge
def truth_of_project(project: Project, by: Lead | Operator, split: str) -> Truth:
    """Return the finished `val` or `test` queries as they stand now: what a release would write, without a file.

    A query with pairs that still wait would count against every run that finds one of those.

    Raises:
        ProjectError: the split is another one; no query of it is finished, or no pair of those is settled.
    """
    if split not in (Split.VAL, Split.TEST):
        raise ProjectError(said("{split!r} is not val or test: only these are judged", split=split))
    split = Split(split)
    found: dict[int, list[dict[str, object]]] = {}
    with reading(project.store) as db:
        finished = {query.query_id for query in own_queries(project, by)[0] if query.split is split}
        for query, video, start_s, end_s, relevance in reviews.settled_moments(db, split) if finished else ():
            moment = {"video": video, "start": start_s, "end": end_s, "relevance": relevance}
            if query in finished:
                found.setdefault(query, []).append(moment)
    if not found:
        raise ProjectError(
            said(
                "there is nothing to score against yet: no {split} query is finished and has a settled pair",
                split=split.value,
            )
        )
    return parse_truth_mapping(found, f"{split.value} of {project.name}")


def own_queries(project: Project, by: Lead | Operator) -> tuple[list[QueryCounts], list[QueryCounts]]:
    """Return the queries of the project's own truths, and those that join once none of their pairs waits.

    The second ones have settled pairs already.
    """
    found = release_preview(project, by)
    return list(found.queries), [query for query in found.unfinished if query.settled]


def released_truths(project: Project, by: Lead | Operator) -> dict[str, ReleasedTruth]:
    """Return the truths of releases that are still there, by the names to choose them by; the newest first."""
    return {
        f"release {one.name}, {split}": ReleasedTruth(one.name, f"{split}.json", one.sha256)
        for one in list_releases(project, by)
        if one.megabytes is not None
        for split, queries in (("val", one.val_queries), ("test", one.test_queries))
        if queries
    }


def load_released(project: Project, by: Lead | Operator, name: str, truth: ReleasedTruth) -> Truth:
    """Return the truth of a release, under the name that it is chosen by.

    Raises:
        ProjectError: the release is gone.
        InputError: its zip is damaged.
    """
    return truth_file(_bytes(project, by, truth), name)


def released_texts(project: Project, by: Lead | Operator, truth: ReleasedTruth) -> dict[str, str]:
    """Return the texts of a release's queries by id."""
    found: list[dict[str, Any]] = msgspec.json.decode(_bytes(project, by, truth))
    return {str(query["query_id"]): query["query"] for query in found}


def _bytes(project: Project, by: Lead | Operator, truth: ReleasedTruth) -> bytes:
    with opened(release_file(project, by, truth.release)) as files:
        return files.read(truth.file)
