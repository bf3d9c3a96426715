"""What a page in another language still says in English, and what it has no room for."""

import re
from collections.abc import Iterable
from functools import cache

from playwright.sync_api import Page

from annotate_app import language

_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_WORDS = re.compile(r"\{[^}]*\}|`[^`]*`|<[^>]*>|\w+=\w+")
"""Values, markup, and what is typed: commands, and options such as `unknown=ignore`."""
STREAMLIT = frozenset(
    {
        *("Skip to main content", "Navigate to home page", "App pages", "Link to heading", "Choose an option", "Open"),
        *("Previous page", "Next page"),
    }
)
"""Words of Streamlit's own frame, in English in every language."""
_COUNTED = re.compile(r"\d+ more|Page \d+")
"""The same, with a number: how many pages the menu has no room for."""
SEEN = """() => {
  const found = new Set(), names = ["aria-label", "placeholder", "title", "alt"];
  const aside = "style, script, code, svg, .vega-embed, [translate=no], [data-testid=stElementToolbar]";
  const within = (root) => {
    for (const one of root.querySelectorAll("*")) {
      if (one.shadowRoot) within(one.shadowRoot);
      if (one.closest(aside) || !one.checkVisibility({ visibilityProperty: true })) continue;
      for (const name of names) found.add(one.getAttribute(name) ?? "");
      for (const node of one.childNodes) if (node.nodeType === Node.TEXT_NODE) found.add(node.data);
    }
  };
  within(document.body);
  return [...found].map((text) => text.trim().replace(/\\s+/g, " ")).filter(Boolean);
}"""
"""Every text that is seen or read out, shadow trees too; not what charts, icons and tables say by themselves."""
CUT_OFF = """() => {
  const found = [];
  const within = (root) => {
    for (const one of root.querySelectorAll("*")) {
      if (one.shadowRoot) within(one.shadowRoot);
      if (!one.matches("button, summary, [role=tab], a[href]")) continue;
      if (!one.checkVisibility({ visibilityProperty: true }) || one.clientWidth < 2) continue;  // for the Tab key alone
      const cuts = getComputedStyle(one).overflowX !== "visible";
      if (cuts && one.scrollWidth > one.clientWidth + 1) found.push(one.textContent);
    }
  };
  within(document.body);
  return found;
}"""
"""Buttons, tabs and links whose text is cut off."""
HAS_ROOM = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth <= main.clientWidth;
}"""
"""Whether the page is no wider than its window."""


def left_in_english(page: Page, tag: str, data: Iterable[str]) -> list[str]:
    """The texts on screen with English words, each with those; `data` is what people wrote, which may be English."""
    longest_first = sorted(filter(None, data), key=len, reverse=True)
    written = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    found = []
    for text in page.evaluate(SEEN):
        said = _words(written.sub(" ", text)) & english_words(tag)
        if said and text not in STREAMLIT and not _COUNTED.fullmatch(text):
            found.append(f"{text} {sorted(said)}")
    return found


@cache
def english_words(tag: str) -> frozenset[str]:
    """The words that English texts of the catalogue have and no translation does, in small letters."""
    english: set[str] = set()
    other: set[str] = set()
    for one in language.catalogue(tag):
        if one.id:
            english |= _words(one.id if isinstance(one.id, str) else " ".join(one.id))
            other |= _words(one.string if isinstance(one.string, str) else " ".join(one.string))
    return frozenset(english - other)


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(_NO_WORDS.sub(" ", text))}
