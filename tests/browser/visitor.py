"""Somebody at a browser, as far as servers see: what pages and the player send, with one cookie jar."""

import re
from functools import partial
from typing import Any

import httpx

from backend.campaign.demo import demo_people

_, _, PASSWORD = demo_people()
ask = partial(httpx.request, verify=False)
"""`httpx.request` without reading the certificates of all authorities, which takes longer than most answers."""


class Visitor:
    """A browser that may be sent to either front end: one cookie jar, as names of hosts have whatever their port."""

    def __init__(self) -> None:
        self.client = httpx.Client(timeout=30, verify=False)

    def sign_in(self, at: str, name: str, password: str = PASSWORD) -> int:
        """The form of the page, sent back; the status of the answer."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.client.get(f"{at}/session/sign-in?other").text)
        assert found is not None
        fields = {"csrf": found[1], "name": name, "password": password}
        return self.client.post(f"{at}/session/sign-in", data=fields).status_code

    def sign_out(self, at: str) -> None:
        """The button in the header."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.client.get(f"{at}/session/account").text)
        assert found is not None
        assert self.client.post(f"{at}/session/sign-out", data={"csrf": found[1]}).status_code == 303

    def exchange(self, at: str, **sent: Any) -> dict[str, Any]:
        """What the player sends at a key press."""
        answer = self.client.post(f"{at}/desk/exchange", json=sent, headers={"X-ReelRank": "1"})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def menu(self, at: str) -> dict[str, str]:
        """What stands behind the titles of a lead's menu."""
        answer = self.client.get(f"{at}/lead/waiting", headers={"X-ReelRank": "1"})
        counts: dict[str, str] = answer.json()["counts"]
        return counts
