"""Propose, read and correct the name mapping: the table of character names and the phrases that replace them.

The mapping comes from `cast.csv`, which users may edit, and from the section `[cast]` of reelrank.toml, which takes
precedence.

*Reads* published captions, reelrank.toml, `cast.csv`. *Writes* `cast.csv`. Its column `becomes` has the phrase that
replaces a name. If it is empty, the name is undecided, and captions with the name wait until it is decided. If it is
the name itself, the name stays in the captions.
"""

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backend.campaign.corpus.captions.model import CastLine
from backend.campaign.corpus.captions.rules.names import clashes_with, contradictions
from backend.campaign.corpus.captions.rules.proposing import MAN, PERSON, WOMAN, Proposed, propose
from backend.campaign.corpus.captions.rules.spelling import Known, tidy
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import SETTINGS_FILE
from backend.core import lexicon
from backend.core.errors import InputError, Problem, ProjectError
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.core.text_files import csv_text, read_csv
from backend.store.files import atomic_file

_SAMPLE = 2000
"""About how many captions are read to recognise their language."""
_WORD = re.compile(r"[^\W\d_]+")

ENGLISH_COUNTS = 3
"""How many other lists a list of an English-speaking country counts as."""
CLEAR = 0.75
"""The share of lists from which a name counts as a woman's or a man's; below it, a person's."""


def known_words(vocabulary: frozenset[str] = frozenset(), texts: Sequence[str] = ()) -> Known:
    """Return word lists that help to tell names from ordinary words, such as first names and an English dictionary.

    Args:
        vocabulary: the words that a sentence encoder knows.
        texts: the captions. If they are not English, the English dictionary (`parts_of_speech`) is left out.
    """
    words = (word.lower() for text in texts[:: max(1, len(texts) // _SAMPLE)] for word in _WORD.findall(text))
    return Known(
        first_names(), _ordinary_words(), vocabulary, lexicon.english if lexicon.reads_english(words) else None
    )


@cache
def first_names() -> dict[str, str]:
    """Map each first name to the phrase that replaces it: `a woman`, `a man` or `a person`.

    The names come from the lists of the package Faker. A name becomes `a person` if these lists do not clearly give it
    to women or to men.

    Names in scripts without capitals are left out, because the rules recognise names by their capitals.
    """
    from faker.providers import person

    women, men, neutral = Counter[str](), Counter[str](), set[str]()
    for module in pkgutil.iter_modules(person.__path__):
        if not module.ispkg:
            continue
        provider = importlib.import_module(f"{person.__name__}.{module.name}").Provider
        weight = ENGLISH_COUNTS if module.name.startswith("en") else 1
        for counts, key in ((women, "first_names_female"), (men, "first_names_male")):
            for name in _names(getattr(provider, key, ())):
                counts[name] += weight
        neutral |= _names(getattr(provider, "first_names", ()))
    return {name: _kind(women[name], men[name]) for name in {*women, *men, *neutral}}


@cache
def _ordinary_words() -> frozenset[str]:
    from faker.providers.lorem.en_US import Provider

    return frozenset(Provider.word_list)


def _names(listed: object) -> set[str]:
    """Return the entries of a list that are one capitalised word of three letters or more.

    The result is empty if `listed` is no list; not every attribute of the package Faker is one.
    """
    names = listed if isinstance(listed, Iterable) else ()
    return {name for name in names if isinstance(name, str) and len(name) > 2 and name.isalpha() and name[0].isupper()}


def _kind(women: int, men: int) -> str:
    listed = women + men
    if listed and women / listed >= CLEAR:
        return "a woman"
    return "a man" if listed and men / listed >= CLEAR else "a person"


CAST_FILE = "cast.csv"
_COLUMNS = ("name", "becomes", "count", "example")


@dataclass(frozen=True, slots=True)
class CastReport:
    """A summary of `cast.csv`: how many names it has, which phrases replace them, and which names are new.

    `women`, `men` and `persons` count the names that become `a woman`, `a man` or `a person`. `others` become another
    phrase, and `undecided` names have none yet. `new` lists the names just added, the most frequent first.
    """

    file: Path
    names: int
    women: int
    men: int
    persons: int
    others: int
    undecided: int
    new: tuple[Proposed, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of `cast.csv`, with its four cells and the row number that a text editor shows.

    The cells are the name, the phrase that replaces it, the number of captions with the name, and an example.
    """

    row: int
    cells: tuple[str, str, str, str]

    @property
    def name(self) -> str:
        return tidy(self.cells[0])

    @property
    def becomes(self) -> str:
        return tidy(self.cells[1])


def name_mapping_of(project: Project) -> dict[str, str]:
    """Return the phrase that replaces each name, from `cast.csv` and the section `[cast]` of reelrank.toml.

    If both have a name, `[cast]` wins. Undecided names of `cast.csv`, which have no phrase, are left out.

    Raises:
        InputError: a line cannot be used, or a phrase contains a name to be replaced. The error lists every such case.
    """
    lines = _lines(project)
    return _mapping(project, {line.name: line.becomes for line in lines}, {line.name: line.row for line in lines})


def _mapping(project: Project, becomes: Mapping[str, str], rows: Mapping[str, int]) -> dict[str, str]:
    """Return the phrase that replaces each name, from the section `[cast]` of reelrank.toml or else from `becomes`.

    Args:
        project: the project, whose settings have `[cast]`.
        becomes: the phrases of `cast.csv`, by name; empty while a name is undecided.
        rows: the row of each name in `cast.csv`, for error messages.

    Raises:
        InputError: see `name_mapping_of`.
    """
    written = {tidy(name): tidy(words) for name, words in project.settings.cast.items()}
    mapping = {name: words for name, words in becomes.items() if words} | written
    problems = [
        Problem(SETTINGS_FILE, None, said("[cast]: {message}", message=message))
        if name in written
        else Problem(CAST_FILE, rows.get(name), message)
        for name, message in contradictions(mapping)
    ]
    if problems:
        raise InputError(sorted(problems, key=lambda problem: (problem.file, problem.row or 0)))
    return mapping


@in_charge
def propose_cast(project: Project, by: Lead | Operator, *, progress: Progress | None = None) -> CastReport:
    """Add names found in the captions to `cast.csv`, each with a guess at the phrase that should replace it.

    Names that `cast.csv` or the section `[cast]` of reelrank.toml already has are left alone.

    Raises:
        ProjectError: there are no captions.
        InputError: `cast.csv` or `[cast]` has errors; `cast.csv` stays as it was.
    """
    texts = [caption.text.strip() for caption in corpus.published_captions(project.store.db)]
    if not texts:
        raise ProjectError(
            said(
                "there are no captions yet: add them on the page Set up, or run `{command}`",
                command=steps.importing(project.folder),
            )
        )
    lines, mapping = _lines(project), name_mapping_of(project)
    # Names are proposed from all captions and filtered afterwards, so that a second run proposes the same.
    known_names, phrases = {*mapping, *(line.name for line in lines)}, {*mapping.values()}
    new = [
        proposal
        for proposal in propose(texts, known_words(texts=texts), steps_of(progress, said("reading captions")))
        if proposal.name not in known_names and not any(clashes_with(proposal.name, phrase) for phrase in phrases)
    ]
    cells = [*(line.cells for line in lines), *((p.name, p.becomes, str(p.count), p.example) for p in new)]
    path = project.folder / CAST_FILE
    if new or not path.exists():
        _write(path, cells)
    return _report(path, cells, new)


@in_charge
def cast_lines(project: Project, by: Lead | Operator) -> tuple[CastLine, ...]:
    """Return the lines of `cast.csv` (names and the phrases that replace them); empty if there is no such file.

    Raises:
        InputError: the file has errors.
    """
    return tuple(CastLine(line.name, line.becomes, *line.cells[2:]) for line in _lines(project))


@in_charge
def correct_cast(project: Project, by: Lead | Operator, becomes: Mapping[str, str]) -> None:
    """Set the phrases that replace some names in `cast.csv`; `becomes` maps each of these names to its phrase.

    A name without a line gets one. All other lines stay.

    Raises:
        InputError: these phrases would make the mapping unusable. The file stays as it was.
    """
    corrections = {tidy(name): tidy(words) for name, words in becomes.items()}
    lines = _lines(project)
    cells = [(a, corrections.pop(line.name, b), c, d) for line in lines for a, b, c, d in [line.cells]]
    rows = {line.name: line.row for line in lines}
    cells += [(name, words, "", "") for name, words in corrections.items()]
    _mapping(project, {tidy(cell[0]): tidy(cell[1]) for cell in cells}, rows)
    _write(project.folder / CAST_FILE, cells)


def _write(path: Path, cells: Sequence[tuple[str, str, str, str]]) -> None:
    with atomic_file(path) as part:
        part.write_text(csv_text(_COLUMNS, cells), encoding="utf-8")


def _report(path: Path, cells: Sequence[tuple[str, str, str, str]], new: Sequence[Proposed]) -> CastReport:
    becomes = Counter(words for _, words, _, _ in cells)
    known = becomes[WOMAN] + becomes[MAN] + becomes[PERSON] + becomes[""]
    return CastReport(
        file=path,
        names=len(cells),
        women=becomes[WOMAN],
        men=becomes[MAN],
        persons=becomes[PERSON],
        others=len(cells) - known,
        undecided=becomes[""],
        new=tuple(new),
    )


def _lines(project: Project) -> list[_Line]:
    """Return the lines of `cast.csv`; empty if there is no such file.

    Raises:
        InputError: the file is not CSV, lacks a column, or has a line without a name or a name twice.
    """
    path = project.folder / CAST_FILE
    if not path.exists():
        return []
    data = file_bytes(path)
    if not data.decode("utf-8-sig", "replace").strip().count("\n"):
        return []  # no names were found, or all lines were removed
    table = read_csv(data, CAST_FILE, _COLUMNS[:2], _COLUMNS[2:])
    empty = [""] * len(table.rows)
    columns = [table.columns.get(name, empty) for name in _COLUMNS]
    lines = [_Line(row, (a, b, c, d)) for row, a, b, c, d in zip(table.rows, *columns, strict=True)]
    problems = list(table.problems)
    first: dict[str, int] = {}
    for line in lines:
        if not line.name:
            problems.append(Problem(CAST_FILE, line.row, said("this line has no name: write one, or remove the line")))
        elif first.setdefault(line.name, line.row) != line.row:
            message = said(
                "the name {name!r} is also in row {first}: keep one of them",
                name=line.name,
                first=first[line.name],
            )
            problems.append(Problem(CAST_FILE, line.row, message))
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return lines
