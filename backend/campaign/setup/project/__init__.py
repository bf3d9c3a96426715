"""Project folders, each with its settings, its database and a cache."""
