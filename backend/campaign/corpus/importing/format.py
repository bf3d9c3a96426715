"""What a format of annotation files is: its name, how its files look, and how they are read."""

from collections.abc import Callable
from dataclasses import dataclass

from backend.campaign.corpus.importing.model import ImportOptions, Parsed
from backend.core.json_entries import Sample

Read = Callable[[bytes, str, ImportOptions], Parsed]


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """One format: everything that commands and messages say of it stands here.

    `entry` is half a sentence that tells what one entry looks like. `fits(sample, options)` says whether a file looks
    like one of this format. `read(data, file, options)` parses the bytes of a file, and raises `InputError` with
    every problem of it. `takes` are the options (fields of `ImportOptions`) that mean something here.
    """

    name: str
    entry: str
    fits: Callable[[Sample, ImportOptions], bool]
    read: Read
    takes: frozenset[str] = frozenset()
