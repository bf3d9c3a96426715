"""Read the files of an earlier campaign from bytes, without access to disk or project."""
