"""The registry of settings: each stands once, with its home, unit, default, range and meaning.

A setting of `reelrank.toml` is a field in `file`, one of the database or the environment an entry in `model`. `listing`
has the lines that leads read, of one setting or a few; docs/operations.md has the table of all, written by `make docs`.
"""
