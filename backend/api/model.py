"""Describe what a script can ask of a campaign: operations, who may call them, and lists that become data frames."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec

from backend.campaign.nouns import Operator, Person
from backend.core import extras
from backend.core.errors import NotAllowed, Problem
from backend.core.messages import as_text, said

if TYPE_CHECKING:
    from pandas import DataFrame

Row = TypeVar("Row")
Caller = Person | Operator
"""Who asks: a person of the project, or the operator, who runs programs on the machine that holds the project."""
SentFile = Path | str
"""The type of an argument that is a file of the caller. Over a network its content is sent, not its path."""


class Needs(StrEnum):
    """Who may call an operation (a method of `Campaign`), for use in documentation.

    The check itself is made by the functions that the operation calls.
    """

    IN_CHARGE = "a lead or the operator"
    LEAD = "a lead"
    ANNOTATOR = "an annotator"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a script can ask of a campaign, in this process or over a network.

    `function` takes the project, the caller, and then the arguments of the script. These arguments and the result are
    plain values: numbers, texts, lists, and dataclasses of them, which msgspec can encode and decode. An argument of
    type `SentFile` is a file of the caller. A result of type `Path` is a file for the caller. `acts` says whether it
    changes the campaign; otherwise it only reads.
    """

    name: str
    function: Callable[..., Any]
    needs: Needs
    acts: bool

    @property
    def signature(self) -> inspect.Signature:
        """The arguments that a script passes, with their types, and the type of the result."""
        # Modules import the project's class for type checkers only, because it loads the database.
        hints = get_type_hints(self.function, localns={"Project": object})
        _, _, *arguments = inspect.signature(self.function).parameters.values()
        return inspect.Signature(
            [argument.replace(annotation=hints[argument.name]) for argument in arguments],
            return_annotation=hints["return"],
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the arguments that take a file."""
        arguments = self.signature.parameters.values()
        return tuple(argument.name for argument in arguments if Path in get_args(argument.annotation))


@dataclass(frozen=True, slots=True)
class AddedVideos:
    """The result of adding a folder of videos: their names, sorted, and the files that were not added."""

    videos: list[str]
    new: int
    """How many of them the project did not have before."""
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class Invitation:
    """A one-time link that a person opens to choose a password."""

    name: str
    role: str
    link: str


@dataclass(frozen=True, slots=True)
class RunScores:
    """The scores of one stored run (ranked results of a system), as in `runs` of `reelrank evaluate --json`.

    `queries` counts the queries of the ground truth that the run answers. `missing` has the numbers of the queries
    that it does not answer. `measures` maps keys such as `ndcg@10,0.5` to means over the queries. An `upper_bound` is a
    run that uses information which no competing system has, such as the captions.
    """

    name: str
    queries: int
    missing: list[int | str]
    measures: dict[str, float]
    upper_bound: bool = False


@dataclass(frozen=True, slots=True)
class LeaderboardScores:
    """The scores of the stored runs against one ground truth.

    `queries` and `moments` are the numbers of queries and graded moments in the truth; None if no run could be scored.
    `left_out` maps each run that could not be scored to the reason. `preset` names the set of scoring rules, and
    `options` has the rules that differ from it. `warnings` and `notes` are sentences about the scores.
    """

    truth: str
    preset: str
    queries: int | None
    moments: int | None
    runs: list[RunScores]
    left_out: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_frame(self) -> "DataFrame":
        """Return a pandas data frame with a row for each run and a column for each measure."""
        extras.require_pandas()
        import pandas as pd

        return pd.DataFrame.from_dict({run.name: run.measures for run in self.runs}, orient="index").rename_axis("run")


class Records(list[Row]):
    """A list of values of one dataclass, such as judgements, which can become a data frame."""

    def __init__(self, values: Iterable[Row], kind: type) -> None:
        """Take the values; `kind` is their dataclass."""
        super().__init__(values)
        self._kind = kind

    def to_frame(self) -> "DataFrame":
        """Return a pandas data frame with a row for each value and a column for each field.

        If a field is a dataclass itself, it becomes several columns, such as `person.name` and `person.role`. Their
        cells are empty where the field is None.
        """
        extras.require_pandas()
        import pandas as pd

        columns = {
            ".".join(path): msgspec.to_builtins([_at(value, path) for value in self], enc_hook=as_text)
            for path in _paths(self._kind)
        }
        return pd.DataFrame(columns)


def _paths(kind: type, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield each field of a dataclass as a path of names, such as ("grade",).

    If a field is a dataclass itself, its fields are yielded instead, such as ("person", "name"). `before` is the start
    of every path.
    """
    hints = get_type_hints(kind)
    for one in fields(kind):
        hint = hints[one.name]
        inner = next((part for part in (hint, *get_args(hint)) if is_dataclass(part)), None)
        path = (*before, one.name)
        if isinstance(inner, type) and hint in (inner, inner | None):
            yield from _paths(inner, path)
        else:
            yield path


def _at(value: object, path: tuple[str, ...]) -> object:
    """Return the value at a path of field names, such as ("person", "name"); None if a value on the way is None."""
    for name in path:
        value = None if value is None else getattr(value, name)
    return value


def person_of(by: Caller) -> Person:
    """Return the caller, for operations that only a person with an account in the project can call.

    Raises:
        NotAllowed: the caller is the operator, who has no account in the project.
    """
    if isinstance(by, Operator):
        raise NotAllowed(
            said(
                "this needs a person of the project: open it as one, as in Campaign(folder, person={example!r})",
                example="Lea",
            )
        )
    return by
