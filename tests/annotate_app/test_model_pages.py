"""What leads see of a model's grades: the part Model of the page Agreement, and the fold of the page Disputes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from annotate_app.screens.agreement.model_view import confusion_table
from backend.campaign.monitoring.model_judge.model import Judge
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run
from backend.campaign.release.judge_report.measuring import judge_report
from backend.core.ids import PairKey
from model_grades import JUDGE, says
from reading import html, mounted, words
from support import NOW, Judging

Open = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def graded(judging: Judging, at_once: None) -> Judging:
    """Six pairs that two people settled: relevances 4, 4, 3, 3, 0 and 0."""
    for number, grade in enumerate((4, 4, 3, 3, 0, 0)):
        pair = judging.pairs()[number]
        judging.grade(0, pair.pair, grade)
        judging.grade(1, pair.pair, grade)
    return judging


def part(app: AppTest, name: str) -> AppTest:
    app.segmented_control(key="address-part").set_value(name).run()
    assert not app.exception
    return app


def test_there_is_no_part_for_models_before_one_graded(open_judging: Open, graded: Judging) -> None:
    assert "Model" not in open_judging("agreement").segmented_control(key="address-part").options


def test_the_part_shows_what_the_command_computes(open_judging: Open, graded: Judging) -> None:
    st.cache_resource.clear()
    says(graded.project, {pair.pair_id: n % 5 for n, pair in enumerate(graded.pairs()[:7])})
    app = part(open_judging("agreement"), "Model")
    app.button(key="compare_others").click().run()
    assert not app.exception
    text = words(app)
    measured = judge_report(graded.project, graded.lead, JUDGE)
    kappa = measured.figures["kappa_quadratic"].value
    assert kappa is not None
    assert f"<b>{kappa:.3f}</b>".replace("-", "\u2212") in html(app)
    assert "6 pairs of 1 query compared. 1 left out: people have not settled the pair yet" in text
    assert confusion_table(measured.confusion) in html(app)
    assert f"{measured.apart} pairs differ by 2 or more." in text
    assert "fewer than two runs of the project answer these queries" in text


def test_orders_of_runs_are_shown_with_the_largest_swap(open_judging: Open, graded: Judging, tmp_path: Path) -> None:
    """The relevances are 4, 4, 3, 3, 0, 0 and the model says the reverse, so it swaps the two runs."""
    st.cache_resource.clear()
    pairs = graded.pairs()[:6]
    says(graded.project, {pair.pair_id: 4 - (pair.relevance or 0) for pair in pairs})
    for name, order in (("a<b>", pairs), ("z", pairs[::-1])):
        run = {str(pairs[0].query_id): [[pair.video, pair.start_s, pair.end_s] for pair in order]}
        (tmp_path / "run.json").write_text(json.dumps(run))
        add_run(graded.project, OPERATOR, tmp_path / "run.json", name=name, now=NOW)
    app = part(open_judging("agreement"), "Model")
    app.button(key="compare_others").click().run()
    assert not app.exception
    assert "the orders of 2 runs over 1 query" in words(app)
    (row,) = [row for row in html(app).split("<tr>") if ">ndcg@10,0.5<" in row]
    assert "<b>\u22121.000</b>" in row
    assert "a&lt;b&gt; before z by 0." in row
    assert "the model says \u22120." in row


def test_a_lead_chooses_among_several_models(open_judging: Open, graded: Judging) -> None:
    st.cache_resource.clear()
    pair = graded.pairs()[0].pair_id
    says(graded.project, {pair: 0})
    says(graded.project, {pair: 4}, Judge(HOSTILE, "judge-9"), at=1.0)
    app = part(open_judging("agreement"), "Model")
    assert app.selectbox(key="address-judge").options == ["eye-1 judge-1", f"{HOSTILE} judge-9"]
    app.selectbox(key="address-judge").set_value(f"{HOSTILE} judge-9").run()
    app.button(key="compare_others").click().run()
    assert not app.exception
    assert "0 pairs differ by 2 or more." in words(app)


def seen(graded: Judging) -> int:
    (count,) = graded.project.store.db.conn.execute("SELECT count(*) FROM event WHERE kind = 'model_seen'").fetchone()
    return int(count)


def test_the_fold_is_closed_and_holds_no_grade_until_it_is_opened(open_judging: Open, graded: Judging) -> None:
    pair = graded.pairs()[0]
    says(graded.project, {pair.pair_id: 1}, Judge("qqmodel", "qqprompt"), reason=f"qqreason {HOSTILE}")
    app = open_judging("disputes", show="model")
    assert "What the model said" in [fold.label for fold in app.expander]
    assert "decide before you open what the model said" in words(app)
    for word in ("qqmodel", "qqprompt", "qqreason"):
        assert word not in words(app) + mounted(app)
    assert seen(graded) == 0
    unfold(app, pair.pair)
    page = html(app)
    assert "qqmodel" in page
    assert "qqprompt" in page
    assert "qqreason &lt;img" in page
    assert HOSTILE not in page
    assert seen(graded) == 1
    app.run()
    assert seen(graded) == 1


def unfold(app: AppTest, pair: PairKey) -> None:
    app.session_state[f"model-said-{pair}"] = True
    app.run()
    assert not app.exception


def test_the_decision_of_a_lead_who_opened_the_fold_says_so(open_judging: Open, graded: Judging) -> None:
    pair = graded.pairs()[0]
    says(graded.project, {pair.pair_id: 1})
    app = open_judging("disputes", show="model")
    unfold(app, pair.pair)
    app.segmented_control(key=f"relevance-{pair.pair}").set_value(1)
    app.text_input(key=f"reason-{pair.pair}").set_value("The model is right.")
    next(button for button in app.button if button.label == "Adjudicate").click().run()
    assert not app.exception
    sql = "SELECT payload ->> 'model_seen' FROM event WHERE kind = 'adjudicated'"
    assert [bool(row[0]) for row in graded.project.store.db.conn.execute(sql)] == [True]
    assert "No settled pair has a model's grade that differs by 2 or more." in words(app)


def test_pairs_that_no_model_graded_have_no_fold(open_judging: Open, graded: Judging) -> None:
    pair = graded.pairs()[10]
    graded.grade(0, pair.pair, 0)
    graded.grade(1, pair.pair, 4)
    says(graded.project, {graded.pairs()[0].pair_id: 1, pair.pair_id: None})
    assert "What the model said" not in [fold.label for fold in open_judging("disputes").expander]


def test_the_list_is_offered_only_where_a_model_differs(open_judging: Open, graded: Judging) -> None:
    def offered() -> bool:
        return any("Model differs" in label for label in open_judging("disputes").segmented_control[0].options)

    pair = graded.pairs()[0]
    says(graded.project, {pair.pair_id: 3})
    assert not offered()
    says(graded.project, {pair.pair_id: 2}, Judge("eye-2", "judge-1"))
    assert offered()
