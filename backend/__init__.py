"""ReelRank's back end: every stage from a folder of videos to scored ground truth.

Programs use `backend.api`; people use the `reelrank` command. See docs/pipeline.md for the stages and
docs/concepts.md for the words.
"""

__version__ = "1.0.0"
