"""How wrong the pools are that a project checks, as leads read it on the page Progress."""

from html import escape

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import tables, wording
from backend.campaign.selection.pool_check.model import CheckReport, PutInAs, Share

_WRONG = {PutInAs.POSITIVE: marked("positive, does not match"), PutInAs.NEGATIVE: marked("negative, matches")}


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
    return tables.table(head, [(name, *_cells(share)) for name, share in rows.items()], "rr-shares")


def wrong_table(found: CheckReport) -> str:
    """Every wrong video, by query."""
    rows = [(escape(one.query), escape(one.video), tr(_WRONG[one.put_in_as])) for one in found.wrong]
    return tables.table((tr("Query"), tr("Video"), tr("In the pool as")), rows)


def _cells(share: Share) -> tuple[str, ...]:
    counts = ((share.waiting, "waiting"), (share.undecided, "undecided"))
    left = ", ".join(f"{count:,} {what}" for count, what in counts if count) or tr("none")
    if share.share is None or share.low is None or share.high is None:
        return tr("none settled yet"), "", "", left
    percent = (f"<b>{share.share:.1%}</b>", tr("{low:.1%} to {high:.1%}", low=share.low, high=share.high))
    return tr("{wrong:,} of {settled:,}", wrong=share.wrong, settled=share.settled), *percent, left
