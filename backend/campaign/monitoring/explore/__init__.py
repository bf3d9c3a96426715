"""Show how the judged pairs came to their verdicts, and how relevance varies with similarity, rank and duration."""
