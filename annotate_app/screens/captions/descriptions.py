"""The part "Descriptions" of the page "Captions": review descriptions, choose who describes, edit the guideline.

The page shows one description beside the list of all. The page's URL holds the filter, the search words, the sort
order and which description is shown.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import isolated, plain
from annotate_app.screens.captions import describing_choice
from annotate_app.screens.captions import description_acts as acts
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.case_keys import keys_of, legend_of, neighbours
from annotate_app.shared.long_list import ListColumn, ListRow, long_list
from annotate_app.shared.review_clip import moment_clip, moment_path
from backend.campaign.corpus.describing import opening
from backend.campaign.corpus.describing.model import (
    LONGEST_SENTENCE,
    LONGEST_WORDS,
    DescriptionLine,
    DescriptionReview,
    DescriptionStatus,
    SameSeconds,
)
from backend.campaign.corpus.describing.reviewing import (
    description,
    description_counts,
    description_keys,
    find_descriptions,
)
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId

_NOTHING = {
    DescriptionStatus.WAITING.value: marked("Nothing to review. Every description is accepted or sent back."),
    DescriptionStatus.RETURNED.value: marked("No description is sent back."),
    DescriptionStatus.ACCEPTED.value: marked("No description is accepted yet."),
    acts.ALL: marked("Nobody has written a description yet."),
}
_COLOURS = {
    DescriptionStatus.WAITING: "orange",
    DescriptionStatus.RETURNED: "blue",
    DescriptionStatus.ACCEPTED: "green",
    DescriptionStatus.WITHDRAWN: "gray",
}
_KEYS = (
    ("`A`", marked("accept the sentence in the field")),
    ("`E`", marked("edit the sentence; `Esc` leaves it")),
    ("`W`", marked("write what its author should change; `Enter` sends it back")),
    ("`T`", marked("take back the last decision about it")),
    ("`U`", marked("undo your last action")),
    ("`N` `P`", marked("next, previous")),
    ("`?`", marked("these keys")),
)


def show(project: Project, lead: Person) -> None:
    """Draw the descriptions to review, who may describe, and the guideline for describers, each in a tab."""
    reviewed, who, how = address_state.tabs([marked("Review"), marked("Who describes"), marked("Guideline")])
    with reviewed:
        _review(project, lead)
    with who:
        describing_choice.who(project, lead)
    with how:
        describing_choice.how(project, lead)


def _review(project: Project, lead: Person) -> None:
    counts = description_counts(project, lead)
    total = sum(counts.values()) - counts[DescriptionStatus.WITHDRAWN]
    labels = {
        value: f"{tr(label)}  {total if value == acts.ALL else counts[DescriptionStatus(value)]:,}"
        for value, label in acts.LABELS.items()
    }
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        clears = ("page", acts.ON_SHOW)
        address_state.choice(tr("Show"), "show", labels, clears=clears, label_visibility="collapsed")
        address_state.search(tr("Search: words, video or author"), clears=clears, width=210)
        orders = {value: tr(told) for value, (told, _, _) in acts.ORDERS.items()}
        address_state.choice(
            tr("Order"), "order", orders, clears=clears, box=True, label_visibility="collapsed", width=180
        )
    keys = description_keys(project, lead, acts.description_filter())
    found = _on_show(project, lead, keys)
    if found is None:
        look.outcome(acts.DONE)
        st.success(_empty(project, lead, total), icon=":material/check_circle:")
        acts.undo_button()
        return
    case, beside = st.columns([3, 1], gap="medium")
    with case:
        _bar(found.description, keys)
        _case(found)
    with beside:
        _list(project, lead, len(keys), found.description)
    place = keys.index(found.description) if found.description in keys else -1
    following = keys[place + 1] if 0 <= place < len(keys) - 1 else ""
    then = description(project, lead, following) if following else None
    keys_of(
        "description-keys",
        reason=f".st-key-{acts.words_key(found.description)}",
        edit=f".st-key-{acts.sentence_key(found.description, found.revision)}",
        acts=acts.KEYS,
        following=moment_path(then) if then else None,
    )


def _empty(project: Project, lead: Person, total: int) -> str:
    if address_state.read("q"):
        return tr("No description in this list matches your search.")
    if not total and not opening.describing_choice(project, lead).open:
        return tr(
            "Describing is closed. Open it under “Who describes” to let annotators mark moments and write captions."
        )
    shown = address_state.read("show", DescriptionStatus.WAITING.value)
    return tr(_NOTHING.get(shown, _NOTHING[acts.ALL]))


def _on_show(project: Project, lead: Person, keys: Sequence[str]) -> DescriptionReview | None:
    """Return the description that the page's URL names, else the first one on the current page of the list.

    Return None if there is neither.
    """
    start = (address_state.page_number(-(-len(keys) // acts.PER_PAGE)) - 1) * acts.PER_PAGE
    candidate_keys = [address_state.read(acts.ON_SHOW), *keys[start : start + 1]]
    candidates = (description(project, lead, key) for key in candidate_keys if key)
    shown = next((candidate for candidate in candidates if candidate is not None), None)
    if shown is not None:
        place = keys.index(shown.description) if shown.description in keys else start
        st.session_state[acts.PLACE] = (shown.description, place)
    return shown


def _bar(key: str, keys: Sequence[str]) -> None:
    place = keys.index(key) + 1 if key in keys else None
    with st.container(horizontal=True, vertical_alignment="center", key="case-bar"):
        neighbours("description", place, len(keys), acts.step)
        acts.undo_button()
        legend_of(_KEYS)


def _case(review: DescriptionReview) -> None:
    key = review.description
    with st.container(border=True, key=f"card-{key}"):
        picture, words = st.columns([11, 9], gap="medium")
        with picture:
            moment_clip(review, f"described-{key}-{review.start_s}-{review.end_s}")
            st.caption(f"{plain(wording.moment(review))} ({review.end_s - review.start_s:.1f} s)")
        with words:
            status = tr(acts.LABELS.get(review.status.value, marked("Withdrawn"))).lower()
            badge = f":{_COLOURS[review.status]}-badge[{status}]"
            st.markdown(f"**{plain(review.author)}** {badge}")
            for note in review.notes if review.status is DescriptionStatus.WAITING else ():
                st.caption(f":material/info: {plain(translate_message(note))}")
            _words_of(review)
        look.outcome(acts.DONE)
        _beside(review)


def _words_of(shown_description: DescriptionReview) -> None:
    key, seen = shown_description.description, shown_description.revision
    if shown_description.status is not DescriptionStatus.WAITING:
        st.markdown(f"“{plain(shown_description.caption or shown_description.sentence)}”")
        if shown_description.caption and shown_description.caption != shown_description.sentence:
            st.caption(tr("Its author wrote: “{sentence}”", sentence=plain(shown_description.sentence)))
        if shown_description.words:
            st.caption(tr("Sent back with: “{words}”", words=plain(shown_description.words)))
        if shown_description.status in (DescriptionStatus.ACCEPTED, DescriptionStatus.RETURNED):
            st.button(tr("Take back"), key=f"back-{key}", shortcut="t", on_click=acts.take_back, args=(key,))
        return
    with st.form(f"accept-{key}", border=False):
        st.text_area(
            tr("Sentence"),
            shown_description.sentence,
            key=acts.sentence_key(key, seen),
            max_chars=LONGEST_SENTENCE,
            height=80,
        )
        st.form_submit_button(tr("Accept"), type="primary", shortcut="a", on_click=acts.accept, args=(key, seen))
        for moment_id, text in _moments(shown_description.beside).items():
            st.form_submit_button(
                tr("Accept as another caption of “{short}”", short=_short(text)),
                key=f"into-{key}-{moment_id}",
                on_click=acts.accept,
                args=(key, seen, moment_id),
            )
    with st.form(f"return-{key}", border=False):
        st.text_input(
            tr("What should its author change?"),
            key=acts.words_key(key),
            max_chars=LONGEST_WORDS,
            placeholder=tr("The author reads it"),
        )
        st.form_submit_button(tr("Send back"), on_click=acts.give_back, args=(key, seen))


def _beside(shown_description: DescriptionReview) -> None:
    """Draw a table of other descriptions and moments that cover almost the same seconds of the video."""
    if not shown_description.beside:
        return
    st.markdown(tr("**Other descriptions of the same seconds**"))
    rows = [
        (
            escape(neighbour.sentence) or f"<i>{tr('a moment without a caption')}</i>",
            escape(neighbour.author) or tr("a moment of the project"),
            f"{neighbour.start_s:.2f}–{neighbour.end_s:.2f} s",
            escape(tr(acts.LABELS.get(neighbour.status.value, "")).lower()) if neighbour.status else "",
        )
        for neighbour in (
            SameSeconds(
                shown_description.start_s,
                shown_description.end_s,
                shown_description.sentence,
                tr("{author} (this one)", author=shown_description.author),
            ),
            *shown_description.beside,
        )
    ]
    st.html(look.table((tr("Sentence"), tr("Author"), tr("Seconds"), ""), rows))
    st.caption(tr("Accept one or several: as moments of their own, or as more captions of one moment."))


def _list(project: Project, lead: Person, count: int, key: str) -> None:
    def fetch(first: int, most: int) -> Sequence[ListRow]:
        found = find_descriptions(project, lead, acts.description_filter(), first=first, most=most)
        return [
            ListRow(row.description, (_row(row),), look.thumbnail_address(row.video, row.start_s, row.end_s))
            for row in found
        ]

    long_list(
        tr("Descriptions"),
        (ListColumn(tr("Descriptions")),),
        count,
        fetch,
        opens=acts.ON_SHOW,
        noun="description",
        per_page=acts.PER_PAGE,
        current=key,
    )


def _row(line: DescriptionLine) -> str:
    more = f"{isolated(line.author)} · {isolated(line.video)} · {tr(acts.LABELS[line.status.value]).lower()}"
    return f"{escape(line.sentence)}<small class='rr-of-case'>{escape(more)}</small>"


def _moments(beside: Sequence[SameSeconds]) -> dict[MomentId, str]:
    """Return a label for each existing moment in `beside`, by the moment's id.

    A description can be added to such a moment as another caption. The label is the moment's caption, or its times if
    it has none.
    """
    labels: dict[MomentId, str] = {}
    for neighbour in beside:
        if neighbour.moment_id is not None:
            labels.setdefault(
                neighbour.moment_id, neighbour.sentence or f"{neighbour.start_s:.2f}–{neighbour.end_s:.2f} s"
            )
    return labels


def _short(text: str) -> str:
    return plain(text if len(text) <= 40 else f"{text[:39]}…")
