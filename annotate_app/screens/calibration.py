"""The lead's page "Calibration": start and end a calibration round, and read answers and notes.

In such a round, all annotators grade the same few pairs and then discuss them. The grades do not count.
"""

import time
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.shared import address_state, look, results, wording
from annotate_app.shared.long_list import choose_queries, chosen_queries, clear_queries
from annotate_app.shared.review_clip import review_clip
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import CalibrationPair, CalibrationRound
from backend.campaign.qualification.exam.setting import end_trial, start_trial, trial_csv, trial_round
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

_QUERIES, _PAIRS = 3, 5
_NAME = "trial"


def page() -> None:
    """Draw the latest calibration round and, unless it is open, the form that starts another."""
    project, lead, _ = look.lead_page("Calibration")
    look.outcome("trial")
    latest_round = trial_round(project, lead)
    if latest_round is None or latest_round.ended_at is not None:
        st.markdown(
            tr(
                "Use a calibration round to improve the guideline. Annotators grade a few pairs blind and write "
                "notes (key N); then you discuss the pairs they disagree on most. These grades never count "
                "and are never released."
            )
        )
        with st.expander(tr("Start a calibration round")):
            _form(project, lead)
    if latest_round is not None:
        _round(project, lead, latest_round)


@look.lead_callback("trial_problem")
def start(project: Project, lead: Person) -> None:
    """Start a calibration round with the values typed in the form."""
    state = st.session_state
    report = start_trial(
        project,
        lead,
        queries=int(state["trial_count"]),
        pairs=int(state["trial_pairs"]),
        seed=int(state["trial_seed"]),
        chosen=chosen_queries(_NAME),
        now=time.time(),
    )
    pairs, queries = wording.count_of(report.items, "pair"), wording.count_of(report.queries, "query")
    message = tr(
        "Calibration round started: {pairs} from {queries}. {short}", pairs=pairs, queries=queries, short=report.short
    )
    results.leave(_NAME, message.strip())
    clear_queries(_NAME)


@look.lead_callback("trial_problem")
def end(project: Project, lead: Person) -> None:
    """End the open calibration round, so that annotators stop grading its pairs."""
    end_trial(project, lead, now=time.time())
    results.leave(_NAME, tr("Calibration round ended."))


def _form(project: Project, lead: Person) -> None:
    columns = st.columns(3)
    columns[0].number_input(tr("Queries"), 1, 50, _QUERIES, key="trial_count")
    columns[1].number_input(tr("Pairs per query"), 1, 40, _PAIRS, key="trial_pairs")
    columns[2].number_input(tr("Random seed"), 0, 2**31, 1, key="trial_seed")
    search, chosen = st.columns(2)
    labels = (tr("Search queries"), tr("Chosen queries"))
    choose_queries(project, lead, _NAME, labels, (search, chosen), none=tr("None: queries are drawn at random"))
    st.button(tr("Start calibration round"), key="trial-begin", on_click=start)
    st.caption(
        tr(
            "The round uses pairs that nobody has graded, and reserves them until it ends. After that, "
            "annotators who did not answer them grade them as usual."
        )
    )


def _round(project: Project, lead: Person, current_round: CalibrationRound) -> None:
    is_open, zone = current_round.ended_at is None, st.context.timezone
    queries = len({pair.query_id for pair in current_round.pairs})
    st.markdown(
        tr(
            "**{pairs} from {queries}**, started by {lead}, {when}; ",
            pairs=wording.count_of(len(current_round.pairs), "pair"),
            queries=wording.count_of(queries, "query"),
            lead=plain(current_round.set_by or tr("the command line")),
            when=wording.when(current_round.set_at, zone),
        )
        + (tr("open.") if is_open else tr("ended {when}.", when=wording.when(current_round.ended_at, zone)))
    )
    everybody = [answerer for answerer in current_round.people if answerer.answered == len(current_round.pairs)]
    if current_round.people and len(everybody) == len(current_round.people):
        st.warning(
            tr(
                "Every annotator has answered all of these pairs, so nobody is left to grade them afterwards. "
                "Invite more annotators."
            ),
            icon=":material/group_off:",
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_open:
            st.button(tr("End calibration round"), key="trial-end", on_click=end)
        hidden = st.checkbox(tr("Hide names"), key="trial_hide")
        make = partial(trial_csv, project, lead, names=not hidden)
        look.csv_download(tr("Answers as CSV"), make, "trial.csv", "trial-csv")
    names = current_round.called(names=not hidden)
    st.html(_people(current_round, [names[answerer.annotator_id] for answerer in current_round.people]))
    st.html(_overview(current_round))
    pairs = {pair.pair: pair for pair in current_round.pairs}
    if not pairs:
        return
    labels: dict[str, str] = {key: _label(pair) for key, pair in pairs.items()}
    pair = pairs[PairKey(address_state.choice(tr("Pair"), "trial", labels, box=True))]
    picture, words = st.columns([2, 3], gap="medium")
    with picture:
        review_clip(pair)
        st.caption(tr("{moment} · rank {rank}", moment=plain(wording.moment(pair)), rank=pair.rank))
    with words:
        look.text_heading(pair.query)
        rows = [
            (
                escape(names[answerer.annotator_id]),
                look.grade_mark(answerer.grade),
                escape(answerer.note) or tr("no note"),
            )
            for answerer in pair.answers
        ]
        st.html(look.table((tr("Annotator"), tr("Grade", _context="noun"), tr("Note")), rows))


def _people(current_round: CalibrationRound, names: list[str]) -> str:
    rows = [
        (
            escape(name),
            tr("{answered} of {pairs}", answered=person.answered, pairs=len(current_round.pairs)),
            tr("yes") if person.finished else tr("not yet"),
        )
        for name, person in zip(names, current_round.people, strict=True)
    ]
    return look.table((tr("Annotator"), tr("Answered"), tr("Finished")), rows)


def _overview(current_round: CalibrationRound) -> str:
    rows = [
        (
            str(pair.spread),
            " ".join(str(answer.grade) for answer in pair.answers) or tr("none yet"),
            str(pair.notes),
            str(pair.rank),
            escape(pair.query),
        )
        for pair in current_round.pairs
    ]
    return look.table((tr("Spread"), tr("Grades"), tr("Notes"), tr("Rank"), tr("Query")), rows)


def _label(pair: CalibrationPair) -> str:
    grades = " ".join(str(answer.grade) for answer in pair.answers) or tr("no grade yet")
    return tr("{grades} · rank {rank} · {query}", grades=grades, rank=pair.rank, query=pair.query)
