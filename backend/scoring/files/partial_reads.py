"""Keep what could be read of a refused file, so that the problems of the rest are told at the same time."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from backend.core.errors import InputError, Problem
from backend.scoring.matching.columns import Run, Truth

_Item = TypeVar("_Item")


class Some(list[_Item]):
    """What could be read, and what is wrong with the rest."""

    def __init__(self, items: Iterable[_Item] = (), problems: Iterable[Problem] = ()) -> None:
        super().__init__(items)
        self.problems = list(problems)


class PartlyRead(InputError):
    """A file is refused for its shape; `rest` is what of it has the right one, whose values may be wrong, too."""

    def __init__(self, problems: Sequence[Problem], rest: Truth | Run) -> None:
        super().__init__(sorted(problems, key=lambda problem: problem.row or 0))
        self.rest = rest

    def __reduce__(self) -> tuple[Any, ...]:
        """As it travels from one process to another."""
        return type(self), (self.problems, self.rest)


def problems_with(items: Sequence[object]) -> list[Problem]:
    """What is wrong with what is not among these."""
    return items.problems if isinstance(items, Some) else []
