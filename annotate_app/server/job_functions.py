"""What background jobs run, each in its own process: the verb, and its outcome in words for the page that began it."""

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
from backend.campaign.monitoring.progress.progress import CUTTING_CLIPS, clips_outcome, cut_queued_clips
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.quality.model import AgreementBoard, BoardPart
from backend.campaign.monitoring.videos import adding, check
from backend.campaign.monitoring.videos.adding import VideoPicture
from backend.campaign.monitoring.videos.check import import_corpus, register_videos
from backend.campaign.nouns import Person
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.selection.candidates.choosing import choose_encoder, encoder_name
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import JobOutcome, OutcomeTable, OutcomeWithResult
from backend.core.messages import said, said_n
from backend.core.progress import Progress, named
from backend.language.endpoint import Endpoint

_SHOWN = 50
"""Rows of a table; the project has all."""


@dataclass(frozen=True, slots=True)
class HowToMeasure:
    """Frames a second of folders of frames, and whether to look at every picture; None where that is quick."""

    fps: Fraction
    decode: bool | None


class VideosPreview(NamedTuple):
    """What a folder of videos would add: how many new ones, how many are in the project already, and pictures."""

    new: int
    again: int
    pictures: list[VideoPicture]


def preview_videos(
    project: Project, lead: Person, folder: Path, how: HowToMeasure, *, progress: Progress
) -> OutcomeWithResult:
    """Show which videos of a folder would be added and which not; nothing is written."""
    found, pictures = adding.preview_videos(
        project, lead, folder, fps=how.fps, decode=how.decode, now=time.time(), progress=progress
    )
    sentences = [
        said_n(
            "{n} new video, {minutes:,.1f} minutes in total.",
            "{n:,} new videos, {minutes:,.1f} minutes in total.",
            found.new,
            minutes=_minutes(found),
        ),
        *_already(found),
    ]
    tables = _of_videos(found, sentences, said("Refused"))
    sentences.append(said("Nothing is added yet."))
    return OutcomeWithResult(
        JobOutcome(sentences, tables), VideosPreview(found.new, len(found.videos) - found.new, pictures)
    )


def add_videos(project: Project, lead: Person, folder: Path, how: HowToMeasure, *, progress: Progress) -> JobOutcome:
    """Add the videos of a folder."""
    found = register_videos(project, lead, folder, fps=how.fps, decode=how.decode, now=time.time(), progress=progress)
    sentences = [
        said_n(
            "{n} video added, {minutes:,.1f} minutes in total.",
            "{n:,} videos added, {minutes:,.1f} minutes in total.",
            found.new,
            minutes=_minutes(found),
        ),
        *_already(found),
    ]
    return JobOutcome(sentences, _of_videos(found, sentences, said("Not added")))


def _minutes(found: RegisterReport) -> float:
    return sum(video.facts.duration_s for video in found.videos if video.new) / 60


def _already(found: RegisterReport) -> list[str]:
    again = len(found.videos) - found.new
    already = said_n("{n} is in the project already.", "{n:,} are in the project already.", again)
    return [already] if again else []


def _of_videos(found: RegisterReport, sentences: list[str], refused: str) -> list[OutcomeTable]:
    """Tables of the files that are refused, of damaged videos and of new ones; what they leave out, in sentences."""
    tables = []
    if found.problems:
        wrong = [[problem.file, problem.message] for problem in found.problems]
        sentences.append(said_n("{n} file is refused.", "{n:,} files are refused.", len(wrong)))
        tables.append(_table([refused, said("Why")], wrong, sentences, said("files")))
    if damaged := [[video.name, video.facts.damage] for video in found.videos if video.facts.damage]:
        tables.append(_table([said("Damaged"), said("Where")], damaged, sentences, said("damaged videos")))
    rows = [
        [
            video.name,
            f"{video.facts.duration_s:,.1f} s",
            f"{float(video.facts.fps):.5g}",
            f"{video.facts.width_px} × {video.facts.height_px}",
            said("yes") if video.facts.has_audio else said("no"),
        ]
        for video in found.videos
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
    """Look at all videos as they lie there now, and take in the new content of those named."""
    found = check.look_at_videos(
        project,
        lead,
        videos=folder,
        fps=how.fps,
        decode=how.decode,
        accept=accept,
        now=time.time(),
        progress=progress,
    )
    checked = said_n("{n} video checked.", "{n:,} videos checked.", len(found.videos))
    sentences: list[str] = [checked, said("All are fine.")]
    if found.wrong:
        sentences = [
            checked,
            said_n("{n} of them has a problem.", "{n:,} of them have a problem.", len(found.wrong)),
        ]
    if found.accepted:
        sentences.append(said("New content accepted: {videos}.", videos=", ".join(found.accepted)))
    if found.freed:
        sentences.append(said_n("{n} clip is offered again.", "{n:,} clips are offered again.", found.freed))
    if any(one.shown and not one.decoded for one in found.videos):
        sentences.append(
            said("Not every picture was checked. To find damage inside files, choose always under More options.")
        )
    moved = [[video, path] for video, path in found.moved]
    head = [said("Found again"), said("Place")]
    return JobOutcome(sentences, [_table(head, moved, sentences, said("videos"))] if moved else [])


@dataclass(frozen=True, slots=True)
class FileToTake:
    """An annotation file and how it is to be read, as `import_corpus` takes it."""

    file: Path
    format: str | None
    types: frozenset[str] | None
    columns: dict[str, str]
    videos: Path | None
    how: HowToMeasure


def take_file(project: Project, lead: Person, asked: FileToTake, dry_run: bool, *, progress: Progress) -> JobOutcome:
    """Take an annotation file, or only look what would be taken."""
    report = import_corpus(
        project,
        lead,
        asked.file,
        asked.format,
        videos=asked.videos,
        types=asked.types,
        columns=asked.columns,
        fps=asked.how.fps,
        decode=asked.how.decode,
        dry_run=dry_run,
        now=time.time(),
        progress=progress,
    )
    what = {"file": asked.file.name, "format": report.format}
    sentences = [
        said("{file}: format {format}.", **what)
        if asked.format
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
    if troubles := [[one.video, one.message] for one in report.troubles]:
        sentences.append(said("Some videos have something wrong; everything else is as it should be."))
        head = [said("Video"), said("What is wrong")]
        tables.insert(0, _table(head, troubles, sentences, said("videos with something wrong")))
    if dry_run:
        sentences.append(said("Nothing is written yet."))
    return JobOutcome(sentences, tables)


def make_release(
    project: Project, lead: Person, options: ReleaseOptions, name: str, notes: str, *, progress: Progress
) -> JobOutcome:
    """Freeze a release among those that the project keeps."""
    made = export_release(project, lead, None, options, name=name, notes=notes, now=time.time(), progress=progress)
    if made.again:
        return JobOutcome(
            [
                said("Nothing changed since the release {name}, so no new one was made.", name=made.name),
            ]
        )
    return JobOutcome([said("The release {name} is ready. Download it below.", name=made.name)])


def _table(head: Sequence[str], rows: Sequence[list[str]], sentences: list[str], what: str) -> OutcomeTable:
    """The first rows; how many more there are goes among the sentences."""
    if len(rows) > _SHOWN:
        sentences.append(said("The first {shown} of {n:,} {what} are shown.", shown=_SHOWN, n=len(rows), what=what))
    return OutcomeTable([*head], list(rows[:_SHOWN]))


def look_for_names(project: Project, lead: Person, *, progress: Progress) -> JobOutcome:
    """Propose what the names of the captions become."""
    found = propose_cast(project, lead, progress=progress)
    return JobOutcome(
        [
            said(
                "{names:,} names, {new:,} of them new: {women:,} women, {men:,} men, {persons:,} persons, {others:,} "
                "others, {undecided:,} undecided.",
                names=found.names,
                new=len(found.new),
                women=found.women,
                men=found.men,
                persons=found.persons,
                others=found.others,
                undecided=found.undecided,
            ),
            said("Check the words for each name below, then rewrite the captions."),
        ]
    )


@dataclass(frozen=True, slots=True)
class RewritingAsked:
    """What captions are rewritten with; without a `model` by the rules, `place` empty is OpenAI's own."""

    encoder: str
    model: str
    place: str


def rewrite(project: Project, lead: Person, asked: RewritingAsked, *, progress: Progress) -> JobOutcome:
    """Make captions imprecise."""
    endpoint = None
    if asked.model:
        endpoint = Endpoint(asked.model, asked.place) if asked.place else Endpoint(asked.model)
    if asked.encoder != encoder_name(project, lead):
        project = choose_encoder(project, lead, asked.encoder)
    found = rewrite_captions(project, lead, endpoint=endpoint, now=time.time(), progress=progress)
    retried = said("{n:,} after another attempt, ", n=found.after_retry) if endpoint else ""
    sentences: list[str] = [
        said(
            "{captions:,} captions: {at_once:,} accepted at once, {retried}{waiting:,} wait for your decision, "
            "{decided:,} decided earlier. {changed:,} changed.",
            captions=found.captions,
            at_once=found.at_once,
            retried=retried,
            waiting=found.waiting,
            decided=found.decided,
            changed=found.changed,
        )
    ]
    if endpoint:
        used = found.usage
        sentences.append(
            said(
                "{requests:,} requests, {asked:,} tokens asked, {answered:,} answered.",
                requests=used.requests,
                asked=used.tokens_in,
                answered=used.tokens_out,
            )
        )
    if found.unknown and endpoint is None:
        names = ", ".join(f"{name} ({count})" for name, count in found.unknown[:12])
        more = " ..." if len(found.unknown) > 12 else ""
        sentences.append(said("Names without words: {names}. Add them, then rewrite again.", names=f"{names}{more}"))
    return JobOutcome(sentences)


def propose_moments(project: Project, lead: Person, how: ByShots | ByWindows, *, progress: Progress) -> JobOutcome:
    """Propose moments of all videos."""
    found = proposing.propose_moments(project, lead, how, now=time.time(), progress=progress)
    sentences: list[str] = [
        said(
            "{moments:,} moments{shots} of {videos:,} videos, {new:,} of them new.",
            moments=found.moments,
            shots=said(" from {n:,} shots", n=found.shots) if isinstance(how, ByShots) else "",
            videos=found.videos,
            new=found.new,
        )
    ]
    if found.gone:
        sentences.append(said("{n:,} earlier proposals removed.", n=found.gone))
    if found.stayed:
        sentences.append(said("{n:,} earlier proposals stay because they are in use.", n=found.stayed))
    wrong = [[problem.file, problem.message] for problem in found.problems]
    head = [said("Skipped"), said("Reason")]
    return JobOutcome(sentences, [_table(head, wrong, sentences, said("videos"))] if wrong else [])


def agreement_intervals(project: Project, lead: Person, part: BoardPart, *, progress: Progress) -> AgreementBoard:
    """Return the agreement board of some pairs with its intervals."""
    return agreement_board(project, lead, part)


def cut_clips(
    project: Project, lead: Person, next_batches: bool, everything: bool, *, progress: Progress
) -> JobOutcome:
    """Cut the clips of the pairs that wait for grades, as `reelrank clips` does."""
    steps = named(progress, CUTTING_CLIPS)
    return clips_outcome(
        cut_queued_clips(project, lead, next_batches=next_batches, everything=everything, progress=steps)
    )
