"""What a key press means on other keyboard layouts: one page of the browser, without a server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import annotate_app

pytestmark = pytest.mark.browser
APP = Path(annotate_app.__file__).parent
TEXTS, WIDGETS = APP / "language" / "browser.js", APP / "shared"

SHIFT = {"shiftKey": True}
# What browsers report for keys of these layouts (`key`, `code`, modifiers), and what `keyOf` must return.
AZERTY_DIGITS = dict(zip("à&é\"'(-è_ç", "0123456789", strict=True))
CZECH_DIGITS = dict(zip("é+ěščřžýáí", "0123456789", strict=True))
PERSIAN_DIGITS = dict(zip("۰۱۲۳۴۵۶۷۸۹", "0123456789", strict=True))
THAI_DIGITS = dict(zip("จๅ/-ภถุึคต", "0123456789", strict=True))
ROWS: list[tuple[str, str, dict[str, bool], str]] = [
    *(
        (sign, f"Digit{digit}", {}, digit)
        for row in (AZERTY_DIGITS, CZECH_DIGITS, PERSIAN_DIGITS, THAI_DIGITS)
        for sign, digit in row.items()
    ),
    *((digit, f"Digit{digit}", {}, digit) for digit in "0123456789"),
    *((digit, f"Digit{digit}", SHIFT, digit) for digit in "0123456789"),  # AZERTY and Czech with Shift
    *((digit, f"Numpad{digit}", {}, digit) for digit in "0123456789"),
    ("٣", "", {}, "3"),  # an Arabic screen keyboard
    ("３", "", {}, "3"),  # a full-width digit
    ("#", "Digit3", SHIFT, "#"),  # QWERTY
    ("End", "Numpad1", {}, "End"),  # Num Lock is off
    ("w", "KeyW", {}, "w"),
    ("W", "KeyW", {}, "w"),  # Caps Lock
    ("w", "KeyZ", {}, "w"),  # AZERTY
    ("d", "KeyH", {}, "d"),  # Dvorak
    ("ц", "KeyW", {}, "w"),  # Russian
    ("Ц", "KeyW", {}, "w"),
    ("ς", "KeyW", {}, "w"),  # Greek
    ("'", "KeyW", {}, "'"),  # Hebrew, where this key is no letter
    ("ד", "KeyS", {}, "s"),
    ("س", "KeyS", {}, "s"),  # Arabic
    ("ㄴ", "KeyS", {}, "s"),  # Korean
    ("ト", "KeyS", {}, "s"),  # Japanese, kana
    ("ห", "KeyS", {}, "s"),  # Thai
    ("ü", "KeyG", {}, "ü"),  # Turkish F: a letter of its own
    ("ö", "KeyX", {}, "ö"),
    ("?", "Slash", SHIFT, "?"),
    ("?", "KeyM", SHIFT, "?"),  # AZERTY
    ("؟", "Slash", SHIFT, "?"),  # Arabic and Persian
    (" ", "Space", {}, " "),
    ("\u00a0", "Space", SHIFT, " "),  # French
    ("Process", "KeyS", {}, "Process"),  # an input method
    ("Dead", "KeyN", {}, "Dead"),
    ("Escape", "Escape", {}, "Escape"),
]
FOREIGN: list[dict[str, object]] = [
    {"ctrlKey": True},
    {"altKey": True},
    {"metaKey": True},
    {"modifierAltGraph": True},  # on Linux AltGr sets neither Ctrl nor Alt
    {"ctrlKey": True, "altKey": True},  # AltGr on Windows
    {"isComposing": True},
    {"keyCode": 229},
]


def script(*names: str) -> str:
    """The scripts of a component as one text, without `export`."""
    texts = [(WIDGETS / name).read_text(encoding="utf-8") for name in ("keyboard.js", *names)]
    return "\n".join([TEXTS.read_text(encoding="utf-8"), *texts]).replace(
        "export default function (", "return function ("
    )


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page."""
    page = browser.new_page()
    yield page
    page.close()


def on_keys(page: Page, body: str, keys: list[dict[str, Any]], *scripts: str) -> list[Any]:
    """Run a function's body for each of these key presses, after the scripts of a component."""
    found: list[Any] = page.evaluate(
        f"""(keys) => {{ {script(*scripts)}
          return keys.map((init) => {{
            const event = new KeyboardEvent("keydown", {{ bubbles: true, composed: true, ...init }});
            {body}
          }});
        }}""",
        keys,
    )
    return found


def events() -> list[dict[str, Any]]:
    """The key presses of the table."""
    return [{"key": key, "code": code, **modifiers} for key, code, modifiers, _ in ROWS]


def test_a_key_says_the_same_on_every_layout(page: Page) -> None:
    told = on_keys(page, "return keyOf(event);", events())
    assert [(*row[:3], said) for row, said in zip(ROWS, told, strict=True)] == ROWS
    assert page.evaluate(f"() => {{ {script()} return keyOf({{}}); }}") == ""  # what a browser fills in has no key


def test_the_desk_grades_with_every_key_that_says_a_digit(page: Page) -> None:
    body = 'const does = commandOf(event); return does?.name === "grade" ? String(does.grade) : null;'
    told = on_keys(page, body, events(), "player/keys.js")
    assert told == [said if said in "0123456789" else None for *_, said in ROWS]


def test_the_desk_of_descriptions_knows_its_letters_and_signs(page: Page) -> None:
    keys = [
        ("ы", "KeyS"),
        ("ü", "BracketLeft"),
        ("[", "Digit5"),
        ("Dead", "BracketLeft"),
        ("ö", "KeyX"),
        ("؟", "Slash"),
    ]
    told = on_keys(
        page,
        "return commandOf(event);",
        [{"key": key, "code": code} for key, code in keys],
        "../screens/describe/keys.js",
    )
    assert told == ["shot", "shot-before", "shot-before", "shot-before", None, "keys"]


def test_a_modifier_or_an_input_method_makes_a_key_foreign(page: Page) -> None:
    keys = [{"key": "s", "code": "KeyS", **more} for more in ({}, SHIFT, *FOREIGN)]
    body = "document.body.dispatchEvent(event); return isForeign(event);"
    assert on_keys(page, body, keys) == [False, False] + [True] * len(FOREIGN)


CASE = """<div id="root"><div class="rr-case-keys"></div></div><div class="reason"><input></div>
<div class="relevance">""" + "".join(f'<button role="radio">{grade}</button>' for grade in range(5))
PRESSED = """
  window.chosen = null;
  document.activeElement.blur();
  for (const radio of document.querySelectorAll("[role=radio]")) radio.onclick = () => { chosen = radio.textContent; };
  document.body.dispatchEvent(event);
  return chosen;
"""


def test_a_key_that_grades_at_the_desk_chooses_a_relevance_for_a_lead(page: Page) -> None:
    page.set_content(CASE)
    page.evaluate(
        f"""() => (() => {{ {script("case_keys/case_keys.js")} }})()({{
          parentElement: document.getElementById("root"),
          data: {{ relevance: ".relevance", reason: ".reason", edit: "", legend: ".legend", acts: ["d"], next: null }},
        }})"""
    )
    assert on_keys(page, PRESSED, events()) == [said if said in "01234" else None for *_, said in ROWS]
    assert on_keys(page, PRESSED, [{"key": "é", "code": "Digit2", **more} for more in FOREIGN]) == [None] * len(FOREIGN)


def test_no_shortcut_of_a_button_takes_a_key_for_another_letter(page: Page) -> None:
    keys = [
        ("n", "KeyN"),
        ("т", "KeyN"),  # Russian: the key N
        ("ö", "KeyX"),  # Turkish F
        ("Process", "KeyD"),
        ("Dead", "KeyN"),
        ("Escape", "Escape"),
    ]
    body = """
      const ended = new AbortController();
      guardShortcuts(ended.signal);
      let came = false;
      document.addEventListener("keydown", () => { came = true; }, { once: true, signal: ended.signal });
      document.body.dispatchEvent(event);
      ended.abort();
      return came;
    """
    told = on_keys(page, body, [{"key": key, "code": code} for key, code in keys])
    assert told == [True, True, False, False, False, True]
