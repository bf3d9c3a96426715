"""Sections of the page Release: list of releases, licence and citation, and differences between two releases."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from annotate_app.language import retold, tr
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
"""Option in the list of licences for one that is typed."""
_NONE = " "
"""Option for no release; no release can have this name."""


def releases(project: Project, lead: Person, found: Sequence[KeptRelease]) -> None:
    """Draw a line for each release, the newest first."""
    st.header(tr("Releases"), anchor=False)
    look.outcome("remove_release")
    if not found:
        st.caption(tr("No release yet. Releases are kept here; download them at any time."))
    for number, one in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept-release-{number}"):
            st.markdown(release_text(one, st.context.timezone), width="stretch")
            if one.megabytes is not None:
                st.download_button(
                    tr("Download"),
                    data=_reader(project, lead, one.name),
                    file_name=Path(one.file or "").name,
                    mime="application/zip",
                    key=f"download-release-{number}",
                    # A rerun between the click and the download would delete the file.
                    on_click="ignore",
                )
            _removing(one, number)


def _removing(one: KeptRelease, number: int) -> None:
    """Draw the button that removes a release, with fields for its name and a reason."""
    with (
        st.popover(tr("Remove"), key=f"removing-release-{number}"),
        st.form(f"remove-release-{one.name}", border=False),
    ):
        st.markdown(
            tr(
                "This deletes the files of the release for good. Its name, its manifest and your reason stay on "
                "record. To confirm, type the name: **{name}**",
                name=plain(one.name),
            )
        )
        st.text_input(tr("Name of the release"), key=f"remove-name-{one.name}")
        st.text_input(tr("Reason"), key=f"remove-reason-{one.name}", max_chars=LONGEST_REASON)
        st.form_submit_button(tr("Remove release"), type="primary", on_click=_remove, args=(one.name,))


@look.lead_callback("remove_release_problem")
def _remove(project: Project, lead: Person, name: str) -> None:
    """Remove the release if its name was typed, as the callback of the form."""
    typed, reason = st.session_state[f"remove-name-{name}"], st.session_state[f"remove-reason-{name}"]
    remove_release(project, lead, name, typed, reason, now=time.time())
    st.session_state["remove_release_done"] = tr("The release {name} is removed.", name=name)


def release_text(one: KeptRelease, timezone: str | None) -> str:
    """Return a description of a release as Markdown: its name, content and origin."""
    who = tr(" by {made_by}", made_by=plain(one.made_by)) if one.made_by else ""
    held = tr("counts in its manifest")
    if one.val_queries is not None and one.test_queries is not None and one.moments is not None:
        held = tr(
            "{val_queries:,} validation and {test_queries}, {graded_moments}",
            val_queries=one.val_queries,
            test_queries=wording.count_of(one.test_queries, "test query"),
            graded_moments=wording.count_of(one.moments, "graded moment"),
        )
    size = f"{one.megabytes:,.1f} MB" if one.megabytes is not None else ""
    lost = "" if size else tr(" · :red[**its file is missing**]") if one.file else tr(" · only its manifest remains")
    settings = f" · {'; '.join(map(retold, one.settings))}" if one.settings else ""
    notes = f"  \n{plain(one.notes)}" if one.notes else ""
    return tr(
        "**{name}** · {held}{settings}{notes}  \n:gray[Made {when}{who} · SHA-256 of its manifest "
        "`{sha256}`{size}]{lost}",
        name=plain(one.name),
        held=held,
        settings=settings,
        notes=notes,
        when=wording.when(one.made_at, timezone),
        who=who,
        sha256=one.sha256[:16],
        size=f" · {size}" if size else "",
        lost=lost,
    )


def _reader(project: Project, lead: Person, name: str) -> Callable[[], bytes]:
    """Return a function that checks and reads the zip of a release. It runs at the click: the zip can be large."""
    return lambda: release_file(project, lead, name).read_bytes()


def release_terms(project: Project, lead: Person) -> None:
    """Draw the form for licence and citation, in an expander that is closed once they are set."""
    found = terms.release_terms(project, lead)
    with (
        st.container(key="release-terms"),
        st.expander(
            tr("Licence and citation: {value}", value=plain(found.licence or tr("no licence chosen"))), expanded=False
        ),
    ):
        if found.at is not None:
            because = f": {plain(found.reason)}" if found.reason else ""
            who = plain(found.by or tr("the command line"))
            st.caption(
                tr(
                    "Set by {who}, {when}{because}",
                    who=who,
                    when=wording.when(found.at, st.context.timezone),
                    because=because,
                )
            )
        # Typing in the select box is off: Streamlit would keep a half-typed search as the value.
        offered = list(dict.fromkeys([*([found.licence] if found.licence else []), *LICENCES, _OTHER]))
        chosen = st.selectbox(
            tr("Licence"),
            offered,
            index=0 if found.licence else None,
            key="terms_licence",
            format_func=lambda one: tr("Another licence") if one == _OTHER else one,
            placeholder=tr("Choose a licence"),
        )
        if chosen == _OTHER:
            st.text_input(tr("Text of the licence"), key="terms_other", max_chars=terms.LONGEST_LICENCE)
        st.text_area(
            tr("How to cite it"),
            found.citation,
            key="terms_citation",
            placeholder=tr("A sentence, or a BibTeX entry"),
        )
        st.text_input(tr("Reason"), key="terms_reason", help=tr("Needed to change an earlier licence or citation."))
        st.button(tr("Save"), key="terms_save", on_click=_save)
        look.outcome("terms")
    warn_unsaved("release-terms", saved=str(found.at))


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


def release_diff(project: Project, lead: Person, found: Sequence[KeptRelease]) -> None:
    """Draw the choice of two releases, kept in the address, and their differences; nothing for fewer than two."""
    names = {one.name: one.name for one in found if one.megabytes is not None}
    if len(names) < 2:
        return
    st.header(tr("What changed"), anchor=False)
    with st.container(horizontal=True):
        # The comparison starts only on request: for two large releases it takes seconds.
        was = address_state.choice(tr("From"), "from", {_NONE: tr("Choose a release"), **names}, box=True)
        now = address_state.choice(tr("To"), "to", names, box=True)
    if was == _NONE:
        return
    if was == now:
        st.caption(tr("Choose two different releases."))
        return
    hashes = {one.name: one.sha256 for one in found}
    try:
        with st.spinner(tr("Comparing")):
            changes = _compared(project, lead, str(project.folder), was, now, hashes[was], hashes[now])
    except ReelRankError as refusal:
        st.error(plain(retold(refusal)))
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
    _changes(tr("Queries"), [_query(one) for one in changes.queries])
    _changes(tr("Pairs of queries in both releases"), [_pair(one) for one in changes.pairs])
    look.csv_download(tr("All changes as CSV"), partial(diff_csv, changes), f"changes-{was}-{now}.csv", "diff_csv")


@st.cache_data(max_entries=8, show_spinner=False)
def _compared(
    _project: Project, _lead: Person, folder: str, was: str, now: str, hash_was: str, hash_now: str
) -> ReleaseDiff:
    """Compare two releases. The result is cached: releases never change, and reading large ones takes seconds."""
    return release_changes(_project, _lead, was, now)


def _query(one: QueryChange) -> str:
    before, after = (plain(text) or "–" for text in (one.before, one.after))
    return tr(
        "Query {query_id} · {before} **→** {after}{why}",
        query_id=one.query_id,
        before=before,
        after=after,
        why=_why(one.reason),
    )


def _pair(one: PairChange) -> str:
    before, after = ("–" if value is None else str(value) for value in (one.before, one.after))
    return f"**{before} → {after}** · {plain(one.query)} · {plain(wording.moment(one))}{_why(one.reason)}"


def _why(reason: str) -> str:
    return f"  \n:gray[{plain(retold(reason))}]" if reason else ""


def _changes(title: str, lines: Sequence[str]) -> None:
    """Draw changes as paragraphs, which fit on a phone."""
    if not lines:
        return
    st.markdown(f"**{title}** · {len(lines):,}")
    st.markdown("\n\n".join(lines[:_CHANGES_SHOWN]))
    if len(lines) > _CHANGES_SHOWN:
        others = wording.count_of(len(lines) - _CHANGES_SHOWN, "other")
        st.caption(tr("And {others}. The CSV file has all of them.", others=others))
