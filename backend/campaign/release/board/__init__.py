"""Ground truths and runs stored in a project, the leaderboard, and baselines to compare with."""
