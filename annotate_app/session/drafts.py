"""What somebody had typed when their session ended: kept for them alone, until they are back where they were.

In the memory of the server and for an hour, because it is nobody's record; never in the browser, where the next person
at the same computer would find it.
"""

import threading
from collections.abc import Mapping

from backend.ground.ids import AnnotatorId

KEPT_S = 3600.0
MOST_DRAFTS = 100
MOST_CHARACTERS = 20_000
Typed = str | int | float | frozenset[str]


class Drafts:
    """Drafts by person and page; a newer one takes the place of an older one.

    Example:
        >>> drafts = Drafts()
        >>> ana, ben = AnnotatorId(2), AnnotatorId(3)
        >>> drafts.keep(ana, "exam", {"reason": "wrote it", "button": True, "file": object()}, now=0.0)
        >>> drafts.take(ben, "exam", now=1.0), drafts.take(ana, "exam", now=1.0), drafts.take(ana, "exam", now=2.0)
        ({}, {'reason': 'wrote it'}, {})
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[AnnotatorId, str], tuple[float, dict[str, Typed]]] = {}
        self._turn = threading.Lock()

    def keep(self, person: AnnotatorId, place: str, values: Mapping[str, object], *, now: float) -> None:
        """Keeps texts, numbers and frozen sets; buttons, files and what else a page's session holds are left out."""
        typed = {
            key: value
            for key, value in values.items()
            if isinstance(value, str | int | float | frozenset) and not isinstance(value, bool)
        }
        if not typed or sum(len(str(value)) for value in typed.values()) > MOST_CHARACTERS:
            return
        with self._turn:
            self._drop_old(now)
            self._kept.pop((person, place), None)
            while len(self._kept) >= MOST_DRAFTS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[person, place] = (now, typed)

    def take(self, person: AnnotatorId, place: str, *, now: float) -> dict[str, Typed]:
        """What this person had typed at this place, once; nothing if there is none, or it is too old."""
        with self._turn:
            self._drop_old(now)
            return self._kept.pop((person, place), (now, {}))[1]

    def _drop_old(self, now: float) -> None:
        for key in [key for key, (at, _) in self._kept.items() if now - at > KEPT_S]:
            del self._kept[key]
