"""The lead's page "Agreement": how far people agree, by person, by time and by query, with what it rests on."""

import logging
import time
from concurrent.futures import Future
from dataclasses import astuple, dataclass

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.screens.agreement import view as agreement_view
from annotate_app.server import agreement_worker
from annotate_app.session import auth
from annotate_app.shared import address_state, look, wording
from backend.campaign.monitoring.quality.agreement_board import agreement_board, agreement_version
from backend.campaign.monitoring.quality.model import WHOLE, AggregatorReport, AgreementBoard, BoardPart
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ReelRankError

_LOG = logging.getLogger(__name__)
_HELD_S = 60.0
"""While people grade, the board would be another one at every click: so long it stays as it is."""
_PARTS = {
    marked("Figures"): agreement_view.figures,
    marked("Grades"): agreement_view.grades,
    marked("People"): agreement_view.people,
    marked("Over time"): agreement_view.over_time,
    marked("Queries"): agreement_view.queries,
}
_OTHERS = marked("Other rules")


@dataclass(slots=True)
class _Taken:
    """A board as it was at some time, and the same with intervals once they are there."""

    board: AgreementBoard
    version: str
    at: float
    surer: "Future[AgreementBoard]"


def page() -> None:
    """What it is over, then its parts."""
    project, lead, _ = look.lead_page("Agreement")
    whole = _taken(project, lead, WHOLE).board
    if not whole.summary["rows"]:
        st.info(
            tr("Nobody has graded anything yet. Figures appear here with the first grades."), icon=":material/balance:"
        )
        return
    taken = _taken(project, lead, _chosen(whole))
    if not taken.board.summary["rows"]:
        st.info(tr("None of the graded pairs is of this part: choose other pairs."), icon=":material/filter_alt:")
        return
    found = _surest(taken)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_over(found, taken), width="stretch")
        if agreement_version(project, lead) != taken.version:
            st.button(
                tr("Bring up to date"), key="agreement_anew", on_click=bring_up_to_date, icon=":material/refresh:"
            )
    names = {name: tr(name) for name in (*_PARTS, _OTHERS)}
    part = address_state.choice(tr("Part"), "part", names, label_visibility="collapsed")
    if part == _OTHERS:
        _others()
    else:
        _PARTS[part](found, agreement_worker.draw)
    auth.fragment(_wait_for, run_every=None if taken.surer.done() else 0.5)(taken)


def bring_up_to_date() -> None:
    """Callback of the button: the next run takes the board anew."""
    st.session_state.pop("agreement", None)


def compare() -> None:
    """Callback of the button: starts the worker unless it is at it already."""
    running: Future[AggregatorReport] | None = st.session_state.get("others")
    if running is not None and not running.done():
        return

    def begin(project: Project, lead: Person) -> None:
        st.session_state["others"] = agreement_worker.start_others(project.folder, lead)

    st.session_state["others_problem"] = look.as_lead(begin)


def _others() -> None:
    """What other ways than the rule would make of the grades, when somebody asks for it."""
    agreement_view.what_others_are()
    look.refusal("others_problem")
    future: Future[AggregatorReport] | None = st.session_state.get("others")
    busy = future is not None and not future.done()
    st.button(tr("Compare"), key="compare_others", on_click=compare, disabled=busy, type="primary")
    if future is not None:
        auth.fragment(_compared, run_every=1.0 if busy else None)(future, busy)


def _compared(future: "Future[AggregatorReport]", was_busy: bool) -> None:
    if not future.done():
        st.info(tr("Being compared: seconds for a quarter of a million grades. You can go on working."))
        return
    if was_busy:
        st.rerun()
    error = future.exception()
    if error is None:
        agreement_view.others(future.result())
    elif isinstance(error, ReelRankError):
        st.error(plain(retold(error)))
    else:
        _LOG.error("Comparing the rule with others failed", exc_info=error)
        st.error(tr("The comparison could not be made. The server's log says why; nothing was changed."))


def _chosen(whole: AgreementBoard) -> BoardPart:
    """Which pairs the lead wants to look at: all of them, unless they narrow it down."""
    names = [part.part for part in whole.settled[1:]]
    with st.popover(tr("Which pairs"), icon=":material/filter_alt:"):
        split = address_state.choice(tr("Split"), "split", {"": tr("All"), **{name: name for name in names}}, box=True)
        texts = sorted({one.name for one in whole.queries})
        query = address_state.choice(tr("Query"), "of", {"": tr("All"), **{text: text for text in texts}}, box=True)
        first = last = ""
        if whole.days:
            graded = {"first": whole.days[0].name, "last": whole.days[-1].name}
            first = address_state.day(tr("First graded on or after"), "from", **graded)
            last = address_state.day(tr("First graded on or before"), "to", **graded)
    return BoardPart(split, query, first, last)


def _taken(project: Project, lead: Person, part: BoardPart) -> _Taken:
    """The board of this visit: taken anew when it is older than a minute and would be another one."""
    boards: dict[BoardPart, _Taken] = st.session_state.setdefault("agreement", {})
    held, version = boards.get(part), agreement_version(project, lead)
    if held is None or (held.version != version and time.time() - held.at > _HELD_S):
        with st.spinner(tr("Counting")):
            held = boards[part] = _board(project, lead, part, str(project.folder), version, astuple(part))
    return held


@st.cache_resource(max_entries=9, show_spinner=False)
def _board(
    _project: Project, _lead: Person, _part: BoardPart, folder: str, version: str, part: tuple[str, ...]
) -> _Taken:
    """Everybody who looks at the same grades shares it. Figures take a moment; their intervals come later."""
    found = agreement_board(_project, _lead, _part, resamples=0)
    return _Taken(found, version, time.time(), agreement_worker.start_board(_project.folder, _lead, _part))


def _surest(taken: _Taken) -> AgreementBoard:
    """With intervals once they are there; what was graded in the seconds between counts in it too."""
    if not taken.surer.done() or taken.surer.exception() is not None:
        return taken.board
    return taken.surer.result()


def _wait_for(taken: _Taken) -> None:
    """Looks every now and then whether the intervals are there; then the page is drawn with them."""
    if not taken.surer.done():
        st.caption(tr("Intervals are being computed; they appear here."))
        return
    error = taken.surer.exception()
    if isinstance(error, ReelRankError):
        st.error(plain(retold(error)))
    elif error is not None:
        # The worker is another process: without this its failure would appear nowhere.
        _LOG.error("Computing the intervals failed", exc_info=error)
        st.error(tr("The intervals could not be computed. The server's log says why; the figures are right without."))
    elif st.session_state.get("agreement_surer") is not taken.surer:
        st.session_state["agreement_surer"] = taken.surer
        st.rerun()


def _over(found: AgreementBoard, taken: _Taken) -> str:
    """What the board is over, in a sentence or two."""
    counted = {"grade": found.summary["rows"], "person": found.summary["annotators"], "pair": found.summary["pairs"]}
    grades, people, pairs = (wording.count_of(count, noun) for noun, count in counted.items())
    said = tr(
        "{grades} that count, by {people}, of {pairs}, as of {when}.",
        grades=grades,
        people=people,
        pairs=pairs,
        when=wording.when(taken.at, st.context.timezone),
    )
    if found.imported:
        said += tr(
            " {imported:,} of them are of earlier campaigns: they count here, but for days and weeks.",
            imported=found.imported,
        )
    part = found.part
    narrowed = (
        *([part.split] if part.split else ()),
        *([f"“{part.query}”"] if part.query else ()),
        *(
            [
                tr(
                    "first graded from {value} to {value_2}",
                    value=part.first or tr("the beginning"),
                    value_2=part.last or tr("now"),
                )
            ]
            * bool(part.first or part.last)
        ),
    )
    return plain(tr("Only {join}: {said}", join=", ".join(narrowed), said=said) if narrowed else said)
