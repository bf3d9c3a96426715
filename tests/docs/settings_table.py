"""Writes the tables of settings in docs/settings.md from the registry: `make docs`. A test compares them."""

from collections.abc import Iterator
from pathlib import Path

from backend.campaign.monitoring.activity.setting_lines import LINES
from backend.campaign.setup.project.setting_entries import Home, SettingEntry
from backend.campaign.setup.project.settings import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
BEGIN, END = "<!-- settings: `make docs` writes these tables, do not edit them -->", "<!-- end of settings -->"
HOMES = {
    Home.FILE: "In `reelrank.toml`; a change is in force at once. Leads edit most on the page Settings:",
    Home.CAMPAIGN: "In the database; each change is an event, or a version:",
    Home.ENVIRONMENT: "In the environment; the same for every command of a project and its server:",
}


def page() -> str:
    """The page as it should be."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n{END}{rest.split(END)[1]}"


def tables() -> str:
    """A table for each home."""
    return "\n".join(line for home, words in HOMES.items() for line in _table(home, words))


def _table(home: Home, words: str) -> Iterator[str]:
    head = ["Setting", "Default", "Values", "Meaning", *(["Changed by"] if home is Home.CAMPAIGN else [])]
    yield from ("", words, "")
    yield from (_row(head), _row(["---"] * len(head)))
    for one in SETTINGS:
        if one.home is home:
            changed = [_changed(one)] if home is Home.CAMPAIGN else []
            yield _row([_name(one), _default(one), one.range, one.meaning, *changed])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _name(one: SettingEntry) -> str:
    section, _, key = one.key.rpartition(".")
    return f"`[{section}]` `{key}`" if section else f"`{key}`"


def _default(one: SettingEntry) -> str:
    if one.default is None:
        return ""
    told = f"{one.default:g}" if isinstance(one.default, (int, float)) else one.default
    return told if one.home is Home.CAMPAIGN and not one.choices else f"`{told}`"


def _changed(one: SettingEntry) -> str:
    line = next(line for line in LINES if one.key in line.keys)
    return f"page {line.page.partition('?')[0].capitalize().replace('-', ' ')}" if line.page else line.how


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
