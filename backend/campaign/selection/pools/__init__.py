"""Pools of many videos for massive-video moment retrieval (MVMR): building, checking, figures, training negatives."""
