"""Set a campaign up: its project folder, its settings and the people who work in it."""
