"""The queries that people search with."""

from pathlib import Path

from backend.campaign.candidates.record import require_no_lists
from backend.campaign.nouns import Operator, Person, Split
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.campaign.queries import drawing as queries
from backend.campaign.queries.drawing import OwnFile, QueryReport
from backend.campaign.queries.model import Repeats, Stratum
from backend.campaign.review import taking_back
from backend.campaign.review.taking_back import TakenBack
from backend.ground.reading import bytes_of
from backend.store.connection import writing


def draw_queries(
    project: Project,
    by: Person | Operator,
    *,
    val: int = 0,
    test: int = 0,
    seed: int = 0,
    own: Path | None = None,
    own_split: Split = Split.TEST,
    stratum: Stratum | None = None,
    show_of: str | None = None,
    repeats: Repeats = Repeats.KEEP,
    now: float,
) -> QueryReport:
    """Draw validation and test queries, take a person's own from a file, or both; the other captions train.

    Own queries may also be added later, as long as there are no candidate lists. The lines of a text file are of the
    split `own_split`; a CSV file says it itself.
    """
    by = gate.in_charge(project.store, by)
    file = OwnFile(bytes_of(own), own.name, own_split) if own else None
    with writing(project.store):
        if file and not (val or test):
            require_no_lists(project)
        return queries.draw(
            project,
            by,
            val=val,
            test=test,
            seed=seed,
            own=file,
            stratum=stratum,
            show_of=show_of,
            repeats=repeats,
            now=now,
        )


def take_back_queries(project: Project, by: Person | Operator, *, now: float) -> TakenBack:
    """Remove all queries, with candidates, batches, pairs and seats, as long as nobody has worked on them."""
    return taking_back.take_back(project.store, gate.in_charge(project.store, by), now=now)
