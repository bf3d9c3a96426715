"""Write a new `reelrank.toml`, and change values in an existing file without losing people's comments."""

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, get_origin

from msgspec import NODEFAULT, Struct, json
from msgspec.structs import fields

from backend.campaign.setup.project.settings import ProjectSettings, about_field, bare_type, is_section

_WIDTH = 120


def template() -> str:
    """Return the text of a new `reelrank.toml`, with placeholders such as `{name}` for `str.format`.

    There is one placeholder for each setting without a default, and `{cast}` for the lines that replace names in
    captions.

    >>> template().splitlines()[1:3]
    ['name = {name}', '']
    """
    first = "# Settings of this ReelRank project. Lines may be edited; a change is in force at once."
    return "\n".join([first, *_lines(ProjectSettings), "{cast}"])


def _lines(section: type[Struct], path: str = "") -> Iterator[str]:
    for field in fields(section):
        about, inner = about_field(field), bare_type(field)
        comment = about.meaning if about.comment is None else about.comment
        yield from [""] * about.group
        yield from (f"# {line}" for line in textwrap.wrap(comment, _WIDTH - 2, break_on_hyphens=False))
        if is_section(inner):
            yield f"[{path}{field.name}]"
            yield from _lines(inner, f"{path}{field.name}.")
        elif get_origin(inner) is dict:
            yield f"[{path}{field.name}]"
        elif about.example is not None:
            yield f"# {field.name} = {toml_value(about.example)}"
        else:
            value = f"{{{field.name}}}" if field.default is NODEFAULT else toml_value(field.default)
            yield f"{field.name} = {value}"


def toml_value(value: Any) -> str:
    """Return a text or a number in TOML's notation (JSON's escapes are a subset of TOML's)."""
    return (
        f"{value:.15g}" if isinstance(value, (int, float)) else json.encode(value).decode().replace("\x7f", "\\u007f")
    )


KeyPath = tuple[str, ...]
"""The path of a value in the file, such as `("pay", "rates", "Ana")`."""
_HEADER = re.compile(r"\s*\[")
_ENTRY = re.compile(r"\s*[^\s#\[][^=]*=")
_VALUE = re.compile(r"""=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'#]*?)(?P<comment>\s+#.*)?$""")


def with_values(text: str, changes: Mapping[KeyPath, object]) -> str:
    r"""Return the text of a settings file with new values; everything else stays as it is.

    `changes` maps the path of each value, such as `("pay", "hourly_rate")`, to its new value. None turns the setting's
    line into a comment. If the values cannot be edited line by line, the result is the text of a new file with the
    standard comments.

    >>> print(with_values("[pay] # a month\nhourly_rate = 11 # gross", {("pay", "hourly_rate"): 12.5}))
    [pay] # a month
    hourly_rate = 12.5 # gross
    <BLANKLINE>
    """
    settings = _changed(tomllib.loads(text), changes)
    edited = _edited(text, changes)
    if _has_values(edited, settings):
        return edited
    new_file = template().format(
        **{key: toml_value(settings[key]) for key in ("name", "encoder", "encoder_kind")}, cast=""
    )
    return _edited(new_file, dict(_values(settings)))


def _changed(settings: dict[str, Any], changes: Mapping[KeyPath, object]) -> dict[str, Any]:
    new_settings = deepcopy(settings)
    for (*sections, key), value in changes.items():
        place = new_settings
        for section in sections:
            place = place.setdefault(section, {})
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value
    return new_settings


def _has_values(text: str, settings: Mapping[str, Any]) -> bool:
    try:
        return dict(_values(tomllib.loads(text))) == dict(_values(settings))
    except tomllib.TOMLDecodeError:
        return False


def _values(table: Mapping[str, Any], above: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _values(value, (*above, key))
        else:
            yield (*above, key), value


def _edited(text: str, changes: Mapping[KeyPath, object]) -> str:
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")  # not splitlines: TOML has no other line ends
    for (*section, key), value in changes.items():
        first, end = _body(lines, section)
        name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) and not section[1:] else toml_value(key)
        line = None if value is None else f"{name} = {toml_value(value)}"
        names = "|".join(map(re.escape, (key, toml_value(key), f"'{key}'")))
        value_lines = [n for n in range(first, end) if re.match(rf"\s*(?:{names})\s*=", lines[n])]
        comment_lines = [n for n in range(first, end) if re.match(rf"#\s*(?:{names})\s*=", lines[n])]
        if line is None:
            lines[:] = [f"# {old_line}" if n in value_lines else old_line for n, old_line in enumerate(lines)]
        elif value_lines:
            old = _VALUE.search(lines[value_lines[0]])
            lines[value_lines[0]] = line + ((old["comment"] or "") if old else "")
        elif comment_lines:
            lines[comment_lines[0]] = line
        else:
            entries = [n for n in range(first, end) if _ENTRY.match(lines[n])]
            lines.insert(entries[-1] + 1 if entries else first, line)
    return "\n".join(lines) + "\n"


def _body(lines: list[str], section: Sequence[str]) -> tuple[int, int]:
    """Return (index of a section's first line, index after its last line) in `lines`, counted from 0.

    If the section is missing, it is added at the end. An empty `section` stands for the lines before the first section.
    """
    headers = [n for n, line in enumerate(lines) if _HEADER.match(line)]
    first = 0
    if section:
        header = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(map(re.escape, section)) + r"\s*\]\s*(?:#.*)?")
        first = next((n + 1 for n in headers if header.fullmatch(lines[n])), 0)
        if not first:
            lines += ["", f"[{'.'.join(section)}]"]
            return len(lines), len(lines)
    return first, next((n for n in headers if n >= first), len(lines))
