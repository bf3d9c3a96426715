"""A person's own queries: the bytes of a text or CSV file to queries, or a refusal naming every problem."""

from collections.abc import Mapping, Sequence

from backend.campaign.nouns import Split
from backend.campaign.selection.queries.model import OwnQuery
from backend.core.errors import InputError, Problem
from backend.core.saying import said
from backend.core.text_files import decode_text, read_csv, table_head
from backend.core.typed_text import is_visible, nfc

_COLUMNS = ("text", "split")
_SPLITS = ", ".join(split.value for split in Split)


def parse(data: bytes, file: str, split: Split, there: Mapping[str, Split]) -> list[OwnQuery]:
    r"""The queries of a file, in its order.

    A name that ends in `.csv` or `.tsv` is a table with the columns `text`, `split` and perhaps `source`. Any other
    file is such a table if its header names these columns. If not, it has one query a line, all of one split. Where
    no source is named, the file is the source.

    Args:
        data: the file.
        file: its name.
        split: of the queries of a text file.
        there: the split of every text that is a query already.

    Raises:
        InputError: everything that is wrong with the file.

    >>> [(query.text, query.row) for query in parse(b"A cat sits.\nIt rains.\n", "q.txt", Split.TEST, {})]
    [('A cat sits.', 1), ('It rains.', 2)]
    >>> parse(b"A cat sits.\nA cat sits.\n", "q.txt", Split.TEST, {})
    Traceback (most recent call last):
    ...
    backend.core.errors.InputError: q.txt, row 2: this text stands in row 1 already: leave one of them out
    """
    text = decode_text(data, file)
    head = table_head(text, _COLUMNS)
    is_table = file.lower().endswith((".csv", ".tsv")) or all(name in head for name in _COLUMNS)
    found, problems = _csv(data, file) if is_table else (_lines(text, file, split), [])
    problems += _against(found, file, there)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return found


def _lines(text: str, file: str, split: Split) -> list[OwnQuery]:
    lines = text.split("\n")
    if not lines[-1].strip():
        lines.pop()  # what follows the end of the last line
    return [OwnQuery(nfc(line.strip()), split, file, row) for row, line in enumerate(lines, start=1)]


def _csv(data: bytes, file: str) -> tuple[list[OwnQuery], list[Problem]]:
    table = read_csv(data, file, _COLUMNS, ("source",))
    problems, found = list(table.problems), []
    sources = table.columns.get("source", ("",) * len(table.rows))
    for row, text, name, source in zip(table.rows, table.columns["text"], table.columns["split"], sources, strict=True):
        try:
            found.append(OwnQuery(nfc(text.strip()), Split(name.strip()), source.strip() or file, row))
        except ValueError:
            problems.append(
                Problem(
                    file, row, said("the split is {name!r}: write one of {splits}", name=name.strip(), splits=_SPLITS)
                )
            )
    return found, problems


def _against(found: Sequence[OwnQuery], file: str, there: Mapping[str, Split]) -> list[Problem]:
    """What is wrong with queries beside each other, and beside those that are there."""
    problems = []
    first: dict[str, OwnQuery] = {}
    there = {nfc(text): split for text, split in there.items()}
    for query in found:
        if not is_visible(query.text):
            problems.append(Problem(file, query.row, said("the text is empty: write a query, or take the line out")))
            continue
        earlier = first.setdefault(query.text, query)
        if earlier is not query:
            where = said("stands in row {row} already", row=earlier.row)
            problems.append(Problem(file, query.row, _twice(where, query.split, earlier.split)))
        elif query.text in there:
            where = said("is a {split} query of the project already", split=there[query.text].value)
            problems.append(Problem(file, query.row, _twice(where, query.split, there[query.text])))
    return problems


def _twice(where: str, split: Split, other: Split) -> str:
    if split is other:
        return said("this text {where}: leave one of them out", where=where)
    return said(
        "this text {where}, in split {other}, and here in {split}: a text has one split",
        where=where,
        other=other.value,
        split=split.value,
    )
