"""Sections of the page Progress: the funnel of the campaign, the check of pools, backups."""

import time
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from backend.campaign.doctor.database import backup_now, list_backups
from backend.campaign.monitoring.explore.model import Funnel
from backend.campaign.nouns import Person
from backend.campaign.selection.pools.model import CheckReport, PutInAs, Share
from backend.campaign.setup.project.folder import Project

_SETTLED_BY = {4: marked("settled by four"), 6: marked("settled by six")}
_WRONG = {PutInAs.POSITIVE: marked("positive, does not match"), PutInAs.NEGATIVE: marked("negative, matches")}
_SHOWN = 10


class Step(NamedTuple):
    """A part of the pairs; its bar begins at `start`, in pairs, where those of the part before it end."""

    words: str
    pairs: int
    start: int
    depth: int
    style: str


def steps(found: Funnel) -> Iterator[Step]:
    """Every step that has a pair, those that it falls into after it; the main ones always."""
    yield Step(tr("handed out"), found.pairs, 0, 0, "all")
    yield Step(tr("graded by two"), found.graded_by_two, 0, 1, "all")
    yield Step(tr("settled by two"), found.settled_by_two, 0, 2, "consensus")
    at = found.settled_by_two
    if found.decided_at_once:
        yield Step(tr("decided by a lead at once"), found.decided_at_once, at, 2, "adjudicated")
    at += found.decided_at_once
    yield Step(tr("went on to two more people"), found.escalated, at, 2, "escalated")
    ends = [
        *(
            (tr(_SETTLED_BY.get(asked, marked("settled by {people}")), people=asked), count, "consensus")
            for asked, count in found.settled_by.items()
        ),
        (tr("discarded: no consensus"), found.discarded, "discarded"),
        (tr("discard confirmed by a lead"), found.confirmed, "discarded"),
        (tr("decided by a lead"), found.decided, "adjudicated"),
        (tr("wait for further grades"), found.waiting_further, "escalated"),
    ]
    for words, count, style in ends:
        if count:
            yield Step(words, count, at, 3, style)
        at += count
    if found.waiting_first:
        yield Step(tr("wait for their first two grades"), found.waiting_first, found.graded_by_two, 1, "open")


def funnel(found: Funnel) -> str:
    """The steps as a list; a bar is as long as its share of all pairs. Nothing where no pair was handed out."""
    rows = "".join(
        f"<li style='--depth:{step.depth}'><span>{step.words}</span><i aria-hidden='true'><i class='rr-v-{step.style}' "
        f"style='margin-left:{step.start / found.pairs:.3%};width:{step.pairs / found.pairs:.3%}'></i></i>"
        f"<b>{step.pairs:,}</b> <small>{wording.percent(100 * step.pairs / found.pairs)}</small></li>"
        for step in steps(found)
        if found.pairs
    )
    return f"<ol class='rr-funnel' aria-label='{tr('How the pairs came to what they are')}'>{rows}</ol>"


def pool_check(found: CheckReport) -> None:
    """The shares with their intervals, and which videos are wrong."""
    st.subheader(tr("Wrong videos in the pools"), anchor=False)
    st.html(share_table(found))
    st.caption(
        tr(
            "Of {file}: {querys} of {queries:,}. Intervals are Wilson's, of 95 %. Undecided are videos "
            "on which two people stood against two.",
            file=plain(found.facts.file),
            querys=wording.count_of(found.facts.drawn, "query"),
            queries=found.facts.queries,
        )
    )
    if found.wrong:
        with st.expander(wording.count_of(len(found.wrong), "wrong video")):
            st.html(wrong_table(found))


def share_table(found: CheckReport) -> str:
    """Positives that do not match, negatives that do, and both together."""
    rows = {
        tr("positives that do not match"): found.positives,
        tr("negatives that match"): found.negatives,
        "together": found.together,
    }
    head = ("", tr("Wrong"), tr("Share"), tr("95 % interval"), tr("Not settled"))
    return look.table(head, [(name, *_cells(share)) for name, share in rows.items()], "rr-shares")


def wrong_table(found: CheckReport) -> str:
    """Every wrong video, by query."""
    rows = [(escape(one.query), escape(one.video), tr(_WRONG[one.put_in_as])) for one in found.wrong]
    return look.table((tr("Query"), tr("Video"), tr("In the pool as")), rows)


def _cells(share: Share) -> tuple[str, ...]:
    counts = ((share.waiting, "waiting"), (share.undecided, "undecided"))
    left = ", ".join(f"{count:,} {what}" for count, what in counts if count) or tr("none")
    if share.share is None or share.low is None or share.high is None:
        return tr("none settled yet"), "", "", left
    percent = (f"<b>{share.share:.1%}</b>", tr("{low:.1%} to {high:.1%}", low=share.low, high=share.high))
    return tr("{wrong:,} of {settled:,}", wrong=share.wrong, settled=share.settled), *percent, left


def backups(project: Project, lead: Person) -> None:
    """The button, and a line for each of the newest copies."""
    st.subheader(tr("Backups"), anchor=False)
    st.caption(
        tr(
            "Consistent copies of the database, made while people go on working. They are kept in the "
            "project's folder under backups/. The zips of releases are not in them: copy the folder "
            "releases/ too."
        )
    )
    look.refusal("backup_problem")
    st.button(tr("Back up now"), key="back_up", on_click=_back_up, icon=":material/shield:")
    found = list_backups(project, lead)
    for number, one in enumerate(found[:_SHOWN]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"backup-{number}"):
            made = wording.when(one.made_at, st.context.timezone)
            st.markdown(
                tr(
                    "{name} · {megabytes:,.1f} MB · made {made}",
                    name=plain(one.file.name),
                    megabytes=one.megabytes,
                    made=made,
                ),
                width="stretch",
            )
            # Read on the click only: the copy may be large, and most runs of this page do not need it.
            st.download_button(
                tr("Download"),
                data=one.file.read_bytes,
                file_name=one.file.name,
                mime="application/vnd.sqlite3",
                key=f"download-backup-{number}",
                on_click="ignore",
            )
    if len(found) > _SHOWN:
        st.caption(
            tr("And {older_ones} under backups/.", older_ones=wording.count_of(len(found) - _SHOWN, "older one"))
        )


@look.lead_callback("backup_problem")
def _back_up(project: Project, lead: Person) -> None:
    """Makes the copy, or leaves a message why not."""
    backup_now(project, lead, now=time.time())
