"""Commands as a person gives them, without a Python of their own, which would import it all anew."""

from typer.testing import CliRunner

from backend import cli


def reelrank(*arguments: object) -> str:
    """What a command that succeeds writes to standard output."""
    done = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.stderr or repr(done.exception)
    return done.stdout
