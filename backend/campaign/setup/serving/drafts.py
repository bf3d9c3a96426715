"""What somebody had typed when their session ended: kept for them alone, until they are back where they were.

For an hour, because it is nobody's record; never in the browser, where the next person at the same computer would find
it.
"""

from collections.abc import Mapping

from backend.campaign.nouns import Person
from backend.campaign.setup.serving import rows, rules
from backend.campaign.setup.serving.model import Typed
from backend.core.ids import AnnotatorId
from backend.store.connection import Store, writing


def keep(store: Store, person: AnnotatorId, place: str, values: Mapping[str, object], *, now: float) -> None:
    """Keep what is worth it; a newer draft of a person at a place takes that of an older one."""
    typed = rules.worth_keeping(values)
    if not typed:
        return
    with writing(store) as db:
        rows.forget_drafts(db, until=now - rules.DRAFT_S)
        rows.keep_draft(db, person, place, typed, at=now)


def take(store: Store, person: Person, place: str, *, now: float) -> dict[str, Typed]:
    """What this person had typed at this place, once; nothing if there is none, or it is too old."""
    if not rows.has_draft(store.db, person.annotator_id, place):
        return {}  # at every run of every page, so without a write
    with writing(store) as db:
        rows.forget_drafts(db, until=now - rules.DRAFT_S)
        return rows.take_draft(db, person.annotator_id, place)
