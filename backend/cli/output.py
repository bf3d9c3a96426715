"""Print messages, tables, JSON and progress, and write files, for all commands."""

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

from backend.core.leftovers import freed
from backend.core.messages import as_text
from backend.core.progress import Progress
from backend.core.text_files import visible


def json_text(value: object) -> str:
    """Return a value as `--json` prints it."""
    return msgspec.json.encode(value, enc_hook=as_text).decode()


def now() -> float:
    """Return the time in seconds since 1970. It may jump, so `seconds` does not use it."""
    return time.time()


def minute(at: float) -> str:
    """Format an instant in UTC, to the minute: `2026-03-14 09:26 UTC`."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


class _Visible:
    """A text stream that writes control characters visibly, and passes everything else to the stream it wraps."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text, with its control characters made visible."""
        return self.stream.write(visible(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of several texts, with its control characters made visible."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Escape control characters in everything that is printed inside this block.

    After an unexpected error, escaping continues, so that the traceback is escaped too.
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
    """Return the stream that `visible_output` wraps, for texts that are escaped already."""
    return stream.stream if isinstance(stream, _Visible) else stream


def machine_output() -> TextIO:
    """Return standard output for tables that programs read: every text as it is, except on a terminal."""
    return sys.stdout if sys.stdout.isatty() else as_is(sys.stdout)


def say(text: str) -> None:
    """Print a message on standard output."""
    sys.stdout.write(text + "\n")


def say_done(done: str) -> None:
    """Print that the same was done before (`backend.store.events.done_before`), unless `done` is empty."""
    if done:
        say(done)


def say_each(sentence: str, values: Iterable[object]) -> None:
    """Print one line for each value, from a template such as `Note: {}`."""
    for value in values:
        say(sentence.format(value))


def paragraph(text: str) -> None:
    """Print a message, wrapped between words on a terminal and as one line elsewhere."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    say(text)


def fail(message: str) -> NoReturn:
    """Print why a command was refused, and exit with code 1.

    Commands in the message begin as the user typed them, such as `.venv/bin/reelrank`.
    """
    typed = sys.argv[0]
    if Path(typed).name == "reelrank" and shutil.which("reelrank") is None:
        message = message.replace("`reelrank ", f"`{typed} ")
    sys.stderr.write(f"reelrank: {message}\n")
    raise SystemExit(1)


def end_with_json(value: object) -> NoReturn:
    """Print a value as JSON, and end the command."""
    say(json_text(value))
    raise typer.Exit


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "pair"), counted(1204, "pair"), counted(2, "query", "queries")
    ('1 pair', '1,204 pairs', '2 queries')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def first_of(values: Sequence[object], most: int, more: str = " and {:,} more") -> str:
    """Name the first values, and say how many more there are.

    >>> first_of([3, 1, 2], 2)
    '3, 1 and 1 more'
    """
    rest = more.format(len(values) - most) if len(values) > most else ""
    return f"{', '.join(map(str, values[:most]))}{rest}"


def save(path: Path, text: str) -> None:
    """Write a file, or refuse with the reason why it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")


@contextmanager
def printed_to(path: Path | None, *, as_it_is: bool = False) -> Iterator[None]:
    """Redirect what is printed to a file, with control characters escaped unless `as_it_is`.

    If `path` is None, nothing is redirected.
    """
    if path is None:
        yield
        return
    text = io.StringIO()
    with redirect_stdout(text):
        yield
    save(path, text.getvalue() if as_it_is else visible(text.getvalue()))


def tell_written(paths: Iterable[Path | None], *, data: bool = False) -> None:
    """Print which files were written; None and `-` (standard output) are skipped.

    If standard output holds `data` for programs, this is printed on standard error.
    """
    for path in paths:
        if path is not None and str(path) != "-":
            (sys.stderr if data else sys.stdout).write(f"Written: {path}\n")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a bar for each running step; nothing if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda step, done, total: None
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

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(visible(step), total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield report


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], left: Sequence[bool] = ()) -> None:
    """Print a plain table; columns are right-aligned except the first, or those in `left`."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for n, column in enumerate(columns):
        flush = left[n] if left else n == 0
        grid.add_column(visible(column), justify="left" if flush else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(visible(str(cell)) for cell in row))
    # In a file or a pipe nothing is folded.
    width = None if sys.stdout.isatty() else 2_000
    Console(file=as_is(sys.stdout), markup=False, highlight=False, soft_wrap=True, width=width).print(grid)


def tell_freed() -> None:
    """Print on standard error how much was removed of what killed processes had left, if anything was."""
    if freed.number:
        what = counted(freed.number, "unfinished file or folder", "unfinished files and folders")
        sys.stderr.write(f"Removed {what} of killed commands: {freed.size / 1e6:.1f} MB freed.\n")
        freed.number = freed.size = 0


def seconds(start: float) -> str:
    """Return the time since `start`, which `time.monotonic` returned, as text such as `3.2 s`."""
    return f"{time.monotonic() - start:.1f} s"
