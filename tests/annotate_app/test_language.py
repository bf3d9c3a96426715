"""The language of the front end: every text is marked, the catalogues are complete, and pages speak them."""

import ast
import re
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate_app import language
from annotate_app.language import translate_message
from backend.campaign.monitoring.activity.log import campaign_settings
from backend.campaign.monitoring.activity.rules import event_words
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.people.accounts import kept_language
from backend.core.events import find_events
from served import browsing
from small_project import PASSWORD, SmallProject
from support import Judging
from tools import texts

FRONT_END = Path(__file__).parents[2] / "annotate_app"
SHOWING = {
    *("title", "header", "markdown", "caption", "text", "write", "html", "metric", "badge", "table"),
    *("info", "warning", "error", "success", "toast", "status", "spinner", "progress", "tabs", "expander", "popover"),
    *("button", "form_submit_button", "download_button", "link_button", "checkbox", "toggle", "radio", "selectbox"),
    *("multiselect", "text_input", "text_area", "number_input", "file_uploader", "segmented_control", "date_input"),
    *("dialog", "choice", "day", "long_list"),
}
"""Calls whose first argument people read."""
READ = {"help", "placeholder", "label", "nothing", "alt"}
NOT_WORDS = {
    *("CSV", "release-N", "start=begin,end=finish", "/data/videos"),
    "**{}**{}  \n{} · sha256 `{}`",
}
"""What looks like a text and is none that a translation has."""
QUERY_WORDS = {"and", "door", "laughs", "man", "opens"}
NAMES = {"Ana", "Ben", "Dee", "Eli"}
LANGUAGES = [tag for tag in language.LANGUAGES if tag != language.SOURCE]


def literal(node: ast.expr) -> Iterator[str]:
    """The texts that an argument is made of where it stands: the parts of a list, both ends of a choice."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from literal(part)
        case ast.IfExp(body=one, orelse=other):
            yield from literal(one)
            yield from literal(other)


def unmarked(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in SHOWING:
            continue
        for one in [*node.args[:1], *(more.value for more in node.keywords if more.arg in READ)]:
            words = (re.sub(r"<[^>]*>|:[\w/-]+:|`[^`]*`", "", text) for text in literal(one))
            found += [text for text, bare in zip(literal(one), words, strict=True) if re.search("[A-Za-z]{2}", bare)]
    return found


def test_what_pages_show_is_marked() -> None:
    files = [path for folder in ("screens", "shared") for path in (FRONT_END / folder).rglob("*.py")]
    assert len(files) > 40
    bare = {path.name: unmarked(path.read_text(encoding="utf-8")) for path in files}
    found = {name: set(told) - NOT_WORDS for name, told in bare.items() if set(told) - NOT_WORDS}
    assert found == {}, "a text that is shown goes through tr, trn or marked"


def test_an_unmarked_text_is_seen() -> None:
    assert unmarked('st.button("Save", help=f"of {x}")\nst.tabs([tr("One"), "Two"])') == ["Save", "of {}", "Two"]


@pytest.mark.parametrize("tag", LANGUAGES)
def test_what_annotators_see_is_translated(tag: str) -> None:
    needed, _ = texts.lacking(texts.updated(tag))
    assert [one.id for one in needed] == [], "run: make texts"


def test_a_text_without_a_translation_is_shown_in_english() -> None:
    language.use("de")
    try:
        assert language.tr("{n} of a new kind", n=3) == "3 of a new kind"
    finally:
        language.use(None)


@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_translation_has_the_places_and_the_markup_of_its_text(tag: str) -> None:
    for one in language.catalogue(tag):
        for text, told in pairs_of(one):
            # Another language may do without a value, such as "is" or "are", and never has one that nobody gives.
            assert set(re.findall(r"\{[^}]*\}", told)) <= set(re.findall(r"\{[^}]*\}", text)), text
            assert re.findall(r"</?\w+", told) == re.findall(r"</?\w+", text), text
            assert told.count("`") == text.count("`"), text
            assert told.count("**") == text.count("**"), text
            assert "'" not in told, f"it may stand in an attribute: {text}"


def pairs_of(one: Message) -> list[tuple[str, str]]:
    if not one.id or not one.string:
        return []
    if isinstance(one.id, str):
        return [(one.id, str(one.string))]
    return [(one.id[-1], told) for told in one.string]


def test_a_text_of_the_browser_depends_on_a_number() -> None:
    language.use("de")
    try:
        told = language.browser_texts(FRONT_END / "shared" / "player", ("unsent.js", "player.html"))
        escaped = language.browser_texts(FRONT_END / "shared" / "player", ("recent.js",))
    finally:
        language.use(None)
    assert told["language"] == "de"
    assert told["texts"]["{n} grade"] == ("{n} Note", "{n} Noten")
    assert told["texts"]["Skip this clip"] == "Diesen Clip überspringen"
    assert escaped["texts"]["Change grade {grade} for “{query}”"] == "Note {grade} für „{query}“ ändern"
    assert "Sign in" not in told["texts"], "only what these files name"


def test_english_hands_nothing_over() -> None:
    assert language.browser_texts(FRONT_END / "shared" / "player", ("player.html",)) == {}


@pytest.mark.parametrize(
    ("cookie", "header", "tag"),
    [
        ("", "", "en"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "fr;q=1, en;q=0.3, de;q=0.7", "de"),
        ("", "fr, nl", "en"),
        ("", "de;q=0, en", "en"),
        ("", "de;q=x", "en"),
        ("en", "de", "en"),
        ("klingon", "de", "de"),
    ],
)
def test_the_language_is_the_chosen_one_or_the_first_of_the_browser(cookie: str, header: str, tag: str) -> None:
    assert language.chosen({language.COOKIE: cookie}, {"accept-language": header}) == tag


@pytest.fixture
def client(real_project: SmallProject) -> Iterator[TestClient]:
    from annotate_app.session.routes import Sessions

    with browsing(real_project.project, Sessions(lambda: real_project.project).routes()) as found:
        yield found


def test_the_sign_in_speaks_the_browsers_language_until_another_is_chosen(client: TestClient) -> None:
    german = {"accept-language": "de-DE,de;q=0.9"}
    page = client.get("/session/sign-in?next=/my-work", headers=german)
    assert '<html lang="de">' in page.text
    assert "<h1>Anmelden</h1>" in page.text
    assert "<label>Passwort<" in page.text

    [token, *_] = re.findall(r'name="csrf" value="([^"]+)"', page.text)
    fields = {"language": "en", "back": "/session/sign-in", "next": "/my-work", "csrf": token}
    answer = client.post("/session/language", data=fields, headers=german)
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in?next=%2Fmy-work")
    page = client.get("/session/sign-in", headers=german)
    assert '<html lang="en">' in page.text
    assert "<h1>Sign in</h1>" in page.text


def test_the_language_follows_the_account_to_another_browser(client: TestClient, real_project: SmallProject) -> None:
    def csrf() -> str:
        return re.findall(r'name="csrf" value="([^"]+)"', client.get("/session/sign-in?other").text)[0]

    def sign_in() -> None:
        fields = {"name": "Ana", "password": PASSWORD, "next": "/", "csrf": csrf()}
        assert client.post("/session/sign-in", data=fields).status_code == 303

    sign_in()
    assert language.COOKIE not in client.cookies, "nobody chose one"
    client.post("/session/language", data={"language": "de", "back": "/session/account", "csrf": csrf()})
    client.cookies.clear()
    sign_in()
    assert client.cookies[language.COOKIE] == "de"
    client.cookies.clear()
    client.post("/session/language", data={"language": "en", "back": "/session/sign-in", "csrf": csrf()})
    sign_in()
    assert client.cookies[language.COOKIE] == "de", "the account's goes before a browser's"


def test_a_language_chosen_before_the_first_sign_in_is_kept(client: TestClient, real_project: SmallProject) -> None:
    [token, *_] = re.findall(r'name="csrf" value="([^"]+)"', client.get("/session/sign-in").text)
    client.post("/session/language", data={"language": "de", "back": "/session/sign-in", "csrf": token})
    client.post("/session/sign-in", data={"name": "Ana", "password": PASSWORD, "next": "/", "csrf": token})
    session = client.cookies["reelrank_session"]
    assert kept_language(real_project.project, session, now=time.time()) == "de"


@pytest.mark.parametrize(
    "fields",
    [{"csrf": "another"}, {"language": "klingon"}, {"back": "https://elsewhere.example"}, {"back": "//elsewhere"}],
    ids=str,
)
def test_a_forged_choice_changes_nothing_or_leads_nowhere_else(client: TestClient, fields: dict[str, str]) -> None:
    [token, *_] = re.findall(r'name="csrf" value="([^"]+)"', client.get("/session/sign-in").text)
    sent = {"language": "de", "back": "/session/sign-in", "next": "//elsewhere", "csrf": token, **fields}
    answer = client.post("/session/language", data=sent)
    assert answer.headers["location"] == "/session/sign-in"
    assert (client.cookies.get(language.COOKIE) == "de") == ("back" in fields)


class Bracketed:
    """A catalogue of a language that says everything in brackets."""

    def gettext(self, text: str) -> str:
        return f"⟦{text}⟧"

    def pgettext(self, _context: str, text: str) -> str:
        return f"⟦{text}⟧"

    def ngettext(self, one: str, several: str, count: int) -> str:
        return f"⟦{one if count == 1 else several}⟧"


def outside_of_brackets(text: str) -> set[str]:
    """The words that no bracket holds, however deep they lie in each other."""
    depth, kept = 0, []
    for sign in re.sub(r"<[^>]*>|&\w+;|:[\w/-]+:|:\w+-badge|`[^`]*`", " ", text):
        depth += {"⟦": 1, "⟧": -1}.get(sign, 0)
        kept.append(sign if depth == 0 and sign != "⟧" else " ")
    return {word for word in re.findall(r"[^\W\d_]{2,}", "".join(kept))}


@pytest.mark.parametrize(
    ("screen", "who", "data"),
    [
        ("my_work", "Ana", {"exactly", "partly", "touches", "unrelated", "well"}),
        ("people", "Lea", set()),
        ("queries", "Lea", set()),
        ("progress", "Lea", set()),
        ("disputes", "Lea", QUERY_WORDS),
        ("release", "Lea", set()),
        ("hours", "Lea", set()),
        ("gold", "Lea", set()),
    ],
)
def test_nothing_a_page_says_by_itself_is_outside_of_the_catalogue(
    open_page_of: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, screen: str, who: str, data: set[str]
) -> None:
    monkeypatch.setattr(language, "chosen", lambda *_: "xx")
    monkeypatch.setattr(language, "_catalogue", lambda _: Bracketed())
    monkeypatch.setattr(language, "_texts_of", lambda *_: {})
    app = open_page_of(screen, who)
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "error", "metric", "button", "expander")
    shown = [getattr(one, part, "") or "" for kind in kinds for one in app.get(kind) for part in ("label", "value")]
    shown += [one.proto.body for one in app.get("html")]
    assert any("⟦" in text for text in shown)
    left = set().union(*map(outside_of_brackets, map(str, shown))) - data - NAMES
    assert sorted(left) == [], left


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything that goes through the catalogue stands in brackets."""
    monkeypatch.setattr(language, "_catalogue", lambda _: Bracketed())
    language.use("xx")
    yield
    language.use(None)


@pytest.mark.usefixtures("bracketed")
@pytest.mark.parametrize("kind", find_events())
def test_every_event_is_told_by_the_catalogue(kind: str) -> None:
    for payload in ({}, {"on": True, "text": "–", "after": [[0, 1]], "parts": 2, "replaced": 1, "reason": "–"}):
        assert outside_of_brackets(translate_message(event_words(kind, payload))) == set()


@pytest.mark.usefixtures("bracketed")
def test_every_setting_is_told_by_the_catalogue(judging: Judging) -> None:
    scale = {one.label for one in judging.project.campaign.scale.meanings}
    data = {*scale, judging.project.settings.encoder, "fp", "GB"}
    for one in campaign_settings(judging.project, OPERATOR):
        texts = map(translate_message, (one.part, one.name, one.value, one.changes, one.how))
        left = {text: outside_of_brackets(text) - data for text in texts if text}
        assert not any(left.values()), left


def test_days_are_told_as_german_writes_them() -> None:
    """As Duden shortens months; English is what it was."""
    at = datetime(2025, 10, 9, 8, 5)
    days = [(language.instant(at), language.day(at), language.month(at))]
    language.use("de")
    try:
        days.append((language.instant(at), language.day(at), language.month(at)))
        may, march = language.day(date(2026, 5, 1), year=True), language.month(date(2026, 3, 31))
    finally:
        language.use(None)
    assert days == [
        ("9 Oct 2025, 08:05", "9 Oct", "October 2025"),
        ("9. Okt. 2025, 08:05", "9. Okt.", "Oktober 2025"),
    ]
    assert (may, march) == ("1. Mai 2026", "März 2026")


def test_an_event_has_its_numbers_and_its_reason_in_german() -> None:
    language.use("de")
    try:
        found = [
            translate_message(event_words("batch_opened", {"number": 2, "pairs": 20})),
            translate_message(event_words("adjudicated", {"relevance": 3, "reason": "seen at the end"})),
            translate_message(event_words("person_added", {"name": "lead", "role": "lead"})),
        ]
    finally:
        language.use(None)
    assert found == [
        "Stapel 2 geöffnet: 20 Paare",
        "entschieden: Relevanz 3 („seen at the end“)",
        "lead als Leitung hinzugefügt",
    ]
