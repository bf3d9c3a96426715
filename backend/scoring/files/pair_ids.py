"""What a truth file calls its moments: the numbers of pairs, where it has them.

Columns of a truth know no pairs, because no measure does; programs of TREC want a name for each moment.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.text_files import read_csv
from backend.core.undecodable import UNDECODABLE
from backend.scoring.files import text
from backend.scoring.files.text import Form
from backend.scoring.files.words import TRUTH
from backend.scoring.matching.columns import Truth

FIELD = "pair_id"


def pair_ids(content: bytes, truth: Truth) -> list[str]:
    r"""A name for every moment of a truth, in its order: its pair's number, or query and place where there is none.

    Args:
        content: the bytes of its file, unpacked.
        truth: the same, read.

    Raises:
        InputError: two moments of a query have one name, or a name has a blank in it.

    >>> from backend.scoring.files.formats import truth_file
    >>> content = b"query_id,video,start,end,relevance,pair_id\n5,v,0,9,4,77\n5,v,9,12,0,78\n"
    >>> pair_ids(content, truth_file(content, "truth.csv"))
    ['77', '78']
    >>> pair_ids(content.replace(b"pair_id", b"other"), truth_file(content, "truth.csv"))
    ['5-1', '5-2']
    """
    entries = _entries(text.checked(content, truth.file), truth.file)
    query = [truth.queries[number] for number in truth.query.tolist()]
    rows, numbers = truth.row.tolist(), truth.number.tolist()
    numbered = [_said(entries.get(row), number) for row, number in zip(rows, numbers, strict=True)]
    if any(one is None for one in numbered):
        return [f"{one}-{number}" for one, number in zip(query, numbers, strict=True)]
    names = [str(one) for one in numbered]
    problems, seen = [], set()
    for at, name in enumerate(zip(query, names, strict=True)):
        if name in seen:
            problems.append(truth.problem(at, said("the pair {name} stands there already", name=name[1])))
        elif not name[1] or len(name[1].split()) != 1:
            problems.append(
                truth.problem(
                    at, said("the pair {name!r} is no name for programs of TREC: it has blanks", name=name[1])
                )
            )
        seen.add(name)
    if problems:
        raise InputError(problems)
    return names


def require_plain(names: Sequence[object], file: str) -> None:
    """Refuse ids of queries that a line of TREC could not hold.

    Raises:
        InputError: one has a blank in it.
    """
    bad = [str(name) for name in names if len(str(name).split()) != 1]
    problems = [
        Problem(file, None, said("query {name!r}: programs of TREC take no blanks in an id", name=name)) for name in bad
    ]
    if problems:
        raise InputError(problems)


def _entries(content: bytes, file: str) -> Mapping[int, Any]:
    """The entries of a file by their row, as the columns of a truth number them."""
    form = text.form_of(content, file)
    if form is Form.CSV:
        table = read_csv(content, file, (), (FIELD,))
        cells = table.columns.get(FIELD, ())
        return {row: {FIELD: cell} for row, cell in zip(table.rows, cells, strict=bool(cells))}
    try:
        if form is Form.LINES:
            lines = content.split(b"\n")
            return {row: msgspec.json.decode(line) for row, line in enumerate(lines, start=1) if line.strip()}
        document = msgspec.json.decode(content)
    except UNDECODABLE as error:  # numbers that nobody reads elsewhere
        raise InputError.single(file, said("its pairs cannot be read: {error}", error=error)) from None
    return dict(enumerate(document if isinstance(document, list) else [document], start=1))


def _said(entry: Any, number: int) -> object | None:
    """The pair of a moment: that of its entry, or of the so manyeth moment in it."""
    if not isinstance(entry, Mapping):
        return None
    moments = entry.get(TRUTH.items)
    if isinstance(moments, list):
        entry = moments[number - 1]
    return entry.get(FIELD) if isinstance(entry, Mapping) else None
