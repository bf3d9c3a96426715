"""The one gate: who may do what, asked of the project itself whenever the api is called.

*Reads* annotator. *Writes* nothing.

What a caller holds says who somebody is, never what they may do: role and suspension count as they stand in the
project now. `Lead` and `Annotator` are made here and nowhere else, so a verb that takes one is for nobody else.
"""

from backend.campaign.nouns import Annotator, Lead, Operator, Person, Role
from backend.campaign.people import rows as people
from backend.ground.errors import NotAllowed
from backend.ground.saying import said
from backend.store.connection import Store


def signed_in(store: Store, person: Person) -> Lead | Annotator:
    """Anybody who works here.

    Raises:
        NotAllowed: nobody here, or suspended.
    """
    found = people.by_id(store.db, person.annotator_id)
    if found is None:
        raise NotAllowed(said("{name} is not in this project (any more): sign in again", name=person.name))
    if found.suspended:
        raise NotAllowed(said("{name} is suspended: ask your lead", name=found.name))
    if found.role is Role.LEAD:
        return Lead(found.annotator_id, found.name, found.role)
    return Annotator(found.annotator_id, found.name, found.role)


def lead_of(store: Store, person: Person) -> Lead:
    """A lead.

    Raises:
        NotAllowed: not a lead (any more).
    """
    found = signed_in(store, person)
    if not isinstance(found, Lead):
        raise NotAllowed(
            said("only leads may do this; {name} is signed in as {role}", name=found.name, role=said("annotator"))
        )
    return found


def annotator_of(store: Store, person: Person) -> Annotator:
    """An annotator.

    Raises:
        NotAllowed: not an annotator (any more).
    """
    found = signed_in(store, person)
    if not isinstance(found, Annotator):
        raise NotAllowed(said("leads do not grade, so that their decisions stay independent: sign in as an annotator"))
    return found


def in_charge(store: Store, by: Person | Operator) -> Lead | Operator:
    """A lead, or whoever runs commands on the machine itself.

    Raises:
        NotAllowed: neither.
    """
    return by if isinstance(by, Operator) else lead_of(store, by)
