"""Truth and runs as CSV with a header, one moment a line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from backend.core.errors import InputError, Problem
from backend.core.messages import joined, said
from backend.core.text_files import decode_text, number, read_csv, stripped, table_head, whole
from backend.scoring.files.entries import Group, by_query, run_of, truth_of
from backend.scoring.files.entry_rows import Names, name_only, resolver
from backend.scoring.files.partial_reads import Some
from backend.scoring.files.words import END, QUERY, RANK, RUN, START, TRUTH, VIDEO, Kind
from backend.scoring.matching.columns import Run, Truth

NAMES = Names("video", ("start", "end"), "value")


@dataclass(frozen=True, slots=True)
class _Header:
    """Which columns of a file hold what; `rank` is None if it has none."""

    query: str
    video: str
    start: str
    end: str
    value: str
    rank: str | None


def truth_table(content: bytes, file: str) -> Truth:
    r"""Truth with the columns query_id, video, start, end, relevance, or other usual words for these.

    Raises:
        InputError: with every line that is wrong.

    >>> truth_table(b"query_id,video,start,end,relevance\n5,v1,0,9.5,4\n", "truth.csv").relevance
    array([4.])
    """
    groups = _groups(content, file, TRUTH)
    for group in groups:
        group.items = [dict(zip(NAMES.all, cells, strict=True)) for cells in cast("list[list[object]]", group.items)]
    return truth_of(groups, file, NAMES, name_only)


def run_table(content: bytes, file: str, videos: Mapping[int, str] | None) -> Run:
    r"""A run with the columns query_id, video, start, end, score, and perhaps rank, which then decides the order.

    Raises:
        InputError: with every line that is wrong.

    >>> run_table(b"query_id,rank,video,start,end,score\n5,2,v1,0,9,.1\n5,1,v2,3,4,.2\n", "run.csv", None).videos
    ('v2', 'v1')
    """
    groups = _groups(content, file, RUN)
    if videos is not None:
        # A cell does not say whether it is a name or an index: with a map, a number is an index.
        for group in groups:
            for cells in cast("list[list[object]]", group.items):
                index = whole(str(cells[0]))
                cells[0] = cells[0] if index is None else index
    return run_of(groups, file, NAMES, resolver(videos))


def _groups(content: bytes, file: str, kind: Kind) -> Some[Group]:
    header = _header(content, file, kind)
    needed = (header.query, header.video, header.start, header.end, header.value)
    rank = () if header.rank is None else (header.rank,)
    table = read_csv(content, file, needed, rank, numbers=needed[2:])
    problems = list(table.problems)

    def column(name: str, what: str, read: Callable[[str], object]) -> Sequence[object]:
        values, wrong = table.values(name, read, needed=True)
        problems.extend(
            Problem(file, row, said("column {name!r} holds {given!r}, not {what}", name=name, given=text, what=what))
            for row, text in wrong
        )
        return values

    queries = column(header.query, said("a query id"), stripped)
    columns = [column(header.video, said("the name of a video"), stripped)]
    columns += [column(name, "a number", number) for name in (header.start, header.end, header.value)]
    ranks = column(header.rank, said("a rank such as 1"), whole) if header.rank else None
    items: Sequence[object] = list(map(list, zip(*columns, strict=True)))
    rows: Sequence[int] = table.rows
    if problems:
        wrong = {problem.row for problem in problems}
        good = [place for place, row in enumerate(rows) if row not in wrong]
        queries, items = ([values[place] for place in good] for values in (queries, items))
        rows = [rows[place] for place in good]
        ranks = None if ranks is None else [ranks[place] for place in good]
    groups = by_query(queries, rows, items, cast("Sequence[int] | None", ranks), file)
    return Some(groups, [*problems, *groups.problems])


def _header(content: bytes, file: str, kind: Kind) -> _Header:
    """Find the columns; the one word that the header has for each."""
    head = table_head(decode_text(content, file), [*QUERY, *VIDEO, *START, *END, *kind.value])
    problems = []

    def find(words: Sequence[str], *, needed: bool = True) -> str:
        found = [word for word in words if word in head]
        if needed and not found:
            shown = ", ".join(repr(word) for word in words)
            problems.append(
                Problem(
                    file,
                    1,
                    said(
                        "no column {names}; the header is {header!r}",
                        names=joined(said(" or "), shown.split(", ")),
                        header=head.delimiter.join(head.cells),
                    ),
                )
            )
        if len(found) > 1:
            problems.append(
                Problem(
                    file,
                    1,
                    said("both {one!r} and {other!r} are columns; keep one of them", one=found[0], other=found[1]),
                )
            )
        return found[0] if found else ""

    header = _Header(
        find(QUERY),
        find(VIDEO),
        find(START),
        find(END),
        find(kind.value),
        find((RANK,), needed=False) or None if kind is RUN else None,
    )
    if problems:
        raise InputError(problems)
    return header
