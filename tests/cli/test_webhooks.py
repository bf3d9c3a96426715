"""The commands `reelrank webhooks add|list|remove|test|resend`."""

import json

from cli.conftest import Run
from support import Judging

URL = "https://hooks.example.org/reelrank?room=7"


def test_a_webhook_from_its_beginning_to_its_end(reelrank: Run, judging: Judging) -> None:
    folder = judging.project.folder
    assert reelrank.out("webhooks", "list", folder) == "There is no webhook.\n"
    told = reelrank.out("webhooks", "add", folder, URL, "--events", "batch.done, release.made").splitlines()
    assert told[0].startswith("Webhook 1 is added.")
    assert told[1].startswith("whsec_")
    listed = reelrank.out("webhooks", "list", folder)
    assert listed.splitlines()[1].split() == ["1", URL, "batch.done,", "release.made"]
    assert told[1] not in listed
    assert reelrank.out("webhooks", "test", folder, "1").startswith("Message 1 is sent within seconds")
    found = json.loads(reelrank.out("webhooks", "list", folder, "--json"))
    assert [webhook["url"] for webhook in found["webhooks"]] == [URL]
    assert [(sent["topic"], sent["state"]) for sent in found["deliveries"]] == [("test", "waiting")]
    assert told[1] not in json.dumps(found)
    assert reelrank.out("webhooks", "resend", folder, "1").startswith("Message 1 is sent again")
    assert reelrank.out("webhooks", "remove", folder, "1") == "The webhook to hooks.example.org is removed.\n"
    assert reelrank.out("webhooks", "list", folder) == "There is no webhook.\n"


def test_what_is_refused_says_why(reelrank: Run, judging: Judging) -> None:
    folder = judging.project.folder
    for arguments, why in (
        (("add", folder, "http://hooks.example.org/"), "has to begin with https://"),
        (("add", folder, URL, "--events", "batch.done,coffee"), "'coffee' is no event: choose from batch.done"),
        (("add", folder, URL, "--secret", "mine"), "a secret is whsec_"),
        (("remove", folder, "7"), "there is no such webhook"),
        (("test", folder, "7"), "there is no such webhook"),
        (("resend", folder, "7"), "there is no such message"),
    ):
        code, _, said = reelrank("webhooks", *arguments)
        assert (code, why in said) == (1, True), said
