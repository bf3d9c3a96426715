"""Store ground truths and runs in the project as arrays, so that each file is parsed and checked only once.

*Reads* files. *Writes* stored truths and runs, events.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.board import rows as runs
from backend.campaign.release.board.model import RUN_ADDED, RUN_REMOVED, TRUTH_ADDED, TRUTH_REMOVED, Kept
from backend.campaign.release.board.rows import Shelf
from backend.campaign.release.board.truths import OWN_TRUTHS
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Problem, ProjectError
from backend.core.messages import said
from backend.core.reading import file_bytes, unpack
from backend.core.typed_text import is_readable, spaced
from backend.scoring.collected_problems import sort_by_row
from backend.scoring.files.facts import read_facts
from backend.scoring.files.formats import map_of, read_videos, run_file, truth_file
from backend.scoring.files.release_folder import choose_truth
from backend.scoring.files.text import PartlyRead
from backend.scoring.matching.columns import Run, Truth
from backend.store import events
from backend.store.connection import reading, writing

LONGEST_NAME = 100
_Kept = TypeVar("_Kept", Truth, Run)
_ADDED = {Shelf.TRUTHS: TRUTH_ADDED, Shelf.RUNS: RUN_ADDED}
_REMOVED = {Shelf.TRUTHS: TRUTH_REMOVED, Shelf.RUNS: RUN_REMOVED}
_WORD = {Shelf.TRUTHS: said("ground truth"), Shelf.RUNS: said("run")}


@in_charge
def add_truth(project: Project, by: Lead | Operator, path: Path, *, name: str | None = None, now: float) -> Kept:
    """Check a truth file completely, and store it in the project.

    Args:
        project: the project.
        by: the person who adds it.
        path: a truth file in any format, or the folder of a release that has one.
        name: name of the truth; None takes the name of the file without its ending.
        now: seconds since 1970.

    Raises:
        InputError: the file has problems, such as impossible moments, all of which are listed; nothing is stored.
        ProjectError: the name is taken, blank, too long or reserved for the ground truth of the project itself.
    """
    return _add(project, Shelf.TRUTHS, choose_truth(path).path, None, truth_file, name, by, now, {})


@in_charge
def add_run(
    project: Project,
    by: Lead | Operator,
    path: Path,
    *,
    name: str | None = None,
    videos: Path | None = None,
    upper_bound: bool = False,
    now: float,
) -> Kept:
    """Check a run file completely, and store it in the project.

    Args:
        project: the project.
        by: the person who adds it.
        path: a run file in any format.
        name: name of the run; None takes the name of the file without its ending.
        videos: a JSON file that maps each video name to [duration in seconds, index], or the release that has it. It is
            needed for a run that names videos by index.
        upper_bound: whether the run uses knowledge that no competing system has, such as the captions of the moments. A
            run whose name says that it is an upper bound counts as one too.
        now: seconds since 1970.

    Raises:
        InputError: the file has problems, such as impossible moments, all of which are listed; nothing is stored.
        ProjectError: the name is taken, blank or too long.
    """
    videos = None if videos is None else map_of(videos)
    names = None if videos is None else read_videos(videos)
    noted: dict[str, str | bool | None] = {
        "videos": None if videos is None else hashlib.sha256(file_bytes(videos)).hexdigest(),
        **({"upper_bound": True} if upper_bound else {}),
    }
    return _add(
        project, Shelf.RUNS, path, videos, lambda content, file: run_file(content, file, names), name, by, now, noted
    )


@in_charge
def list_truths(project: Project, by: Lead | Operator) -> list[Kept]:
    """Return the ground truths stored in the project, in the order in which they were added."""
    return runs.listed(project.store.db, Shelf.TRUTHS)


@in_charge
def list_runs(project: Project, by: Lead | Operator) -> list[Kept]:
    """Return the runs stored in the project, in the order in which they were added."""
    return runs.listed(project.store.db, Shelf.RUNS)


@in_charge
def remove_truth(project: Project, by: Lead | Operator, name: str, *, now: float) -> Kept:
    """Remove a stored ground truth, and return its list entry. The event log keeps its name, file and SHA-256.

    Raises:
        ProjectError: the project has no ground truth of this name.
    """
    return _remove(project, by, Shelf.TRUTHS, name, now=now)


@in_charge
def remove_run(project: Project, by: Lead | Operator, name: str, *, now: float) -> Kept:
    """Remove a stored run, and return its list entry. The event log keeps its name, file and SHA-256.

    Raises:
        ProjectError: the project has no run of this name.
    """
    return _remove(project, by, Shelf.RUNS, name, now=now)


@in_charge
def load_truth(project: Project, by: Lead | Operator, name: str) -> Truth:
    """Return a stored ground truth as arrays.

    Raises:
        ProjectError: the project has no ground truth of this name, or it is damaged.
    """
    return _loaded(project, Shelf.TRUTHS, Truth, name)


@in_charge
def load_run(project: Project, by: Lead | Operator, name: str) -> Run:
    """Return a stored run as arrays.

    Raises:
        ProjectError: the project has no run of this name, or it is damaged.
    """
    return _loaded(project, Shelf.RUNS, Run, name)


def _loaded(project: Project, shelf: Shelf, kind: type[_Kept], name: str) -> _Kept:
    columns = runs.load(project.store.db, shelf, name)
    if not isinstance(columns, kind):
        raise _not_there(project, shelf, name)
    return columns


def _remove(project: Project, by: Lead | Operator, shelf: Shelf, name: str, *, now: float) -> Kept:
    with writing(project.store) as db:
        removed = runs.remove(db, shelf, name)
        if removed is None:
            raise _not_there(project, shelf, name)
        events.record(
            db,
            _REMOVED[shelf],
            at=now,
            actor=by.annotator_id,
            subject=f"{shelf}:{name}",
            payload={"name": name, "file": removed.file, "sha256": removed.sha256},
        )
    return removed


def _add(
    project: Project,
    shelf: Shelf,
    path: Path,
    videos: Path | None,
    read: Callable[[bytes, str], Truth | Run],
    name: str | None,
    by: Lead | Operator,
    now: float,
    extra_payload: Mapping[str, str | bool | None],
) -> Kept:
    name = _proper(path.name.removesuffix(".gz").rpartition(".")[0] or path.name if name is None else name)
    if shelf is Shelf.TRUTHS and name in OWN_TRUTHS:
        raise ProjectError(
            said("{name} is reserved for the project's own settled pairs: choose another name", name=name)
        )
    packed = file_bytes(path)
    sha256 = hashlib.sha256(packed).hexdigest()
    asked = events.asked(sha256=sha256, **extra_payload)
    with reading(project.store) as db:
        entries, subject = runs.listed(db, shelf), f"{shelf}:{name}"
        if any((name, sha256) == (entry.name, entry.sha256) for entry in entries):
            events.refuse_if_done(db, _ADDED[shelf], now=now, subject=subject, asked=asked)
        _require_free(entries, shelf, name)
    try:
        columns = read(unpack(packed, path.name), path.name)
    except PartlyRead as refused:
        raise InputError(sort_by_row([*refused.problems, *_impossible(refused.rest)])) from None
    _require_possible(columns)
    facts = read_facts(path, videos)
    with writing(project.store) as db:
        _require_free(runs.listed(db, shelf), shelf, name)
        runs.add(
            db,
            shelf,
            columns,
            name=name,
            sha256=sha256,
            facts=facts,
            at=now,
            by=by.annotator_id,
        )
        payload = {
            "name": name,
            "file": columns.file,
            "sha256": sha256,
            "queries": len(columns.queries),
            "moments": len(columns.video),
            "asked": asked,
        }
        events.record(
            db,
            _ADDED[shelf],
            at=now,
            actor=by.annotator_id,
            subject=subject,
            payload=payload | dict(extra_payload),
        )
        return next(entry for entry in runs.listed(db, shelf) if entry.name == name)


def _proper(name: str) -> str:
    name = spaced(name)
    if not is_readable(name):
        raise ProjectError(said("the name has no visible characters: choose another name, such as baseline"))
    if len(name) > LONGEST_NAME:
        raise ProjectError(
            said(
                "the name has {length} characters: use at most {longest}",
                length=len(name),
                longest=LONGEST_NAME,
            )
        )
    return name


def _require_free(entries: list[Kept], shelf: Shelf, name: str) -> None:
    if any(name == entry.name for entry in entries):
        raise ProjectError(
            said(
                "there is already a {word} called {name}: choose another name, or remove that one first",
                word=_WORD[shelf],
                name=name,
            )
        )


def _require_possible(spans: Truth | Run) -> None:
    """Refuse a truth or run that can never be scored: it has no query, or impossible moments or relevances.

    Raises:
        InputError: lists every problem.
    """
    if not spans.queries:
        raise InputError.single(spans.file, said("holds no query"))
    if problems := _impossible(spans):
        raise InputError(problems)


def _impossible(spans: Truth | Run) -> list[Problem]:
    messages = {**spans.span_problems(), **(spans.relevance_problems() if isinstance(spans, Truth) else {})}
    return [spans.problem(position, message) for position, message in sorted(messages.items())]


def _not_there(project: Project, shelf: Shelf, name: str) -> ProjectError:
    names = ", ".join(entry.name for entry in runs.listed(project.store.db, shelf))
    return ProjectError(
        said(
            "there is no {word} called {name}; the project has {names}",
            word=_WORD[shelf],
            name=name,
            names=names or said("none yet"),
        )
    )
