"""Read the files of an earlier campaign, without access to disk or project."""
