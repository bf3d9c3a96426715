"""Pools of many videos for a query (MVMR): which videos show it, which do not, and negatives to train on."""
