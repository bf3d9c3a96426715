"""Names of things: what one row is called by another, and by a browser."""

from typing import NewType

VideoId = NewType("VideoId", int)
MomentId = NewType("MomentId", int)
QueryId = NewType("QueryId", int)
BatchId = NewType("BatchId", int)
PairId = NewType("PairId", int)
AnnotatorId = NewType("AnnotatorId", int)
PairKey = NewType("PairKey", str)
"""The opaque name of a pair in a browser: random, so it tells nothing about query, moment, rank or order."""
