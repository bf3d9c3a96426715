"""Pools of a massive-video retrieval task (MVMR): its queries, their positives, and the videos searched for each."""
