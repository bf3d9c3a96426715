"""Report the progress of long work."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""A function that is called with (name of the work, steps done, steps in all)."""

Steps = Callable[[int, int], None]
"""A function for one piece of work, which its caller names: called with (steps done, steps in all)."""


def steps_of(progress: Progress | None, name: str) -> Steps | None:
    """Return a function that passes (steps done, all steps) on to `progress`, with the `name` of the work.

    Without `progress` the result is None.
    """
    return (lambda done, total: progress(name, done, total)) if progress else None
