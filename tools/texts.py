"""Takes the texts of the front end into its catalogues: `python tools/texts.py` after texts have changed.

What stands in JavaScript is found by Babel, what stands in Python and in the markup of components by the few lines here.
A new text comes in empty, one that is gone is dropped, and nothing is guessed from similar ones.
"""

import ast
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
FRONT_END = ROOT / "annotate_app"
CATALOGUES = FRONT_END / "language" / "catalogues"
KEYWORDS = {"tr": None, "trn": (1, 2), "marked": None, "marked_n": (1, 2)}
_SHOWN = ("aria-label", "placeholder", "title")
_PAGES_OF_THE_SERVER = "session"
"""Its markup is filled in by Python, text by text."""


class _Markup(HTMLParser):
    """Collects what a component's markup shows: texts, and attributes that are read out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in _SHOWN and value]

    def handle_data(self, data: str) -> None:
        self.found.append(data.strip())


def found() -> Catalog:
    """Every text of the front end, by the files that it stands in, in the order of the files."""
    catalogue = Catalog(fuzzy=False, project="ReelRank", charset="utf-8")
    for path in sorted(FRONT_END.rglob("*")):
        if (
            path.suffix in (".py", ".js", ".html") and path.parent.name != _PAGES_OF_THE_SERVER
        ) or path.suffix == ".py":
            for text in _texts(path):
                if any(letter.isalpha() for letter in "".join(text)):
                    catalogue.add(text, locations=[(path.relative_to(ROOT).as_posix(), None)])
    return catalogue


def _texts(path: Path) -> Iterator[str | tuple[str, ...]]:
    if path.suffix == ".html":
        markup = _Markup()
        markup.feed(path.read_text(encoding="utf-8"))
        yield from markup.found
        return
    if path.suffix == ".py":
        yield from _python(ast.parse(path.read_text(encoding="utf-8")))
        return
    options = {"parse_template_string": True}
    for _line, text, _comments, _context in extract(
        "javascript", BytesIO(path.read_bytes()), KEYWORDS, options=options
    ):
        yield text


def _python(tree: ast.AST) -> Iterator[str | tuple[str, ...]]:
    """Babel reads tokens, and what stands inside an f-string is no token before Python 3.12."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in KEYWORDS:
            continue
        taken = node.args[: 2 if KEYWORDS[node.func.id] else 1]
        texts = [one.value for one in taken if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if len(texts) == len(taken):
            yield tuple(texts) if len(texts) == 2 else texts[0]


def updated(language: str) -> Catalog:
    """A language's catalogue with the texts that there are now."""
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        known = read_po(file, locale=language)
    known.update(found(), no_fuzzy_matching=True, update_creation_date=False)
    known.obsolete.clear()
    return known


def main() -> None:
    """Brings all catalogues up to date, and says what they lack."""
    for path in sorted(CATALOGUES.glob("*.po")):
        catalogue = updated(path.stem)
        text = BytesIO()
        write_po(text, catalogue, width=120, sort_by_file=True, include_lineno=False)
        path.write_bytes(text.getvalue())
        lacking = [
            message.id for message in catalogue if (message.id and not message.string) or not any(message.string)
        ]
        told = f"{path.name}: {len(catalogue)} texts, {len(lacking)} without a translation"
        sys.stdout.write(f"{told}\n")


if __name__ == "__main__":
    main()
