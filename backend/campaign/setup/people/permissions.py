"""Permission checks: decorators that say who may call a verb, asked of the project itself at every call.

A caller's `Person` says who they are, never what they may do: role and suspension count as the project has them now.
`Lead` and `Annotator` are made here and nowhere else, so a verb that takes one runs for nobody else.

*Reads* annotator. *Writes* nothing.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from backend.campaign.nouns import Annotator, Lead, Operator, Person, Role
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed
from backend.core.messages import said
from backend.store.connection import Store

P = ParamSpec("P")
R = TypeVar("R")
Verb = TypeVar("Verb", bound=Callable[..., Any])


def require_signed_in(store: Store, person: Person | Operator) -> Lead | Annotator:
    """Return a person as the project has them now.

    Raises:
        NotAllowed: nobody here, suspended, or the operator, who is no person.
    """
    if isinstance(person, Operator):
        raise NotAllowed(said("the operator of the machine has no account here: sign in as a person"))
    found = people.by_id(store.db, person.annotator_id)
    if found is None:
        raise NotAllowed(said("{name} is not in this project (any more): sign in again", name=person.name))
    if found.suspended:
        raise NotAllowed(said("{name} is suspended: ask your lead", name=found.name))
    if found.role is Role.LEAD:
        return Lead(found.annotator_id, found.name, found.role)
    return Annotator(found.annotator_id, found.name, found.role)


def require_lead(store: Store, person: Person | Operator) -> Lead:
    """Return a person who is a lead now.

    Raises:
        NotAllowed: not a lead (any more).
    """
    found = require_signed_in(store, person)
    if not isinstance(found, Lead):
        raise NotAllowed(
            said("only leads may do this; {name} is signed in as {role}", name=found.name, role=said("annotator"))
        )
    return found


def require_annotator(store: Store, person: Person | Operator) -> Annotator:
    """Return a person who is an annotator now.

    Raises:
        NotAllowed: not an annotator (any more).
    """
    found = require_signed_in(store, person)
    if not isinstance(found, Annotator):
        raise NotAllowed(said("leads do not grade, so that their decisions stay independent: sign in as an annotator"))
    return found


def require_in_charge(store: Store, by: Person | Operator) -> Lead | Operator:
    """Return a person who is a lead now, or the operator.

    Raises:
        NotAllowed: neither.
    """
    return by if isinstance(by, Operator) else require_lead(store, by)


def lead_only(verb: Callable[Concatenate[Project, Lead, P], R]) -> Callable[Concatenate[Project, Person, P], R]:
    """Let only leads call a verb: what goes on record under a lead's name, or is shown on a lead's page."""
    return _checked(verb, require_lead, "lead_only")


def annotator_only(
    verb: Callable[Concatenate[Project, Annotator, P], R],
) -> Callable[Concatenate[Project, Person, P], R]:
    """Let only annotators call a verb."""
    return _checked(verb, require_annotator, "annotator_only")


def signed_in(
    verb: Callable[Concatenate[Project, Lead | Annotator, P], R],
) -> Callable[Concatenate[Project, Person, P], R]:
    """Let everybody who works here call a verb; it tells leads and annotators apart by their types."""
    return _checked(verb, require_signed_in, "signed_in")


def in_charge(
    verb: Callable[Concatenate[Project, Lead | Operator, P], R],
) -> Callable[Concatenate[Project, Person | Operator, P], R]:
    """Let leads call a verb, and the operator: whoever runs commands on the machine that holds the project."""
    return _checked(verb, require_in_charge, "in_charge")


def public(verb: Verb) -> Verb:
    """Let everybody call a verb, whoever they are: signing in, and what a server asks about itself."""
    verb.permission = "public"  # type: ignore[attr-defined]
    return verb


def commands_only(verb: Verb) -> Verb:
    """Leave a verb, which asks nobody, to commands on the machine that holds the project: no page or route calls it."""
    verb.permission = "commands_only"  # type: ignore[attr-defined]
    return verb


def _checked(
    verb: Callable[..., R], require: Callable[[Store, Any], Person | Operator], permission: str
) -> Callable[..., R]:
    @wraps(verb)
    def checked(project: Project, person: Person | Operator, *args: Any, **kwargs: Any) -> R:
        return verb(project, require(project.store, person), *args, **kwargs)

    checked.permission = permission  # type: ignore[attr-defined]
    return checked


@lead_only
def lead_of(project: Project, lead: Lead) -> Lead:
    """Return a person as a lead, if they are one now.

    Raises:
        NotAllowed: they are not, with a sentence for them.
    """
    return lead


@annotator_only
def annotator_of(project: Project, annotator: Annotator) -> Annotator:
    """Return a person as an annotator, if they are one now.

    Raises:
        NotAllowed: they are not, with a sentence for them.
    """
    return annotator
