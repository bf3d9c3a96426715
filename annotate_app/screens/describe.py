"""The annotators' page for describing: a video, its moments, a sentence for each. The menu has it while it is open."""

from annotate_app.session import auth
from annotate_app.widgets import describe
from backend.campaign.nouns import Role


def page() -> None:
    """Show the desk of describing; from then on it talks to `/describe/` by itself, and says where it is closed."""
    describe.desk(auth.require(Role.ANNOTATOR))
