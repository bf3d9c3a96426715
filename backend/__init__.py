"""ReelRank's back end: from a folder of videos to graded pairs of query and video moment, and scores of systems.

People use the `reelrank` command. Programs use the package `reelrank`, `backend.api`, or the other packages of
`backend`. docs/pipeline.md describes the stages, and docs/concepts.md explains the terms.
"""

__version__ = "1.0.0"
