"""Several windows of one person: the one that took the desk last is at work, the others stand still.

They may be of different browsers, on different computers, and talk to different front ends.
"""

from backend.campaign.nouns import Person
from backend.campaign.setup.serving import rows
from backend.store.connection import Store, writing


def is_elsewhere(store: Store, person: Person, window: str, *, takes: bool, now: float) -> bool:
    """Whether another window has the desk; none, for a window that has no name.

    Args:
        store: the database.
        person: whose desk it is.
        window: the name that the page gave itself.
        takes: this window takes the desk now.
        now: seconds since 1970.
    """
    if not window:
        return False
    holder = rows.window_at_desk(store.db, person.annotator_id)
    if takes and holder != window:
        with writing(store) as db:
            rows.take_desk(db, person.annotator_id, window, at=now)
    return not takes and holder not in (None, window)
