"""Score runs (systems' ranked predictions) against graded truth. Nothing here uses a campaign, database or video."""
