"""Check a release in the format of TVR-Ranking, made by ReelRank or published elsewhere, and report every problem.

The module also reads the content of a release without problems, to make a project from it.

*Reads* a folder or a zip. *Writes* nothing. No project is needed. The report names the checks that were skipped because
a file is missing; published releases, for example, have no manifest.
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
from backend.campaign.release.export.model import MODEL_GRADES, Adjudicated
from backend.campaign.release.export.opening import ReleaseFiles, open_release
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
"""The largest number of problems that a report keeps; a training set can have millions."""
_AnyMoment = TypeVar("_AnyMoment", bound=Moment)


class _Grade(msgspec.Struct):
    grade: int


class _Released(msgspec.Struct):
    """The numbers of queries and moments of a release, as its manifest states them."""

    val_queries: int
    test_queries: int
    moments: int
    adjudicated: int


class _Manifest(msgspec.Struct):
    """The fields of a release's `manifest.json` that the checks read, with defaults for older releases."""

    files: dict[str, str]
    scale: list[_Grade] = []
    tolerance: int = PUBLISHED_TOLERANCE
    rounding: Rounding = Rounding.HALF_UP
    adjudicated: Adjudicated = Adjudicated.INCLUDE
    queries_left_out: dict[str, list[int | str]] = {}
    released: _Released | None = None
    queries_without_settled_pair: list[int | str] = []
    """The queries left out, in older releases, which lack `queries_left_out`."""


@dataclass(slots=True)
class ValidationReport:
    """The result of checking a release.

    Attributes:
        problems: the first problems, at most `MOST`.
        count: the number of all problems.
        checked: what was checked, one sentence each.
        not_checked: what could not be checked, and why.
        found: the number of entries that were read, by file name (such as `val.json`) or kind (`videos`, `grades`,
            `pairs`).
    """

    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether the checks found no problem."""
        return not self.count

    def add(self, problems: Iterable[Problem]) -> None:
        """Add problems to the count, and keep only the first `MOST` of them."""
        for problem in problems:
            self.count += 1
            if len(self.problems) < MOST:
                self.problems.append(problem)


def validate_release(path: Path, *, progress: Progress | None = None) -> ValidationReport:
    """Check a release in the format of TVR-Ranking, made by ReelRank or elsewhere, and report its problems.

    Args:
        path: the folder or zip of the release.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        InputError: there is no release at this path.
    """
    with open_release(path) as files:
        return check_release(files, progress=progress)


def check_release(files: ReleaseFiles, *, progress: Progress | None = None) -> ValidationReport:
    """Check a release whose folder or zip is open already, and report its problems.

    Raises:
        InputError: the files are no release.
    """
    if not any(name in files.places for name in (MANIFEST, *TRUTH)):
        raise InputError.single(files.name, f"is not a release: it has none of {MANIFEST}, {', '.join(TRUTH)}")
    return _Validation(files, progress).run()


def training_sets(files: ReleaseFiles) -> dict[int, str]:
    """Return the file names of a release's training sets by size: `train_top20.json` has size 20."""
    return {int(match[1]): name for name in files.places if (match := _TRAIN.fullmatch(name))}


def grades_of(count: int) -> range:
    """Return the grades of a scale with `count` grades; 0 stands for TVR-Ranking's scale, 0 to 4."""
    return range(count or PUBLISHED_HIGHEST + 1)


class _Validation:
    """A run of all checks on one release, with the report of their problems."""

    def __init__(self, files: ReleaseFiles, progress: Progress | None) -> None:
        self.files, self.progress = files, progress
        self.report = ValidationReport()
        self.totals: _Released | None = None
        self.pair_ids: set[int] | None = None

    def run(self) -> ValidationReport:
        """Run all checks, and return the report."""
        rule = self._manifest()
        spans = SpanFaults(self._videos())
        truth = [content for name in TRUTH if (content := self._queries(name, GradedMoment))]
        self._note_check(
            "truth", bool(truth), f"{' and '.join(file.file for file in truth)}: queries, moments, relevances"
        )
        self.report.add(checks.check_truth(truth, spans, rule.grades))
        self.report.add(self._totals(truth))
        self._pairs(truth, spans, rule)
        self._training(truth, spans)
        self._model_grades(rule)
        self.report.problems.sort(key=lambda problem: (problem.file, problem.row or 0))
        return self.report

    def _manifest(self) -> Rule:
        """Return the grading rule of a release from its manifest, and check the hashes of the release's files."""
        published = Rule(grades_of(0))
        if MANIFEST not in self.files.places:
            assumed = f"grades 0 to {PUBLISHED_HIGHEST} assumed"
            self.report.not_checked.append(f"there is no {MANIFEST}: no hashes; {assumed}")
            return published
        data = self.files.read(MANIFEST)
        try:
            manifest = msgspec.json.decode(data, type=_Manifest)
        except UNDECODABLE as error:
            self.report.add([Problem(MANIFEST, None, f"is not a manifest: {error}")])
            return published
        self.totals = manifest.released
        self.report.add(self._hashes(manifest))
        self.report.checked.append(f"{MANIFEST}: {len(manifest.files)} files and their SHA-256")
        return Rule(
            grades_of(len(manifest.scale)),
            manifest.tolerance,
            manifest.rounding,
            left_out=frozenset(
                map(str, chain(manifest.queries_without_settled_pair, *manifest.queries_left_out.values()))
            ),
            without_adjudicated=manifest.adjudicated is Adjudicated.LEAVE_OUT,
        )

    def _hashes(self, manifest: _Manifest) -> Iterator[Problem]:
        for done, (name, digest) in enumerate(manifest.files.items(), start=1):
            if name not in self.files.places:
                yield Problem(name, None, f"is missing; {MANIFEST} names it")
            elif (actual := self.files.sha256(name)) != digest:
                yield Problem(name, None, f"has changed: its SHA-256 is {actual}, but {digest} in {MANIFEST}")
            if self.progress:
                self.progress("hashing files", done, len(manifest.files))
        for name in self.files.places:
            if name != MANIFEST and name not in manifest.files:
                yield Problem(name, None, f"is an extra file: {MANIFEST} does not name it")

    def _totals(self, truth: list[Queries[GradedMoment]]) -> Iterator[Problem]:
        """Yield a problem for each total of the manifest that differs from the truth."""
        if self.totals is None or len(truth) < len(TRUTH):
            return
        moments = [moment for file in truth for entry in file.entries for _, moment in entry.moments]
        counts = {
            **{f"{file.file.split('.')[0]}_queries": len(file.entries) for file in truth},
            "moments": len(moments),
            "adjudicated": sum(moment.adjudicated for moment in moments),
        }
        for total, count in counts.items():
            if count != (stated := getattr(self.totals, total)):
                yield Problem(MANIFEST, None, f"says {stated} {total.replace('_', ' ')}, but the truth has {count}")

    def _videos(self) -> dict[str, float] | None:
        if VIDEOS not in self.files.places:
            self.report.not_checked.append(f"there is no {VIDEOS}: which videos there are, and how long they last")
            return None
        durations, problems = release_entries.read_videos(self.files.read(VIDEOS), VIDEOS)
        self.report.add(problems)
        self.report.found["videos"] = len(durations)
        self._note_check("videos", True, f"{VIDEOS}: {len(durations):,} videos")
        return durations

    def _queries(self, name: str, kind: type[_AnyMoment]) -> Queries[_AnyMoment] | None:
        """Return the queries of a release's file, and add its problems to the report; None if there is no such file.

        `name` is the name of the file, and `kind` the class of its moments (with or without a relevance).
        """
        if name not in self.files.places:
            return None
        content = release_entries.read_queries(self.files.read(name), name, kind)
        self.report.add(content.problems)
        self.report.found[name] = len(content.entries)
        return content

    def _pairs(self, truth: list[Queries[GradedMoment]], spans: SpanFaults, rule: Rule) -> None:
        """Check the raw annotations and the file of pairs, and whether the truth follows from their grades."""
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
        self.pair_ids = {pair.pair_id for pair in campaign.pairs}
        self._note_check("pairs", pairs is not None, f"{PAIRS}: {len(campaign.pairs):,} pairs")
        self.report.add(pair_checks.check_pairs(campaign, spans, rule.grades))
        if campaign.problems:
            self.report.not_checked.append(f"{RAW} or {PAIRS} cannot be read whole: whether the grades give the truth")
            return
        self._compare(raw, campaign, truth, rule)
        if pairs is not None and truth:
            self.report.add(pair_checks.check_released(read_csv(pairs, PAIRS, ["pair_id"], ["released"]), PAIRS, truth))

    def _compare(self, raw: bytes, campaign: EarlierCampaign, truth: list[Queries[GradedMoment]], rule: Rule) -> None:
        table = read_csv(raw, RAW, ["pair_id"], ["adjudicated"], may_be_empty=True)
        decided, differences = pair_checks.read_decided(table, RAW, campaign.pairs, PAIRS)
        self.report.add(differences)
        self.report.add(pair_checks.check_judged(truth, Judged(campaign, decided, rule)))
        grades = f"{len(campaign.grades):,} grades of {len({grade.pair_id for grade in campaign.grades}):,} pairs"
        self._note_check(
            "grades", True, f"{RAW}: {grades}; the rule gives the relevances, but for {len(decided):,} by leads"
        )

    def _training(self, truth: list[Queries[GradedMoment]], spans: SpanFaults) -> None:
        sizes = training_sets(self.files)
        sets: dict[int, Queries[Moment]] = {}
        for done, (size, name) in enumerate(sorted(sizes.items()), start=1):
            if content := self._queries(name, Moment):
                sets[size] = content
            if self.progress:
                self.progress("reading training sets", done, len(sizes))
        self.report.add(checks.check_training(sets, truth, spans))
        description = f"{', '.join(sizes[size] for size in sorted(sizes))}: weights, and that each is a cut of the next"
        self._note_check("training sets", bool(sets), description)

    def _model_grades(self, rule: Rule) -> None:
        """Check the grades of models, if the release has any; they have no part in the truth."""
        if MODEL_GRADES not in self.files.places:
            return
        data = self.files.read(MODEL_GRADES)
        grades, problems = pair_checks.check_model_grades(data, MODEL_GRADES, self.pair_ids, rule.grades)
        self.report.add(problems)
        self.report.found["model grades"] = grades
        self._note_check("model grades", True, f"{MODEL_GRADES}: {grades:,} grades of models, apart from the truth")

    def _note_check(self, kind: str, is_present: bool, description: str) -> None:
        if is_present:
            self.report.checked.append(description)
        else:
            self.report.not_checked.append(f"there is no file of {kind}")


class _LabelledGrade(_Grade):
    label: str


class SourceManifest(msgspec.Struct):
    """The fields of `manifest.json` that the import of a release reads.

    Their defaults are for published releases, which have no manifest.
    """

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
    """The sources of the candidates; empty if no runs were pooled."""
    unfinished_queries: list[int] | None = None
    """Queries of the truth that were unfinished; None if the release does not state them."""


@dataclass(frozen=True, slots=True)
class SourceRelease:
    """The content of a release, from which a project can be made.

    `training` is the largest training set; None if there is none. `raw` and `pairs` are the bytes of the raw
    annotations and of the file of pairs, and `campaign` has both as data. `durations` are those of the videos, in
    seconds.
    """

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
        """The text that identifies the encoder (text model) of the candidate lists; `imported` if none is stated."""
        return self.manifest.encoder or ENCODER


def read_source(files: ReleaseFiles, path: Path) -> SourceRelease:
    """Return everything that a new project takes over from a release.

    The release must have no problems.

    Raises:
        InputError: the release lacks its file of pairs or of raw annotations.
    """
    missing = [name for name in (RAW, PAIRS) if name not in files.places]
    if missing:
        raise InputError.single(path, f"has no {' and no '.join(missing)}: a project needs its pairs and their grades")
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
