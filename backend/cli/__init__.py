"""The command line: each command parses its options, calls a verb and prints the result.

Commands import what they use when they run, so that `--help` and small commands start fast.

Exit codes: 0 success; 1 refused, or something wrong was found or left out, with a message; 2 wrong usage.
Results go to standard output. Progress goes to standard error, and only to a terminal.
"""

import sys
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from backend.cli import (
    agreement,
    batches,
    candidates,
    captions,
    corpus,
    describe,
    earlier,
    evaluate,
    exam,
    gold,
    measures,
    moments,
    mvmr,
    onboarding,
    people,
    pipeline,
    project,
    queries,
    releases,
    runs,
    service,
    systems,
    videos,
)
from backend.cli.options import CommandGroup
from backend.cli.output import fail, visible_output
from backend.core import extras
from backend.core.errors import ReelRankError

SECTIONS = {
    "Start": ("demo", "init", "serve", "status"),
    "Build": ("import", "moments", "describe", "probe", "stats", "cast", "rewrite", "queries", "candidates"),
    "Run a campaign": (
        *("users", "guideline", "tutorial", "trial", "exam", "gold", "clips", "batches", "agreement", "consensus"),
        "import-judgements",
    ),
    "Release": ("export", "pseudo-train", "releases", "diff", "validate", "import-release"),
    "Evaluate": ("evaluate", "match-run", "truths", "runs"),
    "Operate": ("doctor", "backup", "restore", "migrate", "move"),
    "Research": ("baseline", "features", "train", "predict", "measures", "mvmr"),
}
"""The commands in working order."""

FORMER_NAMES = {
    "clip": "clips moment",
    "flags": "users flags",
    "hours": "users hours",
    "log": "status log",
    "probe-figures": "batches depth",
    "settings": "status settings",
    "terms": "releases terms",
}
"""Names that commands had before, which keep working."""


class ReelRank(CommandGroup):
    """All commands, which also answer to their former names."""

    sections = SECTIONS

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name or a former one; None if there is none."""
        group, _, name = FORMER_NAMES.get(cmd_name, cmd_name).partition(" ")
        found: Any = super().get_command(ctx, group)
        return found.commands[name] if name else found


app = typer.Typer(
    cls=ReelRank,
    help="Turn videos with captioned moments into graded ground truth, and score runs. "
    "`reelrank COMMAND --help` explains a command, with an example.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
for part in (
    pipeline,
    corpus,
    moments,
    videos,
    describe,
    captions,
    queries,
    candidates,
    batches,
    earlier,
    people,
    exam,
    gold,
    onboarding,
    service,
    runs,
    agreement,
    releases,
    evaluate,
    measures,
    mvmr,
    systems,
    project,
):
    part.register(app)


@cache
def command() -> TyperGroup:
    """Return the group of all commands, built once per process, as building takes longer than most commands."""
    return get_group(app)


def _command_asked_for() -> str:
    """Return the name of the command that is running, with its group: `mvmr figures`."""
    names: list[str] = []
    here: object = command()
    for word in sys.argv[1:]:
        here = getattr(here, "commands", {}).get(word)
        if here is None:
            break
        names.append(word)
    return " ".join(names)


def main() -> None:
    """Run the command; the outermost frame, where refusals become messages."""
    with visible_output():
        try:
            command()()
        except ReelRankError as error:
            fail(str(error))
        except ModuleNotFoundError as error:
            message = extras.missing(error, _command_asked_for())
            if message is None:
                raise
            fail(message)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output (head, less) has left
            sys.exit(1)
