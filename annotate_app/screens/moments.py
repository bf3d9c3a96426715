"""The lead's page "Moments": see the moments of each video, and change, split, join, remove or add them.

The page first lists the videos. A click on a video lists its moments and shows one of them. The page's URL holds the
video and the moment.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import address_state, look, results, wording
from annotate_app.shared.case_keys import neighbours
from annotate_app.shared.long_list import ListColumn, ListRow, long_list, matching, rows_of
from annotate_app.shared.review_clip import moment_clip
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.moments.editing import (
    change_moments,
    join_moments,
    moments_of_video,
    split_moment,
    videos_and_moments,
)
from backend.campaign.corpus.moments.model import MomentRow, Origin, VideoMoments
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId

PER_PAGE = 8
ORIGINS = {
    Origin.IMPORTED: marked("from files or by hand"),
    Origin.SHOTS: marked("from shots"),
    Origin.WINDOWS: marked("from windows"),
    Origin.DESCRIBED: marked("described"),
    Origin.POOLED: marked("from pooled runs"),
}
_VIDEOS = (
    ListColumn(marked("Video")),
    ListColumn(marked("Length"), number=True),
    ListColumn(marked("Shots"), number=True, phone=False, meaning=marked("Between two cuts, dissolves or fades")),
    ListColumn(marked("Moments"), number=True),
    ListColumn(marked("Used"), number=True, phone=False, meaning=marked("By captions, candidates or pairs")),
)
_MOMENTS = (
    ListColumn(marked("Moment")),
    ListColumn(marked("Origin"), phone=False),
    ListColumn(marked("Used by"), phone=False),
)
ON_SHOW = "moment"
"""The address parameter that holds the moment shown."""
VIDEO = "video"
"""The address parameter that holds the open video."""
_DONE = "moments"
"""Name of the place on the page where results appear."""
PROBLEM = f"{_DONE}_problem"
_UNDO = "moments_undo"
"""Session key of the last action: its video, the spans that it added and the spans that it removed."""
_Span = tuple[float, float]


def page() -> None:
    """Draw the list of videos or, if the page's URL names a video, this video with its moments."""
    project, lead, _ = look.lead_page("Moments")
    videos = videos_and_moments(project, lead)
    if not videos:
        st.info(tr("No videos yet. Add videos first."))
        st.html(WayThere("Set up", "", tr("Add videos")).link)
        return
    video_name = address_state.read(VIDEO)
    if not video_name:
        _all(videos)
        return
    opened = next((video for video in videos if video.name == video_name), None)
    st.button(
        tr("All videos"),
        key="all-videos",
        icon=":material/arrow_back:",
        on_click=address_state.go,
        kwargs={VIDEO: None, ON_SHOW: None, "page": None},
    )
    if opened is None:
        st.info(tr("The project has no video {asked}.", asked=plain(video_name)))
        return
    _one(project, lead, opened)


def _all(videos: Sequence[VideoMoments]) -> None:
    total = sum(video.total for video in videos)
    of = tr(
        "{moments} in {videos}",
        moments=wording.count_of(total, "moment"),
        videos=wording.count_of(len(videos), "video"),
    )
    st.markdown(
        tr(
            "{of}. Open a video to see its moments, and to change, split, join, add or remove them. "
            "Moments that captions or pairs use are locked.",
            of=of,
        )
    )
    found = matching(videos, lambda video: video.name, "video")

    def fetch(first: int, most: int) -> Sequence[ListRow]:
        return [
            ListRow(
                video.name,
                (
                    escape(video.name),
                    f"{video.duration_s:,.1f} s",
                    "–" if video.shots is None else f"{video.shots:,}",
                    f"{video.total:,}",
                    f"{video.used:,}",
                ),
                look.thumbnail_address(video.name, 0.0, min(video.duration_s, 4.0)) if video.has_file else "",
            )
            for video in found[first : first + most]
        ]

    long_list(tr("Videos"), _VIDEOS, len(found), fetch, opens=VIDEO, noun="video")


def _one(project: Project, lead: Person, video: VideoMoments) -> None:
    rows = moments_of_video(project, lead, video.name)
    of = ", ".join(f"{count:,} {tr(ORIGINS[origin])}" for origin, count in video.moments.items())
    st.header(plain(video.name), anchor=False)
    shots = "" if video.shots is None else f", {wording.count_of(video.shots, 'shot')}"
    st.caption(
        tr(
            "{duration_s:,.2f} s{shots}. Moments: {counts}.",
            duration_s=video.duration_s,
            shots=shots,
            counts=of or tr("none yet"),
        )
    )
    shown = _on_show(rows)
    case, beside = st.columns([3, 2], gap="large")
    with case:
        if shown is None:
            st.info(tr("This video has no moments yet. Add one below, or propose moments on Set up."))
            undo_button()
        else:
            _bar(rows, shown)
            _card(rows, shown, video)
        look.outcome(_DONE)
        _add(video)
    with beside:
        start = next((n for n, row in enumerate(rows) if row == shown), 0) // PER_PAGE
        if not address_state.read("page") and start:
            st.query_params["page"] = str(start + 1)  # the list opens at the page with the moment shown
        long_list(
            tr("Moments"),
            _MOMENTS,
            len(rows),
            rows_of(rows, _row),
            opens=ON_SHOW,
            noun="moment",
            nothing=tr("No moments yet."),
            per_page=PER_PAGE,
            current=None if shown is None else shown.moment_id,
        )


def _on_show(rows: Sequence[MomentRow]) -> MomentRow | None:
    """Return the moment that the page's URL names, else the first moment on the current page of the list.

    Return None if there are no moments.
    """
    moment_in_address = address_state.read_number(ON_SHOW)
    moment = next((row for row in rows if row.moment_id == moment_in_address), None)
    if moment is not None or not rows:
        return moment
    return rows[(address_state.page_number(-(-len(rows) // PER_PAGE)) - 1) * PER_PAGE]


def _row(row: MomentRow) -> ListRow:
    used = " ".join(filter(None, [_users(row), "" if row.captions or row.pairs or not row.used else tr("other")]))
    cells = (f"{row.start_s:.2f}–{row.end_s:.2f} s", escape(tr(ORIGINS[row.origin])), used)
    return ListRow(row.moment_id, cells, look.thumbnail_address(row.video, row.start_s, row.end_s))


def _users(row: MomentRow) -> str:
    parts = [(row.captions, "caption"), (row.pairs, "pair")]
    return ", ".join(wording.count_of(count, noun) for count, noun in parts if count)


def _bar(rows: Sequence[MomentRow], shown: MomentRow) -> None:
    place = rows.index(shown)

    def step(by: int) -> None:
        address_state.go(**{ON_SHOW: rows[place + by].moment_id, "page": None})

    with st.container(horizontal=True, vertical_alignment="center", key="case-bar"):
        neighbours("moment", place + 1, len(rows), step)
        undo_button()


def _card(rows: Sequence[MomentRow], row: MomentRow, video: VideoMoments) -> None:
    with st.container(border=True, key=f"card-{row.moment_id}"):
        told = tr("{start_s:.2f} to {end_s:.2f} s", start_s=row.start_s, end_s=row.end_s)
        if video.has_file:
            moment_clip(row, f"moment-{row.moment_id}")
        st.caption(f"{told} ({row.end_s - row.start_s:.2f} s), {tr(ORIGINS[row.origin])}")
        if row.used:
            users = _users(row) or tr("other parts of the project")
            st.markdown(":material/lock: " + tr("Locked: used by {users}.", users=users))
            return
        with (
            st.form(f"change-{row.moment_id}", border=False),
            st.container(horizontal=True, vertical_alignment="bottom"),
        ):
            _seconds(tr("Start (s)"), row.start_s, key("start", row), video)
            _seconds(tr("End (s)"), row.end_s, key("end", row), video)
            st.form_submit_button(tr("Change"), on_click=change, args=(row,))
        with (
            st.form(f"split-{row.moment_id}", border=False),
            st.container(horizontal=True, vertical_alignment="bottom"),
        ):
            _seconds(tr("Split at (s)"), round((row.start_s + row.end_s) / 2, 2), key("at", row), video)
            st.form_submit_button(tr("Split"), on_click=split, args=(row,))
        following = next((other for other in rows[rows.index(row) + 1 :] if not other.used), None)
        with st.container(horizontal=True):
            if following is not None:
                st.button(
                    tr("Join with {start_s:.2f}–{end_s:.2f} s", start_s=following.start_s, end_s=following.end_s),
                    key=f"join-{row.moment_id}",
                    on_click=join,
                    args=(row, following),
                )
            st.button(tr("Remove"), key=f"remove-{row.moment_id}", shortcut="x", on_click=remove, args=(row,))


def _add(video: VideoMoments) -> None:
    with (
        st.expander(tr("Add a moment")),
        st.form("add-moment", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        _seconds(tr("Start (s)"), 0.0, "add-start", video)
        _seconds(tr("End (s)"), min(5.0, video.duration_s), "add-end", video)
        st.form_submit_button(tr("Add"), on_click=add, args=(video.name,))


def _seconds(label: str, value: float, key: str, video: VideoMoments) -> None:
    # Typed in hundredths; a field that nobody touched keeps the exact time.
    st.number_input(label, 0.0, max(video.duration_s, value), value, 0.1, format="%.2f", key=key)


def change(row: MomentRow) -> None:
    """Change the start and end of a moment to the seconds typed in its form."""
    span = (float(st.session_state[key("start", row)]), float(st.session_state[key("end", row)]))
    if span == (row.start_s, row.end_s):
        results.clear(PROBLEM)
        st.session_state[PROBLEM] = tr("Start and end did not change. Enter other seconds, then press Change.")
        return
    _run_action(row.video, [row], [span], tr("Changed."))


def split(row: MomentRow) -> None:
    """Split a moment in two, at the time typed in its form."""
    at_s = float(st.session_state[key("at", row)])
    spans = [(row.start_s, at_s), (at_s, row.end_s)]
    action = partial(split_moment, moment=row.moment_id, at_s=at_s, now=time.time())
    _run_action(row.video, [row], spans, tr("Split in two."), action)


def join(row: MomentRow, following: MomentRow) -> None:
    """Join a moment and the following one into one moment."""
    spans = [(row.start_s, max(row.end_s, following.end_s))]
    action = partial(join_moments, moments=[row.moment_id, following.moment_id], now=time.time())
    _run_action(row.video, [row, following], spans, tr("Joined."), action)


def remove(row: MomentRow) -> None:
    """Remove a moment."""
    _run_action(row.video, [row], [], tr("Removed."))


def add(video: str) -> None:
    """Add a moment to a video, with the start and end in the form."""
    span = (float(st.session_state["add-start"]), float(st.session_state["add-end"]))
    _run_action(video, [], [span], tr("Added."))


def undo() -> None:
    """Undo the lead's last action on this page."""
    if (last := st.session_state.pop(_UNDO, None)) is None:
        return
    video, came, went = last

    def act(project: Project, lead: Person) -> None:
        ids_by_span = {(row.start_s, row.end_s): row.moment_id for row in moments_of_video(project, lead, video)}
        gone = [ids_by_span.get(span, MomentId(0)) for span in came]
        change_moments(project, lead, video, gone, went, now=time.time())

    if look.done_as_lead(act, PROBLEM):
        address_state.go(**{ON_SHOW: None})
        results.leave(_DONE, tr("Undone."))


def undo_button() -> None:
    """Draw the button that undoes the lead's last action on this page, if there is one."""
    if st.session_state.get(_UNDO):
        st.button(tr("Undo"), key="moments-undo", icon=":material/undo:", shortcut="u", on_click=undo)


def key(name: str, row: MomentRow) -> str:
    """Return the Streamlit key of the form field called `name` of a moment."""
    return f"{name}-{row.moment_id}"


def _run_action(
    video: str,
    gone: Sequence[MomentRow],
    come: Sequence[_Span],
    done: str,
    action: Callable[[Project, Person], object] | None = None,
) -> None:
    went = [row.moment_id for row in gone]
    usual = partial(change_moments, video=video, gone=went, come=come, now=time.time())
    if not look.done_as_lead(action or usual, PROBLEM):
        return
    st.session_state[_UNDO] = (video, list(come), [(row.start_s, row.end_s) for row in gone])
    shown: int | None = None
    if come:

        def find(project: Project, lead: Person) -> None:
            nonlocal shown
            rows = moments_of_video(project, lead, video)
            shown = next((row.moment_id for row in rows if (row.start_s, row.end_s) == come[0]), None)

        look.as_lead(find)
    address_state.go(**{ON_SHOW: shown})
    results.leave(_DONE, done)
