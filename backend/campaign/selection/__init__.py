"""Choose what is judged: queries, their candidate moments, batches of pairs, and pools of videos for each query."""
