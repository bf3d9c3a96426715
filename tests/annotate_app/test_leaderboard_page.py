"""The lead's page "Leaderboard" over a real project: what it shows, what it keeps, what it refuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run, add_truth, list_runs, load_run
from backend.campaign.release.board.leaderboard import score_kept_runs
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries, query_pairs
from backend.scoring import measures as family
from backend.scoring.measure import Measure
from backend.scoring.measures import MEASURES
from backend.scoring.views.case import case_view as score_case
from reading import read
from support import NOW, Judging

Open = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)> **run** :material/bug_report:"
PARTS = ("Ranking", "Charts", "Groups", "Errors", "Cases", "Runs")


@pytest.fixture
def open_page(open_judging: Callable[..., AppTest]) -> Open:
    """Opens the page as the lead."""
    return partial(open_judging, "leaderboard")


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """The pairs of all queries are settled by two equal grades each."""
    for n, pair in enumerate(judging.pairs()):
        for who in (0, 1):
            judging.grade(who, pair.pair, n % 5)
    return judging


@pytest.fixture
def board(settled: Judging, tmp_path: Path) -> Judging:
    """Two runs that answer every query, and one that answers none of them."""
    run = candidates(settled)
    write(tmp_path / "good.json", run)
    write(tmp_path / "back.json", {query: moments[::-1] for query, moments in run.items()})
    write(tmp_path / "elsewhere.json", {"99999": [["v", 0, 1, 1]]})
    for name, file in (("good", "good"), (HOSTILE, "back"), ("elsewhere", "elsewhere")):
        add_run(settled.project, OPERATOR, tmp_path / f"{file}.json", name=name, now=NOW)
    return settled


def candidates(judging: Judging) -> dict[str, list[list[object]]]:
    found: dict[str, list[list[object]]] = {}
    for query in list_queries(judging.project, OPERATOR):
        pairs = sorted(query_pairs(judging.project, OPERATOR, query.query_id), key=lambda pair: -(pair.relevance or 0))
        found[str(query.query_id)] = [[p.video, p.start_s, p.end_s, 1.0] for p in pairs]
    return found


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def words(app: AppTest) -> str:
    """Everything that is said, with Markdown's escapes in it."""
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "error", "success", "text")
    return "\n".join(str(element.value) for kind in kinds for element in app.get(kind))


def part(app: AppTest, name: str) -> AppTest:
    app.segmented_control(key="address-part").set_value(name).run()
    assert not app.exception
    return app


def submit(app: AppTest) -> AppTest:
    (button,) = [button for button in app.button if button.form_id == "board_form"]
    button.click().run()
    assert not app.exception
    return app


def test_without_truth_and_run_the_page_says_how_to_begin(open_page: Open) -> None:
    app = open_page()
    assert "No ground truth yet." in words(app)
    assert "No runs yet." in words(app)
    assert not app.selectbox
    assert app.file_uploader(key="board_file")


def test_without_a_run_only_the_run_is_asked_for(open_page: Open, settled: Judging) -> None:
    app = open_page()
    assert "No runs yet." in words(app)
    assert "No ground truth yet" not in words(app)


def test_the_ranking_stands_under_its_preset_and_options(open_page: Open, board: Judging) -> None:
    app = open_page()
    assert "settled val: preset paper, unknown=ignore; 2 queries, 40 moments" in read(words(app))
    ranked = app.dataframe[0].value
    assert list(ranked["Run"]) == ["good", HOSTILE]
    assert list(ranked["Place"]) == [1, 2]
    assert ranked["Mean ndcg@20,0.5"][0] == 1, "the run is the truth by falling relevance"
    scores = score_kept_runs(board.project, OPERATOR, "settled val").scores
    assert ranked["Mean ndcg@20,0.5"][1] == scores.runs[1].means["ndcg@20,0.5"]
    assert list(ranked["Win / tie / loss"]) == ["baseline", "0 / 0 / 2"]
    assert ranked["Difference"].isna().tolist() == [True, False]
    assert list(ranked["p (Holm)"]) == ["", ".5000"], "of two queries: one sign in two"
    assert "Without predictions" not in ranked, "no run lacks a query"
    app.selectbox(key="board_baseline").set_value(HOSTILE).run()
    assert list(app.dataframe[0].value["Win / tie / loss"]) == ["2 / 0 / 0", "baseline"]


def test_a_new_measure_is_rightly_titled_and_may_exceed_one(
    open_page: Open, board: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = Measure("depth", "Depth", None, MEASURES["dcg"].compute, "how deep", "a paper", highest=None)
    monkeypatch.setattr(family, "MEASURES", {**MEASURES, "depth": new})
    st.cache_resource.clear()
    app = open_page()
    measure = app.selectbox(key="board_focus")
    assert "depth@20 · Depth@20 (a paper)" in measure.options
    assert "recall@20,0.5 · R@20, IoU>=0.5" in measure.options
    assert "recall_gt@20,0.5 · R@20, IoU>0.5 (AxIoU eq. 1)" in measure.options
    measure.set_value("depth@20").run()
    assert not app.exception
    assert app.dataframe[0].value["Mean depth@20"][0] > 1
    bar = json.loads(app.dataframe[0].proto.columns)["Mean depth@20"]
    assert bar["type_config"]["max_value"] == app.dataframe[0].value["Mean depth@20"].max()
    assert bar["help"] == "Depth@20 (a paper): how deep"
    st.cache_resource.clear()


def test_a_run_that_does_not_fit_is_named_with_its_reason(open_page: Open, board: Judging) -> None:
    app = open_page()
    assert "1 run is not compared: **elsewhere**: its query is not in this ground truth" in words(app)
    assert "**elsewhere** · **not compared**" in words(part(app, "Runs"))


@pytest.mark.parametrize("name", PARTS)
def test_every_part_opens_and_a_hostile_name_stays_text(open_page: Open, board: Judging, name: str) -> None:
    app = part(open_page(), name)
    said = words(app)
    assert "<img" not in said.replace("\\<img", "")
    assert "**run**" not in said
    assert "preset paper" in said


@pytest.mark.parametrize("by", ["duration", "show", "relevance"])
def test_groups_hold_every_query_once(open_page: Open, board: Judging, by: str) -> None:
    app = part(open_page(), "Groups")
    app.selectbox(key="board_by").set_value(by).run()
    assert app.dataframe[0].value["Queries"].sum() == 2


def test_many_runs_have_a_row_each_in_groups(open_page: Open, board: Judging, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        add_run(board.project, OPERATOR, tmp_path / "back.json", name=name, now=NOW)
    app = part(open_page(), "Groups")
    (wide,) = score_kept_runs(board.project, OPERATOR, "settled val").scores.summary(["duration"])["runs"][:1]
    shown = app.dataframe[0].value
    groups = wide["by"]["duration"]["groups"]
    assert list(shown["Run"]) == ["good", HOSTILE, "one", "two", "three"]
    assert [name.lower() for name in shown.columns[1:]] == [name.lower() for name in groups]
    assert list(shown.iloc[0])[1:] == [group["measures"]["ndcg@20,0.5"] for group in groups.values()]
    counted = ", ".join(f"{name}: {group['queries']}" for name, group in groups.items())
    assert f"Queries {counted}." in read(words(app))


def test_errors_are_shares_of_all_relevant_moments(open_page: Open, board: Judging) -> None:
    app = part(open_page(), "Errors")
    shares = app.dataframe[0].value
    assert list(shares.index) == ["good", HOSTILE]
    assert shares.sum(axis=1).tolist() == pytest.approx([1, 1])
    assert shares.loc["good", "in place"] == 1


def test_cases_offer_every_query_with_its_words_and_two_runs(open_page: Open, board: Judging) -> None:
    app = part(open_page(), "Cases")
    texts = {q.query for q in list_queries(board.project, OPERATOR) if q.split.value == "val"}
    query = app.selectbox(key="address-case")
    assert {option.partition(" (")[0] for option in query.options} == texts
    assert all("(where runs differ)" in option for option in query.options)
    app.selectbox(key="address-beside").set_value(HOSTILE).run()
    assert not app.exception


def test_another_truth_brings_its_own_queries_and_begins_with_its_first(
    open_page: Open, board: Judging, tmp_path: Path
) -> None:
    """The box went on showing the words of the truth before."""
    run = candidates(board)
    moments = [{"video_name": v, "timestamp": [s, e], "relevance": 2} for v, s, e, _ in next(iter(run.values()))]
    truth = [{"query_id": q, "query": "Same words", "relevant_moment": moments} for q in run]
    add_truth(board.project, OPERATOR, write(tmp_path / "other.json", truth), now=NOW)
    app = part(open_page(), "Cases")
    app.selectbox(key="address-truth").set_value("other").run()
    assert not app.exception
    box = app.selectbox(key="address-case")
    assert {option.partition(" (")[0] for option in box.options} == {f"Same words · query {q}" for q in run}
    assert (box.proto.set_value, box.proto.raw_value) == (True, box.options[0]), "it is told the words it now shows"
    chosen = next(q for q in run if f"query {q}" not in box.options[0])
    box.set_value(chosen).run()
    assert app.query_params["case"] == chosen, "a query stands in the address by its id"
    app.selectbox(key="address-truth").set_value("settled val").run()
    assert "case" not in app.query_params


def test_a_case_counts_what_is_there_and_says_what_is_shown(board: Judging) -> None:
    from annotate_app.screens.leaderboard.board import case_data

    found = score_kept_runs(board.project, OPERATOR, "settled val")
    (case,) = found.scores.cases([0], 20, 0.7)
    view = score_case(found.scores, case, ["good"], found.inputs.facts)
    part = replace(view, moments=tuple(replace(card, color=None) for card in view.moments))
    data = case_data(part, {})
    assert len(data["moments"]) == 10
    assert data["counted"] == "20 moments; 10 shown; 16 relevant"
    assert data["runs"][0]["counted"] == "ndcg@20,0.5 1.0000; 20 predictions"
    lane = replace(view.lanes[0], value=None, predictions=view.lanes[0].predictions[:1])
    assert case_data(replace(view, lanes=(lane,)), {})["runs"][0]["counted"] == "1 prediction"


def test_many_runs_that_do_not_fit_are_listed_beside_the_table_and_partly_folded(
    open_page: Open, board: Judging, tmp_path: Path
) -> None:
    for name in ("further", "farther", "furthest"):
        add_run(board.project, OPERATOR, tmp_path / "elsewhere.json", name=name, now=NOW)
    app = open_page()
    said = read(words(app))
    assert "4 runs are not compared:" in said
    assert said.count("its query is not in this ground truth") == 4
    (box,) = [box for box in app.expander if box.label == "1 more"]
    assert "its query is not in this ground truth" in box.markdown[0].value


def test_another_preset_is_another_ranking_and_says_so(open_page: Open, board: Judging) -> None:
    app = open_page()
    paper = app.dataframe[0].value["Mean ndcg@20,0.5"].tolist()
    app.selectbox(key="address-preset").set_value("TVR-Ranking").run()
    assert "settled val: preset tvr-ranking, unknown=ignore" in read(words(app))
    official = app.dataframe[0].value["Mean ndcg@20,0.5"].tolist()
    assert official[0] == paper[0] == 1
    assert official[1] != paper[1]
    # An address from before the preset was renamed leads to the same numbers.
    app.query_params["preset"] = "Official"
    assert app.run().dataframe[0].value["Mean ndcg@20,0.5"].tolist() == official
    assert app.query_params["preset"] == "TVR-Ranking"
    for name in PARTS:
        part(app, name)


def test_runs_without_a_query_in_common_are_ranked_and_not_compared(
    open_page: Open, settled: Judging, tmp_path: Path
) -> None:
    """Preset tvr-ranking counts only what a run predicts; two runs may share nothing."""
    for number, (query, moments) in enumerate(list(candidates(settled).items())[:2]):
        add_run(settled.project, OPERATOR, write(tmp_path / f"{number}.json", {query: moments}), now=NOW)
    app = open_page()
    app.selectbox(key="address-preset").set_value("TVR-Ranking").run()
    assert not app.exception
    for name in PARTS:
        part(app, name)


def test_a_new_run_and_a_new_grade_are_seen_at_the_next_look(open_page: Open, board: Judging, tmp_path: Path) -> None:
    app = open_page()
    add_run(board.project, OPERATOR, tmp_path / "back.json", name="third", now=NOW)
    assert len(app.run().dataframe[0].value) == 3
    before = app.dataframe[0].value["Mean ndcg@20,0.5"].tolist()
    pair = next(p for p in board.pairs() if p.relevance == 4)
    board.grade(2, pair.pair, 0)
    adjudicate(board.project, board.lead, pair.pair, 0, "another cup", now=NOW)
    assert app.run().dataframe[0].value["Mean ndcg@20,0.5"].tolist() != before


def test_a_file_with_problems_is_refused_with_its_rows_and_nothing_is_kept(open_page: Open, board: Judging) -> None:
    app = part(open_page(), "Runs")
    broken = {"5": [["v", 0, 1, 1], ["v", 3, 2, 1]], "6": [["v", -1, 2, 1]]}
    app.file_uploader(key="board_file").set_value([("mine_*.json", json.dumps(broken).encode(), "application/json")])
    submit(app)
    (said,) = [read(error.value) for error in app.error]
    assert "mine_*.json, row 1: query 5, moment 2" in said
    assert "mine_*.json, row 2: query 6, moment 1" in said
    assert "/tmp" not in said
    assert str(board.project.folder) not in said
    assert len(list_runs(board.project, OPERATOR)) == 3


def test_a_good_file_is_kept_by_the_lead_under_the_given_name(open_page: Open, settled: Judging) -> None:
    app = open_page()
    content = json.dumps(candidates(settled)).encode()
    app.file_uploader(key="board_file").set_value([("mine.json", content, "application/json")])
    app.text_input(key="board_name").set_value("  the best  ")
    submit(app)
    (kept,) = list_runs(settled.project, OPERATOR)
    assert (kept.name, kept.file, kept.added_by, kept.queries) == ("the best", "mine.json", "Lea", 3)
    assert read(app.success[0].value) == "Uploaded the best (3 queries). Scored against settled val."
    assert app.dataframe[0].value["Run"].tolist() == ["the best"]


def test_a_run_of_numbered_videos_needs_the_map(open_page: Open, settled: Judging) -> None:
    app = open_page()
    run = {query: [[7, *rest] for _, *rest in moments] for query, moments in candidates(settled).items()}
    app.file_uploader(key="board_file").set_value([("mine.json", json.dumps(run).encode(), "application/json")])
    submit(app)
    assert list_runs(settled.project, OPERATOR) == []
    app.file_uploader(key="board_file").set_value([("mine.json", json.dumps(run).encode(), "application/json")])
    app.file_uploader(key="board_videos").set_value(("map.json", b'{"v0": [60.0, 7]}', "application/json"))
    submit(app)
    assert not app.error
    assert load_run(settled.project, OPERATOR, "mine").videos == ("v0",)


def test_a_ground_truth_is_kept_and_can_be_chosen(open_page: Open, board: Judging) -> None:
    app = part(open_page(), "Runs")
    truth = [{"query_id": 99999, "relevant_moment": [{"video_name": "v", "timestamp": [0, 1], "relevance": 2}]}]
    app.file_uploader(key="board_file").set_value([("old.json", json.dumps(truth).encode(), "application/json")])
    app.segmented_control(key="board_kind").set_value("Ground truth")
    submit(app)
    assert app.selectbox(key="address-truth").options == ["settled val", "settled test", "old"]
    app.selectbox(key="address-truth").set_value("old").run()
    assert not app.exception
    part(app, "Ranking")
    assert app.dataframe[0].value["Run"].tolist() == ["elsewhere"]


def test_without_a_file_the_form_asks_for_one(open_page: Open, settled: Judging) -> None:
    assert [read(error.value) for error in submit(open_page()).error] == ["Choose a file first."]


def test_a_removed_run_is_gone_from_list_and_ranking(open_page: Open, board: Judging) -> None:
    app = part(open_page(), "Runs")
    app.button(key="remove-1").click().run()
    assert not app.exception
    assert [run.name for run in list_runs(board.project, OPERATOR)] == ["good", "elsewhere"]
    assert part(app, "Ranking").dataframe[0].value["Run"].tolist() == ["good"]


def upload(app: AppTest, files: dict[str, object]) -> AppTest:
    """Uploads files by name, all at once."""
    found = [(name, json.dumps(content).encode(), "application/json") for name, content in files.items()]
    app.file_uploader(key="board_file").set_value(found)
    return submit(app)


def test_several_runs_are_uploaded_at_once_and_scored_against_the_split_of_their_queries(
    open_page: Open, settled: Judging
) -> None:
    split = {str(query.query_id): query.split.value for query in list_queries(settled.project, OPERATOR)}
    test = {query: moments for query, moments in candidates(settled).items() if split[query] == "test"}
    app = upload(open_page(), {"one.json": test, "two.json": test})
    assert [run.name for run in list_runs(settled.project, OPERATOR)] == ["one", "two"]
    assert read(app.success[0].value) == "Uploaded one (1 query), two (1 query). Scored against settled test."
    assert app.selectbox(key="address-truth").value == "settled test"
    assert list(app.dataframe[0].value["Run"]) == ["one", "two"]
    fresh = open_page()
    assert fresh.selectbox(key="address-truth").value == "settled test", "also for whoever opens the page later"


def test_of_several_files_the_good_ones_are_kept_and_the_others_named(open_page: Open, settled: Judging) -> None:
    app = upload(open_page(), {"good.json": candidates(settled), "bad.json": {"5": [["v", 2, 1, 1]]}})
    assert [run.name for run in list_runs(settled.project, OPERATOR)] == ["good"]
    assert "bad.json, row 1: query 5, moment 1" in read(app.error[0].value)
    assert "Uploaded good (3 queries)." in read(app.success[0].value)


def test_one_name_is_not_given_to_several_files(open_page: Open, settled: Judging) -> None:
    app = open_page()
    app.text_input(key="board_name").set_value("mine")
    upload(app, {"one.json": candidates(settled), "two.json": candidates(settled)})
    assert list_runs(settled.project, OPERATOR) == []
    assert "each run is named after its file" in app.error[0].value


def test_a_run_that_fits_another_truth_says_which(open_page: Open, board: Judging) -> None:
    split = {str(query.query_id): query.split.value for query in list_queries(board.project, OPERATOR)}
    test = {query: moments for query, moments in candidates(board).items() if split[query] == "test"}
    app = part(open_page(), "Runs")
    upload(app, {"test only.json": test})
    app.selectbox(key="address-truth").set_value("settled val").run()
    part(app, "Ranking")
    assert "test only**: its query is not in this ground truth; choose settled test to score it" in read(words(app))


@pytest.mark.parametrize(("name", "checked"), [("caption", False), ("ours", True)])
def test_an_upper_bound_is_marked_has_no_place_and_comes_last(
    open_page: Open, board: Judging, name: str, checked: bool
) -> None:
    app = part(open_page(), "Runs")
    app.checkbox(key="board_bound").set_value(checked)
    upload(app, {f"{name}.json": candidates(board)})
    assert [run.upper_bound for run in list_runs(board.project, OPERATOR)] == [False, False, False, True]
    assert f"**{name}** · upper bound" in words(app)
    ranked = part(app, "Ranking").dataframe[0].value
    assert list(ranked["Run"]) == ["good", HOSTILE, f"{name} (upper bound)"]
    assert ranked["Place"].isna().tolist() == [False, False, True]
    assert f"{name} is an upper bound" in read(words(app))
    for other in PARTS:
        part(app, other)
