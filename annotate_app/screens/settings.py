"""The lead's page "Settings": how the campaign is set up, in words, and where each of it is changed."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.pages import PAGES
from annotate_app.plain import plain
from annotate_app.session.addresses import full_path
from annotate_app.shared import look, wording
from backend.campaign.monitoring.activity.log import campaign_settings
from backend.campaign.monitoring.activity.model import CampaignSetting

_TITLES = {page.address: page.title for page in PAGES}


def page() -> None:
    """A table for each part of the campaign."""
    project, lead, _ = look.lead_page("Settings")
    st.markdown(
        tr(
            "What holds in this campaign, what each of it changes, and since when. Every change stands "
            "on the page [Activity]({path}).",
            path=full_path("/activity"),
        )
    )
    for part, settings in groupby(campaign_settings(project, lead), key=lambda one: one.part):
        st.header(plain(retold(part)), anchor=False)
        st.html(settings_table(list(settings), st.context.timezone))


def settings_table(settings: Sequence[CampaignSetting], timezone: str | None) -> str:
    """Settings as HTML: name with what it changes, value, since when and by whom, where it is changed."""
    rows = [
        (
            f"<b>{escape(retold(one.name))}</b><small>{escape(retold(one.changes))}</small>",
            escape(retold(one.value)),
            _since(one, timezone),
            _where(one),
        )
        for one in settings
    ]
    return look.table((tr("Setting"), tr("Now"), tr("Since"), tr("Changed")), rows, "rr-settings")


def _since(one: CampaignSetting, timezone: str | None) -> str:
    if one.since is None:
        return tr("the beginning")
    by = f"<small>{escape(one.by)}</small>" if one.by else f"<small>{tr('a command')}</small>"
    return f"{wording.when(one.since, timezone)}{by}"


def _where(one: CampaignSetting) -> str:
    page = tr("page {title}", title=tr(_TITLES[one.where.partition("?")[0]])) if one.where else ""
    way = full_path(f"/{one.where}")
    link = f"<a href='{way}' target='_self'>{escape(page)}</a>" if one.where else ""
    how = escape(retold(one.how))
    if link and how:
        how = f"<small>{how}</small>"
    return f"{link}{how}"
