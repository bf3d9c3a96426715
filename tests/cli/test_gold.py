"""The commands about silent gold: what they say, what they refuse, JSON for scripts."""

import pytest

from support import Judging


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Five settled pairs with a clip, of relevance 0 to 4, and people with a password."""
    judging.rows("UPDATE video SET path = name, sha256 = name")
    judging.rows("UPDATE annotator SET password_hash = 'x'")
    judging.rows("UPDATE campaign SET gold_key = 'k'")
