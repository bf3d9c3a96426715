"""Read the release that a project is to be made of.

*Reads* a folder or zip. *Writes* nothing.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from backend.campaign.nouns import Rounding, Split
from backend.campaign.release.earlier.model import EarlierCampaign
from backend.campaign.release.earlier.rows import ENCODER
from backend.campaign.release.earlier.rules.campaign_files import read_campaign
from backend.campaign.release.export import validating
from backend.campaign.release.export.opening import ReleaseFiles
from backend.campaign.release.export.validating import MANIFEST, PAIRS, RAW, VIDEOS
from backend.campaign.selection.candidates.model import CandidateSource
from backend.core import release_entries
from backend.core.errors import InputError
from backend.core.release_entries import GradedMoment, Moment, Queries


class _Grade(msgspec.Struct):
    grade: int
    label: str


class SourceManifest(msgspec.Struct):
    """What is read of a manifest; published releases have none."""

    name: str = ""
    encoder: str | None = None
    licence: str | None = None
    citation: str | None = None
    captions: str = "published"
    scale: list[_Grade] = []
    tolerance: int = 1
    rounding: Rounding = Rounding.HALF_UP
    batch_size: int | None = None
    sources: list[CandidateSource] = []
    """What candidates come from, where runs were pooled."""
    unfinished_queries: list[int] | None = None
    """Queries of the truth that were not finished; None in releases that do not say it."""


@dataclass(frozen=True, slots=True)
class SourceRelease:
    """The files of a release, read: what a project is made of."""

    name: str
    manifest: SourceManifest
    truth: dict[Split, Queries[GradedMoment]]
    training: Queries[Moment] | None
    raw: bytes
    pairs: bytes
    campaign: EarlierCampaign
    durations: dict[str, float]

    @property
    def encoder(self) -> str:
        """Under whose name the lists are kept."""
        return self.manifest.encoder or ENCODER


def read_source(files: ReleaseFiles, path: Path) -> SourceRelease:
    """Return everything that is taken of a release without problems.

    Raises:
        InputError: it lacks its pairs or their grades.
    """
    lacking = [name for name in (RAW, PAIRS) if name not in files.places]
    if lacking:
        raise InputError.single(path, f"has no {' and no '.join(lacking)}: a project needs its pairs and their grades")
    manifest = SourceManifest()
    if MANIFEST in files.places:
        manifest = msgspec.json.decode(files.read(MANIFEST), type=SourceManifest)
    truth = {
        split: release_entries.read_queries(files.read(name), name, GradedMoment)
        for split in (Split.VAL, Split.TEST)
        if (name := f"{split.value}.json") in files.places
    }
    sets = validating.training_sets(files)
    training = release_entries.read_queries(files.read(sets[max(sets)]), sets[max(sets)], Moment) if sets else None
    raw, pairs = files.read(RAW), files.read(PAIRS)
    highest = validating.grades_of(len(manifest.scale))[-1]
    durations = release_entries.read_videos(files.read(VIDEOS), VIDEOS)[0] if VIDEOS in files.places else {}
    campaign = read_campaign(raw, RAW, pairs, PAIRS, highest=highest, may_be_ungraded=True)
    return SourceRelease(files.name, manifest, truth, training, raw, pairs, campaign, durations)
