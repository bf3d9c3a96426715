"""What the front ends of a project share: attempts to sign in, drafts, long work. Who has the desk: see `exchange`.

And whether one of them can serve.
"""

from collections.abc import Mapping

from backend.campaign.nouns import Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving import attempts, drafts, readiness, work
from backend.campaign.setup.serving.model import Delay, LongWork, Typed, WorkOutcome, WorkState
from backend.core.ids import AnnotatorId


def not_ready(project: Project) -> tuple[str, ...]:
    """What keeps this front end from serving, in single words for strangers; nothing where it can.

    `database`: it cannot be read; `schema`: it is of another version than this code; `clips`: no clip can be kept.
    """
    return readiness.lacking(project)


def begin_attempt(project: Project, name: str, address: str, browser: str | None, *, now: float) -> Delay:
    """Count an attempt to sign in, before the password is checked, and return how it is slowed down.

    `browser` is the cookie of a known browser (`knows_browser`), if it is one.
    """
    return attempts.begin(project.store, name, address, browser, now=now)


def attempt_succeeded(project: Project, name: str, address: str, browser: str | None) -> None:
    """Forget the failures of this attempt's owner: the password was right."""
    attempts.succeeded(project.store, name, address, browser)


def keep_draft(project: Project, person: AnnotatorId, place: str, values: Mapping[str, object], *, now: float) -> None:
    """What somebody, whose session has ended, had typed on the page at `/place`: for them alone, for an hour."""
    drafts.keep(project.store, person, place, values, now=now)


def take_draft(project: Project, person: Person, place: str, *, now: float) -> dict[str, Typed]:
    """What this person had typed there, once; nothing if there is none, or it is older than an hour."""
    return drafts.take(project.store, permissions.require_signed_in(project.store, person), place, now=now)


def begin_work(project: Project, lead: Person, step: str, title: str, asked: Mapping[str, str], *, now: float) -> str:
    """Note that long work begins; the key by which `tell_work` and `end_work` know it.

    Raises:
        ProjectError: another one is under way, at whichever front end.
    """
    return work.begin(project.store, permissions.require_lead(project.store, lead), step, title, asked, now=now)


def look_at_work(project: Project, lead: Person, *, now: float) -> LongWork | None:
    """The last long work, as it stands, whichever front end does it; None if there is none to look at."""
    permissions.require_lead(project.store, lead)
    return work.look(project.store, now=now)


def tell_work(project: Project, key: str, what: str, done: int, total: int, *, now: float) -> None:
    """How far long work has come, and that it is still there: at least every 30 s, or it counts as cut short."""
    work.tell(project.store, key, what, done, total, now=now)


def end_work(
    project: Project, key: str, state: WorkState, outcome: WorkOutcome, refusal: str = "", *, now: float
) -> None:
    """How long work ended."""
    work.end(project.store, key, state, outcome, refusal, now=now)


def put_work_away(project: Project, lead: Person, *, now: float) -> None:
    """Show the last long work no more; one that is under way stays."""
    permissions.require_lead(project.store, lead)
    work.put_away(project.store, now=now)
