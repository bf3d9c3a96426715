"""Let leads accept, edit or reject the rewritten captions that failed the automatic check.

The check wants a rewrite to be similar to the published caption and to contain no name. Leads decide on the page
Captions, or with a CSV file on the command line. A text that a lead writes need not be similar, but may not contain a
name of the name mapping. Later runs of the module `rewriting` keep these decisions.

*Reads* rewritten captions, queries. *Writes* rewritten captions, events.
"""

from collections.abc import Mapping
from pathlib import Path

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.captions.model import (
    REWRITE_DECIDED,
    REWRITE_TAKEN_BACK,
    RewriteQueue,
    RewriteSummary,
    TakenDecision,
    WaitingRewrite,
)
from backend.campaign.corpus.captions.name_mapping import name_mapping_of
from backend.campaign.corpus.captions.rows import DecisionRow
from backend.campaign.corpus.captions.rules import names_in
from backend.campaign.corpus.captions.rules.comparing import differences, summary
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import commands_only, in_charge, lead_only
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import InputError, Overtaken, Problem, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.reading import file_bytes
from backend.core.text_files import read_csv
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

AHEAD = 30
"""How many waiting rewrites a page gets at once."""


def require_no_queries(db: Database) -> None:
    """Raise a `ProjectError` if queries were already drawn from the captions; rewrites are fixed from then on."""
    if rows.any_query(db):
        raise ProjectError(said("queries were already drawn from the captions, so their texts are fixed"))


@lead_only
def rewrite_queue(project: Project, lead: Lead) -> RewriteQueue:
    """Return the first `AHEAD` (30) rewrites that need a lead's decision, and how many rewrites have each status.

    The result also has this lead's last decision.
    """
    with reading(project.store) as db:
        counts = rows.counts(db)
        return RewriteQueue(
            counts=counts,
            items=tuple(WaitingRewrite(*row, *differences(row[2], row[3])) for row in rows.waiting(db, AHEAD)),
            last=rows.last_decision(db, lead.annotator_id),
            fixed=rows.any_query(db),
            then=steps.drawing(project.folder) if counts.rewritten else steps.rewriting(project.folder),
        )


@commands_only
def waiting_rewrites(project: Project) -> list[tuple[str, str, str]]:
    """Return (published caption, rewrite, reason) of every rewrite that needs a lead's decision; for the command line.

    `reason` says why the rewrite failed the automatic check.
    """
    return rows.waiting_rewrites(project.store.db)


@in_charge
def rewrite_summary(project: Project, by: Lead | Operator) -> RewriteSummary:
    """Return how rewriting changed the captions: words before and after, and how often each replacement was used.

    Its words are Table 3 of the TVR-Ranking paper, for this project.
    """
    with reading(project.store) as db:
        return summary(rows.accepted_texts(db), rows.accepted_versions(db))


@lead_only
def decide_rewrite(project: Project, lead: Lead, caption_id: int, text: str | None, *, now: float) -> None:
    """Accept a rewrite that waits for a decision, with the given text, or reject it.

    No query is drawn from a rejected rewrite. The decision covers all captions with the same published text. Sending
    the same decision again changes nothing.

    Args:
        project: the project.
        lead: who decides.
        caption_id: id of the rewritten caption.
        text: the text to accept; None rejects the rewrite.
        now: seconds since 1970.

    Raises:
        Overtaken: somebody made another decision, or the rewrite has passed the automatic check meanwhile.
        ProjectError: there is no such rewrite, the text is empty or contains a name, or queries were already drawn.
    """
    new_text = None if text is None else " ".join(text.split())
    with writing(project.store) as db:
        require_no_queries(db)
        rewrite = rows.decision_row(db, caption_id)
        if rewrite is None:
            raise ProjectError(said("this rewrite is gone, because the captions were rewritten again: reload the page"))
        if _already_decided(rewrite, lead, new_text, now=now):
            return
        if new_text is not None and (problem := _text_problem(name_mapping_of(project), new_text)):
            raise ProjectError(problem)
        _record_decision(project.store, rewrite.published, new_text, at=now, by=lead.annotator_id)


@lead_only
def take_back_rewrite(project: Project, lead: Lead, *, now: float) -> TakenDecision:
    """Undo this lead's last decision on a rewrite, which then needs a decision again and has its earlier text.

    Returns:
        The decision that was undone.

    Raises:
        ProjectError: the lead has no decision to undo, or queries were already drawn.
    """
    with writing(project.store) as db:
        require_no_queries(db)
        last = rows.last_decision(db, lead.annotator_id)
        if last is None:
            raise ProjectError(said("you have no decision to take back"))
        captions = rows.take_back(db, last.caption_id)
        payload = {"published": last.published, "text": last.text, "captions": captions}
        events.note(db, REWRITE_TAKEN_BACK, lead, "captions", now=now, **payload)
    return last


@commands_only
def accept_rewrites(project: Project, file: Path, *, now: float) -> int:
    """Accept rewrites from a CSV file with the columns `caption` (published text) and `rewrite`; for the command line.

    Returns:
        How many captions got a decision. Several captions may have the same published text.

    Raises:
        InputError: some rows cannot be accepted. The error lists them all, and no row is accepted.
        ProjectError: queries were already drawn.
    """
    require_no_queries(project.store.db)
    table = read_csv(file_bytes(file), file.name, ["caption", "rewrite"])
    problems = list(table.problems)
    mapping = name_mapping_of(project)
    decided = 0
    first_rows: dict[str, tuple[int, str]] = {}
    with writing(project.store):
        for row, caption, text in zip(table.rows, table.columns["caption"], table.columns["rewrite"], strict=True):
            new_text = tidy(text)
            if problem := _text_problem(mapping, new_text):
                problems.append(Problem(file.name, row, problem))
            elif (before := first_rows.setdefault(caption.strip(), (row, new_text))) != (row, new_text):
                if before[1] != new_text:
                    problems.append(
                        Problem(
                            file.name,
                            row,
                            said(
                                "row {before} has another rewrite of this caption: keep one of them", before=before[0]
                            ),
                        )
                    )
            elif not (count := _record_decision(project.store, caption.strip(), new_text, at=now, by=None)):
                problems.append(
                    Problem(file.name, row, said("no rewrite of this caption waits for a decision: remove the row"))
                )
            else:
                decided += count
        if problems:
            raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return decided


def _record_decision(store: Store, published: str, text: str | None, *, at: float, by: AnnotatorId | None) -> int:
    """Store the decision on a published text, and log it; return how many captions with this text it covers.

    `text` is the rewrite to accept; None rejects. The number is 0 if no rewrite of the text waits for a decision.
    """
    with writing(store) as db:
        captions = rows.decide(db, published, text, at=at, by=by)
        if captions:
            events.record(
                db,
                REWRITE_DECIDED,
                at=at,
                actor=by,
                subject="captions",
                payload={"published": published, "text": text, "captions": captions},
            )
    return captions


def _text_problem(mapping: Mapping[str, str], text: str) -> str:
    """Return why a text that a lead wrote cannot be accepted, such as a name of `mapping` in it; "" if it can."""
    if not text:
        return said("the rewrite is empty: write what a searcher might type, or reject it")
    names = names_in(text, mapping, {})
    return said("the rewrite still has a name: {names}", names=", ".join(names)) if names else ""


def _already_decided(rewrite: DecisionRow, lead: Lead, new_text: str | None, *, now: float) -> bool:
    """Return whether this lead has already made the same decision on a rewrite; `new_text` None means rejecting it.

    Raises:
        Overtaken: somebody made another decision, or the rewrite has passed the automatic check meanwhile.
    """
    if rewrite.decided_at is None and not rewrite.accepted:
        return False
    text = rewrite.text if rewrite.accepted else None
    if rewrite.decided_by == lead.annotator_id and (None if text is None else " ".join(text.split())) == new_text:
        return True
    if rewrite.decided_at is None:
        raise Overtaken(said("this rewrite now passes the check, so it needs no decision"))
    who = (
        said("You", _context="by")
        if rewrite.decided_by == lead.annotator_id
        else rewrite.lead or said("A command", _context="by")
    )
    decision = said("rejected it") if text is None else said("accepted “{given}”", given=text)
    raise Overtaken(
        said(
            "{who} {what} for “{published}” {when}",
            who=who,
            what=decision,
            published=rewrite.published,
            when=ago(now - rewrite.decided_at),
        )
    )
