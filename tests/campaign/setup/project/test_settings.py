"""The registry of settings: complete, and of one mind with the file, the database, the commands and the source."""

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from backend import cli
from backend.campaign.monitoring.activity.setting_lines import LINES
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.setting_entries import ENVIRONMENT, Home
from backend.campaign.setup.project.settings import BY_KEY, SETTINGS, ProjectSettings
from backend.campaign.setup.project.settings_file import read_settings
from backend.campaign.setup.project.settings_text import template
from backend.core.errors import InputError
from backend.core.server_options import FIRST_LINK_VARIABLE, HANDOVER_VARIABLE, READY_VARIABLE
from backend.language.chat import KEY

ROOT = Path(__file__).parents[4]


def test_every_setting_stands_once_and_leads_read_it_in_one_line_unless_it_says_otherwise() -> None:
    assert len(BY_KEY) == len(SETTINGS)
    lines = Counter(key for line in LINES for key in line.keys)
    assert lines == {one.key: 1 for one in SETTINGS if one.listed}


def test_a_new_file_says_the_defaults_of_all_settings() -> None:
    text = template().format(name='"a"', encoder='"minilm"', encoder_kind='"minilm"', cast="")
    plain = ProjectSettings("a", "minilm", "minilm")
    assert msgspec.toml.decode(text, type=ProjectSettings) == plain
    commented_in = re.sub(r"(?m)^# ([a-z_]+ = )", r"\1", text)
    assert set(re.findall(r"(?m)^([a-z_]+) = ", commented_in)) == {
        one.key.rpartition(".")[2] for one in SETTINGS if one.home is Home.FILE
    } - {"rates", "cast"}
    assert msgspec.toml.decode(commented_in, type=ProjectSettings).clips.signed_s == 60


def test_a_new_campaign_has_the_defaults_of_the_registry(corpus_project: Project) -> None:
    columns = [one.name for one in corpus_project.store.db.table("campaign").columns]
    row = corpus_project.store.db.conn.execute("SELECT * FROM campaign").fetchone()
    told = {key: value for key, value in zip(columns, row, strict=True) if key in BY_KEY}
    switches = {"off": 0, "on": 1}
    assert len(told) == 16
    assert told == {key: switches.get(str(BY_KEY[key].default), BY_KEY[key].default) for key in told}


@pytest.mark.parametrize(
    ("command", "option", "key"),
    [
        ("candidates", "batch_size", "batch_size"),
        ("exam set", "most_missed", "exam_most_missed"),
        ("gold set", "warn", "gold_warn"),
        ("gold set", "pause", "gold_pause"),
    ],
)
def test_a_command_takes_what_the_registry_allows(command: str, option: str, key: str) -> None:
    found = cli.command()
    for name in command.split():
        found = found.commands[name]  # type: ignore[attr-defined]
    kind = next(one.type for one in found.params if one.name == option)
    assert (kind.min, kind.max) == (BY_KEY[key].least, BY_KEY[key].most)  # type: ignore[attr-defined]


def test_every_variable_of_the_environment_is_in_the_registry() -> None:
    named = {
        name
        for folder in ("backend", "annotate_app")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bREELRANK_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    known = {one.key for one in ENVIRONMENT}
    internal = {READY_VARIABLE, FIRST_LINK_VARIABLE, HANDOVER_VARIABLE}
    assert named - known == internal, "they go between `serve` and its server"
    assert KEY in known


@pytest.mark.parametrize("minutes", ["0.5", "0", "10081", "nan"])
def test_a_lease_that_no_browser_could_renew_in_time_is_refused(corpus_project: Project, minutes: str) -> None:
    path = corpus_project.folder / "reelrank.toml"
    path.write_text(path.read_text().replace("lease_minutes = 15", f"lease_minutes = {minutes}"))
    with pytest.raises(InputError, match=r"lease_minutes"):
        read_settings(corpus_project.folder)
