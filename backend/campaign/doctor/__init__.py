"""Check and repair a project, and back up, restore, migrate and move its database."""
