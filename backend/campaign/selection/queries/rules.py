"""Draw queries from captions, and parse a file with a person's own queries.

A draw does not depend on the order of the captions or their ids. Texts are sorted before a draw, and captions with the
same text are sorted by the moments that they describe. So the same corpus and seed give the same queries on any
machine.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from backend.campaign.nouns import Split
from backend.campaign.selection.queries.model import Draw, Drawable, DrawnQuery, OwnQuery, Repeats
from backend.core.errors import InputError, Problem, ProjectError
from backend.core.messages import said
from backend.core.text_files import decode_text, read_csv, table_head
from backend.core.typed_text import is_visible, nfc
from backend.core.user_patterns import first_groups

_EPISODE = re.compile(r"^(?:(\w+?)_)?s\d+e\d+")
"""TVR's names have the show before season and episode (`castle_s01e02_seg00_clip_00`). Names that begin with the season
belong to one show (The Big Bang Theory)."""


def draw(
    captions: Iterable[Drawable],
    *,
    val: int,
    test: int,
    seed: int,
    own: Mapping[str, Split] | None = None,
    stratum: Callable[[Drawable], str] | None = None,
    repeats: Repeats = Repeats.KEEP,
) -> Draw:
    """Draw validation and test queries from distinct texts; captions of all other texts become training queries.

    Args:
        captions: all captions that may become queries.
        val: number of validation queries.
        test: number of test queries.
        seed: seeds the draw.
        own: the split of texts that are queries already; none of them is drawn.
        stratum: returns the group of a caption, such as its video. The draw is spread over groups in proportion to
            their numbers of texts. A text belongs to the group of its first caption (by video and time). If it is None,
            all texts are drawn alike.
        repeats: whether training captions with the same text become one query each, or one query together.

    Raises:
        ProjectError: there are fewer distinct texts than queries to draw.
    """
    by_text: dict[str, list[Drawable]] = defaultdict(list)
    for caption in captions:
        by_text[caption.text].append(caption)
    for same in by_text.values():
        same.sort(key=lambda caption: (caption.video, caption.start_s, caption.end_s, caption.caption_id))
    own = own or {}
    texts = sorted(by_text.keys() - own.keys())
    if val + test > len(texts):
        raise ProjectError(
            said(
                "{val} + {test} queries asked for, but there are only {n} distinct caption texts: ask for fewer",
                val=val,
                test=test,
                n=len(texts),
            )
        )
    rng = random.Random(seed)
    rng.shuffle(texts)
    if stratum is None:
        chosen = dict.fromkeys(texts[:val], Split.VAL) | dict.fromkeys(texts[val : val + test], Split.TEST)
    else:
        chosen = _spread(texts, [stratum(by_text[text][0]) for text in texts], val, test, rng)
    judged = [
        DrawnQuery(text, by_text[text][0].caption_id, split)
        for split in (Split.VAL, Split.TEST)
        for text in texts
        if chosen.get(text) is split
    ]
    barred = chosen.keys() | {text for text, split in own.items() if split is not Split.TRAIN}
    # Own training queries come before the draw; captions of their texts are repeats of them.
    rest = [*(text for text in texts if text not in chosen), *sorted(by_text.keys() & own.keys() - barred)]
    training, merged = [], 0
    for text in rest:
        same = by_text[text]
        included = same if repeats is Repeats.KEEP else same[:0] if text in own else same[:1]
        training += [DrawnQuery(text, caption.caption_id, Split.TRAIN) for caption in included]
        merged += len(same) - len(included)
    removed = sum(len(by_text[text]) for text in barred if text in by_text) - len(judged)
    return Draw([*judged, *training], removed, merged)


def apportion(total: int, sizes: Mapping[str, int], rng: random.Random) -> dict[str, int]:
    """Divide the whole number `total` among groups in proportion to their sizes.

    Each group gets its exact proportion, rounded down or up. Those with the largest remainders are rounded up; `rng`
    decides between equal remainders.

    >>> apportion(3, {"a": 10, "b": 20}, random.Random(0))
    {'a': 1, 'b': 2}
    """
    everything = sum(sizes.values())
    shares = {name: total * size // everything for name, size in sizes.items()}
    order = sorted(sizes)
    rng.shuffle(order)
    order.sort(key=lambda name: -(total * sizes[name] % everything))
    for name in order[: total - sum(shares.values())]:
        shares[name] += 1
    return shares


def shows(videos: Iterable[str], named: Mapping[str, str | None]) -> dict[str, str]:
    """Return the TV show of every video, or refuse videos whose show is not known.

    Args:
        videos: names of videos.
        named: maps each name to its show, or to None where the name has none; from `named_shows`.

    Raises:
        ProjectError: some names have no show.
    """
    show_of = {video: named.get(video) for video in videos}
    if strange := sorted(video for video, show in show_of.items() if show is None):
        examples = ", ".join(strange[:3]) + (" ..." if len(strange) > 3 else "")
        raise ProjectError(
            said(
                "the names of {n} of {videos} videos do not tell their show ({named}): use --show-of "
                "REGEX, whose first group is the show",
                n=len(strange),
                videos=len(show_of),
                named=examples,
            )
        )
    return {video: show for video, show in show_of.items() if show is not None}


def named_shows(videos: Iterable[str], pattern: str | None = None) -> dict[str, str | None]:
    """Return the TV show in the name of each video: the match of the pattern's first group, or its whole match.

    The show is None where the pattern does not match. Call it outside a transaction: a pattern may take a second.

    Args:
        videos: names of videos.
        pattern: a regular expression; None for the pattern of TVR's names.

    Raises:
        ProjectError: not a regular expression, or one that takes too long.

    >>> named_shows(["castle_s01e02_seg00_clip_00", "s01e02_seg00_clip_00", "kitchen"])
    {'castle_s01e02_seg00_clip_00': 'castle', 's01e02_seg00_clip_00': '', 'kitchen': None}
    """
    names = list(videos)
    if pattern:
        return dict(zip(names, first_groups(pattern, names), strict=True))
    return {name: (match[1] or "") if (match := _EPISODE.search(name)) else None for name in names}


def _spread(texts: Sequence[str], strata: Sequence[str], val: int, test: int, rng: random.Random) -> dict[str, Split]:
    """Draw `val` validation and `test` test queries, spread over groups of texts; map each drawn text to its split.

    `texts` are in random order, and `strata` has the group of each. Each group gives queries in proportion to its size.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for text, name in zip(texts, strata, strict=True):
        members[name].append(text)
    if val + test == 0:
        return {}
    drawn = apportion(val + test, Counter(strata), rng)
    of_val = apportion(val, drawn, rng)
    return {
        text: Split.VAL if place < of_val[name] else Split.TEST
        for name, of_stratum in members.items()
        for place, text in enumerate(of_stratum[: drawn[name]])
    }


_COLUMNS = ("text", "split")
_SPLITS = ", ".join(split.value for split in Split)


def parse_own(data: bytes, file: str, split: Split, split_of: Mapping[str, Split]) -> list[OwnQuery]:
    r"""Parse a file of own queries, and return them in its order.

    A file whose name ends in `.csv` or `.tsv` is a table with the columns `text`, `split` and perhaps `source`. Any
    other file is such a table if its header names these columns. If not, it is a text with one query a line, all of one
    split. Where no source is named, the file is the source. Blank lines of a text are left out.

    Args:
        data: the content of the file.
        file: its name.
        split: split of the queries in a text file.
        split_of: maps the text of each existing query to its split.

    Raises:
        InputError: everything that is wrong with the file.

    >>> [(query.text, query.row) for query in parse_own(b"A cat sits.\nIt rains.\n", "q.txt", Split.TEST, {})]
    [('A cat sits.', 1), ('It rains.', 2)]
    >>> parse_own(b"A cat sits.\nA cat sits.\n", "q.txt", Split.TEST, {})
    Traceback (most recent call last):
    ...
    backend.core.errors.InputError: q.txt, row 2: this text is also in row 1: remove one of them
    """
    text = decode_text(data, file)
    head = table_head(text, _COLUMNS)
    is_table = file.lower().endswith((".csv", ".tsv")) or all(name in head for name in _COLUMNS)
    parsed, problems = _csv(data, file) if is_table else (_lines(text, file, split), [])
    problems += _against(parsed, file, split_of)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return parsed


def _lines(text: str, file: str, split: Split) -> list[OwnQuery]:
    lines = enumerate(text.split("\n"), start=1)
    return [OwnQuery(nfc(line.strip()), split, file, row) for row, line in lines if line.strip()]


def _csv(data: bytes, file: str) -> tuple[list[OwnQuery], list[Problem]]:
    table = read_csv(data, file, _COLUMNS, ("source",))
    problems, parsed = list(table.problems), []
    sources = table.columns.get("source", ("",) * len(table.rows))
    for row, text, name, source in zip(table.rows, table.columns["text"], table.columns["split"], sources, strict=True):
        try:
            parsed.append(OwnQuery(nfc(text.strip()), Split(name.strip()), source.strip() or file, row))
        except ValueError:
            problems.append(
                Problem(
                    file, row, said("the split is {name!r}: write one of {splits}", name=name.strip(), splits=_SPLITS)
                )
            )
    return parsed, problems


def _against(parsed: Sequence[OwnQuery], file: str, split_of: Mapping[str, Split]) -> list[Problem]:
    """Return the problems of new queries: empty texts, and texts that repeat one another or an existing query.

    `split_of` maps the text of each existing query to its split.
    """
    problems = []
    first: dict[str, OwnQuery] = {}
    split_of = {nfc(text): split for text, split in split_of.items()}
    for query in parsed:
        if not is_visible(query.text):
            problems.append(Problem(file, query.row, said("the text is empty: write a query, or remove the line")))
            continue
        earlier = first.setdefault(query.text, query)
        if earlier is not query:
            where = said("is also in row {row}", row=earlier.row)
            problems.append(Problem(file, query.row, _twice(where, query.split, earlier.split)))
        elif query.text in split_of:
            where = said("is already a {split} query of the project", split=split_of[query.text].value)
            problems.append(Problem(file, query.row, _twice(where, query.split, split_of[query.text])))
    return problems


def _twice(where: str, split: Split, other: Split) -> str:
    if split is other:
        return said("this text {where}: remove one of them", where=where)
    return said(
        "this text {where}, in split {other}, but here in {split}: use one split",
        where=where,
        other=other.value,
        split=split.value,
    )
