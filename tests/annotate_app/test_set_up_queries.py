"""The later steps of the page Set up over a real project: queries, candidates, people, and whether people can begin."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.session import auth
from backend.campaign.nouns import OPERATOR, Person, Role, Split
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries, drawn_queries
from backend.campaign.selection.queries.model import OwnFile
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import EncoderUnavailable
from reading import read
from support import MOMENTS, NOW, Judging

Open = Callable[[], AppTest]


@pytest.fixture
def project(corpus_project: Project) -> Project:
    return corpus_project


@pytest.fixture
def lead(project: Project) -> Person:
    there = [row.person for row in list_people(project, OPERATOR) if row.person.name == "Lea"]
    return there[0] if there else people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)


@pytest.fixture
def open_page(
    open_screen: Callable[..., AppTest], at_once: None, lead: Person, monkeypatch: pytest.MonkeyPatch
) -> Open:
    """Opens the page as the lead."""
    monkeypatch.setattr(auth, "current", lambda: lead)
    return lambda: open_screen("set_up")


def steps(app: AppTest) -> dict[str, str]:
    """What each step says of itself, by its title; those that are open are marked."""
    titles = [read(one.label.replace("**", "")).partition(" — ") for one in app.expander]
    marks = ["> " if one.proto.expanded else "" for one in app.expander]
    return {title.split(". ", 1)[1]: mark + told for (title, _, told), mark in zip(titles, marks, strict=True)}


def words(app: AppTest) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "html", "text")
    return read("\n".join(element.value for kind in kinds for element in app.get(kind))).replace("**", "")


def typed(app: AppTest, text: str, **fields: object) -> AppTest:
    app.text_area(key="queries_typed").set_value(text)
    for name, value in fields.items():
        next(one for one in (*app.number_input, *app.selectbox) if one.key == f"queries_{name}").set_value(value)
    return app.button(key="look_at_queries").click().run()


def of(project: Project) -> list[tuple[str, Split]]:
    return [(query.text, query.split) for query in drawn_queries(project, OPERATOR, most=99)]


def test_queries_are_looked_at_and_then_exactly_those_are_taken(open_page: Open, project: Project) -> None:
    app = open_page()
    assert steps(app)["Queries"] == "> none yet"
    assert steps(app)["Candidates"] == "none yet"
    assert "Add queries first." in words(app)
    typed(app, f"Somebody sings\n{MOMENTS[3].caption}\n", val=2, seed=5, split=Split.TEST)
    assert of(project) == []
    assert "4 queries: 2 test, 2 validation (2 of your own)" in words(app)
    assert "1 caption is left out: it has the text of a validation or test query." in words(app)
    app.button(key="take_queries").click().run()
    assert not app.exception
    assert steps(app)["Queries"] == "4 queries: 2 test, 2 validation"
    assert of(project)[:2] == [("Somebody sings", Split.TEST), (MOMENTS[3].caption, Split.TEST)]
    assert len(of(project)) == 4
    assert app.text_area(key="queries_typed").value == ""
    actors = project.store.db.conn.execute("SELECT DISTINCT actor FROM event WHERE kind LIKE 'queries_%'").fetchall()
    assert [row[0] for row in actors] == [list_people(project, OPERATOR)[0].person.annotator_id]


def test_every_problem_of_typed_queries_is_told_and_nothing_is_taken(open_page: Open, project: Project) -> None:
    app = typed(open_page(), "Somebody sings\n\nSomebody sings\n")
    assert "row 3: this text is also in row 1" in words(app)
    assert not [one for one in app.button if one.key == "take_queries"]
    assert "enter queries, one per line, choose a file, or enter how many" in words(typed(app, " "))
    assert of(project) == []


def test_blank_lines_are_left_out_and_a_very_long_query_warns(open_page: Open, project: Project) -> None:
    app = open_page()
    assert "Captions are not rewritten, so queries may contain names." in words(app), "before anything is drawn"
    app = typed(app, f"Somebody sings\n\n  \n{'a long walk ' * 200}\n")
    assert "2 queries: 2 test" in words(app)
    assert "1 query is very long (2,399 characters)." in words(app)


def test_a_pattern_that_is_refused_is_told_by_the_form(open_page: Open, project: Project) -> None:
    app = open_page()
    app.text_input(key="queries_show_of").set_value("(v")
    app = typed(app, "", val=2, spread="show")
    assert "This pattern is not a regular expression: (v" in words(app)
    assert of(project) == []


def test_a_query_is_edited_and_removed_on_the_page(open_page: Open, project: Project, lead: Person) -> None:
    own = OwnFile(b"A cat sits\nIt rains\n", "q.txt", Split.TEST)
    draw_queries(project, lead, own=own, now=NOW)
    cat, rain = drawn_queries(project, lead, most=9)
    app = open_page()
    app.text_input(key=f"query-text-{cat.query_id}").set_value("It rains")
    app.button(key=f"query-save-{cat.query_id}").click().run()
    assert "the project already has a test query with this text" in words(app)
    app.text_input(key=f"query-text-{cat.query_id}").set_value("A cat sleeps")
    app.selectbox(key=f"query-split-{cat.query_id}").set_value(Split.VAL)
    app.button(key=f"query-save-{cat.query_id}").click().run()
    app.button(key=f"query-remove-{rain.query_id}").click().run()
    assert of(project) == [("A cat sleeps", Split.VAL)]
    app.button(key="take_back_queries").click().run()
    assert steps(app)["Queries"] == "> none yet"


def test_candidates_are_chosen_after_what_they_come_to_was_told(
    open_page: Open, project: Project, lead: Person
) -> None:
    draw_queries(project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    app = open_page()
    assert steps(app)["Candidates"] == "> none yet"
    app.number_input(key="candidates_batch").set_value(5).run()
    assert {one.label: one.value for one in app.metric} == {
        **{"Queries": "3", "Pairs": "15", "Grades": "30"},
        "Work": "at least 1 min",
    }
    assert "No grades yet: this counts one viewing of each clip (2.5 s on average) per grade." in words(app)
    app.button(key="choose_candidates").click().run()
    assert not app.exception
    assert "Queries: 3. Candidates: 120. Pairs open for grading: 15." in words(app)
    assert steps(app)["Candidates"] == "> 15 pairs handed out"
    row = project.store.db.conn.execute("SELECT actor FROM event WHERE kind = 'candidates_chosen'").fetchone()
    assert row[0] == lead.annotator_id
    assert not [one for one in app.button if one.key == f"query-remove-{1}"]


def test_people_can_begin_once_there_are_pairs_and_two_annotators(open_page: Open, project: Project) -> None:
    draw_queries(project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    choose_candidates(project, OPERATOR, batch_size=5, now=NOW)
    app = open_page()
    assert steps(app)["People"] == "> none yet"
    assert steps(app)["Open"] == "2 more annotators are needed"
    assert "Two annotators grade every pair, and two more if they disagree. Invite at least four" in words(app)
    for name in ("Ana", "Ben"):
        app.text_input(key="new_name").set_value(name)
        app.selectbox(key="new_role").set_value("annotator")
        app.button(key="FormSubmitter:add_person-Add and invite").click().run()
        assert f"Send this link to {name}" in words(app)
    assert steps(app)["People"] == "> 2 annotators"
    assert steps(app)["Open"] == "annotators can grade"
    assert "Annotators: Ana, Ben" in words(app)


def test_once_pairs_are_graded_nothing_can_be_changed_here(judging: Judging, open_page: Open) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    app = open_page()
    assert steps(app)["Guideline and exam"] == "guideline version 1, no exam"
    assert not [
        one for one in app.button if str(one.key).startswith(("query-", "look_at_queries", "choose_candidates"))
    ]
    app.button(key="take_back_queries").click().run()
    assert "people have worked on them: 1 grades" in words(app)


def send_run(project: Project, name: str, spans: list[tuple[int, str, float, float]]) -> None:
    """A run as if it had been sent: for each query its spans, the best first."""
    folder = project.folder / "pooled"
    folder.mkdir(exist_ok=True)
    lines = [f"{query},{video},{start},{end},{1 / n}" for n, (query, video, start, end) in enumerate(spans, start=1)]
    (folder / name).write_text("\n".join(["query_id,video,start,end,score", *lines]) + "\n")


def test_runs_are_pooled_beside_captions_after_a_look_and_later_runs_add_to_them(
    open_page: Open, project: Project
) -> None:
    draw_queries(project, OPERATOR, own=OwnFile(b"Somebody reads\n", "q.txt", Split.TEST), now=NOW)
    (query,) = drawn_queries(project, OPERATOR, most=9)
    send_run(project, "first.csv", [(query.query_id, "v1", 1.0, 3.5), (query.query_id, "v2", 40.0, 50.0)])
    app = open_page()
    app.checkbox(key="candidates_captions").uncheck()
    app.button(key="choose_candidates").click().run()
    assert "choose where candidates come from: captions, frames, or runs" in words(app)
    app.multiselect(key="candidates_runs").set_value(["first.csv"]).run()
    assert {one.label: one.value for one in app.metric}["Pairs"] == "at most 20"
    app.button(key="look_at_runs").click().run()
    assert not app.exception
    assert "Queries: 1. New candidates: 2. Pairs that would be handed out: 2." in words(app)
    assert "Nothing is written yet." in words(app)
    assert steps(app)["Candidates"].endswith("none yet")
    app.button(key="pool_runs").click().run()
    assert "New moments, which are near none of the project: 1." in words(app)
    assert steps(app)["Candidates"] == "> 2 pairs handed out"

    send_run(project, "later.csv", [(query.query_id, "v2", 40.5, 50.0), (query.query_id, "v3", 20.0, 30.0)])
    app = open_page()
    app.button(key="look_at_runs").click().run()
    assert "choose a run first" in words(app)
    app.multiselect(key="candidates_runs").set_value(["later.csv"]).run()
    app.button(key="look_at_runs").click().run()
    assert app.table[0].value["Not handed out before"].tolist() == ["1"]
    app.button(key="pool_runs").click().run()
    assert "Pairs handed out: 1." in words(app)
    assert steps(app)["Candidates"] == "> 3 pairs handed out"


def test_a_run_that_cannot_be_pooled_is_told_by_file_and_row(open_page: Open, project: Project) -> None:
    draw_queries(project, OPERATOR, own=OwnFile(b"Somebody reads\n", "q.txt", Split.TEST), now=NOW)
    (query,) = drawn_queries(project, OPERATOR, most=9)
    send_run(project, "wrong.csv", [(query.query_id, "nowhere", 1.0, 3.5), (99, "v1", 1.0, 2.0)])
    app = open_page()
    app.multiselect(key="candidates_runs").set_value(["wrong.csv"]).run()
    app.button(key="choose_candidates").click().run()
    assert "nowhere" in words(app)
    assert "wrong.csv, row 2: " in words(app)
    assert "/wrong.csv" not in words(app)
    assert "Nothing was changed." in words(app)
    assert steps(app)["Candidates"].endswith("none yet")


def test_frames_find_candidates_where_a_model_is_there_and_say_so_where_not(
    open_page: Open, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(name: str, *arguments: object) -> None:
        raise EncoderUnavailable(f"{name} cannot be had")

    monkeypatch.setattr("backend.campaign.selection.candidates.pooling.load_clip", nowhere)
    draw_queries(project, OPERATOR, own=OwnFile(b"Somebody reads\n", "q.txt", Split.TEST), now=NOW)
    app = open_page()
    app.text_input(key="candidates_visual").set_value("no/such-model").run()
    app.button(key="choose_candidates").click().run()
    assert not app.exception
    assert "Pooling candidates" in words(app)
    assert "no/such-model cannot be had" in words(app)
    assert "Nothing was changed." in words(app)
    assert steps(app)["Candidates"].endswith("none yet")


def test_further_queries_are_looked_at_beside_the_choice_of_candidates(open_page: Open, project: Project) -> None:
    draw_queries(project, OPERATOR, own=OwnFile(b"Somebody reads\n", "q.txt", Split.TEST), now=NOW)
    app = typed(open_page(), "Somebody sings")
    assert not app.exception
    app.button(key="take_queries").click().run()
    assert [text for text, _ in of(project)] == ["Somebody reads", "Somebody sings"]
