"""One row of counts for annotation files or a release; no project needed. That of a project is in `corpus`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.release.export import counting
from backend.campaign.release.export.statistics import rules as release_rules
from backend.campaign.release.export.statistics.model import ReleaseStatistics
from backend.campaign.release.statistics import from_files, from_release, rules
from backend.campaign.release.statistics.model import Statistics
from backend.core import lexicon
from backend.core.errors import InputError
from backend.core.progress import Progress, named


def file_statistics(
    places: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Statistics:
    """Count what the annotation files of one corpus hold together, or one release folder.

    Args:
        places: annotation files, or one folder of a release.
        format: of annotation files; like `types` and `columns` as in `import_corpus`.
        types: see there.
        columns: see there.
        progress: called with what is read or counted.

    Raises:
        InputError: a file has problems, or a folder is no release.
    """
    folders = [place for place in places if place.is_dir()]
    steps = named(progress, "reading")
    if not folders:
        holdings = from_files.read(places, format, ImportOptions(types, columns or {}), progress=steps)
    elif len(places) > 1:
        raise InputError.single(folders[0], "is a folder: name it alone, or name annotation files")
    elif not from_release.query_files(folders[0]):
        message = "is neither a project (no reelrank.db) nor a release (no val.json, test.json or train_topNN.json)"
        raise InputError.single(folders[0], message)
    else:
        holdings = from_release.read(folders[0], progress=steps)
    return rules.count(
        holdings, lexicon.parts_of_speech, lexicon.name(), progress=named(progress, "counting the words of queries")
    )


def release_statistics(folder: Path) -> ReleaseStatistics | None:
    """The paper's Tables 1 and 4 of a release, by split and for both; None where it has no graded truth.

    Raises:
        InputError: its files are not of their form.
    """
    documents = counting.documents(folder)
    return None if documents is None else release_rules.statistics(documents)


def release_statistics_table(found: ReleaseStatistics) -> list[tuple[str, ...]]:
    """The same for people: a row of titles, then what is counted and its figure in each part."""
    return release_rules.table(found)
