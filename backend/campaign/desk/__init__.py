"""The annotator's desk: what comes before work, the queue of pairs, the grades that come back, the clips."""
