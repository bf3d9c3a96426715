"""The order in which clips are cut: by priority, then round-robin by person. Pure data, no event loop."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

from annotate_app.language import tr
from annotate_app.session.bodies import TooMuch
from backend.core.ids import AnnotatorId

MOST_WAITING = 48
"""Clips that one person may have waiting. The page that asks for most, a lead's list, asks for 25."""

Key = TypeVar("Key", bound=Hashable)


class Priority(IntEnum):
    """What a clip is wanted for; smaller goes first."""

    DESK = 0
    """Somebody waits for it at the desk, in the practice or in a review."""
    AHEAD = 1
    """It will soon be on somebody's desk; no request waits for it."""
    CONTEXT = 2
    """The seconds around a moment, or an example of the guideline."""
    EXTRA = 3
    """Storyboards, GIFs, thumbnails and the moments of a lead's lists."""


@dataclass
class _Waiting:
    """A clip that waits. `claims` counts who wants it, at which priority."""

    number: int
    claims: Counter[tuple[Priority, AnnotatorId]] = field(default_factory=Counter)


class ClipQueue(Generic[Key]):
    """Clips that wait to be cut, each once however many people want it.

    The best priority goes first. Within a priority, whoever was served longest ago goes first, so that each other
    person gets at most one clip of the same priority before yours. Within a person, the oldest clip goes first.

    >>> queue = ClipQueue[str]()
    >>> for clip in ("a", "b", "c"):
    ...     _ = queue.add(clip, AnnotatorId(1), Priority.DESK)
    >>> queue.next()
    'a'
    >>> _ = queue.add("d", AnnotatorId(2), Priority.DESK)
    >>> [queue.next() for _ in range(4)]
    ['d', 'b', 'c', None]
    """

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._waiting: dict[Key, _Waiting] = {}
        self._numbers = itertools.count(1)
        self._served: defaultdict[AnnotatorId, int] = defaultdict(int)
        """When each person was last served, as a running number."""

    def __contains__(self, key: Key) -> bool:
        """Whether a clip waits."""
        return key in self._waiting

    def counts(self) -> Counter[Priority]:
        """Return how many clips wait at each priority."""
        return Counter(min(waiting.claims)[0] for waiting in self._waiting.values())

    def add(self, key: Key, person: AnnotatorId, priority: Priority) -> Key | None:
        """Note that a person wants a clip, and return the clip that left the queue for it, if any.

        Whoever has `most` clips waiting loses the oldest one that was only to be cut ahead.

        Raises:
            TooMuch: this person has `most` clips waiting, and requests wait for all of them.
        """
        left: Key | None = None
        waiting = self._waiting.get(key)
        if not (waiting and any(who == person for _, who in waiting.claims)):
            wanted = [found for found, other in self._waiting.items() if any(who == person for _, who in other.claims)]
            if len(wanted) >= self._most:
                left = self._dropped_for(wanted, person)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(next(self._numbers))
        waiting.claims[priority, person] += 1
        if priority is Priority.AHEAD:
            waiting.claims[priority, person] = 1  # every exchange asks for the whole desk again
        return left

    def leave(self, key: Key, person: AnnotatorId, priority: Priority) -> bool:
        """Take back one `add`; return whether the clip left the queue because nobody else wants it."""
        waiting = self._waiting.get(key)
        if waiting is None or (priority, person) not in waiting.claims:
            return False
        waiting.claims[priority, person] -= 1
        if not waiting.claims[priority, person]:
            del waiting.claims[priority, person]
        if not waiting.claims:
            del self._waiting[key]
        return key not in self._waiting

    def next(self) -> Key | None:
        """Remove the clip whose turn it is, and return it."""
        turns = (
            (priority, self._served[person], waiting.number, person, key)
            for key, waiting in self._waiting.items()
            for priority, person in waiting.claims
        )
        first = min(turns, key=lambda turn: turn[:3], default=None)
        if first is None:
            return None
        _, _, _, person, key = first
        self._served[person] = next(self._numbers)
        del self._waiting[key]
        return key

    def _dropped_for(self, wanted: list[Key], person: AnnotatorId) -> Key | None:
        """Take back this person's oldest clip that no request of theirs waits for."""
        for key in wanted:
            if all(who != person or priority is Priority.AHEAD for priority, who in self._waiting[key].claims):
                return key if self.leave(key, person, Priority.AHEAD) else None
        raise TooMuch(tr("Too many clips at once. Please wait a moment."), 2)
