"""Study the measures themselves: agreement, stability, label noise, ties, model selection, axioms and theory."""
