"""Define the errors that people read: each says what is wrong, where, and what to do next.

Any exception that is not a `ReelRankError` is a bug and should look like one: the command line and the app catch only
this family. Each class also inherits from the built-in exception that it refines, if there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from backend.core.messages import Said, joined, said, said_n


class ReelRankError(Exception):
    """Base of all errors that users read. Their texts are translatable messages (`backend.core.messages`)."""

    @classmethod
    def said(cls, text: str, /, **values: object) -> Self:
        """Return an error with a translatable text: a template in which `values` replace the names in braces."""
        return cls(Said(text, values))


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input file; `row` counts from 1 (None = the file as a whole)."""

    file: str
    row: int | None
    message: str

    def __str__(self) -> str:
        """Return a line such as `moments.csv, row 7: end 3.0 is not after start 4.0`."""
        if self.row is None:
            return said("{file}: {message}", file=self.file, message=self.message)
        return said("{file}, row {row}: {message}", file=self.file, row=self.row, message=self.message)


class InputError(ReelRankError, ValueError):
    """An input file was rejected as a whole, and nothing of it was stored; `problems` holds every problem found."""

    SHOWN = 10

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[: self.SHOWN]]
        if len(self.problems) > self.SHOWN:
            further = len(self.problems) - self.SHOWN
            lines.append(said_n("... and {n} more problems", "... and {n} more problems", further))
        super().__init__(joined("\n", lines))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how pickle rebuilds the error in another process."""
        return type(self), (self.problems,)

    @classmethod
    def single(cls, file: object, message: str, row: int | None = None) -> "InputError":
        """Return an `InputError` with one problem."""
        return cls([Problem(str(file), row, message)])


class ProjectError(ReelRankError):
    """The project folder is not in the state that a command needs."""


class AlreadyDone(ProjectError):
    """Exactly what was asked for is there already, such as after a killed command; the text says who did it and when.

    Commands print it and end with the exit code 0.
    """


class SchemaOutOfDate(ProjectError):
    """The database is older (run `reelrank migrate`) or newer (update ReelRank) than this code."""


class StoreUnavailable(ProjectError, OSError):
    """The database cannot be written (or read) now. The data of this attempt are not saved; earlier data are."""


class BeingUpgraded(StoreUnavailable, SchemaOutOfDate):
    """The database is being upgraded, or was upgraded while this process ran an older version of ReelRank."""


class TextRefused(ReelRankError, ValueError):
    """A text has a character that some databases cannot store: NUL, or half of a surrogate pair."""


class VideoUnreadable(ReelRankError, OSError):
    """A video file is missing, is not a video, or holds no picture where one is needed."""

    @classmethod
    def named(cls, name: str, why: str) -> "VideoUnreadable":
        """Return an error such as `a.mp4 is not a video file`."""
        return cls(said("{name} {why}", name=name, why=why))

    @classmethod
    def about(cls, name: str, why: str) -> "VideoUnreadable":
        """Return an error such as `a.mp4: no video file in /srv/videos`."""
        return cls(said("{name}: {why}", name=name, why=why))


class NoRoom(ReelRankError, OSError):
    """The disk is full. The output was not made, and nothing is wrong with its input."""


class StorageUnavailable(ReelRankError, OSError):
    """Data at an address cannot be read now, or the access keys do not allow it; the data themselves may be fine."""


class WorkerLost(ReelRankError):
    """A unit of work failed because every process that ran it died."""


class ClusterUnavailable(ReelRankError, OSError):
    """A cluster cannot do the work: no scheduler or worker answers, or a worker lacks this program or a file."""


class ServerUnavailable(ReelRankError, OSError):
    """A server that runs a campaign cannot be reached, or does not answer as one."""


class EncoderUnavailable(ReelRankError, OSError):
    """A sentence encoder could not be loaded; the text names one that works offline."""


class EndpointUnavailable(ReelRankError, OSError):
    """A language model could not be reached, or its endpoint failed for good; its earlier answers are kept."""


class TaggerUnavailable(ReelRankError, OSError):
    """The model that finds names cannot run: the model, its package or its Python is missing."""


class SignInRefused(ReelRankError, PermissionError):
    """Wrong name or password, too many attempts, or a used-up invitation."""


class NotAllowed(ReelRankError, PermissionError):
    """The person lacks the permission for what they tried to do."""


class Overtaken(ReelRankError):
    """Somebody else acted first; the text says who, what and when, so that the person can check and act again."""


class SeatUnavailable(ReelRankError):
    """The annotator has no place (any more) at this pair of a query and a clip, so their grade cannot count."""


class PairLocked(ReelRankError):
    """The pair of a query and a clip has enough grades for its relevance, or its grade can no longer be changed."""
