"""All settings in one list, and the file of a new project made from it."""

import textwrap
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, json
from msgspec.structs import FieldInfo, fields

from backend.campaign.setup.project.setting_entries import CAMPAIGN, ENVIRONMENT, Home, SettingEntry
from backend.campaign.setup.project.settings import ProjectSettings, SettingInfo

_WIDTH = 120


def template() -> str:
    """A new `reelrank.toml`, with a place for whatever has no default, and for the cast.

    >>> template().splitlines()[1:3]
    ['name = {name}', '']
    """
    first = "# Settings of this ReelRank project. Lines may be edited; commands read them anew every time."
    return "\n".join([first, *_lines(ProjectSettings), "{cast}"])


def _lines(section: type[Struct], path: str = "") -> Iterator[str]:
    for field in fields(section):
        about, inner = _about(field), _bare(field)
        comment = about.meaning if about.comment is None else about.comment
        yield from [""] * about.group
        yield from (f"# {line}" for line in textwrap.wrap(comment, _WIDTH - 2, break_on_hyphens=False))
        if _is_section(inner):
            yield f"[{path}{field.name}]"
            yield from _lines(inner, f"{path}{field.name}.")
        elif get_origin(inner) is dict:
            yield f"[{path}{field.name}]"
        elif about.example is not None:
            yield f"# {field.name} = {toml_value(about.example)}"
        else:
            value = f"{{{field.name}}}" if field.default is NODEFAULT else toml_value(field.default)
            yield f"{field.name} = {value}"


def settings_of(section: type[Struct] = ProjectSettings, path: str = "") -> Iterator[SettingEntry]:
    """The settings of the file, those of a section by `section.key`."""
    for field in fields(section):
        about, inner = _about(field), _bare(field)
        if _is_section(inner):
            yield from settings_of(inner, f"{path}{field.name}.")
            continue
        limits = next((one for one in _metadata(field.type) if isinstance(one, Meta)), Meta())
        default = field.default.value if isinstance(field.default, Enum) else field.default
        yield SettingEntry(
            f"{path}{field.name}",
            about.meaning,
            default if isinstance(default, (str, int, float)) and default != "" else None,
            home=Home.FILE,
            unit=about.unit,
            least=limits.ge,
            above=limits.gt,
            most=limits.le,
            choices=_choices(inner),
            listed=about.listed,
        )


def _about(field: FieldInfo) -> SettingInfo:
    return next(one for one in field.type.__metadata__ if isinstance(one, SettingInfo))


def _bare(field: FieldInfo) -> Any:
    return get_args(field.type)[0]


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _metadata(kind: Any) -> Iterator[Any]:
    """Everything that a type, or one that it may be, is annotated with."""
    yield from getattr(kind, "__metadata__", ())
    for inner in get_args(kind):
        yield from _metadata(inner)


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


def toml_value(value: Any) -> str:
    """Return a text or a number as TOML writes it (JSON's escapes are a subset of TOML's)."""
    return f"{value:.15g}" if isinstance(value, (int, float)) else json.encode(value).decode()


SETTINGS = (*settings_of(), *CAMPAIGN, *ENVIRONMENT)
"""Every setting, once."""
BY_KEY = {setting.key: setting for setting in SETTINGS}
