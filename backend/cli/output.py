"""What all commands share: progress bars, tables, messages."""

import io
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

import msgspec
import typer

from backend.core.messages import as_text
from backend.core.progress import Progress
from backend.core.text_files import visible


def json_text(value: object) -> str:
    """What `--json` prints of a value."""
    return msgspec.json.encode(value, enc_hook=as_text).decode()


def now() -> float:
    """Seconds since 1970; the only clock of the command line."""
    return time.time()


def minute(at: float) -> str:
    """An instant in UTC, to the minute: `2026-03-14 09:26 UTC`."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


class _Visible:
    """A text stream that writes control characters visibly, and is the stream itself in everything else."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text as a terminal may show it."""
        return self.stream.write(visible(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of these texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Escape control characters in everything that is printed to the terminal.

    After an unexpected error it stays so, for the traceback.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Visible(stream)) for stream in before)
    try:
        yield
    except SystemExit:
        sys.stdout, sys.stderr = before
        raise
    sys.stdout, sys.stderr = before


def as_is(stream: TextIO) -> TextIO:
    """Return the stream below `visible_output`, for what is made of visible texts already."""
    return stream.stream if isinstance(stream, _Visible) else stream


def machine_output() -> TextIO:
    """Return standard output for tables that programs read: every text as it is, except on a terminal."""
    return sys.stdout if sys.stdout.isatty() else as_is(sys.stdout)


def say(text: str) -> None:
    """A sentence for the person, on standard output."""
    sys.stdout.write(text + "\n")


def say_each(sentence: str, values: Iterable[object]) -> None:
    """Say a sentence of each value, such as `Note: {}`."""
    for value in values:
        say(sentence.format(value))


def paragraph(text: str) -> None:
    """Say something that a terminal breaks between words; elsewhere it stays one line."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    say(text)


def fail(message: str) -> NoReturn:
    """Say why a command was refused and leave with code 1.

    Whoever typed `.venv/bin/reelrank` is told commands that begin like that.
    """
    typed = sys.argv[0]
    if Path(typed).name == "reelrank" and shutil.which("reelrank") is None:
        message = message.replace("`reelrank ", f"`{typed} ")
    sys.stderr.write(f"reelrank: {message}\n")
    raise SystemExit(1)


def end_with_json(value: object) -> NoReturn:
    """Print a value as JSON and nothing more: the command ends."""
    say(json_text(value))
    raise typer.Exit


def first_of(values: Sequence[object], most: int, more: str = " and {:,} more") -> str:
    """Name the first values, and say how many more there are.

    >>> first_of([3, 1, 2], 2)
    '3, 1 and 1 more'
    """
    rest = more.format(len(values) - most) if len(values) > most else ""
    return f"{', '.join(map(str, values[:most]))}{rest}"


def save(path: Path, text: str) -> None:
    """Write a file that somebody asked for, or say why it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")


@contextmanager
def printed_to(path: Path | None, *, as_it_is: bool = False) -> Iterator[None]:
    """Write to a file what is printed within, control characters visibly unless `as_it_is`; no file: the screen."""
    if path is None:
        yield
        return
    text = io.StringIO()
    with redirect_stdout(text):
        yield
    save(path, text.getvalue() if as_it_is else visible(text.getvalue()))


def tell_written(paths: Iterable[Path | None], *, data: bool = False) -> None:
    """Say which files were written, on standard error where standard output carries data.

    None, and `-` for standard output, are passed over.
    """
    for path in paths:
        if path is not None and str(path) != "-":
            (sys.stderr if data else sys.stdout).write(f"Written: {path}\n")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar for each thing that is being done; silent when standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich import progress
    from rich.console import Console

    with progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(file=as_is(sys.stderr), highlight=False, soft_wrap=True),
    ) as bars:
        tasks: dict[str, progress.TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(visible(what), total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield report


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], left: Sequence[bool] = ()) -> None:
    """A plain table; every column but the first, or those that are `left`, is set flush right."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for n, column in enumerate(columns):
        flush = left[n] if left else n == 0
        grid.add_column(visible(column), justify="left" if flush else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(visible(str(cell)) for cell in row))
    # No screen is no narrow screen: in a file or a pipe nothing is folded.
    width = None if sys.stdout.isatty() else 2_000
    Console(file=as_is(sys.stdout), markup=False, highlight=False, soft_wrap=True, width=width).print(grid)


def seconds(start: float) -> str:
    """How long something took, as `3.2 s`."""
    return f"{now() - start:.1f} s"
