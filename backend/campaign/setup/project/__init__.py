"""A project is a folder."""
