"""Show how the judged pairs came to their verdicts, and what relevance goes with."""
