"""A lead sees that the server does not answer, and that it is back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from backend.campaign.demo import demo_people
from hands import page_is_done

pytestmark = pytest.mark.browser
LEAD = demo_people()[0]


def test_a_lead_sees_an_outage(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD)
    page_is_done(page)
    bar = page.locator(".rr-offline")
    expect(bar).to_be_hidden()
    page.context.set_offline(True)
    expect(bar).to_contain_text("The server does not answer.")
    expect(bar).to_be_in_viewport()
    page.context.set_offline(False)
    expect(bar).to_be_hidden()
