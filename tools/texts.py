"""Update the translation catalogues with the current texts of the front end and messages of the back end.

Run it as `make texts`. A new text is added without a translation, and a text that no longer exists is removed. No
translation is guessed from a similar text. What annotators see must be translated, which a test checks. A text that
only leads see may wait, and is shown in English.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
FRONT_END = ROOT / "annotate_app"
CATALOGUES = FRONT_END / "language" / "catalogues"
BACK_END = ROOT / "backend"
KEYWORDS = {"tr": None, "trn": (1, 2), "marked": None, "marked_n": (1, 2)}
SAYING = {"said": None, "said_n": (1, 2)}
"""The same of the back end: see `backend.core.messages`."""
FOR_ANNOTATORS = (
    *("annotate_app/session/", "annotate_app/language/", "annotate_app/server/", "annotate_app/pages.py"),
    *(
        "annotate_app/shared/player/",
        "annotate_app/shared/desk/",
    ),
    *("annotate_app/shared/exam_results.py", "annotate_app/shared/look.py", "annotate_app/shared/wording.py"),
    *("annotate_app/shared/day_chart.py", "annotate_app/screens/grade.py", "annotate_app/screens/my_work.py"),
    *("annotate_app/screens/describe/", "annotate_app/navigation.py"),
    *("backend/core/", "backend/store/", "backend/media/", "backend/campaign/setup/people/"),
    *("backend/campaign/judging/", "backend/campaign/desk", "backend/campaign/corpus/describing/"),
    *("backend/campaign/qualification/", "backend/campaign/monitoring/quality/"),
)
"""Where texts stand that annotators see: on their pages, and in sentences that these may show."""
_BY_LEADS = "read by leads alone"
"""The place of the words of events and of the titles of leads' pages and their groups, in whatever file they stand."""
_TEXT = r'("(?:[^"\\]|\\.)*")'
_IN_JAVASCRIPT = re.compile(rf"\b(trn?|marked)\(\s*{_TEXT}(?:,\s*{_TEXT})?")
_SHOWN = ("aria-label", "placeholder", "title")
_PAGES_OF_THE_SERVER = "session"
"""Its markup is filled in by Python, text by text."""


class _Markup(HTMLParser):
    """Collects the texts that an HTML file shows, and the attributes that screen readers read out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in _SHOWN and value]

    def handle_data(self, data: str) -> None:
        self.found.append(data.strip())


def texts_in_code() -> Catalog:
    """Return a catalogue of all texts of the front end and messages of the back end, each with its files."""
    catalogue = Catalog(fuzzy=False, project="ReelRank", charset="utf-8")
    for path in [*sorted(FRONT_END.rglob("*")), *sorted(BACK_END.rglob("*.py"))]:
        if (
            path.suffix in (".py", ".js", ".html") and path.parent.name != _PAGES_OF_THE_SERVER
        ) or path.suffix == ".py":
            for context, text, place in _texts(path):
                if any(letter.isalpha() for letter in "".join(text)):
                    place = place or path.relative_to(ROOT).as_posix()
                    catalogue.add(text, locations=[(place, None)], context=context or None)
    return catalogue


def _texts(path: Path) -> Iterator[tuple[str, str | tuple[str, ...], str]]:
    """Yield the texts of a file as (context, text, place).

    A text with a plural is a pair. `place` is empty, or says that only leads read the text.
    """
    if path.suffix == ".html":
        markup = _Markup()
        markup.feed(path.read_text(encoding="utf-8"))
        yield from (("", text, "") for text in markup.found)
        return
    if path.suffix == ".py":
        # What the front end keeps for whoever looks later, it says as the back end does.
        keywords = SAYING if path.is_relative_to(BACK_END) else {**KEYWORDS, **SAYING}
        yield from _python(ast.parse(path.read_text(encoding="utf-8")), keywords)
        return
    for call, *texts in _IN_JAVASCRIPT.findall(path.read_text(encoding="utf-8")):
        arguments = [json.loads(text) for text in texts if text][: 2 if KEYWORDS[call] else 1]
        yield "", tuple(arguments) if len(arguments) == 2 else arguments[0], ""


def _python(
    tree: ast.AST, keywords: dict[str, tuple[int, int] | None]
) -> Iterator[tuple[str, str | tuple[str, ...], str]]:
    by_leads = {part for node in ast.walk(tree) if _is_read_by_leads(node) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or (called := _called(node)) not in keywords:
            continue
        arguments = node.args[: 2 if keywords[called] else 1]
        texts = [
            argument.value
            for argument in arguments
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if len(texts) == len(arguments):
            contexts = [
                argument.value.value
                for argument in node.keywords
                if argument.arg == "_context" and isinstance(argument.value, ast.Constant)
            ]
            text = tuple(texts) if len(texts) == 2 else texts[0]
            yield str(contexts[0]) if contexts else "", text, _BY_LEADS if node in by_leads else ""


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _is_read_by_leads(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    for_leads = any(isinstance(argument, ast.Attribute) and argument.attr == "LEAD" for argument in node.args)
    return _called(node) in ("Event", "Group") or (_called(node) == "Page" and for_leads)


def updated(language: str) -> Catalog:
    """Return the catalogue of a language, updated with the current texts."""
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        known = read_po(file, locale=language)
    known.update(texts_in_code(), no_fuzzy_matching=True, update_creation_date=False)
    known.obsolete.clear()
    return known


def lacking(catalogue: Catalog) -> tuple[list[Message], list[Message]]:
    """Return two lists of messages without a translation: those that annotators see, and those that only leads see."""
    places = {(message.id, message.context): [path for path, _ in message.locations] for message in texts_in_code()}
    empty = [message for message in catalogue if message.id and not (message.string and all(message.string))]
    needed = [
        message
        for message in empty
        if any(path.startswith(FOR_ANNOTATORS) for path in places.get((message.id, message.context), ()))
    ]
    return needed, [message for message in empty if message not in needed]


def main() -> None:
    """Update all catalogues, and print the texts that lack a translation."""
    for path in sorted(CATALOGUES.glob("*.po")):
        catalogue = updated(path.stem)
        text = BytesIO()
        write_po(text, catalogue, width=120, sort_output=True, no_location=True)
        path.write_bytes(text.getvalue())
        needed, waiting = lacking(catalogue)
        for message in [*needed, *waiting]:
            sys.stdout.write(f"  {'needed' if message in needed else 'waits '}  {message.id}\n")
        sys.stdout.write(
            f"{path.name}: {len(catalogue)} texts; without a translation: {len(needed)} that annotators see, "
            f"{len(waiting)} that only leads see\n"
        )


if __name__ == "__main__":
    main()
