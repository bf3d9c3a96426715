"""Report how far long work has come."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, done so far, all of it)."""

Steps = Callable[[int, int], None]
"""The same about one thing, which whoever asked for it names: called with (done so far, all of it)."""


def named(progress: Progress | None, what: str) -> Steps | None:
    """Tell the steps of one thing under its name; None where nobody listens."""
    return (lambda done, total: progress(what, done, total)) if progress else None
