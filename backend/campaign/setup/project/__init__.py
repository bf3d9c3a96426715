"""Open and create projects: a folder each, with settings, a database and a cache."""
