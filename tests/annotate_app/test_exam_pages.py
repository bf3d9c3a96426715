"""The exam on the pages of leads (Exam, People) and annotators (My work), against the fake api."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.qualification.exam.model import Exam, ExamItem, ExamKey, ExamPhase
from backend.campaign.qualification.exam.results import ExamAttempt, ExamOutcomes, ExamPerson, Missed, PersonOutcome
from backend.campaign.qualification.exam.rules.marking import mark
from backend.campaign.qualification.exam.rules.outcomes import Answer, outcome, together
from backend.core.ids import PairId, PairKey, QueryId
from reading import read

Open = Callable[..., AppTest]
ANSWERS = [(0, 4), (1, 4), (4, 4), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0), (3, 3)]
MISSED = (
    Missed(PairKey("key101"), QueryId(1), "A <i>cup</i>", 0, 4, "The <b>whole</b> action is there.", 3),
    Missed(PairKey("key102"), QueryId(1), "Two people argue", 1, 4, "", None),
)
FAILED = ExamAttempt(
    1, fake_api.NOON, fake_api.NOON, 9, 9, mark(ANSWERS, 20, 1), ((0, 2), (0, 1), (0, 2), (0, 1), (2, 3)), MISSED
)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def held(project: fake_api.Project) -> fake_api.Project:
    """An exam that Ana failed, Ben has not begun, and Cem need not take."""
    project.exam = Exam(
        1, fake_api.NOON, "Lea", "settled pairs", 7, 20.0, 1, 9, 2, 8, key_from=ExamKey.SETTLED, closed_at=fake_api.NOON
    )
    project.exam_items = [
        ExamItem(
            *(5, QueryId(1), "A woman puts a cup on the table and leaves", PairId(101), PairKey("key101")),
            *(8.0, False, 4),
            *("", False, None, None),
        )
    ]
    people = project.people
    project.examined = {
        "Ana": ExamPerson(people["Ana"], ExamPhase.FAILED, "", (FAILED,)),
        "Ben": ExamPerson(people["Ben"], ExamPhase.FIRST, "", ()),
        "Cem": ExamPerson(people["Cem"], ExamPhase.EXEMPT, "wrote the *guideline*", ()),
    }
    return project


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens one page as the lead, or as somebody else."""
    return open_screen


def words(app: AppTest) -> str:
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success", "text")
    written = [element.value for kind in kinds for element in app.get(kind)]
    written += [expander.label for expander in app.expander]
    return read("\n".join([*written, *(element.proto.body for element in app.get("html"))]))


def look(app: AppTest, most: float) -> AppTest:
    """Fill the form in, and look at what would be drawn."""
    app.number_input(key="exam_queries").set_value(2)
    app.number_input(key="exam_pairs").set_value(10)
    app.number_input(key="exam_most").set_value(most)
    return press(app, "Go on")


def press(app: AppTest, label: str) -> AppTest:
    (button,) = [button for button in app.button if button.label == label]
    app = button.click().run()
    assert not app.exception
    return app


def test_without_an_exam_the_lead_looks_at_one_and_holds_it(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("exam")
    assert "This project has no exam: everybody may judge at once." in words(app)
    assert not app.tabs
    app.checkbox(key="exam_newcomers").check()
    app = look(app, 12.5)
    assert project.exam is None, "looking holds nothing"
    said = words(app)
    assert "**20 pairs of 2 queries**, from settled pairs, seed 1; at most 12.5 % of the grades may differ" in said
    # The key is four times 0 to 4: always 2 misses the eight that are 0 and 4; chance 12/25 of twenty.
    assert "8 of 20, 40 %" in said
    assert "9.6 of 20, 48 %" in said
    assert [box.key for box in app.text_input] == ["trial_search"], "no reason is asked for"
    assert "Query <1>" in app.selectbox(key="exam_look").options[0]
    assert len(app.get("bidi_component")) == 10, "the pairs of one query as clips"
    app = press(app, "Hold this exam")
    assert project.exam is not None
    assert (project.exam.items, project.exam.most_missed, project.exam.set_by) == (20, 12.5, "Lea")
    assert "The exam has 20 pairs of 2 queries. 2 people exempted." in words(app)
    assert "at most 12.5 % of the grades may differ by more than 1" in words(app)
    assert "Held all the same" not in words(app)


def test_an_exam_that_pressing_0_passes_is_held_for_a_reason_only(open_page: Open, project: fake_api.Project) -> None:
    project.exam_key = [0] * 19 + [4]
    app = look(open_page("exam"), 20)
    said = words(app)
    assert "always 0 misses 1 of 20 and would pass" in said
    assert "passes" in said
    app = press(app, "Hold this exam")
    assert project.exam is None
    assert "give a reason why it is held all the same" in words(app)
    app.text_input(key="exam_although").set_value("We have *no* others")
    app = press(app, "Hold this exam")
    assert project.exam is not None
    assert "Held all the same: We have *no* others" in words(app)


def test_fewer_pairs_than_asked_for_are_told_before_and_the_draw_is_changed(
    open_page: Open, project: fake_api.Project
) -> None:
    project.exam_key = [0, 1, 2, 3, 4, 4]
    app = look(open_page("exam"), 20)
    assert "Asked for 2 queries with 10 pairs each; there were only 6 pairs of 2 queries to be had." in words(app)
    app = press(app, "Change the draw")
    assert (app.number_input(key="exam_queries").value, app.number_input(key="exam_pairs").value) == (2, 10)
    assert project.exam is None
    project.exam_key = []
    app = press(app, "Go on")
    assert "there is no settled pair to ask yet" in words(app)
    assert press(app, "Change the draw").number_input(key="exam_queries").value == 2


def test_a_round_is_told_of_closed_and_its_answers_used(open_page: Open, held: fake_api.Project) -> None:
    app = open_page("exam")
    assert "The round is open" not in words(app), "an exam of settled pairs has its key from the beginning"
    app.radio(key="exam_key").set_value(ExamKey.MEDIAN)
    app.number_input(key="exam_queries").set_value(40)
    app = press(app, "Go on")
    assert "Asked for 40 queries with 10 pairs each; there were only 20 pairs of 1 query to be had." in words(app)
    assert "The key comes later" in words(app)
    assert len(app.get("bidi_component")) == 22, "its pairs as clips, and the tab Items: its list, and one of them"
    assert held.exam is not None
    assert held.exam.key_from is ExamKey.SETTLED, "not held yet"
    app = press(app, "Hold this exam")
    assert held.exam.key_from is ExamKey.MEDIAN
    people = held.people
    held.examined = {
        "Ana": ExamPerson(people["Ana"], ExamPhase.WAITING, "", ()),
        "Ben": ExamPerson(people["Ben"], ExamPhase.ANSWERING, "", ()),
        "Cem": ExamPerson(people["Cem"], ExamPhase.WAITING, "", ()),
    }
    app.run()
    assert "**The round is open.** Handed in, waiting for the key: 2 (Ana, Cem). Still at it: 1 (Ben)." in words(app)
    assert "Answers as judgements" not in words(app), "not before the key is there"
    assert "It can be closed as soon as two people have handed in." in words(app)
    held.exam_finished = 2
    app.run()
    assert "2 of 9, 22.2 %" in words(app), "what always 0 misses with this key, before it is fixed"
    app.button(key="exam-close").click().run()
    assert "always 0 misses 2 of 9, within" in words(app)
    assert held.exam.closed_at is None
    app.text_input(key="exam_close_although").set_value("a first trial")
    app.button(key="exam-close").click().run()
    assert "The key is fixed: 7 × 0, 2 × 4. Finished by 2 people so far." in words(app)
    assert "**The key is fixed** since" in words(app)
    app.button(key="exam-use").click().run()
    assert "17 answers about 9 pairs now count as judgements: 5 to 6 of each of 3 people." in words(app)
    assert "Answers as judgements" not in words(app), "once"


def test_the_lead_sees_why_somebody_failed_and_grants_a_retake(open_page: Open, held: fake_api.Project) -> None:
    app = open_page("exam")
    said = words(app)
    assert "from settled pairs, seed 7" in said
    assert "1 pair left out because the clip cannot be shown." in said
    assert "Attempt 1: missed 2 of 9 (22.2 %, at most 20 %)." in said
    assert "9 Oct 2025, 08:53: failed" in said
    assert "<td>2 of 3</td>" in said
    assert "The &lt;b&gt;whole&lt;/b&gt; action is there." in said
    assert "<td>not yet</td>" in said
    assert "Exempt: wrote the *guideline*" in said
    assert [app.button(key=f"exam-retake-{number}").disabled for number in (2, 3, 4)] == [False, True, False]
    app.button(key="exam-retake-2").click().run()
    assert held.exam_asked == [("retake", 2)]


def test_an_exemption_without_a_reason_is_refused_in_words(open_page: Open, held: fake_api.Project) -> None:
    app = open_page("exam")
    (button,) = [button for button in app.button if button.form_id == "exam-exempt-3"]
    button.click().run()
    assert "an exemption needs a reason" in words(app)
    app.text_input(key="exam-reason-3").set_value("knows the films")
    (button,) = [button for button in app.button if button.form_id == "exam-exempt-3"]
    button.click().run()
    assert held.exam_asked == [("exempt", 3, "knows the films")]


def listed(app: AppTest) -> list[str]:
    """What the rows of the list of items say."""
    found = [json.loads(one.proto.json).get("html", "") for one in app.get("bidi_component") if one.proto.json]
    table = next((text for text in found if "aria-label='Items'" in text), "")
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr data-opens.*?</tr>", table)]


def test_an_item_is_explained_by_the_lead(open_page: Open, held: fake_api.Project) -> None:
    app = open_page("exam")
    assert listed(app) == ["A woman puts a cup on the table and leaves 4 missed 1× · not explained"]
    app.text_area(key="exam-text-5").set_value("The cup is put down in full view.")
    (button,) = [button for button in app.button if button.form_id == "exam-explain-5"]
    button.click().run()
    assert held.exam_asked == [("explain", 5, "The cup is put down in full view.")]


def test_items_are_searched_and_the_address_says_which_is_on_show(open_page: Open, held: fake_api.Project) -> None:
    first = held.exam_items[0]
    held.exam_items = [
        replace(first, item_id=n, query=f"Query {n} of {'a dog' if n % 2 else 'a cat'}") for n in range(1, 26)
    ]
    app = open_page("exam", item="7", q="dog")
    assert len(listed(app)) == 10, "a page of them"
    assert all("a dog" in row for row in listed(app))
    assert app.text_area(key="exam-text-7")
    assert len(listed(open_page("exam", q="dog", page="2"))) == 3
    assert "No item has these words." in words(open_page("exam", q="dog cat"))


@pytest.mark.parametrize("page", ["exam", "people"])
def test_many_people_are_searched_and_cut_into_pages(page: str, open_page: Open, held: fake_api.Project) -> None:
    """A hundred rows of six controls each took seconds to draw, and nobody was found among them."""
    name = {"exam": "people", "people": "q"}[page]
    assert not any("Search" in box.label for box in open_page(page).text_input), "few people need no search"
    for n in range(30):
        held.people[f"Newcomer {n}"] = person = replace(held.people["Ana"], annotator_id=100 + n, name=f"Newcomer {n}")
        held.examined[person.name] = ExamPerson(person, ExamPhase.FIRST, "", ())
    rows = {"exam": "exam-retake-", "people": "suspend-"}[page]
    app = open_page(page)
    shown = [button.key for button in app.button if str(button.key).startswith(rows)]
    assert len(shown) == 20
    app.text_input(key=f"address-{name}").set_value("newcomer 29").run()
    assert [button.key for button in app.button if str(button.key).startswith(rows)] == [f"{rows}129"]
    assert app.query_params[name] in ("newcomer 29", ["newcomer 29"])
    app.text_input(key=f"address-{name}").set_value("nobody").run()
    assert "No person in this list has these words." in words(app)


def test_the_exam_is_ended(open_page: Open, held: fake_api.Project) -> None:
    app = open_page("exam")
    app.button(key="exam-off").click().run()
    assert held.exam is None
    assert "This project has no exam" in words(app)


def test_trouble_with_the_database_is_said(open_page: Open, held: fake_api.Project) -> None:
    app = open_page("exam")
    held.unavailable = "The disk is full."
    app.button(key="exam-off").click().run()
    assert "The disk is full." in words(app)
    assert held.exam is not None


def test_the_page_is_for_leads(open_page: Open) -> None:
    assert "This page is for leads." in words(open_page("exam", "Ana"))


def test_people_shows_where_everybody_stands(open_page: Open, held: fake_api.Project) -> None:
    said = words(open_page("people"))
    for badge in ("exam: failed", "exam: not begun", "exam: exempt"):
        assert badge in said
    held.exam = None
    assert "exam:" not in words(open_page("people"))


def test_results_show_misses_and_kappas_with_intervals_or_why_there_is_none(
    open_page: Open, held: fake_api.Project
) -> None:
    assert "Nobody has handed an exam in yet." in words(open_page("exam"))
    each = {
        "Ana": outcome([Answer(0, 4, 3), Answer(1, 4, None)] + [Answer(n % 5, n % 5, None) for n in range(8)], 1),
        "Ben": outcome([Answer(2, 2, None)] * 10, 1),
    }
    people = tuple(PersonOutcome(held.people[name], 1, one) for name, one in each.items())
    held.outcomes = ExamOutcomes(people, together(list(each.values())))
    app = open_page("exam")
    said = words(app)
    # Wilson, 2 of 10, z = 1.959964: (.2 + .192073 +- 1.959964 sqrt(.016 + .0096036)) / 1.384146.
    assert "<b>20 %</b><small>5.7 to 51 %</small>" in said
    assert "1 of 2 missed clips not looked at again yet" in said
    assert "both gave one and the same grade throughout" in said
    assert "<b>10 %</b>" in said, "the mean of both"
    assert "11.8 % missed, at a mean kappa of 0.49" in said
    assert len(app.get("vega_lite_chart")) == 3
    held.exam = None
    assert "Results so far" in words(open_page("exam"))


def test_my_work_shows_attempts_score_and_misses(open_page: Open, held: fake_api.Project) -> None:
    again = replace(FAILED, number=2, result=mark([(4, 4), (1, 1), (0, 0)], 20, 1), missed=(), by_grade=((0, 1),) * 5)
    held.examined["Ana"] = replace(held.examined["Ana"], phase=ExamPhase.PASSED, attempts=(FAILED, again))
    said = words(open_page("my_work", "Ana"))
    assert "You passed." in said
    assert "Attempt 1, 9 Oct 2025, 08:53: failed, missed 2 of 9 (22.2 %, at most 20 %)" in said
    assert "Attempt 2, 9 Oct 2025, 08:53: passed, missed 0 of 3 (0 %, at most 20 %)" in said
    assert "Kappa 1.00, quadratic 1.00 (n = 3)." in said
    assert "A &lt;i&gt;cup&lt;/i&gt;" in said


def test_my_work_of_somebody_who_has_not_graded_yet_tells_of_the_exam(open_page: Open, held: fake_api.Project) -> None:
    held.work = replace(held.work, in_all=0)
    assert "You did not pass. Your lead annotator sees it" in words(open_page("my_work", "Ana"))
    assert "The exam comes before your first pair" in words(open_page("my_work", "Ben"))


def test_a_kappa_that_is_undefined_says_why() -> None:
    from annotate_app.shared import wording

    assert wording.kappas(mark([(2, 2)], 20, 1)) == "Kappa is undefined: both gave one and the same grade throughout."
