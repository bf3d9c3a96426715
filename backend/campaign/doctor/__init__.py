"""Check and repair a project, back up its database, restore, migrate and move it."""
