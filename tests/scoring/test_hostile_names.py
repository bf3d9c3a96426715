"""Names and texts of strangers in everything that is written for people: nothing of them runs, and all can be read."""

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from backend.core.text_files import csv_text
from backend.scoring.report.page import breakable
from backend.scoring.tables import _markdown
from backend.scoring.views.words import tex_text

TEXTS = st.text(max_size=60)
HARM = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "=HYPERLINK(\"http://a.example\")",
    "\\input{/etc/passwd}",
    "|a|\n|b|",
]  # fmt: skip


@given(TEXTS)
@example("=1+1").via("a formula")
@example("\t=1+1").via("a formula after what spreadsheets pass over")
@example("-2+3+cmd|' /C calc'!A0").via("DDE")
def test_a_table_for_people_has_no_formula_and_every_text(text: str) -> None:
    ((shown,),) = list(csv.reader(io.StringIO(csv_text([text], [], for_people=True), newline="")))
    assert shown in (text, f"'{text}")
    if shown == text and text[:1] in tuple("=+-@\t\r\n"):
        float(text)  # a number, which is what it says


@given(TEXTS)
@example("=1+1").via("a formula")
@example("a\rb").via("the end of a line on old machines")
def test_a_table_for_programs_keeps_every_text(text: str) -> None:
    assert list(csv.reader(io.StringIO(csv_text(["a", "b"], [[text, 1]]), newline=""))) == [["a", "b"], [text, "1"]]


@settings(max_examples=200)
@given(st.text("\\{}$&#^_%~-<>\"'`|[]*=+abé\n", max_size=40))
@example(HARM[4]).via("a file of the machine")
def test_latex_is_given_no_command_but_those_that_print_signs(text: str) -> None:
    printed = tex_text(text)
    left = re.sub(
        r"\\[{}$&#_%]|\{\}|\\text[a-z]+\{\}|\\[\^~]\{\}|\$[<>|]\$|\\textbackslash|\{[\-'`\[\]=*|^~]\}", "", printed
    )
    assert not re.search(r"[\\{}&#^_%~$]", left), printed


@given(TEXTS)
@example(HARM[0]).via("script")
@example(HARM[2]).via("an address that runs")
@example(HARM[5]).via("cells")
@example("![x](http://a.example/x.png)").via("a picture that calls home")
@example("<http://a.example>").via("an address")
def test_markdown_shows_the_text_and_is_no_markup(text: str) -> None:
    cell = _markdown(text)
    assert "\n" not in cell
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a |\n| --- |\n| x{cell} |\n")
    kinds = {child.type for token in tokens if token.type == "inline" for child in token.children or []}
    assert kinds <= {"text", "text_special"}
    assert [token.type for token in tokens].count("td_open") == 1


class Found(HTMLParser):
    """The tags of a page, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(max_size=60).filter(lambda text: "\r" not in text and "\x00" not in text))
@example(HARM[0]).via("script")
@example(HARM[1]).via("an event")
def test_html_shows_the_text_and_is_no_tag(text: str) -> None:
    found = Found(str(breakable(text)))
    assert set(found.tags) <= {"wbr"}
    assert found.text == text


def test_every_template_escapes_by_itself() -> None:
    """Nothing in the pages of the report says that a value is safe."""
    folder = Path(__file__).parents[2] / "backend" / "scoring" / "report"
    for template in folder.glob("*.jinja"):
        assert not re.search(r"\|\s*safe\b|autoescape\s+false", template.read_text(encoding="utf-8")), template.name
