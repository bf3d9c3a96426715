"""Quality flags on the lead's page "People": each flag's figure, its chart over time, and the pairs that raised it."""

import time
from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import plain
from annotate_app.shared import look, pair_view, results, wording
from annotate_app.shared.address_state import read_number
from annotate_app.shared.flag_dismissal import dismissal
from backend.campaign.judging.queue import lift_skips
from backend.campaign.monitoring.quality import flags as quality_flags
from backend.campaign.monitoring.quality.model import (
    FLAG_MEANINGS,
    FLAG_NAMES,
    Flag,
    FlagDismissal,
    FlagKind,
    PersonFlags,
    Stretch,
)
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId, PairId

PER_PAGE = 5
_WHO, _FLAG, _PAGE, _LIFTED = "who", "flag", "flag_page", "lift"
_DISMISSED = "flags"
"""Name of the place where the result of dismissing a flag appears."""
_BEHIND = {
    FlagKind.TOO_FAST: marked("Grades given too fast, newest first."),
    FlagKind.UNSEEN: marked("Grades given before the clip was seen, newest first."),
    FlagKind.ONE_GRADE: marked("Pairs with this grade, newest first."),
    FlagKind.BIAS: marked("Pairs whose grade differs most from the others', in the direction of the bias."),
    FlagKind.DRIFT: marked("Newest grades that differ most from the others', in the direction of the drift."),
    FlagKind.AGREEMENT: marked("Newest pairs whose first two grades do not agree, newest first."),
    FlagKind.SKIPS: marked("Pairs that this annotator skipped, newest first."),
    FlagKind.REPORTS: marked("Pairs whose clip this annotator reported as broken, newest first."),
}
_OF_SKIPS = (FlagKind.SKIPS, FlagKind.REPORTS)
_WHAT = {
    FlagKind.BIAS: marked("Mean difference from the others"),
    FlagKind.DRIFT: marked("Mean difference from the others"),
    FlagKind.AGREEMENT: marked("Share of grades that agree"),
}
_IN_GRADES = (FlagKind.BIAS, FlagKind.DRIFT)


def annotator_in_address() -> AnnotatorId | None:
    """Return the number of the annotator that the page's URL names (`?who=`), or None if it names nobody."""
    who = read_number(_WHO)
    return None if who is None else AnnotatorId(who)


def overview(people: Sequence[PersonFlags]) -> None:
    """Draw all annotators with a quality flag, those with the most flags first."""
    st.markdown(
        tr(
            "A quality flag marks a figure of an annotator's work that is worth a look. Flags change nothing "
            "by themselves. Choose a flag to see its pairs."
        )
    )
    look.outcome(_DISMISSED)
    flagged = [person for person in people if person.raised]
    if not flagged:
        st.success(tr("No quality flags."), icon=":material/check_circle:")
    for person in sorted(flagged, key=lambda person: -len(person.raised)):
        with st.container(key=f"flagged-{person.annotator_id}"):
            button(person)
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_flags(person)
                dismissal(person.annotator_id, person.name, [flag.kind for flag in person.raised], _DISMISSED)


def button(flags: PersonFlags) -> None:
    """Draw an annotator's name as a button that opens their figures."""
    st.button(
        plain(flags.name),
        key=f"look-{flags.annotator_id}",
        type="tertiary",
        help=tr("Open their work: every figure with its chart and pairs."),
        on_click=open_flag,
        args=(flags.annotator_id,),
    )


def draw_flags(flags: PersonFlags) -> None:
    """Draw an annotator's quality flags as buttons. A click opens the pairs that raised the flag."""
    with st.container(horizontal=True, key=f"flags-{flags.annotator_id}"):
        for flag in flags.raised:
            st.button(
                tr("{flag} {figure}, n = {n:,}", flag=FLAG_NAMES[flag.kind], figure=flag.figure, n=flag.n),
                key=f"flag-{flags.annotator_id}-{flag.kind.value}",
                icon=":material/flag:",
                type="tertiary",
                help=plain(translate_message(flag.told)),
                on_click=open_flag,
                args=(flags.annotator_id, flag.kind),
            )


def open_flag(who: AnnotatorId, kind: FlagKind | None = None) -> None:
    """Open an annotator's figures. If `kind` is given, also show the pairs that raised this flag."""
    st.query_params[_WHO] = str(who)
    st.session_state.pop(_PAGE, None)
    if kind is not None:
        st.query_params[_FLAG] = kind.value
    else:
        st.query_params.pop(_FLAG, None)


def close() -> None:
    """Close an annotator's figures, so that the page shows the list of all people again."""
    for name in (_WHO, _FLAG):
        st.query_params.pop(name, None)


@look.lead_callback(f"{_LIFTED}_problem")
def lift(project: Project, lead: Person, who: AnnotatorId, reports_only: bool) -> None:
    """Undo all skips of an annotator or, if `reports_only`, only the skips that report broken clips."""
    done = lift_skips(project, lead, who, reports_only=reports_only, now=time.time())
    skips, clips = wording.count_of(done.skips, "skip"), wording.count_of(done.clips, "clip")
    results.leave(_LIFTED, tr("{skips} undone, {clips} shown again.", skips=skips, clips=clips))


def show(project: Project, lead: Person) -> None:
    """Draw the figures, quality flags and pairs of the annotator that the page's URL names."""
    st.button(tr("All annotators"), key="all_people", icon=":material/arrow_back:", type="tertiary", on_click=close)
    found = quality_flags.flags(project, lead, annotator_in_address())
    if not found:
        st.info(tr("This annotator is not in the project."))
        return
    (flags,) = found
    st.header(plain(flags.name), anchor=False)
    _numbers(flags)
    st.caption(
        tr(
            "These figures only tell you where to look. Pairs can be hard, and an annotator who differs from "
            "the others may be right."
        )
    )
    chosen = _chosen(flags)
    _cards(flags, chosen)
    look.outcome(_DISMISSED)
    _behind(project, lead, flags, chosen)


def _numbers(flags: PersonFlags) -> None:
    median = tr("not measured") if flags.median_s is None else f"{flags.median_s:.1f} s"
    values: dict[str, str | tuple[str, str]] = {
        tr("Grades"): (f"{flags.grades:,}", tr("A corrected grade counts once.")),
        tr("Median active"): (median, tr("Half of the grades took less active time than this, corrections included.")),
        tr("Flags"): tr("{raised} of {flags}", raised=len(flags.raised), flags=len(flags.flags)),
    }
    with st.container(key="person-numbers"):
        look.metrics(values)


def _chosen(flags: PersonFlags) -> Flag:
    """Return the annotator's quality flag to show: the flag that the page's URL names, else one that is raised.

    If none is raised, return the first one whose figure can be computed, else the first one.
    """
    kind_in_address = st.query_params.get(_FLAG, "")
    by_kind = {flag.kind.value: flag for flag in flags.flags}
    defined = [flag for flag in flags.flags if flag.value is not None]
    return by_kind.get(kind_in_address) or [*flags.raised, *defined, *flags.flags][0]


def _cards(flags: PersonFlags, chosen: Flag) -> None:
    for at in range(0, len(flags.flags), 3):
        for column, flag in zip(st.columns(3), flags.flags[at : at + 3], strict=False):
            with column.container(border=True, height="stretch", key=f"figure-{flag.kind.value}"):
                state = tr(":orange-badge[:material/flag: flag]") if flag in flags.raised else ""
                state = tr(":gray-badge[dismissed]") if flag.dismissed else state
                state = tr(":gray-badge[undefined]") if flag.value is None else state
                st.markdown(f"**{translate_message(FLAG_NAMES[flag.kind])}** {state}")
                if flag.value is not None:
                    st.markdown(f"### {translate_message(flag.figure)}")
                st.markdown(plain(translate_message(flag.told)))
                if flag.dismissed:
                    st.caption(_dismissed(flag.dismissed))
                if flag in flags.raised:
                    dismissal(flags.annotator_id, flags.name, [flag.kind], _DISMISSED)
                if flag.value is not None:
                    st.button(
                        tr("Shown below") if flag.kind is chosen.kind else tr("Show pairs"),
                        key=f"behind-{flag.kind.value}",
                        disabled=flag.kind is chosen.kind,
                        on_click=open_flag,
                        args=(flags.annotator_id, flag.kind),
                    )


def _dismissed(dismissal: FlagDismissal) -> str:
    told = tr(
        "Dismissed by {by}, {when}.", by=plain(dismissal.by), when=wording.when(dismissal.at, st.context.timezone)
    )
    return f"{told} {plain(dismissal.reason)}".rstrip()


def _behind(project: Project, lead: Person, flags: PersonFlags, flag: Flag) -> None:
    st.subheader(translate_message(FLAG_NAMES[flag.kind]), anchor=False)
    st.markdown(translate_message(FLAG_MEANINGS[flag.kind]))
    if flag.kind in _OF_SKIPS:
        look.outcome(_LIFTED)
    if flag.value is None:
        st.info(translate_message(flag.reason))
        return
    found = quality_flags.flag_evidence(project, lead, flags.annotator_id, flag.kind)
    if flag.kind in _OF_SKIPS:
        _lift(flags, flag.kind, len(found.pairs))
    elif found.stretches:
        flag_chart(found.stretches, flag)
    else:
        st.caption(tr("No chart: too few grades, or the times of the grades are not known."))
    if not found.pairs and not found.by_number:
        st.success(tr("No pair raised this flag."), icon=":material/check_circle:")
        return
    st.markdown(f"**{wording.count_of(len(found.pairs) + found.by_number, 'pair')}.** {tr(_BEHIND[flag.kind])}")
    if found.by_number:
        st.caption(
            tr(
                "{pairs} cannot be shown: an earlier campaign was imported without its moments.",
                pairs=wording.count_of(found.by_number, "pair"),
            )
        )
    _pairs(project, lead, found.pairs)


def _lift(flags: PersonFlags, kind: FlagKind, count: int) -> None:
    """Draw the button that undoes an annotator's skips, after a confirmation. Draw nothing if `count` is 0.

    `count` is the number of pairs behind the flag. If `kind` is `FlagKind.REPORTS`, the button undoes only the skips
    that report broken clips.
    """
    if not count:
        return
    label = tr("Undo all reports") if kind is FlagKind.REPORTS else tr("Undo all skips and reports")
    with st.popover(label, icon=":material/undo:"):
        st.markdown(
            tr(
                "{name} may be offered these pairs again. Clips that only these reports block are shown to "
                "everybody again. To stop {name} from skipping more, pause them on the page People.",
                name=plain(flags.name),
            )
        )
        st.button(
            label,
            key=f"lift-{kind.value}",
            type="primary",
            on_click=lift,
            args=(flags.annotator_id, kind is FlagKind.REPORTS),
        )


def _pairs(project: Project, lead: Person, pairs: tuple[PairId, ...]) -> None:
    pages = max(-(-len(pairs) // PER_PAGE), 1)
    chosen = min(int(st.session_state.get(_PAGE, 1)), pages)
    for pair in quality_flags.pairs_behind(project, lead, pairs[(chosen - 1) * PER_PAGE : chosen * PER_PAGE]):
        with st.container(border=True, key=f"card-{pair.pair}"):
            pair_view.pair_record(pair, project.campaign.grading)
    if pages > 1:
        st.pagination(pages, key=_PAGE)


def flag_chart(stretches: Sequence[Stretch], flag: Flag) -> None:
    """Draw how a flag's figure changed from an annotator's first grade to the last, and the limit that raises the flag.

    Args:
        stretches: the figure's mean over successive groups of consecutive grades, oldest first.
        flag: the flag.
    """
    quantity = tr(_WHAT.get(flag.kind, marked("Share of grades")))
    zone = st.context.timezone
    frame = pd.DataFrame(
        {
            "Grades so far": [sum(stretch.n for stretch in stretches[: n + 1]) for n in range(len(stretches))],
            quantity: [stretch.mean for stretch in stretches],
            "Given": [
                tr("{start} to {end}", start=wording.when(stretch.since, zone), end=wording.when(stretch.until, zone))
                for stretch in stretches
            ],
            "Grades": [stretch.n for stretch in stretches],
        }
    )
    form = "+.2f" if flag.kind in _IN_GRADES else ".0%"
    base = alt.Chart(frame).encode(
        x=alt.X("Grades so far:Q", title=tr("Grades so far"), axis=alt.Axis(format=",d", grid=False)),
        y=alt.Y(f"{quantity}:Q", title=None, axis=alt.Axis(format=form, tickCount=5)),
        tooltip=[
            alt.Tooltip("Given:N", title=tr("Given")),
            alt.Tooltip("Grades:Q", title=tr("Grades")),
            alt.Tooltip(f"{quantity}:Q", format=form),
        ],
    )
    line = base.mark_line(color="#6063f1") + base.mark_point(color="#6063f1", filled=True, size=45)
    lines = pd.DataFrame({quantity: _limits(flag)})
    rule = alt.Chart(lines).mark_rule(strokeDash=[5, 4], color="#f59e0b", strokeWidth=2).encode(y=f"{quantity}:Q")
    first, last = stretches[0].mean, stretches[-1].mean
    shown = [format(value, form if flag.kind in _IN_GRADES else ".1%") for value in (first, last)]
    description = tr(
        "{flag} over time, in {parts} parts: from {first} to {last}",
        flag=FLAG_NAMES[flag.kind],
        parts=len(stretches),
        first=shown[0],
        last=shown[1],
    )
    title = alt.TitleParams(quantity, anchor="start", fontSize=12, fontWeight="normal")
    chart = (rule + line if len(lines) else line).properties(title=title)
    st.altair_chart(chart, height=230, alt=description)


def _limits(flag: Flag) -> list[float]:
    """Return the values at which a flag's chart has horizontal lines: its limits and, for bias and drift, zero.

    The charts of drift and agreement show no limit, because these two flags are raised by a change since earlier
    grades.
    """
    if flag.kind is FlagKind.BIAS:
        return [-flag.limit, 0.0, flag.limit]
    return [0.0] if flag.kind is FlagKind.DRIFT else [] if flag.kind is FlagKind.AGREEMENT else [flag.limit]
