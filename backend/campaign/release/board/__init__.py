"""Kept truths and runs, and the leaderboard."""
