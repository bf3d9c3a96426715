"""What the judged pairs show: how they came to their verdicts, and what relevance goes with."""
