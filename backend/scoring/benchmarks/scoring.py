"""Score runs by a benchmark: a scoreboard of its first part, with the figures of all of them.

Reads and writes nothing; files are for `scored_files`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backend.ground.progress import Progress
from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import Options, Settings
from backend.scoring.scoreboard import Scoreboard, Setting, score_runs


def score_benchmark(
    benchmark: Benchmark, truth: Truth, runs: Mapping[str, Run], asked: Options, progress: Progress | None = None
) -> Scoreboard:
    """Score runs, by name, by a benchmark; `asked` are options that override its own.

    Returns:
        The scoreboard of the benchmark's first part. Its summary has `benchmark` (name, title, evaluator, digits,
        percent, figures, notes) and, for each run, `figures`: each figure's value by name, None where no query counts.

    Raises:
        InputError: with the problems of the truth and of all runs; nothing is scored then.
    """
    planned = benchmark.planned(asked)
    boards = [_board(part, settings, truth, runs, progress) for part, settings in planned]
    first = boards[0]
    of_run: dict[str, dict[str, Any]] = {}
    for number, run in enumerate(first.runs):
        values = {
            shown(part, figure): board.runs[number].means.get(figure.key)
            for (part, _), board in zip(planned, boards, strict=True)
            for figure in part.figures
        }
        of_run[run.name] = {"figures": values}
    facts = {
        "name": benchmark.name,
        "title": benchmark.title,
        "evaluator": benchmark.evaluator,
        "digits": benchmark.digits,
        "percent": benchmark.percent,
        "figures": [
            {"name": shown(part, figure), "key": figure.key, "queries": len(board.queries)}
            for (part, _), board in zip(planned, boards, strict=True)
            for figure in part.figures
        ],
        "notes": list(benchmark.notes),
    }
    warnings = tuple(dict.fromkeys(warning for board in boards for warning in board.warnings))
    return replace(first, warnings=warnings, setting=Setting(facts={"benchmark": facts}, of_run=of_run))


def shown(part: Part, figure: PublishedFigure) -> str:
    """A figure's name with that of its part, such as `short mAP`."""
    return f"{part.name} {figure.name}".strip()


def _board(
    part: Part, settings: Settings, truth: Truth, runs: Mapping[str, Run], progress: Progress | None
) -> Scoreboard:
    """The runs as one part looks at them."""
    left = part.of_truth(truth)
    return score_runs(left, {name: part.of_run(run, left) for name, run in runs.items()}, settings, progress=progress)
