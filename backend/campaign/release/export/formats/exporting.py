"""Export the state of a project in another form than TVR-Ranking's.

*Reads* everything that a release holds. *Writes* one folder (complete or not at all), and nothing in the project: what
is kept, named and compared is the release in the form of TVR-Ranking; these are other spellings of the same state.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export.contents import read
from backend.campaign.release.export.formats import cards, qvhighlights, trec
from backend.campaign.release.export.formats.model import FormReport, MadeTable, ReleaseForm
from backend.campaign.release.export.freezing import require_ready
from backend.campaign.release.export.model import Contents, ReleaseOptions
from backend.campaign.release.export.rules.documents import manifest, to_count
from backend.campaign.release.export.statistics.rules import statistics
from backend.campaign.selection.candidates import pseudo_train
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import new_folder
from backend.core.errors import ProjectError
from backend.core.messages import as_text
from backend.core.progress import Progress
from backend.core.release_entries import training_file
from backend.encoders.sentence import Encoder


@in_charge
def export_form(
    project: Project,
    by: Lead | Operator,
    out: Path,
    form: str,
    options: ReleaseOptions | None = None,
    *,
    threshold: int | None = None,
    progress: Progress | None = None,
) -> FormReport:
    """Write the queries, moments and relevances of a release in one of the other forms.

    Args:
        project: the project.
        by: who asks for it.
        out: folder to make; it must not exist, or be empty.
        form: `trec`, `parquet` or `qvhighlights`.
        options: what goes into it.
        threshold: of QVHighlights: from which relevance on a moment is a window; the best two grades where not said.
        progress: called with (what is done, done, all).

    Raises:
        ProjectError: see `freezing.require_ready`; or the threshold is no relevance above 0.
        EncoderUnavailable: the encoder of the candidate lists, which Parquet needs, cannot be found.
    """
    form, options = ReleaseForm(form), options or ReleaseOptions()
    require_ready(project, by, options, out)  # before the encoder is loaded
    encoder = pseudo_train.training_encoder(project) if form is ReleaseForm.PARQUET else None
    level = _level(project, form, threshold)
    with new_folder(out) as part:
        sizes = _training(project, encoder, part, options, progress) if form is ReleaseForm.PARQUET else {}
        contents = read(project, options)
        made: list[MadeTable] = []
        if form is ReleaseForm.TREC:
            _save(part, trec.files(contents))
            said = trec.SAID
        elif form is ReleaseForm.QVHIGHLIGHTS:
            _save(part, qvhighlights.files(contents, level))
            said = qvhighlights.said(contents, level)
        else:
            from backend.campaign.release.export.formats import parquet  # Arrow, which the other forms do not need

            with _gone_afterwards(part / _TRAINING):
                made = parquet.write(contents, sizes, part)
            said = cards.TABLES
        _save(part, {"README.md": cards.card(contents, form.value, said, made).encode()})
        frozen = _manifest(contents, form, level, part)
        _save(part, {"manifest.json": frozen})
        files = tuple(sorted(file.relative_to(part).as_posix() for file in part.rglob("*") if file.is_file()))
    graded = (moment for found in contents.truth.values() for query in found for moment in query["relevant_moment"])
    is_windows = form is ReleaseForm.QVHIGHLIGHTS
    return FormReport(
        place=out,
        sha256=hashlib.sha256(frozen).hexdigest(),
        files=files,
        selection=contents.selection,
        simulated=contents.counts["simulated"],
        threshold=level if is_windows else None,
        windows=sum(moment["relevance"] >= level for moment in graded) if is_windows else None,
    )


_TRAINING = "training"
"""Where the training sets lie as JSON until they are tables."""


def _level(project: Project, form: ReleaseForm, threshold: int | None) -> int:
    scale = project.campaign.scale
    if threshold is None:
        return qvhighlights.usual_threshold(scale)
    if form is not ReleaseForm.QVHIGHLIGHTS:
        raise ProjectError(f"a threshold is for qvhighlights: {form.value} has every relevance")
    if threshold not in range(1, scale.highest + 1):
        raise ProjectError(f"{threshold} is not a relevance above 0: choose 1 to {scale.highest}")
    return threshold


def _training(
    project: Project, encoder: Encoder | None, part: Path, options: ReleaseOptions, progress: Progress | None
) -> dict[int, Path]:
    """The training sets as JSON, by size."""
    folder = part / _TRAINING
    folder.mkdir()
    tops = pseudo_train.TOPS
    pseudo_train.write(project, encoder, folder, tops, with_published=options.with_published, progress=progress)
    return {top: folder / training_file(top) for top in tops}


@contextmanager
def _gone_afterwards(folder: Path) -> Iterator[None]:
    yield
    shutil.rmtree(folder)


def _save(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).write_bytes(data)


def _manifest(contents: Contents, form: ReleaseForm, level: int, part: Path) -> bytes:
    """What the manifest of a release says, with the form and the files of this folder."""
    hashes = {}
    for file in sorted(path for path in part.rglob("*") if path.is_file()):
        with file.open("rb") as stream:
            hashes[file.relative_to(part).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    said = manifest(contents, statistics(to_count(contents)), hashes)
    said["format"] = form.value
    if form is ReleaseForm.QVHIGHLIGHTS:
        said["threshold"] = level
    return msgspec.json.format(msgspec.json.encode(said, enc_hook=as_text), indent=1) + b"\n"
