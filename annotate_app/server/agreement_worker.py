"""What of the agreement board takes long, in a process of its own that lets people who grade go first."""

import os
from concurrent.futures import Future
from pathlib import Path

from backend.campaign.monitoring.quality.agreement_board import (
    agreement_board,
    agreement_picture_file,
    other_relevances,
)
from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard, BoardPart
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import open_project
from backend.core import processes

LEFT_OVER = 19
"""Take what nobody else wants: on two cores, a little less niceness is felt by everybody who grades."""
WAITED_FOR = 5
"""A lead has asked and waits: on a busy machine, what nobody else wants may be nothing for a minute."""


def board(folder: Path, person: Person, part: BoardPart) -> AgreementBoard:
    """Runs in the worker: the board with its intervals, over a connection of its own."""
    _step_back()
    return agreement_board(open_project(folder), person, part)


def picture(found: AgreementBoard, name: str, kind: str) -> bytes:
    """Runs in the worker: drawing a picture keeps all threads of its process waiting."""
    _step_back(WAITED_FOR)
    return agreement_picture_file(found, name, kind)


def others(folder: Path, person: Person) -> AggregatorReport:
    """Runs in the worker: what other ways than the rule would make of the grades."""
    _step_back()
    return other_relevances(open_project(folder), person)


def start_others(folder: Path, person: Person) -> Future[AggregatorReport]:
    """Begin with the comparison and return at once."""
    return processes.alone(others, folder, person)


def start_board(folder: Path, person: Person, part: BoardPart) -> Future[AgreementBoard]:
    """Begin with the intervals and return at once."""
    return processes.alone(board, folder, person, part)


def draw(found: AgreementBoard, name: str, kind: str) -> bytes:
    """A picture as a file; waits for it, and for nothing else."""
    return processes.alone(picture, found, name, kind).result()


def _step_back(niceness: int = LEFT_OVER) -> None:
    if hasattr(os, "nice"):
        os.nice(niceness)
