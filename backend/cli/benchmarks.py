"""The command that lists the benchmarks of the field, and describes one."""

from typing import Annotated

import typer

from backend.cli.output import fail, say, table
from backend.core.errors import InputError

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="The benchmark to describe. Default: list all.", show_default=False),
]


def benchmarks(name: Name = None) -> None:
    """List the benchmarks that `evaluate` knows, or describe one.

    Example: reelrank measures benchmarks charades-sta
    """
    from backend.scoring.benchmarks import BENCHMARKS, benchmark_named

    if name is None:
        rows = [(one.name, one.about) for one in BENCHMARKS.values()]
        table(("benchmark", "what is scored"), rows, [True, True])
        return
    try:
        one = benchmark_named(name)
    except InputError as error:
        fail(str(error))
    say(f"{one.title}: {one.about}.")
    say(f"Evaluator: {one.evaluator}.")
    table(
        ("figure", "computed as"),
        [(f.name, ", ".join(filter(None, (f.key, f.about)))) for f in one.figures],
        [True, True],
    )
    changed = [f"{option}={value}" for option, value in one.options.items()]
    say(f"Preset {', '.join([one.preset, *changed])}.")
    for note in one.notes:
        say(note)
