"""What a study is of: truth and run files, read, checked and scored once.

Reads: truth, run and video map files. Writes: nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import SupportsIndex

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.reading import unpacked
from backend.core.typed_text import nfc
from backend.scoring.collected_problems import by_row, further_problems, in_order
from backend.scoring.files.formats import read_run, read_truth, read_videos
from backend.scoring.files.partial_reads import PartlyRead
from backend.scoring.files.release_folder import choose_truth, queries_of
from backend.scoring.matching.columns import Run
from backend.scoring.plausibility import with_videos
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, Settings, settle
from backend.scoring.scores import AnswerKey, prepare_run, prepare_truth, score
from backend.scoring.studies.study import SystemValues


@dataclass(frozen=True, slots=True)
class StudyInputs:
    """What is scored and how: as for `evaluate_files`, but of each run its name and file.

    `measures` are asked for as there: names, or keys such as `ndcg@10` and `map@avg`; none means the usual ones.
    Systems are compared on the same queries, so `missing` is `zero` in both presets and may not be `skip`.
    """

    truth: Path
    """A truth file, or the folder of a release."""
    runs: Mapping[str, Path]
    videos: Path | None = None
    preset: Preset = "paper"
    k: Iterable[SupportsIndex] = DEFAULT_K
    mu: Iterable[float] = DEFAULT_MU
    theta: Iterable[float] = DEFAULT_MU
    measures: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    split: str | None = None
    """Which split is meant where `truth` is the folder of a release; None: that of the runs' queries."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Everything read, checked and scored; the measures of the table are `settings.keys`, `videos` is the map."""

    key: AnswerKey
    runs: tuple[Run, ...]
    settings: Settings
    table: SystemValues
    warnings: list[str]
    videos: Path | None

    def choices(self, **more: object) -> dict[str, object]:
        """What the numbers depend on, the preset first."""
        return {
            "preset": self.settings.preset,
            "options": self.settings.changed,
            "queries": self.table.values.shape[2],
            "systems": list(self.table.systems),
            **more,
        }


def read_and_score(inputs: StudyInputs) -> Scored:
    """Read everything, tell all problems at once, and score: values by measure, system and query of the truth."""
    if inputs.options.get("missing") in ("skip", "published"):
        raise InputError.single("missing", "systems are compared on the same queries: zero or error")
    options = inputs.options.copy()
    if options.get("missing") is None:
        options["missing"] = "zero"
    settings = settle(inputs.preset, inputs.k, inputs.mu, options, theta=inputs.theta, measures=inputs.measures or None)
    chosen = choose_truth(
        inputs.truth, videos=inputs.videos, split=inputs.split, queries=queries_of(inputs.runs.values())
    )
    inputs = replace(inputs, truth=chosen.path, videos=chosen.videos)
    names = None if inputs.videos is None else read_videos(inputs.videos)
    problems: list[Problem] = []
    refusals: list[PartlyRead] = []
    if len(inputs.runs) < 2:
        problems.append(Problem("runs", None, "a study compares systems: give at least two runs"))
    key = None
    try:
        key = prepare_truth(with_videos(read_truth(inputs.truth), names), settings)
    except InputError as error:
        problems += error.problems
        refusals += [error] if isinstance(error, PartlyRead) else []
    runs = []
    ranked = []
    for path in inputs.runs.values():
        try:
            runs.append(read_run(path, names, key.truth if key else None))
            if key is not None:
                ranked.append(prepare_run(runs[-1], key, settings))
        except InputError as error:
            problems += error.problems
            refusals += [error] if isinstance(error, PartlyRead) else []
    if refusals:
        problems += further_problems(key.truth if key else None, runs, refusals, settings)
        problems = in_order(by_row(dict.fromkeys(problems)), (inputs.truth, *inputs.runs.values()))
    if problems or key is None:
        raise InputError(problems)
    scores = [score(key, run, settings) for run in ranked]
    order = [{query: n for n, query in enumerate(found.query.tolist())} for found in scores]
    queries = sorted(order[0])
    if not queries:
        raise InputError.single(inputs.truth, "no query counts, so there is nothing to compare")
    values = np.array(
        [found.values[:, [at[query] for query in queries]] for found, at in zip(scores, order, strict=True)]
    ).transpose(1, 0, 2)
    table = SystemValues(settings.keys, tuple(inputs.runs), np.ascontiguousarray(values))
    warnings = [
        *filter(None, (chosen.note,)),
        *settings.notes,
        *key.warnings,
        *(warning for run in ranked for warning in run.warnings),
    ]
    return Scored(key, tuple(runs), settings, table, warnings, inputs.videos)


def durations_of(path: Path) -> dict[str, float]:
    """Seconds of each video of a map file that `read_videos` has accepted."""
    problems = []
    known_s = {}
    for row, (name, (seconds, _)) in enumerate(msgspec.json.decode(unpacked(path).lstrip(b"\xef\xbb\xbf")).items(), 1):
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
            known_s[nfc(name)] = float(seconds)
        else:
            problems.append(Problem(str(path), row, f"video {name!r}: {seconds!r} is not a duration in seconds"))
    if problems:
        raise InputError(problems)
    return known_s
