"""Run an annotation campaign: turn a corpus of videos and captions into a released data set of graded query-clip pairs.

Each feature has a folder. The contracts in pyproject.toml say which feature may import which. ReelRank's other part,
`backend.scoring`, scores the runs of search systems.
"""
