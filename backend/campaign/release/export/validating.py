"""Check anybody's release in the form of TVR-Ranking, ours or the published one, and name all that is wrong.

One without problems is read here too, for a project that is to be made of it.

*Reads* a folder or a zip. *Writes* nothing. Needs no project. What a release lacks (published ones have no manifest) is
not checked, and the report says so.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

import msgspec

from backend.campaign.nouns import Rounding, Split
from backend.campaign.release.earlier.model import ENCODER, PUBLISHED_HIGHEST, PUBLISHED_TOLERANCE, EarlierCampaign
from backend.campaign.release.earlier.rules.campaign_files import read_campaign
from backend.campaign.release.export.model import Adjudicated
from backend.campaign.release.export.opening import ReleaseFiles, opened
from backend.campaign.release.export.rules import checks, pair_checks
from backend.campaign.release.export.rules.checks import SpanFaults
from backend.campaign.release.export.rules.pair_checks import Judged, Rule
from backend.campaign.selection.candidates.model import CandidateSource
from backend.core import release_entries
from backend.core.errors import InputError, Problem
from backend.core.progress import Progress
from backend.core.reading import UNDECODABLE
from backend.core.release_entries import GradedMoment, Moment, Queries
from backend.core.text_files import read_csv

MANIFEST, VIDEOS = "manifest.json", "video_corpus.json"
RAW, PAIRS = "raw_annotation.csv", "raw_query_moment_pair.csv"
TRUTH = ("val.json", "test.json")
_TRAIN = re.compile(r"train_top(\d+)\.json")
MOST = 1000
"""So many problems are kept; a training set can have millions."""
_AnyMoment = TypeVar("_AnyMoment", bound=Moment)


class _Grade(msgspec.Struct):
    grade: int


class _Released(msgspec.Struct):
    """The totals of a release, as its manifest says them."""

    val_queries: int
    test_queries: int
    moments: int
    adjudicated: int


class _Manifest(msgspec.Struct):
    """What is read of a manifest."""

    files: dict[str, str]
    scale: list[_Grade] = []
    tolerance: int = PUBLISHED_TOLERANCE
    rounding: Rounding = Rounding.HALF_UP
    adjudicated: Adjudicated = Adjudicated.INCLUDE
    queries_left_out: dict[str, list[int | str]] = {}
    released: _Released | None = None
    queries_without_settled_pair: list[int | str] = []
    """What older releases say in the place of `queries_left_out`."""


@dataclass(slots=True)
class ValidationReport:
    """What was found: `count` problems, of which `problems` are the first; what was looked at, and what could not be.

    `found` says how much there is of everything.
    """

    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.count

    def add(self, problems: Iterable[Problem]) -> None:
        """Take note of problems."""
        for problem in problems:
            self.count += 1
            if len(self.problems) < MOST:
                self.problems.append(problem)


def validate_release(path: Path, *, progress: Progress | None = None) -> ValidationReport:
    """Return everything that is wrong with a release in the form of TVR-Ranking, made here or elsewhere.

    Args:
        path: its folder or zip.
        progress: called with (what is done, done, all).

    Raises:
        InputError: there is no release at this path.
    """
    with opened(path) as files:
        return look_through(files, progress=progress)


def look_through(files: ReleaseFiles, *, progress: Progress | None = None) -> ValidationReport:
    """The same of a release that is open.

    Raises:
        InputError: it is no release.
    """
    if not any(name in files.places for name in (MANIFEST, *TRUTH)):
        raise InputError.single(files.name, f"is not a release: it has none of {MANIFEST}, {', '.join(TRUTH)}")
    return _Validation(files, progress).run()


def training_sets(files: ReleaseFiles) -> dict[int, str]:
    """The files of training sets by their size."""
    return {int(found[1]): name for name in files.places if (found := _TRAIN.fullmatch(name))}


def grades_of(said: int) -> range:
    """The grades of a scale of so many, TVR-Ranking's where a release says none."""
    return range(said or PUBLISHED_HIGHEST + 1)


class _Validation:
    """One release on the way through all checks."""

    def __init__(self, files: ReleaseFiles, progress: Progress | None) -> None:
        self.files, self.progress = files, progress
        self.report = ValidationReport()
        self.said: _Released | None = None

    def run(self) -> ValidationReport:
        """All checks; each adds to the report."""
        rule = self._manifest()
        spans = SpanFaults(self._videos())
        truth = [read for name in TRUTH if (read := self._queries(name, GradedMoment))]
        self._told("truth", bool(truth), f"{' and '.join(file.file for file in truth)}: queries, moments, relevances")
        self.report.add(checks.check_truth(truth, spans, rule.grades))
        self.report.add(self._totals(truth))
        self._pairs(truth, spans, rule)
        self._training(truth, spans)
        self.report.problems.sort(key=lambda problem: (problem.file, problem.row or 0))
        return self.report

    def _manifest(self) -> Rule:
        """What the manifest says of the scale; whether the files are those it names."""
        usual = Rule(grades_of(0))
        if MANIFEST not in self.files.places:
            assumed = f"grades 0 to {PUBLISHED_HIGHEST} assumed"
            self.report.not_checked.append(f"there is no {MANIFEST}: no hashes; {assumed}")
            return usual
        data = self.files.read(MANIFEST)
        try:
            said = msgspec.json.decode(data, type=_Manifest)
        except UNDECODABLE as error:
            self.report.add([Problem(MANIFEST, None, f"is not a manifest: {error}")])
            return usual
        self.said = said.released
        self.report.add(self._hashes(said))
        self.report.checked.append(f"{MANIFEST}: {len(said.files)} files and their SHA-256")
        return Rule(
            grades_of(len(said.scale)),
            said.tolerance,
            said.rounding,
            left_out=frozenset(map(str, chain(said.queries_without_settled_pair, *said.queries_left_out.values()))),
            without_adjudicated=said.adjudicated is Adjudicated.LEAVE_OUT,
        )

    def _hashes(self, said: _Manifest) -> Iterator[Problem]:
        for done, (name, digest) in enumerate(said.files.items(), start=1):
            if name not in self.files.places:
                yield Problem(name, None, f"is missing; {MANIFEST} names it")
            elif (found := self.files.sha256(name)) != digest:
                yield Problem(name, None, f"has changed: its SHA-256 is {found}, but {digest} in {MANIFEST}")
            if self.progress:
                self.progress("hashing files", done, len(said.files))
        for name in self.files.places:
            if name != MANIFEST and name not in said.files:
                yield Problem(name, None, f"is an extra file: {MANIFEST} does not name it")

    def _totals(self, truth: list[Queries[GradedMoment]]) -> Iterator[Problem]:
        """Where the manifest says other totals than the truth has."""
        if self.said is None or len(truth) < len(TRUTH):
            return
        moments = [moment for file in truth for entry in file.entries for _, moment in entry.moments]
        found = {
            **{f"{file.file.split('.')[0]}_queries": len(file.entries) for file in truth},
            "moments": len(moments),
            "adjudicated": sum(moment.adjudicated for moment in moments),
        }
        for what, count in found.items():
            if count != (told := getattr(self.said, what)):
                yield Problem(MANIFEST, None, f"says {told} {what.replace('_', ' ')}, but the truth has {count}")

    def _videos(self) -> dict[str, float] | None:
        if VIDEOS not in self.files.places:
            self.report.not_checked.append(f"there is no {VIDEOS}: which videos there are, and how long they last")
            return None
        durations, problems = release_entries.read_videos(self.files.read(VIDEOS), VIDEOS)
        self.report.add(problems)
        self.report.found["videos"] = len(durations)
        self._told("videos", True, f"{VIDEOS}: {len(durations):,} videos")
        return durations

    def _queries(self, name: str, kind: type[_AnyMoment]) -> Queries[_AnyMoment] | None:
        """A file of queries; None where there is none."""
        if name not in self.files.places:
            return None
        read = release_entries.read_queries(self.files.read(name), name, kind)
        self.report.add(read.problems)
        self.report.found[name] = len(read.entries)
        return read

    def _pairs(self, truth: list[Queries[GradedMoment]], spans: SpanFaults, rule: Rule) -> None:
        """The grades and the pairs, and whether the truth is what they give."""
        if RAW not in self.files.places:
            self.report.not_checked.append(f"there is no {RAW}: whether its grades give the relevances")
            return
        raw = self.files.read(RAW)
        pairs = self.files.read(PAIRS) if PAIRS in self.files.places else None
        campaign = read_campaign(
            *(raw, RAW, pairs, PAIRS if pairs is not None else ""), highest=rule.grades[-1], may_be_ungraded=True
        )
        self.report.add(campaign.problems)
        self.report.found |= {"grades": len(campaign.grades), "pairs": len(campaign.pairs)}
        self._told("pairs", pairs is not None, f"{PAIRS}: {len(campaign.pairs):,} pairs")
        self.report.add(pair_checks.check_pairs(campaign, spans, rule.grades))
        if campaign.problems:
            self.report.not_checked.append(f"{RAW} or {PAIRS} cannot be read whole: whether the grades give the truth")
            return
        self._compare(raw, campaign, truth, rule)
        if pairs is not None and truth:
            self.report.add(pair_checks.check_released(read_csv(pairs, PAIRS, ["pair_id"], ["released"]), PAIRS, truth))

    def _compare(self, raw: bytes, campaign: EarlierCampaign, truth: list[Queries[GradedMoment]], rule: Rule) -> None:
        table = read_csv(raw, RAW, ["pair_id"], ["adjudicated"], may_be_empty=True)
        decided, differing = pair_checks.read_decided(table, RAW, campaign.pairs, PAIRS)
        self.report.add(differing)
        self.report.add(pair_checks.check_judged(truth, Judged(campaign, decided, rule)))
        grades = f"{len(campaign.grades):,} grades of {len({grade.pair_id for grade in campaign.grades}):,} pairs"
        self._told("grades", True, f"{RAW}: {grades}; the rule gives the relevances, but for {len(decided):,} by leads")

    def _training(self, truth: list[Queries[GradedMoment]], spans: SpanFaults) -> None:
        sizes = training_sets(self.files)
        sets: dict[int, Queries[Moment]] = {}
        for done, (size, name) in enumerate(sorted(sizes.items()), start=1):
            if read := self._queries(name, Moment):
                sets[size] = read
            if self.progress:
                self.progress("reading training sets", done, len(sizes))
        self.report.add(checks.check_training(sets, truth, spans))
        told = f"{', '.join(sizes[size] for size in sorted(sizes))}: weights, and that each is a cut of the next"
        self._told("training sets", bool(sets), told)

    def _told(self, what: str, there: bool, told: str) -> None:
        if there:
            self.report.checked.append(told)
        else:
            self.report.not_checked.append(f"there is no file of {what}")


class _LabelledGrade(_Grade):
    label: str


class SourceManifest(msgspec.Struct):
    """What is read of a manifest; published releases have none."""

    name: str = ""
    encoder: str | None = None
    licence: str | None = None
    citation: str | None = None
    captions: str = "published"
    scale: list[_LabelledGrade] = []
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
    sets = training_sets(files)
    training = release_entries.read_queries(files.read(sets[max(sets)]), sets[max(sets)], Moment) if sets else None
    raw, pairs = files.read(RAW), files.read(PAIRS)
    highest = grades_of(len(manifest.scale))[-1]
    durations = release_entries.read_videos(files.read(VIDEOS), VIDEOS)[0] if VIDEOS in files.places else {}
    campaign = read_campaign(raw, RAW, pairs, PAIRS, highest=highest, may_be_ungraded=True)
    return SourceRelease(files.name, manifest, truth, training, raw, pairs, campaign, durations)
