"""The command line: each command parses its options, calls a function of the back end and prints the result.

Commands import what they use when they run, so that `--help` and small commands start fast.

Exit codes: 0 success; 1 refused, or a problem was found, with a message; 2 wrong usage.
Results go to standard output. Progress goes to standard error, and only to a terminal.
"""

import sys
from functools import cache

from typer.core import TyperGroup
from typer.main import get_group

from backend.cli import (  # noqa: F401  (each adds its commands)
    candidates,
    captions,
    corpus,
    evaluate,
    exam,
    judge,
    judgements,
    measures,
    moments,
    mvmr,
    parts,
    people,
    pipeline,
    project,
    qualification,
    releases,
    replay,
    runs,
    service,
    systems,
    videos,
    webhooks,
)
from backend.cli.commands import app
from backend.cli.output import fail, say, tell_freed, visible_output
from backend.core import extras
from backend.core.errors import AlreadyDone, ReelRankError


@cache
def command() -> TyperGroup:
    """Return the group of all commands.

    It is built on the first call only, because building it takes longer than most commands.
    """
    return get_group(app)


def _command_asked_for() -> str:
    """Return the command that the user typed, such as `stats`, or `mvmr figures` for a command of a group."""
    names: list[str] = []
    here: object = command()
    for word in sys.argv[1:]:
        here = getattr(here, "commands", {}).get(word)
        if here is None:
            break
        names.append(word)
    return " ".join(names)


def main() -> None:
    """Run the command that the user typed; print an expected error as a message instead of a traceback."""
    with visible_output():
        try:
            command()()
        except AlreadyDone as done:
            say(str(done))
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
        finally:
            if not sys.stderr.closed:
                tell_freed()
