"""The annotator's page: one clip, one query, the grades."""

import time
from dataclasses import asdict

from annotate_app.session import auth
from annotate_app.widgets.player.player import player
from backend import api
from backend.campaign.nouns import Role


def page() -> None:
    """Show the signed-in annotator's desk.

    This runs once when the page opens; from then on the player talks to `/desk/exchange` by itself.
    """
    person = auth.require(Role.ANNOTATOR)
    desk = api.desk(auth.project(), person, now=time.time())
    player(asdict(desk), person)
