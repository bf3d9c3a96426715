"""ReelRank's back end: every stage from a folder of videos to scored ground truth.

People use the `reelrank` command. Programs use the package `reelrank`, `backend.api`, or the functions that the
packages of `backend` offer. See docs/pipeline.md for the stages, and docs/concepts.md for what the words mean.
"""

__version__ = "1.0.0"
