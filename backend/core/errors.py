"""The refusals that people read: each says what is wrong, where, and what to do next.

Anything that is not a `ReelRankError` is a bug and should look like one: the command line and the app catch
this family only. Each member also inherits the builtin it refines, where one exists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from backend.core.messages import Said, joined, said, said_n


class ReelRankError(Exception):
    """Base of all refusals; its text is written for the person who caused it, with `backend.core.messages`."""

    @classmethod
    def said(cls, text: str, /, **values: object) -> Self:
        """Return a refusal from a template and its values; see `messages.said`."""
        return cls(Said(text, values))


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input file: `row` counts from 1 (None = the file as a whole)."""

    file: str
    row: int | None
    message: str

    def __str__(self) -> str:
        """`moments.csv, row 7: end 3.0 is not after start 4.0`."""
        if self.row is None:
            return said("{file}: {message}", file=self.file, message=self.message)
        return said("{file}, row {row}: {message}", file=self.file, row=self.row, message=self.message)


class InputError(ReelRankError, ValueError):
    """A file was refused as a whole; nothing of it was taken. `problems` holds every finding."""

    SHOWN = 10

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[: self.SHOWN]]
        if len(self.problems) > self.SHOWN:
            more = len(self.problems) - self.SHOWN
            lines.append(said_n("... and {n} more problems", "... and {n} more problems", more))
        super().__init__(joined("\n", lines))

    def __reduce__(self) -> tuple[Any, ...]:
        """As it travels from one process to another."""
        return type(self), (self.problems,)

    @classmethod
    def single(cls, file: object, message: str, row: int | None = None) -> "InputError":
        """An `InputError` with one problem."""
        return cls([Problem(str(file), row, message)])


class ProjectError(ReelRankError):
    """The project folder is not in the state that a command needs."""


class SchemaOutOfDate(ProjectError):
    """The database is older (run `reelrank migrate`) or newer (update ReelRank) than this code."""


class StoreUnavailable(ProjectError, OSError):
    """The database cannot be written (or read) just now. What was to be saved was not; what was saved before is."""


class TextRefused(ReelRankError, ValueError):
    """A text has a character that not every database keeps: NUL, or half of a surrogate pair."""


class VideoUnreadable(ReelRankError, OSError):
    """A video file is missing, is not a video, or holds no picture where one is needed."""

    @classmethod
    def named(cls, name: str, why: str) -> "VideoUnreadable":
        """`a.mp4 is not a video file`."""
        return cls(said("{name} {why}", name=name, why=why))

    @classmethod
    def about(cls, name: str, why: str) -> "VideoUnreadable":
        """`a.mp4: no video file in /srv/videos`."""
        return cls(said("{name}: {why}", name=name, why=why))


class NoRoom(ReelRankError, OSError):
    """The disk is full. What was to be made is not there, and nothing is wrong with what it is made of."""


class StorageUnavailable(ReelRankError, OSError):
    """What lies at an address cannot be read just now, or not with these keys. Nothing is known to be wrong with it."""


class WorkerLost(ReelRankError):
    """A piece of work ends every process that takes it up."""


class ClusterUnavailable(ReelRankError, OSError):
    """A cluster cannot do the work: no scheduler or worker answers, or a worker lacks this program or a file."""


class EncoderUnavailable(ReelRankError, OSError):
    """A sentence encoder could not be loaded; the text names one that works offline."""


class EndpointUnavailable(ReelRankError, OSError):
    """A language model could not be asked, or its endpoint failed for good; what it answered before is kept."""


class TaggerUnavailable(ReelRankError, OSError):
    """Names cannot be looked for by a model: it, its package or its Python is not there."""


class SignInRefused(ReelRankError, PermissionError):
    """Wrong name or password, too many attempts, or a used-up invitation."""


class NotAllowed(ReelRankError, PermissionError):
    """The person's role does not include this."""


class Overtaken(ReelRankError):
    """Somebody else acted first; the text says who, what and when. Look at it, and act again if it is still wanted."""


class SeatUnavailable(ReelRankError):
    """The seat at this pair is no longer the person's, so the grade cannot count."""


class PairLocked(ReelRankError):
    """The pair is settled; its grades cannot change any more."""
