"""Change settings in `reelrank.toml` from the page Settings.

*Reads* `reelrank.toml`. *Writes* `reelrank.toml`, events. New values are checked in the same way as the file.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from backend.campaign.nouns import Lead
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import SETTINGS_FILE
from backend.campaign.setup.project.setting_entries import Home, SettingEntry
from backend.campaign.setup.project.settings import BY_KEY, SETTINGS, ProjectSettings
from backend.campaign.setup.project.settings_file import database_address, read_settings, why_read_only, write_whole
from backend.campaign.setup.project.settings_text import KeyPath, with_values
from backend.core.errors import NotAllowed, Overtaken, ProjectError
from backend.core.events import Event, EventGroup
from backend.core.messages import said
from backend.core.text_files import control_fault
from backend.store import events
from backend.store.address import without_password
from backend.store.connection import writing

Value = str | float | Mapping[str, str] | Mapping[str, float] | None
"""The value of a setting; a mapping for settings with an entry for each name."""
SETTING_CHANGED = Event("setting_changed", EventGroup.DECISIONS, said("set {setting} to {after} (before: {before})"))
"""A lead changed a setting of the file. Payload: setting, before, after; the subject is `setting:` and its key."""
LONGEST = 200
"""The most characters of a text that a setting has as its value."""
EDITABLE = tuple(setting for setting in SETTINGS if setting.home is Home.FILE and not setting.operator_only)
"""The settings of the file that leads can change."""


@dataclass(frozen=True, slots=True)
class FileSettings:
    """The settings in `reelrank.toml`, as leads see them.

    `fixed` says why this server cannot change the file, and is empty if it can. `several_files` is True if other
    machines may serve the same project with a settings file of their own.
    """

    values: Mapping[str, Value]
    """Values by key, including settings that only the operator sets. A database address has no password."""
    fixed: str
    several_files: bool


@lead_only
def file_settings(project: Project, lead: Lead) -> FileSettings:
    """Return the current settings in `reelrank.toml`, as leads see them.

    Raises:
        InputError: the file is not valid, so that the server still uses the settings it read before.
    """
    values = _values(read_settings(project.folder))
    return FileSettings(
        values | {"database": without_password(str(values["database"]))},
        why_read_only(project.folder),
        bool(database_address(project.folder)),
    )


@lead_only
def change_settings(
    project: Project, lead: Lead, changes: Mapping[str, tuple[Value, Value]], *, now: float
) -> list[str]:
    """Write new values into `reelrank.toml`, and return the keys that changed. If one is refused, none is written.

    Args:
        project: the project. Every process that serves its folder uses the new values at once.
        lead: the lead who changes them.
        changes: maps the key of each setting to (value that the lead saw, new value).
        now: seconds since 1970.

    Raises:
        NotAllowed: only the operator of the server may change one of the settings.
        Overtaken: a value in the file is no longer the one that the lead saw.
        ProjectError: a value is refused, or the file is read-only.
        InputError: the file as it is now is not valid.
    """
    if refused := [key for key in changes if key not in {setting.key for setting in EDITABLE}]:
        raise NotAllowed(
            said("{setting} is read-only here: ask whoever runs the server to change it", setting=refused[0])
        )
    if fixed := why_read_only(project.folder):
        raise ProjectError(fixed)
    for key, (_, new_value) in changes.items():
        if problem := _fault(BY_KEY[key], new_value):
            raise ProjectError(problem)
    path = project.folder / SETTINGS_FILE
    with writing(project.store) as db:  # nobody else changes the file meanwhile
        current = _values(read_settings(project.folder))
        changed = {key: new_value for key, (_, new_value) in changes.items() if current[key] != new_value}
        for key in changed:
            if current[key] != changes[key][0]:
                raise Overtaken(
                    said(
                        "{setting} was changed to {value} meanwhile, so nothing was saved. Check it, then save "
                        "again if you still want to",
                        setting=BY_KEY[key].label,
                        value=value_words(current[key]),
                    )
                )
        text = with_values(
            path.read_text(encoding="utf-8"),
            {
                place: value
                for key, new_value in changed.items()
                for place, value in _places(key, current[key], new_value)
            },
        )
        _require_understood(text)
        for key, new_value in changed.items():
            payload = {"setting": key, "before": value_words(current[key]), "after": value_words(new_value)}
            events.note(db, SETTING_CHANGED, lead, f"setting:{key}", now=now, **payload)
        if changed:
            write_whole(path, text)
    return list(changed)


def value_words(value: Value | tuple[str, ...]) -> str:
    """Return the value of a setting as text to show on a page; a dash if it is empty."""
    if value is None or value == "" or value == {} or value == ():
        return "–"
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {value_words(entry)}" for name, entry in value.items())
    return value if isinstance(value, str) else f"{value:.15g}"


def _values(settings: ProjectSettings) -> dict[str, Value]:
    return {setting.key: _value(settings, setting.key) for setting in SETTINGS if setting.home is Home.FILE}


def _value(settings: ProjectSettings, key: str) -> Any:
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value.value if isinstance(value, Enum) else value


def _places(key: str, before: Value, after: Value) -> Iterator[tuple[KeyPath, object]]:
    """Yield (path in the settings file, new value) for each value that changes.

    Of a setting with one entry per name, such as hourly rates, only the entries that differ are yielded. The new value
    None stands for a removed entry.
    """
    path = tuple(key.split("."))
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        yield path, after
        return
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield (*path, name), after.get(name)


def _fault(entry: SettingEntry, value: Value) -> str:
    """Return what is wrong with a new value of a setting, as a sentence; an empty text if nothing is."""
    numbers = [*value.values()] if isinstance(value, Mapping) else [value]
    for item in numbers:
        if isinstance(item, str):
            if len(item) > LONGEST:
                return said("{setting} has more than {most} characters: shorten it", setting=entry.label, most=LONGEST)
            if not item.strip():
                return said("{setting} is empty: write a value", setting=entry.label)
            if problem := control_fault(item):
                return said("{setting}: {message}", setting=entry.label, message=problem)
        elif item is not None and not (
            (entry.least is None or item >= entry.least)
            and (entry.above is None or item > entry.above)
            and (entry.most is None or item <= entry.most)
        ):
            return said("{setting} is {value:.15g}: write {range}", setting=entry.label, value=item, range=entry.range)
    return ""


def _require_understood(text: str) -> None:
    """Raise ProjectError if a text is not a valid settings file."""
    try:
        msgspec.convert(tomllib.loads(text), ProjectSettings)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ProjectError(said("{file} would not be valid: {message}", file=SETTINGS_FILE, message=error)) from error
