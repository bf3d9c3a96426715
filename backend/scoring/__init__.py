"""Score runs against graded truth (the first of the two products). It uses no campaign, database or video."""
