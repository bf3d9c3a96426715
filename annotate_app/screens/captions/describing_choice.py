"""Choose who describes which videos and how many descriptions are needed, and edit the describers' guideline.

To describe is to mark moments in a video and to write a sentence for each.
"""

import time
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.shared import look, wording
from annotate_app.shared.unsaved import warn_unsaved
from backend.campaign.corpus.describing.model import DescribingChoice, DescribingFigures
from backend.campaign.corpus.describing.opening import (
    choose_describing,
    close_describing,
    describing_choice,
    describing_guideline,
    reword_describing,
)
from backend.campaign.corpus.describing.reviewing import describing_figures, descriptions_csv
from backend.campaign.nouns import Person, Role
from backend.campaign.release.board.leaderboard import videos_with_file
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError

_PROBLEM, _DONE = "describing_problem", "describing_done"
OFFERED = 300
"""With more videos than this, the lead types or pastes their names, because a box with all names opens slowly."""
_VIDEO, _MINUTE = marked("video"), marked("minute of video")


def who(project: Project, lead: Person) -> None:
    """Draw who may describe videos and how much each has described, with the form that changes or ends this."""
    with st.container():
        look.outcome("describing")
    chosen, figures = describing_choice(project, lead), describing_figures(project, lead)
    people = {
        review.person.annotator_id: review.person.name
        for review in list_people(project, lead, now=time.time())
        if review.person.role is Role.ANNOTATOR and not review.person.suspended
    }
    if chosen.open:
        st.markdown(tr(":green-badge[open] The page Describe is in the menu of these annotators."))
    else:
        st.markdown(tr(":gray-badge[closed] Nobody can describe. Sentences still in a browser are kept."))
    videos = videos_with_file(project, lead)
    if not videos:
        st.info(tr("No video has a file yet. Add the folder of the videos on Set up first."))
        return
    with st.form("describing-choice"):
        current_people = [review for review in chosen.people or () if review in people]
        st.multiselect(
            tr("Who"),
            list(people),
            default=current_people,
            format_func=lambda review: people[review],
            key="describing_people",
            placeholder=tr("Every annotator"),
        )
        if len(videos) <= OFFERED:
            st.multiselect(
                tr("Which videos"),
                sorted(videos),
                default=[review for review in chosen.videos or () if review in videos],
                key="describing_videos",
                placeholder=tr("All videos"),
            )
        else:
            st.text_area(
                tr("Which videos, one name a line"),
                "\n".join(chosen.videos or ()),
                key="describing_videos",
                placeholder=tr("All {videos:,} videos", videos=len(videos)),
                height=120,
            )
        count, per = st.columns(2)
        count.number_input(
            tr("Descriptions wanted, from all describers"),
            min_value=0.1,
            value=chosen.per_minute or (float(chosen.per_video) if chosen.per_video else None),
            key="describing_count",
            placeholder=tr("no limit"),
            format="%g",
        )
        per.selectbox(
            tr("Per"), [_VIDEO, _MINUTE], format_func=tr, index=int(chosen.per_minute is not None), key="describing_per"
        )
        with st.container(horizontal=True):
            label = tr("Save") if chosen.open else tr("Open")
            st.form_submit_button(label, type="primary", on_click=save)
            if chosen.open:
                st.form_submit_button(tr("Close"), on_click=close)
    _figures(project, lead, figures)


@look.lead_callback(_PROBLEM)
def save(project: Project, lead: Person) -> None:
    """Let annotators describe videos, with the people, videos and number of descriptions chosen in the form."""
    state = st.session_state
    count, per = state["describing_count"], state["describing_per"]
    if count is not None and per == _VIDEO and count != int(count):
        raise ProjectError(tr("Enter a whole number of descriptions per video, or choose “minute of video”."))
    video_names = state["describing_videos"]
    videos = (
        [line.strip() for line in video_names.splitlines() if line.strip()]
        if isinstance(video_names, str)
        else video_names
    )
    chosen = DescribingChoice(
        open=True,
        people=tuple(state["describing_people"]) or None,
        videos=tuple(dict.fromkeys(videos)) or None,
        per_video=int(count) if count is not None and per == _VIDEO else None,
        per_minute=count if per == _MINUTE else None,
    )
    choose_describing(project, lead, chosen, now=time.time())
    state[_DONE] = tr("Opened. The page Describe is now in their menu.")


@look.lead_callback(_PROBLEM)
def close(project: Project, lead: Person) -> None:
    """End describing, so that annotators can no longer describe videos."""
    close_describing(project, lead, now=time.time())
    st.session_state[_DONE] = tr("Closed. All descriptions are kept, including those not sent yet.")


def how(project: Project, lead: Person) -> None:
    """Draw the form that edits the guideline for describers."""
    guideline = describing_guideline(project, lead)
    key = f"describing-words-{guideline.version}"
    st.caption(tr("Describers read it before their first description, and when it changes. Each line is a rule."))
    with st.container(key="describing-words"):
        typed = st.text_area(tr("Guideline for describers"), guideline.text, key=key, height=240)
        st.text_input(
            tr("Reason for the change"),
            key=f"{key}-reason",
            max_chars=200,
            placeholder=tr("One sentence that describers read"),
        )
    warn_unsaved("describing-words", changed=typed != guideline.text, saved=str(guideline.version))
    st.button(
        tr("Save as version {version}", version=guideline.version + 1),
        type="primary",
        on_click=reword,
        args=(guideline.version,),
    )
    look.outcome("describing_words")


@look.lead_callback("describing_words_problem")
def reword(project: Project, lead: Person, version: int) -> None:
    """Save the text typed in the form as a new version of the describers' guideline.

    `version` is the version that the lead edited. If there is a newer one by now, the text is refused.
    """
    state = st.session_state
    text, reason = str(state[f"describing-words-{version}"]), str(state[f"describing-words-{version}-reason"])
    number = reword_describing(project, lead, text, reason, based_on=version, now=time.time())
    state["describing_words_done"] = tr(
        "Version {number} saved. Describers read it again before they continue.", number=number
    )


def _time(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else tr("{hours:.0f} min", hours=60 * hours)


def _figures(project: Project, lead: Person, figures: DescribingFigures) -> None:
    if not figures.people:
        return
    enough = "" if figures.enough is None else tr(", {enough:,} with as many as wanted", enough=figures.enough)
    told = tr(
        "{described:,} of {videos} described{enough}.",
        described=figures.described,
        videos=wording.count_of(figures.videos, "video"),
        enough=enough,
    )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(told, width="content")
        make = partial(descriptions_csv, project, lead)
        look.csv_download(tr("Descriptions as CSV"), make, "descriptions.csv", "descriptions-csv")
    rows = [
        (
            escape(person.name),
            *(f"{count:,}" for count in (person.waiting, person.returned, person.accepted)),
            _time(person.active_h),
        )
        for person in figures.people
    ]
    st.html(look.table((tr("Annotator"), tr("To review"), tr("Sent back"), tr("Accepted"), tr("Time")), rows))
