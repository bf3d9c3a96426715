"""Pools of videos for massive-video moment retrieval (MVMR): build, check and draw them; write training negatives."""
