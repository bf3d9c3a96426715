"""Which videos of a project a file calls otherwise."""

from collections import defaultdict
from collections.abc import Iterable


def called_otherwise(named: Iterable[str], here: Iterable[str], extensions: Iterable[str]) -> dict[str, str]:
    """Videos that a file means by another name: as it is with or without an extension or the folders above it.

    Args:
        named: what a file calls videos, but for names that a video of the project has.
        here: the project's names of the videos that may take another one.
        extensions: of video files, in small letters, with their dot.

    Returns:
        The file's name of a video, by the project's; nothing where two videos could be meant.

    >>> called_otherwise(["dog.avi", "cat"], ["dog", "pets/cat", "bird"], [".avi", ".mp4"])
    {'dog': 'dog.avi', 'pets/cat': 'cat'}
    """
    suffixes = frozenset(extensions)

    def bare(name: str) -> str:
        stem, dot, extension = name.rpartition(".")
        return stem if f"{dot}{extension}".lower() in suffixes else name

    found: dict[str, set[str]] = defaultdict(set)
    for name in here:
        for known in {bare(name), bare(name).rpartition("/")[2]}:
            found[known].add(name)
    meant: dict[str, set[str]] = defaultdict(set)
    for name in named:
        if len(videos := found.get(bare(name), set())) == 1:
            meant[next(iter(videos))].add(name)
    return {video: next(iter(names)) for video, names in meant.items() if len(names) == 1}
