"""Pools of massive-video retrieval from a corpus, and the thresholds they are built with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.nouns import Operator, Person
from backend.campaign.selection.pools import building, calibrating, from_file, from_project, looking
from backend.campaign.selection.pools.building import BuildReport
from backend.campaign.selection.pools.labelled import read_labelled
from backend.campaign.selection.pools.looking import Looking
from backend.campaign.selection.pools.model import Captioned, Looks, PoolOptions
from backend.campaign.selection.pools.stored import StoredThresholds, read_thresholds
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.arriving import require_new_folder
from backend.core.errors import InputError, ProjectError
from backend.core.progress import Progress
from backend.core.where import HERE, Where, placed
from backend.encoders import cache, sentence
from backend.encoders.clip import CLIP_NAME, load_clip
from backend.encoders.sentence import Encoder
from backend.media.sources import Source


def build_pools(
    project: Project,
    by: Person | Operator,
    out: Path,
    options: PoolOptions,
    *,
    thresholds: Path | None = None,
    looks: Looks | None = None,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a pool for every caption of a project into a new folder, with the project's encoder.

    Args:
        project: the project.
        by: who does.
        out: the folder to make.
        options: sizes, thresholds, seed.
        thresholds: a file of `calibrate_thresholds`, which goes over those of the options.
        looks: how to look at the videos; None for text alone.
        where: where sentences and frames are encoded.
        now: seconds since 1970, written into the manifest.
        progress: called with (what is done, done, all).

    Raises:
        ProjectError: the options mean nothing, the folder is not new, or there are not enough videos.
        InputError: the file of thresholds is none, or a video cannot be shown.
        EncoderUnavailable: the encoder or the CLIP model cannot be found or built.
    """
    permissions.require_in_charge(project.store, by)
    settings = project.settings
    spec = sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype)
    corpus = from_project.read(project)
    files = from_project.video_files(project, sorted(corpus.moments)) if looks else {}
    ready = _ready(corpus, out, options, thresholds, spec, where)
    return building.build(
        corpus,
        ready.encoder,
        out,
        ready.options,
        embeddings=project.embeddings,
        visual=_look(corpus, files, looks, where, project.embeddings, progress),
        thresholds_from=ready.thresholds_from,
        now=now,
        progress=progress,
    )


def build_pools_from_file(
    file: Path,
    out: Path,
    options: PoolOptions,
    *,
    thresholds: Path | None = None,
    looks: Looks | None = None,
    videos: Path | None = None,
    encoder: str | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a pool for every sentence of an annotation file; no project needed.

    Args:
        file: the annotation file, or a file of pools, which is one too.
        out: see `build_pools`, as for what is not said here.
        options: see there.
        thresholds: see there.
        looks: see there.
        videos: the folder of the videos, which looking needs.
        encoder: as for a project; SimCSE from the model hub unless another is named.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder unless another is named.
        format: of the file; like `types` and `columns` as in `import_corpus`.
        types: see there.
        columns: see there.
        where: see there.
        now: see there.
        progress: see there.

    Raises:
        InputError: the file has problems, or one of its videos no duration.
    """
    corpus = from_file.read(file, format, ImportOptions(types, columns or {}))
    if looks and videos is None:
        raise InputError.single(file, "does not say where its videos lie: name their folder with --videos")
    files = looking.files_in(videos, corpus) if looks and videos else {}
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    ready = _ready(corpus, out, options, thresholds, spec, where)
    kept = embeddings or cache.shared_folder()
    return building.build(
        corpus,
        ready.encoder,
        out,
        ready.options,
        embeddings=kept,
        visual=_look(corpus, files, looks, where, kept, progress),
        thresholds_from=ready.thresholds_from,
        now=now,
        progress=progress,
    )


def calibrate_thresholds(
    labelled: Path,
    out: Path,
    *,
    encoder: str | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    where: Where = HERE,
    progress: Progress | None = None,
) -> StoredThresholds:
    """Find thresholds of an encoder from labelled pairs, and write them with a figure into a new folder.

    Args:
        labelled: an STS file, or a file of pools.
        out: the folder to make.
        encoder: as for a project; SimCSE from the model hub unless another is named.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder unless another is named.
        where: where sentences are encoded.
        progress: called with (what is done, done, all).

    Raises:
        InputError: the file has problems, or lacks pairs of one kind.
        ProjectError: the folder is not new.
        EncoderUnavailable: the encoder cannot be found or built.
    """
    require_new_folder(out)
    pairs = read_labelled(labelled)
    found = placed(sentence.load(sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)), where)
    return calibrating.find(
        pairs, labelled.name, found, out, embeddings=embeddings or cache.shared_folder(), progress=progress
    )


@dataclass(frozen=True, slots=True)
class _Ready:
    encoder: Encoder
    options: PoolOptions
    thresholds_from: str


def _look(
    corpus: Captioned,
    files: Mapping[str, Source],
    looks: Looks | None,
    where: Where,
    embeddings: Path,
    progress: Progress | None,
) -> Looking | None:
    if looks is None:
        return None
    clip = placed(load_clip(looks.clip or CLIP_NAME), where)
    return looking.look(corpus, files, clip, embeddings, per_s=looks.frames_per_s, progress=progress)


def _ready(
    corpus: Captioned,
    out: Path,
    options: PoolOptions,
    thresholds: Path | None,
    spec: sentence.EncoderSpec,
    where: Where,
) -> _Ready:
    """Everything that can be refused at once, the encoder last: its files may have to be downloaded."""
    require_new_folder(out)
    stored = read_thresholds(thresholds) if thresholds else None
    if stored:
        options = replace(options, t_pos=stored.t_pos, t_neg=stored.t_neg)
    building.require_sensible(options, corpus)
    encoder = placed(sentence.load(spec), where)
    if stored and stored.encoder != encoder.identity:
        raise ProjectError(
            f"{thresholds} has thresholds of {stored.encoder}, but the encoder here is {encoder.identity}: "
            "run `reelrank mvmr calibrate` with this one"
        )
    return _Ready(encoder, options, f"{stored.labels}: {stored.rule}" if stored else "given")
