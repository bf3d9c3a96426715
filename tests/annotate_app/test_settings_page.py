"""The lead's page Settings: what leads change there, what two of them change at once, and what cannot be changed."""

from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.setup.project.settings_file import read_settings
from reading import html, words
from small_project import SmallProject

Open = Callable[..., AppTest]
RATE = "setting:pay.hourly_rate:"


@pytest.fixture
def open_page(open_page_of: Open) -> Open:
    """Opens the page as the lead, or as somebody else."""
    return partial(open_page_of, "settings")


def save(app: AppTest) -> AppTest:
    return app.button(key="FormSubmitter:settings-Save settings").click().run()


def test_a_rate_is_set_and_in_force(open_page: Open, real_project: SmallProject) -> None:
    app = open_page()
    app.number_input(key=RATE).set_value(12.5)
    app.text_input(key="setting:pay.currency:").set_value(" EUR ")
    app.number_input(key="setting:pay.rates:Ana").set_value(14)
    app.selectbox(key="setting:clips.format:").select("webm")
    said = words(save(app))
    assert "Saved and in force: Format of clips, Hourly rate, Currency, Individual rates." in said
    settings = read_settings(real_project.folder)
    assert (settings.pay.hourly_rate, settings.pay.currency, settings.pay.rates) == (12.5, "EUR", {"Ana": 14})
    assert "12.5 EUR an hour; one person has their own rate" in html(app)
    assert "No changes to save." in words(save(app))
    assert app.number_input(key=RATE).value == 12.5
    app.number_input(key=RATE).set_value(None)
    app.number_input(key="setting:pay.rates:Ana").set_value(None)
    save(app)
    assert read_settings(real_project.folder).pay.hourly_rate is None
    assert read_settings(real_project.folder).pay.rates == {}


def test_the_second_of_two_leads_is_told_and_may_go_on(open_page: Open, real_project: SmallProject) -> None:
    first, second = open_page(), open_page("Max")
    first.number_input(key=RATE).set_value(12)
    first.number_input(key="setting:lease_minutes:").set_value(20)
    second.number_input(key=RATE).set_value(14)
    save(first)
    said = words(save(second))
    assert "Hourly rate was changed to 12 meanwhile, so nothing was saved" in said
    assert read_settings(real_project.folder).pay.hourly_rate == 12
    assert second.number_input(key=RATE).value == 14, "what was typed stays"
    assert second.number_input(key="setting:lease_minutes:").value == 20, "what was not touched is as it is now"
    save(second)
    settings = read_settings(real_project.folder)
    assert (settings.pay.hourly_rate, settings.lease_minutes) == (14, 20)


def test_what_only_the_operator_sets_is_shown_with_the_reason(open_page: Open) -> None:
    said = words(open_page())
    assert "Settings that only the operator can change" in said
    assert "<code>public_address</code>" in said
    assert "It starts a program on the server." in said
    assert "People type their passwords at this address." in said


def test_a_broken_file_is_told_and_nothing_can_be_changed(open_page: Open, real_project: SmallProject) -> None:
    file = real_project.folder / "reelrank.toml"
    app = open_page()
    file.write_text(file.read_text().replace("lease_minutes = 15", "lease_minutes = fifteen"))
    app.number_input(key=RATE).set_value(12)
    assert "The settings file cannot be read" in words(save(app))
    assert not app.number_input
    assert "15 minutes" in words(app), "the settings that were read last stay in force"


def test_a_read_only_file_is_told_and_its_form_is_closed(open_page: Open, real_project: SmallProject) -> None:
    (real_project.folder / "reelrank.toml").chmod(0o400)
    app = open_page()
    assert "reelrank.toml is read-only on the server" in words(app)
    assert app.number_input(key=RATE).disabled
    assert app.button(key="FormSubmitter:settings-Save settings").disabled


def test_names_of_the_file_are_edited_by_lines(open_page: Open, real_project: SmallProject) -> None:
    file = real_project.folder / "reelrank.toml"
    file.write_text(f'{file.read_text()}\n"Rachel" = "a woman"\n')
    app = open_page()
    names = app.text_area(key="setting:cast:")
    assert "Rachel = a woman" in names.value
    names.set_value(names.value + "\nJoey = a man\nRoss")
    assert "“Ross” is not a name and its words" in words(save(app))
    app.text_area(key="setting:cast:").set_value("Joey = a man")
    save(app)
    assert read_settings(real_project.folder).cast == {"Joey": "a man"}


def test_the_page_is_for_leads(open_page: Open) -> None:
    assert "This page is for leads." in words(open_page("Ana"))
