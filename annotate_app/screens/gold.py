"""The lead's page "Gold": pairs with a known grade among everybody's work, how people did, who is paused and why."""

import time
from html import escape

import streamlit as st

from annotate_app.plain import plain
from annotate_app.widgets import address_state, look, tables, wording
from annotate_app.widgets.long_list import ListColumn, ListRow, long_list
from annotate_app.widgets.review_clip import review_clip
from annotate_app.widgets.searched import searched
from backend import api
from backend.campaign.nouns import Person
from backend.campaign.project.model import GoldSettings
from backend.ground.ids import AnnotatorId

PER_PAGE = 10
_ANSWER = "answer"
_WIDTHS = (2.6, 5, 1.6)


def page() -> None:
    """Whether gold is on and what it is chosen from, then people with their answers, then the settings."""
    project, lead, _ = look.lead_page("Gold")
    look.refusal("gold_problem")
    if done := st.session_state.pop("gold_done", ""):
        st.success(plain(done))
    report, people = api.gold_results(project, lead)
    if not report.settings.on and not any(one.answers for one in people):
        st.markdown(
            "Gold is pairs whose grade is known, among everybody's work: nothing tells them apart, and their grades "
            "are never exported. Whose grades are often far from what is known is told kindly, then paused until you "
            "let them go on. Tell people beforehand that it is done, not where."
        )
        _form(report.settings)
        return
    _facts(report)
    of_people, settings = address_state.tabs(["People", "Settings"])
    with of_people:
        if not people:
            st.info("There are no annotators yet.")
        people.sort(key=lambda one: one.pause is None)  # who waits for a lead comes first
        listed = searched(people, lambda one: one.person.name, "person", name="people", page="people-page")
        for one in listed.rows:
            with st.container(key=f"gold-person-{one.person.annotator_id}"):
                _person(one, report.settings)
        if people:
            listed.end()
        _answers(project, lead, people)
    with settings:
        _form(report.settings)
        if report.settings.on:
            st.button(
                "No gold any more", key="gold-off", on_click=end, help="Answers stay in the record; pauses stand."
            )


def set_gold() -> None:
    """Callback of the form."""
    state = st.session_state

    def act(project: api.Project, lead: Person) -> None:
        options = api.GoldOptions(
            share=float(state["gold_share"]) / 100,
            window=int(state["gold_window"]),
            fewest=int(state["gold_fewest"]),
            warn=float(state["gold_warn"]),
            pause=float(state["gold_pause"]),
        )
        report = api.set_gold(project, lead, options, pairs=int(state["gold_pairs"]), now=time.time())
        state["gold_done"] = f"Gold is chosen from {wording.count_of(report.pairs, 'pair')} from now on."

    state["gold_problem"] = look.as_lead(act)


def end() -> None:
    """Callback of the button that ends it."""
    st.session_state["gold_problem"] = look.as_lead(lambda project, lead: api.end_gold(project, lead, now=time.time()))


def go_on(annotator_id: AnnotatorId) -> None:
    """Callback of a row's button: a paused person is handed pairs again, and their accuracy counts afresh."""
    st.session_state["gold_problem"] = look.as_lead(
        lambda project, lead: api.unpause_person(project, lead, annotator_id, now=time.time())
    )


def _facts(report: api.GoldReport) -> None:
    settings = report.settings
    if not settings.on:
        st.info("No gold is mixed into anybody's work just now. These are the answers from before.")
        return
    grades = ", ".join(f"{count:,} of grade {grade}" for grade, count in enumerate(report.grades) if count)
    st.markdown(
        f"**{wording.percent(100 * settings.share)} of everybody's pairs**, chosen from "
        f"{wording.count_of(report.pairs, 'pair')} whose grade is known: {grades}. Accuracy is that of the last "
        f"{settings.window} answers, from {settings.fewest} on: below {wording.percent(settings.warn)} somebody is "
        f"told kindly, below {wording.percent(settings.pause)}, or below {wording.percent(settings.warn)} again, "
        "paused."
    )
    if report.constant_right >= settings.warn:
        st.warning(
            f"Whoever always gives {report.constant} agrees with {wording.percent(report.constant_right)} of it, "
            "and is not told: raise the level, or bring pairs of more grades."
        )


def _person(one: api.GoldPerson, settings: GoldSettings) -> None:
    person = one.person
    name, words, action = st.columns(_WIDTHS, vertical_alignment="center")
    with name.container(horizontal=True, vertical_alignment="center"):
        st.text(person.name, width="content")
        if one.pause is not None:
            st.badge("paused", color="red")
        elif one.findings and one.findings[0].kind == "warned":
            st.badge("told", color="orange")
    words.markdown(plain(told(one, settings)))
    if one.pause is not None:
        action.button(
            "Go on",
            key=f"gold-go-on-{person.annotator_id}",
            width="stretch",
            help="They are handed pairs again; accuracy counts afresh.",
            on_click=go_on,
            args=(person.annotator_id,),
        )


def told(one: api.GoldPerson, settings: GoldSettings) -> str:
    """How somebody stands, in words."""
    if one.pause is not None:
        since = wording.when(one.pause.at, st.context.timezone)
        return f"Since {since}, by {one.pause.by or 'a rule'}: {one.pause.reason}"
    if not one.answers:
        return "No answer yet."
    in_all = wording.count_of(len(one.answers), "answer")
    left = "" if one.left else " They have met every gold pair: bring more."
    if one.accuracy is None:
        afresh = " since the last word" if one.findings else ""
        return f"{one.counted} of {settings.fewest} answers needed{afresh}; {in_all} in all.{left}"
    return f"{one.within} of the last {one.counted} agree ({wording.percent(one.accuracy)}); {in_all} in all.{left}"


def _answers(project: api.Project, lead: Person, people: list[api.GoldPerson]) -> None:
    """One answer of an annotator with its clip, and the list that it is from beside it."""
    there = {str(one.person.annotator_id): one for one in people if one.answers}
    if not there:
        return
    st.subheader("Answers", anchor=False)
    order = sorted(there, key=lambda who: (there[who].pause is None, there[who].person.name.casefold()))
    shown, beside = st.columns([3, 2], gap="medium")
    with beside:
        names = {who: there[who].person.name for who in order}
        who = address_state.choice("Annotator", "who", names, clears=("page", _ANSWER), box=True)
        listed = sorted(there[who].answers, key=lambda answer: (answer.within, -answer.answer.gold_answer_id))
        asked = address_state.read_number(_ANSWER)
        chosen = next((one for one in listed if one.answer.gold_answer_id == asked), listed[0])
        _list(listed, chosen.answer.gold_answer_id)
    with shown:
        _answer(project, lead, chosen)


def _list(listed: list[api.GoldAnswer], current: int) -> None:
    def rows(first: int, most: int) -> list[ListRow]:
        return [ListRow(one.answer.gold_answer_id, (_row(one),)) for one in listed[first : first + most]]

    columns = (ListColumn("Answers, those far off first"),)
    long_list("Answers", columns, len(listed), rows, opens=_ANSWER, noun="answer", per_page=PER_PAGE, current=current)


def _row(one: api.GoldAnswer) -> str:
    verdict = "agrees" if one.within else "far off"
    given = f"gave {tables.grade(one.answer.own)} known {tables.grade(one.answer.right)} {verdict}"
    return f"{escape(one.answer.query)}<small class='rr-of-case'>{given}</small>"


def _answer(project: api.Project, lead: Person, one: api.GoldAnswer) -> None:
    chosen, scale = one.answer, project.campaign.scale
    st.markdown(f"**{plain(chosen.query)}**  \n{wording.when(chosen.at, st.context.timezone)}")
    pair = next((pair for pair in api.query_pairs(project, lead, chosen.query_id) if pair.pair == chosen.pair), None)
    if pair is not None:
        review_clip(pair)
        st.caption(plain(wording.moment(pair)))
    rows = [
        (name, f"{tables.grade(grade)} {escape(scale.label(grade).lower())}")
        for name, grade in (("Given", chosen.own), ("Known", chosen.right))
    ]
    st.html(tables.table(("", "Grade"), rows))
    if chosen.note:
        st.markdown(f"Note: “{plain(chosen.note)}”")
    st.caption("Is the known grade wrong? A key of your own, from a file, says what is right, or leaves the pair out.")


def _form(settings: GoldSettings) -> None:
    with st.form("gold_form"):
        columns = st.columns(3)
        columns[0].number_input(
            "Share of everybody's pairs, %", 0.5, 50.0, 100 * settings.share, 0.5, "%.1f", key="gold_share"
        )
        columns[1].number_input("Pairs to choose from, at most", 1, 5000, api.GOLD_PAIRS, key="gold_pairs")
        columns[2].number_input("Accuracy over the last answers", 1, 200, settings.window, key="gold_window")
        columns = st.columns(3)
        columns[0].number_input("Answers before anything follows", 1, 200, settings.fewest, key="gold_fewest")
        columns[1].number_input("Tell below, %", 0.0, 100.0, settings.warn, 1.0, "%.0f", key="gold_warn")
        columns[2].number_input("Pause below, %", 0.0, 100.0, settings.pause, 1.0, "%.0f", key="gold_pause")
        st.form_submit_button("Choose pairs anew" if settings.on else "Mix gold in", type="primary", on_click=set_gold)
    st.caption(
        "Drawn from pairs that a lead decided, or whose relevance is their grades' mean without rounding, as evenly "
        "over the grades as there are. A key of your own comes from a file: `reelrank gold set DIR --from KEY.csv`."
    )
