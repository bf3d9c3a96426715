"""Find all formats of annotation files, recognise the format of a file, and parse it.

Each format is a module in this package that defines `FORMAT`.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module

from backend.campaign.corpus.importing.formats.table import REQUIRED
from backend.campaign.corpus.importing.model import CorpusFormat, ImportOptions, Parsed
from backend.core.errors import InputError
from backend.core.messages import joined, said
from backend.core.reading import FileLayout, sample
from backend.core.text_files import table_head

COLUMNS = ("video", "start", "end", "caption", "duration", "id")
"""The names of columns or fields in our own formats, unless `columns` maps them to others."""

_FLAGS = {"types": "--type", "columns": "--columns"}


def find_formats() -> Mapping[str, CorpusFormat]:
    """Return all formats of annotation files, by name; each module of this package defines one.

    A format's `takes` names the reading options that it supports.

    >>> find_formats()["csv"].takes
    frozenset({'columns'})
    """
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    formats: list[CorpusFormat] = sorted((module.FORMAT for module in modules), key=lambda format_: format_.name)
    return {format_.name: format_ for format_ in formats}


FORMATS = find_formats()


def parse(name: str | None, data: bytes, file: str, options: ImportOptions | None = None) -> Parsed:
    r"""Parse an annotation file into captioned moments.

    Args:
        name: the name of the format, one of `FORMATS`; None recognises the format by the content.
        data: the bytes of the file.
        file: the name of the file, for messages.
        options: options for reading it.

    Raises:
        InputError: the format is unknown or not recognised, an option does not work with it, or the file has problems.

    >>> parse(None, b"video,start,end,caption\na,1,3,A dog runs.\n", "m.csv").format
    'csv'
    """
    options = options or ImportOptions()
    if unknown := [name for name in options.columns if name not in COLUMNS]:
        message = said(
            "--columns: {unknown} is not one of {columns}", unknown=", ".join(unknown), columns=", ".join(COLUMNS)
        )
        raise InputError.single(file, message)
    format_ = _format_named(name, file) if name is not None else recognise(data, file, options)
    for option, flag in _FLAGS.items():
        if getattr(options, option) and option not in format_.takes:
            takers = " and ".join(other.name for other in FORMATS.values() if option in other.takes)
            raise InputError.single(
                file,
                said(
                    "{flag} works only with {takers}: this file is {format}",
                    flag=flag,
                    takers=takers,
                    format=format_.name,
                ),
            )
    return replace(format_.read(data, file, options), format=format_.name)


def recognise(data: bytes, file: str, options: ImportOptions | None = None) -> CorpusFormat:
    """Return the format that a file has, judging by its content.

    Raises:
        InputError: no format fits, or several do; the message lists them.
    """
    options = options or ImportOptions()
    file_sample = sample(data, file)
    fitting = [format_ for format_ in FORMATS.values() if format_.fits(file_sample, options)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = joined(said(" or "), [format_.name for format_ in fitting])
        raise InputError.single(file, said("this may be {names}: say which with --format", names=names))
    if file_sample.layout is FileLayout.TEXT and file.lower().endswith((".csv", ".tsv")):
        raise _missing_columns_error(file_sample.line, file, options)
    tried = joined(
        "; ", [said("{name} ({entry})", name=format_.name, entry=format_.entry) for format_ in FORMATS.values()]
    )
    message = said(
        "its format is not recognised. Tried: {tried}. Name the format with --format to see what "
        "is wrong, or name the columns of a csv or jsonl file with --columns",
        tried=tried,
    )
    raise InputError.single(file, message)


def _missing_columns_error(header: str, file: str, options: ImportOptions) -> InputError:
    """Return the error for a CSV file whose header line lacks columns that the format needs."""
    columns = [options.columns.get(name, name) for name in REQUIRED]
    head = table_head(header, columns)
    missing = ", ".join(repr(name) for name in columns if name not in head)
    message = said(
        "the header {header!r} has no {missing}: name the columns of the file with --columns",
        header=head.delimiter.join(head.cells),
        missing=missing,
    )
    return InputError.single(file, message, 1)


def _format_named(name: str, file: str) -> CorpusFormat:
    if name not in FORMATS:
        raise InputError.single(
            file, said("unknown format {name!r}; known formats: {formats}", name=name, formats=", ".join(FORMATS))
        )
    return FORMATS[name]
