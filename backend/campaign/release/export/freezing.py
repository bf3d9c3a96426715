"""Make a release: graded truth, pseudo training sets, raw annotations and a manifest with hashes.

A pseudo training set has ungraded queries with their most similar moments.

*Reads* everything in one snapshot; every format of a release is written from the result of `read`. *Writes* one folder
(complete or not at all), a release row and an event.

Names of people never leave the project: the raw annotations have ids instead.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import msgspec

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.captions.rules.comparing import summary
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import judgements, pair_status
from backend.campaign.monitoring.model_judge import rows as model_grades
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.export import kept_releases as keeping
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.card import card, figures
from backend.campaign.release.export.croissant import CROISSANT, croissant
from backend.campaign.release.export.front_matter import front_matter
from backend.campaign.release.export.kept_releases import FOLDER, file_sha256
from backend.campaign.release.export.model import MODEL_GRADES, RAW_COLUMNS, Contents, ReleaseOptions, ReleaseSelection
from backend.campaign.release.export.names import proper_name, proper_notes
from backend.campaign.release.export.rules import documents
from backend.campaign.release.export.rules.documents import (
    manifest,
    model_grades_document,
    select,
    statistics_documents,
)
from backend.campaign.release.export.rules.statistics import statistics
from backend.campaign.release.export.tables import json_lines, release_tables
from backend.campaign.release.statistics.from_files import training_figures
from backend.campaign.review import status
from backend.campaign.review.rows import reviews
from backend.campaign.selection.candidates import pseudo_train
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.model import SourceKind
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import commands_only, in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import CACHE_FOLDER, Project
from backend.campaign.setup.project.places import DATABASE_FILE
from backend.core.atomic_output import (
    has_file,
    new_files,
    new_folder,
    refuse_if_same,
    require_new_file,
    require_new_folder,
)
from backend.core.errors import ProjectError
from backend.core.file_system import make_private_folder
from backend.core.messages import as_text, said
from backend.core.progress import Progress
from backend.core.release_entries import training_file
from backend.core.text_files import csv_text
from backend.core.where import HERE, Where
from backend.encoders.sentence import Encoder
from backend.store.connection import reading

MANIFEST = "manifest.json"


def read(project: Project, options: ReleaseOptions) -> Contents:
    """Return the content of a release, read from the database in one snapshot, without its training sets.

    `pseudo_train.write` writes the training sets.
    """
    with reading(project.store) as db:
        selection = select(releases.query_counts(db), options)
        all_pairs = reviews.all_pairs(db)
        decided, re_opened = pair_status.all_adjudicated(db), pair_status.all_re_opened(db)
        raw: list[tuple[object, ...]] = [
            (*row, decided.get(row[0], ""), "1" if row[0] in re_opened else "")
            for row in judgements.released_grades(db)
        ]
        splits = {query.query_id: query.split for query in queries.query_rows(db, (Split.VAL, Split.TEST))}
        moments = pseudo_train.moment_documents(project, with_published=options.with_published)
        rewritten = rows.released_captions(db) is not None
        changes = summary(rows.accepted_texts(db), rows.accepted_versions(db)) if rewritten else None
        durations = corpus.video_durations(db)
        counts = status.counts(project.store, probes=False)
        campaign = project_rows.campaign(db)
        guideline = releases.grades_by_guideline(db)
        changed_at = releases.last_change(db)
        terms = project_rows.terms(db)
        sources = tuple(candidates_rows.all_sources(db))
        by_models = model_grades.grades(db) if options.with_model_grades else []
        pooled = any(source.kind is not SourceKind.CAPTIONS for source in sources)
    spans = documents.by_span(moments)
    return Contents(
        name=project.name,
        grading=campaign.grading,
        batch_size=campaign.batch_size,
        truth=documents.truth(selection, all_pairs, spans, options),
        videos=documents.videos(durations),
        raw=raw,
        pair_columns=documents.pair_columns(options.with_published, pooled),
        pairs=documents.pair_rows(all_pairs, splits, selection, spans, options, pooled=pooled),
        counts=counts,
        guideline=guideline,
        rewriting=changes,
        published_captions=options.with_published or not rewritten,
        without_caption=sum(not moment["caption"] for moment in moments.values()),
        undescribed=sum(moment["caption"] is None for moment in moments.values()),
        changed_at=changed_at,
        options=options,
        selection=selection,
        terms=terms,
        sources=sources,
        model_grades=tuple(by_models),
    )


@in_charge
def release_preview(project: Project, by: Lead | Operator, options: ReleaseOptions | None = None) -> ReleaseSelection:
    """Return which queries a release made now would include and leave out. This is fast enough for every page view."""
    with reading(project.store) as db:
        return select(releases.query_counts(db), options or ReleaseOptions())


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """A summary of a new release.

    `place` is its folder, or its zip if no folder was made. `again` says whether the project had the same release
    already. `kept` is the path of its zip among the project's kept releases; None if it was not kept. `unsettled`
    counts the pairs that have no final grade yet, `simulated` the grades that a demo made up.
    """

    place: Path
    name: str
    again: bool
    kept: Path | None
    sha256: str
    """SHA-256 of its manifest, which holds those of all other files."""
    files: tuple[str, ...]
    selection: ReleaseSelection
    unsettled: int
    simulated: int
    licence: str


@in_charge
def export_release(
    project: Project,
    by: Lead | Operator,
    out: Path | None,
    options: ReleaseOptions | None = None,
    *,
    name: str | None = None,
    notes: str = "",
    keep: bool = True,
    now: float,
    progress: Progress | None = None,
) -> ReleaseReport:
    """Make a release in the format of TVR-Ranking: as a folder, as a zip stored in the project, or both.

    Its captions are the imprecise captions (without names), if captions were rewritten. The same state of a project
    always gives the same release, byte for byte.

    Args:
        project: the project.
        by: the person who asks for it.
        out: folder to make; it must not exist, or be empty. With None, the release is only stored as a zip.
        options: what the release includes.
        name: name of the release; None takes the name of an earlier release with the same content, or
            the next `release-N`.
        notes: notes about the release, for the project's list.
        keep: whether the project stores it as a zip.
        now: seconds since 1970, recorded with the person.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        AlreadyDone: the folder has exactly this release already.
        ProjectError: no query can be released; the folder cannot be made; the name is invalid or taken; or three
            releases have the same content, and no notes explain another one.
        EncoderUnavailable: the encoder of the candidate lists, which the training sets need, cannot be found.
    """
    options = options or ReleaseOptions()
    name, notes = proper_name(name), proper_notes(notes)
    require_ready(project, by, options, out)  # before the encoder is loaded
    encoder = pseudo_train.training_encoder(project)
    with new_folder(out, unless_has=MANIFEST) if out else _staging(project) as part:
        contents, frozen = _fill(project, encoder, part, options, progress)
        sha256 = hashlib.sha256(frozen).hexdigest()
        if out and keeping.is_kept(project, name, sha256, needs_zip=keep):
            refuse_if_same(part, out)
        if out:
            require_new_folder(out)
        keeping.require_free(project, name, sha256, notes)
        files = tuple(sorted(file.name for file in part.iterdir()))
        if progress:
            progress(said("packing"), 0, 1)
        archive = keeping.keep(project, part, sha256) if keep or not out else None
        try:
            final_name, again = keeping.record(
                project, by, frozen.decode(), sha256, name=name, notes=notes, archive=archive, out=out, now=now
            )
        except BaseException:
            keeping.discard(project, archive)
            raise
    counts = contents.counts
    zipped = archive[0] if archive else None
    return ReleaseReport(
        place=out or zipped or project.folder,
        name=final_name,
        again=again,
        kept=zipped,
        sha256=sha256,
        files=files,
        selection=contents.selection,
        unsettled=sum(counts["pairs"][state] for state in ("open", "escalated", "set_aside")),
        simulated=counts["simulated"],
        licence=contents.terms.licence,
    )


def require_ready(project: Project, by: Lead | Operator, options: ReleaseOptions, out: Path | None = None) -> None:
    """Raise an error early if a release could not be made, before work that takes minutes.

    Raises:
        ProjectError: the release would have no query, or `out` cannot become a new folder.
    """
    if out is not None:
        place, home = out.resolve(), project.folder.resolve()
        first = place.relative_to(home).parts[:1] if place.is_relative_to(home) else ()
        if first and (first[0] == CACHE_FOLDER or first[0].startswith(DATABASE_FILE)):
            raise ProjectError(said("{out} is reserved for the project itself: name another folder", out=out))
        if not has_file(out, MANIFEST):  # a release may be the same, made by a command that was killed at its end
            require_new_folder(out)
    if not any(reviews.any_settled(project.store.db, split) for split in (Split.VAL, Split.TEST)):
        raise ProjectError(said("no pair is settled yet: a release needs at least one relevance"))
    selection = release_preview(project, by, options)
    if options.with_model_grades and not model_grades.grades(project.store.db):
        raise ProjectError(
            said("no model has graded a pair yet: leave out --with-model-grades, or ask one with `reelrank judge`")
        )
    if selection.queries:
        return
    if (
        not any(query.finished for query in selection.unfinished + selection.without_relevance)
        and not options.unfinished
    ):
        waiting = min(query.waiting for query in selection.unfinished if query.settled)
        raise ProjectError(
            said(
                "no query is finished yet: the nearest one still has {waiting} pairs waiting for grades. To "
                "include unfinished queries, say so (--unfinished)",
                waiting=waiting,
            )
        )
    raise ProjectError(
        said("the release would have no query: their pairs are discarded, or left out because a lead adjudicated them")
    )


@contextmanager
def _staging(project: Project) -> Iterator[Path]:
    """Yield a temporary folder for the files of a release that is only stored as a zip; delete it afterwards."""
    folder = project.folder / FOLDER
    make_private_folder(folder)
    with new_files(folder) as own:
        part = own / "part"
        part.mkdir()
        yield part
        rmtree(part)


def _fill(
    project: Project, encoder: Encoder | None, part: Path, options: ReleaseOptions, progress: Progress | None
) -> tuple[Contents, bytes]:
    """Write all files of a release into the folder `part`; return its content, and the bytes of its manifest."""
    # Training sets may take long, so they are written before the snapshot of the judgements.
    pseudo_train.write(
        project, encoder, part, pseudo_train.TOPS, with_published=options.with_published, progress=progress
    )
    contents = read(project, options)
    return contents, _write(contents, part)


def tables(contents: Contents) -> dict[str, bytes]:
    """Return the data files of a release by name, without training sets, dataset card and manifest."""
    return {
        **{f"{split.value}.json": json_of(documents) for split, documents in contents.truth.items()},
        "video_corpus.json": json_of(contents.videos),
        "raw_annotation.csv": csv_text(RAW_COLUMNS, contents.raw).encode(),
        "raw_annotation.jsonl": json_lines(RAW_COLUMNS, contents.raw),
        "raw_query_moment_pair.csv": csv_text(contents.pair_columns, contents.pairs).encode(),
        "raw_query_moment_pair.jsonl": json_lines(contents.pair_columns, contents.pairs),
        **({MODEL_GRADES: json_of(model_grades_document(contents))} if contents.options.with_model_grades else {}),
    }


def _write(contents: Contents, part: Path) -> bytes:
    """Write all files of a release except the training sets, which are in the folder `part` already.

    Returns the bytes of the manifest.
    """
    release_documents = statistics_documents(contents)
    counts = statistics(release_documents, training_figures(part))
    training = [file.name for file in sorted(part.iterdir()) if _has_entries(file)]
    described = release_tables(contents, training)
    text = front_matter(contents, described) + card(contents, counts)
    for name, data in {**tables(contents), "README.md": text.encode(), **figures(release_documents)}.items():
        (part / name).write_bytes(data)
    hashes = {file.name: file_sha256(file) for file in sorted(part.iterdir())}
    sizes = {name: (sha256, (part / name).stat().st_size) for name, sha256 in hashes.items()}
    description = json_of(croissant(contents, described, sizes))
    (part / CROISSANT).write_bytes(description)
    hashes[CROISSANT] = hashlib.sha256(description).hexdigest()
    data = json_of(manifest(contents, counts, dict(sorted(hashes.items()))))
    (part / MANIFEST).write_bytes(data)
    return data


def _has_entries(file: Path) -> bool:
    """Return whether a training set has a query."""
    with file.open("rb") as opened:
        return b"{" in opened.read(100)


@commands_only
def write_pseudo_train(
    project: Project,
    out: Path,
    *,
    tops: Sequence[int] = pseudo_train.TOPS,
    where: Where = HERE,
    progress: Progress | None = None,
) -> list[Path]:
    """Write only the pseudo training sets, one file `train_topNN.json` per size; for the command line.

    Such a set has the training queries, which nobody grades, each with its most similar moments.

    Args:
        project: the project.
        out: the folder.
        tops: the sizes: how many moments of each query a file holds.
        where: where sentences are encoded: in processes of this machine, or on a cluster.
        progress: called with (name of the step, steps done, all steps).

    Returns:
        The files written.

    Raises:
        AlreadyDone: the same files are there already.
        ProjectError: there are no training queries, or a file exists already.
        EncoderUnavailable: the encoder cannot be found.
    """
    files = [out / training_file(top) for top in tops]
    if not all(
        has_file(out, file.name) for file in files
    ):  # they may be the same, made by a command that was killed at its end
        for file in files:
            require_new_file(file)
    counts = queries.split_counts(project.store.db)
    if not any(counts.values()):
        raise ProjectError(
            said(
                "there are no queries yet: run `{command}` first",
                command=status.next_command(project.folder, project.store),
            )
        )
    if not counts[Split.TRAIN.value]:
        raise ProjectError(said("there are no training queries: every caption was drawn for validation or test"))
    encoder = pseudo_train.training_encoder(project, where)
    with new_files(out) as part:
        pseudo_train.write(project, encoder, part, tops, progress=progress)
        if files[0].exists():
            refuse_if_same(part, out)
            require_new_file(files[0])
    return files


def json_of(value: object) -> bytes:
    """Return a value as JSON, formatted like the files of a release."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=as_text), indent=1) + b"\n"
