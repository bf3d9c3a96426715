"""Tables (CSV) of sentences and their moments without query ids, such as a corpus of ReelRank.

In the table of Otani et al. (BMVC 2020) several people marked the moment of each sentence. Rows with the same `HITId`,
video and sentence are one query there, and each of them gives a relevant moment. In other tables each row is a query.
The id of a query is `VIDEO#N`, where N counts the queries of the video from 0.
"""

from collections import Counter

from backend.core.captioned import CaptionedMoment, query_id
from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.text_files import number, read_csv, table_head
from backend.scoring.files.forms.form import AnnotatedQuery, Opening, TruthForm, refuse
from backend.scoring.files.words import END, QUERY, RELEVANCE, SCORE, START, VIDEO

_TEXT = ("description", "sentence", "caption", "query", "text")
_NAMES = (VIDEO, START, END, _TEXT)
_PERSON = "hitid"


def _columns(text: str) -> list[str] | None:
    """Return the columns for video, start, end and sentence; None if one is missing, or if there are query ids."""
    head = table_head(text, [*VIDEO, *START, *END, *_TEXT])
    if any(name in head for name in (*QUERY, *RELEVANCE, *SCORE)):
        return None
    columns = [next((name for name in names if name in head), "") for names in _NAMES]
    return columns if all(columns) else None


def recognise(opening: Opening) -> bool:
    """Return whether a file is a table with columns for video, start, end and sentence, and none for query ids."""
    return not opening.nesting and _columns(opening.text) is not None


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of a table with a header such as `video,start,end,description`, times in seconds.

    Raises:
        InputError: lists every row whose times are no numbers, or whose video or sentence is empty.
    """
    columns = _columns(content[: 1 << 16].decode("utf-8", "ignore")) or []
    table = read_csv(content, file, columns, (_PERSON,), numbers=columns[1:3])
    problems = list(table.problems)
    people = table.columns.get(_PERSON) or map(str, table.rows)
    moments: dict[tuple[str, ...], list[CaptionedMoment]] = {}
    for row, person, video, start, end, text in zip(
        table.rows, people, *(table.columns[name] for name in columns), strict=True
    ):
        start_s, end_s = number(start), number(end)
        if start_s is None or end_s is None or not video.strip() or not text.strip():
            problems.append(Problem(file, row, said("has no video, no sentence, or a time that is no number")))
            continue
        moment = CaptionedMoment(video.strip(), start_s, end_s, text.strip(), row)
        moments.setdefault((person, moment.video, moment.caption), []).append(moment)
    refuse(problems)
    counts: Counter[str] = Counter()
    queries = []
    for same in moments.values():
        first = same[0]
        queries.append(AnnotatedQuery(query_id(first.video, counts[first.video]), first.row, first.caption, same))
        counts[first.video] += 1
    return queries


FORMS = (TruthForm("sentence-table", "tables of sentences without query ids", recognise, read),)
