"""The lead's page "Explore" over a real project: its parts, what is behind them, what is not known yet."""

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.campaign.monitoring.explore.model import Along
from backend.campaign.monitoring.explore.tables import relevances_along, source_standings
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.store.connection import writing
from support import NOW, Judging

Open = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)>"
PASSWORD = "a long password"
PARTS = ("similarity", "rank", "same", "coverage", "durations", "agreement")


@pytest.fixture(scope="module")
def folder(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with grades for every third of its pairs; a query and a video have names that are markup."""
    place = shutil.copytree(judging_made.project.folder, tmp_path_factory.mktemp("explore") / "project")
    judging = Judging(open_project(place), judging_made.lead, judging_made.annotators)
    for name, role in (("Leo", Role.LEAD), ("Ada", Role.ANNOTATOR)):
        add_person_with_password(judging.project, OPERATOR, name, role, PASSWORD, now=NOW)
    for number, pair in enumerate(judging.pairs()):
        for who in (0, 1) if number % 3 == 0 or pair.rank == 1 else ():
            judging.grade(who, pair.pair, 3 if pair.rank == 1 else number % 5)
    with writing(judging.project.store) as db:
        db.conn.execute("UPDATE query SET text = ? WHERE query_id = (SELECT min(query_id) FROM pair)", [HOSTILE])
        db.conn.execute("UPDATE video SET name = ? WHERE name = 'v1'", [HOSTILE])
    judging.project.store.close()
    return place


@pytest.fixture
def open_part(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Open:
    """Opens the page under an address."""
    from annotate_app.session import auth

    st.cache_resource.clear()
    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(folder))

    def opened(who: str = "Leo", **address: str) -> AppTest:
        token = sign_in(open_project(folder), who, PASSWORD, now=NOW)
        monkeypatch.setattr(auth, "token", lambda: token)
        monkeypatch.setattr("time.time", lambda: NOW)

        def script() -> None:
            from annotate_app.screens import explore

            explore.page()

        app = AppTest.from_function(script, default_timeout=60)
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return opened


def rows(app: AppTest) -> list[list[str]]:
    """The cells of the list on the page."""
    (mounted,) = app.get("bidi_component")
    table = ET.fromstring(json.loads(mounted.proto.json)["html"])
    return [["".join(cell.itertext()) for cell in row.iter("td")] for row in table.iter("tr")][1:]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_its_charts_told_and_its_file(open_part: Open, part: str) -> None:
    app = open_part(part=part)
    assert rows(app)
    charts = app.get("vega_lite_chart")
    assert len(charts) == {"similarity": 3, "rank": 3, "durations": 5}.get(part, 0)
    assert len(app.get("download_button")) >= 1
    assert not any(HOSTILE in one.proto.body for one in app.get("html"))
    assert all(len(chart.proto.alt) > 20 for chart in charts)
    assert not any("None" in chart.proto.alt or "nan" in chart.proto.alt for chart in charts)


def test_the_sources_are_told_with_what_became_of_their_candidates(open_part: Open, folder: Path) -> None:
    (captions,) = source_standings(open_project(folder), OPERATOR)
    app = open_part(part="sources")
    assert len(app.get("download_button")) == 1
    (told,) = (one.proto.body for one in app.get("html") if "rr-sources" in one.proto.body)
    assert "words-64<br><small>by captions, 40 deep</small></td><td>120<br><small>120 by it alone</small>" in told
    assert f"<td>{captions.pairs}<br><small>{captions.decided} decided</small></td>" in told


def test_pairs_without_a_relevance_are_said_and_count_nowhere(open_part: Open, folder: Path) -> None:
    bins = relevances_along(open_project(folder), OPERATOR, Along.RANK)
    decided, without = sum(one.decided for one in bins), sum(one.without for one in bins)
    assert min(decided, without) > 0
    said = open_part(part="rank").caption[0].value
    assert said.startswith(f"Over {decided} pairs with a relevance. {without} other pairs have none")


def test_the_address_says_which_pairs_are_listed(open_part: Open, folder: Path) -> None:
    assert len(rows(open_part(part="rank", bin="1"))) == 3
    threes = rows(open_part(part="rank", relevance="3"))
    assert {row[-1] for row in threes} == {"3"}
    assert {row[2] for row in rows(open_part(part="rank", bin="7"))} == {"7"}
    assert len(rows(open_part(part="rank", bin="no bin", relevance="9"))) == 25, "what is not offered is the default"
    opened = open_part(part="coverage", video="2")
    assert {row[1].rsplit(",", 1)[0] for row in rows(opened)} == {HOSTILE}
    opened.button[0].click().run()
    assert len(rows(opened)) == 6


def test_the_first_ranks_are_the_query_s_own_words_and_not_perfect(open_part: Open) -> None:
    app = open_part(part="same")
    metrics = {metric.label: metric.value for metric in app.metric}
    assert metrics == {
        "Similarity 1, with a relevance": "3",
        "Of relevance 4": "0",
        "Below 4": "3 (100 %)",
        "Without a relevance": "0",
    }
    assert [row[-1] for row in rows(app)] == ["3", "3", "3"]


def test_lists_are_sorted_by_their_heads_and_unknown_stands_last(open_part: Open) -> None:
    within = [float(row[3].removesuffix(" %")) for row in rows(open_part(part="agreement"))]
    assert within == sorted(within)
    means = [row[-1] for row in rows(open_part(part="coverage", sort="mean"))]
    assert means == sorted(means, key=lambda mean: (mean == "", mean))


def test_a_project_without_pairs_says_what_comes_next(
    corpus_project: Project, monkeypatch: pytest.MonkeyPatch, open_part: Open, folder: Path
) -> None:
    from annotate_app.session import auth

    add_person_with_password(corpus_project, OPERATOR, "Leo", Role.LEAD, PASSWORD, now=NOW)
    for place in (vars(auth), globals()):
        monkeypatch.setitem(place, "open_project", lambda folder: corpus_project)
    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(corpus_project.folder))
    app = open_part()
    assert app.info[0].value.startswith("No pair has been handed out yet. Next: reelrank ")
