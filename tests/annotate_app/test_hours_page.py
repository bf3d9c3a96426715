"""The lead's page Hours as a person reads it, against the fake api."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from annotate_app.screens.hours import ahead, bounds
from backend.campaign.monitoring.hours.model import Outlook, WorkDay
from backend.campaign.monitoring.hours.rules import by_person, paid
from backend.core.days import last_days
from backend.core.ids import AnnotatorId
from reading import read

Open = Callable[..., AppTest]
OUTLOOK = Outlook(120, 23, 0.194, 7.9, (31.4, 25.0, 40.5), (Decimal("340.10"), Decimal("270.75"), Decimal("438.60")))


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    """Ana worked on two days, somebody with an awkward name on one."""
    fake_api.install(monkeypatch)
    found = fake_api.made_up(tmp_path)
    hour = 3_600_000
    earlier, _, today = last_days(time.time(), 3)
    days = [
        WorkDay(AnnotatorId(2), "Ana", earlier, 200, hour, 0, 0, 10, hour // 2, 0),
        WorkDay(AnnotatorId(2), "Ana", today, 100, hour, 9, hour, 0, 0, 3),
        WorkDay(AnnotatorId(3), "<b>Ben</b>", today, 0, 0, 0, 0, 0, 0, 2),
    ]
    done = paid(days, 11, {})
    found.hours = replace(
        found.hours,
        days=tuple(done),
        people=tuple(by_person(done)),
        rate=11.0,
        own_rates=(("Ben", 12.0),),
        hours=3.5,
        pay=Decimal("38.50"),
        outlook=OUTLOOK,
        imported=1204,
        unknown_rates=("Ben",),
    )
    return found


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens the page as the lead, or as somebody else."""
    return partial(open_screen, "hours")


def words(app: AppTest) -> str:
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error")
    return read("\n".join(element.value for kind in kinds for element in app.get(kind)))


def html(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def test_sums_people_and_what_is_left_out(open_page: Open) -> None:
    app = open_page()
    assert {metric.label: metric.value for metric in app.metric} == {
        "Active hours": "3.5",
        "Pay, USD": "38.50",
        "Judgements an hour": "150",
        "Still to come": "31.4 h",
        "Cost of it": "340.10",
    }
    shown = html(app)
    assert "<td>Ana</td><td>2</td><td>300</td>" in shown
    assert "<td>38.50</td>" in shown
    assert "<td>&lt;b&gt;Ben&lt;/b&gt;</td><td>1</td><td>0</td>" in shown
    said = words(app)
    assert "11 USD an hour, from reelrank.toml ([pay]); 1 rate of people's own." in said
    assert "reelrank.toml has a rate for Ben, but no annotator has that name." in said
    assert "5 grades without a measured time count as no time." in said
    assert "Without 1,204 imported judgements." in said
    assert len(app.get("vega_lite_chart")) == 1
    assert len(app.get("download_button")) == 1


def test_a_period_is_asked_for_by_the_days_of_the_server(open_page: Open, project: fake_api.Project) -> None:
    app = open_page()
    app.segmented_control(key="address-period").set_value("All days").run()
    (first, last), everything = project.hours_asked[0], project.hours_asked[-1]
    assert everything == (None, None)
    assert first is not None
    assert last is not None
    assert (date.fromisoformat(last) - date.fromisoformat(first)).days == 29


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
    assert ahead(OUTLOOK, "USD") == (
        "120 grades until every pair that is handed out has its grades, and about 23 more if 19.4 % of the pairs are "
        "disputed, as so far. At 7.9 s a judgement, as so far, that is about 31.4 hours, 340.10 USD (95 % interval: "
        "25.0 to 40.5 hours, 270.75 to 438.60 USD)."
    )
    stuck = "as so far. Nobody who may work can give 14 of them just now: the page Progress says why. At 7.9 s"
    assert stuck in ahead(replace(OUTLOOK, stuck=14), "USD")
    unsure = replace(OUTLOOK, disputed=None, further=0, cost=None, reason="an interval needs 10 days")
    assert "how many cannot be told yet. At 7.9 s" in ahead(unsure, "USD")
    assert ahead(unsure, "USD").endswith("about 31.4 hours (an interval needs 10 days).")
    assert ahead(Outlook(0, 0, 0.2, 7.9, (0.0, 0.0, 0.0), None), "USD").startswith("Nothing is still to come")
    assert ahead(Outlook(9, 0, None, None, None, None, "no time"), "USD").endswith("cannot be told: no time.")


def test_without_a_rate_there_are_hours_and_the_way_to_pay(open_page: Open, project: fake_api.Project) -> None:
    project.hours = replace(project.hours, days=(), people=(), rate=None, own_rates=(), pay=None, hours=0.0)
    app = open_page()
    assert next(metric.value for metric in app.metric if metric.label == "Pay, USD") == "no rate"
    said = words(app)
    assert "Nobody has worked here in this time." in said
    assert "write hourly_rate = 11 under [pay] in reelrank.toml" in said


def test_the_page_is_for_leads(open_page: Open, project: fake_api.Project) -> None:
    assert words(open_page("Ana")) == "This page is for leads. You are signed in as Ana (annotator)."
    project.unavailable = "The disk is full: make room."
    assert "The disk is full: make room." in words(open_page())
