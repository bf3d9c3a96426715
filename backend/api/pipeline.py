"""The pipeline, from an empty folder to a release, as far as it needs an encoder."""

from collections.abc import Sequence
from pathlib import Path

from backend.campaign.corpus.captions import deciding
from backend.campaign.corpus.captions import rewriting as captions
from backend.campaign.corpus.captions.by_model import ByModel
from backend.campaign.corpus.captions.rewriting import RewriteReport
from backend.campaign.corpus.captions.rows import rewrites as caption_rows
from backend.campaign.nouns import Operator, Person
from backend.campaign.release.export import freezing
from backend.campaign.selection.candidates import choosing as candidates
from backend.campaign.selection.candidates import pooling, pseudo_train
from backend.campaign.selection.candidates.choosing import CandidateReport
from backend.campaign.selection.candidates.model import PoolingReport
from backend.campaign.selection.candidates.record import require_no_lists
from backend.campaign.selection.candidates.submitted import PoolingOptions
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import scale_file, settings_file
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress
from backend.core.reading import bytes_of
from backend.core.where import HERE, Where, placed
from backend.encoders import sentence
from backend.encoders.clip import FOR_CANDIDATES, load_clip
from backend.encoders.sentence import DEFAULT_NAME, Encoder
from backend.language import endpoint as language
from backend.language.endpoint import Endpoint
from backend.language.names import FlairTagger
from backend.scoring.run_files import RunFile


def init_project(
    folder: Path, *, encoder: str | None = None, kind: str | None = None, scale: str | None = None
) -> Project:
    """A new, empty project; the encoder is SimCSE from the model hub unless another is named.

    Annotators give TVR-Ranking's five grades unless `scale` names another scale (`matches`), or a file of one.
    """
    spec = sentence.resolve(encoder or DEFAULT_NAME, kind)
    grading = scale_file.named(scale) if scale else None
    return projects.create(folder, encoder=spec.name, encoder_kind=spec.kind, grading=grading)


def choose_encoder(
    project: Project,
    by: Person | Operator,
    name: str | None = None,
    kind: str | None = None,
    *,
    dtype: str | None = None,
) -> Project:
    """Write another encoder into the project's settings, after finding its files; what is None stays as it is.

    Raises:
        ProjectError: there are candidate lists already; their encoder stays.
        EncoderUnavailable: the encoder cannot be found.
    """
    permissions.require_in_charge(project.store, by)
    require_no_lists(project)
    settings = project.settings
    if name is None:
        name, kind = settings.encoder, kind or settings.encoder_kind
    spec = sentence.resolve(name, kind, dtype or settings.encoder_dtype)
    sentence.load(spec)
    return projects.set_encoder(project, spec.name, spec.kind, spec.dtype)


def encoder_name(project: Project, by: Person | Operator) -> str:
    """The project's encoder as its settings say at this moment."""
    permissions.require_in_charge(project.store, by)
    return settings_file.read_settings(project.folder).encoder


def rewrite_captions(
    project: Project,
    by: Person | Operator,
    *,
    endpoint: Endpoint | None = None,
    now: float,
    progress: Progress | None = None,
) -> RewriteReport:
    """Turn captions into imprecise ones: by a language model, or without one by the rules and the cast list.

    Raises:
        EndpointUnavailable: the model cannot be asked (any longer); what it answered before is kept, and asked no more.
        TaggerUnavailable: the project names a tagger that cannot be loaded.
    """
    by = permissions.require_in_charge(project.store, by)
    if endpoint:
        language.require(endpoint)  # before the encoder is loaded
    settings = project.settings.rewrite
    return captions.rewrite_captions(
        project,
        by,
        _encoder(project),
        rewriter=ByModel(project.store, endpoint, now=now) if endpoint else None,
        tagger=FlairTagger(settings.ner, settings.ner_python) if settings.ner else None,
        now=now,
        progress=progress,
    )


def waiting_rewrites(project: Project) -> list[tuple[str, str, str]]:
    """(caption, rewrite, reason) of every rewrite that waits for a person."""
    return caption_rows.waiting_rewrites(project.store.db)


def accept_rewrites(project: Project, file: Path, *, now: float) -> int:
    """Take a person's decisions on waiting rewrites from a CSV file; how many were decided."""
    return deciding.accept_by_hand(project, bytes_of(file), file.name, now=now)


def choose_candidates(
    project: Project,
    by: Person | Operator,
    *,
    batch_size: int | None = None,
    probe: int = 0,
    seed: int = 0,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> CandidateReport:
    """Embed, search, store the candidate lists, open batch 1 of every query; `batch_size` is 1 to 40.

    Of `probe` queries, drawn by `seed`, pairs further down are judged too, to see how deep judging has to go. For
    candidates that runs found see `pool_candidates`.
    """
    by = permissions.require_in_charge(project.store, by)
    require_no_lists(project)
    candidates.to_search(project, batch_size)  # before the encoder is loaded
    return candidates.choose(
        project, by, _encoder(project, where), batch_size=batch_size, probe=probe, seed=seed, now=now, progress=progress
    )


def pool_candidates(
    project: Project,
    by: Person | Operator,
    runs: Sequence[str | Path | RunFile],
    options: PoolingOptions | None = None,
    *,
    captions: bool = True,
    visual: str | None = None,
    again: bool = False,
    batch_size: int | None = None,
    dry_run: bool = False,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> PoolingReport:
    """Make candidates of what runs found, beside what captions find (`captions`), and open batch 1 of every query.

    `visual` names a CLIP model, or its folder, that looks at the frames of moments beside them; then there may be no
    runs. Once there are lists, `again` adds to them what further runs found, and hands that out; captions and the size
    of a batch then stay as they are. `dry_run` tells what would be, and writes nothing.
    """
    by = permissions.require_in_charge(project.store, by)
    options = options or PoolingOptions()
    if again:
        return pooling.pool_again(project, by, runs, options, dry_run=dry_run, now=now, progress=progress)
    require_no_lists(project)
    return pooling.pool_first(
        project,
        by,
        runs,
        options,
        _encoder(project, where) if captions else None,
        clip=placed(load_clip(visual, FOR_CANDIDATES), where) if visual else None,
        batch_size=batch_size,
        dry_run=dry_run,
        now=now,
        progress=progress,
    )


def write_pseudo_train(
    project: Project,
    out: Path,
    *,
    tops: Sequence[int] = pseudo_train.TOPS,
    where: Where = HERE,
    progress: Progress | None = None,
) -> list[Path]:
    """Write `train_topNN.json` files into a folder; the files written."""
    freezing.require_new_sets(out, tops)  # before the encoder is loaded
    return freezing.write_training_sets(project, encoder_needed(project, where), out, tops, progress=progress)


def encoder_needed(project: Project, where: Where = HERE) -> Encoder | None:
    """The encoder of the training sets; None where they came with a release."""
    return _encoder(project, where) if pseudo_train.needs_encoder(project) else None


def _encoder(project: Project, where: Where = HERE) -> Encoder:
    settings = project.settings
    spec = sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype)
    return placed(sentence.load(spec), where)
