"""Elements of all pages: style, header with project and person, start of a lead's page, results, HTML tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from html import escape
from pathlib import Path
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

import streamlit as st

from annotate_app.language import SOURCE, current, marked, tr, translate_message
from annotate_app.pages import address
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.session.addresses import CSRF_COOKIE, full_path
from annotate_app.shared import grade_colours, joined, results, wording
from annotate_app.shared.waiting import menu_counts
from backend.campaign.corpus.describing.opening import may_describe
from backend.campaign.nouns import Person, Role
from backend.campaign.review.model import StatusCounts
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.permissions import lead_of
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ReelRankError

_HERE = Path(__file__).parent
MARK = _HERE.parent / "session" / "mark.svg"
_document = st.components.v2.component(
    "reelrank_language",
    js="export default ({ data }) => { document.documentElement.lang = data.language; };",
    isolate_styles=False,
)
_HEADING = 240
"""Largest number of characters of a text in a heading."""
_AWAY = marked("The server does not answer. This page continues once it is back: please wait.")
_LOOK = (_HERE / "look.css").read_text(encoding="utf-8")
WORDMARK = _HERE / "wordmark.svg"
_offline = st.components.v2.component(
    "reelrank_offline",
    html='<div class="rr-offline" role="alert" hidden></div>',
    js=joined(_HERE, ("desk/outage.js", "offline.js")),
    isolate_styles=False,
)
_Args = ParamSpec("_Args")


def style() -> None:
    """Add the style sheet and logo of all pages, and set the language of the document."""
    st.html(f"<style>{grade_colours()}{_LOOK}</style>")
    st.logo(WORDMARK, size="medium")
    if current() != SOURCE:
        _document(key="document-language", data={"language": current()})


def header(project: Project, person: Person) -> None:
    """Draw the bar at the top: project, person with a link to the account, and the sign-out button.

    It is plain HTML, so its links work even while Streamlit does not run the page.
    """
    style()
    csrf = st.context.cookies.get(CSRF_COOKIE, "")
    # On a narrow screen Streamlit folds its menu into a drawer; annotators get these links instead, see look.css.
    titles = ["My work"] if person.role is Role.ANNOTATOR else []
    if titles and may_describe(project, person):
        titles = ["Describe", *titles]
    narrow = "".join(
        f'<a class="rr-menu" href="{full_path("/")}{address(title)}" target="_self">{tr(title)}</a>' for title in titles
    )
    account, role = tr("Your account: password, sessions"), tr(auth.ROLES[person.role])
    with st.container(key="rr-account"):
        st.html(
            f'<div class="rr-account">{narrow}<span class="rr-project" title="{tr("Project")}">'
            f"{escape(project.name)}</span>"
            f'<a class="rr-person" href="{full_path("/session/account")}" target="_self" title="{account}">'
            f'<span class="rr-face" aria-hidden="true">{escape(person.name[:1].upper())}'
            f'</span><span class="rr-name">{escape(person.name)}</span> <small>{role}</small></a>'
            f'<form method="post" action="{full_path("/session/sign-out")}">'
            f'<input type="hidden" name="csrf" value="{escape(csrf)}"><button type="submit">{tr("Sign out")}</button>'
            "</form></div>"
        )
        if person.role is Role.LEAD:
            menu_counts(project, person)
            _offline(key="offline", data={"text": tr(_AWAY)})


def lead_page(title: str) -> tuple[Project, Person, StatusCounts]:
    """Begin a lead's page: check that the person is a lead, write the heading, warn about simulated judgements.

    Returns:
        The project, the lead, and the project's counts from `status_counts`, such as the number of pairs by verdict.
    """
    person = auth.require(Role.LEAD)
    project = auth.project()
    counts = status_counts(project, person)
    st.title(tr(title), anchor=False)
    simulated = counts.get("simulated", 0)
    if simulated:
        st.warning(
            tr(
                "**Simulated judgements**: {simulated:,} of the {judgements:,} judgements in this project were "
                "made by a program for demonstration. Do not publish them.",
                simulated=simulated,
                judgements=counts["judgements"],
            ),
            icon=":material/science:",
        )
    return project, person, counts


def as_lead(action: Callable[[Project, Person], object]) -> str:
    """Run an action as the signed-in lead, and return why it was refused.

    Callbacks use this, because they run before the page and must not raise.

    Returns:
        The reason for the refusal, in words for the lead, or "" if the action succeeded.
    """
    try:
        person = auth.current()
        if person is None:
            # The lead reads this after signing in again, beside the restored draft; see `navigation.signed_out`.
            return tr("You were signed out, so nothing was done. What you entered is still here: try again.")
        action(auth.project(), lead_of(auth.project(), person))
    except ReelRankError as refusal:
        return translate_message(refusal)
    return ""


def done_as_lead(action: Callable[[Project, Person], object], problem: str) -> bool:
    """Run an action as the signed-in lead, and return whether it succeeded.

    If not, the reason is kept in the session under the key `problem`, and `refusal(problem)` shows it.
    """
    results.clear(problem)
    st.session_state[problem] = as_lead(action)
    return not st.session_state[problem]


def lead_callback(
    problem: str,
) -> Callable[[Callable[Concatenate[Project, Person, _Args], object]], Callable[_Args, None]]:
    """Decorate a function, so that it can be the callback of a lead's button.

    The function is called with the project, the lead, and then the arguments that the button passes. If it is refused,
    `refusal` shows the reason.

    Args:
        problem: session key under which the reason of a refusal is kept.
    """

    def decorate(action: Callable[Concatenate[Project, Person, _Args], object]) -> Callable[_Args, None]:
        @wraps(action)
        def callback(*args: _Args.args, **more: _Args.kwargs) -> None:
            done_as_lead(lambda project, lead: action(project, lead, *args, **more), problem)

        return callback

    return decorate


def metrics(values: Mapping[str, str | tuple[str, str]], widths: Sequence[int] = ()) -> None:
    """Draw labelled figures side by side.

    Args:
        values: maps each label to its figure, or to the figure and an explanation.
        widths: relative widths of the columns; equal if empty.
    """
    for column, (label, figure) in zip(st.columns(widths or len(values)), values.items(), strict=True):
        value, meaning = figure if isinstance(figure, tuple) else (figure, None)
        column.metric(label, value, border=True, help=meaning)


def refusal(key: str) -> None:
    """Show why an action was refused, which the session keeps under `key`, until the reader dismisses it."""
    results.show(key, "problem")


def outcome(name: str) -> None:
    """Show the result of a button, or why it was refused, until the reader dismisses it.

    The session keeps these under `NAME_done` and `NAME_problem`, where NAME is `name`.
    """
    refusal(f"{name}_problem")
    results.show(f"{name}_done")


def csv_download(label: str, make: Callable[[], str], file_name: str, key: str, icon: str | None = None) -> None:
    """Draw a button that makes and downloads a CSV file. A click does not rerun the page, as that would lose the file.

    Args:
        label: text of the button.
        make: returns the content of the file; called on a click.
        file_name: name of the file.
        key: Streamlit's key of the button.
        icon: icon of the button; None for Streamlit's own.
    """
    st.download_button(label, data=make, file_name=file_name, mime="text/csv", key=key, on_click="ignore", icon=icon)


def settled(counts: StatusCounts) -> tuple[int, int]:
    """Return the number of settled pairs (consensus, adjudicated or discarded) and the number of all pairs.

    `counts` are the project's counts from `status_counts`.
    """
    pairs: dict[str, int] = counts["pairs"]
    return pairs["consensus"] + pairs["adjudicated"] + pairs["discarded"], sum(pairs.values())


def table(head: Iterable[str], rows: Iterable[Sequence[str]], style: str = "") -> str:
    """Return an HTML table. Long texts are cut after two lines, and shown whole on hover.

    `head` and the cells of `rows` are HTML, so texts that people wrote must be escaped. `style` is a further CSS class.
    """
    labels = "".join(f"<th scope='col'>{label}</th>" for label in head)
    body = "".join(f"<tr>{''.join(f'<td>{wording.clamped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table class='rr-grades {style}'><tr>{labels}</tr>{body}</table>"


def grade_mark(value: int) -> str:
    """Return a grade as HTML, on the background colour of this grade."""
    return f"<span class='rr-grade rr-r{value}'>{value}</span>"


def text_heading(text: str, more: str = "") -> None:
    """Draw a text that a person wrote as a heading. A long text is cut, with a button that shows all of it.

    Args:
        text: the text, such as a query.
        more: Markdown that follows the text.
    """
    cut = wording.short(text, _HEADING)
    st.header(f"{plain(cut)} {more}".rstrip(), anchor=False)
    if cut != text:
        with st.popover(tr("Show the whole text")):
            st.markdown(plain(text))


def bar(value: float, most: float, more: str = "", form: str = ",") -> str:
    """Return HTML with a number and a bar as long as the number's share of `most`.

    Args:
        value: the number.
        most: the number for a bar of full length.
        more: HTML that follows the number.
        form: format specification of the number, such as `,` or `.2f`.
    """
    return f"<span class='rr-pace' style='--share:{value / most:.3f}'>{value:{form}}{more}</span>"


def thumbnail_address(video: str, start_s: float, end_s: float) -> str:
    """Return the URL of a moment's thumbnail. For a whole video, give 0 and the video's duration in seconds."""
    return full_path("/moments.webp?") + urlencode({"video": video, "start": start_s, "end": end_s})
