"""Draw sections of the page "Release": earlier releases, licence and citation, and changes between two releases."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from annotate_app.language import tr, translate_message
from annotate_app.plain import plain
from annotate_app.shared import address_state, look, results, wording
from annotate_app.shared.unsaved import warn_unsaved
from backend.campaign.nouns import Person
from backend.campaign.release.export import terms
from backend.campaign.release.export.diffing import diff_csv
from backend.campaign.release.export.kept_releases import release_changes, release_file
from backend.campaign.release.export.model import LICENCES, KeptRelease
from backend.campaign.release.export.removing import LONGEST_REASON, remove_release
from backend.campaign.release.export.rules.diffing import PairChange, QueryChange, ReleaseDiff
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, ReelRankError

_CHANGES_SHOWN = 100
_OTHER = "other"
"""The entry in the list of licences that lets the lead type another licence."""
_NONE = " "
"""The value for no release. No release can have this name."""


def releases(project: Project, lead: Person, kept_releases: Sequence[KeptRelease]) -> None:
    """Draw a line for each release, newest first, with the buttons to download and remove it."""
    st.header(tr("Releases"), anchor=False)
    look.outcome("remove_release")
    if not kept_releases:
        st.caption(tr("No release yet. Releases are kept here; download them at any time."))
    for number, release in enumerate(kept_releases):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept-release-{number}"):
            st.markdown(release_text(release, st.context.timezone), width="stretch")
            if release.megabytes is not None:
                st.download_button(
                    tr("Download"),
                    data=_reader(project, lead, release.name),
                    file_name=Path(release.file or "").name,
                    mime="application/zip",
                    key=f"download-release-{number}",
                    # With a new run, the file could be gone before the browser fetches it.
                    on_click="ignore",
                )
            _removing(release, number)


def _removing(release: KeptRelease, number: int) -> None:
    """Draw the form that removes a release after the lead types its name and a reason."""
    with (
        st.popover(tr("Remove"), key=f"removing-release-{number}"),
        st.form(f"remove-release-{release.name}", border=False),
    ):
        st.markdown(
            tr(
                "This deletes the files of the release for good. Its name, its manifest and your reason stay on "
                "record. To confirm, type the name: **{name}**",
                name=plain(release.name),
            )
        )
        st.text_input(tr("Name of the release"), key=f"remove-name-{release.name}")
        st.text_input(tr("Reason"), key=f"remove-reason-{release.name}", max_chars=LONGEST_REASON)
        st.form_submit_button(tr("Remove release"), type="primary", on_click=_remove, args=(release.name,))


@look.lead_callback("remove_release_problem")
def _remove(project: Project, lead: Person, name: str) -> None:
    """Remove the release, if the lead typed its name to confirm."""
    typed, reason = st.session_state[f"remove-name-{name}"], st.session_state[f"remove-reason-{name}"]
    remove_release(project, lead, name, typed, reason, now=time.time())
    st.session_state["remove_release_done"] = tr("The release {name} is removed.", name=name)


def release_text(release: KeptRelease, timezone: str | None) -> str:
    """Return a release as Markdown: its name, its contents, and who made it and when."""
    who = tr(" by {made_by}", made_by=plain(release.made_by)) if release.made_by else ""
    contents = tr("counts in its manifest")
    if release.val_queries is not None and release.test_queries is not None and release.moments is not None:
        contents = tr(
            "{val_queries:,} validation and {test_queries}, {graded_moments}",
            val_queries=release.val_queries,
            test_queries=wording.count_of(release.test_queries, "test query"),
            graded_moments=wording.count_of(release.moments, "graded moment"),
        )
    size = f"{release.megabytes:,.1f} MB" if release.megabytes is not None else ""
    lost = (
        "" if size else tr(" · :red[**its file is missing**]") if release.file else tr(" · only its manifest remains")
    )
    settings = f" · {'; '.join(map(translate_message, release.settings))}" if release.settings else ""
    notes = f"  \n{plain(release.notes)}" if release.notes else ""
    return tr(
        "**{name}** · {held}{settings}{notes}  \n:gray[Made {when}{who} · SHA-256 of its manifest "
        "`{sha256}`{size}]{lost}",
        name=plain(release.name),
        held=contents,
        settings=settings,
        notes=notes,
        when=wording.when(release.made_at, timezone),
        who=who,
        sha256=release.sha256[:16],
        size=f" · {size}" if size else "",
        lost=lost,
    )


def _reader(project: Project, lead: Person, name: str) -> Callable[[], bytes]:
    """Return a function that checks a release's zip file and returns its bytes.

    The page calls it only on a click, because the file can be large.
    """
    return lambda: release_file(project, lead, name).read_bytes()


def release_terms(project: Project, lead: Person) -> None:
    """Draw a collapsed section with the licence and citation of releases, and the form that changes them."""
    current_terms = terms.release_terms(project, lead)
    with (
        st.container(key="release-terms"),
        st.expander(
            tr("Licence and citation: {value}", value=plain(current_terms.licence or tr("no licence chosen"))),
            expanded=False,
        ),
    ):
        if current_terms.at is not None:
            because = f": {plain(current_terms.reason)}" if current_terms.reason else ""
            who = plain(current_terms.by or tr("the command line"))
            st.caption(
                tr(
                    "Set by {who}, {when}{because}",
                    who=who,
                    when=wording.when(current_terms.at, st.context.timezone),
                    because=because,
                )
            )
        # The box allows no typing: Streamlit would store what somebody typed to search the list.
        offered = list(dict.fromkeys([*([current_terms.licence] if current_terms.licence else []), *LICENCES, _OTHER]))
        chosen = st.selectbox(
            tr("Licence"),
            offered,
            index=0 if current_terms.licence else None,
            key="terms_licence",
            format_func=lambda one: tr("Another licence") if one == _OTHER else one,
            placeholder=tr("Choose a licence"),
        )
        if chosen == _OTHER:
            st.text_input(tr("Text of the licence"), key="terms_other", max_chars=terms.LONGEST_LICENCE)
        st.text_area(
            tr("How to cite it"),
            current_terms.citation,
            key="terms_citation",
            placeholder=tr("A sentence, or a BibTeX entry"),
        )
        st.text_input(tr("Reason"), key="terms_reason", help=tr("Needed to change an earlier licence or citation."))
        st.button(tr("Save"), key="terms_save", on_click=_save)
        look.outcome("terms")
    warn_unsaved("release-terms", saved=str(current_terms.at))


@look.lead_callback("terms_problem")
def _save(project: Project, lead: Person) -> None:
    licence = st.session_state["terms_licence"] or ""
    if licence == _OTHER and not (licence := st.session_state["terms_other"].strip()):
        raise ProjectError(tr("Enter the text of the licence, or choose one from the list."))
    terms.set_release_terms(
        project,
        lead,
        licence=licence,
        citation=st.session_state["terms_citation"],
        reason=st.session_state["terms_reason"],
        now=time.time(),
    )
    st.session_state["terms_reason"] = ""
    st.session_state.pop("terms_licence", None)
    results.leave("terms", tr("Licence and citation saved."))


def release_diff(project: Project, lead: Person, kept_releases: Sequence[KeptRelease]) -> None:
    """Draw the choice of two releases and what changed between them. The page's URL holds the choice.

    Draw nothing while there are fewer than two releases.
    """
    names = {release.name: release.name for release in kept_releases if release.megabytes is not None}
    if len(names) < 2:
        return
    st.header(tr("What changed"), anchor=False)
    with st.container(horizontal=True):
        # Compare only on request: two large releases take seconds.
        was = address_state.choice(tr("From"), "from", {_NONE: tr("Choose a release"), **names}, box=True)
        now = address_state.choice(tr("To"), "to", names, box=True)
    if was == _NONE:
        return
    if was == now:
        st.caption(tr("Choose two different releases."))
        return
    hashes = {release.name: release.sha256 for release in kept_releases}
    try:
        with st.spinner(tr("Comparing")):
            changes = _compared(project, lead, str(project.folder), was, now, hashes[was], hashes[now])
    except ReelRankError as refusal:
        st.error(plain(translate_message(refusal)))
        return
    if changes.equal:
        st.info(
            tr(
                "{was} and {now} have the same ground truth. Graded moments: {same:,}.",
                was=plain(was),
                now=plain(now),
                same=changes.same,
            )
        )
        return
    st.markdown(
        tr(
            "**{queries}** changed. Moments: **{same:,}** as before, **{moved:,}** with another relevance, "
            "**{gone:,}** gone, **{new:,}** new.",
            queries=wording.count_of(len(changes.queries), "query"),
            same=changes.same,
            moved=sum(changes.moved.values()),
            gone=changes.moments_gone,
            new=changes.moments_new,
        )
    )
    _changes(tr("Queries"), [_query(release) for release in changes.queries])
    _changes(tr("Pairs of queries in both releases"), [_pair(release) for release in changes.pairs])
    look.csv_download(tr("All changes as CSV"), partial(diff_csv, changes), f"changes-{was}-{now}.csv", "diff_csv")


@st.cache_data(max_entries=8, show_spinner=False)
def _compared(
    _project: Project, _lead: Person, folder: str, was: str, now: str, hash_was: str, hash_now: str
) -> ReleaseDiff:
    """Return what changed between two releases, cached because large releases take seconds to compare.

    `was` and `now` are the names of the two releases; changes are told from the first to the second. The cache key is
    these names, the project's folder, and the hashes of both releases.
    """
    return release_changes(_project, _lead, was, now)


def _query(change: QueryChange) -> str:
    before, after = (plain(text) or "–" for text in (change.before, change.after))
    return tr(
        "Query {query_id} · {before} **→** {after}{why}",
        query_id=change.query_id,
        before=before,
        after=after,
        why=_why(change.reason),
    )


def _pair(change: PairChange) -> str:
    before, after = ("–" if value is None else str(value) for value in (change.before, change.after))
    return f"**{before} → {after}** · {plain(change.query)} · {plain(wording.moment(change))}{_why(change.reason)}"


def _why(reason: str) -> str:
    return f"  \n:gray[{plain(translate_message(reason))}]" if reason else ""


def _changes(title: str, lines: Sequence[str]) -> None:
    """Draw a list of changes under a title, each as a paragraph, which fits a phone's screen better than a table."""
    if not lines:
        return
    st.markdown(f"**{title}** · {len(lines):,}")
    st.markdown("\n\n".join(lines[:_CHANGES_SHOWN]))
    if len(lines) > _CHANGES_SHOWN:
        others = wording.count_of(len(lines) - _CHANGES_SHOWN, "other")
        st.caption(tr("And {others}. The CSV file has all of them.", others=others))
