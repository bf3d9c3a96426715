"""Truths that never change: the validation and test queries of the releases that the project keeps.

*Reads* release, its files. *Writes* nothing.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from backend.campaign.release.export import keeping
from backend.campaign.release.export.opening import opened
from backend.campaign.setup.project.folder import Project
from backend.scoring.files.formats import truth_file
from backend.scoring.matching.columns import Truth


@dataclass(frozen=True, slots=True)
class FrozenTruth:
    """One split of a release; `sha256` is that of the release."""

    release: str
    file: str
    sha256: str


def frozen_truths(project: Project) -> dict[str, FrozenTruth]:
    """Those that can be scored against, by the names that they are chosen by; the newest release first."""
    return {
        f"release {one.name}, {split}": FrozenTruth(one.name, f"{split}.json", one.sha256)
        for one in keeping.listed(project)
        if one.megabytes is not None
        for split, queries in (("val", one.val_queries), ("test", one.test_queries))
        if queries
    }


def load(project: Project, name: str, truth: FrozenTruth) -> Truth:
    """The truth, under the name that it is chosen by.

    Raises:
        ProjectError: the release is gone.
        InputError: its zip is damaged.
    """
    return truth_file(_bytes(project, truth), name)


def texts(project: Project, truth: FrozenTruth) -> dict[str, str]:
    """The texts of its queries, by id."""
    found: list[dict[str, Any]] = msgspec.json.decode(_bytes(project, truth))
    return {str(query["query_id"]): query["query"] for query in found}


def _bytes(project: Project, truth: FrozenTruth) -> bytes:
    with opened(keeping.file_of(project, truth.release)) as files:
        return files.read(truth.file)
