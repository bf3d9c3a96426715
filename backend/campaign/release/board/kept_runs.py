"""Keep ground truths and runs in the project as columns, so that a file is parsed and checked once.

*Reads* files, settled pairs. *Writes* kept truths and runs, events.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.board import rows as runs
from backend.campaign.release.board.rows import Kept, Shelf
from backend.campaign.release.export.contents import preview
from backend.campaign.release.export.model import QueryStanding, ReleaseOptions
from backend.campaign.review.rows import reviews
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Problem, ProjectError
from backend.core.person_names import is_readable, spaced
from backend.core.reading import bytes_of, unpack
from backend.core.saying import said
from backend.scoring.files.entries import parse_truth_mapping
from backend.scoring.files.facts import read_facts
from backend.scoring.files.formats import run_file, truth_file
from backend.scoring.files.partly import PartlyRead
from backend.scoring.files.reading import map_of, read_videos
from backend.scoring.files.release_folder import choose_truth
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.refused import by_row
from backend.store import events
from backend.store.connection import reading, writing
from backend.store.events import EventKind

LONGEST_NAME = 100
OWN_TRUTHS = {"settled val": Split.VAL, "settled test": Split.TEST}
"""Names of the truths that are not kept: what the project's own pairs say just now."""
_ADDED = {Shelf.TRUTHS: EventKind.TRUTH_ADDED, Shelf.RUNS: EventKind.RUN_ADDED}
_REMOVED = {Shelf.TRUTHS: EventKind.TRUTH_REMOVED, Shelf.RUNS: EventKind.RUN_REMOVED}
_WORD = {Shelf.TRUTHS: said("ground truth"), Shelf.RUNS: said("run")}


def add_truth(project: Project, by: Lead | Operator, path: Path, *, name: str | None = None, now: float) -> Kept:
    """Check a whole truth file and keep it.

    Args:
        project: the project.
        by: who adds it.
        path: a truth file of any form, or the folder of a release that has one.
        name: what to call it; None takes the name of the file without its ending.
        now: seconds since 1970.

    Raises:
        InputError: with everything that is wrong with the file, impossible moments included; nothing is kept then.
        ProjectError: the name is taken, blank, too long or that of the project's own settled pairs.
    """
    return _add(project, Shelf.TRUTHS, choose_truth(path).path, None, truth_file, name, by, now, {})


def add_run(
    project: Project,
    by: Lead | Operator,
    path: Path,
    *,
    name: str | None = None,
    videos: Path | None = None,
    now: float,
) -> Kept:
    """Check a whole run file and keep it.

    Args:
        project: the project.
        by: who adds it.
        path: a run file of any form.
        name: what to call it; None takes the name of the file without its ending.
        videos: a map `name -> [duration, index]`, or the release that has it, for a run that gives videos by index;
            kept are their names.
        now: seconds since 1970.

    Raises:
        InputError: with everything that is wrong with the file, impossible moments included; nothing is kept then.
        ProjectError: the name is taken, blank or too long.
    """
    videos = None if videos is None else map_of(videos)
    names = None if videos is None else read_videos(videos)
    noted = {"videos": None if videos is None else hashlib.sha256(bytes_of(videos)).hexdigest()}
    return _add(
        project, Shelf.RUNS, path, videos, lambda content, file: run_file(content, file, names), name, by, now, noted
    )


def remove(project: Project, by: Lead | Operator, shelf: Shelf, name: str, *, now: float) -> Kept:
    """Remove a kept truth or run as a whole; the event log keeps what it was.

    Raises:
        ProjectError: nothing of this name is kept.
    """
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


def load_truth(project: Project, name: str) -> Truth:
    """A kept ground truth.

    Raises:
        ProjectError: nothing of this name is kept, or it is damaged.
    """
    found = runs.truth(project.store.db, name)
    if found is None:
        raise _not_there(project, Shelf.TRUTHS, name)
    return found


def load_run(project: Project, name: str) -> Run:
    """A kept run.

    Raises:
        ProjectError: nothing of this name is kept, or it is damaged.
    """
    found = runs.run(project.store.db, name)
    if found is None:
        raise _not_there(project, Shelf.RUNS, name)
    return found


def truth_of_project(project: Project, split: Split) -> Truth:
    """The finished validation or test queries as they stand now: what a release would write, without a file.

    A query of which pairs still wait would count against every run that finds one of those.

    Raises:
        ProjectError: no query of the split is finished, or no pair of those is settled.
    """
    found: dict[int, list[dict[str, object]]] = {}
    with reading(project.store) as db:
        finished = {query.query_id for query in own_queries(project)[0] if query.split is split}
        for query, video, start_s, end_s, relevance in reviews.settled_moments(db, split) if finished else ():
            moment = {"video": video, "start": start_s, "end": end_s, "relevance": relevance}
            if query in finished:
                found.setdefault(query, []).append(moment)
    if not found:
        raise ProjectError(
            said("no {split} query is finished with a settled pair yet: nothing to score against", split=split.value)
        )
    return parse_truth_mapping(found, f"{split.value} of {project.name}")


def own_queries(project: Project) -> tuple[list[QueryStanding], list[QueryStanding]]:
    """Queries that the project's own truths hold, and those that they will hold once nothing of them waits.

    The second ones have settled pairs already.
    """
    found = preview(project, ReleaseOptions())
    return list(found.queries), [query for query in found.unfinished if query.settled]


def _add(
    project: Project,
    shelf: Shelf,
    path: Path,
    videos: Path | None,
    read: Callable[[bytes, str], Truth | Run],
    name: str | None,
    by: Lead | Operator,
    now: float,
    noted: dict[str, str | None],
) -> Kept:
    name = _proper(path.name.removesuffix(".gz").rpartition(".")[0] or path.name if name is None else name)
    if shelf is Shelf.TRUTHS and name in OWN_TRUTHS:
        raise ProjectError(
            said("{name} is what the project's own settled pairs are called: give another --name", name=name)
        )
    _require_free(runs.listed(project.store.db, shelf), shelf, name)
    packed = bytes_of(path)
    try:
        found = read(unpack(packed, path.name), path.name)
    except PartlyRead as refused:
        raise InputError(by_row([*refused.problems, *_impossible(refused.rest)])) from None
    _require_possible(found)
    sha256, facts = hashlib.sha256(packed).hexdigest(), read_facts(path, videos)
    with writing(project.store) as db:
        _require_free(runs.listed(db, shelf), shelf, name)
        runs.add(
            db,
            shelf,
            found,
            name=name,
            sha256=sha256,
            facts=facts,
            at=now,
            by=by.annotator_id,
        )
        kept = next(kept for kept in runs.listed(db, shelf) if kept.name == name)
        payload = {"name": name, "file": kept.file, "sha256": sha256, "queries": kept.queries, "moments": kept.moments}
        events.record(
            db,
            _ADDED[shelf],
            at=now,
            actor=by.annotator_id,
            subject=f"{shelf}:{name}",
            payload=payload | noted,
        )
    return kept


def _proper(name: str) -> str:
    name = spaced(name)
    if not is_readable(name):
        raise ProjectError(said("give a name that can be read, such as --name baseline"))
    if len(name) > LONGEST_NAME:
        raise ProjectError(
            said(
                "the name has {length} characters: give one of at most {longest} with --name",
                length=len(name),
                longest=LONGEST_NAME,
            )
        )
    return name


def _require_free(kept: list[Kept], shelf: Shelf, name: str) -> None:
    if any(name == one.name for one in kept):
        raise ProjectError(
            said(
                "a {word} called {name} is kept already: give another --name, or remove that first",
                word=_WORD[shelf],
                name=name,
            )
        )


def _require_possible(spans: Truth | Run) -> None:
    """Every preset can score what is kept, so what any of them refuses is refused here, all of it at once."""
    if not spans.queries:
        raise InputError.single(spans.file, said("holds no query"))
    if problems := _impossible(spans):
        raise InputError(problems)


def _impossible(spans: Truth | Run) -> list[Problem]:
    messages = {**spans.span_problems(), **(spans.relevance_problems() if isinstance(spans, Truth) else {})}
    return [spans.problem(position, message) for position, message in sorted(messages.items())]


def _not_there(project: Project, shelf: Shelf, name: str) -> ProjectError:
    names = ", ".join(kept.name for kept in runs.listed(project.store.db, shelf))
    return ProjectError(
        said(
            "no {word} called {name} is kept; there is {names}",
            word=_WORD[shelf],
            name=name,
            names=names or said("none yet"),
        )
    )
