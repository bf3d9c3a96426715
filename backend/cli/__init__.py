"""The command line: one command a stage. Parses, calls `backend.api`, prints.

Exit codes: 0 fine, 1 refused, or something wrong was found or left out, with a message, 2 wrong usage.
Progress goes to standard error and only to a terminal; results go to standard output.
"""

import sys
from functools import cache

import typer
from typer.core import TyperGroup
from typer.main import get_group

from backend.cli import (
    activity,
    agreement,
    batches,
    candidates,
    cast,
    clips,
    corpus,
    describe,
    earlier,
    evaluate,
    exam,
    flags,
    gold,
    guideline,
    hours,
    learning,
    matching,
    measures,
    moments,
    mvmr,
    people,
    pipeline,
    queries,
    releases,
    rewrite,
    runs,
    scoring,
    service,
    stats,
    systems,
    trial,
    tutorial,
    upkeep,
    videos,
)
from backend.cli.output import fail, visible_output
from backend.ground import extras
from backend.ground.errors import ReelRankError

app = typer.Typer(
    help="ReelRank: from videos with captioned moments to graded ground truth, and scores against it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
for part in (
    pipeline,
    activity,
    corpus,
    moments,
    videos,
    describe,
    stats,
    cast,
    rewrite,
    queries,
    candidates,
    batches,
    earlier,
    people,
    trial,
    exam,
    flags,
    gold,
    guideline,
    hours,
    tutorial,
    clips,
    service,
    runs,
    scoring,
    agreement,
    releases,
    evaluate,
    matching,
    measures,
    mvmr,
    systems,
    learning,
    upkeep,
):
    part.register(app)


@cache
def command() -> TyperGroup:
    """All commands, put together once a process, which costs more than most of them."""
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
