"""Functions that background jobs run, each job in its own process.

Most return the outcome in words, as a lead's page shows it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from backend.campaign.corpus.captions.name_mapping import propose_cast
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.corpus.importing.model import RegisterReport
from backend.campaign.corpus.moments import proposing
from backend.campaign.corpus.moments.model import ByShots, ByWindows
from backend.campaign.monitoring.model_judge.model import Judge
from backend.campaign.monitoring.progress.progress import CUTTING_CLIPS, clips_outcome, cut_queued_clips
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.quality.model import AgreementBoard, BoardPart
from backend.campaign.monitoring.videos import adding, check
from backend.campaign.monitoring.videos.adding import VideoPicture
from backend.campaign.monitoring.videos.check import import_corpus, register_videos
from backend.campaign.nouns import Person
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.release.judge_report.measuring import judge_report
from backend.campaign.release.judge_report.model import JudgeReport
from backend.campaign.selection.candidates.choosing import choose_encoder, encoder_name
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import JobOutcome, OutcomeTable, OutcomeWithResult
from backend.core.messages import said, said_n
from backend.core.progress import Progress, steps_of
from backend.language.endpoint import Endpoint

_SHOWN = 50
"""Largest number of rows in an outcome's table."""


@dataclass(frozen=True, slots=True)
class HowToMeasure:
    """Options for measuring video files, that is, reading their duration, frame rate and size, and finding damage.

    `fps` is the frame rate of videos that are folders of frames. `decode` says whether to decode every frame, which
    finds all damage; with None, this is done only where it is quick.
    """

    fps: Fraction
    decode: bool | None


class VideosPreview(NamedTuple):
    """Number of new videos in a folder, number of videos already in the project, and pictures of the first videos."""

    new: int
    again: int
    pictures: list[VideoPicture]


def preview_videos(
    project: Project, lead: Person, folder: Path, how: HowToMeasure, *, progress: Progress
) -> OutcomeWithResult:
    """Report which videos of a folder would be added to the project and which not; nothing is written."""
    report, pictures = adding.preview_videos(
        project, lead, folder, fps=how.fps, decode=how.decode, now=time.time(), progress=progress
    )
    sentences = [
        said_n(
            "{n} new video, {minutes:,.1f} minutes in total.",
            "{n:,} new videos, {minutes:,.1f} minutes in total.",
            report.new,
            minutes=_minutes(report),
        ),
        *_already(report),
    ]
    tables = _of_videos(report, sentences, said("Refused"))
    sentences.append(said("Nothing is added yet."))
    return OutcomeWithResult(
        JobOutcome(sentences, tables), VideosPreview(report.new, len(report.videos) - report.new, pictures)
    )


def add_videos(project: Project, lead: Person, folder: Path, how: HowToMeasure, *, progress: Progress) -> JobOutcome:
    """Add the videos of a folder to the project."""
    report = register_videos(project, lead, folder, fps=how.fps, decode=how.decode, now=time.time(), progress=progress)
    sentences = [
        said_n(
            "{n} video added, {minutes:,.1f} minutes in total.",
            "{n:,} videos added, {minutes:,.1f} minutes in total.",
            report.new,
            minutes=_minutes(report),
        ),
        *_already(report),
    ]
    return JobOutcome(sentences, _of_videos(report, sentences, said("Not added")))


def _minutes(report: RegisterReport) -> float:
    return sum(video.facts.duration_s for video in report.videos if video.new) / 60


def _already(report: RegisterReport) -> list[str]:
    again = len(report.videos) - report.new
    already = said_n("{n} is in the project already.", "{n:,} are in the project already.", again)
    return [already] if again else []


def _of_videos(report: RegisterReport, sentences: list[str], refused: str) -> list[OutcomeTable]:
    """Return tables of refused files, damaged videos and new videos, after videos were read. Empty ones are left out.

    A sentence with the number of refused files is added to `sentences`. `refused` is the heading of the column with the
    names of these files.
    """
    tables = []
    if report.problems:
        wrong = [[problem.file, problem.message] for problem in report.problems]
        sentences.append(said_n("{n} file is refused.", "{n:,} files are refused.", len(wrong)))
        tables.append(_table([refused, said("Why")], wrong, sentences, said("files")))
    if damaged := [[video.name, video.facts.damage] for video in report.videos if video.facts.damage]:
        tables.append(_table([said("Damaged"), said("Where")], damaged, sentences, said("damaged videos")))
    rows = [
        [
            video.name,
            f"{video.facts.duration_s:,.1f} s",
            f"{float(video.facts.fps):.5g}",
            f"{video.facts.width_px} × {video.facts.height_px}",
            said("yes") if video.facts.has_audio else said("no"),
        ]
        for video in report.videos
        if video.new
    ]
    head = [said("Video"), said("Length"), said("Frames per second"), said("Size"), said("Sound")]
    return [*tables, _table(head, rows, sentences, said("videos"))] if rows else tables


def look_at_videos(
    project: Project,
    lead: Person,
    accept: tuple[str, ...],
    folder: Path | None,
    how: HowToMeasure,
    *,
    progress: Progress,
) -> JobOutcome:
    """Check the files of all videos, and accept a changed file for each video that `accept` names.

    `folder` is where to look for files that have moved.
    """
    report = check.check_videos(
        project,
        lead,
        videos=folder,
        fps=how.fps,
        decode=how.decode,
        accept=accept,
        now=time.time(),
        progress=progress,
    )
    checked = said_n("{n} video checked.", "{n:,} videos checked.", len(report.videos))
    sentences: list[str] = [checked, said("All are fine.")]
    if report.wrong:
        sentences = [
            checked,
            said_n("{n} of them has a problem.", "{n:,} of them have a problem.", len(report.wrong)),
        ]
    if report.accepted:
        sentences.append(said("New content accepted: {videos}.", videos=", ".join(report.accepted)))
    if report.freed:
        sentences.append(said_n("{n} clip is offered again.", "{n:,} clips are offered again.", report.freed))
    if any(one.shown and not one.decoded for one in report.videos):
        sentences.append(
            said("Not every picture was checked. To find damage inside files, choose always under More options.")
        )
    moved = [[video, path] for video, path in report.moved]
    head = [said("Found again"), said("Place")]
    return JobOutcome(sentences, [_table(head, moved, sentences, said("videos"))] if moved else [])


@dataclass(frozen=True, slots=True)
class AnnotationImport:
    """An annotation file and the options for reading it.

    Attributes:
        file: the file.
        format: the name of its format; None recognises it by the content.
        types: in a file of the data set TVR, the types of entries to keep; None keeps those of the TVR-Ranking paper.
        columns: the file's name for each of our columns, where it differs: `{"start": "begin"}`.
        videos: the folder with the video files; None if a later import names it.
        how: how to measure the videos.
    """

    file: Path
    format: str | None
    types: frozenset[str] | None
    columns: dict[str, str]
    videos: Path | None
    how: HowToMeasure


def import_file(
    project: Project, lead: Person, options: AnnotationImport, dry_run: bool, *, progress: Progress
) -> JobOutcome:
    """Import an annotation file, or with `dry_run` report what an import would add."""
    report = import_corpus(
        project,
        lead,
        options.file,
        options.format,
        videos=options.videos,
        types=options.types,
        columns=options.columns,
        fps=options.how.fps,
        decode=options.how.decode,
        dry_run=dry_run,
        now=time.time(),
        progress=progress,
    )
    what = {"file": options.file.name, "format": report.format}
    sentences = [
        *filter(None, [report.done]),
        said("{file}: format {format}.", **what)
        if options.format
        else said("{file}: format {format}, told from its content.", **what),
        *report.notes,
    ]
    new = (report.videos, report.moments, report.captions)
    rows = [
        [what, f"{taken:,}", f"{added:,}"]
        for what, taken, added in zip(
            (said("videos"), said("moments"), said("captions")), report.taken, new, strict=True
        )
    ]
    head = [said("What"), said("In the file"), said("Would be new") if dry_run else said("New")]
    tables = [OutcomeTable([*head], rows)]
    left_out = [[f"{left.count:,}", left.why, ", ".join(left.where)] for left in report.left_out]
    if report.merged:
        why = said("it repeats an earlier one's video, span and caption: merged")
        left_out.append([f"{report.merged:,}", why, ""])
    if left_out:
        tables.append(OutcomeTable([said("Left out"), said("Why"), said("Where (the first)")], left_out))
    if troubles := [[trouble.video, trouble.message] for trouble in report.troubles]:
        sentences.append(said("Some videos have something wrong; everything else is as it should be."))
        head = [said("Video"), said("What is wrong")]
        tables.insert(0, _table(head, troubles, sentences, said("videos with something wrong")))
    if dry_run:
        sentences.append(said("Nothing is written yet."))
    return JobOutcome(sentences, tables)


def make_release(
    project: Project, lead: Person, options: ReleaseOptions, name: str, notes: str, *, progress: Progress
) -> JobOutcome:
    """Export a release, a frozen copy of the results, and keep it in the project under `name`."""
    release = export_release(project, lead, None, options, name=name, notes=notes, now=time.time(), progress=progress)
    if release.again:
        return JobOutcome(
            [
                said("Nothing changed since the release {name}, so no new one was made.", name=release.name),
            ]
        )
    return JobOutcome([said("The release {name} is ready. Download it below.", name=release.name)])


def _table(head: Sequence[str], rows: Sequence[list[str]], sentences: list[str], what: str) -> OutcomeTable:
    """Return a table of the first `_SHOWN` rows; if there are more, add a sentence that says so to `sentences`.

    `what` names the rows in that sentence, such as "videos".
    """
    if len(rows) > _SHOWN:
        sentences.append(said("The first {shown} of {n:,} {what} are shown.", shown=_SHOWN, n=len(rows), what=what))
    return OutcomeTable([*head], list(rows[:_SHOWN]))


def look_for_names(project: Project, lead: Person, *, progress: Progress) -> JobOutcome:
    """Find names of people in the captions, and propose a generic phrase such as "a woman" for each."""
    report = propose_cast(project, lead, progress=progress)
    return JobOutcome(
        [
            said(
                "{names:,} names, {new:,} of them new: {women:,} women, {men:,} men, {persons:,} persons, {others:,} "
                "others, {undecided:,} undecided.",
                names=report.names,
                new=len(report.new),
                women=report.women,
                men=report.men,
                persons=report.persons,
                others=report.others,
                undecided=report.undecided,
            ),
            said("Check the words for each name below, then rewrite the captions."),
        ]
    )


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """Options for rewriting captions.

    Attributes:
        encoder: the sentence encoder that compares a rewrite with its caption.
        model: the language model; empty rewrites by rules, without a model.
        place: the address of the language model's endpoint; empty for OpenAI's own.
    """

    encoder: str
    model: str
    place: str


def rewrite(project: Project, lead: Person, options: RewriteOptions, *, progress: Progress) -> JobOutcome:
    """Rewrite the captions into imprecise ones, without names of people."""
    endpoint = None
    if options.model:
        endpoint = Endpoint(options.model, options.place) if options.place else Endpoint(options.model)
    if options.encoder != encoder_name(project, lead):
        project = choose_encoder(project, lead, options.encoder)
    report = rewrite_captions(project, lead, endpoint=endpoint, now=time.time(), progress=progress)
    retried = said("{n:,} after another attempt, ", n=report.after_retry) if endpoint else ""
    sentences: list[str] = [
        *filter(None, [report.done]),
        said(
            "{captions:,} captions: {at_once:,} accepted at once, {retried}{waiting:,} wait for your decision, "
            "{decided:,} decided earlier. {changed:,} changed.",
            captions=report.captions,
            at_once=report.at_once,
            retried=retried,
            waiting=report.waiting,
            decided=report.decided,
            changed=report.changed,
        ),
        *(
            said(
                "{version}: {passed:,} of {texts:,} texts passed the check; {dissimilar:,} had a similarity below 0.4, "
                "{named:,} a name, {unanswered:,} no answer.",
                version=counts.version,
                passed=counts.passed,
                texts=counts.texts,
                dissimilar=counts.dissimilar,
                named=counts.named,
                unanswered=counts.unanswered,
            )
            for counts in report.checks
        ),
    ]
    if endpoint:
        used = report.usage
        sentences.append(
            said(
                "{requests:,} requests, {asked:,} tokens asked, {answered:,} answered.",
                requests=used.requests,
                asked=used.tokens_in,
                answered=used.tokens_out,
            )
        )
    if report.unknown and endpoint is None:
        names = ", ".join(f"{name} ({count})" for name, count in report.unknown[:12])
        more = " ..." if len(report.unknown) > 12 else ""
        sentences.append(said("Names without words: {names}. Add them, then rewrite again.", names=f"{names}{more}"))
    return JobOutcome(sentences)


def propose_moments(project: Project, lead: Person, how: ByShots | ByWindows, *, progress: Progress) -> JobOutcome:
    """Propose moments for all videos, cut at their shots or into windows of equal length."""
    report = proposing.propose_moments(project, lead, how, now=time.time(), progress=progress)
    sentences: list[str] = [
        *filter(None, [report.done]),
        said(
            "{moments:,} moments{shots} of {videos:,} videos, {new:,} of them new.",
            moments=report.moments,
            shots=said(" from {n:,} shots", n=report.shots) if isinstance(how, ByShots) else "",
            videos=report.videos,
            new=report.new,
        ),
    ]
    if report.gone:
        sentences.append(said("{n:,} earlier proposals removed.", n=report.gone))
    if report.stayed:
        sentences.append(said("{n:,} earlier proposals stay because they are in use.", n=report.stayed))
    wrong = [[problem.file, problem.message] for problem in report.problems]
    head = [said("Skipped"), said("Reason")]
    return JobOutcome(sentences, [_table(head, wrong, sentences, said("videos"))] if wrong else [])


def agreement_intervals(project: Project, lead: Person, part: BoardPart, *, progress: Progress) -> AgreementBoard:
    """Return statistics of inter-annotator agreement with confidence intervals, for the pairs that `part` selects."""
    return agreement_board(project, lead, part)


def measure_model(project: Project, lead: Person, judge: Judge, *, progress: Progress) -> JudgeReport:
    """Return how the grades of a model compare with people's, and how they would order the project's runs."""
    return judge_report(project, lead, judge, progress=progress)


def cut_clips(
    project: Project, lead: Person, next_batches: bool, everything: bool, *, progress: Progress
) -> JobOutcome:
    """Cut the missing clips of pairs (each a query and a moment) that wait for grades, as `reelrank clips` does.

    `next_batches` also includes the pairs that each query gets next, once a lead opens its next batch. `everything`
    includes the pairs of all candidate moments.
    """
    steps = steps_of(progress, CUTTING_CLIPS)
    return clips_outcome(
        cut_queued_clips(project, lead, next_batches=next_batches, everything=everything, progress=steps)
    )
