"""Decide which folders of the server a lead may read from in a browser.

An operator may read whatever the machine allows. A lead in a browser may read the project's own folder and those of
`media_roots` in `reelrank.toml`. Without that setting, they may also read the folders of the project's videos.

*Reads* reelrank.toml, video, one video file of a folder. *Writes* nothing.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import Place
from backend.core.errors import ProjectError, VideoUnreadable
from backend.core.messages import said
from backend.media.content import sha256_of
from backend.media.sources import place_of_video, source_at
from backend.media.video_folder import EXTENSIONS
from backend.store.connection import reading


@in_charge
def allowed_folders(project: Project, by: Lead | Operator) -> list[Path]:
    """Return the folders that a lead may read from, each with everything below it."""
    roots = _roots(project)
    if not project.settings.media_roots:
        roots += [folder for folder in _video_folders(project) if not _within(folder, roots)]
    return roots


@in_charge
def allowed_path(project: Project, by: Lead | Operator, typed: str) -> Path:
    """Return the path that somebody typed. A relative one starts at the project's folder.

    Raises:
        ProjectError: that person may not read there. The message does not reveal whether the path exists.
    """
    path = project.folder / os.path.expanduser(typed.strip())
    require_allowed(project, by, path)
    return path


def require_allowed(project: Project, by: Lead | Operator, path: Place | None) -> None:
    """Refuse a path that a lead may not read. Links in it are followed first.

    An operator may read any path. None stands for no path, and is never refused.

    Raises:
        ProjectError: the path is outside the allowed folders.
    """
    if path is None or isinstance(by, Operator):
        return
    if isinstance(path, Path) and "\0" not in str(path):
        real = Path(os.path.realpath(path))
        if _within(real, _roots(project)):
            return
        if not project.settings.media_roots and any(real.is_relative_to(folder) for folder in _proven(project, real)):
            return
    raise ProjectError(
        said(
            "{path} is not in a folder that this server allows. Choose a folder in {folders}, or ask whoever runs the "
            "server to add it to media_roots in reelrank.toml.",
            path=ascii(str(path)).strip("'") if not str(path).isprintable() else path,
            folders=", ".join(map(str, allowed_folders(project, by))),
        )
    )


def _roots(project: Project) -> list[Path]:
    named = (project.folder / os.path.expanduser(root) for root in project.settings.media_roots if root.strip())
    return [Path(os.path.realpath(root)) for root in (project.folder, *named)]


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _places(project: Project) -> dict[str, Path]:
    with reading(project.store) as db:
        facts = corpus.all_facts(db)
    places = {name: place_of_video(project.source(fact)) for name, fact in facts.items()}
    return {name: place for name, place in places.items() if isinstance(place, Path)}


def _video_folders(project: Project) -> list[Path]:
    """Return the folders of the project's videos; a folder inside another one of them is left out."""
    parents = {Path(os.path.realpath(place.parent)) for place in _places(project).values()}
    return sorted(folder for folder in parents if not _within(folder, parents - {folder}))


def _proven(project: Project, path: Path) -> Iterator[Path]:
    """Yield folders that contain `path` and really hold a video of this project, checked by the video's content.

    The check is needed because a project from elsewhere may name any file of this machine. Without it, leads could then
    read that file's folder.
    """
    places = {
        name: place
        for name, place in _places(project).items()
        if path.is_relative_to(os.path.realpath(place.parent)) and not os.path.islink(place)
    }
    with reading(project.store) as db:
        contents = corpus.contents(db)
    yield from (Path(os.path.realpath(video.parent)) for video in proven_videos(places, contents))


def proven_videos(places: Mapping[str, Place], contents: Mapping[str, corpus.Content]) -> Iterator[Path]:
    """Yield a video from each folder that really holds a video of the project, as the content of the file proves.

    At most one video is yielded for each folder. `places` maps the names of videos to where they should be. `contents`
    maps them to the hashes that the project stores.
    """
    done: set[Path] = set()
    for name, content in contents.items():
        place = places.get(name)
        if not isinstance(place, Path) or place.parent in done:
            continue
        with suppress(OSError, VideoUnreadable):
            if (place.is_dir() or place.suffix.lower() in EXTENSIONS) and (
                sha256_of(source_at(place, content.fps)) == content.sha256
            ):
                done.add(place.parent)
                yield place
