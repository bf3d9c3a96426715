"""The lead's page Hours as a person reads it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.screens.hours import bounds, outlook_text
from backend.campaign.monitoring.hours.rules import Outlook
from reading import html, read
from small_project import OPEN, SmallProject

Open = Callable[..., AppTest]
OUTLOOK = Outlook(120, 23, 0.194, 7.9, (31.4, 25.0, 40.5), (Decimal("340.10"), Decimal("270.75"), Decimal("438.60")))
HOSTILE = "<b>Ben</b>"


@pytest.fixture
def paid(real_project: SmallProject) -> SmallProject:
    """Ana took two minutes a grade; Ben, who has an awkward name, one, 40 days earlier; Dee's two are not measured."""
    dee = real_project.annotators.index(real_project.person("Dee"))
    real_project.grade(dee, real_project.pair(3, OPEN[0]).pair, 2)
    real_project.unlock("judgement")
    real_project.sql("UPDATE annotator SET name = ? WHERE name = 'Ben'", HOSTILE)
    for name, active_ms in (("Ana", 120_000), ("Ben", 60_000), ("Dee", 0)):
        person = real_project.person(name).annotator_id
        real_project.sql("UPDATE judgement SET active_ms = ? WHERE annotator_id = ?", active_ms, person)
    ben, eli = (real_project.person(name).annotator_id for name in ("Ben", "Eli"))
    real_project.sql("UPDATE judgement SET graded_at = graded_at - ? WHERE annotator_id = ?", 40 * 86_400, ben)
    real_project.sql("UPDATE judgement SET imported = 1 WHERE annotator_id = ?", eli)
    pay(real_project, "hourly_rate = 11", f'"{HOSTILE}" = 12\n"Fay" = 9\n')
    return real_project


def pay(project: SmallProject, rate: str, rates: str = "") -> None:
    """Write what an hour is paid into `reelrank.toml`."""
    file = project.folder / "reelrank.toml"
    text = file.read_text().replace("# hourly_rate = 11", rate).replace("[pay.rates]\n", f"[pay.rates]\n{rates}")
    file.write_text(text)


@pytest.fixture
def open_page(open_page_of: Open) -> Open:
    """Opens the page as the lead, or as somebody else."""
    return partial(open_page_of, "hours")


def words(app: AppTest) -> str:
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "error")
    return read("\n".join(element.value for kind in kinds for element in app.get(kind)))


@pytest.mark.usefixtures("paid")
def test_sums_people_and_what_is_left_out(open_page: Open) -> None:
    app = open_page()
    app.segmented_control(key="address-period").set_value("All days").run()
    assert {metric.label: metric.value for metric in app.metric} == {
        "Active hours": "2.8",  # 55 times two minutes, 55 times one
        "Pay, USD": "31.17",
        "Judgements an hour": "41",
        # 15 grades and about one further, a minute and a half each, as an hour cost so far.
        "Still to come": "0.4 h",
        "Cost to come": "4.53",
    }
    shown = html(app)
    assert "<td>Ana</td><td>1</td><td>55</td>" in shown
    assert "<td>20.17</td>" in shown
    assert "<td>&lt;b&gt;Ben&lt;/b&gt;</td><td>1</td><td>55</td>" in shown
    said = words(app)
    assert "11 USD an hour, and 2 rates of single annotators, as set on [Settings](/settings)." in said
    assert "Settings has a rate for Fay, but no annotator has this name. Correct it on Settings." in said
    assert "2 grades without a measured time count as 0 hours." in said
    assert "Not counted: 1 imported judgement." in said
    assert len(app.get("vega_lite_chart")) == 1
    assert len(app.get("download_button")) == 1


@pytest.mark.usefixtures("paid")
def test_a_period_is_asked_for_by_the_days_of_the_server(open_page: Open) -> None:
    app = open_page()
    assert "Ben" not in html(app), "they worked more than 30 days ago"
    app.segmented_control(key="address-period").set_value("All days").run()
    assert "Ben" in html(app)


@pytest.mark.parametrize(
    ("period", "days"),
    [
        ("Last 30 days", ("2026-02-14", "2026-03-15")),
        ("This month", ("2026-03-01", "2026-03-15")),
        ("Last month", ("2026-02-01", "2026-02-28")),
        ("All days", (None, None)),
    ],
)
def test_periods_are_of_the_calendar(period: str, days: tuple[str | None, str | None]) -> None:
    assert bounds(period, datetime(2026, 3, 15, 1).timestamp()) == days


def test_what_is_still_to_come_in_words() -> None:
    assert outlook_text(OUTLOOK, "USD") == (
        "120 grades left until every open pair has its grades, and about 23 more if 19.4 % of the pairs are "
        "disputed, as so far. At 7.9 s a judgement, that takes about 31.4 hours, 340.10 USD (95 % interval: "
        "25.0 to 40.5 hours, 270.75 to 438.60 USD)."
    )
    stuck = "as so far. Nobody is left to give 14 of them. See Progress. At 7.9 s"
    assert stuck in outlook_text(replace(OUTLOOK, stuck=14), "USD")
    unsure = replace(OUTLOOK, disputed=None, further=0, cost=None, reason="an interval needs 10 days")
    assert "how many is not known yet. At 7.9 s" in outlook_text(unsure, "USD")
    assert outlook_text(unsure, "USD").endswith("about 31.4 hours (an interval needs 10 days).")
    assert outlook_text(Outlook(0, 0, 0.2, 7.9, (0.0, 0.0, 0.0), None), "USD").startswith("Nothing is left to grade")
    assert outlook_text(Outlook(9, 0, None, None, None, None, "no time"), "USD").endswith(
        "No estimate of the time: no time."
    )


def test_without_a_rate_there_are_hours_and_the_way_to_pay(open_page: Open) -> None:
    app = open_page()
    app.segmented_control(key="address-period").set_value("Last month").run()
    assert next(metric.value for metric in app.metric if metric.label == "Pay, USD") == "no rate"
    said = words(app)
    assert "No work in this period." in said
    assert "No hourly rate set. Set one on [Settings](/settings)." in said


def test_the_page_is_for_leads_and_says_what_is_wrong_with_the_settings(
    open_page: Open, real_project: SmallProject
) -> None:
    assert words(open_page("Ana")) == "This page is for leads. You are signed in as Ana (annotator)."
    pay(real_project, 'hourly_rate = "much"')
    assert words(open_page()).endswith("/reelrank.toml: Expected `float | null`, got `str` - at `$.pay.hourly_rate`")
