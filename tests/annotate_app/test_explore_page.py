"""The lead's page "Explore" over a real project: its parts, what is behind them, what is not known yet."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.monitoring.explore.model import BinnedBy
from backend.campaign.monitoring.explore.tables import relevances_along, source_standings
from backend.campaign.nouns import OPERATOR
from reading import mounted
from small_project import SmallProject

Open = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)>"
PARTS = ("similarity", "rank", "same", "coverage", "durations", "agreement")


@pytest.fixture
def explored(real_project: SmallProject) -> SmallProject:
    """What the captions of queries say is not perfect; a query and a video have names that are markup."""
    first = "(SELECT pair_id FROM pair WHERE rank = 1)"
    real_project.sql(f"UPDATE consensus SET relevance = 3, mean = 3 WHERE pair_id IN {first}")
    real_project.sql("UPDATE query SET text = ? WHERE query_id = 1", HOSTILE)
    real_project.sql("UPDATE video SET name = ? WHERE name = 'v1'", HOSTILE)
    return real_project


@pytest.fixture
def open_part(open_page_of: Open, explored: SmallProject) -> Open:
    """Opens the page under an address."""
    return partial(open_page_of, "explore")


def rows(app: AppTest) -> list[list[str]]:
    """The cells of the list on the page."""
    table = ET.fromstring(mounted(app))
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


def test_the_sources_are_told_with_what_became_of_their_candidates(open_part: Open, explored: SmallProject) -> None:
    (captions,) = source_standings(explored.project, OPERATOR)
    app = open_part(part="sources")
    assert len(app.get("download_button")) == 1
    (told,) = (one.proto.body for one in app.get("html") if "rr-sources" in one.proto.body)
    assert "words-64<br><small>by captions, depth 40</small></td><td>120<br><small>120 only from it</small>" in told
    assert f"<td>{captions.pairs}<br><small>{captions.decided} with a relevance</small></td>" in told


def test_pairs_without_a_relevance_are_said_and_count_nowhere(open_part: Open, explored: SmallProject) -> None:
    bins = relevances_along(explored.project, OPERATOR, BinnedBy.RANK)
    decided, without = sum(one.decided for one in bins), sum(one.without for one in bins)
    assert min(decided, without) > 0
    said = open_part(part="rank").caption[0].value
    assert said.startswith(f"{decided} pairs with a relevance. {without} pairs without one")


def test_the_address_says_which_pairs_are_listed(open_part: Open, explored: SmallProject) -> None:
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


@pytest.mark.usefixtures("without_work")
def test_a_project_without_pairs_says_what_comes_next(open_page_of: Open) -> None:
    assert open_page_of("explore").info[0].value == "No pairs have been handed out yet. Continue on [Set up](/set-up)."
