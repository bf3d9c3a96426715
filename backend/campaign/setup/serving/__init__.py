"""State and background jobs that all server processes of a project share."""
