"""What background jobs run, each in its own process: the verb, and its outcome in words for the page that began it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.captions.name_mapping import propose_cast
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.corpus.moments import proposing
from backend.campaign.corpus.moments.model import ByShots, ByWindows
from backend.campaign.monitoring.progress.progress import CUTTING_CLIPS, clips_outcome, cut_queued_clips
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.quality.model import AgreementBoard, BoardPart
from backend.campaign.monitoring.videos import check
from backend.campaign.monitoring.videos.check import import_corpus, register_videos
from backend.campaign.nouns import Person
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.selection.candidates.choosing import choose_encoder, encoder_name
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import JobOutcome, OutcomeTable
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


def take_videos(project: Project, lead: Person, folder: Path, how: HowToMeasure, *, progress: Progress) -> JobOutcome:
    """Take the videos of a folder."""
    found = register_videos(project, lead, folder, fps=how.fps, decode=how.decode, now=time.time(), progress=progress)
    again = len(found.videos) - found.new
    sentences: list[str] = [
        said(
            "{new} from {folder}.{there} All of them last {minutes:,.1f} minutes.",
            new=said_n("{n:,} new video", "{n:,} new videos", found.new),
            folder=folder.name,
            there=said(" {n:,} were there before.", n=again) if again else "",
            minutes=sum(video.facts.duration_s for video in found.videos) / 60,
        )
    ]
    rows = [
        [
            video.name,
            f"{video.facts.duration_s:,.1f} s",
            f"{float(video.facts.fps):.5g}",
            f"{video.facts.width_px} × {video.facts.height_px}",
            said("yes") if video.facts.has_audio else said("no"),
        ]
        for video in found.videos
    ]
    head = [said("Video"), said("Length"), said("Frames a second"), said("Size"), said("Sound")]
    tables = [_table(head, rows, sentences, said("videos"))]
    if found.problems:
        sentences.append(
            said_n(
                "{n:,} file was not taken; everything else was.",
                "{n:,} files were not taken; everything else was.",
                len(found.problems),
            )
        )
        wrong = [[problem.file, problem.message] for problem in found.problems]
        tables.insert(0, _table([said("Not taken"), said("Why")], wrong, sentences, said("files")))
    if damaged := [[video.name, video.facts.damage] for video in found.videos if video.facts.damage]:
        tables.insert(0, _table([said("Damaged"), said("Where")], damaged, sentences, said("damaged videos")))
    return JobOutcome(sentences, tables)


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
    sentences: list[str] = [said("{n:,} videos, nothing wrong with them.", n=len(found.videos))]
    if found.wrong:
        sentences = [
            said("{n:,} videos, {wrong:,} of them with something wrong.", n=len(found.videos), wrong=len(found.wrong))
        ]
    if found.accepted:
        sentences.append(said("The new content was taken in of {videos}.", videos=", ".join(found.accepted)))
    if found.freed:
        sentences.append(said("{n:,} clips are offered again.", n=found.freed))
    if any(one.shown and not one.decoded for one in found.videos):
        sentences.append(said("Not every picture was looked at, so damage inside may be unknown: More options has it."))
    moved = [[video, path] for video, path in found.moved]
    head = [said("Found again"), said("Where")]
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
                said(
                    "Nothing changed since the release {name}: what was made now is the same, byte for byte.",
                    name=made.name,
                )
            ]
        )
    return JobOutcome([said("The release {name} is ready; it stands below.", name=made.name)])


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
            said("Look through what they become, in the step Names; then rewrite the captions."),
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
            "{captions:,} captions: {at_once:,} accepted at once, {retried}{waiting:,} wait for a person, {decided:,} "
            "had been decided by people; {changed:,} changed.",
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
        sentences.append(
            said("Names that the cast lacks: {names}. Say what they become, and rewrite again.", names=f"{names}{more}")
        )
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
        sentences.append(said("Of those proposed before, {n:,} went.", n=found.gone))
    if found.stayed:
        sentences.append(
            said("{n:,} that are not proposed any more stay, because something uses them.", n=found.stayed)
        )
    wrong = [[problem.file, problem.message] for problem in found.problems]
    head = [said("Not looked at"), said("Why")]
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
