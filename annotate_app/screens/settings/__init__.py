"""The lead's page "Settings": a form for settings in `reelrank.toml`, webhooks, and tables of all settings."""

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.pages import PAGES
from annotate_app.plain import component_key, plain
from annotate_app.screens.settings import webhooks
from annotate_app.session.addresses import full_path
from annotate_app.shared import look, wording
from annotate_app.shared.unsaved import warn_unsaved
from backend.campaign.monitoring.activity.log import campaign_settings
from backend.campaign.monitoring.activity.model import CampaignSetting
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.setting_entries import Home, SettingEntry
from backend.campaign.setup.project.settings import BY_KEY, SETTINGS
from backend.campaign.setup.serving.settings_changes import (
    EDITABLE,
    FileSettings,
    Value,
    change_settings,
    file_settings,
    value_words,
)
from backend.core.errors import Overtaken, ProjectError, ReelRankError

_TITLES = {page.address: page.title for page in PAGES}
_RATES, _CAST = "pay.rates", "cast"
_GROUPS: Sequence[tuple[str, tuple[str, ...]]] = (
    (marked("Project and work"), ("name", "lease_minutes", "encoder_dtype", "rewrite.people")),
    (marked("Clips"), ("clips.format", "clips.height", "clips.context_s")),
    (marked("Pay"), ("pay.hourly_rate", "pay.currency")),
)
_WORDS = {
    "fp32": marked("fp32: exact"),
    "bf16": marked("bf16: faster on many processors"),
    "mp4": marked("MP4: played everywhere"),
    "webm": marked("WebM: free of patents"),
    "counted": marked("Counted: two people hug"),
    "joined": marked("Joined: two women hug"),
    "apart": marked("Apart: a woman and another woman hug"),
}
_SEEN, _NAMES = "settings_seen", "settings_names"
"""Session keys: the settings file's values when the form was filled; annotators who may have their own rate."""


def page() -> None:
    """Draw the form, the settings that only the server's operator can change, and tables of all campaign settings."""
    project, lead, _ = look.lead_page("Settings")
    try:
        file = file_settings(project, lead)
    except ReelRankError as refusal:
        st.error(
            tr(
                "The settings file cannot be read: {reason}. Ask the operator of the server to correct it. Until "
                "then, the last valid settings stay in force, and you cannot change them.",
                reason=plain(translate_message(refusal).rstrip(".")),
            )
        )
    else:
        _form(project, lead, file)
        _operators(file.values)
    webhooks.draw(project, lead)
    st.header(tr("All settings"), anchor=False)
    st.markdown(
        tr(
            "What each setting changes, and since when it holds. Every change is on the page [Activity]({path}).",
            path=full_path("/activity"),
        )
    )
    for part, settings in groupby(campaign_settings(project, lead), key=lambda setting: setting.part):
        st.header(plain(translate_message(part)), anchor=False)
        st.html(settings_table(list(settings), st.context.timezone))


def _form(project: Project, lead: Person, file: FileSettings) -> None:
    st.header(tr("Change settings"), anchor=False)
    if file.fixed:
        st.warning(plain(translate_message(file.fixed)))
    if _SEEN not in st.session_state or _key("name") not in st.session_state:
        annotators = (one.person.name for one in list_people(project, lead) if one.person.role is Role.ANNOTATOR)
        st.session_state[_NAMES] = list(dict.fromkeys([*annotators, *_entries(file.values[_RATES])]))
        _fill(file.values, file.values)
    fixed = bool(file.fixed)
    with st.container(key="settings-form"), st.form("settings", enter_to_submit=False):
        for column, (title, keys) in zip(st.columns(len(_GROUPS)), _GROUPS, strict=True):
            with column:
                st.header(tr(title), anchor=False)
                for key in keys:
                    _field(BY_KEY[key], disabled=fixed)
        _own_rates(disabled=fixed)
        if st.session_state[_SEEN][_CAST]:
            about = tr("One name a line, such as: Rachel = a woman. These override the names on the page Captions.")
            st.text_area(translate_message(BY_KEY[_CAST].label), help=about, key=_key(_CAST), disabled=fixed)
        st.form_submit_button(tr("Save settings"), type="primary", on_click=_save, disabled=fixed)
    warn_unsaved("settings-form", saved=component_key(str(st.session_state[_SEEN])))
    look.outcome("settings")
    if file.several_files:
        st.caption(tr("If another machine serves this project, change the setting in its reelrank.toml too."))


def _fill(values: Mapping[str, Value], shown: Iterable[str]) -> None:
    """Fill form fields with the values of the settings file.

    Also remember all these values as what the lead has seen, so that changes by others are noticed on saving.

    Args:
        values: the values of the settings file.
        shown: the keys of the settings whose fields are filled.
    """
    state = st.session_state
    state[_SEEN] = dict(values)
    for key in shown:
        if key == _RATES:
            state.update({_key(key, name): _entries(values[key]).get(name) for name in state[_NAMES]})
        elif key == _CAST:
            state[_key(key)] = "\n".join(f"{name} = {words}" for name, words in _entries(values[key]).items())
        else:
            state[_key(key)] = values[key]


def _field(entry: SettingEntry, *, disabled: bool) -> None:
    """Draw the input of one setting. `entry` defines its label and range, and the session holds its value."""
    label, about = plain(translate_message(entry.label)), plain(translate_message(entry.meaning))
    label += f" ({entry.unit})" if entry.unit else ""
    key = _key(entry.key)
    if entry.choices:
        st.selectbox(
            label, entry.choices, format_func=lambda choice: tr(_WORDS[choice]), key=key, help=about, disabled=disabled
        )
    elif isinstance(st.session_state[_SEEN][entry.key], str):
        st.text_input(label, key=key, help=about, disabled=disabled)
    else:
        _number(label, entry, key, about, disabled=disabled)


def _number(label: str, entry: SettingEntry, key: str, about: str | None = None, *, disabled: bool) -> None:
    kind = int if isinstance(st.session_state[key], int) else float
    limits: dict[str, Any] = {
        name: None if limit is None else kind(limit)
        for name, limit in (("min_value", entry.least), ("max_value", entry.most), ("step", 1))
    }
    limits["value"] = "min" if entry.default is not None else None
    st.number_input(
        label,
        **limits,
        format="%d" if kind is int else "%g",
        key=key,
        help=about,
        placeholder=tr("None"),
        disabled=disabled,
    )


def _own_rates(*, disabled: bool) -> None:
    """Draw an input for each annotator's own hourly rate."""
    names: list[str] = st.session_state[_NAMES]
    if not names:
        return
    with st.expander(tr("Rates of single annotators"), expanded=bool(st.session_state[_SEEN][_RATES])):
        st.caption(tr("With an empty field, the hourly rate of everybody counts."))
        for column, name in zip(st.columns(3) * len(names), names, strict=False):
            with column:
                _number(plain(name), BY_KEY[_RATES], _key(_RATES, name), disabled=disabled)


@look.lead_callback("settings_problem")
def _save(project: Project, lead: Person) -> None:
    """Save all changes that the lead made in the form, or none of them if one is refused."""
    state, seen = st.session_state, st.session_state[_SEEN]
    typed: dict[str, Value] = {key: state[_key(key)] for _, keys in _GROUPS for key in keys}
    typed = {key: value.strip() if isinstance(value, str) else value for key, value in typed.items()}
    rates = {name: state[_key(_RATES, name)] for name in state[_NAMES]}
    typed[_RATES] = {name: rate for name, rate in rates.items() if rate is not None}
    if seen[_CAST]:
        typed[_CAST] = _typed_entries(state[_key(_CAST)])
    changes = {key: (seen[key], value) for key, value in typed.items() if value != seen[key]}
    if not changes:
        raise ProjectError(tr("No changes to save."))
    try:
        change_settings(project, lead, changes, now=time.time())
    except Overtaken:
        _fill(file_settings(project, lead).values, seen.keys() - changes.keys())  # the next press can save it
        raise
    _fill(file_settings(project, lead).values, seen)
    names = ", ".join(translate_message(BY_KEY[key].label) for key in changes)
    state["settings_done"] = tr("Saved and in force: {names}.", names=names)


def _typed_entries(text: str) -> dict[str, str]:
    lines = [line.partition("=") for line in text.splitlines() if line.strip()]
    if wrong := [name for name, equals, words in lines if not (name.strip() and equals and words.strip())]:
        raise ProjectError(
            tr(
                "“{line}” is not a name and its words. Write a line such as Rachel = a woman",
                line=wrong[0].strip(),
            )
        )
    return {name.strip(): words.strip() for name, _, words in lines}


def _entries(value: Value) -> Mapping[str, str | float]:
    return value if isinstance(value, Mapping) else {}


def _key(setting: str, name: str = "") -> str:
    """Return the session key of a setting's input. `name` is the annotator, for a setting with a value for each."""
    return f"setting:{setting}:{name}"


def _operators(values: Mapping[str, Value]) -> None:
    """Draw the settings that only the server's operator can change, each with the reason."""
    fixed = [setting for setting in SETTINGS if setting.home is Home.FILE and setting not in EDITABLE]
    rows = [
        (
            f"<code>{escape(setting.key)}</code><small>{escape(translate_message(setting.meaning))}</small>",
            escape(value_words(values[setting.key])) + (f" {escape(setting.unit)}" if setting.unit else ""),
            escape(translate_message(setting.operator_only)),
        )
        for setting in fixed
    ]
    with st.expander(tr("Settings that only the operator can change")):
        st.markdown(tr("The operator of the server sets these in `reelrank.toml`, in the folder of the project."))
        st.html(look.table((tr("Setting"), tr("Now"), tr("Why not here")), rows, "rr-settings"))


def settings_table(settings: Sequence[CampaignSetting], timezone: str | None) -> str:
    """Return settings as an HTML table: name and effect, value, since when and by whom, and where to change it."""
    rows = [
        (
            f"<b>{escape(translate_message(setting.name))}</b><small>{escape(translate_message(setting.changes))}</small>",
            escape(translate_message(setting.value)),
            _since(setting, timezone),
            _where(setting),
        )
        for setting in settings
    ]
    return look.table((tr("Setting"), tr("Now"), tr("Since"), tr("Changed")), rows, "rr-settings")


def _since(setting: CampaignSetting, timezone: str | None) -> str:
    if setting.since is None:
        return tr("the beginning")
    by = f"<small>{escape(setting.by)}</small>" if setting.by else f"<small>{tr('a command')}</small>"
    return f"{wording.when(setting.since, timezone)}{by}"


def _where(setting: CampaignSetting) -> str:
    how = escape(translate_message(setting.how))
    if setting.where == "settings":
        return tr("above, on this page")
    if not setting.where:
        return how
    page = escape(tr("page {title}", title=tr(_TITLES[setting.where.partition("?")[0]])))
    link = f"<a href='{full_path(f'/{setting.where}')}' target='_self'>{page}</a>"
    return f"{link}<small>{how}</small>" if how else link
