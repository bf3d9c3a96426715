"""Kept truths and runs, the leaderboard, and baselines to compare with."""
