"""Score retrieval in pools, as in MVMR: each query is searched in its own pool of videos.

A pool has the videos that match the query and others that do not.
"""
