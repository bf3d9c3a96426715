"""The long acts of the page Set up, each as it runs in the worker: the verb of the api, and what came out in words."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from backend import api
from backend.campaign.moments.model import ByShots, ByWindows
from backend.campaign.nouns import Person
from backend.campaign.serving.model import OutcomeTable, WorkOutcome
from backend.ground.progress import Progress

_SHOWN = 50
"""Rows of a table; the project has all."""


@dataclass(frozen=True, slots=True)
class HowToMeasure:
    """Frames a second of folders of frames, and whether to look at every picture; None where that is quick."""

    fps: Fraction
    decode: bool | None


def take_videos(
    project: api.Project, lead: Person, folder: Path, how: HowToMeasure, *, progress: Progress
) -> WorkOutcome:
    """Take the videos of a folder."""
    found = api.register_videos(
        project, lead, folder, fps=how.fps, decode=how.decode, now=time.time(), progress=progress
    )
    again = len(found.videos) - found.new
    there = f" {again:,} were there before." if again else ""
    new = "1 new video" if found.new == 1 else f"{found.new:,} new videos"
    minutes = sum(video.facts.duration_s for video in found.videos) / 60
    sentences = [f"{new} from {folder.name}.{there} All of them last {minutes:,.1f} minutes."]
    rows = [
        [
            video.name,
            f"{video.facts.duration_s:,.1f} s",
            f"{float(video.facts.fps):.5g}",
            f"{video.facts.width_px} × {video.facts.height_px}",
            "yes" if video.facts.has_audio else "no",
        ]
        for video in found.videos
    ]
    tables = [_table(["Video", "Length", "Frames a second", "Size", "Sound"], rows, sentences, "videos")]
    if found.problems:
        count = "1 file was" if len(found.problems) == 1 else f"{len(found.problems):,} files were"
        sentences.append(f"{count} not taken; everything else was.")
        wrong = [[problem.file, problem.message] for problem in found.problems]
        tables.insert(0, _table(["Not taken", "Why"], wrong, sentences, "files"))
    if damaged := [[video.name, video.facts.damage] for video in found.videos if video.facts.damage]:
        tables.insert(0, _table(["Damaged", "Where"], damaged, sentences, "damaged videos"))
    return WorkOutcome(sentences, tables)


def look_at_videos(
    project: api.Project,
    lead: Person,
    accept: tuple[str, ...],
    folder: Path | None,
    how: HowToMeasure,
    *,
    progress: Progress,
) -> WorkOutcome:
    """Look at all videos as they lie there now, and take in the new content of those named."""
    found = api.look_at_videos(
        project,
        lead,
        videos=folder,
        fps=how.fps,
        decode=how.decode,
        accept=accept,
        now=time.time(),
        progress=progress,
    )
    wrong = f"{len(found.wrong):,} of them with something wrong" if found.wrong else "nothing wrong with them"
    sentences = [f"{len(found.videos):,} videos, {wrong}."]
    if found.accepted:
        sentences.append(f"The new content was taken in of {', '.join(found.accepted)}.")
    if found.freed:
        sentences.append(f"{found.freed:,} clips are offered again.")
    if any(one.shown and not one.decoded for one in found.videos):
        sentences.append("Not every picture was looked at, so damage inside may be unknown: More options has it.")
    moved = [[video, path] for video, path in found.moved]
    return WorkOutcome(sentences, [_table(["Found again", "Where"], moved, sentences, "videos")] if moved else [])


@dataclass(frozen=True, slots=True)
class FileToTake:
    """An annotation file and how it is to be read, as `api.import_corpus` takes it."""

    file: Path
    format: str | None
    types: frozenset[str] | None
    columns: dict[str, str]
    videos: Path | None
    how: HowToMeasure


def take_file(
    project: api.Project, lead: Person, asked: FileToTake, dry_run: bool, *, progress: Progress
) -> WorkOutcome:
    """Take an annotation file, or only look what would be taken."""
    report = api.import_corpus(
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
    told = "" if asked.format else ", told from its content"
    sentences = [f"{asked.file.name}: format {report.format}{told}.", *report.notes]
    new = (report.videos, report.moments, report.captions)
    rows = [
        [what, f"{taken:,}", f"{added:,}"]
        for what, taken, added in zip(("videos", "moments", "captions"), report.taken, new, strict=True)
    ]
    tables = [OutcomeTable(["What", "In the file", "Would be new" if dry_run else "New"], rows)]
    left_out = [[f"{left.count:,}", left.why, ", ".join(left.where)] for left in report.left_out]
    if report.merged:
        left_out.append([f"{report.merged:,}", "it repeats an earlier one's video, span and caption: merged", ""])
    if left_out:
        tables.append(OutcomeTable(["Left out", "Why", "Where (the first)"], left_out))
    if troubles := [[one.video, one.message] for one in report.troubles]:
        sentences.append("Some videos have something wrong; everything else is as it should be.")
        tables.insert(0, _table(["Video", "What is wrong"], troubles, sentences, "videos with something wrong"))
    if dry_run:
        sentences.append("Nothing is written yet.")
    return WorkOutcome(sentences, tables)


def _table(head: list[str], rows: Sequence[list[str]], sentences: list[str], what: str) -> OutcomeTable:
    """The first rows; how many more there are goes among the sentences."""
    if len(rows) > _SHOWN:
        sentences.append(f"The first {_SHOWN} of {len(rows):,} {what} are shown.")
    return OutcomeTable(head, list(rows[:_SHOWN]))


def look_for_names(project: api.Project, lead: Person, *, progress: Progress) -> WorkOutcome:
    """Propose what the names of the captions become."""
    found = api.propose_cast(project, lead, progress=progress)
    return WorkOutcome(
        [
            f"{found.names:,} names, {len(found.new):,} of them new: {found.women:,} women, {found.men:,} men, "
            f"{found.persons:,} persons, {found.others:,} others, {found.undecided:,} undecided.",
            "Look through what they become, in the step Names; then rewrite the captions.",
        ]
    )


@dataclass(frozen=True, slots=True)
class RewritingAsked:
    """What captions are rewritten with; without a `model` by the rules, `place` empty is OpenAI's own."""

    encoder: str
    model: str
    place: str


def rewrite(project: api.Project, lead: Person, asked: RewritingAsked, *, progress: Progress) -> WorkOutcome:
    """Make captions imprecise."""
    endpoint = None
    if asked.model:
        endpoint = api.Endpoint(asked.model, asked.place) if asked.place else api.Endpoint(asked.model)
    if asked.encoder != api.encoder_name(project, lead):
        project = api.choose_encoder(project, lead, asked.encoder)
    found = api.rewrite_captions(project, lead, endpoint=endpoint, now=time.time(), progress=progress)
    retried = f"{found.after_retry:,} after another attempt, " if endpoint else ""
    sentences = [
        f"{found.captions:,} captions: {found.at_once:,} accepted at once, {retried}{found.waiting:,} wait for a "
        f"person, {found.decided:,} had been decided by people; {found.changed:,} changed."
    ]
    if endpoint:
        used = found.usage
        sentences.append(f"{used.requests:,} requests, {used.tokens_in:,} tokens asked, {used.tokens_out:,} answered.")
    if found.unknown and endpoint is None:
        names = ", ".join(f"{name} ({count})" for name, count in found.unknown[:12])
        more = " ..." if len(found.unknown) > 12 else ""
        sentences.append(f"Names that the cast lacks: {names}{more}. Say what they become, and rewrite again.")
    return WorkOutcome(sentences)


def propose_moments(project: api.Project, lead: Person, how: ByShots | ByWindows, *, progress: Progress) -> WorkOutcome:
    """Propose moments of all videos."""
    found = api.propose_moments(project, lead, how, now=time.time(), progress=progress)
    shots = f" from {found.shots:,} shots" if isinstance(how, ByShots) else ""
    sentences = [f"{found.moments:,} moments{shots} of {found.videos:,} videos, {found.new:,} of them new."]
    if found.gone:
        sentences.append(f"Of those proposed before, {found.gone:,} went.")
    if found.stayed:
        sentences.append(f"{found.stayed:,} that are not proposed any more stay, because something uses them.")
    wrong = [[problem.file, problem.message] for problem in found.problems]
    return WorkOutcome(sentences, [_table(["Not looked at", "Why"], wrong, sentences, "videos")] if wrong else [])
