"""Read and set the licence and the citation of releases; each change is stored with its author, time and reason.

*Reads* and *writes* terms; *writes* an event.
"""

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export.model import TERMS_SET
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Terms
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.text_files import control_fault
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import reading, writing

LONGEST_LICENCE = 200
LONGEST_CITATION = 5000
LONGEST_REASON = 500


@in_charge
def release_terms(project: Project, by: Lead | Operator) -> Terms:
    """Return the licence and the citation of releases."""
    with reading(project.store) as db:
        return rows.terms(db)


@in_charge
def set_release_terms(
    project: Project,
    by: Lead | Operator,
    *,
    licence: str | None = None,
    citation: str | None = None,
    reason: str = "",
    now: float,
) -> Terms:
    """Set the licence, the citation, or both. None leaves a text as it is, and an empty text removes it.

    Args:
        project: the project.
        by: the person who sets them.
        licence: an SPDX name, or any text of one line.
        citation: how to cite a release, perhaps in BibTeX.
        reason: why they change; required if they were set before.
        now: seconds since 1970.

    Raises:
        ProjectError: nothing changes, a text is too long or has control characters, or a change has no reason.
    """
    reason = tidy(reason)
    with writing(project.store) as db:
        old = rows.terms(db)
        new = Terms(
            old.licence if licence is None else tidy(licence),
            old.citation if citation is None else citation.strip().replace("\r\n", "\n"),
            reason,
        )
        for field, text, longest in (
            (said("licence"), new.licence, LONGEST_LICENCE),
            (said("citation"), new.citation, LONGEST_CITATION),
            (said("reason"), reason, LONGEST_REASON),
        ):
            if fault := control_fault(text):
                raise ProjectError(fault)
            if len(text) > longest:
                raise ProjectError(
                    said(
                        "the {what} has {length:,} characters: use at most {longest:,}",
                        what=field,
                        length=len(text),
                        longest=longest,
                    )
                )
        if (old.licence, old.citation) == (new.licence, new.citation):
            events.refuse_if_done(db, TERMS_SET, now=now, licence=new.licence, citation=new.citation, reason=reason)
            raise ProjectError(said("nothing changed: licence and citation already say this"))
        if old.at is not None and not reason:
            raise ProjectError(said("a change of licence or citation needs a reason: say in one sentence why"))
        rows.add_terms(db, new.licence, new.citation, reason, at=now, by=by.annotator_id)
        events.record(
            db,
            TERMS_SET,
            at=now,
            actor=by.annotator_id,
            subject="terms",
            payload={"licence": new.licence, "citation": new.citation, "reason": reason},
        )
        return rows.terms(db)
