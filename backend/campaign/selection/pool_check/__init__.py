"""The human check of retrieval pools: a sample of pairs of query and whole video, judged blind."""
