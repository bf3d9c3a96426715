"""The lead's page "Rewrites": imprecise captions that neither rules nor a model could make well enough."""

import streamlit as st

from annotate_app.language import as_builtins, tr
from annotate_app.plain import plain
from annotate_app.widgets import look
from annotate_app.widgets.rewrites import rewrites
from backend import api
from backend.campaign.captions.model import RewriteCounts


def page() -> None:
    """The rewrite that waits, with the keys that decide about it; once queries were drawn, only how it ended."""
    project, lead, _ = look.lead_page("Rewrites")
    queue = api.rewrite_queue(project, lead)
    if not queue.counts.rewritten:
        drawn = tr("Queries were drawn from the captions as published.")
        st.info(
            tr(
                "No caption was rewritten yet. {fixed}",
                fixed=drawn if queue.fixed else tr("Next: {then}", then=plain(queue.then)),
            )
        )
    elif queue.fixed:
        st.info(tr("Queries were drawn from these captions, so their texts are fixed now."), icon=":material/lock:")
        _how_it_ended(queue.counts)
    else:
        rewrites(as_builtins(queue), lead)


def _how_it_ended(counts: RewriteCounts) -> None:
    labels = {
        tr("Accepted"): counts.accepted,
        tr("By hand"): counts.by_hand,
        tr("Retried"): counts.retried,
        tr("Rejected"): counts.rejected,
        tr("Never decided"): counts.waiting,
    }
    look.metrics({label: f"{value:,}" for label, value in labels.items()})
