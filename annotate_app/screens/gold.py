"""The lead's page "Gold": gold questions, annotators' answers to them, and annotators who are paused for wrong answers.

Gold questions are pairs with a known grade, hidden among the pairs that annotators grade.
"""

import time
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, trn
from annotate_app.plain import plain
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.long_list import ListColumn, ListRow, long_list, rows_of, searched
from annotate_app.shared.review_clip import review_clip
from backend.campaign.judging.staffing import unpause_person
from backend.campaign.nouns import Person
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.answers.rules import GoldExclusion
from backend.campaign.qualification.gold import questions
from backend.campaign.review.queries import query_pairs
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import GoldSettings
from backend.core.ids import AnnotatorId

PER_PAGE = 10
_ANSWER = "answer"
_WIDTHS = (2.6, 5, 1.6)
_LEFT_OUT = {
    GoldExclusion.DISCARDED: marked("discarded"),
    GoldExclusion.NO_CLIP: marked("without a clip"),
    GoldExclusion.EXAMPLE: marked("shown in the guideline"),
    GoldExclusion.CORRECTABLE: marked("still open to corrections"),
    GoldExclusion.ROUNDED: marked("with a rounded mean"),
}


def page() -> None:
    """Draw the current gold questions, the annotators with their accuracy and answers, and the settings."""
    project, lead, _ = look.lead_page("Gold")
    look.outcome("gold")
    report, people = questions.gold_results(project, lead)
    if not report.settings.on and not any(person.answers for person in people):
        st.markdown(
            tr(
                "Gold questions are pairs whose grade is known. They look like any other pair, and their grades "
                "are never exported. Annotators who often miss gold pairs get a friendly warning, then are paused. "
                "Tell people beforehand that you use gold questions, but not which pairs they are."
            )
        )
        _left_out(project, lead)
        _form(report.settings)
        return
    _facts(report)
    of_people, settings = address_state.tabs([marked("Annotators"), marked("Settings")])
    with of_people:
        if not people:
            st.info(tr("There are no annotators yet."))
        people.sort(key=lambda person: person.pause is None)  # paused annotators need a lead, so they come first
        listed = searched(people, lambda person: person.person.name, "person", name="people", page="people-page")
        for person in listed.rows:
            with st.container(key=f"gold-person-{person.person.annotator_id}"):
                _person(person, report.settings)
        if people:
            listed.end()
        _answers(project, lead, people)
    with settings:
        _left_out(project, lead)
        _form(report.settings)
        if report.settings.on:
            st.button(
                tr("End gold questions"),
                key="gold-off",
                on_click=end,
                help=tr("Answers stay on record. Paused annotators stay paused."),
            )


@look.lead_callback("gold_problem")
def set_gold(project: Project, lead: Person) -> None:
    """Store the settings typed in the form, and choose the gold questions anew."""
    state = st.session_state
    options = questions.GoldOptions(
        share=float(state["gold_share"]) / 100,
        window=int(state["gold_window"]),
        fewest=int(state["gold_fewest"]),
        warn=float(state["gold_warn"]),
        pause=float(state["gold_pause"]),
    )
    upload = state.get("gold_key_file")
    file = KeyFile(upload.getvalue(), upload.name) if upload is not None else None
    report = questions.set_gold(project, lead, options, file, pairs=int(state["gold_pairs"]), now=time.time())
    state["gold_done"] = tr("Gold questions now come from {pairs}.", pairs=wording.count_of(report.pairs, "pair"))


@look.lead_callback("gold_problem")
def end(project: Project, lead: Person) -> None:
    """Stop using gold questions."""
    questions.end_gold(project, lead, now=time.time())


@look.lead_callback("gold_problem")
def go_on(project: Project, lead: Person, annotator_id: AnnotatorId) -> None:
    """End an annotator's pause. Their accuracy on gold questions is counted from zero again."""
    unpause_person(project, lead, annotator_id, now=time.time())


def _facts(report: questions.GoldReport) -> None:
    settings = report.settings
    if not settings.on:
        st.info(tr("Gold questions are off. Earlier answers are below."))
        return
    grades = ", ".join(
        tr("{count:,} of grade {grade}", count=count, grade=grade) for grade, count in enumerate(report.grades) if count
    )
    st.markdown(
        tr(
            "**{percent} of everybody's pairs** are gold questions, chosen from {pairs}: {grades}. Accuracy "
            "counts the last {window} answers, once there are {fewest}. Below {warn}, annotators get a "
            "friendly warning. Below {pause}, or below {warn} after a warning, they are paused.",
            percent=wording.percent(100 * settings.share),
            pairs=wording.count_of(report.pairs, "pair"),
            grades=grades,
            window=settings.window,
            fewest=settings.fewest,
            warn=wording.percent(settings.warn),
            pause=wording.percent(settings.pause),
        )
    )
    if report.constant_right >= settings.warn:
        st.warning(
            tr(
                "An annotator who always gives {constant} gets {percent} right and no warning. Raise the "
                "warning level, or add pairs of other grades.",
                constant=report.constant,
                percent=wording.percent(report.constant_right),
            )
        )


def _left_out(project: Project, lead: Person) -> None:
    """Draw how many settled pairs (they need no more grades) cannot be gold questions, and why."""
    counts = questions.gold_left_out(project, lead, now=time.time())
    if not counts:
        return
    pairs = trn("{n} settled pair is left out:", "{n} settled pairs are left out:", sum(counts.values()))
    reasons = (f"{count:,} {tr(_LEFT_OUT[why])}" for why, count in counts.items())
    st.caption(f"{pairs} {', '.join(reasons)}.")


def _person(gold_person: questions.GoldPerson, settings: GoldSettings) -> None:
    person = gold_person.person
    name, words, action = st.columns(_WIDTHS, vertical_alignment="center")
    with name.container(horizontal=True, vertical_alignment="center"):
        st.text(person.name, width="content")
        if gold_person.pause is not None:
            st.badge(tr("paused"), color="red")
        elif gold_person.findings and gold_person.findings[0].kind == "warned":
            st.badge(tr("warned"), color="orange")
    words.markdown(plain(told(gold_person, settings)))
    if gold_person.pause is not None:
        action.button(
            tr("Resume"),
            key=f"gold-go-on-{person.annotator_id}",
            width="stretch",
            help=tr("They get pairs again. Their accuracy is counted afresh."),
            on_click=go_on,
            args=(person.annotator_id,),
        )


def told(gold_person: questions.GoldPerson, settings: GoldSettings) -> str:
    """Return a sentence with an annotator's accuracy on gold questions or, if they are paused, since when and why."""
    if gold_person.pause is not None:
        since = wording.when(gold_person.pause.at, st.context.timezone)
        return tr(
            "Since {since}, by {lead}: {reason}",
            since=since,
            lead=gold_person.pause.by or tr("a rule"),
            reason=gold_person.pause.reason,
        )
    if not gold_person.answers:
        return tr("No answer yet.")
    in_all = wording.count_of(len(gold_person.answers), "answer")
    left = "" if gold_person.left else tr(" They have seen every gold pair. Add more.")
    if gold_person.accuracy is None:
        afresh = tr(" since the last warning or pause") if gold_person.findings else ""
        return tr(
            "{counted} of {fewest} answers needed{afresh}, {in_all} in all.{left}",
            counted=gold_person.counted,
            fewest=settings.fewest,
            afresh=afresh,
            in_all=in_all,
            left=left,
        )
    return tr(
        "{within} of the last {counted} are right ({percent}), {in_all} in all.{left}",
        within=gold_person.within,
        counted=gold_person.counted,
        percent=wording.percent(gold_person.accuracy),
        in_all=in_all,
        left=left,
    )


def _answers(project: Project, lead: Person, people: list[questions.GoldPerson]) -> None:
    """Draw one answer of an annotator to a gold question, with its clip, beside the list of their answers."""
    people_by_id = {str(one.person.annotator_id): one for one in people if one.answers}
    if not people_by_id:
        return
    st.header(tr("Answers"), anchor=False)
    order = sorted(
        people_by_id, key=lambda who: (people_by_id[who].pause is None, people_by_id[who].person.name.casefold())
    )
    answer_column, list_column = st.columns([3, 2], gap="medium")
    with list_column:
        names = {who: people_by_id[who].person.name for who in order}
        who = address_state.choice(tr("Annotator"), "who", names, clears=("page", _ANSWER), box=True)
        listed = sorted(people_by_id[who].answers, key=lambda answer: (answer.within, -answer.answer.gold_answer_id))
        answer_in_address = address_state.read_number(_ANSWER)
        chosen = next((one for one in listed if one.answer.gold_answer_id == answer_in_address), listed[0])
        _list(listed, chosen.answer.gold_answer_id)
    with answer_column:
        _answer(project, lead, chosen)


def _list(listed: list[questions.GoldAnswer], current: int) -> None:
    rows = rows_of(listed, lambda answer: ListRow(answer.answer.gold_answer_id, (_row(answer),)))
    columns = (ListColumn(tr("Answers, wrong ones first")),)
    long_list(
        tr("Answers"), columns, len(listed), rows, opens=_ANSWER, noun="answer", per_page=PER_PAGE, current=current
    )


def _row(answer: questions.GoldAnswer) -> str:
    verdict = tr("right") if answer.within else tr("wrong")
    given = tr(
        "gave {grade}, known is {grade_2}: {verdict}",
        grade=look.grade_mark(answer.answer.own),
        grade_2=look.grade_mark(answer.answer.right),
        verdict=verdict,
    )
    return f"{escape(answer.answer.query)}<small class='rr-of-case'>{given}</small>"


def _answer(project: Project, lead: Person, gold_answer: questions.GoldAnswer) -> None:
    chosen, scale = gold_answer.answer, project.campaign.scale
    look.text_heading(chosen.query)
    st.caption(wording.when(chosen.at, st.context.timezone))
    pair = next((pair for pair in query_pairs(project, lead, chosen.query_id) if pair.pair == chosen.pair), None)
    if pair is not None:
        review_clip(pair)
        st.caption(plain(wording.moment(pair)))
    rows = [
        (name, f"{look.grade_mark(grade)} {escape(scale.label(grade).lower())}")
        for name, grade in ((tr("Given"), chosen.own), (tr("Known"), chosen.right))
    ]
    st.html(look.table(("", tr("Grade", _context="noun")), rows))
    if chosen.note:
        st.markdown(tr("Note: “{note}”", note=plain(chosen.note)))
    st.caption(tr("Is the known grade wrong? Adjudicate the pair on Disputes, or use your own answer key from a file."))


def _form(settings: GoldSettings) -> None:
    with st.form("gold_form"):
        columns = st.columns(3)
        columns[0].number_input(
            tr("Share of everybody's pairs, %"), 0.5, 50.0, 100 * settings.share, 0.5, "%.1f", key="gold_share"
        )
        columns[1].number_input(tr("Gold pairs, at most"), 1, 5000, questions.PAIRS, key="gold_pairs")
        columns[2].number_input(tr("Answers that accuracy counts"), 1, 200, settings.window, key="gold_window")
        columns = st.columns(3)
        columns[0].number_input(tr("Answers before a first warning"), 1, 200, settings.fewest, key="gold_fewest")
        columns[1].number_input(tr("Warn below, %"), 0.0, 100.0, settings.warn, 1.0, "%.0f", key="gold_warn")
        columns[2].number_input(tr("Pause below, %"), 0.0, 100.0, settings.pause, 1.0, "%.0f", key="gold_pause")
        st.file_uploader(
            tr("Your own answer key, instead of a draw (optional)"),
            type=["csv"],
            key="gold_key_file",
            max_upload_size=10,
        )
        st.form_submit_button(
            tr("Choose pairs again") if settings.on else tr("Start gold questions"), type="primary", on_click=set_gold
        )
    st.caption(
        tr(
            "Gold pairs are drawn evenly over the grades, from pairs that a lead adjudicated or whose grades "
            "need no rounding. Your own answer key is a CSV file with the columns pair_id and grade."
        )
    )
