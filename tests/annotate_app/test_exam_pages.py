"""The exam on the pages of leads (Exam, People) and annotators (My work), over a real project."""

import re
from collections.abc import Callable, Mapping

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.screens.exam import figures
from annotate_app.shared import wording
from backend.campaign.desk import exchange
from backend.campaign.desk.clips import clip_for
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.queue import block_clip
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.qualification.exam.answer_key import exam_items, explain_exam_item
from backend.campaign.qualification.exam.model import Exam, ExamKey, ExamPhase
from backend.campaign.qualification.exam.results import exam_results, exempt_from_exam, grant_retake, my_exam
from backend.campaign.qualification.exam.rules.marking import mark
from backend.campaign.qualification.exam.setting import end_exam, exam_held, set_exam
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.setup.people.accounts import add_person, add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.core.ids import PairKey
from reading import mounted, words
from served import clip_of
from small_project import PASSWORD, TEXTS, SmallProject
from support import NOW, have_read, person_of

Open = Callable[..., AppTest]
ITEMS, SEED = 9, 1
"""With this seed two of the nine items have the right grade 4."""
WHY = "The <b>whole</b> action is there."


@pytest.fixture
def settled(real_project: SmallProject) -> SmallProject:
    """The relevances of queries 1 and 2 are 0, 1, 2, 3, 4, 0, ... by rank; of query 3 nothing is settled."""
    real_project.sql(
        "UPDATE consensus SET relevance = (SELECT (rank - 1) % 5 FROM pair WHERE pair.pair_id = consensus.pair_id) "
        "WHERE relevance IS NOT NULL"
    )
    unsettle(real_project, "query_id = 3")
    return real_project


def unsettle(small: SmallProject, where: str) -> None:
    """Let pairs wait for further people, past all rules."""
    small.sql(
        "UPDATE consensus SET verdict = 'escalated', relevance = NULL, mean = NULL "
        f"WHERE relevance IS NOT NULL AND pair_id IN (SELECT pair_id FROM pair WHERE {where})"
    )


@pytest.fixture
def untaken(settled: SmallProject) -> SmallProject:
    """An exam that nobody has begun."""
    hold(settled)
    return settled


def hold(small: SmallProject, **more: int) -> None:
    """An exam of nine settled pairs of one query."""
    ask = {"queries": 1, "pairs": ITEMS, "seed": SEED, **more}
    set_exam(small.project, small.lead, **ask, most_missed=20, although="few pairs", now=NOW)


@pytest.fixture
def held(untaken: SmallProject) -> SmallProject:
    """An exam that Ana failed, Ben has not begun, Dee is looking at again, and Eli need not take."""
    explained = next(item for item in exam_items(untaken.project, untaken.lead) if item.right == 4)
    explain_exam_item(untaken.project, untaken.lead, explained.item_id, WHY, now=NOW)
    for who in ("Ana", "Dee"):
        take(untaken, who, lambda right: {4: 1}.get(right, right))
    look_again(untaken, "Ana")
    look_again(untaken, "Dee", most=1)
    eli = untaken.person("Eli").annotator_id
    exempt_from_exam(untaken.project, untaken.lead, eli, "wrote the *guideline*", now=NOW)
    return untaken


def take(small: SmallProject, who: str, given: Callable[[int], int]) -> None:
    """Begin, answer everything as `given` for the right grade says, and hand in."""
    person = small.person(who)
    rights = {clip_of(small, item.pair_key): item.right or 0 for item in exam_items(small.project, small.lead)}
    desk = exchange.exam_act(small.project, person, ExamAct.START, now=NOW)
    while desk.items:
        answer(
            small,
            who,
            {item.pair: given(rights[clip_for(small.project, person, item.pair).path]) for item in desk.items},
        )
        desk = exchange.desk(small.project, person, now=NOW)
    exchange.exam_act(small.project, person, ExamAct.HAND_IN, now=NOW)


def answer(small: SmallProject, who: str, grades: Mapping[PairKey, int]) -> None:
    events = [GradeEvent(item, grade, f"{who} {item} {grade}", 1000) for item, grade in grades.items()]
    receipts = exchange.record_grades(small.project, small.person(who), events, now=NOW)
    assert {receipt.status for receipt in receipts} == {"saved"}


def look_again(small: SmallProject, who: str, most: int = 100) -> None:
    """Read the result, and grade missed items once more, each as far from its key as still agrees."""
    desk = exchange.exam_act(small.project, small.person(who), ExamAct.GO_ON, now=NOW)
    for _ in range(most):
        if desk.exam is None or desk.exam.phase is not ExamPhase.AGAIN:
            return
        miss = desk.exam.missed[0]
        answer(small, who, {miss.pair: miss.right - 1})
        desk = exchange.desk(small.project, small.person(who), now=NOW)


def attempts(small: SmallProject, who: str) -> list[int]:
    """How many answers of each attempt missed."""
    found = my_exam(small.project, small.person(who)).attempts
    return [one.result.missed for one in found if one.result is not None]


def phase(small: SmallProject, who: str) -> ExamPhase | None:
    return my_exam(small.project, small.person(who)).phase


def exam(small: SmallProject) -> Exam | None:
    return exam_held(small.project, small.lead)


@pytest.fixture
def without_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the tab Results, whose charts take long to draw and have a test of their own."""
    monkeypatch.setattr(figures, "outcomes", lambda found: None)


def look(app: AppTest, most: float) -> AppTest:
    """Fill the form in, and look at what would be drawn."""
    app.number_input(key="exam_queries").set_value(2)
    app.number_input(key="exam_pairs").set_value(10)
    app.number_input(key="exam_most").set_value(most)
    return press(app, "Preview")


def press(app: AppTest, label: str) -> AppTest:
    (button,) = [button for button in app.button if button.label == label]
    app = button.click().run()
    assert not app.exception
    return app


def test_without_an_exam_the_lead_looks_at_one_and_holds_it(open_page_of: Open, settled: SmallProject) -> None:
    app = open_page_of("exam")
    assert "This project has no exam: annotators grade at once." in words(app)
    assert not app.tabs
    app.checkbox(key="exam_newcomers").check()
    app = look(app, 12.5)
    assert exam(settled) is None, "looking holds nothing"
    said = words(app)
    assert "**20 pairs from 2 queries** (settled pairs, seed 1). At most 12.5 % of the grades may differ" in said
    # The key is four times 0 to 4: always 2 misses the eight that are 0 and 4; chance 12/25 of twenty.
    assert "8 of 20, 40 %" in said
    assert "9.6 of 20, 48 %" in said
    assert not app.text_input, "no reason is asked for"
    assert TEXTS[0] in app.selectbox(key="exam_look").options[0]
    assert len(app.get("bidi_component")) == 10, "the pairs of one query as clips"
    app = press(app, "Start exam")
    held = exam(settled)
    assert (held.items, held.most_missed, held.set_by) == (20, 12.5, "Lea")
    assert "Exam started: 20 pairs from 2 queries. 4 people exempted." in words(app)
    assert "At most 12.5 % of the grades may differ by more than 1" in words(app)
    assert "Held all the same" not in words(app)


def test_an_exam_that_pressing_0_passes_is_held_for_a_reason_only(open_page_of: Open, settled: SmallProject) -> None:
    settled.sql("UPDATE consensus SET relevance = 0 WHERE relevance > 0")
    settled.sql("UPDATE consensus SET relevance = 4 WHERE pair_id = (SELECT min(pair_id) FROM pair WHERE query_id = 1)")
    app = look(open_page_of("exam"), 20)
    said = words(app)
    assert "grade 0 throughout misses 1 of 20 and would pass" in said
    assert "passes" in said
    app = press(app, "Start exam")
    assert exam(settled) is None
    assert "To hold it anyway, give a reason" in words(app)
    app.text_input(key="exam_although").set_value("We have *no* others")
    app = press(app, "Start exam")
    assert exam(settled) is not None
    assert "Reason for using it: We have *no* others" in words(app)


def test_an_answer_key_comes_from_a_file_and_its_problems_are_told_by_row(
    open_page_of: Open, settled: SmallProject
) -> None:
    pairs = [settled.pair(1, rank).pair_id for rank in (1, 2, 3, 4, 5)]
    app = open_page_of("exam")
    app.file_uploader(key="exam_key_file").set_value(("key.csv", b"pair_id,grade\n999,7\n", "text/csv"))
    app = look(app, 20)
    assert "key.csv, row 2: " in words(app)
    app = press(app, "Change")
    rows = "".join(f"{pair},{grade}\n" for grade, pair in enumerate(pairs))
    app.file_uploader(key="exam_key_file").set_value(("key.csv", f"pair_id,grade\n{rows}".encode(), "text/csv"))
    app = look(app, 20)
    assert "**5 pairs from 1 query**" in words(app)
    app.text_input(key="exam_although").set_value("few pairs")
    app = press(app, "Start exam")
    held = exam(settled)
    assert (held.items, held.source, held.set_by) == (5, "key.csv", "Lea")


def test_fewer_pairs_than_asked_for_are_told_before_and_the_draw_is_changed(
    open_page_of: Open, settled: SmallProject
) -> None:
    unsettle(settled, "rank > 3")
    app = look(open_page_of("exam"), 20)
    assert "Asked for 2 queries with 10 pairs each; only 6 pairs of 2 queries are available." in words(app)
    app = press(app, "Change")
    assert (app.number_input(key="exam_queries").value, app.number_input(key="exam_pairs").value) == (2, 10)
    assert exam(settled) is None
    unsettle(settled, "rank <= 3")
    app = press(app, "Preview")
    assert "no settled pair can be asked yet" in words(app)
    assert press(app, "Change").number_input(key="exam_queries").value == 2


@pytest.mark.usefixtures("without_results")
def test_a_round_is_told_of_closed_and_its_answers_used(open_page_of: Open, untaken: SmallProject) -> None:
    app = open_page_of("exam")
    assert "The round is open" not in words(app), "an exam of settled pairs has its key from the beginning"
    app.radio(key="exam_key").set_value(ExamKey.MEDIAN)
    app.number_input(key="exam_queries").set_value(40)
    app.number_input(key="exam_pairs").set_value(10)
    app = press(app, "Preview")
    assert "Asked for 40 queries with 10 pairs each; only 4 pairs of 1 query are available." in words(app)
    assert "The answer key comes later" in words(app)
    assert len(app.get("bidi_component")) == 6, "its pairs as clips, and the tab Items: its list, and one of them"
    before = exam(untaken)
    assert before.key_from is ExamKey.SETTLED, "not held yet"
    app = press(app, "Start exam")
    begun = exam(untaken)
    assert begun.key_from is ExamKey.MEDIAN
    suspend(untaken.project, untaken.lead, untaken.person("Cem").annotator_id, False, now=NOW)
    assert "You can close the exam once two annotators have handed in." in words(app)
    for who in ("Ana", "Cem"):
        take(untaken, who, lambda right: 0)
    exchange.exam_act(untaken.project, untaken.person("Ben"), ExamAct.START, now=NOW)
    app.run()
    assert "**The exam is open.** Handed in: 2 (Ana, Cem). Still working: 1 (Ben)." in words(app)
    assert "Answers as judgements" not in words(app), "not before the key is there"
    assert "0 of 4, 0 %" in words(app), "what always 0 misses with this key, before it is fixed"
    app.button(key="exam-close").click().run()
    assert "grade 0 throughout misses 0 of 4 and would pass" in words(app)
    begun = exam(untaken)
    assert begun.closed_at is None
    app.text_input(key="exam_close_although").set_value("a first trial")
    app.button(key="exam-close").click().run()
    assert "Answer key fixed: 4 × 0. 2 people finished so far." in words(app)
    assert "**Answer key fixed** " in words(app)
    app.button(key="exam-use").click().run()
    assert "8 answers for 4 pairs now count as judgements: 4 from each of 2 people." in words(app)
    assert "Answers as judgements" not in words(app), "once"


@pytest.mark.usefixtures("without_results")
def test_the_lead_sees_why_somebody_failed_and_grants_a_retake(open_page_of: Open, held: SmallProject) -> None:
    item = next(item for item in exam_items(held.project, held.lead) if item.right == 0)
    block_clip(held.project, held.lead, item.pair_key, "black", now=NOW)
    app = open_page_of("exam")
    said = words(app)
    assert f"(settled pairs, seed {SEED})" in said
    assert "1 pair left out because their clips cannot be shown." in said
    assert "Attempt 1: missed 2 of 9 (22.2 %, at most 20 %)." in said
    assert "21 Sep 2026, 14:13: failed" in said
    assert "<td>2 of 2</td>" in said
    assert "The &lt;b&gt;whole&lt;/b&gt; action is there." in said
    assert "<td>not yet</td>" in said
    assert "Exempt: wrote the *guideline*" in said
    ids = {name: held.person(name).annotator_id for name in ("Ana", "Ben", "Dee", "Eli")}
    disabled = {name: app.button(key=f"exam-retake-{number}").disabled for name, number in ids.items()}
    assert disabled == {"Ana": False, "Ben": True, "Dee": False, "Eli": False}
    assert phase(held, "Ana") is ExamPhase.FAILED
    told = "A retake repeats 8 of 8 pairs, 2 of them explained: too few others are settled."
    assert said.count(told) == 1, "Ana has graded every settled pair as work, Dee has not"
    app.button(key=f"exam-retake-{ids['Ana']}").click().run()
    assert phase(held, "Ana") is ExamPhase.FIRST


def test_an_exemption_without_a_reason_is_refused_in_words(open_page_of: Open, untaken: SmallProject) -> None:
    ben = untaken.person("Ben").annotator_id
    app = open_page_of("exam")
    (button,) = [button for button in app.button if button.form_id == f"exam-exempt-{ben}"]
    button.click().run()
    assert "an exemption needs a reason" in words(app)
    assert phase(untaken, "Ben") is ExamPhase.FIRST
    app.text_input(key=f"exam-reason-{ben}").set_value("knows the films")
    (button,) = [button for button in app.button if button.form_id == f"exam-exempt-{ben}"]
    button.click().run()
    (now_exempt,) = [one for one in exam_results(untaken.project, untaken.lead) if one.person.name == "Ben"]
    assert (now_exempt.phase, now_exempt.reason) == (ExamPhase.EXEMPT, "knows the films")


def listed(app: AppTest) -> list[str]:
    """What the rows of the list of items say."""
    table = mounted(app, "aria-label='Items'")
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr data-opens.*?</tr>", table)]


@pytest.mark.usefixtures("without_results")
def test_an_item_is_explained_by_the_lead(open_page_of: Open, held: SmallProject) -> None:
    items = exam_items(held.project, held.lead)
    missed = [item for item in items if item.right == 4]
    (other,) = [item.item_id for item in missed if item.explanation != WHY]
    app = open_page_of("exam", item=str(other))
    rows = listed(app)
    assert len(rows) == ITEMS
    query = items[0].query
    assert sorted(rows[:2]) == [f"{query} 4 missed 2×", f"{query} 4 missed 2× · not explained"]
    assert "missed 0× · not explained" in rows[2]
    app.text_area(key=f"exam-text-{other}").set_value("The cup is put down in full view.")
    (button,) = [button for button in app.button if button.form_id == f"exam-explain-{other}"]
    button.click().run()
    explained = {item.item_id: item.explanation for item in exam_items(held.project, held.lead)}
    assert explained[other] == "The cup is put down in full view."


def test_items_are_searched_and_the_address_says_which_is_on_show(open_page_of: Open, settled: SmallProject) -> None:
    for number, text in ((1, "Somebody calls a dog"), (2, "Somebody calls a cat")):
        settled.sql("UPDATE query SET text = ? WHERE query_id = ?", text, number)
    hold(settled, queries=2, pairs=13)
    dogs = [item.item_id for item in exam_items(settled.project, settled.lead) if "dog" in item.query]
    app = open_page_of("exam", item=str(dogs[6]), q="dog")
    assert len(listed(app)) == 10, "a page of them"
    assert all("a dog" in row for row in listed(app))
    assert app.text_area(key=f"exam-text-{dogs[6]}")
    assert len(listed(open_page_of("exam", q="dog", page="2"))) == 3
    assert "No item matches your search." in words(open_page_of("exam", q="dog cat"))


@pytest.mark.parametrize("page", ["exam", "people"])
def test_many_people_are_searched_and_cut_into_pages(page: str, open_page_of: Open, untaken: SmallProject) -> None:
    """A hundred rows of six controls each took seconds to draw, and nobody was found among them."""
    name = {"exam": "people", "people": "q"}[page]
    assert not any("Search" in box.label for box in open_page_of(page).text_input), "few people need no search"
    for n in range(20):
        add_person(untaken.project, OPERATOR, f"Newcomer {n}", Role.ANNOTATOR, now=NOW)
    last = person_of(untaken.project, "Newcomer 19").annotator_id
    rows = {"exam": "exam-retake-", "people": "suspend-"}[page]
    app = open_page_of(page)
    shown = [button.key for button in app.button if str(button.key).startswith(rows)]
    assert len(shown) == 20
    app.text_input(key=f"address-{name}").set_value("newcomer 19").run()
    assert [button.key for button in app.button if str(button.key).startswith(rows)] == [f"{rows}{last}"]
    assert app.query_params[name] in ("newcomer 19", ["newcomer 29"])
    app.text_input(key=f"address-{name}").set_value("nobody").run()
    assert "Nothing in this list matches your search." in words(app)


def test_the_exam_is_ended(open_page_of: Open, untaken: SmallProject) -> None:
    app = open_page_of("exam")
    app.button(key="exam-off").click().run()
    assert exam(untaken) is None
    assert "This project has no exam" in words(app)


def test_people_shows_where_everybody_stands(open_page_of: Open, held: SmallProject) -> None:
    said = words(open_page_of("people"))
    for badge in ("exam: failed", "exam: not started", "exam: exempt"):
        assert badge in said
    end_exam(held.project, held.lead, now=NOW)
    assert "exam:" not in words(open_page_of("people"))


def test_results_show_misses_and_kappas_with_intervals_or_why_there_is_none(
    open_page_of: Open, settled: SmallProject
) -> None:
    settled.sql("UPDATE consensus SET relevance = 2 WHERE relevance IS NOT NULL")
    hold(settled)
    assert "No exam handed in yet." in words(open_page_of("exam"))
    take(settled, "Ben", lambda right: right)
    settled.sql("UPDATE consensus SET relevance = pair_id % 5 WHERE relevance IS NOT NULL")
    hold(settled)
    take(settled, "Ana", lambda right: {4: 1}.get(right, right))
    look_again(settled, "Ana", most=1)
    app = open_page_of("exam")
    said = words(app)
    # Wilson, 2 of 9, z = 1.959964: (.222222 + .213414 +- 1.959964 sqrt(.019204 + .011856)) / 1.426829.
    assert "<b>22.2 %</b><small>6.3 to 54.7 %</small>" in said
    assert "1 of 2 missed clips not yet looked at again" in said
    assert "both gave every pair the same single grade" in said
    assert "<b>11.1 %</b>" in said, "the mean of both"
    assert "11.8 % missed at first, mean kappa 0.49" in said
    assert len(app.get("vega_lite_chart")) == 3
    end_exam(settled.project, settled.lead, now=NOW)
    assert "Results so far" in words(open_page_of("exam"))


def test_my_work_shows_attempts_score_and_misses(open_page_of: Open, held: SmallProject) -> None:
    held.sql("UPDATE query SET text = 'A <i>cup</i> ' || query_id")
    grant_retake(held.project, held.lead, held.person("Ana").annotator_id, now=NOW)
    take(held, "Ana", lambda right: right)
    exchange.exam_act(held.project, held.person("Ana"), ExamAct.GO_ON, now=NOW)
    assert attempts(held, "Ana") == [2, 0]
    said = words(open_page_of("my_work", "Ana"))
    assert "You passed." in said
    assert "Attempt 1, 21 Sep 2026, 14:13: failed, missed 2 of 9 (22.2 %, at most 20 %)" in said
    assert "Attempt 2, 21 Sep 2026, 14:13: passed, missed 0 of 9 (0 %, at most 20 %)" in said
    assert "kappa" not in said.lower(), "kappas are for leads"
    assert "A &lt;i&gt;cup&lt;/i&gt;" in said


def test_my_work_of_somebody_who_has_not_graded_yet_tells_of_the_exam(open_page_of: Open, held: SmallProject) -> None:
    for name in ("Fay", "Gus"):
        held.annotators = [
            *held.annotators,
            add_person_with_password(held.project, OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=NOW),
        ]
        held.tokens = {**held.tokens, name: sign_in(held.project, name, PASSWORD, now=NOW)}
    have_read(held.project)
    take(held, "Fay", lambda right: {4: 1}.get(right, right))
    look_again(held, "Fay")
    assert "You did not pass. Your lead annotator sees it" in words(open_page_of("my_work", "Fay"))
    assert "The exam comes before your first pair" in words(open_page_of("my_work", "Gus"))


def test_a_kappa_that_is_undefined_says_why() -> None:
    assert wording.kappas(mark([(2, 2)], 20, 1)) == "Kappa is undefined: both gave every pair the same single grade."
