"""What every page shares: style, the header with project and person, the frame of a lead's page, tables as HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from html import escape
from pathlib import Path
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

import streamlit as st

from annotate_app.language import SOURCE, current, marked, retold, tr
from annotate_app.pages import address
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.session.addresses import CSRF_COOKIE, full_path
from annotate_app.shared import grade_colours, joined, results, wording
from annotate_app.shared.waiting import menu_counts
from backend.campaign.corpus.describing.opening import may_describe
from backend.campaign.nouns import Person, Role
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
"""Signs of a text that stand in a heading."""
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
    """How all pages look."""
    st.html(f"<style>{grade_colours()}{_LOOK}</style>")
    st.logo(WORDMARK, size="medium")
    if current() != SOURCE:
        _document(key="document-language", data={"language": current()})


def header(project: Project, person: Person) -> None:
    """The bar on top: product, project, person, sign-out. The name leads to the account.

    Plain HTML: it works without a script run of ours.
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


def lead_page(title: str) -> tuple[Project, Person, dict[str, Any]]:
    """Open a lead's page: check the role, write the heading, warn about simulated judgements.

    Returns the project, the lead, and the counts of `status_counts`.
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


def as_lead(act: Callable[[Project, Person], object]) -> str:
    """Does what a lead asked for by a button; for callbacks, which run before the page and must not raise.

    Returns:
        Why it was not done, in words for the lead; an empty text if it was.
    """
    try:
        person = auth.current()
        if person is None:
            # Read after signing in again, beside what was typed; see `navigation.signed_out`.
            return tr("You were signed out, so nothing was done. What you entered is still here: try again.")
        act(auth.project(), lead_of(auth.project(), person))
    except ReelRankError as refusal:
        return retold(refusal)
    return ""


def done_as_lead(act: Callable[[Project, Person], object], problem: str) -> bool:
    """Do what `as_lead` does, and return whether it succeeded. The refusal is kept under `problem` for `refusal`."""
    results.clear(problem)
    st.session_state[problem] = as_lead(act)
    return not st.session_state[problem]


def lead_callback(
    problem: str,
) -> Callable[[Callable[Concatenate[Project, Person, _Args], object]], Callable[_Args, None]]:
    """Decorate what a lead asks for by a button: as a callback, it is given the project and the lead (see `as_lead`).

    Args:
        problem: where in the session it is left why it was not done; `refusal` shows it.
    """

    def decorate(act: Callable[Concatenate[Project, Person, _Args], object]) -> Callable[_Args, None]:
        @wraps(act)
        def callback(*args: _Args.args, **more: _Args.kwargs) -> None:
            done_as_lead(lambda project, lead: act(project, lead, *args, **more), problem)

        return callback

    return decorate


def metrics(values: Mapping[str, str | tuple[str, str]], widths: Sequence[int] = ()) -> None:
    """Numbers side by side, by label; some with a word on what they mean. `widths`: of the columns, else equal."""
    for column, (label, shown) in zip(st.columns(widths or len(values)), values.items(), strict=True):
        value, meaning = shown if isinstance(shown, tuple) else (shown, None)
        column.metric(label, value, border=True, help=meaning)


def refusal(key: str) -> None:
    """Show why a callback refused, which it left in the session under `key`, until the reader dismisses it."""
    results.show(key, "problem")


def outcome(name: str) -> None:
    """Show what a callback left in the session under `NAME_problem` or `NAME_done`, until it is dismissed."""
    refusal(f"{name}_problem")
    results.show(f"{name}_done")


def csv_download(label: str, make: Callable[[], str], file_name: str, key: str, icon: str | None = None) -> None:
    """Draw a button that downloads a CSV file, made on demand. The page does not rerun, which would lose the file."""
    st.download_button(label, data=make, file_name=file_name, mime="text/csv", key=key, on_click="ignore", icon=icon)


def settled(counts: dict[str, Any]) -> tuple[int, int]:
    """Settled pairs (consensus, adjudicated or discarded) and all pairs, from the counts of `status_counts`."""
    pairs: dict[str, int] = counts["pairs"]
    return pairs["consensus"] + pairs["adjudicated"] + pairs["discarded"], sum(pairs.values())


def table(head: Iterable[str], rows: Iterable[Sequence[str]], style: str = "") -> str:
    """Return a table as HTML, with long texts cut. Its cells are HTML: escape what people wrote."""
    labels = "".join(f"<th scope='col'>{label}</th>" for label in head)
    body = "".join(f"<tr>{''.join(f'<td>{wording.clamped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table class='rr-grades {style}'><tr>{labels}</tr>{body}</table>"


def grade_mark(value: int) -> str:
    """A grade in its colour."""
    return f"<span class='rr-grade rr-r{value}'>{value}</span>"


def text_heading(text: str, more: str = "") -> None:
    """Write a heading of a text that a person wrote; a long one is cut, with a button that shows all of it.

    Args:
        text: a query, say.
        more: Markdown behind it.
    """
    cut = wording.short(text, _HEADING)
    st.header(f"{plain(cut)} {more}".rstrip(), anchor=False)
    if cut != text:
        with st.popover(tr("Show the whole text")):
            st.markdown(plain(text))


def bar(value: float, most: float, more: str = "", form: str = ",") -> str:
    """A number before a bar that is as long as its share of `most`; `more` (HTML) stands behind the number."""
    return f"<span class='rr-pace' style='--share:{value / most:.3f}'>{value:{form}}{more}</span>"


def thumbnail_address(video: str, start_s: float, end_s: float) -> str:
    """Where the picture in the middle of a moment is; for the one of a whole video, from 0 to its duration."""
    return full_path("/moments.webp?") + urlencode({"video": video, "start": start_s, "end": end_s})
