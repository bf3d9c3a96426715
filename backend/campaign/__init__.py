"""Run an annotation campaign: turn a corpus of videos and captions into a released data set of graded query-clip pairs.

Each feature, such as importing or grading, has a folder. The import rules in pyproject.toml say which folder may import
which. ReelRank's other part, `backend.scoring`, scores the results of search systems.
"""
