"""Settings of `reelrank.toml` that leads change: in force at once, all or nothing, with everything else as written."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.activity.log import campaign_settings, find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.settings import ProjectSettings
from backend.campaign.setup.project.settings_text import template, with_values
from backend.campaign.setup.serving.settings_changes import EDITABLE, change_settings, file_settings
from backend.core.errors import InputError, NotAllowed, Overtaken, ProjectError
from backend.core.reading import UNDECODABLE
from support import NOW, Judging

RATE = "pay.hourly_rate"
REMARKS = """name = "Kitchen" # of the lab
encoder = "minilm"
encoder_kind = "minilm"
lease_minutes = 15

# agreed on in March
[pay] # gross
hourly_rate = 11 # raised twice
[pay.rates]
'Ana' = 12.5 # knows Danish
"""


def settings_file(judging: Judging, text: str = "") -> Path:
    path = judging.project.folder / "reelrank.toml"
    if text:
        path.write_text(text)
    return path


def test_a_change_is_in_force_at_once_and_on_record(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    before = settings_file(judging).read_text()
    changes = {"lease_minutes": (15, 20.0), RATE: (None, 12.5), "clips.height": (720, 480)}
    assert change_settings(project, lead, changes, now=NOW) == list(changes)
    assert (project.lease_s, project.settings.pay.hourly_rate, project.clips.profile.height_px) == (1200, 12.5, 480)
    after = settings_file(judging).read_text()
    assert set(after.splitlines()) - set(before.splitlines()) == {
        *("lease_minutes = 20", "hourly_rate = 12.5", "height = 480")
    }
    done = find_activity(project, OPERATOR, ActivityFilter(), first=0, most=3)
    assert (done[1].by, done[1].words) == (lead.name, "set pay.hourly_rate to 12.5 (before: –)")
    line = next(one for one in campaign_settings(project, OPERATOR) if one.name == "Pay")
    assert (line.value, line.since, line.by, line.where) == ("12.5 USD an hour", NOW, lead.name, "settings")


def test_the_second_of_two_leads_is_told(judging: Judging) -> None:
    change_settings(judging.project, judging.lead, {RATE: (None, 12)}, now=NOW)
    with pytest.raises(Overtaken, match="Hourly rate was changed to 12 meanwhile, so nothing was saved"):
        change_settings(judging.project, judging.lead, {"name": ("project", "Ours"), RATE: (None, 14)}, now=NOW)
    assert judging.project.name == "project"
    assert change_settings(judging.project, judging.lead, {RATE: (None, 12)}, now=NOW) == [], "it is so already"
    assert change_settings(judging.project, judging.lead, {RATE: (12, 14)}, now=NOW) == [RATE]


@pytest.mark.parametrize(
    ("key", "wanted", "message"),
    [
        ("lease_minutes", 0.0, "Lease is 0: write 1 to 10,080 minutes"),
        ("lease_minutes", float("nan"), "Lease is nan: write"),
        ("clips.context_s", 0.0, "Context is 0: write above 0, at most 60 s"),
        (RATE, -1.0, "Hourly rate is -1: write 0 to 1,000,000"),
        ("pay.rates", {"Ana": -1.0}, "Individual rates is -1"),
        ("name", "  ", "Name of the project is empty"),
        ("name", "a\nb\x07", "control character"),
        ("name", "a" * 201, "more than 200 characters"),
        ("clips.format", "gif", "would not be valid"),
    ],
)
def test_a_value_out_of_its_range_is_refused(judging: Judging, key: str, wanted: object, message: str) -> None:
    seen = file_settings(judging.project, judging.lead).values[key]
    before = settings_file(judging).read_text()
    with pytest.raises(ProjectError, match=message):
        change_settings(judging.project, judging.lead, {key: (seen, wanted)}, now=NOW)  # type: ignore[dict-item]
    assert settings_file(judging).read_text() == before


def test_only_the_operator_sets_paths_addresses_and_room(judging: Judging) -> None:
    assert {one.key for one in EDITABLE} == {
        *("name", "encoder_dtype", "lease_minutes", "clips.format", "clips.height", "clips.context_s"),
        *(RATE, "pay.currency", "pay.rates", "rewrite.people", "cast"),
    }
    assert all(one.label for one in EDITABLE)
    with pytest.raises(NotAllowed, match=r"public_address is read-only here: ask whoever runs the server to change it"):
        change_settings(judging.project, judging.lead, {"public_address": ("", "https://evil.example")}, now=NOW)


def test_a_broken_file_changes_nothing_and_is_told(judging: Judging) -> None:
    project = judging.project
    path = settings_file(judging, settings_file(judging).read_text().replace("lease_minutes = 15", "lease_minutes = ["))
    assert project.lease_s == 900, "the settings read last stay in force"
    with pytest.raises(InputError, match=r"reelrank\.toml"):
        file_settings(project, judging.lead)
    with pytest.raises(InputError, match=r"reelrank\.toml"):
        change_settings(project, judging.lead, {RATE: (None, 12)}, now=NOW)
    settings_file(judging, path.read_text().replace("lease_minutes = [", "lease_minutes = 30"))
    assert project.lease_s == 1800


def test_a_read_only_file_is_left_alone(judging: Judging) -> None:
    path = settings_file(judging)
    path.chmod(0o400)
    assert "read-only on the server" in file_settings(judging.project, judging.lead).fixed
    with pytest.raises(ProjectError, match="read-only on the server"):
        change_settings(judging.project, judging.lead, {RATE: (None, 12)}, now=NOW)
    assert os.stat(path).st_mode & 0o777 == 0o400


def test_remarks_stay_where_people_wrote_them() -> None:
    changes = {("name",): 'K"1', ("pay", "hourly_rate"): None, ("pay", "rates", "Ana"): 13.0, ("pay", "rates", "Bé"): 9}
    changed = with_values(REMARKS, changes)
    expected = REMARKS.replace('"Kitchen"', '"K\\"1"').replace("hourly_rate", "# hourly_rate")
    expected = expected.replace("'Ana' = 12.5", '"Ana" = 13')
    assert changed == expected + '"Bé" = 9\n'


def test_a_file_in_another_form_is_written_anew() -> None:
    text = 'name = "a"\nencoder = "minilm"\nencoder_kind = "minilm"\npay = { rates = { Ana = 3 }, currency = "EUR" }\n'
    found = read(with_values(text, {("pay", "rates", "Ben"): 4.5}))
    assert (found.pay.rates, found.pay.currency, found.encoder) == ({"Ana": 3, "Ben": 4.5}, "EUR", "minilm")


@given(
    st.dictionaries(st.text(max_size=8), st.floats(0, 1e6), max_size=4),
    st.dictionaries(st.text(max_size=8), st.floats(0, 1e6), max_size=4),
    st.text(max_size=8),
)
def test_what_is_written_is_read(before: dict[str, float], after: dict[str, float], name: str) -> None:
    plain = template().format(name='"a"', encoder='"minilm"', encoder_kind='"minilm"', cast="")
    try:
        one = with_values(plain, {("pay", "rates", key): value for key, value in before.items()})
        both = with_values(one, {**{("pay", "rates", key): value for key, value in after.items()}, ("name",): name})
    except UNDECODABLE:
        pytest.fail("it cannot be read back")
    found = read(both)
    assert found.name == name
    assert found.pay.rates == pytest.approx(before | after)


def read(text: str) -> ProjectSettings:
    import msgspec

    return msgspec.toml.decode(text, type=ProjectSettings)
